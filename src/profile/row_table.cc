#include "src/profile/row_table.h"

namespace profiler::profile {

uint64_t RowTable::Hash(const Row& row) {
  const auto pair = [](auto a, auto b) {
    return static_cast<uint64_t>(a) << 32 | static_cast<uint64_t>(b);
  };
  return Mix(pair(row.thread, row.stack),
             Mix(pair(row.self, row.cpu), static_cast<uint64_t>(row.event)));
}

void RowTable::Prefetch(const Row& row, uint32_t known) const {
  if (known == UINT32_MAX) {
    index_.Prefetch(Hash(row));
  } else {
    __builtin_prefetch(&profile_.rows[known], 1);
  }
}

void RowTable::Add(const Row& row, uint32_t* known) {
  if (*known == UINT32_MAX || !Agree(profile_.rows[*known], row)) {
    *known = index_.FindOrInsert(
        Hash(row), [&](uint32_t id) { return Agree(profile_.rows[id], row); },
        [&] {
          profile_.rows.push_back(row);
          profile_.rows.back().count = 0;
          profile_.rows.back().period = 0;
          return static_cast<uint32_t>(profile_.rows.size() - 1);
        });
  }
  profile_.rows[*known].count += row.count;
  profile_.rows[*known].period += row.period;
}

}  // namespace profiler::profile
