// Opens and reads files by name, directly or through another process.
//
// A process that may not open files (symbolize/confined) asks the process that started it. A
// process that must not wait for another user's file system asks a process that may wait
// (src/machine/reader). Code that looks for files is the same in all processes: it calls the free
// functions here and in regular_file.h and file_id.h.

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

// An implementation of the free functions with the same names. This base class asks the file
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
  // Replaces `*text` by the first `most` bytes of a file, or by the whole file if it is shorter.
  // Keeps the capacity of `*text`. Errors: those of open(2) and read(2).
  virtual absl::Status ReadStart(const std::string& path, size_t most, std::string* text);

  // Starts the processes that open files for this one, if there are any. Without this call they
  // start when the first file is needed. Call it while this process is small.
  virtual void Start() {}
  // Returns new sentences for the user about files that another process could not get. Each is
  // returned once.
  virtual std::vector<std::string> TakeNotes() { return {}; }
  // Returns the CPU time of the processes that open files for this one.
  virtual std::chrono::nanoseconds CpuTime() { return {}; }
};

// Makes this process and its children ask `access` for files from now on; `access` must stay alive.
// If it is null, they ask the file system. Call it before there are threads.
void AccessFilesThrough(FileAccess* access);
// Returns the object that this process asks for files.
FileAccess& CurrentFileAccess();

// Returns the target of the symbolic link at `path`; empty if there is none, if it cannot be read,
// or if it is longer than a path can be. Thread-safe.
std::string LinkAt(const std::string& path);

// Returns the entries of the directory, in any order, without "." and ".."; none if it cannot be
// read. Thread-safe.
std::vector<std::string> NamesIn(const std::string& directory);

}  // namespace profiler
