// Reads the layout of V8's objects from variables that its programs (such as Node.js) export for
// debuggers:
//
//   int v8dbg_class_JSFunction__shared__SharedFunctionInfo = 24;    bytes from the object's start
//   int v8dbg_type_JSFunction__JS_FUNCTION_TYPE = 2066;             in the object's map
//   int v8dbg_off_fp_function = -16;                                bytes from the frame pointer
//
// Source: tools/gen-postmortem-metadata.py of V8 11.3, with the names of Node.js 20. A release that
// lacks some of these variables, or gives them other names, counts as one without metadata.

#pragma once

#include <cstdint>
#include <optional>

#include "symbolize/elf/elf_image.h"

namespace profiler::symbolize::v8 {

inline constexpr int32_t kWord = 8;  // size of a word in objects, in bytes

// The layout in a program with 8-byte words in objects (no compressed pointers). Plain values.
struct Metadata {
  // Tags of a word: a small integer if its lowest bits equal smi_tag, else the address of an object
  // plus heap_object_tag.
  int32_t smi_tag = 0, smi_tag_mask = 0, smi_shift = 0;
  int32_t heap_object_tag = 0, heap_object_tag_mask = 0;

  // Offsets in bytes from an object's start. The map of an object contains its type.
  int32_t object_map = 0, map_instance_type = 0;
  int32_t function_shared = 0, function_context = 0;
  int32_t shared_data = 0, shared_name_or_scope_info = 0, shared_script = 0;
  // Baseline code: its bytecodes. Optimised code: its deoptimization data.
  int32_t code_bytecode = 0;
  int32_t function_code = 0, stream_start = 0;  // 0: unknown
  int32_t script_source = 0, script_name = 0;
  int32_t string_length = 0, one_byte_chars = 0, two_byte_chars = 0;
  int32_t cons_first = 0, cons_second = 0, thin_actual = 0;
  int32_t sliced_parent = 0, sliced_offset = 0, external_resource = 0;

  // Indices of words in a ScopeInfo, after its map.
  int32_t scope_local_count = 0, scope_first_local = 0;

  // Values of the instance type in a map. For strings: masks and tags of its bits.
  int32_t map_type = 0, function_type = 0, shared_type = 0, script_type = 0, scope_info_type = 0;
  int32_t bytecode_type = 0, interpreter_data_type = 0, code_type = 0, stream_type = 0;
  int32_t first_nonstring_type = 0;
  int32_t representation_mask = 0, encoding_mask = 0, one_byte_tag = 0;
  int32_t sequential_tag = 0, cons_tag = 0, external_tag = 0, sliced_tag = 0, thin_tag = 0;

  // Offsets in bytes from a JavaScript function's frame pointer.
  int32_t frame_function = 0, frame_context = 0, frame_bytecode = 0;

  // Reads the metadata. Empty if the image has none, if a required variable is missing, or if
  // values are implausible. Reads all symbols of the image, which takes 10 ms for Node.js.
  static std::optional<Metadata> Read(const ElfImage& image);
};

}  // namespace profiler::symbolize::v8
