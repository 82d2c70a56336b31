#include "src/analysis/keyed_rows.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "src/base/text.h"

namespace profiler::analysis {
namespace {

using profile::Frame;
using profile::FrameId;
using profile::Line;
using profile::Profile;
using profile::Row;
using profile::StackId;

template <class Id>
uint32_t Index(Id id) {
  return static_cast<uint32_t>(id);
}

}  // namespace

class KeyedRows::Builder {
 public:
  Builder(KeyedRows& rows, KeyBy by) : rows_(rows), profile_(rows.profile_), by_(by) {
    first_of_frame_.assign(profile_.frames.size(), kNoKey);
  }

  void Build(profile::EventId event) {
    rows_.self_of_frame_.assign(by_ == KeyBy::kPath ? 0 : profile_.frames.size(), kNoKey);
    rows_.self_of_stack_.assign(by_ == KeyBy::kPath ? profile_.stacks.size() : 0, kNoKey);
    rows_.ranges_.resize(profile_.stacks.size());
    std::vector<uint8_t> seen(profile_.stacks.size());
    for (const Row& row : profile_.rows) {
      if (row.event != event) continue;
      if (by_ != KeyBy::kPath) {
        KeyId& self = rows_.self_of_frame_[Index(row.self)];
        if (self == kNoKey) self = KeysAt(row.self).back();
      }
      if (std::exchange(seen[Index(row.stack)], 1)) continue;
      AddStack(row.stack);
    }
  }

 private:
  // Returns the keys of a frame, the outermost function first.
  std::span<const KeyId> KeysAt(FrameId id) {
    uint32_t& first = first_of_frame_[Index(id)];
    if (first == kNoKey) {
      const std::vector<KeyId> keys = NewKeysAt(id);
      first = static_cast<uint32_t>(keys_of_frames_.size());
      keys_of_frames_.push_back(static_cast<KeyId>(keys.size()));
      keys_of_frames_.insert(keys_of_frames_.end(), keys.begin(), keys.end());
    }
    return std::span(keys_of_frames_).subspan(first + 1, keys_of_frames_[first]);
  }

  std::vector<KeyId> NewKeysAt(FrameId id) {
    const Frame& frame = profile_[id];
    const std::span<const Line> lines = profile_.LinesOf(frame);
    std::vector<KeyId> keys;
    for (size_t i = lines.size(); i-- > 0;) {
      if (lines[i].symbol == profile::kNoSymbol) continue;
      keys.push_back(Intern(NameOf(lines[i]), id));
    }
    if (keys.empty()) {
      const std::string_view image = profile_.text(profile_[frame.image].name);
      keys.push_back(Intern(
          image.starts_with('[') ? std::string(image) : absl::StrCat("[", View(image), "]"), id));
    }
    return keys;
  }

  std::string NameOf(const Line& line) const {
    const std::string_view function = profile_.text(profile_[line.symbol].name);
    if (by_ != KeyBy::kLine || line.file == StringId::kEmpty) return std::string(function);
    return absl::StrCat(View(BaseName(profile_.text(line.file))), ":", line.line);
  }

  KeyId Intern(std::string name, FrameId frame) {
    const auto [found, is_new] =
        by_name_.try_emplace(std::move(name), static_cast<KeyId>(by_name_.size()));
    // With paths, the names are those of parts, not of keys.
    if (is_new) {
      (by_ == KeyBy::kPath ? parts_ : rows_.names_).push_back(found->first);
      if (by_ != KeyBy::kPath) rows_.frames_.push_back(frame);
    }
    return found->second;
  }

  // Returns the key of `path` extended by `part`. `path` is kNoKey for an empty path.
  KeyId Longer(KeyId path, KeyId part, FrameId frame) {
    const auto [found, is_new] =
        paths_.try_emplace(std::pair(path, part), static_cast<KeyId>(rows_.names_.size()));
    if (is_new) {
      rows_.names_.push_back(path == kNoKey ? parts_[part]
                                            : absl::StrCat(rows_.names_[path], ";", parts_[part]));
      rows_.frames_.push_back(frame);
    }
    return found->second;
  }

  void AddStack(StackId leaf) {
    frames_.clear();
    for (StackId at = leaf; at != profile::kNoStack; at = profile_[at].parent) {
      frames_.push_back(profile_[at].frame);
    }
    Range& range = rows_.ranges_[Index(leaf)];
    range.first = static_cast<uint32_t>(rows_.keys_.size());
    KeyId path = kNoKey;
    for (size_t i = frames_.size(); i-- > 0;) {
      for (const KeyId key : KeysAt(frames_[i])) {
        if (by_ == KeyBy::kPath) path = Longer(path, key, frames_[i]);
        rows_.keys_.push_back(by_ == KeyBy::kPath ? path : key);
      }
    }
    if (by_ == KeyBy::kPath) rows_.self_of_stack_[Index(leaf)] = path;
    const auto begin = rows_.keys_.begin() + range.first;
    std::sort(begin, rows_.keys_.end());
    rows_.keys_.erase(std::unique(begin, rows_.keys_.end()), rows_.keys_.end());
    range.size = static_cast<uint32_t>(rows_.keys_.size()) - range.first;
  }

  KeyedRows& rows_;
  const Profile& profile_;
  const KeyBy by_;
  absl::flat_hash_map<std::string, KeyId> by_name_;
  std::vector<std::string> parts_;
  absl::flat_hash_map<std::pair<KeyId, KeyId>, KeyId> paths_;
  // [frame]: index in keys_of_frames_. From that index on, keys_of_frames_ has the number of the
  // frame's keys, and then the keys.
  std::vector<uint32_t> first_of_frame_;
  std::vector<KeyId> keys_of_frames_;
  std::vector<FrameId> frames_;  // frames of the present stack, leaf first
};

KeyedRows::KeyedRows(const Profile& profile, profile::EventId event, KeyBy by) : profile_(profile) {
  Builder(*this, by).Build(event);
}

KeyId KeyedRows::SelfOf(const Row& row) const {
  return self_of_stack_.empty() ? self_of_frame_[Index(row.self)]
                                : self_of_stack_[Index(row.stack)];
}

std::span<const KeyId> KeyedRows::AllOf(const Row& row) const {
  const Range range = ranges_[Index(row.stack)];
  return std::span(keys_).subspan(range.first, range.size);
}

}  // namespace profiler::analysis
