// Paths in libdebuginfod's cache, so that wrong files can be removed from it:
//
//   $DEBUGINFOD_CACHE_PATH | ~/.debuginfod_client_cache | $XDG_CACHE_HOME/debuginfod_client
//     BUILD-ID/executable
//              debuginfo              empty: no server had it (valid for ten minutes)
//              debuginfo.unfinished   ours: exists during a request; if a later request finds it,
//                                     an empty debuginfo proves nothing
//
// Source: debuginfod_find_debuginfo(3), debuginfod-client.c of elfutils 0.188.

#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "symbolize/fetched_files.h"

namespace profiler::symbolize {

// The cache directory. Thread-safe, except that the constructor reads the environment.
class DebuginfodCache {
 public:
  DebuginfodCache();

  std::string PathOf(FileKind kind, std::span<const std::byte> build_id) const;
  // Removes a file, and its directory if that becomes empty.
  void Remove(FileKind kind, std::span<const std::byte> build_id) const;
  // Removes the file if it is empty, which means that no server has it.
  void RemoveMiss(FileKind kind, std::span<const std::byte> build_id) const;

  // A mark beside the file, an empty file that exists during a request. If a later request finds
  // the mark, the earlier request was interrupted, and a cached miss proves nothing.
  class Unfinished {
   public:
    explicit Unfinished(const std::string& path);
    Unfinished(const Unfinished&) = delete;
    Unfinished& operator=(const Unfinished&) = delete;
    ~Unfinished();

    // Returns true if an earlier process was interrupted.
    bool was_there() const { return was_there_; }

   private:
    const std::string mark_;
    const bool was_there_;
  };

 private:
  std::string directory_;
};

}  // namespace profiler::symbolize
