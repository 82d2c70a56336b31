// Builds a V8 heap in memory, with the layout of Node.js 20, for tests of its readers.
//
//   FakeHeap heap;
//   const Word function = heap.Function(heap.Shared({.name = "fib", .source = "…", .start = 12}));

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "symbolize/process_memory.h"
#include "symbolize/v8/heap.h"
#include "symbolize/v8/metadata.h"

namespace profiler::symbolize::v8 {

// Values of node 20.20.2, from nm and the words of its .data.
inline Metadata NodeMetadata() {
  Metadata data;
  data.smi_tag = 0, data.smi_tag_mask = 1, data.smi_shift = 32;
  data.heap_object_tag = 1, data.heap_object_tag_mask = 3;
  data.object_map = 0, data.map_instance_type = 12;
  data.function_shared = 24, data.function_context = 32;
  data.shared_data = 8, data.shared_name_or_scope_info = 16, data.shared_script = 32;
  data.code_bytecode = 16, data.function_code = 48, data.stream_start = 16;
  data.script_source = 8, data.script_name = 16;
  data.string_length = 12, data.one_byte_chars = 16, data.two_byte_chars = 16;
  data.cons_first = 16, data.cons_second = 24, data.thin_actual = 16;
  data.sliced_parent = 16, data.sliced_offset = 24, data.external_resource = 16;
  data.scope_local_count = 2, data.scope_first_local = 3;
  data.map_type = 255, data.function_type = 2066, data.shared_type = 262, data.script_type = 167;
  data.scope_info_type = 261, data.bytecode_type = 191, data.interpreter_data_type = 180;
  data.code_type = 245, data.stream_type = 252, data.first_nonstring_type = 128;
  data.representation_mask = 7, data.encoding_mask = 8, data.one_byte_tag = 8;
  data.sequential_tag = 0, data.cons_tag = 1, data.external_tag = 2, data.sliced_tag = 3;
  data.thin_tag = 5;
  data.frame_function = -16, data.frame_context = -8, data.frame_bytecode = -32;
  return data;
}

class FakeHeap : public ProcessMemory {
 public:
  static constexpr uint64_t kStart = 0x100000;
  static constexpr int32_t kOneByte = 40, kTwoByte = 32;  // instance types of plain strings

  FakeHeap() : map_of_maps_(Object(0, 2)) { SetMap(map_of_maps_, map_of_maps_, data_.map_type); }

  bool Read(uint64_t address, std::span<std::byte> bytes) override {
    ++reads_;
    if (on_read) on_read(reads_);
    const uint64_t offset = address - kStart;
    if (offset > bytes_.size() || bytes.size() > bytes_.size() - offset) return false;
    std::memcpy(bytes.data(), bytes_.data() + offset, bytes.size());
    return true;
  }
  uint64_t Now() override { return now; }
  uint64_t now = 1;
  // Called before each read, with the read's number.
  std::function<void(size_t)> on_read;
  size_t reads() const { return reads_; }
  const Metadata& metadata() const { return data_; }
  std::vector<std::byte>& bytes() { return bytes_; }

  static Word Small(int64_t value) { return static_cast<Word>(value) << 32; }
  static uint64_t AddressOf(Word object) { return object - 1; }

  Word String(std::string_view text) {
    const Word string = Object(kOneByte, 2 + (text.size() + 7) / 8);
    SetLength(string, text.size());
    std::memcpy(At(string, data_.one_byte_chars), text.data(), text.size());
    return string;
  }
  Word WideString(std::u16string_view text) {
    const Word string = Object(kTwoByte, 2 + (2 * text.size() + 7) / 8);
    SetLength(string, text.size());
    std::memcpy(At(string, data_.two_byte_chars), text.data(), 2 * text.size());
    return string;
  }
  Word Cons(Word first, Word second, size_t length) {
    return Reference(data_.cons_tag, length, first, second);
  }
  Word Thin(Word actual, size_t length) { return Reference(data_.thin_tag, length, actual, 0); }
  Word Sliced(Word parent, int64_t offset, size_t length) {
    return Reference(data_.sliced_tag, length, parent, Small(offset));
  }
  // Builds a string whose characters are at `address`, inside or outside of the heap.
  Word External(uint64_t address, size_t length) {
    return Reference(data_.external_tag, length, 0xdead0, address);
  }

