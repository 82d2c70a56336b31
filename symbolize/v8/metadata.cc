#include "symbolize/v8/metadata.h"

#include <gelf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "src/base/byte_reader.h"
#include "symbolize/elf/libelf_file.h"

namespace profiler::symbolize::v8 {
namespace {

constexpr std::string_view kPrefix = "v8dbg_";
// Ten times as many as the largest programs have.
constexpr size_t kMostSymbols = size_t{1} << 24;
// All fields are closer than this to the start of their object or frame.
constexpr int32_t kFarthest = 256;

struct Name {
  std::string_view name;  // name without the prefix v8dbg_
  int32_t Metadata::*value;
};

constexpr std::array<Name, 46> kNames = {{
    {"SmiTag", &Metadata::smi_tag},
    {"SmiTagMask", &Metadata::smi_tag_mask},
    {"HeapObjectTag", &Metadata::heap_object_tag},
    {"HeapObjectTagMask", &Metadata::heap_object_tag_mask},
    {"class_HeapObject__map__Map", &Metadata::object_map},
    {"class_Map__instance_type__uint16_t", &Metadata::map_instance_type},
    {"class_JSFunction__shared__SharedFunctionInfo", &Metadata::function_shared},
    {"class_JSFunction__context__Context", &Metadata::function_context},
    {"class_SharedFunctionInfo__function_data__Object", &Metadata::shared_data},
    {"class_SharedFunctionInfo__name_or_scope_info__Object", &Metadata::shared_name_or_scope_info},
    {"class_SharedFunctionInfo__script_or_debug_info__HeapObject", &Metadata::shared_script},
    {"class_Code__bytecode_or_interpreter_data__HeapObject", &Metadata::code_bytecode},
    {"class_Script__source__Object", &Metadata::script_source},
    {"class_Script__name__Object", &Metadata::script_name},
    {"class_String__length__int32_t", &Metadata::string_length},
    {"class_SeqOneByteString__chars__char", &Metadata::one_byte_chars},
    {"class_SeqTwoByteString__chars__char", &Metadata::two_byte_chars},
    {"class_ConsString__first__String", &Metadata::cons_first},
    {"class_ConsString__second__String", &Metadata::cons_second},
    {"class_ThinString__actual__String", &Metadata::thin_actual},
    {"class_SlicedString__parent__String", &Metadata::sliced_parent},
    {"class_SlicedString__offset__SMI", &Metadata::sliced_offset},
    {"class_ExternalString__resource__Object", &Metadata::external_resource},
    {"scopeinfo_idx_ncontextlocals", &Metadata::scope_local_count},
    {"scopeinfo_idx_first_vars", &Metadata::scope_first_local},
    {"type_Map__MAP_TYPE", &Metadata::map_type},
    {"type_JSFunction__JS_FUNCTION_TYPE", &Metadata::function_type},
    {"type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE", &Metadata::shared_type},
    {"type_Script__SCRIPT_TYPE", &Metadata::script_type},
    {"type_ScopeInfo__SCOPE_INFO_TYPE", &Metadata::scope_info_type},
    {"type_BytecodeArray__BYTECODE_ARRAY_TYPE", &Metadata::bytecode_type},
    {"type_InterpreterData__INTERPRETER_DATA_TYPE", &Metadata::interpreter_data_type},
    {"type_Code__CODE_TYPE", &Metadata::code_type},
    {"FirstNonstringType", &Metadata::first_nonstring_type},
    {"StringRepresentationMask", &Metadata::representation_mask},
    {"StringEncodingMask", &Metadata::encoding_mask},
    {"OneByteStringTag", &Metadata::one_byte_tag},
    {"SeqStringTag", &Metadata::sequential_tag},
    {"ConsStringTag", &Metadata::cons_tag},
    {"ExternalStringTag", &Metadata::external_tag},
    {"SlicedStringTag", &Metadata::sliced_tag},
    {"ThinStringTag", &Metadata::thin_tag},
    {"off_fp_function", &Metadata::frame_function},
    {"off_fp_context", &Metadata::frame_context},
    {"off_fp_bytecode_array", &Metadata::frame_bytecode},
    // Not read, but must exist: an older ScopeInfo is an array, with its length after the map.
    {"parent_ScopeInfo__HeapObject", nullptr},
}};

using Values = absl::flat_hash_map<std::string_view, int32_t>;

// Returns the variable's value in the file; 0 if it is in zero-initialized memory.
std::optional<int32_t> InitialValue(const ElfImage& image, ElfAddress address) {
  const std::span<const std::byte> bytes = image.BytesAt(address, sizeof(int32_t));
  int32_t value = 0;
  if (bytes.size() == sizeof(value)) {
    std::memcpy(&value, bytes.data(), sizeof(value));
    return value;
  }
  const auto holds = [&](const ElfSegment& segment) {
    return address >= segment.address &&
           address.value - segment.address.value < segment.memory_size;
  };
  const bool is_there = std::any_of(image.segments().begin(), image.segments().end(), holds);
  return is_there && bytes.empty() ? std::optional(value) : std::nullopt;
}

void AddValues(const ElfImage& image, const ElfSection& section, Values* values) {
  const ElfSection* const names = image.section(section.link);
  if (names == nullptr || names->type != SHT_STRTAB) return;
  const LibelfFile file(image.bytes());
  const size_t most = kMostSymbols * gelf_fsize(file.get(), ELF_T_SYM, 1, EV_CURRENT);
  Elf_Data* const table =
      file.Table(section.contents.first(std::min(section.contents.size(), most)), ELF_T_SYM);
  GElf_Sym symbol;
  for (int i = 0; gelf_getsym(table, i, &symbol) != nullptr; ++i) {
    if (GELF_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_size != sizeof(int32_t)) continue;
    std::string_view name = StringAt(names->contents, symbol.st_name);
    if (!name.starts_with(kPrefix)) continue;
    name.remove_prefix(kPrefix.size());
    const auto value = InitialValue(image, ElfAddress{symbol.st_value});
    if (value) values->try_emplace(name, *value);
  }
}

// Returns true if fields are near their object's start and aligned.
bool AreOffsetsSound(const Metadata& data) {
  for (const int32_t offset :
       {data.object_map, data.function_shared, data.function_context, data.shared_data,
        data.shared_name_or_scope_info, data.shared_script, data.code_bytecode, data.script_source,
        data.script_name, data.cons_first, data.cons_second, data.thin_actual, data.sliced_parent,
        data.sliced_offset, data.external_resource}) {
    if (offset < 0 || offset > kFarthest || offset % kWord != 0) return false;
  }
  for (const int32_t offset :
       {data.map_instance_type, data.string_length, data.one_byte_chars, data.two_byte_chars}) {
    if (offset < 0 || offset > kFarthest) return false;
  }
  for (const int32_t offset : {data.frame_function, data.frame_context, data.frame_bytecode}) {
    if (offset >= 0 || offset < -kFarthest || offset % kWord != 0) return false;
  }
  for (const int32_t index : {data.scope_local_count, data.scope_first_local}) {
    if (index < 1 || index > kFarthest / kWord) return false;
  }
  return true;
}

}  // namespace

std::optional<Metadata> Metadata::Read(const ElfImage& image) {
  if (!image.is_64_bit()) return std::nullopt;
  Values values;
  for (const uint32_t type : {SHT_DYNSYM, SHT_SYMTAB}) {
    const ElfSection* const section = image.FindSectionOfType(type);
    if (section != nullptr && values.empty()) AddValues(image, *section, &values);
  }
  const auto find = [&](std::string_view name) -> std::optional<int32_t> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
  Metadata data;
  for (const Name& name : kNames) {
    const auto value = find(name.name);
    if (!value) return std::nullopt;
    if (name.value != nullptr) data.*name.value = *value;
  }
  const auto shift = find("SmiValueShift"), more = find("SmiShiftSize");
  if (find("TaggedSize") != kWord || !shift || !more) return std::nullopt;
  constexpr int32_t kBits = 64;
  if (*shift < 0 || *shift >= kBits || *more < 0 || *more >= kBits - *shift) return std::nullopt;
  data.smi_shift = *shift + *more;
  // The offset of a function's code lies between the offsets of these two fields.
  const auto cell = find("class_JSFunction__raw_feedback_cell__FeedbackCell");
  const auto prototype = find("class_JSFunction__prototype_or_initial_map__HeapObject");
  const auto start = find("class_InstructionStream__instruction_start__uintptr_t");
  const auto stream = find("type_InstructionStream__INSTRUCTION_STREAM_TYPE");
  if (cell && *cell > 0 && *cell < kFarthest && *cell % kWord == 0 &&
      prototype == *cell + 2 * kWord && start == 2 * kWord && stream) {
    data.function_code = *cell + kWord;
    data.stream_start = *start;
    data.stream_type = *stream;
  }
  return AreOffsetsSound(data) ? std::optional(data) : std::nullopt;
}

}  // namespace profiler::symbolize::v8
