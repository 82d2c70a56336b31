// The picture, from top to bottom. Heights are in pixels; elements that scripts move have an id.
//
//   #header   60   title, event, and (by the script) search and reset
//   #boxes    18 per level: one <rect> per box; the texts are in #names, above all boxes
//   #footer   76   details of the box under the pointer, legend, and the line about losses
//
// The script's data is JSON in #data; flame_graph.js describes its format.

#include "src/views/flamegraph/flame_graph.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/percent.h"
#include "src/base/shown_text.h"
#include "src/base/text.h"
#include "src/format/perf_event/off_cpu_events.h"
#include "src/profile/chain_shares.h"
#include "src/views/flamegraph/flame_layout.h"
#include "src/views/flamegraph/flame_page.h"
#include "src/views/flamegraph/labels.h"
#include "src/views/flamegraph/xml_text.h"

namespace profiler::exports {
namespace {

constexpr uint32_t kDefaultWidth = 1200, kLeastWidth = 400, kMostWidth = 100'000;
constexpr uint32_t kHeader = 60, kLevel = 18, kFooter = 76, kMargin = 10;
constexpr double kCharacter = 6.7;  // widest character of the names' font, in pixels
constexpr size_t kLeastText = 3;

struct KindStyle {
  char letter;  // letter of the kind's CSS classes
  std::string_view name;
};

constexpr std::array<KindStyle, kCodeKinds> kStyles = {{
    {'p', "process"},
    {'u', "user"},
    {'i', "inlined"},
    {'j', "JIT"},
    {'k', "kernel"},
    {'n', "unnamed"},
    {'o', "off the CPU"},
}};

const KindStyle& StyleOf(CodeKind kind) { return kStyles[static_cast<size_t>(kind)]; }

// Returns a number below `shades` for a name. `shades` must be a power of two. The number is a hash
// of the name (FNV-1a).
uint32_t ShadeOf(std::string_view name, uint32_t shades = 8) {
  uint32_t hash = 2166136261;
  for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619;
  return (hash ^ hash >> 15) & (shades - 1);
}

// Shades of changed boxes, the palest first: classes m0… (more than before) and l0… (less). "s0" is
// unchanged.
constexpr uint32_t kChangeShades = 8;

std::string PercentText(uint64_t part, uint64_t whole) {
  return absl::StrFormat("%.2f %%", Percent(part, whole));
}

class Writer {
 public:
  Writer(const profile::Profile& profile, const FlameGraphOptions& options)
      : options_(options),
        width_(options.width == 0 ? kDefaultWidth
                                  : std::clamp(options.width, kLeastWidth, kMostWidth)),
        layout_(LayOutFlames(profile, options, width_ - 2 * kMargin)),
        losses_(profile.losses),
        chains_(profile.chains),
        chain_shares_(SharesOf(profile, layout_.event)),
        height_(kHeader + layout_.levels * kLevel + kFooter) {}

  std::string Write() {
    absl::StrAppend(&out_, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n",
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", width_, "\" height=\"",
                    height_, "\" viewBox=\"0 0 ", width_, " ", height_, "\"", ClassOfPicture(),
                    ">\n<style>");
    AppendXml(out_, kFlamePageStyle);
    out_ += "</style>\n";
    Rect("class=\"page\"", 0, 0, width_, height_);
    WriteBoxes();
    WriteNames();
    WriteHeader();
    WriteFooter();
    WriteData();
    out_ += "<script>";
    AppendXml(out_, kFlamePageScript);
    out_ += "</script>\n</svg>\n";
    return std::move(out_);
  }

 private:
  void Rect(std::string_view attributes, double x, double y, double width, double height) {
    absl::StrAppend(&out_, "<rect ", View(attributes), " x=\"", x, "\" y=\"", y, "\" width=\"",
                    width, "\" height=\"", height, "\"/>\n");
  }

  void Text(std::string_view attributes, double x, double y, std::string_view clean) {
    absl::StrAppend(&out_, "<text ", View(attributes), " x=\"", x, "\" y=\"", y, "\">");
    AppendXml(out_, clean);
    out_ += "</text>\n";
  }

