#include "src/views/report/row_order.h"

#include <algorithm>
#include <bit>
#include <variant>
#include <vector>

#include "src/base/radix_sort.h"

namespace profiler::report {

using profile::Profile;
using symbolize::ImageKind;

namespace {

// A sort by fields of a few bits each. It joins fields to 32-bit keys, so that one pass sorts by
// several fields.
class FieldSort {
 public:
  explicit FieldSort(size_t rows) : sort_(static_cast<uint32_t>(rows)), keys_(rows, 0) {}

  // Adds the next more significant field; `value_of(row)` must be below 2^bits.
  void Add(int bits, auto value_of) {
    for (int added = 0; added < bits;) {
      for (uint32_t row = 0; row < keys_.size(); ++row) {
        keys_[row] |= static_cast<uint32_t>(value_of(row) >> added << used_);
      }
      const int taken = std::min(bits - added, 32 - used_);
      added += taken;
      used_ += taken;
      if (used_ == 32) Flush();
    }
  }

  // Adds the next more significant field: the difference to the heaviest row. If samples have equal
  // periods, all weights may end in the same number of zero bits, which are dropped.
  void AddHeaviestFirst(auto period_of) {
    uint64_t heaviest = 0, all_bits = 0;
    for (uint32_t row = 0; row < keys_.size(); ++row) {
      heaviest = std::max(heaviest, period_of(row));
      all_bits |= period_of(row);
    }
    if (all_bits == 0) return;
    const int zeros = std::countr_zero(all_bits);
    Add(std::bit_width(heaviest >> zeros),
        [&](uint32_t row) { return (heaviest - period_of(row)) >> zeros; });
  }

  HugeVector<uint32_t> Rows() {
    if (used_ != 0) Flush();
    return sort_.Order();
  }

 private:
  void Flush() {
    sort_.SortBy([&](uint32_t row) { return keys_[row]; });
    std::fill(keys_.begin(), keys_.end(), 0);
    used_ = 0;
  }

  RadixSort sort_;
  HugeVector<uint32_t> keys_;  // indexed by row
  int used_ = 0;               // used bits of keys_
};

// The ranks of names, from 0, in the order of their texts. Add all names and call Rank() before
// reading a rank.
class NameRanks {
 public:
  explicit NameRanks(const Profile& profile)
      : profile_(profile), ranks_(profile.strings.size(), 0) {}

  void Add(StringId name) {
    uint32_t& seen = ranks_[static_cast<uint32_t>(name)];
    if (seen == 0) names_.push_back(name);
    seen = 1;
  }
  // Ranks the names. If `are_numbers`, they are decimal numbers, so a longer one is larger.
  void Rank(bool are_numbers = false) {
    std::sort(names_.begin(), names_.end(), [&](StringId a, StringId b) {
      const std::string_view text = profile_.text(a), other = profile_.text(b);
      if (are_numbers && text.size() != other.size()) return text.size() < other.size();
      return text < other;
    });
    for (uint32_t i = 0; i < names_.size(); ++i) ranks_[static_cast<uint32_t>(names_[i])] = i;
    bits_ = std::bit_width(names_.size());
  }

  uint64_t operator[](StringId name) const { return ranks_[static_cast<uint32_t>(name)]; }
  int bits() const { return bits_; }
  // Returns a rank that is higher than that of any name.
  uint64_t last() const { return (uint64_t{1} << bits_) - 1; }

 private:
  const Profile& profile_;
  std::vector<uint32_t> ranks_;  // indexed by StringId
  std::vector<StringId> names_;
  int bits_ = 0;
};

// A row's code, stored contiguously because functions are scattered in memory.
struct RowCode {
  uint64_t address;  // sign bit flipped, for the order of signed numbers
  StringId symbol;   // name of the function; empty: no name
  profile::ImageId image;
};

class RowKeys {
 public:
  RowKeys(std::span<const HistRow> rows, const Profile& profile, const FunctionTable& functions)
      : rows_(rows), profile_(profile), functions_(functions), images_(profile), symbols_(profile) {
    constexpr size_t kAhead = 16;
    codes_.reserve(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      if (i + kAhead < rows.size()) __builtin_prefetch(&functions[rows[i + kAhead].function]);
      const Function& function = functions[rows[i].function];
      const uint64_t address = function.address ^ uint64_t { 1 } << 63;
      codes_.push_back({address, function.name, function.image});
      lowest_ = std::min(lowest_, address);
      highest_ = std::max(highest_, address);
      symbols_.Add(function.name);
    }
    for (const profile::Image& image : profile.images) images_.Add(image.name);
    for (NameRanks* const ranks : {&images_, &symbols_}) ranks->Rank();
  }

