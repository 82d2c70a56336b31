// Where files come from that this machine does not have, by build-id.

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
  std::string from;  // the URL; empty: it lay in the source's cache
};

// Asked again and again while a file comes, about once a second also while none does: whether to go
// on, after so many of `size` bytes (0: unknown).
using KeepGoing = std::function<bool(uint64_t received, uint64_t size)>;

// Thread-safe.
class DebugFileSource {
 public:
  virtual ~DebugFileSource() = default;

  // Blocks. What comes is as the source has it: whether it is the file that was asked for is not
  // checked. Errors: kNotFound, no source has it; kCancelled, `keep_going` said no; any other one
  // says what went wrong.
  virtual absl::StatusOr<SourcedFile> Fetch(FileKind kind, std::span<const std::byte> build_id,
                                            const KeepGoing& keep_going) = 0;

  // What came was wrong: it is not to be kept in a cache.
  virtual void Forget(FileKind kind, std::span<const std::byte> build_id) = 0;
};

// The servers of $DEBUGINFOD_URLS, by libdebuginfod, with its cache ($DEBUGINFOD_CACHE_PATH,
// $XDG_CACHE_HOME/debuginfod_client) and its other variables. The library is loaded here, not when
// the program starts: with all that it needs itself that takes 7 ms. kUnimplemented where it is not
// installed.
absl::StatusOr<std::shared_ptr<DebugFileSource>> CreateDebuginfodSource();

}  // namespace profiler::symbolize
