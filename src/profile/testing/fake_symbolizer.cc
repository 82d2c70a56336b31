#include "src/profile/testing/fake_symbolizer.h"

#include "absl/strings/str_format.h"

namespace profiler::profile {

using symbolize::ImageSpec;
using symbolize::Naming;

symbolize::ImageId FakeSymbolizer::AddImage(const ImageSpec& spec) {
  images_.push_back(spec);
  return symbolize::ImageId(static_cast<uint32_t>(images_.size() - 1));
}

Naming FakeSymbolizer::Name(symbolize::ImageId id, CodePlace place) {
  const ImageSpec& spec = image(id);
  asked_.push_back(absl::StrFormat("%s @%#x", spec.path, place.value));
  if (spec.path == lost_) return {symbolize::Reason::kNoImageFile, {}};
  if (spec.path == linked_) {
    return {.reason = symbolize::Reason::kNoSymbol,
            .address = ElfAddress{place.value + link_bias_}};
  }
  found_.clear();
  const auto after = kernel_symbols_.upper_bound(place.value);
  if (after != kernel_symbols_.begin()) {
    const auto& [start, symbol] = *std::prev(after);
    if (place.value - start < symbol.first) {
      found_.push_back({.name = symbol.second, .start = {start}, .size = symbol.first});
      return {.reason = symbolize::Reason::kNamed,
              .functions = found_,
              .distance = place.value - start};
    }
  }
  const uint64_t start = place.value & ~uint64_t{0xff};
  if (spec.path == stripped_) {
    return {.reason = symbolize::Reason::kNoSymbol,
            .distance = place.value - start,
            .unnamed_start = {start},
            .unnamed_size = 0x100};
  }
  const std::string base = spec.path.substr(spec.path.rfind('/') + 1);
  const auto function = [&](std::string_view prefix, bool inlined) {
    const std::string& name = names_.emplace_back(absl::StrFormat("%s%s+%#x", prefix, base, start));
    found_.push_back({.name = name, .start = {start}, .size = 0x100, .inlined = inlined});
  };
  if (spec.path == inlining_) function("in:", true);
  function("", false);
  return {symbolize::Reason::kNamed, found_};
}

absl::StatusOr<std::span<const symbolize::JitCode>> FakeSymbolizer::JitCodes(
    symbolize::ImageId dump) {
  const bool is_dump = image(dump).path.ends_with(".dump");
  if (!jit_codes_ || !is_dump)
    return absl::NotFoundError(image(dump).path + ": No such file or directory");
  return *jit_codes_;
}

void FakeSymbolizer::AddKernelSymbol(RuntimeAddress start, uint64_t size, std::string_view name) {
  kernel_symbols_[start.value] = {size, std::string(name)};
}

void FakeSymbolizer::SetKernelReference(std::string_view symbol, RuntimeAddress address) {
  kernel_reference_ = absl::StrFormat("%s @%#x", symbol, address.value);
}

}  // namespace profiler::profile
