// Facts of the recorded kernel and its modules: from kallsyms, from symbol lists in perf's cache,
// from vmlinux, and from the functions that the kernel announced while it was recorded.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "symbolize/files/debug_lines.h"
#include "symbolize/files/facts_context.h"
#include "symbolize/image_file.h"
#include "symbolize/symbols/kernel_symbols.h"
#include "symbolize/symbols/symbol_table.h"

namespace profiler::symbolize {

class KernelFacts;

// The kernel, or one module.
class KernelImage {
 public:
  // Finds symbols for `spec`, whose kind is kKernel or kModule, and opens vmlinux for the kernel.
  // `kernel` must outlive this object.
  KernelImage(const ImageSpec& spec, KernelFacts& kernel, FactsContext& context);
  KernelImage(const KernelImage&) = delete;

  AddressFacts Find(RuntimeAddress address);
  // Returns code of vmlinux, which lacks the patches that the running kernel applied to itself.
  CodeBytes CodeAt(RuntimeAddress address, uint64_t size) const;
  // True if all facts come from a file that root or the user owns.
  bool is_trusted() const { return file_ && file_->file.IsOfUserOrRoot(); }

 private:
  void NameByKallsyms(const KernelSymbols& kallsyms, const ImageSpec& spec, KernelFacts& kernel);
  void OpenVmlinuxOf(const ImageSpec& spec, KernelFacts& kernel);

  FactsContext& context_;
  Reason reason_;                            // if not kNamed: the reason for all addresses
  const KernelSymbols* kallsyms_ = nullptr;  // symbols of the recorded kernel; null: none
  // Recorded addresses minus addresses in `kallsyms_`, modulo 2^64.
  uint64_t kallsyms_shift_ = 0;
  std::optional<ImageFile> file_;  // vmlinux
  // Recorded addresses minus addresses in `file_`.
  uint64_t bias_ = 0;
  SymbolTable symbols_;  // of vmlinux; used if there is no kallsyms
  bool is_named_by_vmlinux_ = false;
  DebugLines lines_;
};

// Facts about the recorded kernel that all its images share.
class KernelFacts {
 public:
  explicit KernelFacts(FactsContext& context) : context_(context) {}

  // Like RecordedFacts::SetKernelReference and RecordedFacts::AddKernelSymbol.
  void SetReference(std::string_view symbol, RuntimeAddress address);
  void AddSymbol(RuntimeAddress start, uint64_t size, std::string_view name);

  // Returns true if the running kernel is the recorded one. For kernels without a build-id.
  bool RunsRecordedKernel();

  // Returns the facts of an address in an announced function that nothing has replaced; empty for
  // other addresses.
  std::optional<AddressFacts> FindAnnounced(RuntimeAddress address) const;
  // Returns the facts of an address in the image `name` of kind kBpf. Uses the announced functions,
  // because kallsyms has only the functions that exist now.
  AddressFacts FindBpf(std::string_view name, RuntimeAddress address) const;

 private:
  friend class KernelImage;
  struct Function {
    uint64_t start;
    uint64_t size;
    std::string_view name;
  };

  // Return the symbols of the running kernel, and the first of them; null: unknown.
  const KernelSymbols* Running();
  const KernelSymbols* RunningStart();
  bool IsOfAnotherKernel(const ImageSpec& spec);
  bool IsOfRunningKernel(const ImageSpec& spec);
  Reason ReasonAgainstRunning(const ImageSpec& spec);
  const KernelSymbols* Cached(std::span<const std::byte> build_id);
  std::optional<uint64_t> ShiftOf(const KernelSymbols& kallsyms, const ImageSpec& spec) const;
  std::vector<std::byte> RunningBuildId(const ImageSpec& spec) const;

  FactsContext& context_;
  bool running_read_ = false;
  std::optional<KernelSymbols> running_;  // symbols of the running kernel
  bool start_read_ = false;
  std::optional<KernelSymbols> running_start_;  // the first of them
  std::string reference_;
  RuntimeAddress reference_address_;
  std::map<std::string, std::optional<KernelSymbols>> cached_;  // keyed by build-id
  std::map<uint64_t, Function> functions_;                      // keyed by start, disjoint
  // All functions ever announced, keyed by name. During a recording one function may replace
  // another at the same address. The name in the image says which of them a sample was in.
  absl::flat_hash_map<std::string_view, std::vector<Function>> announced_;
};

}  // namespace profiler::symbolize
