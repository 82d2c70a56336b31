// Reads a recording's file back, for tests.

#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "src/format/perf_data/read/recording.h"
#include "src/format/perf_event/describe.h"

namespace profiler::record {

struct RecordedFile {
  std::map<std::string, int> records;  // number of records, keyed by the name of their type
  std::set<uint32_t> sampled_pids, sampled_tids;
  std::vector<std::string> events;
  perf_data::Features features;
  perf_event::Attr attr;     // attr of the first event
  size_t longest_chain = 0;  // entries of the longest call chain of a sample
  uint64_t frames = 0;       // entries of all call chains without context markers
  bool opened = false;

  int count(const std::string& type) const {
    const auto found = records.find(type);
    return found == records.end() ? 0 : found->second;
  }
};

inline RecordedFile ReadBack(const std::string& path) {
  RecordedFile file;
  auto recording = perf_data::Recording::Open(path);
  EXPECT_TRUE(recording.ok()) << recording.status();
  if (!recording.ok()) return file;
  file.opened = true;
  const absl::Status read =
      (*recording)
          ->ForEach(perf_data::Recording::Order::kFile, [&](const perf_data::TimedRecord& timed) {
            ++file.records[std::string(perf_event::RecordTypeName(timed.record.type()))];
            if (timed.record.type() != perf_event::kRecordSample) return;
            perf_event::Sample sample;
            const auto& layout = (*recording)->events()[timed.event].layout;
            EXPECT_TRUE(perf_event::Decode(timed.record, layout, &sample));
            file.sampled_pids.insert(sample.pid);
            file.sampled_tids.insert(sample.tid);
            file.longest_chain = std::max(file.longest_chain, sample.callchain.size());
            for (size_t i = 0; i < sample.callchain.size(); ++i) {
              file.frames += perf_event::IsContext(sample.callchain[i]) ? 0 : 1;
            }
          });
  EXPECT_TRUE(read.ok()) << read;
  for (const auto& event : (*recording)->events()) file.events.push_back(event.name);
  if (!(*recording)->events().empty()) {
    file.attr = (*recording)->events()[0].attr;
  }
  file.features = (*recording)->features();
  return file;
}

}  // namespace profiler::record
