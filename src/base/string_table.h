// Strings with dense ids: each distinct string is stored once and is compared by its id.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace profiler {

// The number of a string in its table. The empty string always has the number 0.
enum class StringId : uint32_t { kEmpty = 0 };

// A set of strings. Not thread-safe. Views stay valid as long as the table, also after it is moved.
class StringTable {
 public:
  StringTable() { Intern(""); }
  StringTable(StringTable&&) noexcept = default;
  StringTable& operator=(StringTable&&) noexcept = default;

  StringId Intern(std::string_view text) {
    auto it = ids_.find(absl::string_view(text.data(), text.size()));
    if (it != ids_.end()) return it->second;
    const std::string& stored = storage_.emplace_back(text);
    const StringId id{static_cast<uint32_t>(views_.size())};
    views_.push_back(stored);
    ids_.emplace(absl::string_view(stored), id);
    return id;
  }

  std::string_view operator[](StringId id) const { return views_[static_cast<uint32_t>(id)]; }
  size_t size() const { return views_.size(); }

 private:
  std::deque<std::string> storage_;  // a deque never moves its strings, so views stay valid
  std::vector<std::string_view> views_;
  absl::flat_hash_map<absl::string_view, StringId> ids_;
};

}  // namespace profiler
