#include "src/profile/row_table.h"

#include <utility>

namespace profiler::profile {

uint64_t RowTable::Hash(const SampleRow& row) const {
  const auto pair = [](auto a, auto b) {
    return static_cast<uint64_t>(a) << 32 | static_cast<uint64_t>(b);
  };
  return Mix(pair(row.thread, row.stack),
             Mix(pair(row.self, keep_cpu_ ? row.cpu : 0), static_cast<uint64_t>(row.event)));
}

void RowTable::Prefetch(const SampleRow& row, uint32_t known) const {
  if (known == UINT32_MAX) {
    index_.Prefetch(Hash(row));
  } else {
    __builtin_prefetch(&profile_.rows[known], 1);
  }
}

void RowTable::Add(const SampleRow& row, uint32_t* known) {
  if (*known == UINT32_MAX || !IsIn(row, *known)) {
    *known = index_.FindOrInsert(
        Hash(row), [&](uint32_t id) { return IsIn(row, id); },
        [&] {
          profile_.rows.push_back(row);
          profile_.rows.back().count = 0;
          profile_.rows.back().period = 0;
          if (keep_cpu_) profile_.cpus.push_back(row.cpu);
          return static_cast<uint32_t>(profile_.rows.size() - 1);
        });
  }
  profile_.rows[*known].count += row.count;
  profile_.rows[*known].period += row.period;
}

void RowTable::PutThreads(std::span<const ThreadId> threads) {
  const HugeVector<Row> rows = std::exchange(profile_.rows, {});
  const HugeVector<uint32_t> cpus = std::exchange(profile_.cpus, {});
  index_ = {};
  for (size_t i = 0; i < rows.size(); ++i) {
    SampleRow row{rows[i]};
    row.thread = threads[static_cast<uint32_t>(row.thread)];
    if (keep_cpu_) row.cpu = cpus[i];
    uint32_t known = UINT32_MAX;
    Add(row, &known);
  }
}

}  // namespace profiler::profile
