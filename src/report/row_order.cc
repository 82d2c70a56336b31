#include "src/report/row_order.h"

#include <algorithm>
#include <bit>
#include <string_view>

#include "src/base/radix_sort.h"

namespace profiler::report {

using profile::DsoKind;
using profile::Profile;

namespace {

// Fields of a few bits each, joined to 64-bit keys: one sort does for several fields.
class FieldSort {
 public:
  explicit FieldSort(size_t rows) : sort_(static_cast<uint32_t>(rows)), keys_(rows, 0) {}

  // The next more significant field: `value_of(row)` is below 2^bits.
  void Add(int bits, auto value_of) {
    if (bits == 0) return;
    if (used_ + bits > 64) Flush();
    for (uint32_t row = 0; row < keys_.size(); ++row) keys_[row] |= value_of(row) << used_;
    used_ += bits;
  }

  HugeVector<uint32_t> Rows() {
    Flush();
    return sort_.Order();
  }

 private:
  void Flush() {
    sort_.SortBy([&](uint32_t row) { return keys_[row]; });
    std::fill(keys_.begin(), keys_.end(), 0);
    used_ = 0;
  }

  RadixSort sort_;
  HugeVector<uint64_t> keys_;  // by row
  int used_ = 0;               // bits of keys_
};

// Numbers that are in the order of the names' text.
class NameRanks {
 public:
  NameRanks(std::span<const HistRow> rows, const Profile& profile, const FunctionTable& functions)
      : ranks_(profile.strings.size(), 0) {
    std::vector<StringId> names;
    const auto add = [&](StringId name) {
      uint32_t& seen = ranks_[static_cast<uint32_t>(name)];
      if (seen == 0) names.push_back(name);
      seen = 1;
    };
    for (const HistRow& row : rows) {
      const Function& function = functions[row.function];
      add(function.name);
      add(profile[function.dso].name);
      add(profile[row.thread].comm);
    }
    std::sort(names.begin(), names.end(),
              [&](StringId a, StringId b) { return profile.text(a) < profile.text(b); });
    for (uint32_t i = 0; i < names.size(); ++i) ranks_[static_cast<uint32_t>(names[i])] = i;
    bits_ = std::bit_width(names.size());
  }

  uint64_t operator[](StringId name) const { return ranks_[static_cast<uint32_t>(name)]; }
  int bits() const { return bits_; }
  // Behind all names.
  uint64_t last() const { return (uint64_t{1} << bits_) - 1; }

 private:
  std::vector<uint32_t> ranks_;  // by StringId
  int bits_ = 0;
};

void AddSortKey(SortKey key, std::span<const HistRow> rows, const Profile& profile,
                const FunctionTable& functions, const NameRanks& ranks, FieldSort& sort) {
  switch (key) {
    case SortKey::kPid:
    case SortKey::kTid:
      return sort.Add(32, [&](uint32_t row) -> uint64_t { return profile[rows[row].thread].tid; });
    case SortKey::kTgid:
      return sort.Add(32, [&](uint32_t row) -> uint64_t { return profile[rows[row].thread].pid; });
    case SortKey::kComm:
      return sort.Add(ranks.bits(),
                      [&](uint32_t row) { return ranks[profile[rows[row].thread].comm]; });
    case SortKey::kDso:
      return sort.Add(ranks.bits() + 1, [&](uint32_t row) {
        const profile::Dso& dso = profile[functions[rows[row].function].dso];
        const bool unknown = dso.kind == DsoKind::kUnknown;
        return ranks[dso.name] | uint64_t{unknown} << ranks.bits();
      });
    case SortKey::kSymbol:
      return sort.Add(ranks.bits(), [&](uint32_t row) {
        const Function& function = functions[rows[row].function];
        return function.named() ? ranks[function.name] : ranks.last();
      });
    case SortKey::kCpu:
      return sort.Add(32, [&](uint32_t row) -> uint64_t { return rows[row].cpu; });
    case SortKey::kSrcline:
    case SortKey::kSrcfile:
    case SortKey::kSymoff:
      return sort.Add(32, [&, key](uint32_t row) -> uint64_t {
        return functions.places()->Rank(functions.PlaceOf(rows[row].function), key);
      });
  }
}

}  // namespace

HugeVector<uint32_t> OrderOfRows(std::span<const HistRow> rows, const Profile& profile,
                                 const FunctionTable& functions, const HistOptions& options) {
  FieldSort sort(rows.size());
  // Same names: by place. Kernel addresses come first, as they are negative in perf's arithmetic.
  sort.Add(64, [&](uint32_t row) {
    return functions[rows[row].function].address ^ uint64_t { 1 } << 63;
  });
  const NameRanks ranks(rows, profile, functions);
  for (size_t i = options.sort.size(); i-- > 0;) {
    AddSortKey(options.sort[i], rows, profile, functions, ranks, sort);
  }
  // Heavier rows first: what they lack to the heaviest.
  uint64_t heaviest = 0;
  for (const HistRow& row : rows) {
    heaviest = std::max({heaviest, row.self.period, row.children.period});
  }
  const int bits = std::bit_width(heaviest);
  if (options.children) {
    sort.Add(bits, [&](uint32_t row) { return heaviest - rows[row].self.period; });
  }
  // Of equal weights, the caller comes first: it has more below it, or less above it. (perf asks
  // this of rows of one thread only, and then its order depends on the order of comparisons.)
  if (options.children && options.chains) {
    const uint16_t flip = options.order == ChainOrder::kCaller ? 0xffff : 0;
    sort.Add(16, [&](uint32_t row) -> uint64_t { return rows[row].chain_depth ^ flip; });
  }
  sort.Add(bits, [&](uint32_t row) { return heaviest - rows[row].children.period; });
  return sort.Rows();
}

}  // namespace profiler::report
