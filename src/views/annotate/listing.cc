#include "src/views/annotate/listing.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/percent.h"
#include "src/base/text.h"

namespace profiler::annotate {
namespace {

constexpr double kLeastLine = 0.5;  // percent
constexpr size_t kWeightWidth = 8;

class Listing {
 public:
  Listing(const AnnotatedFunction& function, const ListingOptions& options,
          const SourceText& text_of)
      : function_(function),
        options_(options),
        text_of_(text_of),
        no_weight_(std::string(kWeightWidth * Columns(), ' ') + " :      ") {}

  std::string Format() {
    AppendHeading();
    if (options_.source) AppendHeaviestLines();
    const SourceLine* last = nullptr;
    for (const AnnotatedInstruction& instruction : function_.instructions) {
      if (options_.source && instruction.source.line != 0 &&
          (last == nullptr || *last != instruction.source)) {
        AppendSource(instruction.source);
        last = &instruction.source;
      }
      AppendInstruction(instruction);
    }
    if (function_.cut) {
      absl::StrAppend(&out_, no_weight_, "(cut after ", kLongestFunction, " bytes)\n");
    }
    if (AnyElsewhere()) {
      std::vector<analysis::Weight> members;
      for (const AnnotatedMember& member : function_.members) members.push_back(member.elsewhere);
      AppendWeights(function_.elsewhere, function_.children_elsewhere, members,
                    options_.sample_counts);
      out_ += "at no instruction above\n";
    }
    return std::move(out_);
  }

 private:
  // Returns the number of columns of weights.
  size_t Columns() const { return (function_.with_callees ? 2 : 1) + function_.members.size(); }

  double Share(uint64_t period) const { return Percent(period, function_.period); }

  // Appends the weights in the shown event: `children` only with callees, then `own`. Then appends
  // the weights in the further events of its group.
  void AppendWeights(const analysis::Weight& own, const analysis::Weight& children,
                     std::span<const analysis::Weight> members, bool as_counts) {
    const analysis::Weight total =
        TotalOf(0, {.period = function_.period, .count = function_.samples});
    if (function_.with_callees) AppendWeight(children, total, as_counts);
    AppendWeight(own, total, as_counts);
    for (size_t i = 0; i < members.size(); ++i) {
      AppendWeight(members[i], TotalOf(i + 1, function_.members[i].weight), as_counts);
    }
    out_ += " :   ";
  }

  // Returns the weight of 100 % in a column, if `local` is that of the function.
  analysis::Weight TotalOf(size_t column, const analysis::Weight& local) const {
    const bool is_global = options_.percent == PercentType::kGlobalPeriod ||
                           options_.percent == PercentType::kGlobalHits;
    return is_global && column < options_.totals.size() ? options_.totals[column] : local;
  }

  double PercentOf(const analysis::Weight& weight, const analysis::Weight& total) const {
    const bool is_of_hits =
        options_.percent == PercentType::kLocalHits || options_.percent == PercentType::kGlobalHits;
    return is_of_hits ? Percent(weight.count, total.count) : Percent(weight.period, total.period);
  }

  std::string_view PercentTypeInWords() const {
    switch (options_.percent) {
      case PercentType::kLocalHits:
        return "local hits";
      case PercentType::kGlobalPeriod:
        return "global period";
      case PercentType::kGlobalHits:
        return "global hits";
      default:
        return "local period";
    }
  }

  void AppendWeight(const analysis::Weight& weight, const analysis::Weight& total, bool as_count) {
    if (as_count) {
      absl::StrAppendFormat(&out_, "%*d", int{kWeightWidth}, weight.count);
    } else {
      absl::StrAppendFormat(&out_, "%*.2f", int{kWeightWidth}, PercentOf(weight, total));
    }
  }

  bool AnyElsewhere() const {
    return function_.elsewhere.period != 0 || function_.children_elsewhere.period != 0 ||
           std::any_of(function_.members.begin(), function_.members.end(),
                       [](const AnnotatedMember& member) { return member.elsewhere.period != 0; });
  }

  void AppendInstruction(const AnnotatedInstruction& instruction) {
    AppendWeights({.period = instruction.period, .count = instruction.samples},
                  instruction.children, instruction.members, options_.sample_counts);
    absl::StrAppendFormat(&out_, "%x:  ", instruction.address.value);
    AppendPrintable(instruction.text, out_, /*kept=*/'\t');
    AppendLineNumber(instruction);
    out_ += '\n';
  }

  // Appends the line number, unless it equals that of the previous numbered instruction.
  void AppendLineNumber(const AnnotatedInstruction& instruction) {
    const SourceLine& source = instruction.source;
    const uint64_t period =
        function_.with_callees ? instruction.children.period : instruction.period;
    const bool is_shown = options_.line_numbers && source.line != 0 && Share(period) >= kLeastLine;
    if (!is_shown) return;
    if (numbered_ != nullptr && numbered_->line == source.line && numbered_->file == source.file) {
      return;
    }
    out_ += " // ";
    AppendPlace(source.file, source.line);
    numbered_ = &source;
  }