  struct FunctionSpec {
    std::string name = "f";
    std::string inferred;  // inferred name; empty: none
    int locals = 0;
    std::string script = "/app.js";
    std::string source = "function f() {\n}\n";
    int64_t start = 10, end = 16;
  };
  Word Script(Word name, Word source) {
    const Word script = Object(data_.script_type, 12);
    Set(script, data_.script_name, name);
    Set(script, data_.script_source, source);
    return script;
  }
  Word ScopeInfo(const FunctionSpec& spec) {
    std::vector<Word> words = {Small(0), Small(0), Small(spec.locals)};
    const bool is_table = spec.locals >= 75;
    for (int i = 0; i < (is_table ? 1 : spec.locals); ++i) words.push_back(String("local"));
    for (int i = 0; i < spec.locals; ++i) words.push_back(Small(3));
    words.push_back(spec.name.empty() ? Small(0) : String(spec.name));
    words.push_back(Small(-1));
    if (!spec.inferred.empty()) words.push_back(String(spec.inferred));
    words.push_back(Small(spec.start));
    words.push_back(Small(spec.end));
    const Word around = Object(data_.scope_info_type, 4);
    words.push_back(around);
    const Word scope = Object(data_.scope_info_type, 1 + words.size());
    for (size_t i = 0; i < words.size(); ++i) Set(scope, static_cast<int32_t>(8 + 8 * i), words[i]);
    return scope;
  }
  Word Bytecode() { return Object(data_.bytecode_type, 8); }
  Word Baseline(Word bytecode) {
    const Word code = Object(data_.code_type, 8);
    Set(code, data_.code_bytecode, bytecode);
    return code;
  }
  // Builds 64 bytes of optimised code with the optimization id `id`.
  Word Optimised(Word shared, int64_t id) {
    const Word data = Object(175, 16);
    Set(data, 16 + 5 * 8, Small(id));
    Set(data, 16 + 6 * 8, shared);
    const Word code = CodeOf(data);
    return code;
  }
  // Builds code with instructions.
  Word CodeOf(Word data) {
    const Word code = Object(data_.code_type, 8), stream = Object(data_.stream_type, 2 + 8);
    Set(code, data_.code_bytecode, data);
    Set(code, 32, stream);
    Set(code, 40, AddressOf(stream) + 16);
    Set(code, 56, 64);
    Set(stream, 8, code);
    return code;
  }
  uint64_t StartOf(Word code) {
    Word start = 0;
    std::memcpy(&start, At(code, 40), sizeof(start));
    return start;
  }
  // `code` is bytecodes or baseline code.
  Word Shared(const FunctionSpec& spec, Word code) {
    return SharedOf(ScopeInfo(spec), Script(String(spec.script), String(spec.source)), code);
  }
  Word SharedOf(Word scope, Word script, Word code) {
    const Word shared = Object(data_.shared_type, 7);
    Set(shared, data_.shared_name_or_scope_info, scope);
    Set(shared, data_.shared_script, script);
    Set(shared, data_.shared_data, code);
    return shared;
  }
  Word Context() { return Object(300, 4); }
  Word Function(Word shared, Word context, Word code = 0) {
    const Word function = Object(data_.function_type, 8);
    Set(function, data_.function_code, code);
    Set(function, data_.function_shared, shared);
    Set(function, data_.function_context, context);
    return function;
  }

  void Set(Word object, int32_t offset, Word value) {
    std::memcpy(At(object, offset), &value, sizeof(value));
  }
  // Builds an object of `words` words, of which the first is its map.
  Word Object(int32_t type, size_t words) {
    Word map = map_of_maps_;
    if (type != 0) map = MapOf(type);
    const Word object = kStart + bytes_.size() + 1;
    bytes_.resize(bytes_.size() + 8 * words);
    Set(object, data_.object_map, map);
    return object;
  }

 private:
  Word MapOf(int32_t type) {
    const auto known = maps_.find(type);
    if (known != maps_.end()) return known->second;
    const Word map = Object(0, 2);
    SetMap(map, map_of_maps_, type);
    return maps_[type] = map;
  }
  void SetMap(Word map, Word map_of_it, int32_t type) {
    Set(map, data_.object_map, map_of_it);
    const auto value = static_cast<uint16_t>(type);
    std::memcpy(At(map, data_.map_instance_type), &value, sizeof(value));
  }
  Word Reference(int32_t tag, size_t length, Word first, Word second) {
    const Word string = Object(kOneByte | tag, 4);
    SetLength(string, length);
    Set(string, data_.cons_first, first);
    Set(string, data_.cons_second, second);
    return string;
  }
  void SetLength(Word string, size_t length) {
    const auto value = static_cast<uint32_t>(length);
    std::memcpy(At(string, data_.string_length), &value, sizeof(value));
  }
  std::byte* At(Word object, int32_t offset) {
    return bytes_.data() + (AddressOf(object) - kStart) + offset;
  }

  const Metadata data_ = NodeMetadata();
  std::vector<std::byte> bytes_;
  size_t reads_ = 0;
  std::map<int32_t, Word> maps_;  // keyed by instance type
  Word map_of_maps_ = 0;
};

}  // namespace profiler::symbolize::v8
