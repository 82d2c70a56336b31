#include "symbolize/symbolizer.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "src/base/build_id.h"
#include "src/base/byte_reader.h"
#include "symbolize/debug_files.h"
#include "symbolize/demangle.h"
#include "symbolize/dwarf/debug_info.h"
#include "symbolize/dwarf/sections.h"
#include "symbolize/elf_symbols.h"
#include "symbolize/function_extents.h"
#include "symbolize/image_file.h"
#include "symbolize/kernel_symbols.h"
#include "symbolize/perf_map.h"
#include "symbolize/text_file.h"
#include "symbolize/vmlinux.h"

namespace profiler::symbolize {
namespace {

// What is known of one image once an address in it was named.
struct OpenImageState {
  Reason reason = Reason::kNamed;  // for all its addresses, where not kNamed
  std::optional<ImageFile> file;
  std::optional<ImageFile> debug_file;
  std::optional<ImageFile> mini_file;  // of .gnu_debugdata
  SymbolTable symbols;
  std::unique_ptr<dwarf::DebugInfo> debug_info;  // null: none
  FunctionExtents functions;
  uint64_t kernel_bias = 0;  // recorded addresses less those in `file`, which is vmlinux
  bool named_by_vmlinux = false;
  const PerfMap* jit = nullptr;
  std::optional<JitDump> jit_dump;
  absl::flat_hash_map<uint32_t, std::string_view> names;  // by index in `symbols`; see NameSymbol

