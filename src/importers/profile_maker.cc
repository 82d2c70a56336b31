#include "src/importers/profile_maker.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <type_traits>

#include "src/base/text.h"
#include "src/importers/code_layout.h"
#include "src/machine/sideband/user_image.h"

namespace profiler::importers {
namespace {

using profile::EventId;
using profile::FrameId;
using profile::ImageId;
using profile::Mode;
using profile::StackId;
using profile::SymbolId;
using profile::ThreadId;
using symbolize::ImageKind;

template <class T>
void AppendBytes(const T& value, std::string& out) {
  static_assert(std::is_trivially_copyable_v<T>);
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void AppendKey(std::string_view text, std::string& out) {
  AppendBytes(text.size(), out);
  out.append(text);
}

template <class T>
void AppendKey(const std::optional<T>& value, std::string& out) {
  AppendBytes(value.has_value(), out);
  AppendBytes(value.value_or(T{}), out);
}

template <class Id>
Id NextId(const auto& table) {
  return Id{static_cast<uint32_t>(table.size())};
}

// Follows the rule of ImageTable (src/profile/image_table.cc).
std::string_view ShortName(std::string_view path) {
  return path.starts_with('[') ? path : BaseName(path);
}

bool IsKernel(Mode mode) { return mode == Mode::kKernel; }

}  // namespace

ProfileMaker::ProfileMaker() {
  const StringId unknown = profile_.strings.Intern("[unknown]");
  profile_.images.push_back({.name = unknown, .long_name = unknown, .kind = ImageKind::kUnknown});
}

EventId ProfileMaker::Event(std::string_view name) {
  const auto [known, is_new] =
      events_.try_emplace(std::string(name), NextId<EventId>(profile_.events));
  // A sample may stand for several occurrences, because no format states that each occurrence has a
  // sample.
  if (is_new) {
    profile_.events.push_back({.name = profile_.strings.Intern(name), .frequency = true});
  }
  return known->second;
}

ThreadId ProfileMaker::Thread(uint32_t pid, uint32_t tid, std::string_view comm) {
  key_.clear();
  AppendBytes(pid, key_);
  AppendBytes(tid, key_);
  key_.append(comm);
  const auto [known, is_new] = threads_.try_emplace(key_, NextId<ThreadId>(profile_.threads));
  if (is_new) {
    profile_.threads.push_back({.pid = pid, .tid = tid, .comm = profile_.strings.Intern(comm)});
  }
  return known->second;
}

ThreadId ProfileMaker::NamedThread(std::string_view comm) {
  const auto known = named_threads_.find(View(comm));
  if (known != named_threads_.end()) return known->second;
  const auto number = static_cast<uint32_t>(named_threads_.size() + 1);
  return named_threads_.try_emplace(std::string(comm), Thread(number, number, comm)).first->second;
}

ImageId ProfileMaker::Image(ImageKind kind, std::string_view path,
                            std::span<const std::byte> build_id, uint32_t pid) {
  key_.clear();
  AppendBytes(kind, key_);
  AppendBytes(pid, key_);
  AppendKey(path, key_);
  key_.append(reinterpret_cast<const char*>(build_id.data()), build_id.size());
  const auto [known, is_new] = images_.try_emplace(key_, NextId<ImageId>(profile_.images));
  if (is_new) {
    profile_.images.push_back({.name = profile_.strings.Intern(ShortName(path)),
                               .long_name = profile_.strings.Intern(path),
                               .kind = kind,
                               .build_id = {build_id.begin(), build_id.end()},
                               .pid = pid});
  }
  return known->second;
}

ImageId ProfileMaker::ImageInKernel(std::string_view path) {
  return path.empty() ? KernelImage() : Image(ImageKind::kModule, path);
}

ImageId ProfileMaker::UserImage(std::string_view path, std::optional<uint32_t> pid) {
  if (path.empty() || path == "[unknown]") return UnknownImage();
  switch (sideband::KindOfUserImage(path)) {
    case symbolize::ImageKind::kVdso:
      return Image(ImageKind::kVdso, path);
    case symbolize::ImageKind::kJit:
    case symbolize::ImageKind::kJitDump:
      return pid ? Image(ImageKind::kJit, path, {}, *pid) : Image(ImageKind::kAnonymous, "[anon]");
    case symbolize::ImageKind::kAnonymous:
      return Image(ImageKind::kAnonymous, path);
    default:
      return Image(ImageKind::kUser, path);
  }
}

FrameId ProfileMaker::Function(std::string_view name) {
  const FunctionLine function{.name = name};
  return Frame({.functions = {&function, 1}, .image = UnknownImage()});
}

FrameId ProfileMaker::Frame(const CodeSpec& code) {
  // A named function needs an image, even an unknown one.
  const bool lacks_image = code.image == ImageId{} && !code.functions.empty();
  const ImageId image = !lacks_image          ? code.image
                        : IsKernel(code.mode) ? KernelImage()
                                              : UnknownImage();
  key_.clear();
  AppendBytes(image, key_);
  AppendBytes(code.mode, key_);
  AppendKey(code.address, key_);
  AppendKey(code.file_offset, key_);
  AppendKey(code.symbol_offset, key_);
  for (const FunctionLine& function : code.functions) {
    AppendKey(function.name, key_);
    AppendKey(function.file, key_);
    AppendBytes(function.line, key_);
  }
  const auto [known, is_new] = frames_.try_emplace(key_, NextId<FrameId>(profile_.frames));
  if (!is_new) return known->second;

  profile::Frame frame{.mode = code.mode,
                       .unnamed = profile::Unnamed::kNoSymbol,
                       .image = image,
                       .ip = RuntimeAddress{code.address.value_or(0)},
                       .first_line = static_cast<uint32_t>(profile_.lines.size()),
                       .line_count = static_cast<uint32_t>(code.functions.size()),
                       .symbol_offset = code.symbol_offset.value_or(0)};
  const uint64_t place = code.file_offset.value_or(frame.ip.value);
  frame.place = frame.ip;
  if (symbolize::IsInFile(profile_[image].kind)) frame.place = FileOffset{place};
  if (image == ImageId{}) frame.unnamed = profile::Unnamed::kNoMapping;
  if (!code.functions.empty()) frame.unnamed = profile::Unnamed::kNamed;
  std::optional<uint64_t> start;
  if (code.symbol_offset && code.address) start = frame.place.value - *code.symbol_offset;
  for (size_t i = 0; i < code.functions.size(); ++i) {
    const FunctionLine& function = code.functions[i];
    const bool is_last = i + 1 == code.functions.size();
    profile_.lines.push_back(
        {.symbol = Symbol(function.name, image, is_last ? start : std::nullopt),
         .inlined = !is_last,
         .file = profile_.strings.Intern(function.file),
         .line = function.line});
  }
  profile_.frames.push_back(frame);
  notes_.push_back({code.address.has_value(), start.has_value()});
  return known->second;
}

// Returns the symbol. A function without a known start is one symbol of its image; FindSymbolStarts
// sets its start.
SymbolId ProfileMaker::Symbol(std::string_view name, ImageId image, std::optional<uint64_t> start) {
  std::string key;
  AppendBytes(image, key);
  AppendKey(start, key);
  key.append(name);
  const auto [known, is_new] = symbols_.try_emplace(key, NextId<SymbolId>(profile_.symbols));
  if (is_new) {
    profile_.symbols.push_back({.name = profile_.strings.Intern(name),
                                .image = image,
                                .start = ElfAddress{start.value_or(0)}});
  }
  return known->second;
}

StackId ProfileMaker::Stack(StackId caller, FrameId frame) {
  const auto [known, is_new] =
      stacks_.try_emplace({static_cast<uint32_t>(caller), static_cast<uint32_t>(frame)},
                          NextId<StackId>(profile_.stacks));
  if (is_new) {
    const uint32_t depth = caller == profile::kNoStack ? 1 : profile_[caller].depth + 1;
    profile_.stacks.push_back({.parent = caller, .frame = frame, .depth = depth});
  }
  return known->second;
}

void ProfileMaker::Add(const SampleSpec& sample) {
  if (sample.count == 0 && sample.period == 0) return;
  const StackId stack =
      sample.stack == profile::kNoStack ? Stack(profile::kNoStack, Frame({})) : sample.stack;
  profile::Event& event = profile_.events[static_cast<uint32_t>(sample.event)];
  event.samples += sample.count;
  event.period += sample.period;
  event.callchains = event.callchains || profile_[stack].depth > 1;
  const RowKey key{static_cast<uint32_t>(sample.event), static_cast<uint32_t>(sample.thread),
                   static_cast<uint32_t>(stack), sample.cpu, sample.time.value_or(0)};
  const auto [known, is_new] = rows_.try_emplace(key, static_cast<uint32_t>(profile_.rows.size()));
  if (is_new) {
    profile_.rows.push_back({.event = sample.event,
                             .thread = sample.thread,
                             .self = profile_[stack].frame,
                             .stack = stack});
    times_.push_back(key.time);
    cpus_.push_back(sample.cpu);
    has_times_ = has_times_ || sample.time.has_value();
    has_cpus_ = has_cpus_ || sample.cpu != profile::kNoCpu;
  }
  profile_.rows[known->second].count += sample.count;
  profile_.rows[known->second].period += sample.period;
}

// Sets the start of symbols without one to the lowest place of their code.
void ProfileMaker::FindSymbolStarts() {
  constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();
  std::vector<uint64_t> starts(profile_.symbols.size(), kNone);
  const auto needs_start = [&](uint32_t frame) {
    return profile_.frames[frame].line_count != 0 && !notes_[frame].has_symbol_offset;
  };
  const auto symbol_of = [&](uint32_t frame) {
    return static_cast<uint32_t>(profile_.LinesOf(profile_.frames[frame]).back().symbol);
  };
  for (uint32_t i = 0; i < profile_.frames.size(); ++i) {
    if (!needs_start(i)) continue;
    uint64_t& start = starts[symbol_of(i)];
    start = std::min(start, profile_.frames[i].place.value);
  }
  for (uint32_t i = 0; i < profile_.frames.size(); ++i) {
    if (!needs_start(i)) continue;
    profile::Frame& frame = profile_.frames[i];
    const uint64_t start = starts[symbol_of(i)];
    profile_.symbols[symbol_of(i)].start = ElfAddress{start};
    // Without an address, the distance from the function's start is unknown.
    frame.symbol_offset = notes_[i].has_address ? frame.place.value - start : 0;
  }
}

// Gives addresses to frames without one. Frames of one image lie together.
void ProfileMaker::PlaceFramesWithoutAddress() {
  std::vector<uint32_t> frames;
  for (uint32_t i = 0; i < profile_.frames.size(); ++i) {
    if (!notes_[i].has_address) frames.push_back(i);
  }
  std::stable_sort(frames.begin(), frames.end(), [&](uint32_t a, uint32_t b) {
    return profile_.frames[a].image < profile_.frames[b].image;
  });
  uint64_t next_user = kMovedUserCode, next_kernel = kMovedKernelCode;
  for (const uint32_t index : frames) {
    profile::Frame& frame = profile_.frames[index];
    uint64_t& next = IsKernel(frame.mode) ? next_kernel : next_user;
    next += kMovedCodeStep;
    frame.ip = RuntimeAddress{next};
    frame.place = frame.ip;
    if (symbolize::IsInFile(profile_[frame.image].kind)) frame.place = FileOffset{next};
  }
}

void ProfileMaker::MakeColumns() {
  if (has_cpus_) {
    auto& column = profile_.column(profile::Dimension::kCpu);
    for (const uint32_t cpu : cpus_) column.push_back(cpu);
  }
  if (!has_times_) return;
  profile_.quanta.length = 1;
  auto& column = profile_.column(profile::Dimension::kTime);
  for (const uint64_t time : times_) {
    const auto [known, is_new] =
        quanta_.try_emplace(time, static_cast<uint32_t>(profile_.quanta.begins.size()));
    if (is_new) profile_.quanta.begins.push_back(time);
    column.push_back(known->second);
  }
}

profile::Profile ProfileMaker::Finish() && {
  PlaceFramesWithoutAddress();
  FindSymbolStarts();
  MakeColumns();
  return std::move(profile_);
}

}  // namespace profiler::importers
