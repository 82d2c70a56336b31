#include "src/importers/code_layout.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/code_memory.h"
#include "src/machine/sideband/user_image.h"

namespace profiler::importers {
namespace {

using profile::Frame;
using profile::Image;
using profile::Line;
using profile::Mode;
using profile::Profile;
using symbolize::ImageKind;
using symbolize::ImageSpec;

constexpr uint64_t kPage = 4096;
// Length of the longest path that is written; a record has room for it.
constexpr size_t kLongestPath = 4095;

bool IsKernel(Mode mode) { return mode == Mode::kKernel || mode == Mode::kGuestKernel; }

// Returns the distance in bytes from the frame's address back to the address at which it is looked
// up.
uint64_t LookedUpBefore(const Frame& frame) {
  return frame.return_address && frame.ip.value != 0 ? 1 : 0;
}

class Layout {
 public:
  explicit Layout(const Profile& profile) : profile_(profile) {}

  CodeLayout Make() && {
    layout_.frames.resize(profile_.frames.size());
    for (uint32_t i = 0; i < profile_.frames.size(); ++i) Place(i);
    for (const bool in_kernel : {false, true}) {
      MapWhatStays(in_kernel);
      MapWhatMoves(in_kernel);
    }
    return std::move(layout_);
  }

 private:
  const Frame& FrameAt(uint32_t index) const { return profile_.frames[index]; }

  // Places a frame at its own address. It may have to move later.
  void Place(uint32_t index) {
    const Frame& frame = FrameAt(index);
    PlacedCode& placed = layout_.frames[index];
    const uint64_t back = LookedUpBefore(frame);
    placed.in_kernel = IsKernel(frame.mode);
    placed.address = RuntimeAddress{frame.ip.value - back};
    placed.place = placed.address;
    if (profile_[frame.image].kind == ImageKind::kUnknown) return;
    placed.image = ImageOf(frame.image, placed.in_kernel);
    if (symbolize::IsInFile(SpecOf(placed).kind)) {
      placed.place = FileOffset{(frame.place.in_file ? frame.place.value : frame.ip.value) - back};
    }
  }

  const ImageSpec& SpecOf(const PlacedCode& placed) const {
    return layout_.images[placed.image].spec;
  }

  uint32_t ImageOf(profile::ImageId id, bool in_kernel) {
    const auto [known, is_new] = written_image_of_.try_emplace({id, in_kernel}, 0);
    if (is_new) known->second = Intern(MakeImage(profile_[id], in_kernel));
    return known->second;
  }

  uint32_t Intern(WrittenImage image) {
    const auto [known, is_new] =
        images_.try_emplace({image.in_kernel, image.filename, image.spec.build_id, image.spec.pid},
                            static_cast<uint32_t>(layout_.images.size()));
    if (is_new) layout_.images.push_back(std::move(image));
    return known->second;
  }

  // Makes the image that a reader makes from its mapping record (src/profile/image_table.cc).
  WrittenImage MakeImage(const Image& image, bool in_kernel) const {
    const std::string path(profile_.text(image.long_name).substr(0, kLongestPath));
    WrittenImage written{.in_kernel = in_kernel};
    if (in_kernel) {
      const bool is_kernel = image.kind == ImageKind::kKernel;
      constexpr char kKernel[] = "[kernel.kallsyms]";
      written.filename = is_kernel ? kKernel : path;
      written.spec = {.kind = is_kernel ? ImageKind::kKernel : ImageKind::kModule,
                      .path = written.filename,
                      .build_id = image.build_id};
      return written;
    }
    const bool is_generated = image.kind == ImageKind::kJit || image.kind == ImageKind::kJitDump;
    written.filename = is_generated ? "//anon" : path;
    ImageKind kind = sideband::KindOfUserImage(written.filename);
    if (kind == ImageKind::kJitDump) {
      written.filename = "//anon";
      kind = ImageKind::kJit;
    }
    written.spec.kind = kind;
    written.spec.path = kind == ImageKind::kJit
                            ? perf_event::CodeMemoryName(symbolize::PidOf(image.pid))
                            : written.filename;
    if (kind == ImageKind::kUser || kind == ImageKind::kVdso)
      written.spec.build_id = image.build_id;
    if (kind == ImageKind::kJit) written.spec.pid = image.pid;
    return written;
  }

  // True if two frames have the same name.
  bool AreNamedAlike(uint32_t a, uint32_t b) const {
    const Frame& x = FrameAt(a);
    const Frame& y = FrameAt(b);
    const std::span<const Line> of_x = profile_.LinesOf(x), of_y = profile_.LinesOf(y);
    return x.unnamed == y.unnamed && std::equal(of_x.begin(), of_x.end(), of_y.begin(), of_y.end(),
                                                [](const Line& p, const Line& q) {
                                                  return p.symbol == q.symbol && p.file == q.file &&
                                                         p.line == q.line;
                                                });
  }

  bool MustMove(const PlacedCode& placed) const {
    const uint64_t address = placed.address.value;
    // Readers of call chains would take the address, or a return address one byte after it, for a
    // marker.
    const bool is_marker = perf_event::IsContext(address) || perf_event::IsContext(address + 1);
    if (address == 0 || is_marker) return true;
    // Readers read a vDSO from the start of its file on.
    return placed.image != PlacedCode::kNone && SpecOf(placed).kind == ImageKind::kVdso;
  }

