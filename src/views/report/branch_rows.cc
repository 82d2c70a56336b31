#include "src/views/report/branch_rows.h"

#include <algorithm>
#include <compare>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/padded_text.h"
#include "src/base/percent.h"
#include "src/base/text.h"
#include "src/views/report/cell_text.h"

namespace profiler::report {

using profile::BranchRow;
using profile::FrameId;
using profile::Profile;
using profile::Thread;
using symbolize::ImageKind;

namespace {

constexpr size_t kCountWidth = 12;  // width of the column "Samples"

// perf's level for code outside the process's mappings: the last level that perf tries.
constexpr profile::Mode kNowhere = profile::Mode::kHypervisor;

class BranchTable {
 public:
  BranchTable(const Profile& profile, const FunctionTable& functions, const ReportOptions& options)
      : profile_(profile), functions_(functions), options_(options) {}

  void Count(profile::EventId event) {
    std::map<std::vector<Value>, size_t> known;
    for (const BranchRow& branch : profile_.branches) {
      if (branch.event != event) continue;
      const bool passes = options_.filter.Passes(profile_, profile_[branch.thread]) &&
                          options_.filter.Passes(profile_, profile_[branch.to]);
      if (passes || !options_.relative_percentages) total_ += branch.count;
      if (!passes) continue;
      const auto [row, is_new] = known.try_emplace(ValuesOf(branch), rows_.size());
      if (is_new) {
        rows_.push_back(branch);
      } else {
        rows_[row->second].count += branch.count;
      }
    }
    std::stable_sort(rows_.begin(), rows_.end(),
                     [&](const BranchRow& a, const BranchRow& b) { return Before(a, b); });
  }

  void Append(std::string& out) const {
    std::vector<std::vector<std::string>> cells;  // [row][column]: text of the cell
    std::vector<size_t> widths;
    for (const SortKey key : options_.branch_sort) widths.push_back(Heading(key).size());
    for (const BranchRow& row : rows_) {
      std::vector<std::string>& texts = cells.emplace_back();
      for (size_t i = 0; i < widths.size(); ++i) {
        const SortKey key = options_.branch_sort[i];
        texts.push_back(Cell(row, key));
        // "[.] 0x" and 16 digits. perf reserves this width even if it prints no "0x".
        const bool unnamed =
            IsSymbol(key) && !functions_[functions_.Interrupted(EndOf(row, key))].named();
        widths[i] = std::max({widths[i], texts.back().size(), unnamed ? kAddressWidth + 6 : 0});
      }
    }
    if (!options_.quiet) AppendHeadings(widths, out);
    for (size_t i = 0; i < rows_.size(); ++i) {
      const auto percent = static_cast<float>(Percent(rows_[i].count, total_));
      if (percent < static_cast<float>(options_.percent_limit)) break;
      out += "  ";
      AppendPercent(rows_[i].count, total_, kPercentWidth, out);
      if (options_.show_samples) AppendNumber(rows_[i].count, kCountWidth + 2, out);
      for (size_t column = 0; column < widths.size(); ++column) {
        out += "  ";
        // Like perf, does not pad the last column if it shows symbols.
        const bool fill = column + 1 < widths.size() || !IsSymbol(options_.branch_sort[column]);
        AppendLeftAligned(cells[i][column], fill ? widths[column] : 0, out);
      }
      out += '\n';
    }
  }

 private:
  void AppendHeadings(const std::vector<size_t>& widths, std::string& out) const {
    absl::StrAppend(&out, "# Event count (approx.): ", total_, "\n#\n# Overhead",
                    options_.show_samples ? "       Samples" : "");
    for (size_t i = 0; i < widths.size(); ++i) {
      out += "  ";
      AppendLeftAligned(Heading(options_.branch_sort[i]), widths[i], out);
    }
    absl::StrAppend(&out, "\n# ........", options_.show_samples ? "  ............" : "");
    for (const size_t width : widths) out.append("  ").append(width, '.');
    out += "\n#\n";
  }

  // Returns the source of the key's value: kThread, kImage, kSymbol, or kBranch for a number.
  static KeyKind SourceOf(const SortKeyEntry& entry) {
    return entry.kind == KeyKind::kBranch ? entry.branch.of : entry.kind;
  }
  static bool IsSymbol(SortKey key) { return SourceOf(EntryOf(key)) == KeyKind::kSymbol; }

