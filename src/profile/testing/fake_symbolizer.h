// A symbolizer for tests. It makes the name of a function from the requested file and offset: file
// offset 0x1234 of /lib/libc.so is in the function "libc.so+0x1200", which begins at 0x1200 and is
// 0x100 bytes long.

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "symbolize/symbolizer.h"

namespace profiler::profile {

class FakeSymbolizer : public symbolize::Symbolizer {
 public:
  symbolize::ImageId AddImage(const symbolize::ImageSpec& spec) override;
  const symbolize::ImageSpec& image(symbolize::ImageId id) const override {
    return images_[static_cast<uint32_t>(id)];
  }
  symbolize::Naming Name(symbolize::ImageId image, CodePlace place) override;
  symbolize::Naming NameAt(symbolize::ImageId image, ElfAddress address) override {
    return Name(image, FileOffset{address.value});
  }
  std::vector<std::string> TakeWarnings() override { return std::exchange(warnings_, {}); }
  absl::StatusOr<std::span<const symbolize::JitCode>> JitCodes(symbolize::ImageId dump) override;
  void AddKernelSymbol(RuntimeAddress start, uint64_t size, std::string_view name) override;

  void SetKernelReference(std::string_view symbol, RuntimeAddress address) override;

  // Returns "symbol @address" of the last SetKernelReference.
  const std::string& kernel_reference() const { return kernel_reference_; }

  // Makes images with this path have no file (LoseImage), or an inlined call everywhere (InlineIn).
  void LoseImage(std::string_view path) { lost_ = path; }
  void InlineIn(std::string_view path) { inlining_ = path; }
  // Makes the image have no symbols; only the starts of its functions are known.
  void Strip(std::string_view path) { stripped_ = path; }

  // Makes the image have no functions; its own addresses are the offsets plus `bias`.
  void LinkAt(uint64_t bias, std::string_view path) {
    link_bias_ = bias;
    linked_ = path;
  }

  // Sets the contents of all dumps; without them there are none.
  void SetWarnings(std::vector<std::string> warnings) { warnings_ = std::move(warnings); }
  void SetJitCodes(std::vector<symbolize::JitCode> codes) { jit_codes_ = std::move(codes); }

  // Returns "path @offset" of each call of Name, in order.
  const std::vector<std::string>& asked() const { return asked_; }
  const std::deque<symbolize::ImageSpec>& images() const { return images_; }

 private:
  std::deque<symbolize::ImageSpec> images_;
  // Size and name of each symbol, keyed by its start.
  std::map<uint64_t, std::pair<uint64_t, std::string>> kernel_symbols_;
  std::deque<std::string> names_;
  std::vector<symbolize::NamedFunction> found_;
  std::vector<std::string> asked_;
  std::optional<std::vector<symbolize::JitCode>> jit_codes_;
  uint64_t link_bias_ = 0;
  std::string linked_, lost_, inlining_, stripped_, kernel_reference_;
  std::vector<std::string> warnings_;
};

}  // namespace profiler::profile
