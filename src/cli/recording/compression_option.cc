#include "src/cli/recording/compression_option.h"

#include <charconv>

#include "absl/strings/str_cat.h"

namespace profiler::cli {
namespace {

constexpr int kDefaultLevel = 1;
constexpr int kHighestLevel = 22;

}  // namespace

void CompressionOption::AddTo(usage::Command& command, const std::string& description) {
  option_ = command.AddOption("-z,--compression-level", text_, description)
                .ValueName("LEVEL")
                .ValueMayBeMissing();
}

absl::StatusOr<int> CompressionOption::Level(std::vector<std::string>& words) const {
  if (!given()) return 0;
  if (text_.empty()) return kDefaultLevel;
  const char* const end = text_.data() + text_.size();
  int level = 0;
  const auto [stop, error] = std::from_chars(text_.data(), end, level);
  if (stop == text_.data()) {
    words.insert(words.begin(), text_);
    return kDefaultLevel;
  }
  if (error != std::errc() || stop != end || level < 1 || level > kHighestLevel) {
    return absl::InvalidArgumentError(
        absl::StrCat("-z: '", text_, "' is not a compression level; give 1 to ", kHighestLevel));
  }
  return level;
}

}  // namespace profiler::cli
