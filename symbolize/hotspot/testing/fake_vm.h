// Builds a HotSpot in memory for tests: tables, a code cache, an interpreter, methods and compiled
// code. The layout is that of JDK 17 as far as the tables export it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "symbolize/process_memory.h"

namespace profiler::symbolize::hotspot {

class FakeVm final : public ProcessMemory {
 public:
  FakeVm() {
    PutTables();
    PutHeap();
  }

  // ---- for readers

  bool Read(uint64_t address, std::span<std::byte> bytes) override {
    ++reads;
    if (on_read) on_read(reads);
    if (address < kStart || address - kStart > memory_.size() ||
        bytes.size() > memory_.size() - (address - kStart)) {
      return false;
    }
    std::memcpy(bytes.data(), memory_.data() + (address - kStart), bytes.size());
    return true;
  }
  std::optional<uint64_t> FindVariable(std::string_view name) const {
    const auto found = variables_.find(std::string(name));
    return found == variables_.end() ? std::nullopt : std::optional(found->second);
  }
  uint64_t Now() override { return now; }
  uint64_t reads = 0;
  uint64_t now = 1;
  // Called before each read, with the read's number.
  std::function<void(uint64_t)> on_read;

  // ---- for tests

  // Adds a Method. Its first bytecode has line `line`, each further one the next line.
  uint64_t AddMethod(const std::string& holder, const std::string& name,
                     const std::string& descriptor, size_t bytecodes, uint32_t line) {
    const uint64_t klass = Take(kObject), pool = Take(kObject + 16 * 8);
    Put(klass + kKlassName, AddSymbol(holder));
    Put(pool + kPoolHolder, klass);
    Put(pool + kPoolLength, uint32_t{16});
    Put(pool + kPoolFile, uint16_t{3});
    Put(pool + kPoolSize + 1 * 8, AddSymbol(name));
    Put(pool + kPoolSize + 2 * 8, AddSymbol(descriptor));
    Put(pool + kPoolSize + 3 * 8, AddSymbol("J.java"));
    const uint64_t constant = Take(kConstSize + bytecodes + 64);
    Put(constant + kConstPool, pool);
    Put(constant + kConstCodeSize, static_cast<uint16_t>(bytecodes));
    Put(constant + kConstName, uint16_t{1});
    Put(constant + kConstSignature, uint16_t{2});
    Put(constant + kConstFlags, uint16_t{1});
    uint64_t at = constant + kConstSize + bytecodes;
    Put(at, uint8_t{0xff});  // bci +0, line +`line`, both signed
    Put(at + 1, uint8_t{0});
    Put(at + 2, static_cast<uint8_t>(2 * line));
    at += 3;
    for (size_t i = 1; i < bytecodes; ++i) Put(at++, uint8_t{1 << 3 | 1});
    const uint64_t method = Take(kObject);
    Put(method + kMethodConst, constant);
    return method;
  }
  uint64_t ConstMethodOf(uint64_t method) { return *Value<uint64_t>(method + kMethodConst); }
  uint64_t BytecodesOf(uint64_t method) { return ConstMethodOf(method) + kConstSize; }

