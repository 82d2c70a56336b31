#include "src/fleet/clickhouse/foreign_rows.h"

#include <xxhash.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/text.h"
#include "src/fleet/clickhouse/row_binary.h"

namespace profiler::fleet::clickhouse {
namespace {

using Texts = std::vector<std::pair<std::string_view, std::string_view>>;

void AppendMap(const Texts& texts, RowWriter& row) {
  row.Size(texts.size());
  for (const auto& [key, value] : texts) {
    row.Text(key);
    row.Text(value);
  }
}

// Returns the service's name, or the program's if there is none.
std::string_view ServiceOf(const Window& window, const Workload& workload) {
  const std::string_view service = window.strings[workload.service];
  return service.empty() ? window.strings[workload.program] : service;
}

bool IsClock(std::string_view event) {
  return absl::StrContains(View(event), "cpu-clock") ||
         absl::StrContains(View(event), "task-clock");
}

// Returns the known facts about a process, by OpenTelemetry's names, which both schemas use.
Texts AttributesOf(const Window& window, const Workload& workload) {
  Texts texts = {{"host.name", window.host}};
  for (const auto& [name, id] :
       {std::pair{"container.id", workload.container}, std::pair{"k8s.pod.uid", workload.pod},
        std::pair{"process.executable.name", workload.program},
        std::pair{"process.executable.build_id.gnu", workload.build_id}}) {
    if (id != StringId::kEmpty) texts.emplace_back(name, window.strings[id]);
  }
  for (const auto& [key, value] : window.labels) texts.emplace_back(key, value);
  return texts;
}

// Returns the frames of a stack, from the innermost outwards.
std::vector<uint32_t> FramesOf(const Window& window, uint32_t leaf) {
  std::vector<uint32_t> frames;
  for (uint32_t at = leaf; at != kNoCaller; at = window.stacks[at].caller) {
    frames.push_back(window.stacks[at].frame);
  }
  return frames;
}

// Rows for Coroot. A sample refers to its stack by a hash, as in our own tables. Coroot's page
// recognises CPU time by the type that Coroot's agent writes.
class CorootRows {
 public:
  void Add(const Window& window) {
    const std::vector<uint64_t> hashes = StackHashes(window);
    for (const Row& row : window.rows) {
      const Workload& workload = window.workloads[row.workload];
      const std::string_view service = ServiceOf(window, workload);
      AddSample(window, row, service, hashes[row.stack]);
      if (seen_.emplace(service, hashes[row.stack]).second) {
        AddStack(window, row.stack, service, hashes[row.stack]);
      }
    }
  }

  std::vector<ForeignRows> Finish() && {
    return {{"profiling_stacks", "ServiceName, Hash, LastSeen, Stack", std::move(stacks_)},
            {"profiling_samples", "ServiceName, Type, Start, End, Labels, StackHash, Value",
             std::move(samples_)}};
  }

 private:
  void AddStack(const Window& window, uint32_t leaf, std::string_view service, uint64_t hash) {
    RowWriter row(stacks_.body);
    row.Text(service);
    row.Number(hash);
    row.Number(window.begin);
    const std::vector<uint32_t> frames = FramesOf(window, leaf);
    row.Size(frames.size());
    for (const uint32_t frame : frames) row.Text(window.strings[window.frames[frame].function]);
    ++stacks_.rows;
  }

  void AddSample(const Window& window, const Row& of, std::string_view service, uint64_t hash) {
    const std::string_view event = window.strings[window.events[of.event].name];
    RowWriter row(samples_.body);
    row.Text(service);
    row.Text(IsClock(event) ? std::string("ebpf:cpu:nanoseconds")
                            : absl::StrCat("profiler:", View(event), ":count"));
    row.Number(window.begin);
    row.Number(window.begin + static_cast<UnixTime>(window.length));
    AppendMap(AttributesOf(window, window.workloads[of.workload]), row);
    row.Number(hash);
    row.Number(static_cast<int64_t>(of.value));
    ++samples_.rows;
  }

