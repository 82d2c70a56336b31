#include "symbolize/files/elf_facts.h"

#include <elf.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "symbolize/dwarf/sections.h"
#include "symbolize/files/debug_files.h"
#include "symbolize/symbols/elf_symbols.h"

namespace profiler::symbolize {

ElfFacts::ElfFacts(const ImageSpec& spec, OpenedImage opened, FactsContext& context)
    : context_(context), reason_(opened.reason), lines_(context) {
  if (!opened.file) return;
  file_ = std::move(opened.file);
  if (!HasSymtab(file_->elf) && spec.kind == ImageKind::kUser) {
    debug_file_ = OpenDebugFile(*file_, context_.options);
    if (!debug_file_) mini_file_ = UnpackMiniDebugInfo(*file_);
  }
  const ElfImage& symbols = debug_file_  ? debug_file_->elf
                            : mini_file_ ? mini_file_->elf
                                         : file_->elf;
  symbols_ = ReadElfSymbols(file_->elf, symbols, mini_file_.has_value());
  functions_ = FunctionExtents(&file_->elf, debug_file_ ? &debug_file_->elf : &file_->elf);
  if (context_.options.inlines) OpenDebugInfo(spec);
  WarnOfCutSections(*file_);
  if (debug_file_) WarnOfCutSections(*debug_file_);
  if (file_->file.HasChanged()) reason_ = Reason::kBuildIdMismatch;
}

// Opens the debug information in the image itself, or else in its debug file.
void ElfFacts::OpenDebugInfo(const ImageSpec& spec) {
  const bool is_in_image = dwarf::HasDebugInfo(file_->elf);
  if (!is_in_image && !debug_file_ && spec.kind == ImageKind::kUser) {
    debug_file_ = OpenDebugFile(*file_, context_.options);
  }
  if (!is_in_image && !debug_file_) return;
  lines_.Open(*file_, is_in_image ? *file_ : *debug_file_,
              debug_file_ ? debug_file_->path : file_->path);
}

// Warns of sections that end at a hole of the file. A hole may be legitimate in data of a program,
// but not in the sections that this code reads.
void ElfFacts::WarnOfCutSections(const ImageFile& file) {
  constexpr uint64_t kData = SHF_WRITE | SHF_EXECINSTR;
  for (const ElfSection& section : file.elf.sections()) {
    if (!section.is_cut || (section.flags & kData) != 0) continue;
    context_.warnings.push_back(absl::StrCat(
        file.path, ": of its section ", View(section.name), " only ", section.contents.size(),
        " of ", section.size, " bytes are read, as the file has nothing more on disk"));
    return;
  }
}

// Discards facts from a file that was overwritten while it was read.
AddressFacts ElfFacts::Find(ElfAddress address) {
  const AddressFacts facts = LookUp(address);
  if (!has_lost_bytes()) return facts;
  reason_ = Reason::kBuildIdMismatch;
  return Unnamed(reason_);
}

// Returns the symbol, unless it has no size and `address` lies beyond its function.
const Symbol* ElfFacts::WithinFunction(const Symbol* symbol, ElfAddress address) {
  if (symbol == nullptr || symbol->sized) return symbol;
  if (functions_.MayBeOne({symbol->start}, address)) return symbol;
  return symbols_.FindSized(address.value);
}

// Names the function by its symbol, even if debug information has another name, because rows of a
// report are symbols.
AddressFacts ElfFacts::LookUp(ElfAddress address) {
  AddressFacts facts;
  facts.address = address;
  const Symbol* const found = symbols_.Find(address.value);
  const Symbol* const symbol = WithinFunction(found, address);
  if (symbol != found) facts.neighbour = FunctionOf(*found);
  std::span<const dwarf::SourceFrame> frames;
  if (symbol == nullptr || !symbol->plt) frames = lines_.Find(address);
  if (symbol != nullptr) {
    facts.function = FunctionOf(*symbol);
  } else if (!frames.empty() && !frames.back().function.empty()) {
    const dwarf::SourceFrame& frame = frames.back();
    facts.function = {frame.function, frame.start, frame.size, /*in_symbol_table=*/false};
  } else {
    if (const auto function = functions_.Find(address); function && function->size != 0) {
      facts.function = {"", function->start, function->size};
    }
    return facts;
  }
  facts.reason = Reason::kNamed;
  facts.has_debug_info = !frames.empty();
  lines_.AddFrames(frames, facts);
  return facts;
}

// Returns a function. Its name stays in the file, except that of a PLT stub, which is stored here.
AddressFacts::Function ElfFacts::FunctionOf(const Symbol& symbol) {
  std::string_view name = symbols_.RawName(symbol);
  if (symbol.plt) {
    std::string_view& stub = stubs_[symbols_.IndexOf(symbol)];
    if (stub.data() == nullptr) {
      stub = context_.names.emplace_back(std::string(name) + "@plt");
    }
    name = stub;
  }
  return {name, {symbol.start}, symbol.end - symbol.start};
}

}  // namespace profiler::symbolize
