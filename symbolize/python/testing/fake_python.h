// Builds a CPython of any version in memory, for tests: the runtime, interpreters, threads, frames,
// and the objects to which code objects point.
//
//   FakePython python(kPython312);
//   const uint64_t code = python.Code({.name = "f", .file = "/a.py", .first_line = 3});
//   python.Thread(0x7f01, {{.code = code, .is_entry = true}});
//   Recognise(python.image(), FakePython::kBias, python)

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "symbolize/process_memory.h"
#include "symbolize/python/known_layouts.h"
#include "symbolize/python/python_process.h"

namespace profiler::symbolize::python {

class FakePython final : public ProcessMemory {
 public:
  static constexpr uint64_t kStart = 0x7f0000000000;  // address of the first byte
  static constexpr uint64_t kBias = kStart - 0x1000;
  static constexpr uint64_t kRuntimeBytes = 4096;

  explicit FakePython(uint16_t version, bool is_free_threaded = false)
      : version_(version), is_free_threaded_(is_free_threaded) {
    const uint64_t runtime = Take(kRuntimeBytes);
    if (version < kPython313) {
      known_ = *LayoutOfVersion(version);
    } else {
      PutDebugOffsets();
      known_ = *ReadDebugOffsets(std::span(bytes_).first(kDebugOffsetsBytes))->layout;
    }
    layout_ = known_.layout;
    walk_ = layout_.walk;
    if (is_free_threaded && version == kPython314) layout_.code.text_state_shift = 8;
    head_ = runtime + known_.interpreters_head;
    code_type_ = Type("code", known_.code_size);
    frame_type_ = Type("frame", known_.frame_size);
    text_type_ = Type("str", 0);
    bytes_type_ = Type("bytes", 0);
    dictionary_type_ = Type("dict", 0);
    version_variable_ = Take(8);
    Put(version_variable_, uint64_t{version} << 16 | 0x1f0);
    interpreter_ = Take(walk_.interpreter_threads + 256);
    Put(head_, interpreter_);
    if (known_.interpreter_runtime != kPythonNoField) {
      Put(interpreter_ + known_.interpreter_runtime, runtime);
    }
  }

  // ---- for readers

  bool Read(uint64_t address, std::span<std::byte> bytes) override {
    ++reads;
    if (on_read) on_read(address);
    if (is_dead || address < kStart || address - kStart > bytes_.size() ||
        bytes.size() > bytes_.size() - (address - kStart)) {
      return false;
    }
    const auto from = std::span(bytes_).subspan(address - kStart, bytes.size());
    std::copy(from.begin(), from.end(), bytes.begin());
    return true;
  }
  uint64_t reads = 0;
  bool is_dead = false;
  std::function<void(uint64_t)> on_read;  // called before each read

  PythonImage image() const {
    PythonImage image;
    image.runtime = ElfAddress{kStart - kBias};
    if (version_ >= kPython311) image.version = ElfAddress{version_variable_ - kBias};
    image.least_version = version_ < kPython310 ? version_ : kPython310;
    image.code_type = ElfAddress{code_type_ - kBias};
    image.dictionary_type = ElfAddress{dictionary_type_ - kBias};
    image.frame_type = ElfAddress{frame_type_ - kBias};
    return image;
  }
  const WalkLayout& walk() const { return walk_; }
  const Layout& layout() const { return layout_; }
  uint64_t head() const { return head_; }
  uint64_t interpreter() const { return interpreter_; }
  uint64_t code_type() const { return code_type_; }
  uint64_t frame_type() const { return frame_type_; }
  uint64_t version_variable() const { return version_variable_; }
  std::vector<std::byte>& bytes() { return bytes_; }

  // ---- for tests

  template <class T>
  void Put(uint64_t address, T value) {
    std::memcpy(bytes_.data() + (address - kStart), &value, sizeof(value));
  }
  // Returns the address of new memory, filled with zeros.
  uint64_t Take(uint64_t size) {
    const uint64_t address = kStart + bytes_.size();
    bytes_.resize(bytes_.size() + (size + 15) / 16 * 16);
    return address;
  }

