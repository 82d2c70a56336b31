#include "symbolize/python/known_layouts.h"

#include <algorithm>
#include <array>

#include "src/base/byte_reader.h"

namespace profiler::symbolize::python {
namespace {

// Frames of 3.8 to 3.10.
void SetFrameObjects(WalkLayout& walk, uint16_t last_instruction) {
  walk.frame_previous = 24;
  walk.frame_code = 32;
  walk.frame_globals = 48;
  walk.frame_instruction = last_instruction;
  walk.instruction_bytes = 4;
  walk.frame_bytes = static_cast<uint16_t>(last_instruction + 4);
  walk.frame_owner = kPythonNoField;
  walk.frame_is_entry = kPythonNoField;
  walk.owner_entry = 0xff;
}

KnownLayout LayoutBefore311(uint16_t version) {
  KnownLayout known;
  WalkLayout& walk = known.layout.walk;
  walk.interpreter_next = 0;
  walk.interpreter_threads = 8;
  walk.thread_next = 8;
  walk.thread_interpreter = 16;
  walk.thread_frame = 24;
  walk.thread_id = 176;
  walk.thread_native_id = kPythonNoField;
  walk.frame_indirect = kPythonNoField;
  walk.thread_cframe = version < kPython310 ? kPythonNoField : 48;
  walk.cframe_previous = version < kPython310 ? kPythonNoField : 8;
  SetFrameObjects(walk, version < kPython310 ? 104 : 96);
  walk.code_file = 104;
  walk.code_name = 112;
  walk.code_qualified_name = kPythonNoField;
  walk.code_lines = 120;
  walk.code_bytes = 128;
  walk.text_bytes = 72;
  CodeLayout& code = known.layout.code;
  code.first_line = 40;
  code.instructions = 48;
  code.text_ascii_header = 48;
  code.line_format = version < kPython310 ? LineFormat::kSteps : LineFormat::kRanges;
  known.interpreters_head = 32;
  if (version > kPython38) known.interpreter_runtime = 16;
  known.code_size = 176;
  known.frame_size = version < kPython310 ? 368 : 360;
  return known;
}

KnownLayout LayoutOf311() {
  KnownLayout known;
  WalkLayout& walk = known.layout.walk;
  walk.interpreter_next = 0;
  walk.interpreter_threads = 16;
  walk.thread_next = 8;
  walk.thread_interpreter = 16;
  walk.thread_frame = 56;
  walk.thread_cframe = 56;
  walk.thread_id = 152;
  walk.thread_native_id = 160;
  walk.frame_indirect = 8;
  walk.cframe_previous = 16;
  walk.frame_globals = 8;
  walk.frame_code = 32;
  walk.frame_previous = 48;
  walk.frame_instruction = 56;
  walk.instruction_bytes = 8;
  walk.frame_is_entry = 68;
  walk.frame_owner = 69;
  walk.owner_entry = 0xff;
  walk.frame_bytes = 72;
  walk.code_file = 112;
  walk.code_name = 120;
  walk.code_qualified_name = 128;
  walk.code_lines = 136;
  walk.code_bytes = 184;
  walk.text_bytes = 72;
  CodeLayout& code = known.layout.code;
  code.first_line = 72;
  code.first_traceable = 168;
  code.instructions = 184;
  code.text_ascii_header = 48;
  known.interpreters_head = 40;
  known.interpreter_runtime = 40;
  known.code_size = 184;
  known.frame_size = 120;
  return known;
}

KnownLayout LayoutOf312() {
  KnownLayout known;
  WalkLayout& walk = known.layout.walk;
  walk.interpreter_next = 0;
  walk.interpreter_threads = 72;
  walk.thread_next = 8;
  walk.thread_interpreter = 16;
  walk.thread_frame = 56;
  walk.thread_cframe = 56;
  walk.thread_id = 136;
  walk.thread_native_id = 144;
  walk.frame_indirect = 0;
  walk.cframe_previous = 8;
  walk.frame_code = 0;
  walk.frame_previous = 8;
  walk.frame_globals = 24;
  walk.frame_instruction = 56;
  walk.instruction_bytes = 8;
  walk.frame_is_entry = kPythonNoField;
  walk.frame_owner = 70;
  walk.owner_entry = 3;
  walk.frame_bytes = 72;
  walk.code_file = 112;
  walk.code_name = 120;
  walk.code_qualified_name = 128;
  walk.code_lines = 136;
  walk.code_bytes = 192;
  walk.text_bytes = 56;
  CodeLayout& code = known.layout.code;
  code.first_line = 68;
  code.first_traceable = 176;
  code.instructions = 192;
  code.text_ascii_header = 40;
  known.interpreters_head = 40;
  known.interpreter_runtime = 96;
  known.code_size = 192;
  known.frame_size = 120;
  return known;
}

// Sizes of the parts of the table, in words.
struct Shape {
  size_t interpreter, frame, code;
  size_t between;  // words of objects between code objects and bytes
};
constexpr Shape kShape313 = {13, 6, 10, 2 + 4 + 3 + 3 + 3 + 2 + 3};
constexpr Shape kShape314 = {16, 8, 11, 2 + 4 + 3 + 3 + 4 + 3 + 2 + 3};

// Reads the parts of the table one after the other.
class Words {
 public:
  explicit Words(std::span<const std::byte> bytes) : reader_(bytes) {}

