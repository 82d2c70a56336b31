#include "src/views/flamegraph/labels.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "absl/strings/str_cat.h"

namespace profiler::exports {

using profile::Mode;
using symbolize::ImageKind;

LabelId LabelTable::Intern(Label label) {
  // The length keeps ("ab", "c") and ("a", "bc") apart.
  std::string key =
      absl::StrCat(label.name.size(), ":", label.name, label.image, static_cast<int>(label.kind));
  auto [it, added] = ids_.try_emplace(std::move(key), static_cast<LabelId>(labels_.size()));
  if (added) labels_.push_back(std::move(label));
  return it->second;
}

std::vector<LabelId> LabelTable::SortByName() {
  std::vector<LabelId> order(labels_.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [this](LabelId a, LabelId b) {
    const Label& x = labels_[a];
    const Label& y = labels_[b];
    return std::tie(x.name, x.image, x.kind) < std::tie(y.name, y.image, y.kind);
  });
  std::vector<LabelId> new_ids(labels_.size());
  std::vector<Label> sorted;
  sorted.reserve(labels_.size());
  for (LabelId old : order) {
    new_ids[old] = static_cast<LabelId>(sorted.size());
    sorted.push_back(std::move(labels_[old]));
  }
  labels_ = std::move(sorted);
  for (auto& [key, id] : ids_) id = new_ids[id];
  return new_ids;
}

CodeKind KindOf(const profile::Image& image, Mode mode) {
  if (mode == Mode::kKernel || mode == Mode::kGuestKernel || mode == Mode::kHypervisor) {
    return CodeKind::kKernel;
  }
  switch (image.kind) {
    case ImageKind::kKernel:
    case ImageKind::kModule:
    case ImageKind::kBpf:
      return CodeKind::kKernel;
    case ImageKind::kJit:
    case ImageKind::kJitDump:
      return CodeKind::kJit;
    case ImageKind::kNoCode:
      return CodeKind::kOffCpu;
    default:
      return CodeKind::kUser;
  }
}

std::string_view ImageName(const profile::Profile& profile, const profile::Image& image) {
  const bool in_kernel = image.kind == ImageKind::kKernel || image.kind == ImageKind::kModule ||
                         image.kind == ImageKind::kBpf;
  const std::string_view path = profile.text(image.long_name);
  return in_kernel || path.empty() ? profile.text(image.name) : path;
}

}  // namespace profiler::exports
