#include "src/views/flamegraph/testing/profile_for_test.h"

#include "absl/strings/str_split.h"
#include "src/base/text.h"
#include "src/views/flamegraph/labels.h"

namespace profiler::exports {

using namespace profile;  // NOLINT: a builder of its types

namespace {

template <class Id>
Id NextId(const auto& table) {
  return Id{static_cast<uint32_t>(table.size())};
}

}  // namespace

EventId ProfileForTest::AddEvent(std::string_view name) {
  const auto id = NextId<EventId>(profile_.events);
  profile_.events.push_back({profile_.strings.Intern(name), 0, 0, true});
  return id;
}

ProfileForTest& ProfileForTest::Define(std::string_view alias, Function function) {
  functions_[std::string(alias)] = std::move(function);
  return *this;
}

ProfileForTest& ProfileForTest::Add(std::string_view comm, std::string_view stack, uint64_t count,
                                    uint64_t period, EventId event) {
  std::vector<Function> frames;
  for (absl::string_view word :
       absl::StrSplit(absl::string_view(stack.data(), stack.size()), ' ')) {
    const std::string name(word);
    auto known = functions_.find(name);
    frames.push_back(known == functions_.end() ? Function{name} : known->second);
  }
  return AddFrames(comm, frames, count, period, event);
}

ProfileForTest& ProfileForTest::AddFrames(std::string_view comm, const std::vector<Function>& stack,
                                          uint64_t count, uint64_t period, EventId event) {
  StackId parent = kNoStack;
  FrameId frame{};
  for (const Function& function : stack) {
    frame = FrameOf(function);
    auto [it, added] = stacks_.try_emplace({parent, frame}, NextId<StackId>(profile_.stacks));
    if (added) {
      const uint32_t depth = parent == kNoStack ? 1 : profile_[parent].depth + 1;
      profile_.stacks.push_back({parent, frame, depth});
    }
    parent = it->second;
  }
  if (period == 0) period = count * 1000;
  profile_.rows.push_back({.event = event,
                           .thread = ThreadOf(comm),
                           .self = frame,
                           .stack = parent,
                           .count = count,
                           .period = period});
  if (!profile_.slices.slices.empty()) profile_.column(Dimension::kSlice).push_back(slice_);
  Event& counted = profile_.events[static_cast<uint32_t>(event)];
  counted.samples += count;
  counted.period += period;
  return *this;
}

ProfileForTest& ProfileForTest::In(uint32_t tid, uint32_t slice, uint32_t slices) {
  constexpr uint64_t kLength = 10'000'000;
  profile_.slices = TimeSlices{.begin = 0, .length = kLength};
  profile_.slices.slices.resize(slices);
  tid_ = tid;
  slice_ = slice;
  return *this;
}

ProfileForTest& ProfileForTest::SetTimes(const std::vector<uint64_t>& times) {
  profile_.quanta.length = 1;
  profile_.quanta.begins = times;
  for (uint32_t i = 0; i < times.size(); ++i) profile_.column(Dimension::kTime).push_back(i);
  return *this;
}

ThreadId ProfileForTest::ThreadOf(std::string_view comm) {
  auto [it, added] =
      threads_.try_emplace({std::string(comm), tid_}, NextId<ThreadId>(profile_.threads));
  if (added) profile_.threads.push_back({100, tid_, profile_.strings.Intern(comm)});
  return it->second;
}

ImageId ProfileForTest::ImageOf(const Function& function) {
  auto [it, added] = images_.try_emplace(function.image, NextId<ImageId>(profile_.images));
  if (added) {
    profile_.images.push_back({profile_.strings.Intern(BaseName(function.image)),
                               profile_.strings.Intern(function.image),
                               function.kind,
                               {}});
  }
  return it->second;
}

SymbolId ProfileForTest::SymbolOf(std::string_view name, ImageId image) {
  auto [it, added] =
      symbols_.try_emplace({std::string(name), image}, NextId<SymbolId>(profile_.symbols));
  if (added) profile_.symbols.push_back({profile_.strings.Intern(name), image, {}, 16});
  return it->second;
}

FrameId ProfileForTest::FrameOf(const Function& function) {
  const ImageId image = ImageOf(function);
  auto [it, added] = frames_.try_emplace({function.name, image, function.inlined, function.mode},
                                         NextId<FrameId>(profile_.frames));
  if (!added) return it->second;
  Frame frame{.mode = function.mode, .image = image};
  frame.ip.value = 0x1000 + 16 * profile_.frames.size();
  frame.first_line = static_cast<uint32_t>(profile_.lines.size());
  for (size_t i = function.inlined.size(); i-- > 0;) {
    profile_.lines.push_back({SymbolOf(function.inlined[i], image), true, {}, 0});
  }
  if (!function.name.empty()) {
    profile_.lines.push_back({SymbolOf(function.name, image), false, {}, 0});
    frame.unnamed = Unnamed::kNamed;
  }
  frame.line_count = static_cast<uint32_t>(profile_.lines.size()) - frame.first_line;
  profile_.frames.push_back(frame);
  return it->second;
}

}  // namespace profiler::exports
