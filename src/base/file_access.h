// How this process gets at files by name: from the file system, or through another process.
//
// A process that may open nothing itself (symbolize/confined) asks the one that it belongs to. A
// process that must not wait for a file system in another user's hands asks one that may wait
// (src/reader). The code that looks for files is the same in all: it calls the free functions here
// and in regular_file.h and file_id.h.

#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "src/base/file_id.h"
#include "src/base/status.h"
#include "src/base/unique_fd.h"

namespace profiler {

// Answers each question as the free function of its name does. This type itself asks the file
// system, in this process. Thread-safe.
class FileAccess {
 public:
  virtual ~FileAccess() = default;

  virtual absl::StatusOr<UniqueFd> OpenRegularFile(const std::string& path,
                                                   const std::string& root);
  virtual absl::StatusOr<UniqueFd> OpenOwnFile(const std::string& path);
  virtual std::optional<FileId> FileIdOf(const std::string& path);
  virtual std::string LinkAt(const std::string& path);
  virtual std::vector<std::string> NamesIn(const std::string& directory);
  // Replaces `*text` by the first `most` bytes of a file, fewer if it has no more; keeps its
  // capacity. Errors: those of open(2) and read(2).
  virtual absl::Status ReadStart(const std::string& path, size_t most, std::string* text);

  // Starts the processes that answer, if there are any; the first question does so otherwise. To be
  // called while this process is small.
  virtual void Start() {}
  // Returns sentences for the user that no call has returned yet: which files did not come, because
  // another process asked for them in vain.
  virtual std::vector<std::string> TakeNotes() { return {}; }
  // Returns the CPU time of the processes that answer.
  virtual std::chrono::nanoseconds CpuTime() { return {}; }
};

// From now on this process and the ones that it forks ask `access` for files, which must live as
// long as they do. Null: the file system. To be called before there are threads.
void AccessFilesThrough(FileAccess* access);
// Returns the one that is asked.
FileAccess& CurrentFileAccess();

// Returns the target of the symbolic link at `path`; empty if there is none, if it cannot be read,
// or if it is longer than a path can be. Thread-safe.
std::string LinkAt(const std::string& path);

// Returns the entries of the directory, in any order, without "." and ".."; none if it cannot be
// read. Thread-safe.
std::vector<std::string> NamesIn(const std::string& directory);

}  // namespace profiler
