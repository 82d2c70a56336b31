// Where in HotSpot's objects lies what is read of them: made of what the VM itself exports
// (vm_structs.h), so that other versions are read as well as far as their fields are those of JDK
// 17 to 25. Offsets are in bytes from the start of an object.
//
// Private to this package.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "symbolize/hotspot/vm_structs.h"

namespace profiler::symbolize::hotspot {

// A whole number whose size depends on the version.
struct NumberField {
  uint64_t offset = 0;
  uint64_t size = 4;  // 2 or 4 bytes
};

struct Layout {
  int version = 0;  // of the JDK: 17, 21, 25

  // CodeCache, CodeHeap and the blobs in it: code_cache.h.
  uint64_t heaps = 0;  // the address of CodeCache::_heaps
  uint64_t array_length = 0, array_data = 0;
  uint64_t heap_memory = 0, heap_map = 0, heap_log2_segment = 0;
  uint64_t space_low = 0, space_high = 0;
  uint64_t block_size = 0, block_used = 0;

  uint64_t blob_size = 0;  // of a CodeBlob's own fields
  uint64_t blob_name = 0, blob_bytes = 0, blob_frame_size = 0;
  NumberField blob_header_bytes, blob_frame_complete;
  // Until JDK 22 addresses, since then ints from the start of the blob.
  bool code_is_relative = false;
  uint64_t blob_code_begin = 0, blob_code_end = 0;

  // nmethod
  uint64_t nmethod_size = 0;
  uint64_t nmethod_method = 0, nmethod_compile_id = 0, nmethod_orig_pc = 0;
  // An address, or where code is relative an int from the blob's start.
  std::optional<uint64_t> nmethod_deopt_handler;
  // Where its debug information is, if that is known: debug_info.h.
  struct DebugInfo {
    bool is_apart = false;                // in memory of its own (_immutable_data), since JDK 23
    uint64_t pcs_begin = 0, pcs_end = 0;  // ints: from the blob's start, or in the memory apart
    uint64_t scopes_begin = 0;            // an address; apart: likewise an int
    uint64_t scopes_end = 0;              // apart: the int that is its size
    uint64_t apart = 0;                   // where its address is
    uint64_t metadata = 0;                // an int from the blob's start; apart: in _mutable_data
    uint64_t mutable_data = 0, relocation_size = 0;  // apart
  };
  std::optional<DebugInfo> debug_info;

  // Method, ConstMethod, ConstantPool, Klass, Symbol: methods.h.
  uint64_t method_const = 0;
  uint64_t const_size = 0;  // of a ConstMethod, behind which the bytecodes are
  uint64_t const_constants = 0, const_code_size = 0, const_name = 0, const_signature = 0;
  std::optional<uint64_t> const_flags;
  uint64_t has_lines = 0;  // of the flags
  uint64_t pool_size = 0;  // of a ConstantPool, behind which the entries are
  uint64_t pool_holder = 0, pool_length = 0;
  std::optional<uint64_t> pool_source_file;
  uint64_t klass_name = 0;
  uint64_t symbol_length = 0, symbol_body = 0;

  // PerfMemory::_start, where the VM counts what it does: the address of the variable.
  std::optional<uint64_t> counters;

  // StubRoutines::_call_stub_return_address: the address of the variable.
  std::optional<uint64_t> call_stub_return;

  // Nothing where the VM does not say all that is needed; `missing` is then the first such thing.
  static std::optional<Layout> Of(const VmStructs& structs, ProcessMemory& memory,
                                  std::string* missing);
};

}  // namespace profiler::symbolize::hotspot