  // A scope of debug information: method and bytecode. `sender` is the number of the calling scope;
  // 0: none.
  struct Scope {
    uint32_t sender;
    uint64_t method;
    int32_t bci;
  };
  struct Code {
    std::string name = "nmethod";
    std::vector<uint8_t> bytes;
    int32_t frame_words = 0, frame_complete = -1;
    uint64_t method = 0;
    std::vector<Scope> scopes;
    std::vector<std::pair<int32_t, uint32_t>> places;  // {pc, index of its scope}
    // deopt_handler: offset from the code's start. orig_pc: offset from sp.
    int32_t deopt_handler = -1, orig_pc = 0;
  };
  // Adds code and returns the address of its first instruction.
  uint64_t AddCode(const Code& code) {
    const uint64_t block = next_block_;
    const uint64_t blob = block + kBlockSize;
    const uint64_t begin = blob + kBlobHeader;
    uint64_t end = begin + code.bytes.size();
    Put(block + kBlockUsed, uint8_t{1});
    Put(blob + kBlobName, AddText(code.name));
    Put(blob + kBlobHeaderSize, static_cast<uint32_t>(kBlobHeader));
    Put(blob + kBlobFrame, code.frame_words);
    Put(blob + kCompileId, ++last_compile_id_);
    Put(blob + kBlobComplete, code.frame_complete);
    Put(blob + kBlobBegin, begin);
    Put(blob + kBlobEnd, end);
    Put(blob + kMethodOfCode, code.method);
    Put(blob + kOrigPc, code.orig_pc);
    if (code.deopt_handler >= 0)
      Put(blob + kDeopt, begin + static_cast<uint64_t>(code.deopt_handler));
    for (size_t i = 0; i < code.bytes.size(); ++i) Put(begin + i, code.bytes[i]);
    end = (end + 7) & ~uint64_t{7};
    PutDebugInfo(blob, code, &end);
    Put(blob + kBlobSize, static_cast<uint32_t>(end - blob));
    const uint64_t segments = (end - block + kSegment - 1) / kSegment;
    const uint64_t first = (block - kCode) / kSegment;
    for (uint64_t i = 0; i < segments; ++i) {
      Put(kMap + first + i, static_cast<uint8_t>(i < 255 ? i : 254));
    }
    next_block_ = block + segments * kSegment;
    return begin;
  }
  // Marks the code as freed.
  void RemoveCode(uint64_t begin) {
    Put(begin - kBlobHeader - kBlockSize + kBlockUsed, uint8_t{0});
  }
  void ReplaceMethod(uint64_t begin, uint64_t method, int32_t compile_id) {
    Put(begin - kBlobHeader + kMethodOfCode, method);
    Put(begin - kBlobHeader + kCompileId, compile_id);
  }

  void RenameHolder(uint64_t method, const std::string& holder) {
    const uint64_t pool = *Value<uint64_t>(ConstMethodOf(method) + kConstPool);
    Put(*Value<uint64_t>(pool + kPoolHolder) + kKlassName, AddSymbol(holder));
  }
  // Adds the counters of unloaded classes.
  void PutCounters() {
    const uint64_t memory = Take(512);
    Put(kCounters, memory);
    Put(memory, uint32_t{0xc0c0feca});
    Put(memory + 8, uint32_t{512});
    Put(memory + 24, uint32_t{32});
    Put(memory + 28, uint32_t{3});
    uint64_t entry = memory + 32;
    for (const std::string name :
         {"java.cls.loadedClasses", "java.cls.unloadedClasses", "java.cls.sharedUnloadedClasses"}) {
      Put(entry, uint32_t{64});
      Put(entry + 4, uint32_t{20});
      Put(entry + 16, uint32_t{56});
      for (size_t i = 0; i <= name.size(); ++i) Put(entry + 20 + i, name.c_str()[i]);
      unloaded_ = name == "java.cls.unloadedClasses" ? entry + 56 : unloaded_;
      entry += 64;
    }
  }
  void CountUnloadedClass() { Put(unloaded_, *Value<uint64_t>(unloaded_) + 1); }

  template <class T>
  void Put(uint64_t address, T value) {
    std::memcpy(memory_.data() + (address - kStart), &value, sizeof(value));
  }
  std::vector<std::byte>& memory() { return memory_; }
  static constexpr uint64_t kStart = 0x7f0000000000;

 private:
  static constexpr uint64_t kSize = 1 << 20, kSegment = 128;
  static constexpr uint64_t kCode = kStart + 0x80000, kCodeEnd = kStart + kSize;
  static constexpr uint64_t kMap = kStart + 0x70000;
  static constexpr uint64_t kObject = 256;
  static constexpr uint64_t kMethodConst = 8, kKlassName = 24;
  static constexpr uint64_t kConstPool = 8, kConstFlags = 28, kConstCodeSize = 32, kConstName = 34,
                            kConstSignature = 36, kConstSize = 48;
  static constexpr uint64_t kPoolHolder = 24, kPoolFile = 54, kPoolLength = 60, kPoolSize = 72;
  static constexpr uint64_t kBlockSize = 16, kBlockUsed = 8, kBlobHeader = 352;
  static constexpr uint64_t kBlobSize = 12, kBlobHeaderSize = 16, kBlobComplete = 20,
                            kBlobFrame = 28, kBlobBegin = 32, kBlobEnd = 40, kBlobName = 96,
                            kMethodOfCode = 112, kScopes = 120, kDeopt = 128, kMetadata = 260,
                            kPcs = 268, kPcsEnd = 272, kOrigPc = 300, kCompileId = 304;

