#include "symbolize/files/file_facts.h"

#include <elf.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "src/base/build_id.h"
#include "src/base/byte_reader.h"
#include "src/base/regular_file.h"
#include "src/base/text.h"
#include "symbolize/dwarf/debug_info.h"
#include "symbolize/dwarf/sections.h"
#include "symbolize/elf/embedded_elf.h"
#include "symbolize/files/code_machine_of.h"
#include "symbolize/files/debug_files.h"
#include "symbolize/files/image_table.h"
#include "symbolize/files/jit_file.h"
#include "symbolize/files/missing_files.h"
#include "symbolize/files/vmlinux.h"
#include "symbolize/image_file.h"
#include "symbolize/symbols/elf_symbols.h"
#include "symbolize/symbols/kernel_symbols.h"
#include "symbolize/symbols/module_name.h"
#include "symbolize/symbols/perf_map.h"
#include "symbolize/symbols/text_file.h"
#include "symbolize/unwind/function_extents.h"

namespace profiler::symbolize {
namespace {

// The state of an image after its first look-up.
struct OpenImageState {
  Reason reason = Reason::kNamed;  // if not kNamed: the reason for all addresses
  std::optional<ImageFile> file;
  std::optional<ImageFile> debug_file;
  std::optional<ImageFile> mini_file;  // ELF file in .gnu_debugdata
  SymbolTable symbols;
  std::unique_ptr<dwarf::DebugInfo> debug_info;  // null: the image has none
  FunctionExtents functions;
  // Recorded addresses minus addresses in `file`, which is vmlinux.
  uint64_t kernel_bias = 0;
  bool named_by_vmlinux = false;
  const KernelSymbols* kallsyms = nullptr;  // symbols of the recorded kernel; null: none
  // Recorded addresses minus addresses in `kallsyms`, modulo 2^64.
  uint64_t kallsyms_shift = 0;
  // True after the warning that debug information was not read completely.
  bool is_cut_told = false;
  const PerfMap* jit = nullptr;
  std::optional<JitDump> jit_dump;
  absl::flat_hash_map<uint32_t, std::string_view>
      stubs;  // names of PLT stubs, by index in `symbols`

  // Returns true if one of the files was overwritten while it was read.
  bool has_lost_bytes() const {
    return (file && file->file.has_lost_bytes()) ||
           (debug_file && debug_file->file.has_lost_bytes());
  }
};

struct Image {
  const ImageId id;
  std::optional<OpenedImage> opened;      // moved to `state` by the first look-up
  std::unique_ptr<OpenImageState> state;  // null until the first look-up
  // ELF files in an archive in which addresses were looked up, keyed by their offset in the
  // archive.
  std::map<uint64_t, std::unique_ptr<OpenImageState>> parts;
  int parts_tried = 0;
};

class FileFacts final : public FactSource {
 public:
  explicit FileFacts(const SymbolizerOptions& options) : options_(options), specs_(options_) {}

  ImageId AddImage(const ImageSpec& spec) override;
  const ImageSpec& image(ImageId id) const override { return specs_[id]; }
  std::optional<TrustedFile> TrustedFileOf(ImageId id) override;
  bool AreFilesTrusted(ImageId id) override;
  std::optional<MissingFiles> MissingFilesOf(ImageId id) override {
    specs_.Settle(id);
    return symbolize::MissingFilesOf(specs_[id], options_);
  }
  AddressFacts Find(ImageId image, CodePlace place) override;
  AddressFacts FindAt(ImageId image, ElfAddress address) override;
  absl::StatusOr<std::span<const JitCode>> JitCodes(ImageId dump) override;
  std::vector<std::string> TakeWarnings() override { return std::exchange(warnings_, {}); }
  CodeBytes CodeAt(ImageId image, ElfAddress address, uint64_t size) override;
  void SetLife(uint32_t process, const ProcessLife& life) override {
    specs_.SetLife(process, life);
  }
  void SetKernelReference(std::string_view symbol, RuntimeAddress address) override;
  void AddKernelSymbol(RuntimeAddress start, uint64_t size, std::string_view name) override;

 private:
  struct KernelFunction {
    uint64_t start;
    uint64_t size;
    std::string_view name;
  };

  // The owner of some code: the whole image, or the ELF file at offset `start` of an archive.
  struct Part {
    OpenImageState& state;
    uint64_t start = 0;
  };
  // Returns the part that contains code near `offset` of the whole file. `has_it` tests whether an
  // ELF file contains the code.
  template <class HasIt>
  Part PartAt(Image& image, uint64_t offset, HasIt has_it);
  Part PartAt(Image& image, FileOffset offset);
  Part PartAt(Image& image, ElfAddress address);

