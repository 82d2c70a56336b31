#include "src/importers/memory_map.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/importers/text_lines.h"

namespace profiler::importers {
namespace {

// Removes the hexadecimal number at the beginning of `rest` and returns it.
std::optional<uint64_t> TakeHex(std::string_view& rest) {
  uint64_t number = 0;
  const auto [stop, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number, 16);
  if (error != std::errc()) return std::nullopt;
  rest.remove_prefix(static_cast<size_t>(stop - rest.data()));
  return number;
}

std::string_view TakeField(std::string_view& rest) {
  rest = Trimmed(rest);
  const size_t end = std::min(rest.find_first_of(" \t"), rest.size());
  const std::string_view field = rest.substr(0, end);
  rest.remove_prefix(end);
  return field;
}

}  // namespace

MemoryMap::MemoryMap(std::string_view text) {
  TextLines lines(text);
  std::string_view line;
  while (lines.Next(&line)) AddLine(Trimmed(line));
  std::stable_sort(mappings_.begin(), mappings_.end(),
                   [](const Mapping& a, const Mapping& b) { return a.start < b.start; });
}

void MemoryMap::AddLine(std::string_view line) {
  std::string_view rest = line;
  Mapping mapping;
  const auto start = TakeHex(rest);
  if (!start || !rest.starts_with('-')) {
    const size_t equals = line.find('=');
    if (equals != std::string_view::npos && equals != 0) {
      attributes_.emplace_back(absl::StrCat("$", View(line.substr(0, equals))),
                               line.substr(equals + 1));
    }
    return;
  }
  rest.remove_prefix(1);
  const auto limit = TakeHex(rest);
  if (!limit || *limit <= *start) return;
  mapping.start = *start;
  mapping.limit = *limit;
  if (rest.starts_with(':')) {
    rest.remove_prefix(1);
  } else {
    if (TakeField(rest).find('x') == std::string_view::npos) return;
    std::string_view offset = TakeField(rest);
    mapping.offset = TakeHex(offset).value_or(0);
    (void)TakeField(rest);  // device
    (void)TakeField(rest);  // inode
  }
  mapping.path = WithAttributes(Trimmed(rest));
  mappings_.push_back(std::move(mapping));
}

std::string MemoryMap::WithAttributes(std::string_view path) const {
  for (const auto& [name, value] : attributes_) {
    if (path.starts_with(name)) return absl::StrCat(value, View(path.substr(name.size())));
  }
  return std::string(path);
}

profile::FrameId MemoryMap::Frame(uint64_t address, std::span<const FunctionLine> functions,
                                  ProfileMaker& maker) const {
  CodeSpec code{.functions = functions, .address = address};
  const auto after = std::upper_bound(
      mappings_.begin(), mappings_.end(), address,
      [](uint64_t value, const Mapping& mapping) { return value < mapping.start; });
  if (after != mappings_.begin() && address < std::prev(after)->limit) {
    const Mapping& mapping = *std::prev(after);
    code.image = maker.UserImage(mapping.path, std::nullopt);
    code.file_offset = address - mapping.start + mapping.offset;
  }
  return maker.Frame(code);
}

std::string_view MemoryMap::program() const {
  const std::string_view name =
      mappings_.empty() ? std::string_view() : BaseName(mappings_.front().path);
  return name.empty() ? "[unknown]" : name;
}

}  // namespace profiler::importers
