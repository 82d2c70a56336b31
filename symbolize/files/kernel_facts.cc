#include "symbolize/files/kernel_facts.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/build_id.h"
#include "src/base/text.h"
#include "symbolize/dwarf/sections.h"
#include "symbolize/files/code_machine_of.h"
#include "symbolize/files/vmlinux.h"
#include "symbolize/symbols/elf_symbols.h"
#include "symbolize/symbols/module_name.h"
#include "symbolize/symbols/text_file.h"

namespace profiler::symbolize {

KernelImage::KernelImage(const ImageSpec& spec, KernelFacts& kernel, FactsContext& context)
    : context_(context), reason_(kernel.ReasonAgainstRunning(spec)), lines_(context) {
  if (reason_ == Reason::kNamed) NameByKallsyms(*kernel.running_, spec, kernel);
  if (reason_ != Reason::kNamed) {
    const bool is_kernel = spec.kind == ImageKind::kKernel && !spec.build_id.empty();
    const KernelSymbols* const cached =
        kernel.Cached(is_kernel ? spec.build_id : context_.options.kernel_build_id);
    if (cached != nullptr) NameByKallsyms(*cached, spec, kernel);
  }
  if (spec.kind == ImageKind::kKernel) OpenVmlinuxOf(spec, kernel);
}

void KernelImage::NameByKallsyms(const KernelSymbols& kallsyms, const ImageSpec& spec,
                                 KernelFacts& kernel) {
  const std::optional<uint64_t> shift = kernel.ShiftOf(kallsyms, spec);
  reason_ = shift ? Reason::kNamed : Reason::kBuildIdMismatch;
  if (!shift) return;
  kallsyms_ = &kallsyms;
  kallsyms_shift_ = *shift;
}

// Opens vmlinux: for lines, and also for names if kallsyms is unusable.
void KernelImage::OpenVmlinuxOf(const ImageSpec& spec, KernelFacts& kernel) {
  const bool has_names = reason_ == Reason::kNamed;
  const SymbolizerOptions& options = context_.options;
  if (has_names && !options.inlines) return;
  const bool is_running = has_names && spec.build_id.empty() && kallsyms_ == &*kernel.running_;
  std::optional<ImageFile> file =
      OpenVmlinux(is_running ? kernel.RunningBuildId(spec) : spec.build_id, options);
  if (!file) return;
  uint64_t recorded = kernel.reference_address_.value;
  uint64_t linked = LinkedAddress(file->elf, kernel.reference_).value;
  if (recorded == 0 && has_names) {
    recorded = kallsyms_->ReferenceAddress("_stext");
    linked = LinkedAddress(file->elf, "_stext").value;
  }
  if (recorded == 0 || linked == 0) return;
  bias_ = recorded - linked;
  file_ = std::move(file);
  if (options.inlines && dwarf::HasDebugInfo(file_->elf)) {
    lines_.Open(*file_, *file_, file_->path);
  }
  if (has_names) return;
  symbols_ = ReadElfSymbols(file_->elf, file_->elf);
  is_named_by_vmlinux_ = true;
  reason_ = Reason::kNamed;
}

AddressFacts KernelImage::Find(RuntimeAddress address) {
  if (reason_ != Reason::kNamed) return Unnamed(reason_);
  const uint64_t shift = is_named_by_vmlinux_ ? bias_ : kallsyms_shift_;
  const SymbolTable& table = is_named_by_vmlinux_ ? symbols_ : kallsyms_->table();
  const Symbol* symbol = table.Find(address.value - shift);
  if (symbol == nullptr) return Unnamed(Reason::kNoSymbol);
  AddressFacts facts =
      Named({table.RawName(*symbol), {symbol->start + shift}, symbol->end - symbol->start},
            {address.value});
  lines_.AddFrames(lines_.Find({address.value - bias_}), facts);
  return facts;
}

CodeBytes KernelImage::CodeAt(RuntimeAddress address, uint64_t size) const {
  if (reason_ != Reason::kNamed) return {reason_, {}};
  if (!file_) return {Reason::kNoImageFile, {}};
  const std::span<const std::byte> bytes = file_->elf.BytesAt({address.value - bias_}, size);
  if (bytes.empty()) return {Reason::kNoSymbol, {}};
  return {Reason::kNamed, bytes, address, CodeMachineOf(file_->elf, {address.value})};
}

// Returns recorded addresses minus those of kallsyms, modulo 2^64. Empty for a module that kallsyms
// has at another address than the recording, because its functions may have other offsets.
std::optional<uint64_t> KernelFacts::ShiftOf(const KernelSymbols& kallsyms,
                                             const ImageSpec& spec) const {
  const uint64_t now = kallsyms.ReferenceAddress(reference_);
  const uint64_t shift = now == 0 ? 0 : reference_address_.value - now;
  if (spec.kind != ImageKind::kModule) return shift;
  // A module's first function may follow padding, notes and jump tables.
  constexpr uint64_t kFarthest = uint64_t{64} << 10;
  const uint64_t first = kallsyms.FirstOfModule(ModuleName(spec.path));
  const bool is_there = spec.start.value == 0 || first - spec.start.value < kFarthest;
  if (shift != 0 || !is_there) return std::nullopt;
  return shift;
}

// Reads the symbol list in perf's cache, which perf wrote when recording or `perf archive` copied.
const KernelSymbols* KernelFacts::Cached(std::span<const std::byte> build_id) {
  if (build_id.size() < 2) return nullptr;
  const auto [cached, is_new] = cached_.try_emplace(std::string(TextOf(build_id)), std::nullopt);
  if (is_new) {
    for (const std::string& path : PathsOfCachedKallsyms(build_id, context_.options)) {
      absl::StatusOr<KernelSymbols> symbols = KernelSymbols::Read(path);
      if (!symbols.ok() || symbols->restricted()) continue;
      cached->second = *std::move(symbols);
      break;
    }
  }
  return cached->second ? &*cached->second : nullptr;
}

bool KernelFacts::RunsRecordedKernel() {
  if (context_.options.running_kernel != RunningKernel::kMayBe) {
    return context_.options.running_kernel == RunningKernel::kIsRecorded;
  }
  if (reference_address_.value == 0) return false;
  const KernelSymbols* kernel = RunningStart();
  if (kernel != nullptr && !kernel->restricted() && kernel->ReferenceAddress(reference_) == 0) {
    kernel = Running();
  }
  return kernel != nullptr && kernel->ReferenceAddress(reference_) == reference_address_.value;
}

bool KernelFacts::IsOfRunningKernel(const ImageSpec& spec) {
  return spec.build_id.empty() ? RunsRecordedKernel()
                               : SameBuildId(RunningBuildId(spec), spec.build_id);
}

// True if the image is known to be of another kernel before all of kallsyms is read. The kernel
// writes kallsyms for each reader anew, a page at a time: in 0.1 s and 1,300 system calls.
bool KernelFacts::IsOfAnotherKernel(const ImageSpec& spec) {
  if (context_.options.kallsyms_is_recorded) return false;
  if (!spec.build_id.empty()) return !SameBuildId(RunningBuildId(spec), spec.build_id);
  if (context_.options.running_kernel != RunningKernel::kMayBe) return !RunsRecordedKernel();
  const KernelSymbols* const start = RunningStart();
  return start != nullptr && !start->restricted() && !RunsRecordedKernel();
}

// kallsyms describes the running kernel, so it cannot name another build of the kernel or a module.
Reason KernelFacts::ReasonAgainstRunning(const ImageSpec& spec) {
  if (IsOfAnotherKernel(spec)) return Reason::kBuildIdMismatch;
  const KernelSymbols* kernel = Running();
  if (kernel == nullptr) return Reason::kNoImageFile;
  const bool is_recorded = context_.options.kallsyms_is_recorded || IsOfRunningKernel(spec);
  if (kernel->restricted()) {
    const bool may_be = is_recorded || (spec.build_id.empty() &&
                                        context_.options.running_kernel == RunningKernel::kMayBe);
    return may_be ? Reason::kRestricted : Reason::kBuildIdMismatch;
  }
  return is_recorded ? Reason::kNamed : Reason::kBuildIdMismatch;
}

// Returns the build-id of the running kernel or of its loaded module; empty: unknown.
std::vector<std::byte> KernelFacts::RunningBuildId(const ImageSpec& spec) const {
  constexpr size_t kLongestNotes = 1 << 16;
  const std::string notes_path =
      spec.kind == ImageKind::kKernel
          ? context_.options.sys_path + "/kernel/notes"
          : absl::StrCat(context_.options.sys_path, "/module/", ModuleName(spec.path),
                         "/notes/.note.gnu.build-id");
  const auto notes = ReadTextFile(notes_path, kLongestNotes);
  if (!notes.ok()) return {};
  const std::span<const std::byte> build_id = BuildIdInNotes(*notes);
  return {build_id.begin(), build_id.end()};
}

// Reads a page. Most kernels begin with `_stext` and `_text`.
const KernelSymbols* KernelFacts::RunningStart() {
  constexpr size_t kPage = 4096;
  if (running_read_) return Running();
  if (!start_read_) {
    start_read_ = true;
    auto text = ReadTextFile(context_.options.kallsyms_path, kPage);
    if (text.ok()) running_start_ = KernelSymbols::Parse(*std::move(text));
  }
  return running_start_ ? &*running_start_ : nullptr;
}

const KernelSymbols* KernelFacts::Running() {
  if (!running_read_) {
    running_read_ = true;
    absl::StatusOr<KernelSymbols> symbols = KernelSymbols::Read(context_.options.kallsyms_path);
    if (symbols.ok()) running_ = *std::move(symbols);
  }
  return running_ ? &*running_ : nullptr;
}

void KernelFacts::SetReference(std::string_view symbol, RuntimeAddress address) {
  reference_ = symbol;
  reference_address_ = address;
}

void KernelFacts::AddSymbol(RuntimeAddress start, uint64_t size, std::string_view name) {
  if (size == 0) return;
  auto it = functions_.lower_bound(start.value);
  if (it != functions_.begin()) {
    const auto before = std::prev(it);
    if (start.value - before->first < before->second.size) it = before;
  }
  while (it != functions_.end() && (it->first < start.value || it->first - start.value < size)) {
    it = functions_.erase(it);
  }
  const std::string& kept = context_.names.emplace_back(name);
  functions_[start.value] = {start.value, size, kept};
  std::vector<Function>& announced = announced_[kept];
  const bool is_new =
      announced.empty() || announced.back().start != start.value || announced.back().size != size;
  if (is_new) announced.push_back({start.value, size, kept});
}

std::optional<AddressFacts> KernelFacts::FindAnnounced(RuntimeAddress address) const {
  const auto after = functions_.upper_bound(address.value);
  if (after == functions_.begin()) return std::nullopt;
  const Function& function = std::prev(after)->second;
  if (address.value - function.start >= function.size) return std::nullopt;
  return Named({function.name, {function.start}, function.size}, {address.value});
}

AddressFacts KernelFacts::FindBpf(std::string_view name, RuntimeAddress address) const {
  const auto announced = announced_.find(name);
  if (announced == announced_.end()) return Unnamed(Reason::kNoSymbol);
  for (const Function& function : announced->second) {
    if (address.value - function.start >= function.size) continue;
    return Named({function.name, {function.start}, function.size}, {address.value});
  }
  return Unnamed(Reason::kNoSymbol);
}

}  // namespace profiler::symbolize