  std::set<std::pair<std::string, uint64_t>> seen_;
  Rows stacks_, samples_;
};

// Rows for the Collector. A sample contains its whole stack. A profile contains one event of one
// service in one window.
class OtelRows {
 public:
  void Add(const Window& window) {
    const std::vector<uint64_t> hashes = StackHashes(window);
    for (const Row& row : window.rows) AddRow(window, row, hashes[row.stack]);
  }

  std::vector<ForeignRows> Finish() && {
    return {{"otel_profiles",
             "Timestamp, ProfileId, SampleType, SampleUnit, ServiceName, ResourceAttributes, "
             "ScopeName, ScopeVersion, ProfileAttributes, SampleAttributes, StackHash, Addresses, "
             "FunctionNames, FileNames, LineNumbers, MappingFileNames, Values, "
             "TimestampsUnixNano, DurationNano, Period, PeriodType, PeriodUnit, TraceId, SpanId",
             std::move(rows_)}};
  }

 private:
  static std::string ProfileIdOf(const Window& window, std::string_view service,
                                 std::string_view event) {
    const std::string text =
        absl::StrCat(View(window.host), "\n", window.begin, "\n", View(service), "\n", View(event));
    const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
    return absl::StrFormat("%016x%016x", hash.high64, hash.low64);
  }

  void AddRow(const Window& window, const Row& of, uint64_t hash) {
    const std::string_view event = window.strings[window.events[of.event].name];
    const Workload& workload = window.workloads[of.workload];
    const std::string_view service = ServiceOf(window, workload);
    const std::string_view unit = IsClock(event) ? "nanoseconds" : "count";
    Texts resource = AttributesOf(window, workload);
    resource.emplace_back("service.name", service);
    RowWriter row(rows_.body);
    row.Number(window.begin);
    row.Text(ProfileIdOf(window, service, event));
    row.Text(event);
    row.Text(unit);
    row.Text(service);
    AppendMap(resource, row);
    row.Text("profiler");
    row.Text(window.version);
    AppendMap({}, row);
    AppendMap({}, row);
    row.Number(hash);
    AppendFrames(window, of.stack, row);
    row.Size(1);
    row.Number(static_cast<int64_t>(of.value));
    row.Size(0);  // no times of the samples
    row.Number(window.length);
    row.Number(window.frequency > 0 ? static_cast<int64_t>(1e9 / window.frequency) : int64_t{0});
    row.Text(event);
    row.Text(unit);
    row.Text("");
    row.Text("");
    ++rows_.rows;
  }

  // Writes the frames; addresses and lines are unknown.
  static void AppendFrames(const Window& window, uint32_t leaf, RowWriter& row) {
    const std::vector<uint32_t> frames = FramesOf(window, leaf);
    row.Size(frames.size());
    for (size_t i = 0; i < frames.size(); ++i) row.Number(uint64_t{0});
    row.Size(frames.size());
    for (const uint32_t frame : frames) row.Text(window.strings[window.frames[frame].function]);
    row.Size(frames.size());
    for (size_t i = 0; i < frames.size(); ++i) row.Text("");
    row.Size(frames.size());
    for (size_t i = 0; i < frames.size(); ++i) row.Number(int32_t{0});
    row.Size(frames.size());
    for (const uint32_t frame : frames) row.Text(window.strings[window.frames[frame].image]);
  }

  Rows rows_;
};

template <class Writer>
std::vector<ForeignRows> Written(std::span<const Window> windows) {
  Writer writer;
  for (const Window& window : windows) writer.Add(window);
  return std::move(writer).Finish();
}

}  // namespace

std::vector<ForeignRows> ForeignRowsOf(Schema schema, std::span<const Window> windows) {
  switch (schema) {
    case Schema::kCoroot:
      return Written<CorootRows>(windows);
    case Schema::kOtel:
      return Written<OtelRows>(windows);
    case Schema::kOwn:
      break;
  }
  return {};
}

}  // namespace profiler::fleet::clickhouse