  // A part: its fields by number. A field that is too large for an offset clears ok().
  struct Part {
    std::array<uint64_t, 24> words{};
    uint64_t operator[](size_t i) const { return words[i]; }
  };
  Part Next(size_t count) {
    Part part;
    for (size_t i = 0; i < count; ++i) {
      const auto word = reader_.Read<uint64_t>();
      if (i < part.words.size()) part.words[i] = word;
    }
    return part;
  }
  bool ok() const { return reader_.ok(); }

 private:
  ByteReader reader_;
};

bool AreOffsetsSound(const WalkLayout& walk, const CodeLayout& code) {
  const uint16_t word = 8;
  for (const uint16_t offset : {walk.thread_next, walk.thread_interpreter, walk.thread_id,
                                walk.thread_native_id, walk.thread_frame}) {
    if (offset % word != 0 || offset == 0 || offset > 4096) return false;
  }
  for (const uint16_t offset :
       {walk.frame_previous, walk.frame_code, walk.frame_instruction, walk.frame_globals}) {
    if (offset % word != 0 || offset + word > walk.frame_bytes) return false;
  }
  if (walk.frame_owner >= walk.frame_bytes) return false;
  for (const uint16_t offset :
       {walk.code_file, walk.code_name, walk.code_qualified_name, walk.code_lines}) {
    if (offset % word != 0 || offset + word > walk.code_bytes) return false;
  }
  return walk.frame_bytes <= kPythonMostFrameBytes && walk.code_bytes <= 512 &&
         walk.text_bytes <= 128 && walk.interpreter_threads % word == 0 &&
         code.first_line + 4 <= walk.code_bytes && code.first_traceable + 4 <= walk.code_bytes;
}

std::optional<KnownLayout> LayoutIn(Words& words, const Shape& shape, bool is_free_threaded) {
  const Words::Part runtime = words.Next(3);
  const Words::Part interpreter = words.Next(shape.interpreter);
  const Words::Part thread = words.Next(9);
  const Words::Part frame = words.Next(shape.frame);
  const Words::Part code_object = words.Next(shape.code);
  const Words::Part between = words.Next(shape.between);
  const Words::Part bytes = words.Next(3);
  const Words::Part text = words.Next(4);
  if (!words.ok()) return std::nullopt;

  KnownLayout known;
  // Every offset is far below this. 0xffff means that a field is missing.
  constexpr uint64_t kMost = 0x7fff, kMostInInterpreter = uint64_t{1} << 24;
  bool is_sound = runtime[2] <= kMostInInterpreter && interpreter[2] <= kMostInInterpreter &&
                  interpreter[3] <= kMostInInterpreter;
  const auto offset = [&](uint64_t word) {
    is_sound = is_sound && word <= kMost;
    return static_cast<uint16_t>(word);
  };
  known.interpreters_head = runtime[2];
  WalkLayout& walk = known.layout.walk;
  walk.interpreter_next = static_cast<uint32_t>(interpreter[2]);
  walk.interpreter_threads = static_cast<uint32_t>(interpreter[3]);
  walk.thread_next = offset(thread[2]);
  walk.thread_interpreter = offset(thread[3]);
  walk.thread_frame = offset(thread[4]);
  walk.thread_id = offset(thread[5]);
  walk.thread_native_id = offset(thread[6]);
  walk.frame_indirect = kPythonNoField;
  walk.thread_cframe = kPythonNoField;
  walk.cframe_previous = kPythonNoField;
  walk.frame_previous = offset(frame[1]);
  walk.frame_code = offset(frame[2]);
  walk.frame_instruction = offset(frame[3]);
  walk.instruction_bytes = 8;
  walk.frame_owner = offset(frame[5]);
  walk.owner_entry = 3;
  walk.frame_is_entry = kPythonNoField;
  // The table lacks this field. It follows f_executable, previous and f_funcobj.
  walk.frame_globals = offset(frame[2] + 24);
  walk.frame_bytes = offset(frame[4]);
  if (shape.frame == kShape314.frame) walk.code_tag_mask = 3;

  CodeLayout& code = known.layout.code;
  walk.code_file = offset(code_object[1]);
  walk.code_name = offset(code_object[2]);
  walk.code_qualified_name = offset(code_object[3]);
  walk.code_lines = offset(code_object[4]);
  code.first_line = offset(code_object[5]);
  code.instructions = offset(code_object[9]);
  walk.code_bytes = code.instructions;
  uint64_t after_extra = code_object[9];
  if (is_free_threaded && shape.code == kShape314.code) {
    code.thread_instructions = offset(code_object[10]);
    after_extra = code_object[10];
  }
  // The table lacks this field. co_extra, and before it an int and 4 unused bytes, precede.
  code.first_traceable = offset(after_extra - 16);

  code.object_size = offset(between[0]);  // follows the fields of every object
  code.object_type = offset(between[1]);
  code.type_name = offset(between[3]);
  code.type_size = offset(between[3] + 8);
  walk.dictionary_keys = offset(between[shape.between - 7]);
  walk.code_instructions = kPythonNoField;
  walk.bytes_length = offset(bytes[1]);
  walk.bytes_header = offset(bytes[2]);
  code.text_state = offset(text[1]);
  walk.text_length = offset(text[2]);
  code.text_ascii_header = offset(text[3]);
  walk.text_bytes = offset(text[3] + 16);
  if (!is_sound || !AreOffsetsSound(walk, code)) return std::nullopt;
  return known;
}

}  // namespace

std::optional<KnownLayout> LayoutOfVersion(uint16_t version) {
  if (version < kPython38 || version > kPython312) return std::nullopt;
  KnownLayout known = version < kPython311    ? LayoutBefore311(version)
                      : version == kPython311 ? LayoutOf311()
                                              : LayoutOf312();
  WalkLayout& walk = known.layout.walk;
  walk.version = version;
  walk.text_length = 16;
  walk.bytes_length = 16;
  walk.bytes_header = 32;
  walk.dictionary_keys = 32;
  walk.code_instructions =
      version < kPython311 ? known.layout.code.instructions : uint16_t{kPythonNoField};
  return known;
}

std::optional<DebugOffsets> ReadDebugOffsets(std::span<const std::byte> runtime) {
  if (runtime.size() < kDebugCookie.size() ||
      TextOf(runtime.first(kDebugCookie.size())) != kDebugCookie) {
    return std::nullopt;
  }
  Words words(runtime.subspan(kDebugCookie.size()));
  const Words::Part head = words.Next(2);
  if (!words.ok()) return std::nullopt;
  DebugOffsets offsets;
  offsets.full_version = static_cast<uint32_t>(head[0]);
  offsets.is_free_threaded = head[1] != 0;
  const auto version = static_cast<uint16_t>(offsets.full_version >> 16);
  if (version != kPython313 && version != kPython314) return offsets;
  offsets.layout =
      LayoutIn(words, version == kPython313 ? kShape313 : kShape314, offsets.is_free_threaded);
  if (offsets.layout) offsets.layout->layout.walk.version = version;
  return offsets;
}

}  // namespace profiler::symbolize::python