  void AppendPlace(std::string_view file, uint32_t line) {
    AppendPrintable(BaseName(file), out_);
    absl::StrAppend(&out_, ":", line);
  }

  void AppendHeading() {
    std::string heading = function_.with_callees   ? "Children    Self"
                          : options_.sample_counts ? " Samples"
                                                   : " Percent";
    heading.append(kWeightWidth * function_.members.size(), ' ').append(" |      ");
    heading += options_.source ? "Source code & Disassembly of " : "Disassembly of ";
    AppendPrintable(BaseName(function_.image), heading);
    heading += " for ";
    std::string events = function_.event;
    for (const AnnotatedMember& member : function_.members) events += ", " + member.event;
    if (!function_.members.empty()) events = function_.group + " { " + events + " }";
    AppendPrintable(events, heading);
    absl::StrAppend(
        &heading, " (", function_.samples,
        function_.with_callees ? " samples with callees, percent: " : " samples, percent: ",
        View(PercentTypeInWords()), ")");
    out_ += heading;
    out_ += '\n';
    out_.append(heading.size(), '-');
    out_ += '\n';
    out_ += no_weight_;
    AppendPrintable(function_.name, out_);
    out_ += "  ";
    AppendPrintable(function_.image, out_);
    if (!function_.instructions.empty()) {
      absl::StrAppend(&out_, " 0x", absl::Hex(function_.instructions.front().address.value));
    }
    out_ += '\n';
    AppendAboutSkid();
  }

  // Appends a note that samples are late. Appends nothing if the event has `:p` or more, because
  // then the processor records the exact instruction.
  void AppendAboutSkid() {
    const std::string_view modifiers =
        std::string_view(function_.event)
            .substr(std::min(function_.event.rfind(':'), function_.event.size()));
    if (modifiers.find('p') != std::string_view::npos) return;
    absl::StrAppend(&out_, no_weight_,
                    "Samples stand where the interrupt came, often some instructions after what "
                    "took the time.\n");
  }

  void AppendHeaviestLines() {
    struct LineWeights {
      analysis::Weight own, children;
      std::vector<analysis::Weight> members;
    };
    using Place = std::pair<std::string_view, uint32_t>;
    std::map<Place, LineWeights> by_line;
    for (const AnnotatedInstruction& instruction : function_.instructions) {
      if (instruction.source.line == 0) continue;
      LineWeights& line = by_line[{instruction.source.file, instruction.source.line}];
      line.own += analysis::Weight{.period = instruction.period, .count = instruction.samples};
      line.members.resize(instruction.members.size());
      for (size_t i = 0; i < line.members.size(); ++i) line.members[i] += instruction.members[i];
    }
    for (const auto& [place, children] : function_.children_of_lines) {
      by_line[{place.first, place.second}].children = children;
    }
    const auto rank = [this](const LineWeights& line) {
      return function_.with_callees ? line.children.period : line.own.period;
    };
    std::vector<std::pair<LineWeights, Place>> lines;
    for (const auto& [place, line] : by_line) {
      if (Share(rank(line)) >= kLeastLine) lines.emplace_back(line, place);
    }
    if (lines.empty()) return;
    std::stable_sort(lines.begin(), lines.end(),
                     [&](const auto& a, const auto& b) { return rank(a.first) > rank(b.first); });
    absl::StrAppend(&out_, no_weight_, "\n");
    for (const auto& [line, place] : lines) {
      AppendWeights(line.own, line.children, line.members, /*as_counts=*/false);
      AppendPlace(place.first, place.second);
      out_ += '\n';
    }
    absl::StrAppend(&out_, no_weight_, "\n");
  }

  void AppendSource(const SourceLine& source) {
    out_ += no_weight_;
    AppendPlace(source.file, source.line);
    if (!source.inlined.empty()) {
      out_ += "  ";
      AppendPrintable(source.inlined, out_);
      out_ += " (inlined)";
    }
    out_ += '\n';
    const auto text = text_of_(source.file, source.line);
    if (!text) return;
    out_ += no_weight_;
    out_ += "    ";
    AppendPrintable(*text, out_, /*kept=*/'\t');
    out_ += '\n';
  }

  const AnnotatedFunction& function_;
  const ListingOptions& options_;
  const SourceText& text_of_;
  const std::string no_weight_;           // in front of lines without weights
  const SourceLine* numbered_ = nullptr;  // the last line whose number was printed
  std::string out_;
};

}  // namespace

std::string FormatListing(const AnnotatedFunction& function, const ListingOptions& options,
                          const SourceText& text_of) {
  return Listing(function, options, text_of).Format();
}

}  // namespace profiler::annotate
