#include "src/cli/views/event_dumps.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/format/perf_data/read/recording.h"

namespace profiler::cli {
namespace {

bool IsPlain(char c) { return c > ' ' && c < 0x7f && c != '/'; }

}  // namespace

std::string DumpPath(const std::string& recording, std::string_view event) {
  std::string path = recording == "-" ? "perf.data" : recording;
  path += '.';
  for (const char c : event) path += IsPlain(c) ? c : '_';
  return path + ".dump";
}

void EventDumps::Open(std::string_view event) { Of(event); }

void EventDumps::Write(std::string_view event, std::string_view sample) {
  Dump& dump = Of(event);
  if (dump.output == nullptr) return;
  dump.output->Write(sample);
  dump.bytes += sample.size();
  ++dump.samples;
}

EventDumps::Dump& EventDumps::Of(std::string_view event) {
  const auto known = by_event_.find(event);
  if (known != by_event_.end()) return dumps_[known->second];
  const std::string path = DumpPath(recording_, event);
  const auto same = std::ranges::find(dumps_, path, &Dump::path);
  by_event_.emplace(event, static_cast<size_t>(same - dumps_.begin()));
  if (same != dumps_.end()) return *same;
  Dump& dump = dumps_.emplace_back(Dump{.path = path});
  if (!perf_data::BeginsAsRecording(path)) dump.output = std::make_unique<Output>(path);
  return dump;
}

absl::Status EventDumps::Close(Output& out) {
  constexpr double kMegabyte = 1 << 20;
  absl::Status status;
  for (Dump& dump : dumps_) {
    if (dump.output == nullptr) {
      status.Update(absl::FailedPreconditionError(
          absl::StrCat(dump.path, " is a recording, which would be overwritten; move it first")));
      continue;
    }
    const absl::Status closed = dump.output->Close();
    status.Update(closed);
    if (!closed.ok()) continue;
    out.Write(absl::StrFormat("[ profiler script: Wrote %.3f MB %s (%d samples) ]\n",
                              static_cast<double>(dump.bytes) / kMegabyte, dump.path,
                              dump.samples));
  }
  dumps_.clear();
  by_event_.clear();
  return status;
}

}  // namespace profiler::cli
