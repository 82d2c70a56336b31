// Names for one window after the other, looked up once as far as they stay what they are.
//
//   files with a build-id, the kernel, its modules,   ──▶ lasting store    until Renew
//   the vdso, BPF
//   files without one, code of JITs                   ──▶ passing store    of one window
//
// A file of one build-id has the same names whenever it is asked. What a JIT has compiled by now,
// and what is at a path that has no build-id, may be something else ten seconds later, and a
// process's number another process's.

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

// Not thread-safe.
class LastingNames final : public symbolize::Symbolizer {
 public:
  // Makes facts from files: naming::FactsOfFiles.
  using MakeFacts = std::function<std::unique_ptr<symbolize::FactSource>()>;

  LastingNames(MakeFacts make_facts, const symbolize::PresentOptions& options);

  // The ids of images, and all views that were handed out, are of the window that ends.
  void BeginWindow();
  // The same, and nothing is known any more: what was read, and the processes that have read it,
  // give their memory back.
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
  // An image of this window, in the store that it belongs to.
  struct Place {
    symbolize::NameStore* store;
    symbolize::ImageId id;
  };

  std::unique_ptr<symbolize::NameStore> MakeStore() const;
  const Place& At(symbolize::ImageId id) const { return places_[static_cast<uint32_t>(id)]; }

  // Whether it is news that the kernel has a function of that name there.
  bool Learn(uint64_t start, uint64_t size, std::string_view name);

  const MakeFacts make_facts_;
  const symbolize::PresentOptions options_;
  std::unique_ptr<symbolize::NameStore> lasting_, passing_;
  // What the lasting store was told of the kernel: each window tells it again.
  struct Function {
    uint64_t size = 0;
    std::string name;
  };
  std::map<uint64_t, Function> kernel_functions_;  // by start; none overlaps another
  std::string kernel_reference_;
  RuntimeAddress kernel_reference_address_;
  std::vector<Place> places_;
  std::vector<symbolize::ImageId> of_lasting_, of_passing_;  // by the stores' own ids
};

}  // namespace profiler::agent
