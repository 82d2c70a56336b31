// How to get the functions' names of an installed file whose own symbols are stripped. Says only
// what it has looked up on this machine:
//
//   * the distribution, in /etc/os-release;
//   * the package that installed the file, in the lists of dpkg;
//   * a debuginfod server, in /etc/debuginfod/*.urls, or the public one of the distribution.
//
// Starts no program and asks no server.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace profiler::packages {

// The remedy for a file about which nothing can be looked up, such as one of another machine.
inline constexpr std::string_view kBuildUnstripped =
    "install its debug symbols, or build it unstripped";

class DebugSymbols {
 public:
  // Looks below `root`, for tests. Reads nothing yet. `servers` is the value of $DEBUGINFOD_URLS.
  explicit DebugSymbols(std::string root = "", std::string servers = "");

  // Returns a phrase that begins with a verb, such as
  //
  //   install the debug symbols of package nginx (Debian GNU/Linux 12 (bookworm)), or set
  //   DEBUGINFOD_URLS=https://debuginfod.debian.net (sends the build-ids of such images there)
  //
  // `path` is a file of this machine; the caller has checked that it is the recorded one. A server is named only if `has_build_id` and if
  // $DEBUGINFOD_URLS is empty. The first call reads the lists of all packages, which takes some 30
  // milliseconds for 1000 packages; later calls search them in memory.
  std::string RemedyFor(std::string_view path, bool has_build_id);

 private:
  enum class Database { kNone, kDpkg };
  struct List {
    std::string package;
    size_t begin;  // offset in lists_ of the list's first line
  };

  void Read();
  void ReadDistribution();
  void ReadServers();
  void ReadPackages();
  std::optional<std::string> PackageOf(std::string_view path) const;

  const std::string root_, servers_set_;
  bool is_read_ = false;
  std::string distribution_;  // PRETTY_NAME; empty: unknown
  std::string id_;            // ID, such as "debian"
  std::string server_;        // an URL; empty: none is known
  Database database_ = Database::kNone;
  std::string lists_;        // the lists of all packages: a line for each path
  std::vector<List> names_;  // in the order of lists_
};

}  // namespace profiler::packages