  uint64_t Text(std::string_view characters) {
    bool is_ascii = true;
    for (const char c : characters) is_ascii = is_ascii && static_cast<unsigned char>(c) < 0x80;
    return TextOf(characters.data(), characters.size(), 1, is_ascii);
  }
  uint64_t Text(std::u16string_view characters) {
    return TextOf(characters.data(), characters.size(), 2, false);
  }
  uint64_t Text(std::u32string_view characters) {
    return TextOf(characters.data(), characters.size(), 4, false);
  }
  uint64_t Bytes(std::string_view contents) {
    const uint64_t object = Object(bytes_type_, walk_.bytes_header + contents.size() + 1);
    Put(object + walk_.bytes_length, uint64_t{contents.size()});
    PutText(object + walk_.bytes_header, contents);
    return object;
  }
  // Makes a dictionary with these keys and values. `has_hashes`: keys need not be texts. `is_growing`:
  // the entries are copied, but not counted yet.
  struct Item {
    uint64_t key = 0, value = 0;
  };
  uint64_t Dictionary(const std::vector<Item>& items, bool has_hashes = false,
                      bool is_growing = false) {
    const bool is_old = version_ < kPython311;
    const uint64_t head = is_old ? 40 : 32, table = 8;
    const uint64_t keys = Take(head + table + 24 * (items.size() + 1));
    if (is_old) {
      Put(keys + 8, table);
    } else {
      Put(keys + 8, uint8_t{3});
      Put(keys + 9, uint8_t{3});
      Put(keys + 10, static_cast<uint8_t>(has_hashes ? 0 : 1));
    }
    Put(keys + (is_old ? 32 : 24), uint64_t{is_growing ? 0 : items.size()});
    uint64_t at = keys + head + table;
    for (const Item& item : items) {
      if (is_old || has_hashes) at += 8;
      Put(at, item.key);
      Put(at + 8, item.value);
      at += 16;
    }
    const uint64_t object = Object(dictionary_type_, layout_.walk.dictionary_keys + 16);
    Put(object + layout_.walk.dictionary_keys, keys);
    return object;
  }
  uint64_t Module(std::string_view name) {
    return Dictionary({{Text(std::string_view("__name__")), Text(name)}});
  }

  struct CodeSpec {
    std::string name = "f";
    std::string qualified_name;  // empty: name
    std::string file = "/a.py";
    int32_t first_line = 1;
    std::string lines;     // the table
    uint64_t size = 16;    // bytes of instructions
    int32_t untraced = 0;  // number of untraced code units
    std::vector<uint64_t> thread_instructions = {};
  };
  uint64_t Code(const CodeSpec& spec) {
    const bool is_old = version_ < kPython311;
    const uint64_t object =
        Object(code_type_, is_old ? uint64_t{walk_.code_bytes} + 64 : walk_.code_bytes + spec.size);
    Fill(object, spec);
    return object;
  }
  // Fills the memory of a code object with another one.
  void Fill(uint64_t object, const CodeSpec& spec) {
    const CodeLayout& code = layout_.code;
    Put(object + walk_.code_name, Text(std::string_view(spec.name)));
    if (walk_.code_qualified_name != kPythonNoField) {
      const std::string& name = spec.qualified_name.empty() ? spec.name : spec.qualified_name;
      Put(object + walk_.code_qualified_name, Text(std::string_view(name)));
    }
    Put(object + walk_.code_file, Text(std::string_view(spec.file)));
    Put(object + walk_.code_lines, Bytes(spec.lines));
    Put(object + code.first_line, spec.first_line);
    if (version_ < kPython311) {
      Put(object + code.instructions, Bytes(std::string(spec.size, '\0')));
      return;
    }
    Put(object + code.object_size, spec.size / 2);
    Put(object + code.first_traceable, spec.untraced);
    if (code.thread_instructions == kPythonNoField) return;
    const uint64_t array = Take(8 + 8 * spec.thread_instructions.size());
    Put(array, uint64_t{spec.thread_instructions.size()});
    for (size_t i = 0; i < spec.thread_instructions.size(); ++i) {
      Put(array + 8 + 8 * i, spec.thread_instructions[i]);
    }
    Put(object + code.thread_instructions, array);
  }
  // Returns the value that a frame has at an instruction, `offset` bytes after the first.
  uint64_t Instruction(uint64_t code, uint64_t offset) const {
    if (version_ < kPython310) return offset;
    if (version_ == kPython310) return offset / 2;
    return code + layout_.code.instructions + offset;
  }

  struct FrameSpec {
    uint64_t code = 0;
    uint64_t instruction = 0;
    uint64_t globals = 0;
    bool is_entry = true;
  };
  // Adds a thread with frames, the newest first, in front of the list. Returns its state.
  uint64_t Thread(uint64_t id, const std::vector<FrameSpec>& frames) {
    const uint64_t state = Take(512);
    Put(state + walk_.thread_interpreter, interpreter_);
    Put(state + walk_.thread_next, Word(interpreter_ + walk_.interpreter_threads));
    Put(interpreter_ + walk_.interpreter_threads, state);
    Put(state + walk_.thread_id, id);
    uint64_t newest = 0;
    for (size_t i = frames.size(); i-- > 0;) newest = Frame(frames[i], newest);
    if (walk_.frame_indirect != kPythonNoField) {
      const uint64_t cframe = Take(24);
      Put(cframe + walk_.frame_indirect, newest);
      newest = cframe;
    }
    Put(state + walk_.thread_frame, newest);
    return state;
  }
  uint64_t Word(uint64_t address) const {
    uint64_t word = 0;
    std::memcpy(&word, bytes_.data() + (address - kStart), sizeof(word));
    return word;
  }

