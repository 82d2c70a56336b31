#include "symbolize/unwind/function_extents.h"

#include <elf.h>

#include <algorithm>
#include <utility>

namespace profiler::symbolize {

std::optional<FunctionExtent> FunctionExtents::Find(ElfAddress address) {
  if (!read_ && image_ != nullptr) {
    auto table = CfiTable::Create(*image_, debug_ == image_ ? nullptr : debug_);
    if (table.ok()) table_ = *std::move(table);
  }
  read_ = true;
  return table_ == nullptr ? std::nullopt : table_->FunctionAt(address);
}

bool FunctionExtents::MayBeOne(ElfAddress start, ElfAddress address) {
  if (start == address || image_ == nullptr) return true;
  const std::span<const ElfSection> sections = image_->sections();
  const auto section = std::find_if(sections.begin(), sections.end(), [&](const ElfSection& s) {
    return (s.flags & SHF_ALLOC) != 0 && s.Holds(start);
  });
  if (section != sections.end() && !section->Holds(address)) return false;
  const std::optional<FunctionExtent> function = Find(address);
  return !function || function->start <= start;
}

}  // namespace profiler::symbolize
