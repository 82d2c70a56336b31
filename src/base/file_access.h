// How this process gets at files by name: from the file system, or through another process.
//
// A process that may open nothing itself (symbolize/confined) asks the one that it belongs to. The
// code that looks for files is the same in both: it opens them by OpenRegularFile, and asks what
// names mean by what is declared here.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/base/file_id.h"
#include "src/base/status.h"
#include "src/base/unique_fd.h"

namespace profiler {

// Each question is that of the free function of its name.
class FileAccess {
 public:
  virtual ~FileAccess() = default;

  virtual absl::StatusOr<UniqueFd> OpenRegularFile(const std::string& path,
                                                   const std::string& root) = 0;
  virtual absl::StatusOr<UniqueFd> OpenOwnFile(const std::string& path) = 0;
  virtual std::optional<FileId> FileIdOf(const std::string& path) = 0;
  virtual std::string LinkAt(const std::string& path) = 0;
  virtual std::vector<std::string> NamesIn(const std::string& directory) = 0;
};

// From now on, and for good, this process asks `access` for files, which must live as long as it.
// To be called before there are threads.
void AccessFilesThrough(FileAccess& access);
// Who is asked; null: the file system.
FileAccess* AccessOfOthers();

// What the symbolic link at `path` says; empty where there is none, or it cannot be read, or it is
// longer than a path can be. Thread-safe.
std::string LinkAt(const std::string& path);

// What is in the directory, in any order, "." and ".." left out; nothing where it cannot be read.
// Thread-safe.
std::vector<std::string> NamesIn(const std::string& directory);

}  // namespace profiler
