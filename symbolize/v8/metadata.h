// Where V8 keeps what in its objects, as its programs (Node.js and what else is built of V8) tell
// debuggers by variables of theirs:
//
//   int v8dbg_class_JSFunction__shared__SharedFunctionInfo = 24;    bytes from the object's start
//   int v8dbg_type_JSFunction__JS_FUNCTION_TYPE = 2066;             in the object's map
//   int v8dbg_off_fp_function = -16;                                bytes from the frame pointer
//
// Source: tools/gen-postmortem-metadata.py of V8 11.3, whose names are those of Node.js 20. Other
// releases may lack some, or call them otherwise: then there is no metadata.

#pragma once

#include <cstdint>
#include <optional>

#include "symbolize/elf/elf_image.h"

namespace profiler::symbolize::v8 {

// Of a program with words of eight bytes in its objects (no compressed pointers). Plain values.
struct Metadata {
  // A word of an object: a small integer where its lowest bits say so, else the address of an
  // object with `heap_object_tag` added.
  int32_t smi_tag = 0, smi_tag_mask = 0, smi_shift = 0;
  int32_t heap_object_tag = 0, heap_object_tag_mask = 0;

  // Bytes from an object's start. What an object is stands in its map.
  int32_t object_map = 0, map_instance_type = 0;
  int32_t function_shared = 0, function_context = 0;
  int32_t shared_data = 0, shared_name_or_scope_info = 0, shared_script = 0;
  int32_t code_bytecode = 0;  // of baseline code; of optimised code its deoptimization data
  int32_t function_code = 0, stream_start = 0;  // 0: unknown
  int32_t script_source = 0, script_name = 0;
  int32_t string_length = 0, one_byte_chars = 0, two_byte_chars = 0;
  int32_t cons_first = 0, cons_second = 0, thin_actual = 0;
  int32_t sliced_parent = 0, sliced_offset = 0, external_resource = 0;

  // Words from the map of a ScopeInfo on.
  int32_t scope_local_count = 0, scope_first_local = 0;

  // Of maps.
  int32_t map_type = 0, function_type = 0, shared_type = 0, script_type = 0, scope_info_type = 0;
  int32_t bytecode_type = 0, interpreter_data_type = 0, code_type = 0, stream_type = 0;
  int32_t first_nonstring_type = 0;
  int32_t representation_mask = 0, encoding_mask = 0, one_byte_tag = 0;
  int32_t sequential_tag = 0, cons_tag = 0, external_tag = 0, sliced_tag = 0, thin_tag = 0;

  // Bytes from the frame pointer of a function of JavaScript.
  int32_t frame_function = 0, frame_context = 0, frame_bytecode = 0;

  // Nothing where the image has none, or not all that is needed, or numbers that make no sense.
  // Looks at every symbol of the image, which takes ten milliseconds for Node.js.
  static std::optional<Metadata> Read(const ElfImage& image);
};

}  // namespace profiler::symbolize::v8
