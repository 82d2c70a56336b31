#include "src/report/columns.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/report/text.h"

namespace profiler::report {

using profile::Profile;
using profile::Thread;

namespace {

constexpr size_t kPidWidth = 7;    // in "Pid:Command"
constexpr size_t kTimeWidth = 12;  // "56962.100000"

// A number of each event of a group, the leader's first.
struct WeightKind {
  std::string_view heading;
  size_t width;  // of one event
  bool is_percent;
  uint64_t (*of_leader)(const Histogram& hist, size_t row);
  uint64_t (*of_member)(const EventWeights& weights);
};

template <class Of>
constexpr WeightKind OfSelf(std::string_view heading, size_t width, bool is_percent) {
  return {heading, width, is_percent,
          [](const Histogram& hist, size_t row) { return Of()(hist.rows()[row].self); },
          [](const EventWeights& weights) { return Of()(weights.self); }};
}

template <uint64_t ModePeriods::*mode>
constexpr WeightKind OfMode(std::string_view heading, size_t width) {
  return {heading, width, true,
          [](const Histogram& hist, size_t row) { return hist.ModesOf(row).*mode; },
          [](const EventWeights& weights) { return weights.modes.*mode; }};
}

constexpr size_t kPercentWidth = 8;
constexpr size_t kNumberWidth = 12;

struct PeriodOf {
  uint64_t operator()(const Weight& weight) const { return weight.period; }
};
struct CountOf {
  uint64_t operator()(const Weight& weight) const { return weight.count; }
};

WeightKind KindOf(WeightField field) {
  switch (field) {
    case WeightField::kChildren:
      return {"Children", kPercentWidth, true,
              [](const Histogram& hist, size_t row) { return hist.rows()[row].children.period; },
              [](const EventWeights& weights) { return weights.children.period; }};
    case WeightField::kOverhead:
      return OfSelf<PeriodOf>("Overhead", kPercentWidth, true);
    case WeightField::kSys:
      return OfMode<&ModePeriods::sys>("sys", kPercentWidth);
    case WeightField::kUser:
      return OfMode<&ModePeriods::user>("usr", kPercentWidth);
    case WeightField::kGuestSys:
      return OfMode<&ModePeriods::guest_sys>("guest sys", kPercentWidth + 1);
    case WeightField::kGuestUser:
      return OfMode<&ModePeriods::guest_user>("guest usr", kPercentWidth + 1);
    case WeightField::kSamples:
      return OfSelf<CountOf>("Samples", kNumberWidth, false);
    case WeightField::kPeriod:
      return OfSelf<PeriodOf>("Period", kNumberWidth, false);
  }
  return {};
}

class WeightColumn : public Column {
 public:
  WeightColumn(const Histogram& hist, const WeightKind& kind, const ColumnStyle& style,
               bool of_latency)
      : Column(0), hist_(hist), kind_(kind), style_(style), known_(256) {
    const size_t events = 1 + hist.member_totals().size();
    cell_width_ = style.width != 0 ? style.width : kind.width;
    width_ = std::max({cell_width_, events * kind.width, kind.heading.size()});
    // The heading of a latency is that of two events.
    if (!of_latency) cell_width_ = std::max(cell_width_, kind.heading.size());
  }

  void AppendHeading(std::string& out) const override {
    AppendRightAligned(kind_.heading, width_, out);
  }
  bool IsText() const override { return false; }

  void AppendCell(size_t index, std::string& out) override {
    AppendNumberOf(kind_.of_leader(hist_, index), hist_.total(), out);
    const std::span<const EventWeights> members = hist_.MembersOf(index);
    for (size_t i = 0; i < members.size(); ++i) {
      AppendNumberOf(kind_.of_member(members[i]), hist_.member_totals()[i], out);
    }
  }

  // The periods by mode are nowhere in a row.
  bool HaveSameCell(const HistRow& a, const HistRow& b) const override {
    return hist_.member_totals().empty() && hist_.options().modes == false && a.self == b.self &&
           a.children == b.children;
  }

 private:
  // Text that many rows have in common.
  struct Known {
    uint64_t value = 0;
    uint64_t total = 0;
    std::string text;  // empty: not known yet
  };

  void AppendNumberOf(uint64_t value, const Weight& total, std::string& out) {
    Known& known = known_[value * 0x9e3779b97f4a7c15 >> 56];
    if (known.text.empty() || known.value != value || known.total != total.period) {
      known.value = value;
      known.total = total.period;
      known.text.assign(style_.separated ? 1 : 0, ' ');
      const size_t width = style_.separated ? 0 : cell_width_;
      if (kind_.is_percent) {
        AppendPercent(value, total.period, width, known.text);
      } else {
        AppendNumber(value, width, known.text);
      }
    }
    out += known.text;
  }

