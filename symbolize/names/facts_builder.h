// Collects facts about single addresses into NameFacts, for a recording or the cache.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "symbolize/address_facts.h"
#include "symbolize/names/name_facts.h"

namespace profiler::symbolize {

// A collection of facts that grows. Facts may be added in any order and repeatedly: the result is
// sorted and has each symbol and each inlined call once. Images without addresses or code are left
// out. Not thread-safe.
class NameFactsBuilder {
 public:
  // Adds an image. `id` is the caller's number for the image, small and dense. Call AddImage before
  // anything else of the image is added, and again for each process that asks for the image
  // (`spec.pid`).
  void AddImage(ImageId id, const ImageSpec& spec);

  void AddAddress(ImageId id, CodePlace place, const AddressFacts& facts);
  void AddInstruction(ImageId id, ElfAddress address, const AddressFacts& facts);
  void AddPiece(ImageId id, ElfAddress address, const CodeBytes& code);
  // Sets the code in a dump. Only code that contains an added address is kept. `codes` must live
  // until Take.
  void SetCodes(ImageId id, std::span<const JitCode> codes);

  // Returns the result. Call it once, after all facts were added. The arguments become the members
  // of NameFacts with these names.
  NameFacts Take(bool has_lines, bool is_complete);

 private:
  struct Growing {
    NameFacts::Image image;
    std::vector<uint32_t> pids;  // processes that asked for the image
    std::span<const JitCode> codes;
    // Indices in image.symbols, keyed by start and name of the symbol.
    absl::flat_hash_map<std::pair<uint64_t, StringId>, uint32_t> symbols;
    absl::flat_hash_map<std::tuple<StringId, uint32_t, StringId, uint32_t>, uint32_t> inlined;
  };
  using Path = std::tuple<ImageKind, std::string, std::vector<std::byte>>;

  Growing& At(ImageId id) { return *images_[static_cast<size_t>(id)]; }
  template <class Where>
  NameFacts::Entry<Where> EntryAt(Growing& growing, Where at, const AddressFacts& facts);
  uint32_t AddSymbol(Growing& growing, const AddressFacts::Function& function);
  uint32_t AddInlined(Growing& growing, const AddressFacts& facts);
  void TellApartByProcess();

  NameFacts facts_;
  std::vector<std::unique_ptr<Growing>> images_;  // [ImageId]; null: not added
  std::map<Path, std::vector<ImageId>> by_path_;
};

}  // namespace profiler::symbolize