  uint64_t Take(uint64_t size) {
    const uint64_t start = next_;
    next_ = (next_ + size + 7) & ~uint64_t{7};
    return start;
  }
  uint64_t AddText(const std::string& text) {
    const uint64_t start = Take(text.size() + 1);
    for (size_t i = 0; i <= text.size(); ++i) Put(start + i, text.c_str()[i]);
    return start;
  }
  uint64_t AddSymbol(const std::string& text) {
    const uint64_t start = Take(6 + text.size());
    Put(start + 4, static_cast<uint16_t>(text.size()));
    for (size_t i = 0; i < text.size(); ++i) Put(start + 6 + i, text[i]);
    return start;
  }
  uint64_t AddWord(uint64_t value) {
    const uint64_t start = Take(8);
    Put(start, value);
    return start;
  }

  void PutDebugInfo(uint64_t blob, const Code& code, uint64_t* end) {
    if (code.places.empty()) return;
    const auto offset = [&] { return static_cast<uint32_t>(*end - blob); };
    Put(blob + kMetadata, offset());
    for (const Scope& scope : code.scopes) {
      Put(*end, scope.method);
      *end += 8;
    }
    Put(blob + kScopes, *end);
    std::vector<uint32_t> at;
    const uint64_t scopes = *end;
    Put((*end)++, uint8_t{0});  // no scope has offset 0
    for (size_t i = 0; i < code.scopes.size(); ++i) {
      const Scope& scope = code.scopes[i];
      at.push_back(static_cast<uint32_t>(*end - scopes));
      Put((*end)++, static_cast<uint8_t>(scope.sender == 0 ? 0 : at[scope.sender - 1]));
      Put((*end)++, static_cast<uint8_t>(i + 1));
      Put((*end)++, static_cast<uint8_t>(scope.bci + 1));
    }
    *end = (*end + 7) & ~uint64_t{7};
    Put(blob + kPcs, offset());
    const auto put_place = [&](int32_t pc, uint32_t scope) {
      Put(*end, pc);
      Put(*end + 4, scope);
      *end += 16;
    };
    put_place(-1, 0);
    for (const auto& [pc, scope] : code.places) put_place(pc, at[scope]);
    put_place(INT32_MAX, 0);
    Put(blob + kPcsEnd, offset());
  }

