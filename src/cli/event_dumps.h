// `script --per-event-dump`: the samples of each event in a file of its own, as perf names it.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/status.h"
#include "src/cli/output.h"

namespace profiler::cli {

// "perf.data.cpu-clock.dump" beside the recording. A name is any bytes; those that would lead to
// another folder, or that a terminal cannot show, become '_'.
std::string DumpPath(const std::string& recording, std::string_view event);

// Not thread-safe.
class EventDumps {
 public:
  // `recording`: its path, "-" for standard input.
  explicit EventDumps(std::string recording) : recording_(std::move(recording)) {}

  // Begins the file of an event, unless it has one; events of one name share theirs.
  void Open(std::string_view event);
  // Appends a sample.
  void Write(std::string_view event, std::string_view sample);

  // Puts the files in their places and says so on `out`, a line each; what went wrong first. Files
  // that are recordings are not written over.
  absl::Status Close(Output& out);

 private:
  struct Dump {
    std::string path;
    std::unique_ptr<Output> output;  // null where there is a recording
    uint64_t bytes = 0, samples = 0;
  };
  Dump& Of(std::string_view event);

  const std::string recording_;
  std::vector<Dump> dumps_;
  std::map<std::string, size_t, std::less<>> by_event_;  // which of them
};

}  // namespace profiler::cli