  uint32_t TopOf(const FlameBox& box) const {
    const uint32_t row = options_.inverted ? box.level : layout_.levels - 1 - box.level;
    return kHeader + row * kLevel;
  }
  double Pixels(uint64_t part) const {
    return static_cast<double>(part) * (width_ - 2 * kMargin) / static_cast<double>(kWhole);
  }
  std::string_view NameOf(const FlameBox& box) const {
    return box.label == kNoLabel ? std::string_view("all") : layout_.labels[box.label].name;
  }

  void WriteBoxes() {
    out_ += "<g id=\"boxes\">\n";
    for (const FlameBox& box : layout_.boxes) {
      absl::StrAppendFormat(
          &out_, "<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n",
          ClassOf(box), kMargin + Pixels(box.start), TopOf(box), DrawnWidth(box), kLevel - 1);
    }
    out_ += "</g>\n";
  }

  std::string ClassOfPicture() const {
    if (options_.colors == FlameColors::kSafe) return " class=\"safe\"";
    return IsOffCpuEvent(layout_.event) ? " class=\"off\"" : "";
  }

  std::string ClassOf(const FlameBox& box) const {
    if (options_.before != nullptr) return ClassOfChange(box);
    if (box.label == kNoLabel) return "p0";
    const Label& label = layout_.labels[box.label];
    const bool by_image = options_.colors == FlameColors::kImage && !label.image.empty();
    if (by_image || (options_.colors == FlameColors::kName && label.kind != CodeKind::kProcess)) {
      return absl::StrCat("h", ShadeOf(by_image ? label.image : label.name, 16));
    }
    return absl::StrCat(std::string(1, StyleOf(label.kind).letter), ShadeOf(label.name));
  }

  std::string ClassOfChange(const FlameBox& box) const {
    if (box.self == box.self_before) return "s0";
    const bool more = box.self > box.self_before;
    const uint64_t change = more ? box.self - box.self_before : box.self_before - box.self;
    return absl::StrCat(more ? "m" : "l", (change * kChangeShades - 1) / layout_.most_change);
  }

  // Leaves half a pixel between neighbours if there is room for it.
  double DrawnWidth(const FlameBox& box) const {
    const double width = Pixels(box.width);
    return width > 2 ? width - 0.5 : std::max(width, 0.1);
  }

  void WriteNames() {
    out_ += "<g id=\"names\">\n";
    for (const FlameBox& box : layout_.boxes) {
      const double room = (Pixels(box.width) - 7) / kCharacter;
      if (room < kLeastText) continue;
      absl::StrAppendFormat(&out_, "<text x=\"%.1f\" y=\"%.1f\">", kMargin + Pixels(box.start) + 3,
                            TopOf(box) + 12.5);
      const std::string_view name = NameOf(box);
      const auto fitting = static_cast<size_t>(room);
      if (CodePoints(name) <= fitting) {
        AppendXml(out_, name);
      } else {
        AppendXml(out_, name.substr(0, BytesOfCodePoints(name, fitting - 1)));
        out_ += "…";
      }
      out_ += "</text>\n";
    }
    out_ += "</g>\n";
  }

  void WriteHeader() {
    out_ += "<g id=\"header\">\n";
    Rect("class=\"page\"", 0, 0, width_, kHeader - 4);
    Text("id=\"title\"", kMargin, 27, CleanUtf8(options_.title));
    Text("class=\"minor\"", kMargin, 46, Subtitle());
    out_ += "<g id=\"reset\" class=\"button\" display=\"none\" tabindex=\"0\" role=\"button\">\n";
    Rect("rx=\"6\"", 0, 0, 90, 26);
    Text("text-anchor=\"middle\"", 45, 17, "Reset zoom");
    out_ += "</g>\n";
    Text("id=\"matched\" text-anchor=\"end\"", width_ - kMargin, 52, "");
    out_ += "</g>\n";
  }

