#include "src/profile/testing/handmade_profile.h"

namespace profiler::profile {

using symbolize::ImageKind;

namespace {

constexpr uint64_t kSymbolSize = 0x1000;
constexpr std::string_view kUnknown = "[unknown]";

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

template <class Id>
Id IdAt(size_t index) {
  return Id{static_cast<uint32_t>(index)};
}

}  // namespace

HandmadeProfile::HandmadeProfile() { Event("cpu-clock"); }

HandmadeProfile& HandmadeProfile::Event(std::string_view name) {
  for (size_t i = 0; i < profile_.events.size(); ++i) {
    if (profile_.text(profile_.events[i].name) == name) {
      event_ = IdAt<EventId>(i);
      return *this;
    }
  }
  event_ = IdAt<EventId>(profile_.events.size());
  profile_.events.push_back({.name = profile_.strings.Intern(name)});
  return *this;
}

HandmadeProfile& HandmadeProfile::Thread(uint32_t pid, uint32_t tid) {
  pid_ = pid;
  tid_ = tid;
  return *this;
}

HandmadeProfile& HandmadeProfile::Parallelism(uint32_t threads) {
  parallelism_ = threads;
  return *this;
}

HandmadeProfile& HandmadeProfile::Cpu(uint32_t cpu) {
  cpu_ = cpu;
  return *this;
}

HandmadeProfile& HandmadeProfile::Time(uint64_t ns) {
  time_ = ns;
  return *this;
}

HandmadeProfile& HandmadeProfile::LoadedAt(uint64_t bias) {
  bias_ = bias;
  return *this;
}

HandmadeProfile& HandmadeProfile::LinkedAt(uint64_t bias) {
  link_bias_ = bias;
  return *this;
}

HandmadeProfile& HandmadeProfile::InOrder() {
  in_order_ = true;
  return *this;
}

HandmadeProfile& HandmadeProfile::StandingFor(float weight, float gap) {
  weight_ = weight;
  gap_ = gap;
  return *this;
}

HandmadeProfile& HandmadeProfile::Sample(std::string_view comm,
                                         const std::vector<std::string>& chain, uint64_t count,
                                         uint64_t period) {
  StackId stack = kNoStack;
  uint32_t depth = 0;
  for (const std::string& text : chain) {
    const FrameId frame = Frame(text);
    ++depth;
    const auto [it, is_new] =
        stacks_.try_emplace({stack, frame}, IdAt<StackId>(profile_.stacks.size()));
    if (is_new) profile_.stacks.push_back({.parent = stack, .frame = frame, .depth = depth});
    stack = it->second;
  }
  profile_.rows.push_back({.event = event_,
                           .thread = ThreadNamed(comm),
                           .self = profile_[stack].frame,
                           .stack = stack,
                           .count = count,
                           .period = count * period});
  profile_.column(profile::Dimension::kCpu).push_back(cpu_);
  profile_.column(profile::Dimension::kParallelism).push_back(parallelism_);
  times_.push_back(time_);
  if (in_order_) {
    const auto row = static_cast<uint32_t>(profile_.rows.size() - 1);
    for (uint64_t i = 0; i < count; ++i) {
      profile_.order.push_back({.row = row, .stream = cpu_, .weight = weight_, .gap = gap_});
    }
  }
  profile::Event& event = profile_.events[static_cast<uint32_t>(event_)];
  event.samples += count;
  event.period += count * period;
  event.squared_periods += static_cast<double>(count) * static_cast<double>(period * period);
  event.callchains |= chain.size() > 1;
  return *this;
}

HandmadeProfile& HandmadeProfile::Branch(std::string_view comm, const std::string& from,
                                         const std::string& to, uint64_t count, uint16_t cycles,
                                         profile::BranchOutcome outcome) {
  profile_.events[static_cast<uint32_t>(event_)].branch_stacks = true;
  profile_.branches.push_back({.event = event_,
                               .thread = ThreadNamed(comm),
                               .from = Frame(from),
                               .to = Frame(to),
                               .cycles = cycles,
                               .outcome = outcome,
                               .count = count});
  return *this;
}

ThreadId HandmadeProfile::ThreadNamed(std::string_view comm) {
  const auto [it, is_new] = threads_.try_emplace({pid_, tid_, std::string(comm)},
                                                 IdAt<ThreadId>(profile_.threads.size()));
  if (is_new) {
    profile_.threads.push_back({.pid = pid_, .tid = tid_, .comm = profile_.strings.Intern(comm)});
    NameThreads(profile_.threads.back());
  }
  return it->second;
}

// Sets the last name of the thread to the latest one. If a process has no thread whose tid is the
// pid, each of its threads gets its own last name as the process's name.
void HandmadeProfile::NameThreads(const profile::Thread& named) {
  const uint32_t pid = named.pid, tid = named.tid;
  const StringId comm = named.comm;
  StringId leader = StringId::kEmpty;
  for (profile::Thread& thread : profile_.threads) {
    if (thread.pid != pid) continue;
    if (thread.tid == tid) thread.last_comm = comm;
    if (thread.tid == pid) leader = thread.last_comm;
  }
  for (profile::Thread& thread : profile_.threads) {
    if (thread.pid != pid) continue;
    thread.process_comm = leader != StringId::kEmpty ? leader : thread.last_comm;
  }
}

ImageId HandmadeProfile::Image(std::string_view name) {
  const auto [it, is_new] =
      images_.try_emplace(std::string(name), IdAt<ImageId>(profile_.images.size()));
  if (is_new) {
    ImageKind kind = ImageKind::kUser;
    if (name == kUnknown) kind = ImageKind::kUnknown;
    if (StartsWith(name, "[k")) kind = ImageKind::kKernel;
    const bool special = kind != ImageKind::kUser;
    const std::string path = special ? std::string(name) : "/usr/lib/" + std::string(name);
    profile_.images.push_back({.name = profile_.strings.Intern(name),
                               .long_name = profile_.strings.Intern(path),
                               .kind = kind});
  }
  return it->second;
}

SymbolId HandmadeProfile::Symbol(std::string_view name, ImageId image) {
  const auto [it, is_new] = symbols_.try_emplace(std::pair(std::string(name), image),
                                                 IdAt<SymbolId>(profile_.symbols.size()));
  if (is_new) {
    profile_.symbols.push_back({.name = profile_.strings.Intern(name),
                                .image = image,
                                .start = {link_bias_ + kSymbolSize * (profile_.symbols.size() + 1)},
                                .size = kSymbolSize});
  }
  return it->second;
}

FrameId HandmadeProfile::Frame(const std::string& text) {
  const auto [it, is_new] = frames_.try_emplace(text, IdAt<FrameId>(profile_.frames.size()));
  if (!is_new) return it->second;

  const size_t at = text.rfind('@');
  std::string names = text.substr(0, at);
  const std::string_view image_name =
      at == std::string::npos ? kUnknown : std::string_view(text).substr(at + 1);
  const bool is_cut = StartsWith(names, "[cut: ");
  profile::Frame frame{.mode = is_cut                         ? Mode::kCut
                               : StartsWith(image_name, "[k") ? Mode::kKernel
                                                              : Mode::kUser,
                       .image = Image(image_name),
                       .first_line = static_cast<uint32_t>(profile_.lines.size())};
  const bool in_file = symbolize::IsInFile(profile_[frame.image].kind);
  if (StartsWith(names, "0x")) {
    frame.ip.value = std::stoull(names, nullptr, 16);
    frame.place = frame.ip;
    if (in_file) frame.place = FileOffset{frame.ip.value - bias_};
    frame.symbol_offset = frame.place.value + link_bias_;
  } else {
    uint64_t distance = 0;
    if (const size_t plus = names.rfind("+0x"); plus != std::string::npos) {
      distance = std::stoull(names.substr(plus + 1), nullptr, 16);
      names.resize(plus);
    }
    std::string_view rest = names;
    while (true) {
      const size_t inlined = rest.find('<');
      const SymbolId symbol = Symbol(rest.substr(0, inlined), frame.image);
      profile_.lines.push_back({.symbol = symbol, .inlined = inlined != std::string_view::npos});
      frame.unnamed = profile::Unnamed::kNamed;
      frame.place = FileOffset{profile_[symbol].start.value - link_bias_ + distance};
      frame.symbol_offset = distance;
      if (inlined == std::string_view::npos) break;
      rest.remove_prefix(inlined + 1);
    }
    frame.ip.value = frame.place.value + bias_;
    if (!in_file) frame.place = frame.ip;
    frame.line_count = static_cast<uint32_t>(profile_.lines.size()) - frame.first_line;
  }
  profile_.frames.push_back(frame);
  return it->second;
}

}  // namespace profiler::profile
