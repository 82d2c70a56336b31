// Which files a confined process is given.
//
// It asks by name, for it finds out only while it reads which files it needs: alternate files,
// .dwo, what was split off. But one that was taken over may ask for anything. So it gets
//
//   ELF files that are no core dumps             by their first bytes
//   dumps of JITs, zip archives                  by their first bytes
//   maps of JITs, perf-PID.map                   by the name that the open file has
//   kallsyms, the kernel's notes and release,    by the name that is asked for
//   status and stat of a process
//   a kernel's kallsyms in perf's cache          by the name that is asked for, of root or the user
//
// and of those, where `owners` says so, only files of root and of the user. The last two are
// opened by OpenOwnFile, everything else by OpenRegularFile (src/base/regular_file.h), and below
// /proc/PID/root as that process sees it.
//
// Private to this package.

#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "src/base/status.h"
#include "src/base/unique_fd.h"
#include "symbolize/address_facts.h"
#include "symbolize/confined/message.h"
#include "symbolize/symbolizer.h"

namespace profiler::symbolize {

// Not thread-safe.
class FileRules {
 public:
  enum class Owners : uint8_t { kUserAndRoot, kAll };

  // `options` must outlive it.
  FileRules(const SymbolizerOptions& options, Owners owners) : options_(options), owners_(owners) {}

  // The answer to kOpen, kOpenOwn, kFileId, kLink or kNames; kDataLoss for another message, or one
  // that is none.
  absl::StatusOr<Message> Answer(const Message& question);

  // What has been given, as it takes place on disk, in bytes.
  uint64_t bytes_given() const { return bytes_given_; }
  // Whether a file was refused for its owner since the last call.
  bool TakeRefusedOwner() { return std::exchange(has_refused_owner_, false); }
  // Who owns the file that was given for that path, and how long it is.
  std::optional<TrustedFile> GivenAt(const std::string& path) const;

 private:
  absl::StatusOr<UniqueFd> Open(const std::string& path, const std::string& root);
  absl::StatusOr<UniqueFd> OpenOfKernel(const std::string& path);
  void Count(const std::string& path, const struct stat& status);
  bool IsOfKernel(const std::string& path) const;
  bool IsCachedKallsyms(std::string_view path) const;

  const SymbolizerOptions& options_;
  const Owners owners_;
  uint64_t bytes_given_ = 0;
  bool has_refused_owner_ = false;
  std::map<std::string, TrustedFile> given_;  // by path
};

}  // namespace profiler::symbolize
