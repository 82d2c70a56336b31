// Fetches missing files of images, several at a time, within a budget of time and bytes.
//
//   MissingFiles of images ─▶ FetchFiles ─▶ threads ─▶ DebugFileSource   may block for any time
//                               │                          │
//                  monitor: skip this one?      ELF with the right build-id? else Forget, problem
//                               │                          ▼
//                         FetchOutcome          FetchedFiles ─▶ image_file.h, DebugInfo
//
// If a source does not return, its thread is abandoned when the time is up.

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

// The budget of one FetchFiles call.
struct FetchLimits {
  std::chrono::milliseconds time{30'000};  // time for all files together
  uint64_t bytes = uint64_t{512} << 20;    // received bytes, for all files together
  size_t at_once = 4;
};

// The state of a FetchFiles call.
struct FetchProgress {
  size_t images = 0;
  size_t done = 0;        // images that are finished
  uint64_t received = 0;  // received bytes of all files together
  // Path of the image that has been fetched for the longest time; empty: none.
  std::string path;
  uint64_t its_received = 0;
  uint64_t its_size = 0;  // size in bytes of the image's current file; 0: unknown
  std::chrono::milliseconds elapsed{0};
};

// Receives the progress about ten times per second. Returns true to skip the image `path`.
using FetchMonitor = std::function<bool(const FetchProgress& progress)>;

// The reason why a file was not fetched. A file that no source has is no problem.
struct FetchProblem {
  enum class Kind : uint8_t {
    kSkipped,  // the monitor skipped the image
    kOutOfTime,
    kOutOfBytes,
    // The received file is not ELF or has another build-id. `detail` has that build-id and the
    // source.
    kWrongFile,
    kFailed,  // the source failed; `detail` has the error
  };
  Kind kind = Kind::kFailed;
  std::string path;  // path of the image
  std::vector<std::byte> build_id;
  std::string detail;
};

struct FetchOutcome {
  FetchedFiles files;
  std::vector<FetchProblem> problems;  // in the order of `missing`, at most one per image
};

// Fetches files; blocks until all are fetched or time is up. If an image itself is missing, its
// debug information is fetched only if the image was fetched and contains none. If debug
// information needs an alternate file (.gnu_debugaltlink) that is not in `debug_directories`,
// fetches that file too. `source` may be in use for some time after this call returns.
FetchOutcome FetchFiles(std::shared_ptr<DebugFileSource> source, std::vector<MissingFiles> missing,
                        const std::vector<std::string>& debug_directories,
                        const FetchLimits& limits, const FetchMonitor& monitor);

}  // namespace profiler::symbolize
