#include "src/annotate/listing.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/percent.h"
#include "src/base/text.h"

namespace profiler::annotate {
namespace {

constexpr double kLeastLine = 0.5;  // percent
constexpr std::string_view kNoWeight = "         :      ";

class Listing {
 public:
  Listing(const AnnotatedFunction& function, const ListingOptions& options,
          const SourceText& text_of)
      : function_(function), options_(options), text_of_(text_of) {}

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
      absl::StrAppend(&out_, View(kNoWeight), "(cut after ", kLongestFunction, " bytes)\n");
    }
    if (function_.period_elsewhere != 0) {
      AppendWeight(function_.period_elsewhere, SamplesElsewhere());
      out_ += "at no instruction above\n";
    }
    return std::move(out_);
  }

 private:
  double Share(uint64_t period) const { return Percent(period, function_.period); }

  void AppendWeight(uint64_t period, uint64_t samples) {
    if (options_.sample_counts) {
      absl::StrAppendFormat(&out_, "%8d :   ", samples);
    } else {
      absl::StrAppendFormat(&out_, "  %6.2f :   ", Share(period));
    }
  }

  uint64_t SamplesElsewhere() const {
    uint64_t samples = function_.samples;
    for (const auto& instruction : function_.instructions) samples -= instruction.samples;
    return samples;
  }

  void AppendInstruction(const AnnotatedInstruction& instruction) {
    AppendWeight(instruction.period, instruction.samples);
    absl::StrAppendFormat(&out_, "%x:  ", instruction.address.value);
    AppendPrintable(instruction.text, out_, /*kept=*/'\t');
    AppendLineNumber(instruction);
    out_ += '\n';
  }

  // Appends the line number, unless it equals that of the previous numbered instruction.
  void AppendLineNumber(const AnnotatedInstruction& instruction) {
    const SourceLine& source = instruction.source;
    const bool is_shown =
        options_.line_numbers && source.line != 0 && Share(instruction.period) >= kLeastLine;
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
    std::string heading = options_.sample_counts ? " Samples |      " : " Percent |      ";
    heading += options_.source ? "Source code & Disassembly of " : "Disassembly of ";
    AppendPrintable(BaseName(function_.image), heading);
    heading += " for ";
    AppendPrintable(function_.event, heading);
    absl::StrAppend(&heading, " (", function_.samples, " samples, percent: local period)");
    out_ += heading;
    out_ += '\n';
    out_.append(heading.size(), '-');
    out_ += '\n';
    out_ += kNoWeight;
    AppendPrintable(function_.name, out_);
    out_ += "  ";
    AppendPrintable(function_.image, out_);
    if (!function_.instructions.empty()) {
      absl::StrAppend(&out_, " 0x", absl::Hex(function_.instructions.front().address.value));
    }
    out_ += '\n';
    AppendAboutSkid();
  }

  // Says that samples are late. With `:p` or more the processor records the exact instruction.
  void AppendAboutSkid() {
    const std::string_view modifiers =
        std::string_view(function_.event)
            .substr(std::min(function_.event.rfind(':'), function_.event.size()));
    if (modifiers.find('p') != std::string_view::npos) return;
    absl::StrAppend(&out_, View(kNoWeight),
                    "Samples stand where the interrupt came, often some instructions after what "
                    "took the time.\n");
  }

  void AppendHeaviestLines() {
    std::map<std::pair<std::string_view, uint32_t>, uint64_t> by_line;
    for (const AnnotatedInstruction& instruction : function_.instructions) {
      if (instruction.source.line == 0) continue;
      by_line[{instruction.source.file, instruction.source.line}] += instruction.period;
    }
    std::vector<std::pair<uint64_t, std::pair<std::string_view, uint32_t>>> lines;
    for (const auto& [line, period] : by_line) {
      if (Share(period) >= kLeastLine) lines.emplace_back(period, line);
    }
    if (lines.empty()) return;
    std::stable_sort(lines.begin(), lines.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    absl::StrAppend(&out_, View(kNoWeight), "\n");
    for (const auto& [period, line] : lines) {
      absl::StrAppendFormat(&out_, "  %6.2f :   ", Share(period));
      AppendPlace(line.first, line.second);
      out_ += '\n';
    }
    absl::StrAppend(&out_, View(kNoWeight), "\n");
  }

  void AppendSource(const SourceLine& source) {
    out_ += kNoWeight;
    AppendPlace(source.file, source.line);
    if (!source.inlined.empty()) {
      out_ += "  ";
      AppendPrintable(source.inlined, out_);
      out_ += " (inlined)";
    }
    out_ += '\n';
    const auto text = text_of_(source.file, source.line);
    if (!text) return;
    out_ += kNoWeight;
    out_ += "    ";
    AppendPrintable(*text, out_, /*kept=*/'\t');
    out_ += '\n';
  }

  const AnnotatedFunction& function_;
  const ListingOptions& options_;
  const SourceText& text_of_;
  const SourceLine* numbered_ = nullptr;  // the last line number that was printed
  std::string out_;
};

}  // namespace

std::string FormatListing(const AnnotatedFunction& function, const ListingOptions& options,
                          const SourceText& text_of) {
  return Listing(function, options, text_of).Format();
}

}  // namespace profiler::annotate