  std::string Subtitle() const {
    if (layout_.total.count == 0) return "no samples";
    std::string out = layout_.event;
    absl::StrAppend(&out, " · ", Grouped(layout_.total.count), " ", CleanUtf8(options_.count_name));
    if (options_.weight == WeightBy::kPeriod) {
      if (IsOffCpuEvent(layout_.event)) {
        absl::StrAppendFormat(&out, " · width is the time off the CPU, %.3f s in all",
                              static_cast<double>(layout_.total.period) / 1e9);
      } else if (layout_.event == kWallClockEvent) {
        absl::StrAppendFormat(&out, " · width is the time of all threads, %.3f s in all",
                              static_cast<double>(layout_.total.period) / 1e9);
      } else {
        out += " · width is the sum of their periods";
      }
    }
    if (options_.before != nullptr) {
      out += " · colour is the change of a box's own share, without its callees";
    }
    if (options_.reverse) out += " · begins with leaf functions, and leads to their callers";
    return out;
  }

  void WriteFooter() {
    const uint32_t top = height_ - kFooter;
    absl::StrAppend(&out_, "<g id=\"footer\" data-y=\"", top, "\" transform=\"translate(0,", top,
                    ")\">\n");
    Rect("class=\"page\"", 0, 2, width_, kFooter - 2);
    Text("id=\"details\" role=\"status\" aria-live=\"polite\"", kMargin, 20, "");
    WriteLegend();
    Text("class=\"minor\"", kMargin, 64, LossLine());
    out_ += "</g>\n";
  }

  void WriteLegend() {
    double x = kMargin;
    if (options_.before != nullptr) return WriteChangeLegend();
    const bool by_kind =
        options_.colors == FlameColors::kKind || options_.colors == FlameColors::kSafe;
    if (!by_kind) return;
    const bool has_off_cpu =
        std::any_of(layout_.boxes.begin(), layout_.boxes.end(), [&](const FlameBox& box) {
          return box.label != kNoLabel && layout_.labels[box.label].kind == CodeKind::kOffCpu;
        });
    for (const KindStyle& style : kStyles) {
      if (&style == &StyleOf(CodeKind::kOffCpu) && !has_off_cpu) continue;
      Rect(absl::StrCat("rx=\"2\" class=\"", std::string(1, style.letter), "0\""), x, 32, 12, 12);
      Text("class=\"minor\"", x + 17, 42, style.name);
      x += 34 + 6.5 * static_cast<double>(style.name.size());
    }
  }

  void WriteChangeLegend() {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kMeanings = {
        {{"m7", "more than before"}, {"l7", "less than before"}, {"s0", "the same"}}};
    double x = kMargin;
    for (const auto& [style, meaning] : kMeanings) {
      Rect(absl::StrCat("rx=\"2\" class=\"", View(style), "\""), x, 32, 12, 12);
      Text("class=\"minor\"", x + 17, 42, meaning);
      x += 34 + 6.5 * static_cast<double>(meaning.size());
    }
  }

  static std::optional<profile::ChainShares> SharesOf(const profile::Profile& profile,
                                                      std::string_view event) {
    for (profile::ChainShares& shares : profile::SharesOfChains(profile)) {
      if (profile.text(profile[shares.event].name) == event) return std::move(shares);
    }
    return std::nullopt;
  }

