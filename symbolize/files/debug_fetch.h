// Fetches the files of images that this machine does not have, a few at a time, within a budget of
// time and bytes.
//
//   MissingFiles of images ─▶ FetchFiles ─▶ threads ─▶ DebugFileSource   blocks for as long as it
//                              │                          │              likes
//                 monitor: skip this one?      ELF? the build-id asked for? else forgotten, named
//                              │                          ▼
//                        FetchOutcome          FetchedFiles ─▶ image_file.h, DebugInfo
//
// A source that does not return costs what is left of the time, no more: its thread is left behind.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "symbolize/address_facts.h"
#include "symbolize/fetched_files.h"
#include "symbolize/files/debug_file_source.h"

namespace profiler::symbolize {

struct FetchLimits {
  std::chrono::milliseconds time{30'000};  // for all files together
  uint64_t bytes = uint64_t{512} << 20;    // as received, for all files together
  size_t at_once = 4;
};

struct FetchProgress {
  size_t images = 0;
  size_t done = 0;        // of these
  uint64_t received = 0;  // bytes, of all
  std::string path;       // of the image that has been waited for the longest; empty: of none
  uint64_t its_received = 0;
  uint64_t its_size = 0;  // 0: unknown
  std::chrono::milliseconds elapsed{0};
};

// Called about ten times a second. True skips the image that `path` names.
using FetchMonitor = std::function<bool(const FetchProgress& progress)>;

// Why there is less than was asked for. That no source has a file is none of these.
struct FetchProblem {
  enum class Kind : uint8_t {
    kSkipped,  // the monitor said so
    kOutOfTime,
    kOutOfBytes,
    kWrongFile,  // not ELF, or another build-id; `detail` has it, and who sent it
    kFailed,     // `detail` says how
  };
  Kind kind = Kind::kFailed;
  std::string path;  // of the image
  std::vector<std::byte> build_id;
  std::string detail;
};

struct FetchOutcome {
  FetchedFiles files;
  std::vector<FetchProblem> problems;  // at most one an image, in the order of `missing`
};

// Blocks until all is there or the time is over. Of an image that is itself missing debug
// information is asked for only if it came and has none; of debug information with an alternate
// file (.gnu_debugaltlink) that one too, unless it is in one of `debug_directories`. `source` may
// be used, and lives, a while longer than this call.
FetchOutcome FetchFiles(std::shared_ptr<DebugFileSource> source, std::vector<MissingFiles> missing,
                        const std::vector<std::string>& debug_directories,
                        const FetchLimits& limits, const FetchMonitor& monitor);

}  // namespace profiler::symbolize
