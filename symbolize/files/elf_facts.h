// Facts of one ELF file of user code: symbols, call frame information and debug information, from
// the file and from its debug file.
//
// Private to this package.

#pragma once

#include <optional>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "symbolize/files/debug_lines.h"
#include "symbolize/files/facts_context.h"
#include "symbolize/image_file.h"
#include "symbolize/symbols/symbol_table.h"
#include "symbolize/unwind/function_extents.h"

namespace profiler::symbolize {

class ElfFacts {
 public:
  // Reads the file of `spec`, whose kind is kUser or kVdso, and opens its debug file.
  ElfFacts(const ImageSpec& spec, OpenedImage opened, FactsContext& context);
  ElfFacts(const ElfFacts&) = delete;

  // If not kNamed: the reason for all addresses.
  Reason reason() const { return reason_; }
  // The file; empty if it could not be opened.
  const std::optional<ImageFile>& file() const { return file_; }

  // Returns the facts of an address of the file. Requires kNamed.
  AddressFacts Find(ElfAddress address);

 private:
  void OpenDebugInfo(const ImageSpec& spec);
  void WarnOfCutSections(const ImageFile& file);
  AddressFacts LookUp(ElfAddress address);
  AddressFacts::Function FunctionOf(const Symbol& symbol);
  const Symbol* WithinFunction(const Symbol* symbol, ElfAddress address);
  // Returns true if one of the files was overwritten while it was read.
  bool has_lost_bytes() const {
    return (file_ && file_->file.has_lost_bytes()) ||
           (debug_file_ && debug_file_->file.has_lost_bytes());
  }

  FactsContext& context_;
  Reason reason_;
  std::optional<ImageFile> file_;
  std::optional<ImageFile> debug_file_;
  std::optional<ImageFile> mini_file_;  // ELF file in .gnu_debugdata
  SymbolTable symbols_;
  DebugLines lines_;
  FunctionExtents functions_;
  // Names of PLT stubs, by index in `symbols_`.
  absl::flat_hash_map<uint32_t, std::string_view> stubs_;
};

}  // namespace profiler::symbolize