  const Histogram& hist_;
  const WeightKind kind_;
  const ColumnStyle style_;
  size_t cell_width_;         // of one event
  std::vector<Known> known_;  // by a hash of the number
};

// Stands for what is not counted: the weight of callees, where rows do not have it.
class MissingColumn : public Column {
 public:
  explicit MissingColumn(std::string_view heading)
      : Column(std::max(heading.size(), kPercentWidth)), heading_(heading) {}

  void AppendHeading(std::string& out) const override { AppendRightAligned(heading_, width_, out); }
  void AppendCell(size_t /*index*/, std::string& out) override {
    AppendRightAligned("N/A", width_, out);
  }

 private:
  const std::string_view heading_;
};

// What a sort key says of rows.
class KeyColumn : public Column {
 public:
  KeyColumn(const Histogram& hist, SortKey key, const ColumnStyle& style)
      : Column(style.width != 0 ? style.width : Heading(key).size()),
        hist_(hist),
        profile_(hist.profile()),
        key_(key),
        is_fixed_(style.width != 0) {}

  void AppendHeading(std::string& out) const override {
    AppendLeftAligned(Heading(key_).substr(0, width_), width_, out);
  }
  bool IsCut() const override { return is_fixed_; }

 protected:
  void Widen(size_t width) {
    if (!is_fixed_) width_ = std::max(width_, width);
  }
  const Thread& ThreadOf(const HistRow& row) const { return profile_[row.thread]; }
  const Function& FunctionOf(const HistRow& row) const { return hist_.functions()[row.function]; }

  const Histogram& hist_;
  const Profile& profile_;
  const SortKey key_;
  const bool is_fixed_;
};

// A thread or a process: "    123:worker".
class ThreadColumn : public KeyColumn {
 public:
  using KeyColumn::KeyColumn;

  void MakeRoomFor(const HistRow& row) override { Widen(kPidWidth + 1 + NameOf(row).size()); }
  void AppendCell(size_t index, std::string& out) override {
    const HistRow& row = hist_.rows()[index];
    const Thread& thread = ThreadOf(row);
    AppendNumber(key_ == SortKey::kTgid ? thread.pid : thread.tid, kPidWidth, out);
    out += ':';
    AppendLeftAligned(NameOf(row), 0, out);
  }
  bool HaveSameCell(const HistRow& a, const HistRow& b) const override {
    return a.thread == b.thread;
  }

 private:
  std::string_view NameOf(const HistRow& row) const {
    const Thread& thread = ThreadOf(row);
    return profile_.text(key_ == SortKey::kTgid ? thread.process_comm : thread.last_comm);
  }
};

// Names that many rows have in common: each is laid out once.
class NameColumn : public KeyColumn {
 public:
  NameColumn(const Histogram& hist, SortKey key, const ColumnStyle& style, size_t names)
      : KeyColumn(hist, key, style), cells_(names) {}

  void AppendCell(size_t index, std::string& out) override {
    const HistRow& row = hist_.rows()[index];
    std::string& cell = cells_[IndexOf(row)];
    if (cell.empty()) AppendLeftAligned(TextOf(row), width_, cell);
    out += cell;
  }
  bool HaveSameCell(const HistRow& a, const HistRow& b) const override {
    return IndexOf(a) == IndexOf(b);
  }

 protected:
  virtual uint32_t IndexOf(const HistRow& row) const = 0;
  virtual std::string_view TextOf(const HistRow& row) const = 0;

 private:
  std::vector<std::string> cells_;
};

class CommColumn : public NameColumn {
 public:
  CommColumn(const Histogram& hist, const ColumnStyle& style)
      : NameColumn(hist, SortKey::kComm, style, hist.profile().threads.size()) {}

  void MakeRoomFor(const HistRow& row) override { Widen(TextOf(row).size()); }

 private:
  uint32_t IndexOf(const HistRow& row) const override { return static_cast<uint32_t>(row.thread); }
  std::string_view TextOf(const HistRow& row) const override {
    return profile_.text(ThreadOf(row).comm);
  }
};

class DsoColumn : public NameColumn {
 public:
  DsoColumn(const Histogram& hist, const ColumnStyle& style)
      : NameColumn(hist, SortKey::kDso, style, hist.profile().dsos.size()),
        fits_address_(style.fits_address),
        full_paths_(style.full_paths) {}

  void MakeRoomFor(const HistRow& row) override {
    Widen(TextOf(row).size());
    if (fits_address_ && !FunctionOf(row).named()) Widen(kAddressWidth);
  }