  // Returns a line about losses and everything else that the picture does not show.
  std::string LossLine() const {
    std::string out =
        absl::StrCat(Grouped(layout_.total.count), " ", CleanUtf8(options_.count_name), " · ",
                     Grouped(losses_.lost_records + losses_.lost_samples), " lost · ",
                     PercentText(layout_.unnamed, layout_.total.period), " in code without a name");
    if (losses_.throttled != 0) absl::StrAppend(&out, " · throttled ", losses_.throttled, " times");
    if (losses_.undecodable != 0) {
      absl::StrAppend(&out, " · ", Grouped(losses_.undecodable), " records unreadable");
    }
    if (losses_.unknown_records != 0) {
      absl::StrAppend(&out, " · ", Grouped(losses_.unknown_records), " records of unknown types");
    }
    if (chain_shares_ && chain_shares_->cut != 0) {
      absl::StrAppend(&out, " · ",
                      PercentText(chain_shares_->cut, chain_shares_->whole + chain_shares_->cut),
                      " in cut call chains");
    } else if (const uint64_t cut = chains_.cut(); cut != 0 && !chain_shares_) {
      absl::StrAppend(&out, " · ", Grouped(cut), " call chains cut");
    }
    if (chains_.broken != 0) {
      absl::StrAppend(&out, " · ", Grouped(chains_.broken), " call chains broken");
    }
    if (layout_.gone != 0) {
      absl::StrAppend(&out, " · ", PercentText(layout_.gone, kWhole),
                      " of the earlier recording is in stacks that are not drawn");
    }
    if (layout_.pruned) {
      absl::StrAppendFormat(&out, " · %s under %.2g %% are %sdrawn",
                            layout_.some_narrow ? "not all boxes" : "boxes",
                            100 * layout_.min_width, layout_.some_narrow ? "" : "not ");
    }
    return out;
  }

  void WriteData() {
    absl::StrAppend(&out_, "<script type=\"application/json\" id=\"data\">{\"whole\":", kWhole,
                    ",\"levels\":", layout_.levels,
                    ",\"inverted\":", options_.inverted ? "true" : "false",
                    ",\"fluid\":", options_.width == 0 ? "true" : "false",
                    ",\"compared\":", options_.before != nullptr ? "true" : "false",
                    ",\"total\":", layout_.total.count, ",\"countName\":");
    AppendJsonInXml(out_, CleanUtf8(options_.count_name));
    out_ += ",\n\"labels\":[";
    // Writes only labels that are drawn, with new numbers.
    std::vector<LabelId> shown(layout_.labels.size(), kNoLabel);
    LabelId next = 0;
    for (const FlameBox& box : layout_.boxes) {
      if (box.label == kNoLabel || shown[box.label] != kNoLabel) continue;
      if (next != 0) out_ += ",\n";
      shown[box.label] = next++;
      WriteLabel(layout_.labels[box.label]);
    }
    out_ += "],\n\"boxes\":[";
    for (size_t i = 0; i < layout_.boxes.size(); ++i) {
      const FlameBox& box = layout_.boxes[i];
      if (i != 0) out_ += ",\n";
      const int64_t label = box.label == kNoLabel ? -1 : int64_t{shown[box.label]};
      absl::StrAppend(&out_, box.level, ",", label, ",", box.start, ",", box.width);
      absl::StrAppend(&out_, ",", box.self, ",", box.samples);
      if (options_.before != nullptr) {
        absl::StrAppend(&out_, ",", box.width_before, ",", box.self_before);
      }
    }
    out_ += "]}</script>\n";
  }

  void WriteLabel(const Label& label) {
    out_ += '[';
    AppendJsonInXml(out_, label.name);
    out_ += ',';
    AppendJsonInXml(out_, label.image);
    out_ += ',';
    AppendJsonInXml(out_, StyleOf(label.kind).name);
    out_ += ']';
  }

  const FlameGraphOptions& options_;
  const uint32_t width_;
  const FlameLayout layout_;
  const profile::Losses& losses_;
  const ChainQuality& chains_;
  const std::optional<profile::ChainShares> chain_shares_;
  const uint32_t height_;
  std::string out_;
};

}  // namespace

std::string FlameGraphSvg(const profile::Profile& profile, const FlameGraphOptions& options) {
  constexpr size_t kLeastBoxes = 100;
  FlameGraphOptions smaller = options;
  while (true) {
    std::string text = Writer(profile, smaller).Write();
    if (text.size() <= options.max_bytes || smaller.max_boxes <= kLeastBoxes) return text;
    // Names differ in length, so this may take several rounds.
    const double part =
        0.95 * static_cast<double>(options.max_bytes) / static_cast<double>(text.size());
    smaller.max_boxes =
        std::max(kLeastBoxes, static_cast<size_t>(part * static_cast<double>(smaller.max_boxes)));
  }
}

}  // namespace profiler::exports
