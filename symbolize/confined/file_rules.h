// Decides which files a confined process gets.
//
// The process asks for files by name, because only reading reveals which files it needs: alternate
// files, .dwo, separate debug information. But a process that a file has taken over may ask for any
// file. So it gets only
//
//   ELF files except core dumps                  recognized by their first bytes
//   JIT dumps, zip archives                      recognized by their first bytes
//   JIT maps, perf-PID.map                       recognized by the real name of the open file
//   kallsyms, the kernel's notes and release,    recognized by the requested name
//   status and stat of a process
//   kallsyms of a kernel in perf's cache         recognized by the requested name; owner must be
//                                                root or the user
//
// and, with Owners::kUserAndRoot, only those of these files that belong to root or the user. The
// last two groups are opened by OpenOwnFile, all other groups by OpenRegularFile
// (src/base/regular_file.h). Paths below /proc/PID/root are opened as process PID sees them.
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
#include "symbolize/confined/socket_message.h"
#include "symbolize/symbolizer.h"

namespace profiler::symbolize {

// The rules, and a record of the files given. Not thread-safe.
class FileRules {
 public:
  enum class Owners : uint8_t { kUserAndRoot, kAll };

  // `options` must outlive this object.
  FileRules(const SymbolizerOptions& options, Owners owners) : options_(options), owners_(owners) {}

  // Answers kOpen, kOpenOwn, kFileId, kLink or kNames. Errors: kDataLoss for other messages and
  // invalid ones.
  absl::StatusOr<Message> Answer(const Message& question);

  // Returns the bytes on disk of all files given so far.
  uint64_t bytes_given() const { return bytes_given_; }
  // Returns true if a file was refused because of its owner since the last call.
  bool TakeRefusedOwner() { return std::exchange(has_refused_owner_, false); }
  // Returns owner and size of the file that was given for that path.
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
  std::map<std::string, TrustedFile> given_;  // keyed by path
};

}  // namespace profiler::symbolize