 private:
  uint32_t IndexOf(const HistRow& row) const override {
    return static_cast<uint32_t>(FunctionOf(row).dso);
  }
  std::string_view TextOf(const HistRow& row) const override {
    const profile::Dso& dso = profile_[FunctionOf(row).dso];
    return profile_.text(full_paths_ && profile::IsInFile(dso.kind) ? dso.long_name : dso.name);
  }

  const bool fits_address_;
  const bool full_paths_;
};

class SymbolColumn : public KeyColumn {
 public:
  using KeyColumn::KeyColumn;

  // "[.] " and the name, or "[.] 0x" and the digits.
  void MakeRoomFor(const HistRow& row) override {
    const Function& function = FunctionOf(row);
    Widen(function.named() ? profile_.text(function.name).size() + 4 : kAddressWidth + 6);
  }
  void AppendCell(size_t index, std::string& out) override {
    const size_t start = out.size();
    const Function& function = FunctionOf(hist_.rows()[index]);
    AppendSymbol(profile_, function, out);
    if (is_fixed_ && function.named() && out.size() - start > width_) out.resize(start + width_);
  }
  // An address is not.
  bool IsCut() const override { return false; }
  bool IsFilledUp() const override { return false; }
};

class PositionColumn : public KeyColumn {
 public:
  using KeyColumn::KeyColumn;

  void MakeRoomFor(const HistRow& row) override {
    Widen(LevelText(row).size() + TextOf(row).size());
  }
  void AppendCell(size_t index, std::string& out) override {
    const HistRow& row = hist_.rows()[index];
    out += LevelText(row);
    AppendLeftAligned(TextOf(row), 0, out);
  }

 private:
  std::string LevelText(const HistRow& row) const {
    if (key_ != SortKey::kSymoff) return "";
    return {'[', LevelOf(FunctionOf(row).mode), ']', ' '};
  }
  std::string_view TextOf(const HistRow& row) const {
    const FunctionTable& functions = hist_.functions();
    return functions.positions()->Text(functions.PositionOf(row.function), key_);
  }
};

// What a column of the profile's rows says.
class DimensionColumn : public KeyColumn {
 public:
  DimensionColumn(const Histogram& hist, SortKey key, const ColumnStyle& style)
      : KeyColumn(hist, key, style), values_(hist.profile().column(*DimensionOf(key))) {}

  bool HaveSameCell(const HistRow& a, const HistRow& b) const override {
    return ValueOf(a) == ValueOf(b);
  }

 protected:
  // kNoCpu where the profile has no such column.
  uint32_t ValueOf(const HistRow& row) const {
    return values_.empty() ? profile::kNoCpu : values_[row.sample];
  }
  uint32_t ValueOf(size_t index) const { return ValueOf(hist_.rows()[index]); }
  bool has_values() const { return !values_.empty(); }

 private:
  const HugeVector<uint32_t>& values_;
};

// A number in all its digits, to which perf adds a sign where it is not known: "-001".
class UnitColumn : public DimensionColumn {
 public:
  using DimensionColumn::DimensionColumn;

  void AppendCell(size_t index, std::string& out) override {
    const size_t digits = key_ == SortKey::kSocket ? std::max<size_t>(width_, 3) - 3 : width_;
    const auto number = static_cast<int32_t>(ValueOf(index));
    AppendRightAligned(absl::StrFormat("%.*d", static_cast<int>(digits), number), width_, out);
  }
};

class ParallelismColumn : public DimensionColumn {
 public:
  using DimensionColumn::DimensionColumn;

  void AppendCell(size_t index, std::string& out) override {
    const uint32_t threads = has_values() ? ValueOf(index) : 0;
    AppendRightAligned(threads == profile::kOthersRan ? "others" : absl::StrCat(threads), width_,
                       out);
  }
};

// Seconds of the samples' clock.
class TimeColumn : public DimensionColumn {
 public:
  TimeColumn(const Histogram& hist, SortKey key, const ColumnStyle& style)
      : DimensionColumn(hist, key, style) {
    Widen(kTimeWidth);
  }

  void MakeRoomFor(const HistRow& row) override { Widen(TextOf(row).size()); }
  void AppendCell(size_t index, std::string& out) override { out += TextOf(hist_.rows()[index]); }

 private:
  std::string TextOf(const HistRow& row) const {
    constexpr uint64_t kSecond = 1'000'000'000;
    const uint32_t quantum = ValueOf(row);
    if (quantum >= profile_.quanta.begins.size()) return "";
    const uint64_t time = profile_.quanta.begins[quantum];
    return absl::StrFormat("%d.%06d", time / kSecond, time % kSecond / 1000);
  }
};

// Text that the profile has.
class TextColumn : public DimensionColumn {
 public:
  using DimensionColumn::DimensionColumn;

