// Labels of frames in a view, as dense ids: each distinct label is stored once. After SortByName,
// the ids are in the order of the names. Then sorting by id equals sorting by name, and the result
// does not depend on the order of the profile's tables.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/profile/profile.h"

namespace profiler::exports {

using LabelId = uint32_t;
inline constexpr LabelId kNoLabel = 0xffffffff;

// The kind of code of a label; flame graphs use it for colours.
enum class CodeKind : uint8_t { kProcess, kUser, kInlined, kJit, kKernel, kUnnamed, kOffCpu };
inline constexpr size_t kCodeKinds = 7;

struct Label {
  std::string name;
  std::string image;  // the image, if it distinguishes labels and is shown; otherwise empty
  CodeKind kind = CodeKind::kUser;
  bool operator==(const Label&) const = default;
};

class LabelTable {
 public:
  // Returns the id of a label; equal labels have equal ids. Ids change once, in SortByName().
  LabelId Intern(Label label);

  // Renumbers the labels in byte order of (name, image, kind). Returns the new ids, indexed by old
  // id.
  std::vector<LabelId> SortByName();

  const Label& operator[](LabelId id) const { return labels_[id]; }
  size_t size() const { return labels_.size(); }

 private:
  std::vector<Label> labels_;
  absl::flat_hash_map<std::string, LabelId> ids_;  // key: name, image and kind in one string
};

// The labels of each frame of a profile. A frame's labels go from its outermost function to its
// innermost one. A frame without labels is left out of the view.
class FrameLabels {
 public:
  // Adds a label to the current frame. Frames are added in the order of their ids.
  void Append(LabelId label) { labels_.push_back(label); }
  void EndFrame() { ends_.push_back(static_cast<uint32_t>(labels_.size())); }

  std::span<const LabelId> operator[](profile::FrameId frame) const {
    const auto index = static_cast<uint32_t>(frame);
    const uint32_t begin = index == 0 ? 0 : ends_[index - 1];
    return std::span(labels_).subspan(begin, ends_[index] - begin);
  }

  void Renumber(std::span<const LabelId> new_ids) {
    for (LabelId& label : labels_) label = new_ids[label];
  }

 private:
  std::vector<LabelId> labels_;
  std::vector<uint32_t> ends_;
};

// Returns the kind of code in `image` that ran in `mode`.
CodeKind KindOf(const profile::Image& image, profile::Mode mode);

// Returns the image's path as perf script prints it, or its name if it has no path;
// "[kernel.kallsyms]" for the kernel. Valid as long as the profile.
std::string_view ImageName(const profile::Profile& profile, const profile::Image& image);

}  // namespace profiler::exports
