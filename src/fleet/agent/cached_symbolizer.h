// Finds names for successive windows. Names that cannot change are looked up only once.
//
//   files with a build-id, the kernel, its modules,   ──▶ lasting store    until Renew
//   the vdso, BPF
//   files without a build-id, code of JITs            ──▶ passing store    of one window
//
// A file with a build-id always has the same names. Other names may change between two windows: a
// JIT compiles other code, a path without a build-id holds another file, or a process id belongs to
// another process.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "symbolize/address_facts.h"
#include "symbolize/names/name_store.h"
#include "symbolize/symbolizer.h"

namespace profiler::agent {

// A symbolizer for one window after the other. Not thread-safe.
class CachedSymbolizer final : public symbolize::Symbolizer {
 public:
  // Makes a source of facts that reads files, such as naming::FactsOfFiles.
  using MakeFacts = std::function<std::unique_ptr<symbolize::FactSource>()>;

  CachedSymbolizer(MakeFacts make_facts, const symbolize::PresentOptions& options);

  // Ends the current window. The window's image ids, and all views that were returned during the
  // window, become invalid.
  void BeginWindow();
  // Like BeginWindow, but also drops the lasting store. This frees the memory of the store and of
  // the processes that read files for it.
  void Renew();

  symbolize::ImageId AddImage(const symbolize::ImageSpec& spec) override;
  const symbolize::ImageSpec& image(symbolize::ImageId id) const override;
  void WillName(symbolize::ImageId id, std::span<const CodePlace> places) override;
  symbolize::Naming Name(symbolize::ImageId id, CodePlace place) override;
  symbolize::Naming NameAt(symbolize::ImageId id, ElfAddress address) override;
  absl::StatusOr<std::span<const symbolize::JitCode>> JitCodes(symbolize::ImageId dump) override;
  std::vector<std::string> TakeWarnings() override;
  symbolize::CodeBytes CodeAt(symbolize::ImageId id, ElfAddress address, uint64_t size) override;
  void SetLife(uint32_t process, const symbolize::ProcessLife& life) override;
  void SetKernelReference(std::string_view symbol, RuntimeAddress address) override;
  void AddKernelSymbol(RuntimeAddress start, uint64_t size, std::string_view name) override;

 private:
  // An image of this window: the store that names it, and its id in that store.
  struct Place {
    symbolize::NameStore* store;
    symbolize::ImageId id;
  };

  std::unique_ptr<symbolize::NameStore> MakeStore() const;
  const Place& At(symbolize::ImageId id) const { return places_[static_cast<uint32_t>(id)]; }

  // Returns true if no function of that name and size was known at `start`.
  bool Learn(uint64_t start, uint64_t size, std::string_view name);

  const MakeFacts make_facts_;
  const symbolize::PresentOptions options_;
  std::unique_ptr<symbolize::NameStore> lasting_, passing_;
  // Facts about the kernel that the lasting store already has. Each window reports all facts again.
  struct Function {
    uint64_t size = 0;
    std::string name;
  };
  std::map<uint64_t, Function> kernel_functions_;  // keyed by start address; disjoint
  std::string kernel_reference_;
  RuntimeAddress kernel_reference_address_;
  std::vector<Place> places_;
  std::vector<symbolize::ImageId> of_lasting_, of_passing_;  // [id in the store]: id in the window
};

}  // namespace profiler::agent