  void AddAddress(FieldSort& sort) const {
    if (lowest_ >= highest_) return;
    sort.Add(std::bit_width(highest_ - lowest_),
             [&](uint32_t row) { return codes_[row].address - lowest_; });
  }

  void Add(SortKey key, FieldSort& sort) const {
    const SortKeyEntry& entry = EntryOf(key);
    switch (entry.kind) {
      case KeyKind::kThread:
        return AddThreads(entry.thread, sort);
      case KeyKind::kImage:
        return sort.Add(images_.bits() + 1, [&](uint32_t row) {
          const profile::Image& image = profile_[codes_[row].image];
          const bool unknown = image.kind == ImageKind::kUnknown;
          return images_[image.name] | uint64_t{unknown} << images_.bits();
        });
      case KeyKind::kSymbol:
        return sort.Add(symbols_.bits(), [&](uint32_t row) {
          const StringId symbol = codes_[row].symbol;
          return symbol == StringId::kEmpty ? symbols_.last() : symbols_[symbol];
        });
      case KeyKind::kPosition:
        return sort.Add(32, [&, key](uint32_t row) -> uint64_t {
          return functions_.positions()->Rank(functions_.PositionOf(rows_[row].function), key);
        });
      case KeyKind::kBranch:
        return;
      default:
        return AddColumn(entry.kind, profile_.column(*DimensionOf(key)), sort);
    }
  }

 private:
  void AddThreads(const ThreadValue& value, FieldSort& sort) const {
    if (value.id != nullptr) {
      return sort.Add(32, [&](uint32_t row) -> uint64_t { return value.id(ThreadOf(row)); });
    }
    NameRanks names(profile_);
    for (const profile::Thread& thread : profile_.threads) names.Add(value.name(thread));
    names.Rank();
    sort.Add(names.bits(), [&](uint32_t row) { return names[value.name(ThreadOf(row))]; });
  }

  // Adds a column. Unknown values come first among numbers, and last among texts.
  void AddColumn(KeyKind kind, const HugeVector<uint32_t>& column, FieldSort& sort) const {
    if (column.empty()) return;
    const auto value_of = [&](uint32_t row) { return column[rows_[row].sample]; };
    if (kind == KeyKind::kNumber) {
      return sort.Add(32, [&](uint32_t row) -> uint64_t { return value_of(row) + 1; });
    }
    if (kind == KeyKind::kParallelism) {
      return sort.Add(32, [&](uint32_t row) -> uint64_t { return value_of(row); });
    }
    if (kind == KeyKind::kTime) {
      return sort.Add(64, [&](uint32_t row) { return profile_.quanta.begins[value_of(row)]; });
    }
    NameRanks texts(profile_);
    for (uint32_t row = 0; row < rows_.size(); ++row) texts.Add(StringId{value_of(row)});
    texts.Rank(kind == KeyKind::kCost || kind == KeyKind::kCostOfAll);
    sort.Add(texts.bits(), [&](uint32_t row) {
      const StringId text{value_of(row)};
      return text == StringId::kEmpty ? texts.last() : texts[text];
    });
  }

  const profile::Thread& ThreadOf(uint32_t row) const { return profile_[rows_[row].thread]; }

  const std::span<const HistRow> rows_;
  const Profile& profile_;
  const FunctionTable& functions_;
  NameRanks images_, symbols_;
  HugeVector<RowCode> codes_;                   // indexed by row
  uint64_t lowest_ = UINT64_MAX, highest_ = 0;  // range of addresses
};

// The weights of rows, by which they are sorted, the heaviest first.
class RowWeights {
 public:
  RowWeights(const RowsToOrder& rows, const HistOptions& options)
      : rows_(rows),
        options_(options),
        members_(rows.rows.empty() ? 0 : rows.members.size() / rows.rows.size()) {}

