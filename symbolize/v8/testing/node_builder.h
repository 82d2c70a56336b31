// Builds images of Node.js for tests.

#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "symbolize/unwind/testing/cfi_builder.h"

namespace profiler::symbolize::v8 {

// The variables of Node.js 20.20.2 that are read.
inline std::map<std::string, int32_t> NodeVariables() {
  return {
      {"SmiTag", 0},
      {"SmiTagMask", 1},
      {"SmiValueShift", 1},
      {"SmiShiftSize", 31},
      {"TaggedSize", 8},
      {"HeapObjectTag", 1},
      {"HeapObjectTagMask", 3},
      {"class_HeapObject__map__Map", 0},
      {"class_Map__instance_type__uint16_t", 12},
      {"class_JSFunction__shared__SharedFunctionInfo", 24},
      {"class_JSFunction__context__Context", 32},
      {"class_SharedFunctionInfo__function_data__Object", 8},
      {"class_SharedFunctionInfo__name_or_scope_info__Object", 16},
      {"class_SharedFunctionInfo__script_or_debug_info__HeapObject", 32},
      {"class_Code__bytecode_or_interpreter_data__HeapObject", 16},
      {"class_Script__source__Object", 8},
      {"class_Script__name__Object", 16},
      {"class_String__length__int32_t", 12},
      {"class_SeqOneByteString__chars__char", 16},
      {"class_SeqTwoByteString__chars__char", 16},
      {"class_ConsString__first__String", 16},
      {"class_ConsString__second__String", 24},
      {"class_ThinString__actual__String", 16},
      {"class_SlicedString__parent__String", 16},
      {"class_SlicedString__offset__SMI", 24},
      {"class_ExternalString__resource__Object", 16},
      {"scopeinfo_idx_ncontextlocals", 2},
      {"scopeinfo_idx_first_vars", 3},
      {"type_Map__MAP_TYPE", 255},
      {"type_JSFunction__JS_FUNCTION_TYPE", 2066},
      {"type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE", 262},
      {"type_Script__SCRIPT_TYPE", 167},
      {"type_ScopeInfo__SCOPE_INFO_TYPE", 261},
      {"type_BytecodeArray__BYTECODE_ARRAY_TYPE", 191},
      {"type_InterpreterData__INTERPRETER_DATA_TYPE", 180},
      {"type_Code__CODE_TYPE", 245},
      {"FirstNonstringType", 128},
      {"StringRepresentationMask", 7},
      {"StringEncodingMask", 8},
      {"OneByteStringTag", 8},
      {"SeqStringTag", 0},
      {"ConsStringTag", 1},
      {"ExternalStringTag", 2},
      {"SlicedStringTag", 3},
      {"ThinStringTag", 5},
      {"off_fp_function", -16},
      {"off_fp_context", -8},
      {"off_fp_bytecode_array", -32},
      {"parent_ScopeInfo__HeapObject", 0},
  };
}

// Builds an image with these variables, whose symbols are in .symtab.
inline std::vector<std::byte> NodeImage(const std::map<std::string, int32_t>& variables) {
  constexpr uint64_t kData = 0x10000;
  ByteBuilder names{0}, symbols, data;
  symbols.U64(0).U64(0).U64(0);
  for (const auto& [name, value] : variables) {
    symbols.U32(static_cast<uint32_t>(names.size()));
    symbols.U8(ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT)).U8(0).U8(3).U8(0);
    symbols.U64(kData + data.size()).U64(sizeof(value));
    names.Text("v8dbg_" + name);
    data.U32(static_cast<uint32_t>(value));
  }
  ElfBuilder elf;
  elf.Section(".symtab", 0, symbols, 0).Section(".strtab", 0, names, 0);
  elf.Section(".data", kData, data);
  std::vector<std::byte> file = elf.Build();
  // Returns a section header.
  const auto section = [&file](size_t number) {
    Elf64_Ehdr header;
    std::memcpy(&header, file.data(), sizeof(header));
    return reinterpret_cast<Elf64_Shdr*>(file.data() + header.e_shoff) + number;
  };
  const Elf64_Shdr of_data = *section(3);
  file = elf.Segment(of_data.sh_offset, kData, of_data.sh_size, PF_R | PF_W).Build();
  Elf64_Shdr* const of_symbols = section(1);
  of_symbols->sh_type = SHT_SYMTAB;
  of_symbols->sh_link = 2;
  of_symbols->sh_entsize = sizeof(Elf64_Sym);
  section(2)->sh_type = SHT_STRTAB;
  return file;
}

}  // namespace profiler::symbolize::v8
