#include "src/importers/perf_script.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/importers/perf_script_line.h"
#include "src/importers/text_lines.h"

namespace profiler::importers {
namespace {

using profile::ImageId;
using profile::Mode;
using profile::StackId;
using symbolize::ImageKind;

constexpr uint64_t kUpperHalf = uint64_t{1} << 63;

bool IsKernelImage(std::string_view image) {
  return image.starts_with("[kernel") || image.starts_with("[guest.kernel") ||
         BaseName(image).starts_with("vmlinux");
}

bool IsModule(std::string_view image) {
  const std::string_view name = BaseName(image);
  return name.ends_with(".ko") || name.find(".ko.") != std::string_view::npos;
}

// True for a comment. A thread's name may also begin with '#'.
bool IsComment(std::string_view line, const std::optional<ScriptSample>& sample) {
  return line.starts_with('#') && !(sample && sample->time);
}

class ScriptReader {
 public:
  explicit ScriptReader(ProfileMaker& maker) : maker_(maker) {}

  void Take(std::string_view line, size_t number) {
    if (Trimmed(line).empty()) {
      // Some programs print an empty line in front of the frames too, so it ends a sample only
      // after frames.
      if (!frames_.empty()) Finish();
      return;
    }
    if (IsScriptRecord(line)) return Finish();
    const std::optional<ScriptSample> sample = ParseScriptSample(line);
    if (IsComment(line, sample)) return;
    const std::optional<ScriptFrame> frame = ParseScriptFrame(line);
    if (sample && (sample->time || !frame || !sample_)) {
      Finish();
      Begin(*sample);
    } else if (sample_ && frame) {
      frames_.push_back({*frame, {}});
    } else if (const auto at = ParseScriptLine(line); at && !frames_.empty()) {
      frames_.back().at = *at;
    } else if (++passed_over_ == 1) {
      first_passed_over_ = number;
    }
  }

  absl::Status End() {
    Finish();
    if (maker_.rows() == 0) {
      return absl::DataLossError(
          passed_over_ == 0
              ? "it has no sample"
              : absl::StrCat("line ", first_passed_over_,
                             " is not a sample, and no other line is; samples are lines of the "
                             "form \"comm pid/tid [cpu] seconds: period event:\""));
    }
    if (passed_over_ != 0) {
      maker_.Warn(absl::StrCat(passed_over_, " lines were not understood and skipped, line ",
                               first_passed_over_, " first"));
    }
    return absl::OkStatus();
  }

 private:
  struct PlacedFrame {
    ScriptFrame frame;
    ScriptLine at;
  };

  void Begin(const ScriptSample& sample) {
    sample_ = sample;
    if (const auto frame = FindScriptFrame(sample.rest)) frames_.push_back({*frame, {}});
  }

  // A thread of an unknown process counts as a process of its own.
  uint32_t Pid() const { return sample_->pid.value_or(sample_->tid); }

  void Finish() {
    if (!sample_) return;
    StackId stack = profile::kNoStack;
    MakeFrames();
    for (size_t i = stack_.size(); i-- > 0;) stack = maker_.Stack(stack, stack_[i]);
    maker_.Add({.event = maker_.Event(sample_->event),
                .thread = maker_.Thread(Pid(), sample_->tid, sample_->comm),
                .stack = stack,
                .count = 1,
                .period = sample_->period.value_or(1),
                .time = sample_->time,
                .cpu = sample_->cpu.value_or(profile::kNoCpu)});
    sample_.reset();
    frames_.clear();
  }

  // Makes the frames, leaf first. Inlined functions precede the function that has their code.
  void MakeFrames() {
    stack_.clear();
    functions_.clear();
    for (size_t i = 0; i < frames_.size(); ++i) {
      const auto& [frame, at] = frames_[i];
      if (!frame.name.empty()) {
        functions_.push_back({.name = frame.name, .file = at.file, .line = at.line});
      }
      const bool goes_on =
          frame.inlined && i + 1 < frames_.size() && frames_[i + 1].frame.address == frame.address;
      if (goes_on) continue;
      stack_.push_back(MakeFrame(frame));
      functions_.clear();
    }
  }

  profile::FrameId MakeFrame(const ScriptFrame& frame) {
    CodeSpec code{.functions = functions_, .address = frame.address};
    const bool is_high = frame.address && *frame.address >= kUpperHalf;
    const bool in_kernel = is_high || IsKernelImage(frame.image) || IsModule(frame.image);
    code.mode = in_kernel ? Mode::kKernel : Mode::kUser;
    if (!frame.name.empty()) code.symbol_offset = frame.symbol_offset;
    if (!frame.image.empty()) {
      code.image = in_kernel ? maker_.ImageInKernel(IsKernelImage(frame.image) ? "" : frame.image)
                             : maker_.UserImage(frame.image, Pid());
    }
    return maker_.Frame(code);
  }

  ProfileMaker& maker_;
  std::optional<ScriptSample> sample_;
  std::vector<PlacedFrame> frames_;      // frames of the present sample
  std::vector<FunctionLine> functions_;  // functions of the present frame
  std::vector<profile::FrameId> stack_;
  size_t passed_over_ = 0, first_passed_over_ = 0;
};

}  // namespace

absl::Status ReadPerfScript(std::string_view text, ProfileMaker& maker) {
  ScriptReader reader(maker);
  TextLines lines(text);
  std::string_view line;
  while (lines.Next(&line)) reader.Take(line, lines.number());
  return reader.End();
}

bool LooksLikePerfScript(std::string_view start) {
  TextLines lines(start);
  std::string_view line;
  while (lines.Next(&line)) {
    if (Trimmed(line).empty() || IsScriptRecord(line)) continue;
    const std::optional<ScriptSample> sample = ParseScriptSample(line);
    if (!IsComment(line, sample)) return sample.has_value();
  }
  return false;
}

}  // namespace profiler::importers