  OpenImageState& Open(Image& image);
  void OpenFile(Image& image);
  OpenedImage OpenRecordedVdso(const ImageSpec& spec);
  void ReadFile(const ImageSpec& spec, OpenedImage opened, OpenImageState& state);
  void OpenDebugInfo(const ImageSpec& spec, OpenImageState& state);
  void OpenJit(const ImageSpec& spec, OpenImageState& state);
  absl::Status OpenJitDump(const ImageSpec& spec, OpenImageState& state);
  std::unique_ptr<PerfMap> ReadPerfMap(const ImageSpec& spec);
  std::unique_ptr<PerfMap> ReadKeptMap(const ImageSpec& spec) const;
  void WarnOfCutSections(const ImageFile& file);

  AddressFacts FindInFile(OpenImageState& state, ElfAddress address);
  AddressFacts LookUpInFile(OpenImageState& state, ElfAddress address);
  std::span<const dwarf::SourceFrame> FindInDebugInfo(OpenImageState& state, ElfAddress address);
  AddressFacts::Function FunctionOf(OpenImageState& state, const Symbol& symbol);
  AddressFacts FindInJit(const OpenImageState& state, RuntimeAddress address) const;
  AddressFacts FindInJitDump(const OpenImageState& state, FileOffset offset);
  void AddInlinedCalls(const JitDump::Function& function, const JitDump::Place& place,
                       AddressFacts& facts);
  AddressFacts FindInKernel(Image& image, RuntimeAddress address);
  AddressFacts FindInBpf(const ImageSpec& spec, RuntimeAddress address) const;
  const KernelFunction* FindKernelFunction(uint64_t address) const;
  const KernelSymbols* Kernel();
  void OpenKernelImage(const ImageSpec& spec, OpenImageState& state);
  bool RunsRecordedKernel();
  bool IsOfRunningKernel(const ImageSpec& spec);
  Reason ReasonAgainstKallsyms(const ImageSpec& spec);
  const KernelSymbols* CachedKallsyms(std::span<const std::byte> build_id);
  std::optional<uint64_t> ShiftOf(const KernelSymbols& kallsyms, const ImageSpec& spec) const;
  void NameByKallsyms(const KernelSymbols& kallsyms, const ImageSpec& spec, OpenImageState& state);
  std::vector<std::byte> RunningBuildId(const ImageSpec& spec) const;
  void OpenKernelFile(const ImageSpec& spec, OpenImageState& state);

  void AddFrames(std::span<const dwarf::SourceFrame> frames, AddressFacts& facts);

  const SymbolizerOptions options_;
  ImageTable specs_;
  std::deque<Image> images_;
  std::vector<std::string> warnings_;
  std::vector<AddressFacts::Inlined> inlined_;  // inlined calls of the last answer

  // Keyed by process; null: the process has no map.
  absl::flat_hash_map<uint32_t, std::unique_ptr<PerfMap>> jit_maps_;

