#include "src/views/report/columns.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/clock.h"
#include "src/base/padded_text.h"
#include "src/base/text.h"
#include "src/views/report/cell_text.h"
#include "src/views/report/weight_columns.h"

namespace profiler::report {

using profile::Profile;
using profile::Thread;

namespace {

constexpr size_t kTimeWidth = 12;  // width of a time such as "56962.100000"

// A column of a sort key.
class KeyColumn : public Column {
 public:
  KeyColumn(const Histogram& hist, SortKey key, const ColumnStyle& style)
      : Column(style.width != 0 ? style.width : Heading(key).size()),
        hist_(hist),
        profile_(hist.profile()),
        key_(key),
        entry_(EntryOf(key)),
        is_fixed_(style.width != 0) {}

  void AppendHeading(std::string& out) const override {
    AppendLeftAligned(entry_.heading.substr(0, width_), width_, out);
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
  const SortKeyEntry& entry_;
  const bool is_fixed_;
};

// A column of ids, and names behind them if the key has any: "    123:worker".
class ThreadColumn : public KeyColumn {
 public:
  using KeyColumn::KeyColumn;

  void MakeRoomFor(const HistRow& row) override { Widen(kPidWidth + NameOf(row).size()); }
  void AppendCell(size_t index, std::string& out) override {
    const HistRow& row = hist_.rows()[index];
    // The id is -1 if the sample was taken after the thread had ended.
    const auto id = static_cast<int32_t>(entry_.thread.id(ThreadOf(row)));
    AppendRightAligned(absl::StrCat(id), entry_.thread.name == nullptr ? width_ : kPidWidth, out);
    AppendLeftAligned(NameOf(row), 0, out);
  }
  bool HaveSameCell(const HistRow& a, const HistRow& b) const override {
    return a.thread == b.thread;
  }

 private:
  // Returns ":worker"; "" if the key has no name.
  std::string NameOf(const HistRow& row) const {
    if (entry_.thread.name == nullptr) return "";
    return absl::StrCat(":", View(profile_.text(entry_.thread.name(ThreadOf(row)))));
  }
};

// A column of names that many rows share. Each name is formatted once.
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
  CommColumn(const Histogram& hist, SortKey key, const ColumnStyle& style)
      : NameColumn(hist, key, style, hist.profile().threads.size()) {}

  void MakeRoomFor(const HistRow& row) override { Widen(TextOf(row).size()); }

 private:
  uint32_t IndexOf(const HistRow& row) const override { return static_cast<uint32_t>(row.thread); }
  std::string_view TextOf(const HistRow& row) const override {
    return profile_.text(entry_.thread.name(ThreadOf(row)));
  }
};

class DsoColumn : public NameColumn {
 public:
  DsoColumn(const Histogram& hist, SortKey key, const ColumnStyle& style)
      : NameColumn(hist, key, style, hist.profile().images.size()),
        fits_address_(style.fits_address),
        full_paths_(style.full_paths) {}

  void MakeRoomFor(const HistRow& row) override {
    Widen(TextOf(row).size());
    if (fits_address_ && !FunctionOf(row).named()) Widen(kAddressWidth);
  }

 private:
  uint32_t IndexOf(const HistRow& row) const override {
    return static_cast<uint32_t>(FunctionOf(row).image);
  }
  std::string_view TextOf(const HistRow& row) const override {
    const profile::Image& image = profile_[FunctionOf(row).image];
    return profile_.text(full_paths_ && symbolize::IsInFile(image.kind) ? image.long_name
                                                                        : image.name);
  }

  const bool fits_address_;
  const bool full_paths_;
};

class SymbolColumn : public KeyColumn {
 public:
  using KeyColumn::KeyColumn;

  // A cell is "[.] " and the name, or "[.] 0x" and 16 digits.
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
  // False, because AppendCell itself cuts names, and addresses are never cut.
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

// A column of values from the profile's rows.
class DimensionColumn : public KeyColumn {
 public:
  DimensionColumn(const Histogram& hist, SortKey key, const ColumnStyle& style)
      : KeyColumn(hist, key, style), values_(hist.profile().column(*DimensionOf(key))) {}

  bool HaveSameCell(const HistRow& a, const HistRow& b) const override {
    return ValueOf(a) == ValueOf(b);
  }

 protected:
  // Returns the row's value; kNoCpu if the profile does not have the column.
  uint32_t ValueOf(const HistRow& row) const {
    return values_.empty() ? profile::kNoCpu : values_[row.sample];
  }
  uint32_t ValueOf(size_t index) const { return ValueOf(hist_.rows()[index]); }
  bool has_values() const { return !values_.empty(); }

 private:
  const HugeVector<uint32_t>& values_;
};

// A column of numbers padded with zeros. Like perf, shows an unknown number as "-001".
class UnitColumn : public DimensionColumn {
 public:
  using DimensionColumn::DimensionColumn;