  // Returns the frames of kernel or user code, sorted by address.
  std::vector<uint32_t> FramesIn(bool in_kernel) const {
    std::vector<uint32_t> frames;
    for (uint32_t i = 0; i < layout_.frames.size(); ++i) {
      if (layout_.frames[i].in_kernel == in_kernel) frames.push_back(i);
    }
    std::stable_sort(frames.begin(), frames.end(), [&](uint32_t a, uint32_t b) {
      return layout_.frames[a].address < layout_.frames[b].address;
    });
    return frames;
  }

  void MapWhatStays(bool in_kernel) {
    moving_.clear();
    std::optional<uint32_t> last;  // last frame that keeps its address
    for (const uint32_t index : FramesIn(in_kernel)) {
      const PlacedCode& placed = layout_.frames[index];
      const bool is_taken =
          last && layout_.frames[*last].address == placed.address && !IsSameCode(*last, index);
      if (MustMove(placed) || is_taken || !TakePlace(index)) {
        moving_.push_back(index);
        continue;
      }
      AddToMapping(last, index);
      last = index;
    }
    if (last) EndMapping(*last, UINT64_MAX);
  }

  bool IsSameCode(uint32_t a, uint32_t b) const {
    const PlacedCode& x = layout_.frames[a];
    const PlacedCode& y = layout_.frames[b];
    return x.image == y.image && x.place == y.place && AreNamedAlike(a, b);
  }

  // Reserves the frame's place in its image. Returns false if a frame with another name has that
  // place.
  bool TakePlace(uint32_t index) {
    const PlacedCode& placed = layout_.frames[index];
    if (placed.image == PlacedCode::kNone) return true;
    const auto [known, is_new] = taken_.try_emplace({placed.image, placed.place.value}, index);
    return is_new || AreNamedAlike(known->second, index);
  }

  void AddToMapping(std::optional<uint32_t> last, uint32_t index) {
    PlacedCode& placed = layout_.frames[index];
    if (last) {
      const PlacedCode& before = layout_.frames[*last];
      if (before.image == placed.image &&
          before.address.value - before.place.value == placed.address.value - placed.place.value) {
        placed.mapping = before.mapping;
        return;
      }
      EndMapping(*last, placed.address.value);
    }
    if (placed.image == PlacedCode::kNone) return;
    placed.mapping = static_cast<uint32_t>(layout_.mappings.size());
    layout_.mappings.push_back(
        {placed.image, placed.address, 0,
         symbolize::IsInFile(SpecOf(placed).kind) ? placed.place.value : placed.address.value});
  }

  // Ends the mapping of frame `last`, the mapping's last frame: at the end of the page, or before
  // the next frame of other code.
  void EndMapping(uint32_t last, uint64_t next) {
    const PlacedCode& placed = layout_.frames[last];
    if (placed.mapping == PlacedCode::kNone) return;
    WrittenMapping& mapping = layout_.mappings[placed.mapping];
    const uint64_t end = std::min((placed.address.value / kPage + 1) * kPage - 1, next - 1);
    mapping.size = std::max(end, placed.address.value) - mapping.start.value + 1;
  }

  void MapWhatMoves(bool in_kernel) {
    const auto image_of = [&](uint32_t index) { return layout_.frames[index].image; };
    std::stable_sort(moving_.begin(), moving_.end(),
                     [&](uint32_t a, uint32_t b) { return image_of(a) < image_of(b); });
    uint64_t next = FirstFreeAddress(in_kernel);
    for (size_t i = 0; i < moving_.size(); ++i) {
      PlacedCode& placed = layout_.frames[moving_[i]];
      const bool is_first = i == 0 || image_of(moving_[i - 1]) != placed.image;
      if (is_first) next = (next + kPage - 1) / kPage * kPage;
      Move(next, is_first, placed);
      next += kMovedCodeStep;
    }
  }

  // Returns the first address after all code that keeps its address. An imported profile may
  // contain moved code already; new moved code must follow it.
  uint64_t FirstFreeAddress(bool in_kernel) const {
    const uint64_t begin = in_kernel ? kMovedKernelCode : kMovedUserCode;
    uint64_t first = begin;
    const auto pass = [&](uint64_t end) {
      if (end - begin < begin >> 4) first = std::max(first, end);
    };
    for (const WrittenMapping& mapping : layout_.mappings) {
      if (layout_.images[mapping.image].in_kernel != in_kernel) continue;
      pass(mapping.start.value + mapping.size);
      pass(mapping.page_offset + mapping.size);
    }
    return first;
  }

  void Move(uint64_t address, bool is_first, PlacedCode& placed) {
    placed.address = RuntimeAddress{address};
    placed.place = placed.address;
    if (placed.image == PlacedCode::kNone) return;
    const ImageKind kind = SpecOf(placed).kind;
    if (is_first) {
      const uint64_t offset = kind == ImageKind::kVdso ? 0 : address;
      layout_.mappings.push_back({placed.image, placed.address, 0, offset});
    }
    WrittenMapping& mapping = layout_.mappings.back();
    placed.mapping = static_cast<uint32_t>(layout_.mappings.size() - 1);
    mapping.size = address + kMovedCodeStep - mapping.start.value;
    if (symbolize::IsInFile(kind)) {
      placed.place = FileOffset{mapping.page_offset + (address - mapping.start.value)};
    }
  }

  const Profile& profile_;
  CodeLayout layout_;
  std::map<std::pair<profile::ImageId, bool>, uint32_t> written_image_of_;
  std::map<std::tuple<bool, std::string, std::vector<std::byte>, uint32_t>, uint32_t> images_;
  // The frame that has each pair of image and place.
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> taken_;
  std::vector<uint32_t> moving_;
};

}  // namespace

CodeLayout LayOut(const Profile& profile) { return Layout(profile).Make(); }

}  // namespace profiler::importers
