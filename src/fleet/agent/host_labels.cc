#include "src/fleet/agent/host_labels.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/fleet/segments/selection.h"
#include "src/machine/procfs/proc_file.h"

namespace profiler::agent {
namespace {

constexpr size_t kMostLabelBytes = 1024;

bool IsOfAKey(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-' || c == '/';
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

absl::Status Wrong(std::string_view text, std::string_view why) {
  std::string shown;
  AppendPrintable(text, shown);
  return absl::InvalidArgumentError(
      absl::StrCat("label '", shown, "': ", View(why), "; write KEY=VALUE, such as region=eu"));
}

}  // namespace

absl::Status AddLabel(std::string_view text, HostLabels& labels) {
  if (text.size() > kMostLabelBytes) {
    return Wrong(text.substr(0, 40), "is longer than 1024 bytes");
  }
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return Wrong(text, "has no =");
  const std::string_view key = Trimmed(text.substr(0, equals));
  const std::string_view value = Trimmed(text.substr(equals + 1));
  if (key.empty()) return Wrong(text, "has no key");
  if (!std::ranges::all_of(key, IsOfAKey)) {
    return Wrong(text, "a key may contain letters, digits and . _ - /");
  }
  if (std::ranges::any_of(value, [](char c) {
        return IsControl(static_cast<unsigned char>(c)) && static_cast<unsigned char>(c) < 0x80;
      })) {
    return Wrong(text, "has control characters");
  }
  const auto field = fleet::ParseField(key);
  if (!field.ok() || field->field != fleet::Field::kLabel) {
    return Wrong(text, "each sample already has a field of this name");
  }
  const auto at = std::ranges::lower_bound(
      labels, key, {}, [](const auto& label) { return std::string_view(label.first); });
  if (at != labels.end() && at->first == key) {
    at->second = std::string(value);
  } else {
    labels.insert(at, {std::string(key), std::string(value)});
  }
  return absl::OkStatus();
}

absl::Status AddLabelsOf(const std::string& path, HostLabels& labels) {
  std::string text;
  PROFILER_RETURN_IF_ERROR(procfs::ReadNamedFile(path, &text));
  procfs::TextScanner lines(text);
  for (int number = 1; !lines.done(); ++number) {
    const std::string_view line = Trimmed(lines.Until('\n'));
    if (line.empty() || line.front() == '#') continue;
    if (const absl::Status added = AddLabel(line, labels); !added.ok()) {
      return Prefixed(absl::StrCat(path, ":", number, ": "), added);
    }
  }
  return absl::OkStatus();
}

}  // namespace profiler::agent