  void AppendCell(size_t index, std::string& out) override {
    const size_t digits = std::max(width_, entry_.fewer_digits) - entry_.fewer_digits;
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

// A column of times by the samples' clock, in seconds.
class TimeColumn : public DimensionColumn {
 public:
  TimeColumn(const Histogram& hist, SortKey key, const ColumnStyle& style)
      : DimensionColumn(hist, key, style), nanoseconds_(style.nanoseconds) {
    Widen(kTimeWidth);
  }

  void MakeRoomFor(const HistRow& row) override { Widen(TextOf(row).size()); }
  void AppendCell(size_t index, std::string& out) override { out += TextOf(hist_.rows()[index]); }

 private:
  std::string TextOf(const HistRow& row) const {
    const uint32_t quantum = ValueOf(row);
    if (quantum >= profile_.quanta.begins.size()) return "";
    const uint64_t time = profile_.quanta.begins[quantum];
    if (nanoseconds_)
      return absl::StrFormat("%d.%09d", time / kNanosecondsPerSecond, time % kNanosecondsPerSecond);
    return absl::StrFormat("%d.%06d", time / kNanosecondsPerSecond,
                           time % kNanosecondsPerSecond / 1000);
  }

  const bool nanoseconds_;
};

// A column of texts of the profile.
class TextColumn : public DimensionColumn {
 public:
  TextColumn(const Histogram& hist, SortKey key, const ColumnStyle& style)
      : DimensionColumn(hist, key, style) {
    if (!style.separated) Widen(entry_.least_width);
  }

  void MakeRoomFor(const HistRow& row) override { Widen(TextOf(row).size()); }
  void AppendCell(size_t index, std::string& out) override {
    AppendLeftAligned(TextOf(hist_.rows()[index]), 0, out);
  }

 protected:
  std::string_view TextOf(const HistRow& row) const {
    const uint32_t text = ValueOf(row);
    if (text != 0 && text != profile::kNoCpu) return profile_.text(StringId{text});
    return entry_.unknown;
  }
};

// A column of locations of data. A cell begins with the level of the code that accessed the data:
// "[.] table+0x40".
class DataColumn : public TextColumn {
 public:
  using TextColumn::TextColumn;

  void MakeRoomFor(const HistRow& row) override { Widen(kLevelWidth + TextOf(row).size()); }
  void AppendCell(size_t index, std::string& out) override {
    const HistRow& row = hist_.rows()[index];
    out += {'[', LevelAt(row), ']', ' '};
    AppendLeftAligned(TextOf(row), 0, out);
  }

 private:
  static constexpr size_t kLevelWidth = 4;

  // Returns the level of the accessing code; 'X' for a cache line that is not known to be mapped.
  char LevelAt(const HistRow& row) const {
    const HugeVector<uint32_t>& data = profile_.column(profile::Dimension::kData);
    if (key_ == SortKey::kCacheLine && !data.empty()) {
      const profile::FrameId frame = profile_.data[data[row.sample]].frame;
      const bool is_mapped = frame != profile::kNoFrame &&
                             profile_[profile_[frame].image].kind != symbolize::ImageKind::kUnknown;
      if (!is_mapped) return 'X';
    }
    return LevelOf(FunctionOf(row).mode);
  }
};

// A column of costs of all accesses of a row: the cost of one access, times their number.
class CostColumn : public TextColumn {
 public:
  using TextColumn::TextColumn;

  void AppendCell(size_t index, std::string& out) override {
    const HistRow& row = hist_.rows()[index];
    uint64_t cost = 0;
    const std::string_view text = TextOf(row);
    if (!absl::SimpleAtoi(absl::string_view(text.data(), text.size()), &cost)) return;
    AppendLeftAligned(absl::StrCat(cost * row.self.count), 0, out);
  }
};

// A column of values of a field of tracepoints' records.
class TraceFieldColumn : public DimensionColumn {
 public:
  TraceFieldColumn(const Histogram& hist, SortKey key, const ColumnStyle& style)
      : DimensionColumn(hist, key, style),
        heading_(profile_.text(profile_.trace_fields[TraceFieldIndex(key)])) {
    Widen(std::max(kLeastWidth, heading_.size()));
  }

  // True if records of this table have the field.
  bool HasValues() const {
    const auto rows = hist_.rows();
    return has_values() && std::any_of(rows.begin(), rows.end(),
                                       [&](const HistRow& row) { return ValueOf(row) != 0; });
  }
  void AppendHeading(std::string& out) const override {
    AppendRightAligned(heading_.substr(0, width_), width_, out);
  }
  void MakeRoomFor(const HistRow& row) override { Widen(TextOf(row).size()); }
  void AppendCell(size_t index, std::string& out) override {
    std::string text;
    AppendPrintable(TextOf(hist_.rows()[index]), text);
    AppendRightAligned(text, width_, out);
  }

 private:
  static constexpr size_t kLeastWidth = 8;

  std::string_view TextOf(const HistRow& row) const {
    const uint32_t text = ValueOf(row);
    return text == 0 ? "N/A" : profile_.text(StringId{text});
  }

  const std::string_view heading_;
};

std::unique_ptr<Column> MakeKeyColumn(const Histogram& hist, SortKey key,
                                      const ColumnStyle& style) {
  switch (EntryOf(key).kind) {
    case KeyKind::kThread:
      if (EntryOf(key).thread.id == nullptr) return std::make_unique<CommColumn>(hist, key, style);
      return std::make_unique<ThreadColumn>(hist, key, style);
    case KeyKind::kImage:
      return std::make_unique<DsoColumn>(hist, key, style);
    case KeyKind::kSymbol:
      return std::make_unique<SymbolColumn>(hist, key, style);
    case KeyKind::kPosition:
      return std::make_unique<PositionColumn>(hist, key, style);
    case KeyKind::kNumber:
      return std::make_unique<UnitColumn>(hist, key, style);
    case KeyKind::kParallelism:
      return std::make_unique<ParallelismColumn>(hist, key, style);
    case KeyKind::kTime:
      return std::make_unique<TimeColumn>(hist, key, style);
    case KeyKind::kText:
    case KeyKind::kCost:
      return std::make_unique<TextColumn>(hist, key, style);
    case KeyKind::kDataText:
      return std::make_unique<DataColumn>(hist, key, style);
    case KeyKind::kCostOfAll:
      return std::make_unique<CostColumn>(hist, key, style);
    case KeyKind::kTraceField: {
      auto column = std::make_unique<TraceFieldColumn>(hist, key, style);
      return column->HasValues() ? std::move(column) : nullptr;
    }
    case KeyKind::kBranch:
      break;
  }
  return nullptr;
}

// True if all columns are superfluous; then perf shows them, because no column would be left.
bool AllAreSuperfluous(const FieldLayout& layout, const Profile& profile, const Filter& filter) {
  const std::vector<SortKey> keys = KeysOf(layout.shown);
  return std::all_of(keys.begin(), keys.end(),
                     [&](SortKey key) { return OnlyName(key, profile, filter) != nullptr; });
}

// True if a sample that passes the filter is in a function of another name, because the filter's
// symbol is inlined there.
bool AnyIsInlined(const std::string& symbol, const Profile& profile, const Filter& filter) {
  const analysis::RowFilter rows(profile, filter);
  return std::ranges::any_of(profile.rows, [&](const profile::Row& row) {
    if (!rows.Passes(row)) return false;
    const auto lines = profile.LinesOf(profile[row.self]);
    return lines.empty() || lines.back().symbol == profile::kNoSymbol ||
           profile.text(profile[lines.back().symbol].name) != symbol;
  });
}

}  // namespace

std::vector<std::unique_ptr<Column>> MakeColumns(const Histogram& hist, const HistFigures& figures,
                                                 const ReportOptions& options,
                                                 const FieldLayout& layout) {
  std::vector<std::unique_ptr<Column>> columns;
  const bool keep_all = AllAreSuperfluous(layout, hist.profile(), options.filter);
  for (size_t i = 0; i < layout.shown.size(); ++i) {
    const ColumnStyle style{.width = i < options.widths.size() ? options.widths[i] : 0,
                            .separated = !options.separator.empty(),
                            .full_paths = options.full_dso_paths,
                            .fits_address = options.separator.empty() && options.widths.empty() &&
                                            options.filter.images.empty(),
                            .nanoseconds = options.nanoseconds};
    std::unique_ptr<Column> column;
    if (const auto* weight = std::get_if<WeightField>(&layout.shown[i])) {
      column = MakeWeightColumn({hist, figures, options, layout}, *weight, style);
    } else {
      const auto key = std::get<SortKey>(layout.shown[i]);
      if (!keep_all && OnlyName(key, hist.profile(), options.filter) != nullptr) continue;
      column = MakeKeyColumn(hist, key, style);
    }
    if (column != nullptr) columns.push_back(std::move(column));
  }
  return columns;
}

const std::string* OnlyName(SortKey key, const Profile& profile, const Filter& filter) {
  const auto only = [](const std::vector<std::string>& list) {
    return list.size() == 1 ? &list[0] : nullptr;
  };
  if (key == SortKey::kComm) return only(filter.comms);
  if (key == SortKey::kDso) return only(filter.images);
  if (key != SortKey::kSymbol) return nullptr;
  const std::string* const symbol = only(filter.symbols);
  return symbol == nullptr || AnyIsInlined(*symbol, profile, filter) ? nullptr : symbol;
}

}  // namespace profiler::report