  bool kernel_read_ = false;
  std::optional<KernelSymbols> kernel_;
  std::string kernel_reference_;
  RuntimeAddress kernel_reference_address_;
  std::map<std::string, std::optional<KernelSymbols>> cached_kallsyms_;  // keyed by build-id
  std::map<uint64_t, KernelFunction> kernel_functions_;                  // keyed by start, disjoint
  // All functions ever announced, keyed by name. During a recording one function may replace
  // another at the same address. The name in the image says which of them a sample was in.
  absl::flat_hash_map<std::string_view, std::vector<KernelFunction>> announced_;
  std::deque<std::string> made_names_;  // never moves a string
};

ImageId FileFacts::AddImage(const ImageSpec& spec) {
  const ImageId id = specs_.Add(spec);
  if (static_cast<uint32_t>(id) == images_.size()) images_.push_back({.id = id});
  return id;
}

AddressFacts Unnamed(Reason reason) {
  AddressFacts facts;
  facts.reason = reason;
  return facts;
}

AddressFacts Named(const AddressFacts::Function& function, ElfAddress address) {
  AddressFacts facts;
  facts.reason = Reason::kNamed;
  facts.address = address;
  facts.function = function;
  return facts;
}

template <class HasIt>
FileFacts::Part FileFacts::PartAt(Image& image, uint64_t offset, HasIt has_it) {
  constexpr int kMostTried = 256;
  OpenImageState& whole = Open(image);
  const ImageSpec& spec = specs_[image.id];
  if (spec.kind != ImageKind::kUser || whole.reason != Reason::kNotElf) return {whole};
  if (auto next = image.parts.upper_bound(offset); next != image.parts.begin()) {
    const auto& [start, part] = *--next;
    if (part->file && has_it(part->file->elf, offset - start)) return {*part, start};
  }
  if (image.parts_tried++ >= kMostTried) return {whole};
  OpenedImage opened = OpenImage(spec, options_, SIZE_MAX, FileOffset{offset});
  if (!opened.file || opened.file->start == 0) return {whole};
  const uint64_t start = opened.file->start;
  std::unique_ptr<OpenImageState>& part = image.parts[start];
  if (part == nullptr) {
    part = std::make_unique<OpenImageState>();
    ReadFile(spec, std::move(opened), *part);
  }
  return {*part, start};
}

FileFacts::Part FileFacts::PartAt(Image& image, FileOffset offset) {
  return PartAt(image, offset.value, [](const ElfImage& elf, uint64_t its_offset) {
    return HasCodeAt(elf, {its_offset});
  });
}

FileFacts::Part FileFacts::PartAt(Image& image, ElfAddress address) {
  return PartAt(image, address.value, [](const ElfImage& elf, uint64_t its_address) {
    return elf.OffsetOf({its_address}).has_value();
  });
}

// Adds the offset of the ELF file in the archive. Each ELF file of an archive has addresses from 0,
// and the offset makes them unique within the image.
AddressFacts Moved(AddressFacts facts, uint64_t start) {
  if (facts.address) facts.address->value += start;
  if (facts.function) facts.function->start.value += start;
  if (facts.neighbour) facts.neighbour->start.value += start;
  return facts;
}

AddressFacts FileFacts::Find(ImageId id, CodePlace place) {
  Image& image = images_[static_cast<uint32_t>(id)];
  switch (specs_[id].kind) {
    case ImageKind::kUser:
    case ImageKind::kVdso: {
      const auto [state, start] = PartAt(image, place.offset());
      if (state.reason != Reason::kNamed) return Unnamed(state.reason);
      const std::optional<ElfAddress> address =
          state.file->elf.AddressOf({place.offset().value - start});
      return address ? Moved(FindInFile(state, *address), start) : Unnamed(Reason::kNoSymbol);
    }
    case ImageKind::kJit:
    case ImageKind::kAnonymous:
      return FindInJit(Open(image), place.address());
    case ImageKind::kJitDump:
      return FindInJitDump(Open(image), place.offset());
    case ImageKind::kKernel:
    case ImageKind::kModule:
      return FindInKernel(image, place.address());
    case ImageKind::kBpf:
      return FindInBpf(specs_[id], place.address());
    case ImageKind::kUnknown:
    case ImageKind::kNoCode:
      break;
  }
  return {};
}

AddressFacts FileFacts::FindAt(ImageId id, ElfAddress address) {
  Image& image = images_[static_cast<uint32_t>(id)];
  if (specs_[id].kind == ImageKind::kKernel) return FindInKernel(image, {address.value});
  if (specs_[id].kind == ImageKind::kJitDump) return FindInJitDump(Open(image), {address.value});
  if (specs_[id].kind != ImageKind::kUser && specs_[id].kind != ImageKind::kVdso) return {};
  const auto [state, start] = PartAt(image, address);
  if (state.reason != Reason::kNamed) return Unnamed(state.reason);
  return Moved(FindInFile(state, {address.value - start}), start);
}

CodeBytes CodeInJitDump(const JitDump& dump, FileOffset offset, uint64_t size) {
  const JitDump::Function* function = dump.Find(offset);
  if (function == nullptr) return {Reason::kNoSymbol, {}};
  const auto rest = function->code.subspan(offset.value - function->offset.value);
  return {Reason::kNamed, rest.first(std::min<uint64_t>(size, rest.size())), offset,
          dump.machine()};
}

// For the kernel, returns the code of vmlinux, which lacks the patches that the running kernel
// applied to itself.
CodeBytes FileFacts::CodeAt(ImageId id, ElfAddress address, uint64_t size) {
  Image& image = images_[static_cast<uint32_t>(id)];
  const ImageKind kind = specs_[id].kind;
  if (kind == ImageKind::kJitDump) {
    const OpenImageState& dump = Open(image);
    if (dump.reason != Reason::kNamed) return {dump.reason, {}};
    return CodeInJitDump(*dump.jit_dump, {address.value}, size);
  }
  const bool is_kernel = kind == ImageKind::kKernel;
  if (!is_kernel && kind != ImageKind::kUser && kind != ImageKind::kVdso) return {};
  const auto [state, start] = PartAt(image, address);
  if (state.reason != Reason::kNamed) return {state.reason, {}};
  if (!state.file) return {Reason::kNoImageFile, {}};
  const ElfImage& elf = state.file->elf;
  const std::span<const std::byte> bytes =
      elf.BytesAt({address.value - start - state.kernel_bias}, size);
  if (bytes.empty()) return {Reason::kNoSymbol, {}};
  const FileOffset offset = elf.OffsetOf({address.value - start}).value_or(FileOffset{});
  const CodePlace place = is_kernel ? CodePlace(RuntimeAddress{address.value})
                                    : CodePlace(FileOffset{offset.value + start});
  return {Reason::kNamed, bytes, place, CodeMachineOf(elf, {address.value - start})};
}

OpenImageState& FileFacts::Open(Image& image) {
  if (image.state != nullptr) return *image.state;
  specs_.Settle(image.id);
  image.state = std::make_unique<OpenImageState>();
  switch (specs_[image.id].kind) {
    case ImageKind::kUser:
    case ImageKind::kVdso:
      OpenFile(image);
      break;
    case ImageKind::kJit:
    case ImageKind::kAnonymous:
      OpenJit(specs_[image.id], *image.state);
      break;
    case ImageKind::kJitDump:
      OpenJitDump(specs_[image.id], *image.state).IgnoreError();  // JitCodes reports the error
      break;
    case ImageKind::kKernel:
    case ImageKind::kModule:
    case ImageKind::kBpf:
      OpenKernelImage(specs_[image.id], *image.state);
      break;
    case ImageKind::kUnknown:
    case ImageKind::kNoCode:
      break;
  }
  return *image.state;
}

std::optional<TrustedFile> FileFacts::TrustedFileOf(ImageId id) {
  Image& image = images_[static_cast<uint32_t>(id)];
  if (specs_[id].kind != ImageKind::kUser) return std::nullopt;
  if (image.state == nullptr && !image.opened) {
    specs_.Settle(id);
    image.opened = OpenImage(specs_[id], options_);
  }
  const std::optional<ImageFile>& found =
      image.state != nullptr ? image.state->file : image.opened->file;
  if (!found || !ProcessRootOf(*found, options_).empty()) return std::nullopt;
  if (!found->file.IsOfUserOrRoot()) return std::nullopt;
  return TrustedFile{*found->file.owner(), found->file.bytes().size(), found->path};
}

bool FileFacts::AreFilesTrusted(ImageId id) {
  const OpenImageState* const state = images_[static_cast<uint32_t>(id)].state.get();
  switch (specs_[id].kind) {
    case ImageKind::kUser:
      return TrustedFileOf(id).has_value();
    case ImageKind::kKernel:
      return state != nullptr && state->file && state->file->file.IsOfUserOrRoot();
    case ImageKind::kJitDump:
      return state != nullptr && state->jit_dump && state->jit_dump->IsOfUserOrRoot() &&
             !HasOwnRoot(specs_[id], options_);
    default:
      return false;
  }
}

OpenedImage FileFacts::OpenRecordedVdso(const ImageSpec& spec) {
  SymbolizerOptions options = options_;
  options.running_kernel =
      RunsRecordedKernel() ? RunningKernel::kIsRecorded : RunningKernel::kIsAnother;
  return OpenVdso(spec, options);
}

void FileFacts::OpenFile(Image& image) {
  const ImageSpec& spec = specs_[image.id];
  OpenImageState& state = *image.state;
  OpenedImage opened = image.opened                    ? *std::move(image.opened)
                       : spec.kind == ImageKind::kVdso ? OpenRecordedVdso(spec)
                                                       : OpenImage(spec, options_);
  image.opened.reset();
  ReadFile(spec, std::move(opened), state);
}

void FileFacts::ReadFile(const ImageSpec& spec, OpenedImage opened, OpenImageState& state) {
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
  WarnOfCutSections(*state.file);
  if (state.debug_file) WarnOfCutSections(*state.debug_file);
  if (state.file->file.HasChanged()) state.reason = Reason::kBuildIdMismatch;
}

// Warns of sections that end at a hole of the file. A hole may be legitimate in data of a program,
// but not in the sections that this code reads.
void FileFacts::WarnOfCutSections(const ImageFile& file) {
  constexpr uint64_t kData = SHF_WRITE | SHF_EXECINSTR;
  for (const ElfSection& section : file.elf.sections()) {
    if (!section.is_cut || (section.flags & kData) != 0) continue;
    warnings_.push_back(absl::StrCat(file.path, ": of its section ", View(section.name), " only ",
                                     section.contents.size(), " of ", section.size,
                                     " bytes are read, as the file has nothing more on disk"));
    return;
  }
}

// Opens the debug information in the image itself, or else in its debug file.
void FileFacts::OpenDebugInfo(const ImageSpec& spec, OpenImageState& state) {
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
  files.root = ProcessRootOf(*state.file, options_);
  files.follow_names = debug->file.IsOfUserOrRoot() && state.file->file.IsOfUserOrRoot();
  files.debug_directories = options_.debug_directories;
  files.lines = options_.lines;
  files.fetched = options_.fetched;
  state.debug_info = dwarf::DebugInfo::Open(files);
}

void FileFacts::OpenJit(const ImageSpec& spec, OpenImageState& state) {
  const auto [it, is_new] = jit_maps_.try_emplace(spec.pid, nullptr);
  if (is_new) it->second = ReadPerfMap(spec);
  state.jit = it->second.get();
  state.reason = state.jit == nullptr ? Reason::kNoImageFile : Reason::kNamed;
}

std::unique_ptr<PerfMap> FileFacts::ReadPerfMap(const ImageSpec& spec) {
  const JitMapPlaces places = PlacesOfJitMap(spec, options_);
  for (const std::string& path : places.paths) {
    const absl::StatusOr<UniqueFd> file = OpenJitFile(path, places.root, spec, options_);
    if (absl::IsFailedPrecondition(file.status())) {
      warnings_.push_back(absl::StrCat(file.status().message(), ": no names are taken from it"));
    }
    if (!file.ok()) continue;
    absl::StatusOr<PerfMap> map = PerfMap::Read(file->get(), path);
    if (!map.ok()) continue;
    if (map->is_cut()) {
      warnings_.push_back(absl::StrCat(path, " is larger than any JIT's map: only its first ",
                                       PerfMap::kMostFunctions, " functions, or ",
                                       PerfMap::kMostBytes >> 20, " MiB, are read"));
    }
    return std::make_unique<PerfMap>(*std::move(map));
  }
  return ReadKeptMap(spec);
}

// Does not check the owner, because the recorder checked it while the process lived.
std::unique_ptr<PerfMap> FileFacts::ReadKeptMap(const ImageSpec& spec) const {
  if (options_.kept == nullptr) return nullptr;
  const std::string path = options_.kept->FindMap(PidOf(spec.pid));
  if (path.empty()) return nullptr;
  const absl::StatusOr<UniqueFd> file = OpenRegularFile(path);
  if (!file.ok()) return nullptr;
  absl::StatusOr<PerfMap> map = PerfMap::Read(file->get(), path);
  return map.ok() ? std::make_unique<PerfMap>(*std::move(map)) : nullptr;
}

// Discards facts from a file that was overwritten while it was read.
AddressFacts FileFacts::FindInFile(OpenImageState& state, ElfAddress address) {
  const AddressFacts facts = LookUpInFile(state, address);
  if (!state.has_lost_bytes()) return facts;
  state.reason = Reason::kBuildIdMismatch;
  return Unnamed(state.reason);
}

// Returns the symbol, unless it has no size and `address` lies beyond its function.
const Symbol* WithinFunction(OpenImageState& state, const Symbol* symbol, ElfAddress address) {
  if (symbol == nullptr || symbol->sized) return symbol;
  if (state.functions.MayBeOne({symbol->start}, address)) return symbol;
  return state.symbols.FindSized(address.value);
}

std::span<const dwarf::SourceFrame> FileFacts::FindInDebugInfo(OpenImageState& state,
                                                               ElfAddress address) {
  const std::span<const dwarf::SourceFrame> frames = state.debug_info->Find(address);
  if (state.debug_info->is_cut() && !state.is_cut_told) {
    state.is_cut_told = true;
    warnings_.push_back(absl::StrCat(
        state.debug_file ? state.debug_file->path : state.file->path,
        ": its debug information is not read to the end, so inlined calls are missing: its entries "
        "list many times more attributes than compilers write"));
  }
  return frames;
}

// Names the function by its symbol, even if debug information has another name, because rows of a
// report are symbols.
AddressFacts FileFacts::LookUpInFile(OpenImageState& state, ElfAddress address) {
  AddressFacts facts;
  facts.address = address;
  const Symbol* const found = state.symbols.Find(address.value);
  const Symbol* const symbol = WithinFunction(state, found, address);
  if (symbol != found) facts.neighbour = FunctionOf(state, *found);
  std::span<const dwarf::SourceFrame> frames;
  if (state.debug_info != nullptr && (symbol == nullptr || !symbol->plt)) {
    frames = FindInDebugInfo(state, address);
  }
  if (symbol != nullptr) {
    facts.function = FunctionOf(state, *symbol);
  } else if (!frames.empty() && !frames.back().function.empty()) {
    const dwarf::SourceFrame& frame = frames.back();
    facts.function = {frame.function, frame.start, frame.size, /*in_symbol_table=*/false};
  } else {
    if (const auto function = state.functions.Find(address); function && function->size != 0) {
      facts.function = {"", function->start, function->size};
    }
    return facts;
  }
  facts.reason = Reason::kNamed;
  facts.has_debug_info = !frames.empty();
  AddFrames(frames, facts);
  return facts;
}

// Returns a function. Its name stays in the file, except that of a PLT stub, which is stored here.
AddressFacts::Function FileFacts::FunctionOf(OpenImageState& state, const Symbol& symbol) {
  std::string_view name = state.symbols.RawName(symbol);
  if (symbol.plt) {
    std::string_view& stub = state.stubs[state.symbols.IndexOf(symbol)];
    if (stub.data() == nullptr) stub = made_names_.emplace_back(std::string(name) + "@plt");
    name = stub;
  }
  return {name, {symbol.start}, symbol.end - symbol.start};
}

// Adds lines and inlined calls. The last frame is the function itself.
void FileFacts::AddFrames(std::span<const dwarf::SourceFrame> frames, AddressFacts& facts) {
  if (frames.empty()) return;
  inlined_.clear();
  for (const dwarf::SourceFrame& frame : frames.first(frames.size() - 1)) {
    inlined_.push_back(
        {frame.function.empty() ? "??" : frame.function, {frame.file, frame.line, frame.column}});
  }
  facts.inlined = inlined_;
  facts.at = {frames.back().file, frames.back().line, frames.back().column};
}

AddressFacts FileFacts::FindInJit(const OpenImageState& state, RuntimeAddress address) const {
  if (state.reason != Reason::kNamed) return Unnamed(state.reason);
  const PerfMap::Function* function = state.jit->Find(address.value);
  if (function == nullptr) return Unnamed(Reason::kNoSymbol);
  return Named({function->name, {function->start}, function->size}, {address.value});
}

absl::StatusOr<std::span<const JitCode>> FileFacts::JitCodes(ImageId id) {
  Image& image = images_[static_cast<uint32_t>(id)];
  if (image.state == nullptr) {
    specs_.Settle(id);
    image.state = std::make_unique<OpenImageState>();
    PROFILER_RETURN_IF_ERROR(OpenJitDump(specs_[id], *image.state));
  }
  if (!image.state->jit_dump)
    return absl::NotFoundError(absl::StrCat(specs_[id].path, ": no dump"));
  return image.state->jit_dump->codes();
}

absl::StatusOr<JitDump> ReadJitDump(const std::string& path, const std::string& root,
                                    const ImageSpec& spec, const SymbolizerOptions& options) {
  PROFILER_ASSIGN_OR_RETURN(const UniqueFd file, OpenJitFile(path, root, spec, options));
  return JitDump::Read(file.get(), path);
}

// Reads the dump in the process's file system while the process lives, else in our own.
absl::Status FileFacts::OpenJitDump(const ImageSpec& spec, OpenImageState& state) {
  const std::string process = DirectoryOfProcess(spec, options_);
  absl::StatusOr<JitDump> dump = absl::NotFoundError("");
  if (!process.empty()) {
    const std::string root = process + "/root";
    dump = ReadJitDump(root + spec.path, root, spec, options_);
  }
  if (!dump.ok()) dump = ReadJitDump(options_.symfs + spec.path, "", spec, options_);
  if (!dump.ok()) {
    state.reason = Reason::kNoImageFile;
    return dump.status();
  }
  state.jit_dump = *std::move(dump);
  state.jit_dump->AdjustTimes(spec.mapped_at);
  if (state.jit_dump->is_cut()) {
    warnings_.push_back(absl::StrCat(spec.path, " is larger than any JIT's dump: only its first ",
                                     JitDump::Limits().codes, " functions, or ",
                                     JitDump::Limits().lines, " lines, are read"));
  }
  return absl::OkStatus();
}

AddressFacts FileFacts::FindInJitDump(const OpenImageState& state, FileOffset offset) {
  if (state.reason != Reason::kNamed) return Unnamed(state.reason);
  const JitDump::Function* function = state.jit_dump->Find(offset);
  if (function == nullptr) return Unnamed(Reason::kNoSymbol);
  AddressFacts facts =
      Named({function->name, {function->offset.value}, function->size}, {offset.value});
  if (const JitDump::Line* line = JitDump::LineAt(*function, facts.distance())) {
    facts.at = {line->file, line->line};
  }
  if (const JitDump::Place* place = JitDump::PlaceAt(*function, facts.distance())) {
    AddInlinedCalls(*function, *place, facts);
  }
  return facts;
}

// Adds inlined calls. The loop ends, because a call's caller has a smaller index than the call.
void FileFacts::AddInlinedCalls(const JitDump::Function& function, const JitDump::Place& place,
                                AddressFacts& facts) {
  inlined_.clear();
  uint32_t line = place.line;
  for (uint32_t at = place.call; at != JitDump::kNone; at = function.calls[at].caller) {
    const JitDump::Call& call = function.calls[at];
    inlined_.push_back({call.name, {call.file, line}});
    line = call.line;
  }
  facts.inlined = inlined_;
  facts.at = {function.file, line};
}

AddressFacts FileFacts::FindInKernel(Image& image, RuntimeAddress ip) {
  const uint64_t address = ip.value;
  if (const KernelFunction* function = FindKernelFunction(address)) {
    return Named({function->name, {function->start}, function->size}, {address});
  }
  OpenImageState& state = Open(image);
  if (state.reason != Reason::kNamed) return Unnamed(state.reason);
  const uint64_t shift = state.named_by_vmlinux ? state.kernel_bias : state.kallsyms_shift;
  const SymbolTable& table = state.named_by_vmlinux ? state.symbols : state.kallsyms->table();
  const Symbol* symbol = table.Find(address - shift);
  if (symbol == nullptr) return Unnamed(Reason::kNoSymbol);
  AddressFacts facts = Named(
      {table.RawName(*symbol), {symbol->start + shift}, symbol->end - symbol->start}, {address});
  if (state.debug_info != nullptr) {
    AddFrames(FindInDebugInfo(state, {address - state.kernel_bias}), facts);
  }
  return facts;
}

// Uses the announced functions, because kallsyms has only the functions that exist now.
AddressFacts FileFacts::FindInBpf(const ImageSpec& spec, RuntimeAddress address) const {
  const auto announced = announced_.find(spec.path);
  if (announced == announced_.end()) return Unnamed(Reason::kNoSymbol);
  for (const KernelFunction& function : announced->second) {
    if (address.value - function.start >= function.size) continue;
    return Named({function.name, {function.start}, function.size}, {address.value});
  }
  return Unnamed(Reason::kNoSymbol);
}

void FileFacts::OpenKernelImage(const ImageSpec& spec, OpenImageState& state) {
  state.reason = ReasonAgainstKallsyms(spec);
  if (state.reason == Reason::kNamed) NameByKallsyms(*kernel_, spec, state);
  if (state.reason != Reason::kNamed) {
    const bool is_kernel = spec.kind == ImageKind::kKernel && !spec.build_id.empty();
    const KernelSymbols* const cached =
        CachedKallsyms(is_kernel ? spec.build_id : options_.kernel_build_id);
    if (cached != nullptr) NameByKallsyms(*cached, spec, state);
  }
  if (spec.kind == ImageKind::kKernel) OpenKernelFile(spec, state);
}

void FileFacts::NameByKallsyms(const KernelSymbols& kallsyms, const ImageSpec& spec,
                               OpenImageState& state) {
  const std::optional<uint64_t> shift = ShiftOf(kallsyms, spec);
  state.reason = shift ? Reason::kNamed : Reason::kBuildIdMismatch;
  if (!shift) return;
  state.kallsyms = &kallsyms;
  state.kallsyms_shift = *shift;
}

// Returns recorded addresses minus those of kallsyms, modulo 2^64. Empty for a module that kallsyms
// has at another address than the recording, because its functions may have other offsets.
std::optional<uint64_t> FileFacts::ShiftOf(const KernelSymbols& kallsyms,
                                           const ImageSpec& spec) const {
  const uint64_t now = kallsyms.ReferenceAddress(kernel_reference_);
  const uint64_t shift = now == 0 ? 0 : kernel_reference_address_.value - now;
  if (spec.kind != ImageKind::kModule) return shift;
  // A module's first function may follow padding, notes and jump tables.
  constexpr uint64_t kFarthest = uint64_t{64} << 10;
  const uint64_t first = kallsyms.FirstOfModule(ModuleName(spec.path));
  const bool is_there = spec.start.value == 0 || first - spec.start.value < kFarthest;
  if (shift != 0 || !is_there) return std::nullopt;
  return shift;
}

// Reads the symbol list in perf's cache, which perf wrote when recording or `perf archive` copied.
const KernelSymbols* FileFacts::CachedKallsyms(std::span<const std::byte> build_id) {
  if (build_id.size() < 2) return nullptr;
  const auto [cached, is_new] =
      cached_kallsyms_.try_emplace(std::string(TextOf(build_id)), std::nullopt);
  if (is_new) {
    for (const std::string& path : PathsOfCachedKallsyms(build_id, options_)) {
      absl::StatusOr<KernelSymbols> symbols = KernelSymbols::Read(path);
      if (!symbols.ok() || symbols->restricted()) continue;
      cached->second = *std::move(symbols);
      break;
    }
  }
  return cached->second ? &*cached->second : nullptr;
}

// Opens vmlinux: for lines, and also for names if kallsyms is unusable.
void FileFacts::OpenKernelFile(const ImageSpec& spec, OpenImageState& state) {
  const bool has_names = state.reason == Reason::kNamed;
  if (has_names && !options_.inlines) return;
  const bool is_running = has_names && spec.build_id.empty() && state.kallsyms == &*kernel_;
  std::optional<ImageFile> file =
      OpenVmlinux(is_running ? RunningBuildId(spec) : spec.build_id, options_);
  if (!file) return;
  uint64_t recorded = kernel_reference_address_.value;
  uint64_t linked = LinkedAddress(file->elf, kernel_reference_).value;
  if (recorded == 0 && has_names) {
    recorded = state.kallsyms->ReferenceAddress("_stext");
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

// Returns true if the running kernel is the recorded one. For kernels without a build-id.
bool FileFacts::RunsRecordedKernel() {
  if (options_.running_kernel != RunningKernel::kMayBe) {
    return options_.running_kernel == RunningKernel::kIsRecorded;
  }
  const KernelSymbols* const kernel = Kernel();
  return kernel != nullptr && kernel_reference_address_.value != 0 &&
         kernel->ReferenceAddress(kernel_reference_) == kernel_reference_address_.value;
}

bool FileFacts::IsOfRunningKernel(const ImageSpec& spec) {
  return spec.build_id.empty() ? RunsRecordedKernel()
                               : SameBuildId(RunningBuildId(spec), spec.build_id);
}

// kallsyms describes the running kernel, so it cannot name another build of the kernel or a module.
Reason FileFacts::ReasonAgainstKallsyms(const ImageSpec& spec) {
  const KernelSymbols* kernel = Kernel();
  if (kernel == nullptr) return Reason::kNoImageFile;
  const bool is_recorded = options_.kallsyms_is_recorded || IsOfRunningKernel(spec);
  if (kernel->restricted()) {
    const bool may_be =
        is_recorded || (spec.build_id.empty() && options_.running_kernel == RunningKernel::kMayBe);
    return may_be ? Reason::kRestricted : Reason::kBuildIdMismatch;
  }
  return is_recorded ? Reason::kNamed : Reason::kBuildIdMismatch;
}

// Returns the build-id of the running kernel or of its loaded module; empty: unknown.
std::vector<std::byte> FileFacts::RunningBuildId(const ImageSpec& spec) const {
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

const KernelSymbols* FileFacts::Kernel() {
  if (!kernel_read_) {
    kernel_read_ = true;
    absl::StatusOr<KernelSymbols> symbols = KernelSymbols::Read(options_.kallsyms_path);
    if (symbols.ok()) kernel_ = *std::move(symbols);
  }
  return kernel_ ? &*kernel_ : nullptr;
}

void FileFacts::SetKernelReference(std::string_view symbol, RuntimeAddress address) {
  kernel_reference_ = symbol;
  kernel_reference_address_ = address;
}

void FileFacts::AddKernelSymbol(RuntimeAddress start, uint64_t size, std::string_view name) {
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
  std::vector<KernelFunction>& announced = announced_[kept];
  const bool is_new =
      announced.empty() || announced.back().start != start.value || announced.back().size != size;
  if (is_new) announced.push_back({start.value, size, kept});
}

const FileFacts::KernelFunction* FileFacts::FindKernelFunction(uint64_t address) const {
  const auto after = kernel_functions_.upper_bound(address);
  if (after == kernel_functions_.begin()) return nullptr;
  const KernelFunction& function = std::prev(after)->second;
  return address - function.start < function.size ? &function : nullptr;
}

}  // namespace

std::unique_ptr<FactSource> CreateFileFacts(const SymbolizerOptions& options) {
  return std::make_unique<FileFacts>(options);
}

}  // namespace profiler::symbolize
