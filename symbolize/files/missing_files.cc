#include "symbolize/files/missing_files.h"

#include "symbolize/dwarf/sections.h"
#include "symbolize/files/debug_files.h"
#include "symbolize/image_file.h"
#include "symbolize/symbols/elf_symbols.h"

namespace profiler::symbolize {
namespace {

bool NamesAreThere(const ElfImage& elf, bool inlines) {
  return inlines ? dwarf::HasDebugInfo(elf) : HasSymtab(elf);
}

}  // namespace

std::optional<MissingFiles> MissingFilesOf(const ImageSpec& spec,
                                           const SymbolizerOptions& options) {
  if (spec.kind != ImageKind::kUser) return std::nullopt;
  const OpenedImage opened = OpenImage(spec, options);
  MissingFiles missing{.path = spec.path};
  if (!opened.file) {
    if (opened.reason == Reason::kNotElf || spec.build_id.empty()) return std::nullopt;
    missing.build_id = spec.build_id;
    missing.executable = missing.debug_info = true;
    return missing;
  }
  const ElfImage& elf = opened.file->elf;
  if (elf.build_id().empty() || NamesAreThere(elf, options.inlines)) return std::nullopt;
  const auto debug = OpenDebugFile(*opened.file, options);
  if (debug && NamesAreThere(debug->elf, options.inlines)) return std::nullopt;
  missing.build_id.assign(elf.build_id().begin(), elf.build_id().end());
  missing.debug_info = true;
  return missing;
}

}  // namespace profiler::symbolize
