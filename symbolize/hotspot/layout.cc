#include "symbolize/hotspot/layout.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"

namespace profiler::symbolize::hotspot {
namespace {

// A reader of fields that remembers the first missing one.
class Taker {
 public:
  Taker(const VmStructs& structs, std::string* missing) : structs_(structs), missing_(missing) {}

  bool has_all() const { return has_all_; }

  uint64_t Offset(std::string_view type, std::string_view field) {
    return Taken(structs_.Offset(type, field), type, field);
  }
  uint64_t Address(std::string_view type, std::string_view field) {
    return Taken(structs_.Address(type, field), type, field);
  }
  uint64_t Size(std::string_view type) { return Taken(structs_.Size(type), type, "sizeof"); }
  NumberField Number(std::string_view type, std::string_view field) {
    const uint64_t offset = Offset(type, field);
    const std::string declared = structs_.TypeOf(type, field).value_or("int");
    return {offset, declared == "int16_t" || declared == "u2" ? uint64_t{2} : uint64_t{4}};
  }

 private:
  // Objects are small, so a larger offset means that the tables are invalid.
  static constexpr uint64_t kLargestObject = 1 << 14;

  uint64_t Taken(std::optional<uint64_t> value, std::string_view type, std::string_view field) {
    const bool is_offset = structs_.Address(type, field) == std::nullopt;
    if (value && (!is_offset || *value < kLargestObject)) return *value;
    if (has_all_) *missing_ = absl::StrCat(View(type), "::", View(field));
    has_all_ = false;
    return 0;
  }

