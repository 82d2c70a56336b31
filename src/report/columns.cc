#include "src/report/columns.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/report/text.h"

namespace profiler::report {

using profile::Profile;
using profile::Thread;

namespace {

constexpr size_t kPercentWidth = 8;  // of one event
constexpr size_t kNumberWidth = 12;  // of one event
constexpr size_t kPidWidth = 7;      // in "Pid:Command"

// A number of each event of a group, the leader's first.
class WeightColumn : public Column {
 public:
  WeightColumn(const Histogram& hist, std::string_view heading, size_t event_width)
      : Column(std::max(heading.size(), (1 + hist.member_totals().size()) * event_width)),
        hist_(hist),
        heading_(heading) {}

  void AppendHeading(std::string& out) const override { AppendRightAligned(heading_, width_, out); }

  bool HaveSameCell(const HistRow& a, const HistRow& b) const override {
    return hist_.member_totals().empty() && a.self == b.self && a.children == b.children;
  }

 protected:
  const Histogram& hist_;

 private:
  const std::string_view heading_;
};

class PercentColumn : public WeightColumn {
 public:
  PercentColumn(const Histogram& hist, std::string_view heading, Weight HistRow::*weight,
                Weight EventWeights::*of_member)
      : WeightColumn(hist, heading, kPercentWidth),
        weight_(weight),
        of_member_(of_member),
        known_(256) {}

  void AppendCell(size_t index, std::string& out) override {
    AppendShare(hist_.rows()[index].*weight_, hist_.total(), out);
    const std::span<const EventWeights> members = hist_.MembersOf(index);
    for (size_t i = 0; i < members.size(); ++i) {
      AppendShare(members[i].*of_member_, hist_.member_totals()[i], out);
    }
  }

 private:
  // Text that many rows have in common.
  struct Known {
    uint64_t period = 0;
    uint64_t total = 0;
    std::string text;  // empty: not known yet
  };

  void AppendShare(const Weight& weight, const Weight& total, std::string& out) {
    Known& known = known_[weight.period * 0x9e3779b97f4a7c15 >> 56];
    if (known.text.empty() || known.period != weight.period || known.total != total.period) {
      known.period = weight.period;
      known.total = total.period;
      known.text.clear();
      AppendPercent(weight.period, total.period, kPercentWidth, known.text);
    }
    out += known.text;
  }

  Weight HistRow::*const weight_;
  Weight EventWeights::*const of_member_;
  std::vector<Known> known_;  // by a hash of the period
};

class SamplesColumn : public WeightColumn {
 public:
  explicit SamplesColumn(const Histogram& hist) : WeightColumn(hist, "Samples", kNumberWidth) {}

  void AppendCell(size_t index, std::string& out) override {
    AppendNumber(hist_.rows()[index].self.count, kNumberWidth, out);
    for (const EventWeights& member : hist_.MembersOf(index)) {
      AppendNumber(member.self.count, kNumberWidth, out);
    }
  }
};

// What a sort key says of rows.
class KeyColumn : public Column {
 public:
  KeyColumn(const Histogram& hist, SortKey key)
      : Column(Heading(key).size()), hist_(hist), profile_(hist.profile()), key_(key) {}

  void AppendHeading(std::string& out) const override {
    AppendLeftAligned(Heading(key_), width_, out);
  }

 protected:
  void Widen(size_t width) { width_ = std::max(width_, width); }
  const Thread& ThreadOf(const HistRow& row) const { return profile_[row.thread]; }
  const Function& FunctionOf(const HistRow& row) const { return hist_.functions()[row.function]; }

  const Histogram& hist_;
  const Profile& profile_;
  const SortKey key_;
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
  NameColumn(const Histogram& hist, SortKey key, size_t names)
      : KeyColumn(hist, key), cells_(names) {}

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
  explicit CommColumn(const Histogram& hist)
      : NameColumn(hist, SortKey::kComm, hist.profile().threads.size()) {}

  void MakeRoomFor(const HistRow& row) override { Widen(TextOf(row).size()); }

 private:
  uint32_t IndexOf(const HistRow& row) const override { return static_cast<uint32_t>(row.thread); }
  std::string_view TextOf(const HistRow& row) const override {
    return profile_.text(ThreadOf(row).comm);
  }
};

class DsoColumn : public NameColumn {
 public:
  explicit DsoColumn(const Histogram& hist)
      : NameColumn(hist, SortKey::kDso, hist.profile().dsos.size()) {}

