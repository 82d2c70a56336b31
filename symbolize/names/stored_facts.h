// Looks up facts that a recording or the cache stored.

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

// The facts of one image. `facts` must outlive this object. Not thread-safe.
class StoredImage {
 public:
  StoredImage(const NameFacts& facts, const NameFacts::Image& image)
      : strings_(facts.strings), image_(image) {}

  const NameFacts::Image& image() const { return image_; }

  // Return the facts about an address; empty if it was not looked up when facts were collected.
  std::optional<AddressFacts> Find(CodePlace place);
  std::optional<AddressFacts> FindAt(ElfAddress address);
  // Returns code, like ImageContents::CodeAt.
  CodeBytes CodeAt(ElfAddress address, uint64_t size) const;

 private:
  template <class Where>
  std::optional<AddressFacts> Read(const std::vector<NameFacts::Entry<Where>>& entries, Where at,
                                   size_t& last);
  std::optional<AddressFacts::Function> FunctionOf(uint32_t symbol) const;

  const StringTable& strings_;
  const NameFacts::Image& image_;
  // Indices in the image's addresses and instructions of the entries that were found last.
  size_t last_address_ = 0, last_instruction_ = 0;
  std::vector<AddressFacts::Inlined> inlined_;
};

// The facts of several images. Cannot move, because images refer to it. Not thread-safe.
class StoredFacts {
 public:
  explicit StoredFacts(NameFacts facts);
  StoredFacts(const StoredFacts&) = delete;
  StoredFacts& operator=(const StoredFacts&) = delete;

  // Returns the facts of the image as its process sees it; null: none.
  StoredImage* Find(const ImageSpec& spec);
  bool is_complete() const { return facts_.is_complete; }

 private:
  using Key = std::tuple<ImageKind, std::string, std::vector<std::byte>, uint32_t>;

  const NameFacts facts_;
  std::deque<StoredImage> images_;
  std::map<Key, StoredImage*> by_key_;
};

}  // namespace profiler::symbolize