  const VmStructs& structs_;
  std::string* const missing_;
  bool has_all_ = true;
};

void TakeCodeCache(Taker& take, Layout& layout) {
  layout.heaps = take.Address("CodeCache", "_heaps");
  layout.array_length = take.Offset("GrowableArrayBase", "_len");
  layout.array_data = take.Offset("GrowableArray<int>", "_data");
  layout.heap_memory = take.Offset("CodeHeap", "_memory");
  layout.heap_map = take.Offset("CodeHeap", "_segmap");
  layout.heap_log2_segment = take.Offset("CodeHeap", "_log2_segment_size");
  layout.space_low = take.Offset("VirtualSpace", "_low");
  layout.space_high = take.Offset("VirtualSpace", "_high");
  layout.block_size = take.Size("HeapBlock");
  layout.block_used =
      take.Offset("HeapBlock", "_header") + take.Offset("HeapBlock::Header", "_used");
}

void TakeBlob(const VmStructs& structs, Taker& take, Layout& layout) {
  layout.blob_size = take.Size("CodeBlob");
  layout.blob_name = take.Offset("CodeBlob", "_name");
  layout.blob_bytes = take.Offset("CodeBlob", "_size");
  layout.blob_header_bytes = take.Number("CodeBlob", "_header_size");
  layout.blob_frame_size = take.Offset("CodeBlob", "_frame_size");
  layout.blob_frame_complete = take.Number("CodeBlob", "_frame_complete_offset");
  layout.code_is_relative = !structs.Offset("CodeBlob", "_code_begin");
  const bool is_relative = layout.code_is_relative;
  layout.blob_code_begin = take.Offset("CodeBlob", is_relative ? "_code_offset" : "_code_begin");
  layout.blob_code_end = take.Offset("CodeBlob", is_relative ? "_data_offset" : "_code_end");
}

std::optional<Layout::DebugInfo> DebugInfoOf(const VmStructs& structs) {
  const auto offset = [&](std::string_view type, std::string_view field) {
    return structs.Offset(type, field);
  };
  Layout::DebugInfo info;
  const auto pcs = offset("nmethod", "_scopes_pcs_offset");
  if (!pcs) return std::nullopt;
  info.pcs_begin = *pcs;
  if (const auto apart = offset("nmethod", "_immutable_data")) {
    const auto scopes = offset("nmethod", "_scopes_data_offset");
    const auto size = offset("nmethod", "_immutable_data_size");
    const auto mutable_data = offset("CodeBlob", "_mutable_data");
    const auto relocation = offset("CodeBlob", "_relocation_size");
    if (!scopes || !size || !mutable_data || !relocation) return std::nullopt;
    info.is_apart = true;
    info.apart = *apart;
    info.pcs_end = info.scopes_begin = *scopes;
    info.scopes_end = *size;
    info.mutable_data = *mutable_data;
    info.relocation_size = *relocation;
    return info;
  }
  const auto pcs_end = offset("nmethod", "_dependencies_offset");
  const auto metadata = offset("nmethod", "_metadata_offset");
  auto scopes = offset("CompiledMethod", "_scopes_data_begin");
  if (!scopes) scopes = offset("nmethod", "_scopes_data_begin");
  if (!pcs_end || !metadata || !scopes) return std::nullopt;
  info.pcs_end = *pcs_end;
  info.metadata = *metadata;
  info.scopes_begin = *scopes;
  return info;
}

void TakeNmethod(const VmStructs& structs, Taker& take, Layout& layout) {
  layout.nmethod_size = take.Size("nmethod");
  const bool is_base = structs.Offset("CompiledMethod", "_method").has_value();
  layout.nmethod_method = take.Offset(is_base ? "CompiledMethod" : "nmethod", "_method");
  layout.nmethod_compile_id = take.Offset("nmethod", "_compile_id");
  layout.nmethod_orig_pc = take.Offset("nmethod", "_orig_pc_offset");
  layout.nmethod_deopt_handler = layout.code_is_relative
                                     ? structs.Offset("nmethod", "_deopt_handler_offset")
                                     : structs.Offset("CompiledMethod", "_deopt_handler_begin");
  layout.debug_info = DebugInfoOf(structs);
}

void TakeMethods(const VmStructs& structs, Taker& take, Layout& layout) {
  layout.method_const = take.Offset("Method", "_constMethod");
  layout.const_size = take.Size("ConstMethod");
  layout.const_constants = take.Offset("ConstMethod", "_constants");
  layout.const_code_size = take.Offset("ConstMethod", "_code_size");
  layout.const_name = take.Offset("ConstMethod", "_name_index");
  layout.const_signature = take.Offset("ConstMethod", "_signature_index");
  for (const char* const field : {"_flags", "_flags._flags"}) {
    if (const auto flags = structs.Offset("ConstMethod", field)) layout.const_flags = flags;
  }
  for (const char* const bit :
       {"ConstMethod::_has_linenumber_table", "ConstMethodFlags::_misc_has_linenumber_table"}) {
    if (const auto flag = structs.Constant(bit)) layout.has_lines = static_cast<uint64_t>(*flag);
  }
  layout.pool_size = take.Size("ConstantPool");
  layout.pool_holder = take.Offset("ConstantPool", "_pool_holder");
  layout.pool_length = take.Offset("ConstantPool", "_length");
  layout.pool_source_file = structs.Offset("ConstantPool", "_source_file_name_index");
  layout.klass_name = take.Offset("Klass", "_name");
  layout.symbol_length = take.Offset("Symbol", "_length");
  layout.symbol_body = take.Offset("Symbol", "_body");
}

}  // namespace

std::optional<Layout> Layout::Of(const VmStructs& structs, ProcessMemory& memory,
                                 std::string* missing) {
  Layout layout;
  Taker take(structs, missing);
  TakeCodeCache(take, layout);
  TakeBlob(structs, take, layout);
  TakeNmethod(structs, take, layout);
  TakeMethods(structs, take, layout);
  layout.counters = structs.Address("PerfMemory", "_start");
  layout.call_stub_return = structs.Address("StubRoutines", "_call_stub_return_address");
  const uint64_t version = take.Address("Abstract_VM_Version", "_vm_major_version");
  if (!take.has_all()) return std::nullopt;
  const auto number = memory.Value<int32_t>(version);
  if (!number || *number < 9 || *number > 999) {
    *missing = "Abstract_VM_Version::_vm_major_version";
    return std::nullopt;
  }
  layout.version = *number;
  return layout;
}

}  // namespace profiler::symbolize::hotspot
