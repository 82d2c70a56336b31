// The offsets of fields in HotSpot's objects, from the tables that the VM exports (vm_structs.h).
// Therefore other versions work too if they have the fields of JDK 17 to 25. Offsets are in bytes
// from the start of an object.
//
// Private to this package.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "symbolize/hotspot/vm_structs.h"

namespace profiler::symbolize::hotspot {

inline constexpr uint64_t kWord = 8;  // bytes of a word in objects and on the stack

// An integer field whose size depends on the version.
struct NumberField {
  uint64_t offset = 0;
  uint64_t size = 4;  // 2 or 4 bytes
};

struct Layout {
  int version = 0;  // major version of the JDK: 17, 21, 25

  // Addresses and offsets to read CodeCache, CodeHeap and the blobs in a heap (code_cache.h).
  uint64_t heaps = 0;  // address of CodeCache::_heaps
  uint64_t array_length = 0, array_data = 0;
  uint64_t heap_memory = 0, heap_map = 0, heap_log2_segment = 0;
  uint64_t space_low = 0, space_high = 0;
  uint64_t block_size = 0, block_used = 0;

  uint64_t blob_size = 0;  // size of a CodeBlob's own fields
  uint64_t blob_name = 0, blob_bytes = 0, blob_frame_size = 0;
  NumberField blob_header_bytes, blob_frame_complete;
  // True if the fields below contain ints, relative to the start of the blob. False: they contain
  // addresses (before JDK 22).
  bool code_is_relative = false;
  uint64_t blob_code_begin = 0, blob_code_end = 0;

  // Size of an nmethod, and offsets of its fields.
  uint64_t nmethod_size = 0;
  uint64_t nmethod_method = 0, nmethod_compile_id = 0, nmethod_orig_pc = 0;
  // The field contains an address; if code_is_relative, an int relative to the start of the blob.
  std::optional<uint64_t> nmethod_deopt_handler;
  // Location of debug information (method_scopes.h); empty: unknown.
  struct DebugInfo {
    // True if the debug information is in separate memory (_immutable_data), since JDK 23.
    bool is_apart = false;
    // These fields contain ints, relative to the start of the blob or of the separate memory.
    uint64_t pcs_begin = 0, pcs_end = 0;
    uint64_t scopes_begin = 0;  // an address; if is_apart, an int like pcs_begin
    uint64_t scopes_end = 0;    // used if is_apart: an int, the size of the separate memory
    uint64_t apart = 0;         // used if is_apart: holds the address of the separate memory
    uint64_t metadata = 0;      // an int relative to the blob's start; unused if is_apart
    uint64_t mutable_data = 0, relocation_size = 0;  // used if is_apart
  };
  std::optional<DebugInfo> debug_info;

  // Offsets of fields in Method, ConstMethod, ConstantPool, Klass and Symbol (methods.h), and the
  // sizes of some of these objects.
  uint64_t method_const = 0;
  uint64_t const_size = 0;  // size of a ConstMethod, which bytecodes follow
  uint64_t const_constants = 0, const_code_size = 0, const_name = 0, const_signature = 0;
  std::optional<uint64_t> const_flags;
  uint64_t has_lines = 0;  // bit of the flags that is set if there is a line table
  uint64_t pool_size = 0;  // size of a ConstantPool, which entries follow
  uint64_t pool_holder = 0, pool_length = 0;
  std::optional<uint64_t> pool_source_file;
  uint64_t klass_name = 0;
  uint64_t symbol_length = 0, symbol_body = 0;

  // Address of PerfMemory::_start, which points to the VM's counters.
  std::optional<uint64_t> counters;

  // Address of StubRoutines::_call_stub_return_address.
  std::optional<uint64_t> call_stub_return;

  // Reads the layout. Empty if a required field is missing; `missing` is then the first such field.
  static std::optional<Layout> Of(const VmStructs& structs, ProcessMemory& memory,
                                  std::string* missing);
};

}  // namespace profiler::symbolize::hotspot