  void MakeRoomFor(const HistRow& row) override { Widen(TextOf(row).size()); }
  void AppendCell(size_t index, std::string& out) override {
    AppendLeftAligned(TextOf(hist_.rows()[index]), 0, out);
  }

 private:
  std::string_view TextOf(const HistRow& row) const {
    const uint32_t text = ValueOf(row);
    if (text != 0 && text != profile::kNoCpu) return profile_.text(StringId{text});
    return key_ == SortKey::kParent ? "[other]" : "N/A";
  }
};

std::unique_ptr<Column> MakeKeyColumn(const Histogram& hist, SortKey key,
                                      const ColumnStyle& style) {
  switch (key) {
    case SortKey::kPid:
    case SortKey::kTid:
    case SortKey::kTgid:
      return std::make_unique<ThreadColumn>(hist, key, style);
    case SortKey::kComm:
      return std::make_unique<CommColumn>(hist, style);
    case SortKey::kDso:
      return std::make_unique<DsoColumn>(hist, style);
    case SortKey::kSymbol:
      return std::make_unique<SymbolColumn>(hist, key, style);
    case SortKey::kSrcline:
    case SortKey::kSrcfile:
    case SortKey::kSymoff:
      return std::make_unique<PositionColumn>(hist, key, style);
    case SortKey::kCpu:
    case SortKey::kSocket:
      return std::make_unique<UnitColumn>(hist, key, style);
    case SortKey::kParallelism:
      return std::make_unique<ParallelismColumn>(hist, key, style);
    case SortKey::kTime:
      return std::make_unique<TimeColumn>(hist, key, style);
    case SortKey::kCgroup:
    case SortKey::kTrace:
    case SortKey::kCommNoDigit:
    case SortKey::kParent:
      return std::make_unique<TextColumn>(hist, key, style);
    default:  // of branches alone
      return nullptr;
  }
}

std::string_view LatencyHeading(WeightField field, bool is_self) {
  if (field == WeightField::kChildren) return "Latency Children";
  return is_self ? "Latency     Self" : "Latency Overhead";
}

std::unique_ptr<Column> MakeWeightColumn(const Histogram& hist, const ReportOptions& options,
                                         const FieldLayout& layout, WeightField field,
                                         const ColumnStyle& style) {
  WeightKind kind = KindOf(field);
  const bool is_share = field == WeightField::kChildren || field == WeightField::kOverhead;
  const bool is_self = field == WeightField::kOverhead && layout.overhead_is_self;
  if (is_self) kind.heading = "Self";
  if (is_share && options.latency) kind.heading = LatencyHeading(field, is_self);
  if (field == WeightField::kChildren && !hist.options().children) {
    return std::make_unique<MissingColumn>(kind.heading);
  }
  return std::make_unique<WeightColumn>(hist, kind, style, is_share && options.latency);
}

// perf shows superfluous columns where there would be no others.
bool AllAreSuperfluous(const FieldLayout& layout, const Filter& filter) {
  const std::vector<SortKey> keys = KeysOf(layout.shown);
  return std::all_of(keys.begin(), keys.end(),
                     [&](SortKey key) { return OnlyName(key, filter) != nullptr; });
}

}  // namespace

std::vector<std::unique_ptr<Column>> MakeColumns(const Histogram& hist,
                                                 const ReportOptions& options,
                                                 const FieldLayout& layout) {
  std::vector<std::unique_ptr<Column>> columns;
  const bool keep_all = AllAreSuperfluous(layout, options.filter);
  for (size_t i = 0; i < layout.shown.size(); ++i) {
    const ColumnStyle style{.width = i < options.widths.size() ? options.widths[i] : 0,
                            .separated = !options.separator.empty(),
                            .full_paths = options.full_dso_paths,
                            .fits_address = options.separator.empty() && options.widths.empty() &&
                                            options.filter.dsos.empty()};
    std::unique_ptr<Column> column;
    if (const auto* weight = std::get_if<WeightField>(&layout.shown[i])) {
      column = MakeWeightColumn(hist, options, layout, *weight, style);
    } else {
      const auto key = std::get<SortKey>(layout.shown[i]);
      if (!keep_all && OnlyName(key, options.filter) != nullptr) continue;
      column = MakeKeyColumn(hist, key, style);
    }
    if (column != nullptr) columns.push_back(std::move(column));
  }
  return columns;
}

const std::string* OnlyName(SortKey key, const Filter& filter) {
  const auto only = [](const std::vector<std::string>& list) {
    return list.size() == 1 ? &list[0] : nullptr;
  };
  if (key == SortKey::kComm) return only(filter.comms);
  if (key == SortKey::kDso) return only(filter.dsos);
  if (key == SortKey::kSymbol) return only(filter.symbols);
  return nullptr;
}

}  // namespace profiler::report