  void MakeRoomFor(const HistRow& row) override {
    Widen(TextOf(row).size());
    if (!FunctionOf(row).named()) Widen(kAddressWidth);
  }

 private:
  uint32_t IndexOf(const HistRow& row) const override {
    return static_cast<uint32_t>(FunctionOf(row).dso);
  }
  std::string_view TextOf(const HistRow& row) const override {
    return profile_.text(profile_[FunctionOf(row).dso].name);
  }
};

class SymbolColumn : public KeyColumn {
 public:
  explicit SymbolColumn(const Histogram& hist) : KeyColumn(hist, SortKey::kSymbol) {}

  // "[.] " and the name, or "[.] 0x" and the digits.
  void MakeRoomFor(const HistRow& row) override {
    const Function& function = FunctionOf(row);
    Widen(function.named() ? profile_.text(function.name).size() + 4 : kAddressWidth + 6);
  }
  void AppendCell(size_t index, std::string& out) override {
    AppendSymbol(profile_, FunctionOf(hist_.rows()[index]), out);
  }
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

class CpuColumn : public KeyColumn {
 public:
  explicit CpuColumn(const Histogram& hist) : KeyColumn(hist, SortKey::kCpu) {}

  // Three digits, to which perf adds a sign where no CPU is known: "-001".
  void AppendCell(size_t index, std::string& out) override {
    absl::StrAppendFormat(&out, "%.3d", static_cast<int32_t>(hist_.rows()[index].cpu));
  }
  bool HaveSameCell(const HistRow& a, const HistRow& b) const override { return a.cpu == b.cpu; }
};

class ParallelismColumn : public KeyColumn {
 public:
  explicit ParallelismColumn(const Histogram& hist) : KeyColumn(hist, SortKey::kParallelism) {}

  void AppendCell(size_t index, std::string& out) override {
    const uint32_t threads = hist_.rows()[index].parallelism;
    AppendRightAligned(threads == profile::kOthersRan ? "others" : absl::StrCat(threads), width_,
                       out);
  }
  bool HaveSameCell(const HistRow& a, const HistRow& b) const override {
    return a.parallelism == b.parallelism;
  }
};

std::unique_ptr<Column> MakeKeyColumn(const Histogram& hist, SortKey key) {
  switch (key) {
    case SortKey::kPid:
    case SortKey::kTid:
    case SortKey::kTgid:
      return std::make_unique<ThreadColumn>(hist, key);
    case SortKey::kComm:
      return std::make_unique<CommColumn>(hist);
    case SortKey::kDso:
      return std::make_unique<DsoColumn>(hist);
    case SortKey::kSymbol:
      return std::make_unique<SymbolColumn>(hist);
    case SortKey::kSrcline:
    case SortKey::kSrcfile:
    case SortKey::kSymoff:
      return std::make_unique<PositionColumn>(hist, key);
    case SortKey::kCpu:
      return std::make_unique<CpuColumn>(hist);
    case SortKey::kParallelism:
      return std::make_unique<ParallelismColumn>(hist);
    default:  // of branches alone
      return nullptr;
  }
}

}  // namespace

std::vector<std::unique_ptr<Column>> MakeColumns(const Histogram& hist,
                                                 const ReportOptions& options) {
  std::vector<std::unique_ptr<Column>> columns;
  const auto add_percent = [&](std::string_view heading, auto weight, auto of_member) {
    columns.push_back(std::make_unique<PercentColumn>(hist, heading, weight, of_member));
  };
  if (hist.options().children) {
    add_percent(options.latency ? "Latency Children" : "Children", &HistRow::children,
                &EventWeights::children);
    add_percent(options.latency ? "Latency     Self" : "Self", &HistRow::self, &EventWeights::self);
  } else {
    add_percent(options.latency ? "Latency Overhead" : "Overhead", &HistRow::self,
                &EventWeights::self);
  }
  if (options.show_samples) columns.push_back(std::make_unique<SamplesColumn>(hist));
  for (const SortKey key : options.sort) {
    if (OnlyName(key, options.filter) != nullptr) continue;
    if (auto column = MakeKeyColumn(hist, key)) columns.push_back(std::move(column));
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
