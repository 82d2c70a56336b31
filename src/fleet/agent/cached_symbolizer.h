// Names for successive windows; names that cannot change are looked up once.
//
//   files with a build-id, the kernel, its modules,   ──▶ lasting store    until Renew
//   the vdso, BPF
//   files without a build-id, code of JITs            ──▶ passing store    of one window
//
// A file with a build-id always has the same names. Ten seconds later, however, a JIT may have
// compiled other code, a path without a build-id may hold another file, and a process id may belong
// to another process.

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
  // Makes a source of facts from files: naming::FactsOfFiles.
  using MakeFacts = std::function<std::unique_ptr<symbolize::FactSource>()>;

  CachedSymbolizer(MakeFacts make_facts, const symbolize::PresentOptions& options);

  // Ends the current window: its image ids and all views that it handed out become invalid.
  void BeginWindow();
  // Like BeginWindow, and also drops the lasting store, so that its memory is freed, and that of
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
  // An image of this window: its store and its id there.
  struct Place {
    symbolize::NameStore* store;
    symbolize::ImageId id;
  };

  std::unique_ptr<symbolize::NameStore> MakeStore() const;
  const Place& At(symbolize::ImageId id) const { return places_[static_cast<uint32_t>(id)]; }

  // Returns true if the kernel did not have a function of that name and size there before.
  bool Learn(uint64_t start, uint64_t size, std::string_view name);

  const MakeFacts make_facts_;
  const symbolize::PresentOptions options_;
  std::unique_ptr<symbolize::NameStore> lasting_, passing_;
  // Facts about the kernel that the lasting store has; each window reports them again.
  struct Function {
    uint64_t size = 0;
    std::string name;
  };
  std::map<uint64_t, Function> kernel_functions_;  // by start address; they do not overlap
  std::string kernel_reference_;
  RuntimeAddress kernel_reference_address_;
  std::vector<Place> places_;
  std::vector<symbolize::ImageId> of_lasting_, of_passing_;  // indexed by the stores' own ids
};

}  // namespace profiler::agent
