#include "src/fleet/segments/profile_of_windows.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/importers/profile_maker.h"

namespace profiler::fleet {
namespace {

class Maker {
 public:
  void Add(const Window& window) {
    frames_.assign(window.frames.size(), std::nullopt);
    std::vector<profile::StackId> stacks;
    stacks.reserve(window.stacks.size());
    for (size_t i = 0; i < window.stacks.size(); ++i) stacks.push_back(StackOf(window, i, stacks));
    std::vector<profile::EventId> events;
    for (const Event& event : window.events) {
      events.push_back(maker_.Event(window.strings[event.name]));
    }
    std::vector<profile::ThreadId> threads;
    for (const Workload& workload : window.workloads) threads.push_back(ThreadOf(window, workload));
    for (const Row& row : window.rows) {
      maker_.Add({.event = events[row.event],
                  .thread = threads[row.workload],
                  .stack = stacks[row.stack],
                  .count = row.samples,
                  .period = row.value,
                  .time = static_cast<uint64_t>(window.begin)});
    }
  }

  profile::Profile Finish() && { return std::move(maker_).Finish(); }

 private:
  // Makes each inlined function a frame of its own, because its caller's code address is unknown.
  profile::StackId StackOf(const Window& window, size_t number,
                           const std::vector<profile::StackId>& stacks) {
    const StackNode& node = window.stacks[number];
    std::optional<profile::FrameId>& frame = frames_[node.frame];
    if (!frame) frame = FrameOf(window, window.frames[node.frame]);
    return maker_.Stack(node.caller == kNoCaller ? profile::kNoStack : stacks[node.caller], *frame);
  }

  profile::FrameId FrameOf(const Window& window, const Frame& frame) {
    const std::string_view name = window.strings[frame.function];
    const std::string_view image = window.strings[frame.image];
    const std::array<importers::FunctionLine, 1> functions = {{{.name = name}}};
    importers::CodeSpec code = {.functions = functions};
    // A function named after its image has no symbol.
    if (name == image || name == absl::StrCat("[", View(image), "]")) code.functions = {};
    if (IsKernelImage(image)) {
      code.mode = profile::Mode::kKernel;
      code.image = maker_.ImageInKernel(image == "[kernel.kallsyms]" ? std::string_view() : image);
    } else if (image.empty() || image == "[unknown]") {
      code.image = maker_.UnknownImage();
    } else {
      code.image = maker_.UserImage(image, std::nullopt);
    }
    return maker_.Frame(code);
  }

  profile::ThreadId ThreadOf(const Window& window, const Workload& workload) {
    const std::string_view service = window.strings[workload.service];
    const std::string_view program = window.strings[workload.program];
    if (service.empty() || service == program) return maker_.NamedThread(program);
    return maker_.NamedThread(absl::StrCat(View(service), "/", View(program)));
  }

  importers::ProfileMaker maker_;
  std::vector<std::optional<profile::FrameId>> frames_;  // [f]: frame f of the current window
};

}  // namespace

profile::Profile ProfileOf(std::span<const Window> windows) {
  Maker maker;
  for (const Window& window : windows) maker.Add(window);
  return std::move(maker).Finish();
}

}  // namespace profiler::fleet
