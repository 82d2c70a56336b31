// `script --per-event-dump`: the samples of each event in a separate file, with perf's file names.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/status.h"
#include "src/cli/terminal/output.h"

namespace profiler::cli {

// Returns "perf.data.cpu-clock.dump", in the recording's folder. Bytes of an event's name that
// would lead to another folder, or that a terminal cannot show, become '_'.
std::string DumpPath(const std::string& recording, std::string_view event);

// The files of all events. Not thread-safe.
class EventDumps {
 public:
  // `recording` is the path of the recording, or "-" for standard input.
  explicit EventDumps(std::string recording) : recording_(std::move(recording)) {}

  // Begins the file of an event if it has none yet; events of equal names share a file.
  void Open(std::string_view event);
  // Appends a sample.
  void Write(std::string_view event, std::string_view sample);

  // Completes the files and prints a line for each on `out`. Returns the first error. Never
  // overwrites a recording.
  absl::Status Close(Output& out);

 private:
  struct Dump {
    std::string path;
    std::unique_ptr<Output> output;  // null if the path is a recording
    uint64_t bytes = 0, samples = 0;
  };
  Dump& Of(std::string_view event);

  const std::string recording_;
  std::vector<Dump> dumps_;
  std::map<std::string, size_t, std::less<>> by_event_;  // name → index in dumps_
};

}  // namespace profiler::cli
