// A symbolizer that reports how many addresses were named.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "symbolize/symbolizer.h"

namespace profiler::naming {

// Passes all calls on to another symbolizer, which must outlive this object. Calls `on_named` with
// the number of named addresses after every 64th. Most are cheap, but the first one of an image
// reads its symbols.
class WatchedNames final : public symbolize::Symbolizer {
 public:
  WatchedNames(symbolize::Symbolizer& names, std::function<void(size_t named)> on_named)
      : names_(names), on_named_(std::move(on_named)) {}

  symbolize::ImageId AddImage(const symbolize::ImageSpec& spec) override {
    return names_.AddImage(spec);
  }
  const symbolize::ImageSpec& image(symbolize::ImageId id) const override {
    return names_.image(id);
  }
  void SetLife(uint32_t process, const symbolize::ProcessLife& life) override {
    names_.SetLife(process, life);
  }
  void SetKernelReference(std::string_view symbol, RuntimeAddress address) override {
    names_.SetKernelReference(symbol, address);
  }
  void AddKernelSymbol(RuntimeAddress start, uint64_t size, std::string_view name) override {
    names_.AddKernelSymbol(start, size, name);
  }
  absl::StatusOr<std::span<const symbolize::JitCode>> JitCodes(symbolize::ImageId dump) override {
    return names_.JitCodes(dump);
  }
  symbolize::CodeBytes CodeAt(symbolize::ImageId id, ElfAddress address, uint64_t size) override {
    return names_.CodeAt(id, address, size);
  }
  std::vector<std::string> TakeWarnings() override { return names_.TakeWarnings(); }
  void WillName(symbolize::ImageId id, std::span<const CodePlace> places) override {
    names_.WillName(id, places);
    on_named_(named_);
  }
  symbolize::Naming Name(symbolize::ImageId id, CodePlace place) override {
    constexpr size_t kEvery = 64;
    if (++named_ % kEvery == 0) on_named_(named_);
    return names_.Name(id, place);
  }
  symbolize::Naming NameAt(symbolize::ImageId id, ElfAddress address) override {
    return names_.NameAt(id, address);
  }
  bool IsSourceOf(symbolize::ImageId id, ElfAddress address, std::string_view source) override {
    return names_.IsSourceOf(id, address, source);
  }

 private:
  symbolize::Symbolizer& names_;
  const std::function<void(size_t)> on_named_;
  size_t named_ = 0;
};

}  // namespace profiler::naming
