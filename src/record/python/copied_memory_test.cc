#include "src/record/python/copied_memory.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "src/record/python/testing/python_copier.h"
#include "symbolize/python/testing/fake_python.h"

namespace profiler::record::python {
namespace {

namespace cpython = symbolize::python;
using cpython::FakePython;

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
  const PythonCopier copier(python_, code_, globals_);
  CopiedMemory memory(python_);
  const auto copied = memory.Take(copier.record());
  ASSERT_TRUE(copied.has_value());
  EXPECT_EQ(copied->generation, PythonCopier::kGeneration);
  EXPECT_EQ(copied->code, code_);
  EXPECT_EQ(copied->globals, globals_);
  EXPECT_EQ(copied->print, PythonCopier::kPrint);
  // Other objects take the memory of the code object and of its texts.
  python_.Fill(code_, {.name = "other", .file = "/other.py"});
  EXPECT_EQ(NameIn(memory), "work.job.run /srv/job.py");
  memory.Clear();
  EXPECT_EQ(NameIn(memory), "work.job.other /other.py");
}

TEST_P(CopiedMemoryTest, NamesAreReadAfterTheProcessHasEnded) {
  const PythonCopier copier(python_, code_, globals_);
  CopiedMemory memory(python_);
  ASSERT_TRUE(memory.Take(copier.record()).has_value());
  python_.is_dead = true;
  EXPECT_EQ(NameIn(memory), "work.job.run /srv/job.py");
  memory.Clear();
  EXPECT_EQ(NameIn(memory), "none");
}

TEST_P(CopiedMemoryTest, PiecesOutsideOfTheRecordAreLeftOut) {
  PythonCopier copier(python_, code_, globals_);
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