  void Add(WeightField field, FieldSort& sort) const {
    switch (field) {
      case WeightField::kChildren:
        if (!options_.children) return;
        AddDepths(sort);
        return sort.AddHeaviestFirst([&](uint32_t row) { return rows_.rows[row].children.period; });
      case WeightField::kOverhead:
      case WeightField::kPeriod:
        return AddEach(sort, [](const auto& weights) { return weights.self.period; });
      case WeightField::kSamples:
        return AddEach(sort, [](const auto& weights) { return weights.self.count; });
      case WeightField::kSys:
        return AddMode(sort, &ModePeriods::sys);
      case WeightField::kUser:
        return AddMode(sort, &ModePeriods::user);
      case WeightField::kGuestSys:
        return AddMode(sort, &ModePeriods::guest_sys);
      case WeightField::kGuestUser:
        return AddMode(sort, &ModePeriods::guest_user);
      case WeightField::kChildrenInterval:
      case WeightField::kOverheadInterval:
      case WeightField::kRank:
        return;
    }
  }

 private:
  // Sorts rows by the leader's value, then by the value of each member.
  void AddEach(FieldSort& sort, auto value_of) const {
    AddMembers(sort, value_of);
    sort.AddHeaviestFirst([&](uint32_t row) { return value_of(rows_.rows[row]); });
  }

  void AddMode(FieldSort& sort, uint64_t ModePeriods::*mode) const {
    AddMembers(sort, [mode](const EventWeights& weights) { return weights.modes.*mode; });
    sort.AddHeaviestFirst([&](uint32_t row) { return rows_.modes[row].*mode; });
  }

  void AddMembers(FieldSort& sort, auto value_of) const {
    for (size_t i = members_; i-- > 0;) {
      sort.AddHeaviestFirst(
          [&](uint32_t row) { return value_of(rows_.members[row * members_ + i]); });
    }
  }

  // Puts the caller first among rows of equal weight. A caller has longer chains below it, or
  // shorter chains above it, than its callee. (perf does so only for rows of one thread, and then
  // its order depends on the order of comparisons.)
  void AddDepths(FieldSort& sort) const {
    if (!options_.children || !options_.chains) return;
    const bool deeper_first = options_.order == ChainOrder::kCaller;
    uint16_t deepest = 0;
    for (const HistRow& row : rows_.rows) deepest = std::max(deepest, row.chain_depth);
    sort.Add(std::bit_width(deepest), [&](uint32_t row) -> uint64_t {
      const uint16_t depth = rows_.rows[row].chain_depth;
      return deeper_first ? deepest - depth : depth;
    });
  }

  const RowsToOrder& rows_;
  const HistOptions& options_;
  const size_t members_;  // number of further events of the group
};

}  // namespace

HugeVector<uint32_t> OrderOfRows(const RowsToOrder& rows, const Profile& profile,
                                 const FunctionTable& functions, const HistOptions& options) {
  FieldSort sort(rows.rows.size());
  const RowKeys keys(rows.rows, profile, functions);
  const RowWeights weights(rows, options);
  // Rows with equal names are sorted by address. Kernel addresses come first, because they are
  // negative in perf's arithmetic.
  keys.AddAddress(sort);
  std::vector<Field> order = options.row_order;
  if (order.empty()) {
    if (options.children) order.emplace_back(WeightField::kChildren);
    order.emplace_back(WeightField::kOverhead);
    order.insert(order.end(), options.sort.begin(), options.sort.end());
  }
  for (size_t i = order.size(); i-- > 0;) {
    if (const WeightField* weight = std::get_if<WeightField>(&order[i])) {
      weights.Add(*weight, sort);
    } else {
      keys.Add(std::get<SortKey>(order[i]), sort);
    }
  }
  return sort.Rows();
}

}  // namespace profiler::report
