#include "src/profile/frame_namer.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/radix_sort.h"
#include "symbolize/unwind/unwinder.h"

namespace profiler::profile {
namespace {

Unnamed UnnamedBecause(symbolize::Reason reason) {
  switch (reason) {
    case symbolize::Reason::kNamed:
      return Unnamed::kNamed;
    case symbolize::Reason::kNoImageFile:
      return Unnamed::kNoImageFile;
    case symbolize::Reason::kBuildIdMismatch:
      return Unnamed::kBuildIdMismatch;
    case symbolize::Reason::kNotElf:
      return Unnamed::kNotElf;
    case symbolize::Reason::kNoSymbol:
      return Unnamed::kNoSymbol;
    case symbolize::Reason::kRestricted:
      return Unnamed::kRestricted;
  }
  return Unnamed::kNoSymbol;
}

// Returns the number of bytes by which the looked-up address precedes the frame's. It is 1 for a
// return address, because that is the address of the instruction behind the call.
uint64_t BackOf(const Frame& frame) {
  return frame.return_address && frame.place.value != 0 ? 1 : 0;
}

// True if the named address lies in the bytes that the compiler reserves in front of a kernel
// function, right before the function's first instruction. The kernel names these bytes after the
// function. They contain no call, so nothing returns to the function's first instruction: it was
// interrupted, or it is the target of an indirect jump that was about to be made (retpoline).
bool IsLastOfPadding(const symbolize::Naming& naming) {
  if (naming.functions.empty()) return false;
  const symbolize::NamedFunction& last = naming.functions.back();
  return naming.distance + 1 == last.size &&
         (last.name.starts_with("__pfx_") || last.name.starts_with("__cfi_"));
}

}  // namespace

void FrameNamer::NameRest() {
  HugeVector<uint32_t> frames;
  for (size_t i = named_; i < profile_.frames.size(); ++i) {
    if (i >= is_named_.size() || !is_named_[i]) frames.push_back(static_cast<uint32_t>(i));
  }
  named_ = profile_.frames.size();
  NameFrames(std::move(frames));
}

void FrameNamer::Name(std::span<const FrameId> frames) {
  HugeVector<uint32_t> unnamed;
  if (is_named_.size() < profile_.frames.size()) is_named_.resize(profile_.frames.size());
  for (const FrameId frame : frames) {
    const auto index = static_cast<uint32_t>(frame);
    if (index < named_ || index >= is_named_.size() || is_named_[index]) continue;  // or kNoFrame
    is_named_[index] = true;
    unnamed.push_back(index);
  }
  if (!unnamed.empty()) NameFrames(std::move(unnamed));
}

// Frames without a mapping have no names, except cuts. In a recording of code without frame
// pointers, most addresses have no mapping.
void FrameNamer::NameFrames(HugeVector<uint32_t> frames) {
  constexpr size_t kAhead = 8;
  HugeVector<uint32_t> order;
  for (const uint32_t index : frames) {
    Frame& frame = profile_.frames[index];
    if (frame.image != ImageId{}) {
      order.push_back(index);
    } else if (frame.mode == Mode::kCut) {
      NameCut(frame);
    }
  }
  SortByPlace(&order);
  size_t announced = 0;  // frames before it were announced
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == announced) announced = Announce(order, i);
    if (i + kAhead < order.size()) __builtin_prefetch(&profile_.frames[order[i + kAhead]], 1);
    Name(order[i]);
  }
  for (std::string& warning : symbolizer_.TakeWarnings()) {
    profile_.losses.warnings.push_back(std::move(warning));
  }
}

// Announces the next places of one image, from `from` on. Returns the index after the last of them.
size_t FrameNamer::Announce(const HugeVector<uint32_t>& order, size_t from) {
  constexpr size_t kAtOnce = 4096;
  const ImageId image = profile_.frames[order[from]].image;
  announced_.clear();
  size_t end = from;
  for (; end < order.size() && end - from < kAtOnce; ++end) {
    const Frame& frame = profile_.frames[order[end]];
    if (frame.image != image) break;
    announced_.push_back(frame.place + (0 - BackOf(frame)));
  }
  symbolizer_.WillName(in_symbolizer_[static_cast<uint32_t>(image)], announced_);
  return end;
}

// Sorts frames by image and place, which is the order of stored profiles.
void FrameNamer::SortByPlace(HugeVector<uint32_t>* frames) const {
  const auto place = [&](uint32_t i) {
    return std::pair(profile_.frames[i].image, profile_.frames[i].place.value);
  };
  if (std::is_sorted(frames->begin(), frames->end(),
                     [&](uint32_t a, uint32_t b) { return place(a) < place(b); })) {
    return;
  }
  RadixSort sort(static_cast<uint32_t>(frames->size()));
  sort.SortBy([&](uint32_t i) { return place((*frames)[i]).second; });
  sort.SortBy([&](uint32_t i) { return static_cast<uint32_t>(place((*frames)[i]).first); });
  HugeVector<uint32_t> sorted = sort.Order();
  for (uint32_t& item : sorted) item = (*frames)[item];
  *frames = std::move(sorted);
}