  void PutTables() {
    struct Field {
      const char *type, *name;
      uint64_t offset;
      bool is_static = false;
    };
    const std::vector<Field> fields = {
        {"CodeCache", "_heaps", AddWord(kHeaps), true},
        {"Abstract_VM_Version", "_vm_major_version", AddWord(17), true},
        {"PerfMemory", "_start", kCounters, true},
        {"StubRoutines", "_call_stub_return_address", AddWord(0), true},
        {"GrowableArrayBase", "_len", 0},
        {"GrowableArray<int>", "_data", 8},
        {"CodeHeap", "_memory", 8},
        {"CodeHeap", "_segmap", 120},
        {"CodeHeap", "_log2_segment_size", 248},
        {"VirtualSpace", "_low", 16},
        {"VirtualSpace", "_high", 24},
        {"HeapBlock", "_header", 0},
        {"HeapBlock::Header", "_used", kBlockUsed},
        {"CodeBlob", "_name", kBlobName},
        {"CodeBlob", "_size", kBlobSize},
        {"CodeBlob", "_header_size", kBlobHeaderSize},
        {"CodeBlob", "_frame_size", kBlobFrame},
        {"CodeBlob", "_frame_complete_offset", kBlobComplete},
        {"CodeBlob", "_code_begin", kBlobBegin},
        {"CodeBlob", "_code_end", kBlobEnd},
        {"CompiledMethod", "_method", kMethodOfCode},
        {"CompiledMethod", "_scopes_data_begin", kScopes},
        {"CompiledMethod", "_deopt_handler_begin", kDeopt},
        {"nmethod", "_compile_id", kCompileId},
        {"nmethod", "_orig_pc_offset", kOrigPc},
        {"nmethod", "_scopes_pcs_offset", kPcs},
        {"nmethod", "_dependencies_offset", kPcsEnd},
        {"nmethod", "_metadata_offset", kMetadata},
        {"Method", "_constMethod", kMethodConst},
        {"ConstMethod", "_constants", kConstPool},
        {"ConstMethod", "_code_size", kConstCodeSize},
        {"ConstMethod", "_name_index", kConstName},
        {"ConstMethod", "_signature_index", kConstSignature},
        {"ConstMethod", "_flags", kConstFlags},
        {"ConstantPool", "_pool_holder", kPoolHolder},
        {"ConstantPool", "_length", kPoolLength},
        {"ConstantPool", "_source_file_name_index", kPoolFile},
        {"Klass", "_name", kKlassName},
        {"Symbol", "_length", 4},
        {"Symbol", "_body", 6},
    };
    const uint64_t structs = Take((fields.size() + 1) * 48);
    for (size_t i = 0; i < fields.size(); ++i) {
      const uint64_t entry = structs + i * 48;
      Put(entry, AddText(fields[i].type));
      Put(entry + 8, AddText(fields[i].name));
      Put(entry + 16, AddText("int"));
      Put(entry + 24, static_cast<int32_t>(fields[i].is_static));
      Put(entry + (fields[i].is_static ? 40 : 32), fields[i].offset);
    }
    const std::vector<std::pair<const char*, uint64_t>> types = {{"HeapBlock", kBlockSize},
                                                                 {"CodeBlob", 104},
                                                                 {"nmethod", kBlobHeader},
                                                                 {"ConstMethod", kConstSize},
                                                                 {"ConstantPool", kPoolSize}};
    const uint64_t sizes = Take((types.size() + 1) * 16);
    for (size_t i = 0; i < types.size(); ++i) {
      Put(sizes + i * 16, AddText(types[i].first));
      Put(sizes + i * 16 + 8, types[i].second);
    }
    const uint64_t ints = Take(2 * 16), longs = Take(16);
    Put(ints, AddText("ConstMethod::_has_linenumber_table"));
    Put(ints + 8, int32_t{1});
    const std::vector<std::pair<const char*, uint64_t>> variables = {
        {"gHotSpotVMStructs", structs},
        {"gHotSpotVMStructEntryArrayStride", 48},
        {"gHotSpotVMStructEntryTypeNameOffset", 0},
        {"gHotSpotVMStructEntryFieldNameOffset", 8},
        {"gHotSpotVMStructEntryTypeStringOffset", 16},
        {"gHotSpotVMStructEntryIsStaticOffset", 24},
        {"gHotSpotVMStructEntryOffsetOffset", 32},
        {"gHotSpotVMStructEntryAddressOffset", 40},
        {"gHotSpotVMTypes", sizes},
        {"gHotSpotVMTypeEntryArrayStride", 16},
        {"gHotSpotVMTypeEntryTypeNameOffset", 0},
        {"gHotSpotVMTypeEntrySizeOffset", 8},
        {"gHotSpotVMIntConstants", ints},
        {"gHotSpotVMIntConstantEntryArrayStride", 16},
        {"gHotSpotVMIntConstantEntryNameOffset", 0},
        {"gHotSpotVMIntConstantEntryValueOffset", 8},
        {"gHotSpotVMLongConstants", longs},
        {"gHotSpotVMLongConstantEntryArrayStride", 16},
        {"gHotSpotVMLongConstantEntryNameOffset", 0},
        {"gHotSpotVMLongConstantEntryValueOffset", 8},
    };
    for (const auto& [name, value] : variables) variables_[name] = AddWord(value);
  }

  void PutHeap() {
    const uint64_t heap = Take(344);
    Put(kHeaps, uint32_t{1});
    Put(kHeaps + 8, AddWord(heap));
    Put(heap + 8 + 16, kCode);
    Put(heap + 8 + 24, kCodeEnd);
    Put(heap + 120 + 16, kMap);
    Put(heap + 248, uint32_t{7});
    std::memset(memory_.data() + (kMap - kStart), 0xff, (kCodeEnd - kCode) / kSegment);
  }

  static constexpr uint64_t kHeaps = kStart + 16, kCounters = kStart + 64;

  std::vector<std::byte> memory_{kSize};
  std::map<std::string, uint64_t> variables_;
  uint64_t next_ = kStart + 0x100;
  uint64_t next_block_ = kCode;
  int32_t last_compile_id_ = 1000;
  uint64_t unloaded_ = 0;  // address of the counter of unloaded classes
};

}  // namespace profiler::symbolize::hotspot
