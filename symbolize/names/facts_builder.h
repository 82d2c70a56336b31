// Puts facts about single addresses together, for a recording to carry them or the cache to keep
// them.

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

// Not thread-safe. Everything may be added in any order, and twice: the result is sorted, and each
// symbol and each inlined call stands in it once. Images without addresses or code are left out.
class NameFactsBuilder {
 public:
  // `id` is the caller's number for the image, small and dense; to be called before anything of the
  // image is added, and again with each process that asks for the image (`spec.pid`).
  void AddImage(ImageId id, const ImageSpec& spec);

  void AddAddress(ImageId id, CodePlace place, const AddressFacts& facts);
  void AddInstruction(ImageId id, ElfAddress address, const AddressFacts& facts);
  void AddPiece(ImageId id, ElfAddress address, const CodeBytes& code);
  // What is in a dump; only those are kept that an address lies in. They must live until Take.
  void SetCodes(ImageId id, std::span<const JitCode> codes);

  // To be called once, last.
  NameFacts Take(bool has_lines, bool is_complete);

 private:
  struct Growing {
    NameFacts::Image image;
    std::vector<uint32_t> pids;  // that asked for it
    std::span<const JitCode> codes;
    absl::flat_hash_map<std::pair<uint64_t, StringId>, uint32_t> symbols;  // by start and name
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
  std::vector<std::unique_ptr<Growing>> images_;  // by ImageId; null: not added
  std::map<Path, std::vector<ImageId>> by_path_;
};

}  // namespace profiler::symbolize