// Names a frame that gives the reason of a cut chain. It is in no image.
void FrameNamer::NameCut(Frame& frame) {
  const std::string_view reason =
      symbolize::ChainEndName(symbolize::ChainEnd(frame.ip.value - kCutMarks));
  const std::string name =
      absl::StrCat("[cut: ", absl::string_view(reason.data(), reason.size()), "]");
  frame.unnamed = Unnamed::kNamed;
  frame.first_line = static_cast<uint32_t>(profile_.lines.size());
  frame.line_count = 1;
  const symbolize::NamedFunction function{
      .name = name, .start = ElfAddress{frame.ip.value}, .size = 1};
  profile_.lines.push_back({.symbol = InternSymbol(function, frame.image)});
}

void FrameNamer::Name(uint32_t index) {
  Frame& frame = profile_.frames[index];
  if (!by_address_) return Name(frame);
  const auto [first, is_new] =
      first_at_.try_emplace({frame.image, frame.place.value, frame.return_address}, index);
  if (is_new) return Name(frame);
  const Frame& same = profile_.frames[first->second];
  frame.unnamed = same.unnamed;
  frame.first_line = same.first_line;
  frame.line_count = same.line_count;
  frame.symbol_offset = same.symbol_offset;
}

void FrameNamer::Name(Frame& frame) {
  frame.first_line = static_cast<uint32_t>(profile_.lines.size());
  const symbolize::ImageId image = in_symbolizer_[static_cast<uint32_t>(frame.image)];
  uint64_t back = BackOf(frame);
  symbolize::Naming naming = symbolizer_.Name(image, frame.place + (0 - back));
  if (back != 0 && frame.mode == Mode::kKernel && IsLastOfPadding(naming)) {
    const symbolize::Naming behind = symbolizer_.Name(image, frame.place);
    if (!behind.functions.empty() && behind.distance == 0) {
      naming = behind;
      back = 0;
    } else {
      naming = symbolizer_.Name(image, frame.place + (0 - back));
    }
  }
  frame.unnamed = UnnamedBecause(naming.reason);
  if (frame.unnamed == Unnamed::kNoImageFile) NoteMissingMap(frame.image);
  frame.line_count = static_cast<uint32_t>(naming.functions.size());
  frame.symbol_offset = naming.distance + back;
  for (const symbolize::NamedFunction& function : naming.functions) {
    profile_.lines.push_back({.symbol = InternSymbol(function, frame.image),
                              .inlined = function.inlined,
                              .file = InternFile(function.file),
                              .line = function.line});
  }
  if (!naming.functions.empty()) return;
  if (naming.unnamed_size != 0) {
    NameByStart(naming, frame);
  } else if (naming.address) {
    frame.symbol_offset = naming.address->value + back;
  } else {
    frame.symbol_offset = frame.place.value;
  }
}

// Generated code is named by its map. If the map is missing, the image's name says so.
void FrameNamer::NoteMissingMap(ImageId id) {
  Image& image = profile_.images[static_cast<uint32_t>(id)];
  if (image.kind != symbolize::ImageKind::kJit) return;
  image.name = image.long_name = profile_.strings.Intern("[JIT code without a name]");
}

void FrameNamer::NameByStart(const symbolize::Naming& naming, Frame& frame) {
  frame.line_count = 1;
  if (IsLast(naming.unnamed_start, frame.image) && last_is_unnamed_) {
    profile_.lines.push_back({.symbol = last_});
    return;
  }
  const std::string_view image = profile_.text(profile_[frame.image].name);
  const std::string name = absl::StrCat(absl::string_view(image.data(), image.size()), "+0x",
                                        absl::Hex(naming.unnamed_start.value));
  const symbolize::NamedFunction function{
      .name = name, .start = naming.unnamed_start, .size = naming.unnamed_size};
  profile_.lines.push_back({.symbol = InternSymbol(function, frame.image)});
  last_is_unnamed_ = true;
}

// True if the last symbol begins at `start`. Neighbouring addresses mostly share a function and a
// file, so the last ones are remembered.
bool FrameNamer::IsLast(ElfAddress start, ImageId image) const {
  return last_ != kNoSymbol && profile_[last_].start == start && profile_[last_].image == image;
}

StringId FrameNamer::InternFile(std::string_view file) {
  if (profile_.text(last_file_) != file) last_file_ = profile_.strings.Intern(file);
  return last_file_;
}

SymbolId FrameNamer::InternSymbol(const symbolize::NamedFunction& function, ImageId image) {
  if (IsLast(function.start, image) && profile_.text(profile_[last_].name) == function.name) {
    return last_;
  }
  last_is_unnamed_ = false;
  const Symbol symbol{.name = profile_.strings.Intern(function.name),
                      .image = image,
                      .start = function.start,
                      .size = function.size};
  last_ = SymbolId(symbols_.FindOrInsert(
      Mix(symbol.start.value,
          static_cast<uint64_t>(symbol.name) << 32 | static_cast<uint64_t>(symbol.image)),
      [&](uint32_t id) {
        const Symbol& known = profile_.symbols[id];
        return known.start == symbol.start && known.name == symbol.name &&
               known.image == symbol.image;
      },
      [&] {
        profile_.symbols.push_back(symbol);
        return static_cast<uint32_t>(profile_.symbols.size() - 1);
      }));
  return last_;
}

}  // namespace profiler::profile
