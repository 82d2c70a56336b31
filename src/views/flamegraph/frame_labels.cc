#include "src/views/flamegraph/frame_labels.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/views/flamegraph/xml_text.h"

namespace profiler::exports {
namespace {

using profile::Frame;
using profile::Image;
using profile::Line;
using profile::Profile;

// A namer of frames. It computes the label of each (symbol, kind), and of each image with unnamed
// code, only once.
class Namer {
 public:
  Namer(const Profile& profile, LabelTable& table)
      : profile_(profile),
        table_(table),
        of_symbol_(profile.symbols.size() * kCodeKinds, kNoLabel),
        of_image_(profile.images.size(), kNoLabel) {}

  FrameLabels LabelFrames() {
    FrameLabels labels;
    for (const Frame& frame : profile_.frames) {
      const auto lines = profile_.LinesOf(frame);
      for (size_t i = lines.size(); i-- > 0;) labels.Append(OfLine(frame, lines[i]));
      if (lines.empty()) labels.Append(OfUnnamed(frame));
      labels.EndFrame();
    }
    return labels;
  }

 private:
  LabelId OfLine(const Frame& frame, const Line& line) {
    if (line.symbol == profile::kNoSymbol) return OfUnnamed(frame);
    const profile::Symbol& symbol = profile_[line.symbol];
    const Image& image = profile_[symbol.image];
    const CodeKind kind = frame.unnamed != profile::Unnamed::kNamed ? CodeKind::kUnnamed
                          : line.inlined                            ? CodeKind::kInlined
                                                                    : KindOf(image, frame.mode);
    LabelId& label =
        of_symbol_[static_cast<uint32_t>(line.symbol) * kCodeKinds + static_cast<uint32_t>(kind)];
    if (label == kNoLabel) {
      label = table_.Intern(
          {CleanUtf8(profile_.text(symbol.name)), CleanUtf8(profile_.text(image.name)), kind});
    }
    return label;
  }

  LabelId OfUnnamed(const Frame& frame) {
    LabelId& label = of_image_[static_cast<uint32_t>(frame.image)];
    if (label == kNoLabel) {
      const std::string name = CleanUtf8(profile_.text(profile_[frame.image].name));
      const bool bracketed = name.starts_with('[');
      label = table_.Intern(
          {bracketed ? name : absl::StrCat("[", name, "]"), name, CodeKind::kUnnamed});
    }
    return label;
  }

  const Profile& profile_;
  LabelTable& table_;
  std::vector<LabelId> of_symbol_;
  std::vector<LabelId> of_image_;
};

}  // namespace

FrameLabels LabelFrames(const Profile& profile, LabelTable& table) {
  return Namer(profile, table).LabelFrames();
}

}  // namespace profiler::exports
