#include "src/record/python/copied_memory.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "symbolize/python/testing/fake_python.h"

namespace profiler::record::python {
namespace {

namespace cpython = symbolize::python;
using cpython::FakePython;

constexpr uint64_t kPrint = 77;

// Makes the record as the program in the kernel does (python_walk.bpf.c).
class Copier {
 public:
  Copier(FakePython& python, uint64_t code, uint64_t globals) : python_(python), record_(kFixed) {
    const cpython::WalkLayout& walk = python.walk();
    Put(offsetof(PythonCopy, generation), uint32_t{5});
    Put(offsetof(PythonCopy, end), static_cast<uint32_t>(kPythonCopy));
    Put(offsetof(PythonCopy, code), code);
    Put(offsetof(PythonCopy, globals), globals);
    Put(offsetof(PythonCopy, print), kPrint);
    Piece(kPieceCode, code, walk.code_bytes);
    Text(kPieceName, python.Word(code + walk.code_name));
    if (walk.code_qualified_name != cpython::kPythonNoField) {
      Text(kPieceQualifiedName, python.Word(code + walk.code_qualified_name));
    }
    Text(kPieceFile, python.Word(code + walk.code_file));
    if (walk.code_instructions != cpython::kPythonNoField) {
      Piece(kPieceInstructions, python.Word(code + walk.code_instructions), 32);
    }
    Piece(kPieceDictionary, globals, 64);
    const uint64_t keys = python.Word(globals + walk.dictionary_keys);
    const bool is_old = walk.version < cpython::kPython311;
    Piece(kPieceKeys, keys, 40);
    const uint64_t entries = keys + 40 + (is_old ? 8 : 0);
    Piece(kPieceEntries, entries, 24);
    Text(kPieceKey, python.Word(entries + (is_old ? 8 : 0)));
    Text(kPieceModule, python.Word(entries + (is_old ? 16 : 8)));
    const uint64_t lines = python.Word(code + walk.code_lines);
    Piece(kPieceLines, lines, walk.bytes_header + python.Word(lines + walk.bytes_length));
  }
  const std::vector<std::byte>& record() const { return record_; }

  template <class T>
  void Put(size_t place, T value) {
    std::memcpy(record_.data() + place, &value, sizeof(value));
  }

 private:
  static constexpr size_t kFixed = offsetof(PythonCopy, object);

  void Text(size_t index, uint64_t address) {
    const cpython::WalkLayout& walk = python_.walk();
    Piece(index, address, walk.text_bytes + python_.Word(address + walk.text_length));
  }
  void Piece(size_t index, uint64_t address, uint64_t bytes) {
    const PythonPiece piece = {address, static_cast<__u32>(bytes),
                               static_cast<__u32>(record_.size())};
    Put(offsetof(PythonCopy, pieces) + index * sizeof(piece), piece);
    const uint64_t at = address - FakePython::kStart;
    python_.bytes().resize(std::max<size_t>(python_.bytes().size(), at + bytes));
    record_.insert(record_.end(), python_.bytes().begin() + static_cast<ptrdiff_t>(at),
                   python_.bytes().begin() + static_cast<ptrdiff_t>(at + bytes));
  }

  FakePython& python_;
  std::vector<std::byte> record_;
};

class CopiedMemoryTest : public testing::TestWithParam<uint16_t> {
 protected:
  void SetUp() override {
    code_ = python_.Code({.name = "run", .qualified_name = "run", .file = "/srv/job.py"});
    globals_ = python_.Module("work.job");
    python_.Thread(1, {{.code = code_, .globals = globals_}});
    auto interpreter = cpython::Recognise(python_.image(), FakePython::kBias, python_);
    ASSERT_TRUE(interpreter.ok()) << interpreter.status();
    interpreter_ = *interpreter;
  }
  // Returns name and file of the code object as the memory shows it.
  std::string NameIn(symbolize::ProcessMemory& memory) {
    cpython::CodeObjects codes(memory, interpreter_);
    const cpython::CodeObjects::Code* const code = codes.Find(code_, globals_);
    return code == nullptr ? "none" : absl::StrCat(code->name, " ", code->file);
  }

  FakePython python_{GetParam()};
  uint64_t code_ = 0, globals_ = 0;
  cpython::Interpreter interpreter_;
};

INSTANTIATE_TEST_SUITE_P(, CopiedMemoryTest,
                         testing::Values(cpython::kPython38, cpython::kPython310,
                                         cpython::kPython311, cpython::kPython312,
                                         cpython::kPython313, cpython::kPython314));

TEST_P(CopiedMemoryTest, NamesAreThoseAtTheSampleAfterTheObjectsWereFreed) {
  const Copier copier(python_, code_, globals_);
  CopiedMemory memory(python_);
  const auto copied = memory.Take(copier.record());
  ASSERT_TRUE(copied.has_value());
  EXPECT_EQ(copied->generation, 5u);
  EXPECT_EQ(copied->code, code_);
  EXPECT_EQ(copied->globals, globals_);
  EXPECT_EQ(copied->print, kPrint);
  // Other objects take the memory of the code object and of its texts.
  python_.Fill(code_, {.name = "other", .file = "/other.py"});
  EXPECT_EQ(NameIn(memory), "work.job.run /srv/job.py");
  memory.Clear();
  EXPECT_EQ(NameIn(memory), "work.job.other /other.py");
}

TEST_P(CopiedMemoryTest, NamesAreReadAfterTheProcessHasEnded) {
  const Copier copier(python_, code_, globals_);
  CopiedMemory memory(python_);
  ASSERT_TRUE(memory.Take(copier.record()).has_value());
  python_.is_dead = true;
  EXPECT_EQ(NameIn(memory), "work.job.run /srv/job.py");
  memory.Clear();
  EXPECT_EQ(NameIn(memory), "none");
}

TEST_P(CopiedMemoryTest, PiecesOutsideOfTheRecordAreLeftOut) {
  Copier copier(python_, code_, globals_);
  for (size_t i = 0; i < kPythonPieces; ++i) {
    copier.Put(offsetof(PythonCopy, pieces) + i * sizeof(PythonPiece) + 8, ~uint32_t{0});
  }
  CopiedMemory memory(python_);
  ASSERT_TRUE(memory.Take(copier.record()).has_value());
  EXPECT_EQ(NameIn(memory), "work.job.run /srv/job.py");
  EXPECT_FALSE(memory.Take(std::span(copier.record()).first(100)).has_value());
  EXPECT_FALSE(memory.Take({}).has_value());
}

}  // namespace
}  // namespace profiler::record::python
