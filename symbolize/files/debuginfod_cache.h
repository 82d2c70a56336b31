// Where libdebuginfod keeps what servers sent, so that what was wrong can be taken out again:
//
//   $DEBUGINFOD_CACHE_PATH | ~/.debuginfod_client_cache | $XDG_CACHE_HOME/debuginfod_client
//     BUILD-ID/executable
//              debuginfo              empty: no server had it, for ten minutes
//              debuginfo.unfinished   ours: being asked for; found later, the line above is a lie
//
// Source: debuginfod_find_debuginfo(3), debuginfod-client.c of elfutils 0.188.

#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "symbolize/fetched_files.h"

namespace profiler::symbolize {

// Where it is is read from the environment when it is made. Thread-safe after that.
class DebuginfodCache {
 public:
  DebuginfodCache();

  std::string PathOf(FileKind kind, std::span<const std::byte> build_id) const;
  // Also its folder, if nothing else is in that.
  void Remove(FileKind kind, std::span<const std::byte> build_id) const;
  // Only if it says that no server has the file.
  void RemoveMiss(FileKind kind, std::span<const std::byte> build_id) const;

  // While a file is asked for another one stands beside its place, empty. Found later, it says that
  // what the cache says of a miss is not to be believed.
  class Unfinished {
   public:
    explicit Unfinished(const std::string& path);
    Unfinished(const Unfinished&) = delete;
    Unfinished& operator=(const Unfinished&) = delete;
    ~Unfinished();

    // Whether an earlier process did not come to the end of it.
    bool was_there() const { return was_there_; }

   private:
    const std::string mark_;
    const bool was_there_;
  };

 private:
  std::string directory_;
};

}  // namespace profiler::symbolize
