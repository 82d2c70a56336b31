// Facts that were found before, by a recording or the cache, ready to be asked.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "symbolize/address_facts.h"
#include "symbolize/names/name_facts.h"

namespace profiler::symbolize {

// One image's facts. `facts` must outlive it; not thread-safe.
class StoredImage {
 public:
  StoredImage(const NameFacts& facts, const NameFacts::Image& image)
      : strings_(facts.strings), image_(image) {}

  const NameFacts::Image& image() const { return image_; }

  // Nothing for addresses that were not looked up when the facts were found.
  std::optional<AddressFacts> Find(CodePlace place);
  std::optional<AddressFacts> FindAt(ElfAddress address);
  // As Images::CodeAt.
  CodeBytes CodeAt(ElfAddress address, uint64_t size) const;

 private:
  template <class Where>
  std::optional<AddressFacts> Read(const std::vector<NameFacts::Entry<Where>>& entries, Where at,
                                   size_t& last);
  std::optional<AddressFacts::Function> FunctionOf(uint32_t symbol) const;

  const StringTable& strings_;
  const NameFacts::Image& image_;
  // Of the addresses and the instructions: the one that was found last.
  size_t last_address_ = 0, last_instruction_ = 0;
  std::vector<AddressFacts::Inlined> inlined_;
};

// A set of images. Not thread-safe; it stays where it is, for the images refer to it.
class StoredFacts {
 public:
  explicit StoredFacts(NameFacts facts);
  StoredFacts(const StoredFacts&) = delete;
  StoredFacts& operator=(const StoredFacts&) = delete;

  // The facts of that image, as its process sees it. Null: there are none.
  StoredImage* Find(const ImageSpec& spec);
  bool is_complete() const { return facts_.is_complete; }

 private:
  using Key = std::tuple<ImageKind, std::string, std::vector<std::byte>, uint32_t>;

  const NameFacts facts_;
  std::deque<StoredImage> images_;
  std::map<Key, StoredImage*> by_key_;
};

}  // namespace profiler::symbolize