  // Whether one of its files was overwritten while it was read.
  bool has_lost_bytes() const {
    return (file && file->file.has_lost_bytes()) ||
           (debug_file && debug_file->file.has_lost_bytes());
  }
};

struct Image {
  ImageSpec spec;
  std::unique_ptr<OpenImageState> state;  // null until the first look-up
};

// Images that share one file share an entry, so that it is opened once.
using SpecKey = std::tuple<ImageKind, std::string, std::string, uint32_t>;

// [nf_conntrack] and /lib/modules/…/nf-conntrack.ko.xz are nf_conntrack.
std::string ModuleName(std::string_view path) {
  if (path.starts_with('[')) {
    path.remove_prefix(1);
    return std::string(path.substr(0, path.find(']')));
  }
  path = path.substr(path.rfind('/') + 1);
  std::string name(path.substr(0, path.find(".ko")));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

// The pid of a process in its own pid namespace: the last number of NSpid in /proc/PID/status.
std::string NamespacePid(const std::string& process) {
  constexpr size_t kLongestStatus = 1 << 16;
  const auto status = ReadTextFile(process + "/status", kLongestStatus);
  if (!status.ok()) return {};
  const std::string_view text = TextOf(*status);
  const size_t line = text.find("\nNSpid:");
  if (line == std::string_view::npos) return {};
  const std::string_view numbers = text.substr(line + 1, text.find('\n', line + 1) - line - 1);
  const std::string_view last = numbers.substr(numbers.rfind('\t') + 1);
  return std::string(last);
}

class FileSymbolizer : public Symbolizer {
 public:
  explicit FileSymbolizer(SymbolizerOptions options) : options_(std::move(options)) {}

  ImageId AddImage(const ImageSpec& spec) override;
  const ImageSpec& image(ImageId id) const override {
    return images_[static_cast<uint32_t>(id)].spec;
  }
  Naming Name(ImageId image, FileOffset offset) override;
  Naming NameAt(ImageId image, ElfAddress address) override;
  absl::StatusOr<std::span<const JitCode>> JitCodes(ImageId dump) override;
  CodeBytes CodeAt(ImageId image, ElfAddress address, uint64_t size) override;
  void SetKernelReference(std::string_view symbol, RuntimeAddress address) override;
  void AddKernelSymbol(RuntimeAddress start, uint64_t size, std::string_view name) override;

 private:
  struct KernelFunction {
    uint64_t start;
    uint64_t size;
    std::string_view name;
  };

  OpenImageState& Open(Image& image);
  void OpenFile(const ImageSpec& spec, OpenImageState& state);
  void OpenDebugInfo(const ImageSpec& spec, OpenImageState& state);
  void OpenJit(const ImageSpec& spec, OpenImageState& state);
  absl::Status OpenJitDump(const ImageSpec& spec, OpenImageState& state);
  std::unique_ptr<PerfMap> ReadPerfMap(uint32_t pid) const;

  Naming NameInFile(OpenImageState& state, ElfAddress address);
  Naming LookUpInFile(OpenImageState& state, ElfAddress address);
  NamedFunction FunctionOf(OpenImageState& state, const Symbol& symbol);
  const Symbol* WithinFunction(OpenImageState& state, const Symbol* symbol,
                               ElfAddress address) const;
  Naming WithoutSymbol(OpenImageState& state, ElfAddress address) const;
  Naming NameInJit(const OpenImageState& state, FileOffset offset);
  Naming NameInJitDump(const OpenImageState& state, FileOffset offset);
  Naming NameInKernel(Image& image, uint64_t address);
  const KernelFunction* FindKernelFunction(uint64_t address) const;
  const KernelSymbols* Kernel();
  void OpenKernelImage(const ImageSpec& spec, OpenImageState& state);
  Reason ReasonAgainstKallsyms(const ImageSpec& spec);
  std::vector<std::byte> RunningBuildId(const ImageSpec& spec) const;
  void OpenKernelFile(const ImageSpec& spec, OpenImageState& state);
  bool HasOwnRootCached(uint32_t pid);

  std::string_view NameOf(OpenImageState& state, const Symbol& symbol);
  std::string_view ShownName(std::string_view in_debug_info);
  void AddFunctions(std::span<const dwarf::SourceFrame> frames);
  Naming Named(std::string_view name, uint64_t start, uint64_t size, uint64_t address,
               std::span<const dwarf::SourceFrame> frames = {});

  const SymbolizerOptions options_;
  std::deque<Image> images_;
  absl::flat_hash_map<SpecKey, ImageId> ids_;
  std::vector<NamedFunction> found_;

  absl::flat_hash_map<uint32_t, bool> has_own_root_;                  // by pid
  absl::flat_hash_map<uint32_t, std::unique_ptr<PerfMap>> jit_maps_;  // by pid; null: none

  bool kernel_read_ = false;
  std::optional<KernelSymbols> kernel_;
  std::string kernel_reference_;
  RuntimeAddress kernel_reference_address_;
  uint64_t kernel_shift_ = 0;  // recorded addresses less those of kallsyms, modulo 2^64
  std::map<uint64_t, KernelFunction> kernel_functions_;  // by start, disjoint
  std::deque<std::string> made_names_;                   // never moves a string
  // By where the debug information has them, which has each once.
  absl::flat_hash_map<const char*, std::string_view> demangled_;
};

ImageId FileSymbolizer::AddImage(const ImageSpec& spec) {
  // The process says where to look, and tells files apart only if it sees other ones than we do.
  bool by_process = false;
  if (spec.kind == ImageKind::kJit || spec.kind == ImageKind::kJitDump ||
      spec.kind == ImageKind::kAnonymous) {
    by_process = true;
  } else if (spec.kind == ImageKind::kUser && spec.build_id.empty()) {
    by_process = IsDeleted(spec.path) || HasOwnRootCached(spec.pid);
  }
  SpecKey key(spec.kind, spec.path, std::string(TextOf(spec.build_id)), by_process ? spec.pid : 0);
  const auto [it, is_new] = ids_.try_emplace(std::move(key), ImageId(images_.size()));
  if (is_new) {
    images_.push_back({spec, nullptr});
  } else if (Image& image = images_[static_cast<uint32_t>(it->second)]; image.state == nullptr) {
    image.spec.pid = spec.pid;  // the latest process is the likeliest to live
  }
  return it->second;
}

bool FileSymbolizer::HasOwnRootCached(uint32_t pid) {
  const auto [it, is_new] = has_own_root_.try_emplace(pid, false);
  if (is_new) it->second = HasOwnRoot(pid, options_);
  return it->second;
}

Naming FileSymbolizer::Name(ImageId id, FileOffset offset) {
  Image& image = images_[static_cast<uint32_t>(id)];
  switch (image.spec.kind) {
    case ImageKind::kUser:
    case ImageKind::kVdso: {
      OpenImageState& state = Open(image);
      if (state.reason != Reason::kNamed) return {state.reason, {}};
      const std::optional<ElfAddress> address = state.file->elf.AddressOf(offset);
      if (!address) return {Reason::kNoSymbol, {}};
      Naming naming = NameInFile(state, *address);
      naming.address = address;
      return naming;
    }
    case ImageKind::kJit:
    case ImageKind::kAnonymous:
      return NameInJit(Open(image), offset);
    case ImageKind::kJitDump:
      return NameInJitDump(Open(image), offset);
    case ImageKind::kKernel:
    case ImageKind::kModule:
    case ImageKind::kBpf:
      return NameInKernel(image, offset.value);
  }
  return {};
}

Naming FileSymbolizer::NameAt(ImageId id, ElfAddress address) {
  Image& image = images_[static_cast<uint32_t>(id)];
  if (image.spec.kind == ImageKind::kKernel) return NameInKernel(image, address.value);
  if (image.spec.kind == ImageKind::kJitDump) return Name(id, {address.value});
  if (image.spec.kind != ImageKind::kUser && image.spec.kind != ImageKind::kVdso) return {};
  OpenImageState& state = Open(image);
  if (state.reason != Reason::kNamed) return {state.reason, {}};
  return NameInFile(state, address);
}

CodeBytes CodeInJitDump(const JitDump& dump, FileOffset offset, uint64_t size) {
  const JitDump::Function* function = dump.Find(offset);
  if (function == nullptr) return {Reason::kNoSymbol, {}};
  const auto rest = function->code.subspan(offset.value - function->offset.value);
  return {Reason::kNamed, rest.first(std::min<uint64_t>(size, rest.size())), offset,
          dump.machine()};
}

// The kernel's as it was linked: the running one has patched itself here and there.
CodeBytes FileSymbolizer::CodeAt(ImageId id, ElfAddress address, uint64_t size) {
  Image& image = images_[static_cast<uint32_t>(id)];
  const ImageKind kind = image.spec.kind;
  if (kind == ImageKind::kJitDump) {
    const OpenImageState& dump = Open(image);
    if (dump.reason != Reason::kNamed) return {dump.reason, {}};
    return CodeInJitDump(*dump.jit_dump, {address.value}, size);
  }
  const bool is_kernel = kind == ImageKind::kKernel;
  if (!is_kernel && kind != ImageKind::kUser && kind != ImageKind::kVdso) return {};
  const OpenImageState& state = Open(image);
  if (state.reason != Reason::kNamed) return {state.reason, {}};
  if (!state.file) return {Reason::kNoImageFile, {}};
  const ElfImage& elf = state.file->elf;
  const std::span<const std::byte> bytes = elf.BytesAt({address.value - state.kernel_bias}, size);
  if (bytes.empty()) return {Reason::kNoSymbol, {}};
  const FileOffset offset =
      is_kernel ? FileOffset{address.value} : elf.OffsetOf(address).value_or(FileOffset{});
  return {Reason::kNamed, bytes, offset, elf.machine()};
}

OpenImageState& FileSymbolizer::Open(Image& image) {
  if (image.state != nullptr) return *image.state;
  image.state = std::make_unique<OpenImageState>();
  switch (image.spec.kind) {
    case ImageKind::kUser:
    case ImageKind::kVdso:
      OpenFile(image.spec, *image.state);
      break;
    case ImageKind::kJit:
    case ImageKind::kAnonymous:
      OpenJit(image.spec, *image.state);
      break;
    case ImageKind::kJitDump:
      OpenJitDump(image.spec, *image.state).IgnoreError();  // JitCodes says it
      break;
    case ImageKind::kKernel:
    case ImageKind::kModule:
    case ImageKind::kBpf:
      OpenKernelImage(image.spec, *image.state);
      break;
  }
  return *image.state;
}

void FileSymbolizer::OpenFile(const ImageSpec& spec, OpenImageState& state) {
  OpenedImage opened =
      spec.kind == ImageKind::kVdso ? OpenVdso(spec, options_) : OpenImage(spec, options_);
  state.reason = opened.reason;
  if (!opened.file) return;
  state.file = std::move(opened.file);
  if (!HasSymtab(state.file->elf) && spec.kind == ImageKind::kUser) {
    state.debug_file = OpenDebugFile(*state.file, options_);
    if (!state.debug_file) state.mini_file = UnpackMiniDebugInfo(*state.file);
  }
  const ElfImage& symbols = state.debug_file  ? state.debug_file->elf
                            : state.mini_file ? state.mini_file->elf
                                              : state.file->elf;
  state.symbols = ReadElfSymbols(state.file->elf, symbols, state.mini_file.has_value());
  state.functions = FunctionExtents(&state.file->elf,
                                    state.debug_file ? &state.debug_file->elf : &state.file->elf);
  if (options_.inlines) OpenDebugInfo(spec, state);
  if (state.file->file.HasChanged()) state.reason = Reason::kBuildIdMismatch;
}

// The debug information is in the image itself, or else in the file that was split off it.
void FileSymbolizer::OpenDebugInfo(const ImageSpec& spec, OpenImageState& state) {
  const ImageFile* debug = &*state.file;
  if (!dwarf::HasDebugInfo(debug->elf)) {
    if (!state.debug_file && spec.kind == ImageKind::kUser) {
      state.debug_file = OpenDebugFile(*state.file, options_);
    }
    if (!state.debug_file) return;
    debug = &*state.debug_file;
  }
  dwarf::DebugInfoFiles files;
  files.image = &state.file->elf;
  files.image_path = state.file->path;
  files.debug = &debug->elf;
  files.debug_path = debug->path;
  files.debug_directories = options_.debug_directories;
  files.lines = options_.lines;
  files.fetched = options_.fetched;
  state.debug_info = dwarf::DebugInfo::Open(files);
}

void FileSymbolizer::OpenJit(const ImageSpec& spec, OpenImageState& state) {
  const auto [it, is_new] = jit_maps_.try_emplace(spec.pid, nullptr);
  if (is_new) it->second = ReadPerfMap(spec.pid);
  state.jit = it->second.get();
  state.reason = state.jit == nullptr ? Reason::kNoImageFile : Reason::kNamed;
}

std::unique_ptr<PerfMap> FileSymbolizer::ReadPerfMap(uint32_t pid) const {
  if (pid == 0) return nullptr;
  std::vector<std::string> paths;
  const std::string process = absl::StrCat(options_.proc_path, "/", pid);
  if (const std::string inside = NamespacePid(process); !inside.empty()) {
    paths.push_back(
        absl::StrCat(process, "/root", options_.jit_map_directory, "/perf-", inside, ".map"));
  }
  paths.push_back(absl::StrCat(options_.jit_map_directory, "/perf-", pid, ".map"));
  for (const std::string& path : paths) {
    absl::StatusOr<PerfMap> map = PerfMap::Read(path);
    if (map.ok()) return std::make_unique<PerfMap>(*std::move(map));
  }
  return nullptr;
}

// What was read of a file that was overwritten meanwhile is no name.
Naming FileSymbolizer::NameInFile(OpenImageState& state, ElfAddress address) {
  const Naming naming = LookUpInFile(state, address);
  if (!state.has_lost_bytes()) return naming;
  state.reason = Reason::kBuildIdMismatch;
  return {state.reason, {}};
}

// The function that has the code goes by its symbol, also where the debug information calls it
// otherwise: rows of a report are symbols.
Naming FileSymbolizer::LookUpInFile(OpenImageState& state, ElfAddress address) {
  const Symbol* found = state.symbols.Find(address.value);
  const Symbol* symbol = WithinFunction(state, found, address);
  std::span<const dwarf::SourceFrame> frames;
  if (state.debug_info != nullptr && (symbol == nullptr || !symbol->plt)) {
    frames = state.debug_info->Find(address);
  }
  if (symbol == nullptr && (frames.empty() || frames.back().function.empty())) {
    Naming naming = WithoutSymbol(state, address);
    if (symbol != found) {
      naming.neighbour = FunctionOf(state, *found);
      if (naming.unnamed_size == 0) naming.distance = address.value - found->start;
    }
    return naming;
  }
  found_.clear();
  AddFunctions(frames);
  NamedFunction& real = found_.back();
  if (symbol != nullptr) {
    const NamedFunction function = FunctionOf(state, *symbol);
    real.name = function.name;
    real.linkage_name = function.linkage_name;
    real.start = function.start;
    real.size = function.size;
  }
  for (NamedFunction& function : found_) {
    function.start = real.start;
    function.size = real.size;
  }
  // Code that was moved out of a function, and has no symbol, may lie before the function's start.
  const uint64_t distance = address < real.start ? 0 : address.value - real.start.value;
  Naming naming{Reason::kNamed, found_, distance};
  naming.without_symbol = symbol == nullptr;
  naming.has_debug_info = !frames.empty();
  if (symbol != found) naming.neighbour = FunctionOf(state, *found);
  return naming;
}

NamedFunction FileSymbolizer::FunctionOf(OpenImageState& state, const Symbol& symbol) {
  NamedFunction function;
  function.name = NameOf(state, symbol);
  if (!symbol.plt) function.linkage_name = state.symbols.RawName(symbol);
  function.start = {symbol.start};
  function.size = symbol.end - symbol.start;
  return function;
}

// A symbol without a size is not believed to reach beyond its function.
const Symbol* FileSymbolizer::WithinFunction(OpenImageState& state, const Symbol* symbol,
                                             ElfAddress address) const {
  if (symbol == nullptr || symbol->sized || !options_.bounded_symbols) return symbol;
  if (state.functions.MayBeOne({symbol->start}, address)) return symbol;
  return state.symbols.FindSized(address.value);
}

Naming FileSymbolizer::WithoutSymbol(OpenImageState& state, ElfAddress address) const {
  Naming naming{Reason::kNoSymbol, {}};
  if (!options_.function_starts) return naming;
  if (const auto function = state.functions.Find(address)) {
    naming.distance = address.value - function->start.value;
    naming.unnamed_start = function->start;
    naming.unnamed_size = function->size;
  }
  return naming;
}

// At least one, for the symbol.
void FileSymbolizer::AddFunctions(std::span<const dwarf::SourceFrame> frames) {
  for (const dwarf::SourceFrame& frame : frames) {
    NamedFunction& function = found_.emplace_back();
    function.name = ShownName(frame.function);
    function.linkage_name = frame.function;
    function.start = frame.start;
    function.size = frame.size;
    function.inlined = frame.inlined;
    function.file = frame.file;
    function.line = frame.line;
    function.column = frame.column;
  }
  if (found_.empty()) found_.emplace_back();
}

std::string_view FileSymbolizer::ShownName(std::string_view in_debug_info) {
  if (in_debug_info.empty()) return "??";
  if (!options_.demangle || !in_debug_info.starts_with('_')) return in_debug_info;
  std::string_view& known = demangled_[in_debug_info.data()];
  if (known.data() == nullptr) known = made_names_.emplace_back(Demangle(in_debug_info));
  return known;
}

Naming FileSymbolizer::NameInJit(const OpenImageState& state, FileOffset offset) {
  if (state.reason != Reason::kNamed) return {state.reason, {}};
  const PerfMap::Function* function = state.jit->Find(offset.value);
  if (function == nullptr) return {Reason::kNoSymbol, {}};
  return Named(function->name, function->start, function->size, offset.value);
}

absl::StatusOr<std::span<const JitCode>> FileSymbolizer::JitCodes(ImageId id) {
  Image& image = images_[static_cast<uint32_t>(id)];
  if (image.state == nullptr) {
    image.state = std::make_unique<OpenImageState>();
    PROFILER_RETURN_IF_ERROR(OpenJitDump(image.spec, *image.state));
  }
  if (!image.state->jit_dump)
    return absl::NotFoundError(absl::StrCat(image.spec.path, ": no dump"));
  return image.state->jit_dump->codes();
}

// As the process sees it, while it lives.
absl::Status FileSymbolizer::OpenJitDump(const ImageSpec& spec, OpenImageState& state) {
  absl::StatusOr<JitDump> dump =
      JitDump::Read(absl::StrCat(options_.proc_path, "/", spec.pid, "/root", spec.path));
  if (!dump.ok()) dump = JitDump::Read(options_.symfs + spec.path);
  if (!dump.ok()) {
    state.reason = Reason::kNoImageFile;
    return dump.status();
  }
  state.jit_dump = *std::move(dump);
  return absl::OkStatus();
}

Naming FileSymbolizer::NameInJitDump(const OpenImageState& state, FileOffset offset) {
  if (state.reason != Reason::kNamed) return {state.reason, {}};
  const JitDump::Function* function = state.jit_dump->Find(offset);
  if (function == nullptr) return {Reason::kNoSymbol, {}};
  const Naming naming = Named(function->name, function->offset.value, function->size, offset.value);
  if (const JitDump::Line* line = JitDump::LineAt(*function, naming.distance)) {
    found_.back().file = line->file;
    found_.back().line = line->line;
  }
  return naming;
}

Naming FileSymbolizer::NameInKernel(Image& image, uint64_t address) {
  const bool relative = image.spec.kind == ImageKind::kModule && address >> 63 == 0;
  if (const KernelFunction* function = relative ? nullptr : FindKernelFunction(address)) {
    return Named(function->name, function->start, function->size, address);
  }
  const OpenImageState& state = Open(image);
  if (state.reason != Reason::kNamed) return {state.reason, {}};
  uint64_t shift = state.named_by_vmlinux ? state.kernel_bias : kernel_shift_;
  if (relative) {
    shift = 0 - kernel_->ModuleStart(ModuleName(image.spec.path));
    if (shift == 0) return {Reason::kNoSymbol, {}};
  }
  const SymbolTable& table = state.named_by_vmlinux ? state.symbols : kernel_->table();
  const Symbol* symbol = table.Find(address - shift);
  if (symbol == nullptr) return {Reason::kNoSymbol, {}};
  std::span<const dwarf::SourceFrame> frames;
  if (state.debug_info != nullptr) frames = state.debug_info->Find({address - state.kernel_bias});
  return Named(table.RawName(*symbol), symbol->start + shift, symbol->end - symbol->start, address,
               frames);
}

void FileSymbolizer::OpenKernelImage(const ImageSpec& spec, OpenImageState& state) {
  state.reason = ReasonAgainstKallsyms(spec);
  if (spec.kind == ImageKind::kKernel) OpenKernelFile(spec, state);
}

// vmlinux has the lines, and the names too where kallsyms cannot be used.
void FileSymbolizer::OpenKernelFile(const ImageSpec& spec, OpenImageState& state) {
  const bool has_names = state.reason == Reason::kNamed;
  if (has_names && !options_.inlines) return;
  const bool is_running = has_names && spec.build_id.empty();
  std::optional<ImageFile> file =
      OpenVmlinux(is_running ? RunningBuildId(spec) : spec.build_id, options_);
  if (!file) return;
  uint64_t recorded = kernel_reference_address_.value;
  uint64_t linked = LinkedAddress(file->elf, kernel_reference_).value;
  if (recorded == 0 && has_names) {
    recorded = kernel_->ReferenceAddress("_stext");
    linked = LinkedAddress(file->elf, "_stext").value;
  }
  if (recorded == 0 || linked == 0) return;
  state.kernel_bias = recorded - linked;
  state.file = std::move(file);
  if (options_.inlines) OpenDebugInfo(spec, state);
  if (has_names) return;
  state.symbols = ReadElfSymbols(state.file->elf, state.file->elf);
  state.named_by_vmlinux = true;
  state.reason = Reason::kNamed;
}

// kallsyms is the running kernel's: it names no other build, and no other build of a module.
Reason FileSymbolizer::ReasonAgainstKallsyms(const ImageSpec& spec) {
  const KernelSymbols* kernel = Kernel();
  if (kernel == nullptr) return Reason::kNoImageFile;
  if (kernel->restricted()) return Reason::kRestricted;
  if (spec.build_id.empty() || spec.kind == ImageKind::kBpf) return Reason::kNamed;
  return SameBuildId(RunningBuildId(spec), spec.build_id) ? Reason::kNamed
                                                          : Reason::kBuildIdMismatch;
}

// Of the running kernel, or of the module that it has loaded; empty where it does not say.
std::vector<std::byte> FileSymbolizer::RunningBuildId(const ImageSpec& spec) const {
  constexpr size_t kLongestNotes = 1 << 16;
  const std::string notes_path =
      spec.kind == ImageKind::kKernel
          ? options_.sys_path + "/kernel/notes"
          : absl::StrCat(options_.sys_path, "/module/", ModuleName(spec.path),
                         "/notes/.note.gnu.build-id");
  const auto notes = ReadTextFile(notes_path, kLongestNotes);
  if (!notes.ok()) return {};
  const std::span<const std::byte> build_id = BuildIdInNotes(*notes);
  return {build_id.begin(), build_id.end()};
}

const KernelSymbols* FileSymbolizer::Kernel() {
  if (!kernel_read_) {
    kernel_read_ = true;
    absl::StatusOr<KernelSymbols> symbols = KernelSymbols::Read(options_.kallsyms_path);
    if (symbols.ok()) kernel_ = *std::move(symbols);
    const uint64_t now = kernel_ ? kernel_->ReferenceAddress(kernel_reference_) : 0;
    if (now != 0) kernel_shift_ = kernel_reference_address_.value - now;
  }
  return kernel_ ? &*kernel_ : nullptr;
}

void FileSymbolizer::SetKernelReference(std::string_view symbol, RuntimeAddress address) {
  kernel_reference_ = symbol;
  kernel_reference_address_ = address;
}

void FileSymbolizer::AddKernelSymbol(RuntimeAddress start, uint64_t size, std::string_view name) {
  if (size == 0) return;
  auto it = kernel_functions_.lower_bound(start.value);
  if (it != kernel_functions_.begin()) {
    const auto before = std::prev(it);
    if (start.value - before->first < before->second.size) it = before;
  }
  while (it != kernel_functions_.end() &&
         (it->first < start.value || it->first - start.value < size)) {
    it = kernel_functions_.erase(it);
  }
  const std::string& kept = made_names_.emplace_back(name);
  kernel_functions_[start.value] = {start.value, size, kept};
}

const FileSymbolizer::KernelFunction* FileSymbolizer::FindKernelFunction(uint64_t address) const {
  const auto after = kernel_functions_.upper_bound(address);
  if (after == kernel_functions_.begin()) return nullptr;
  const KernelFunction& function = std::prev(after)->second;
  return address - function.start < function.size ? &function : nullptr;
}

// The name is made when it is first asked for; where it needs no change it stays in the file.
std::string_view FileSymbolizer::NameOf(OpenImageState& state, const Symbol& symbol) {
  const std::string_view name = state.symbols.RawName(symbol);
  const bool mangled = options_.demangle && name.starts_with('_');
  if (!mangled && !symbol.plt) return name;
  std::string_view& known = state.names[state.symbols.IndexOf(symbol)];
  if (known.data() == nullptr) {
    std::string text = options_.demangle ? Demangle(name) : std::string(name);
    if (symbol.plt) text += "@plt";
    known = made_names_.emplace_back(std::move(text));
  }
  return known;
}

Naming FileSymbolizer::Named(std::string_view name, uint64_t start, uint64_t size, uint64_t address,
                             std::span<const dwarf::SourceFrame> frames) {
  found_.clear();
  AddFunctions(frames);
  found_.back().name = name;
  for (NamedFunction& function : found_) {
    function.start = {start};
    function.size = size;
  }
  return {Reason::kNamed, found_, address - start};
}

}  // namespace

std::unique_ptr<Symbolizer> Symbolizer::Create(SymbolizerOptions options) {
  return std::make_unique<FileSymbolizer>(std::move(options));
}

}  // namespace profiler::symbolize
