// The interface of remote sources of files, by build-id.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "src/base/status.h"
#include "symbolize/fetched_files.h"

namespace profiler::symbolize {

struct SourcedFile {
  std::string path;
  std::string from;  // the URL; empty: the file was in the source's cache
};

// Called about once per second while a file is requested and transferred. `received` and `size` are
// bytes of the file; size 0: unknown. Returns false to cancel.
using KeepGoing = std::function<bool(uint64_t received, uint64_t size)>;

// A remote source of files. Thread-safe.
class DebugFileSource {
 public:
  virtual ~DebugFileSource() = default;

  // Fetches a file; blocks. Does not check whether it is the right file. Errors: kNotFound if no
  // server has it; kCancelled if `keep_going` returned false; other errors if the transfer failed.
  virtual absl::StatusOr<SourcedFile> Fetch(FileKind kind, std::span<const std::byte> build_id,
                                            const KeepGoing& keep_going) = 0;

  // Removes a fetched file from the source's cache, because it turned out to be wrong.
  virtual void Forget(FileKind kind, std::span<const std::byte> build_id) = 0;
};

// Creates a source that uses the servers of $DEBUGINFOD_URLS through libdebuginfod. Its cache
// ($DEBUGINFOD_CACHE_PATH, $XDG_CACHE_HOME/debuginfod_client) and other variables apply. Loads the
// library now, not at program start, because loading it and its dependencies takes 7 ms. Errors:
// kUnimplemented if it is not installed.
absl::StatusOr<std::shared_ptr<DebugFileSource>> CreateDebuginfodSource();

}  // namespace profiler::symbolize
