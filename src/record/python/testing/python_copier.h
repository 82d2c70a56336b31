// Copies the objects of a code object of a FakePython into a record, as the program in the kernel
// does (src/record/bpf/python_walk.bpf.c).

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "src/record/bpf/python_stack.h"
#include "symbolize/python/testing/fake_python.h"

namespace profiler::record::python {

// The record of one code object.
class PythonCopier {
 public:
  static constexpr uint32_t kGeneration = 5;
  static constexpr uint64_t kPrint = 77;

  PythonCopier(symbolize::python::FakePython& python, uint64_t code, uint64_t globals)
      : python_(python), record_(kFixed) {
    const symbolize::python::WalkLayout& walk = python.walk();
    Put(offsetof(PythonCopy, generation), kGeneration);
    Put(offsetof(PythonCopy, end), static_cast<uint32_t>(kPythonCopy));
    Put(offsetof(PythonCopy, code), code);
    Put(offsetof(PythonCopy, globals), globals);
    Put(offsetof(PythonCopy, print), kPrint);
    Piece(kPieceCode, code, walk.code_bytes);
    Text(kPieceName, python.Word(code + walk.code_name));
    if (walk.code_qualified_name != symbolize::python::kPythonNoField) {
      Text(kPieceQualifiedName, python.Word(code + walk.code_qualified_name));
    }
    Text(kPieceFile, python.Word(code + walk.code_file));
    if (walk.code_instructions != symbolize::python::kPythonNoField) {
      Piece(kPieceInstructions, python.Word(code + walk.code_instructions), 32);
    }
    Piece(kPieceDictionary, globals, 64);
    const uint64_t keys = python.Word(globals + walk.dictionary_keys);
    const bool is_old = walk.version < symbolize::python::kPython311;
    Piece(kPieceKeys, keys, 40);
    const uint64_t entries = keys + 40 + (is_old ? 8 : 0);
    Piece(kPieceEntries, entries, 24);
    Text(kPieceKey, python.Word(entries + (is_old ? 8 : 0)));
    Text(kPieceModule, python.Word(entries + (is_old ? 16 : 8)));
    const uint64_t lines = python.Word(code + walk.code_lines);
    Piece(kPieceLines, lines, walk.bytes_header + python.Word(lines + walk.bytes_length));
  }
  // Returns the record. It is smaller than the kernel's, because it has no unused room.
  const std::vector<std::byte>& record() const { return record_; }

  // Overwrites a field of the record.
  template <class T>
  void Put(size_t place, T value) {
    std::memcpy(record_.data() + place, &value, sizeof(value));
  }

 private:
  static constexpr size_t kFixed = offsetof(PythonCopy, object);

  void Text(size_t index, uint64_t address) {
    const symbolize::python::WalkLayout& walk = python_.walk();
    Piece(index, address, walk.text_bytes + python_.Word(address + walk.text_length));
  }
  void Piece(size_t index, uint64_t address, uint64_t bytes) {
    const PythonPiece piece = {address, static_cast<__u32>(bytes),
                               static_cast<__u32>(record_.size())};
    Put(offsetof(PythonCopy, pieces) + index * sizeof(piece), piece);
    const uint64_t at = address - symbolize::python::FakePython::kStart;
    python_.bytes().resize(std::max<size_t>(python_.bytes().size(), at + bytes));
    record_.insert(record_.end(), python_.bytes().begin() + static_cast<ptrdiff_t>(at),
                   python_.bytes().begin() + static_cast<ptrdiff_t>(at + bytes));
  }

  symbolize::python::FakePython& python_;
  std::vector<std::byte> record_;
};

}  // namespace profiler::record::python