  // Returns the end of the branch that a key describes. Keys of ordinary samples describe the
  // target.
  static FrameId EndOf(const BranchRow& row, SortKey key) {
    return EntryOf(key).branch.of_source ? row.from : row.to;
  }

  // A branch's value for a key. Rows are equal if all their values are equal. Rows of equal weight
  // are sorted by their values.
  struct Value {
    bool last = false;
    int64_t number = 0;
    std::string_view text;
    uint32_t id = 0;

    auto operator<=>(const Value&) const = default;
  };

  Value ValueOf(const BranchRow& row, SortKey key) const {
    const SortKeyEntry& entry = EntryOf(key);
    if (entry.kind == KeyKind::kThread) {
      const Thread& thread = profile_[row.thread];
      if (entry.thread.id != nullptr) return {.number = entry.thread.id(thread)};
      return {.text = profile_.text(entry.thread.name(thread))};
    }
    if (entry.branch.number != nullptr) return {.number = entry.branch.number(row)};
    if (!IsSymbol(key)) {
      const profile::Image& image = profile_[profile_[EndOf(row, key)].image];
      const bool unknown = image.kind == ImageKind::kUnknown;
      return {.last = unknown != FromLastToFirst(key), .text = profile_.text(image.name)};
    }
    // Named code comes first, by the start of its function; other code follows, by runtime address.
    // Addresses are signed, so that the kernel's addresses come first.
    const FrameId end = EndOf(row, key);
    const FunctionId id = functions_.Interrupted(end);
    const Function& function = functions_[id];
    const uint64_t address = function.named() ? function.address : profile_[end].ip.value;
    return {.last = !function.named(), .number = static_cast<int64_t>(address), .id = id};
  }

  // True if rows are sorted by this key in descending order: perf sorts the DSOs of branches from Z
  // to A, unlike other DSOs.
  static bool FromLastToFirst(SortKey key) {
    const SortKeyEntry& entry = EntryOf(key);
    return entry.kind == KeyKind::kBranch && entry.branch.of == KeyKind::kImage;
  }

  std::vector<Value> ValuesOf(const BranchRow& row) const {
    std::vector<Value> values;
    for (const SortKey key : options_.branch_sort) values.push_back(ValueOf(row, key));
    return values;
  }

  bool Before(const BranchRow& a, const BranchRow& b) const {
    if (a.count != b.count) return a.count > b.count;
    for (const SortKey key : options_.branch_sort) {
      const Value of_a = ValueOf(a, key), of_b = ValueOf(b, key);
      if (of_a != of_b) return FromLastToFirst(key) ? of_b < of_a : of_a < of_b;
    }
    return false;
  }

  std::string Cell(const BranchRow& row, SortKey key) const {
    const SortKeyEntry& entry = EntryOf(key);
    std::string text;
    if (entry.kind == KeyKind::kThread) {
      const Thread& thread = profile_[row.thread];
      if (entry.thread.id != nullptr) AppendNumber(entry.thread.id(thread), kPidWidth, text);
      if (entry.thread.name == nullptr) return text;
      if (!text.empty()) text += ':';
      return text.append(profile_.text(entry.thread.name(thread)));
    }
    if (entry.branch.text != nullptr) return entry.branch.text(row);
    const profile::Image& image = profile_[profile_[EndOf(row, key)].image];
    if (!IsSymbol(key)) return std::string(profile_.text(image.name));
    Function function = functions_[functions_.Interrupted(EndOf(row, key))];
    if (image.kind == ImageKind::kUnknown) function.mode = kNowhere;
    AppendSymbol(profile_, function, text);
    return text;
  }

  const Profile& profile_;
  const FunctionTable& functions_;
  const ReportOptions& options_;
  std::vector<BranchRow> rows_;
  uint64_t total_ = 0;
};

}  // namespace

void AppendBranches(const Profile& profile, const FunctionTable& functions, profile::EventId event,
                    const ReportOptions& options, std::string& out) {
  BranchTable table(profile, functions, options);
  table.Count(event);
  table.Append(out);
}

}  // namespace profiler::report