 private:
  uint64_t Type(std::string_view name, uint64_t size) {
    const uint64_t type = Take(layout_.code.type_size + 16), text = Take(name.size() + 1);
    PutText(text, name);
    Put(type + layout_.code.type_name, text);
    Put(type + layout_.code.type_size, size);
    return type;
  }
  uint64_t Object(uint64_t type, uint64_t size) {
    const uint64_t object = Take(size);
    Put(object + layout_.code.object_type, type);
    return object;
  }
  void PutText(uint64_t address, std::string_view text) {
    std::memcpy(bytes_.data() + (address - kStart), text.data(), text.size());
  }
  uint64_t TextOf(const void* characters, size_t count, uint32_t size, bool is_ascii) {
    const uint64_t header = is_ascii ? layout_.code.text_ascii_header : walk_.text_bytes;
    const uint64_t object = Object(text_type_, header + (count + 1) * size);
    Put(object + walk_.text_length, uint64_t{count});
    const uint32_t compact = 1 << 3, ascii = is_ascii ? 1 << 4 : 0;
    Put(object + layout_.code.text_state,
        (size | compact | ascii) << layout_.code.text_state_shift | 1);
    std::memcpy(bytes_.data() + (object + header - kStart), characters, count * size);
    return object;
  }
  uint64_t Frame(const FrameSpec& spec, uint64_t previous) {
    if (spec.is_entry && walk_.owner_entry != 0xff) {
      const uint64_t entry = Take(kPythonMostFrameBytes);
      Put(entry + walk_.frame_previous, previous);
      Put(entry + walk_.frame_owner, static_cast<uint8_t>(walk_.owner_entry));
      previous = entry;
    }
    const uint64_t frame = Take(kPythonMostFrameBytes);
    Put(frame + walk_.frame_previous, previous);
    Put(frame + walk_.frame_code, spec.code | (walk_.code_tag_mask & 1));
    Put(frame + walk_.frame_globals, spec.globals);
    if (walk_.instruction_bytes == 8) {
      Put(frame + walk_.frame_instruction, spec.instruction);
    } else {
      Put(frame + walk_.frame_instruction, static_cast<uint32_t>(spec.instruction));
    }
    if (walk_.frame_is_entry != kPythonNoField) {
      Put(frame + walk_.frame_is_entry, static_cast<uint8_t>(spec.is_entry));
    }
    return frame;
  }

  // Writes the table for debuggers, with the offsets of 3.13.0 and 3.14.
  void PutDebugOffsets() {
    const bool is_314 = version_ == kPython314;
    const uint64_t more = is_free_threaded_ ? 16 : 0;  // longer headers of objects
    std::vector<uint64_t> words = {uint64_t{version_} << 16 | 0xf0, is_free_threaded_ ? 1u : 0u};
    const auto add = [&](std::initializer_list<uint64_t> more_words) {
      words.insert(words.end(), more_words);
    };
    add({8192, 1000, 1032});        // runtime
    add({8192, 7272, 7264, 7344});  // interpreter: size, id, next, threads
    words.insert(words.end(), is_314 ? 12 : 9, 0);
    add({304, 0, 8, 16, 72, 152, 160, 232, 32});  // thread
    if (is_314) {
      const uint64_t locals = 80, owner = is_free_threaded_ ? 78 : 74;
      add({88, 8, 0, 56, locals, owner, 64, 72});
    } else {
      add({80, 8, 0, 56, 72, 70});
    }
    const uint64_t instructions = 200 + more + (is_314 && is_free_threaded_ ? 16 : 0);
    add({208, 112 + more, 120 + more, 128 + more, 136 + more, 68 + more, 52 + more, 96 + more,
         104 + more, instructions});
    if (is_314) add({instructions - 8});
    add({16 + more, 8 + more});                        // object
    add({416, 24 + more, 88 + more, 168 + more});      // type
    add({32, 24 + more, 16 + more});                   // tuple
    add({40, 24 + more, 16 + more});                   // list
    if (is_314) add({200, 24 + more, 32 + more, 40});  // set
    add({48, 32 + more, 40 + more});                   // dictionary
    add({24, 16 + more});                              // float
    add({32, 16 + more, 24 + more});                   // long
    add({40, 16 + more, 32 + more});                   // bytes
    add({72, 32 + more, 16 + more, 40 + more});        // text
    std::memcpy(bytes_.data(), kDebugCookie.data(), kDebugCookie.size());
    std::memcpy(bytes_.data() + kDebugCookie.size(), words.data(), words.size() * 8);
  }

  const uint16_t version_;
  const bool is_free_threaded_;
  KnownLayout known_;
  Layout layout_;
  WalkLayout walk_{};
  uint64_t head_ = 0, interpreter_ = 0, version_variable_ = 0;
  uint64_t code_type_ = 0, frame_type_ = 0, text_type_ = 0, bytes_type_ = 0, dictionary_type_ = 0;
  std::vector<std::byte> bytes_;
};

}  // namespace profiler::symbolize::python
