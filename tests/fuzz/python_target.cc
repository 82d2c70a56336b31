// Fuzzes the memory of a process with CPython, and the copies of its objects that the kernel makes.
// The input is:
//
//   version, one byte │ size of the memory, 4 bytes │ memory, from FakePython::kStart on │ PythonCopy

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>

#include "src/record/python/copied_memory.h"
#include "src/record/python/testing/python_copier.h"
#include "symbolize/python/frames.h"
#include "symbolize/python/testing/fake_python.h"
#include "tests/fuzz/fuzz_target.h"

namespace profiler::fuzz {
namespace {

using namespace symbolize::python;

constexpr uint64_t kThread = 0x7f42000;
constexpr size_t kMostFrames = 64;
// Largest numbers of memory reads. A list of threads has at most some ten thousand.
constexpr uint64_t kMostReads = 200'000, kMostReadsOfCode = 200;

struct Build {
  uint16_t version;
  bool is_free_threaded;
};
constexpr std::array<Build, 8> kBuilds = {{{kPython38, false},
                                           {kPython310, false},
                                           {kPython311, false},
                                           {kPython312, false},
                                           {kPython313, false},
                                           {kPython313, true},
                                           {kPython314, false},
                                           {kPython314, true}}};

void RequireVisible(std::string_view text, size_t most) {
  Require(text.size() <= most, "a name is bounded");
  for (const char c : text) {
    Require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f, "a name has no control character");
  }
}

void UseCode(FakePython& python, CodeObjects& codes, const Frame& frame) {
  const uint64_t before = python.reads;
  const CodeObjects::Code* const code = codes.Find(frame.code, frame.globals);
  Require(python.reads - before < kMostReadsOfCode, "a code object takes few reads");
  if (code == nullptr) return;
  RequireVisible(code->name, 4 * 1400);
  RequireVisible(code->file, 4 * 4100);
  const uint32_t offset = code->OffsetOf(frame.instruction);
  Require(offset == 0 || offset < code->size, "an instruction is in its code");
  static_cast<void>(code->LineAt(offset));
  Require(code->lines.size() <= (size_t{1} << 16) + 1, "a table is bounded");
  Require(std::is_sorted(code->lines.begin(), code->lines.end(),
                         [](const Line& a, const Line& b) { return a.offset < b.offset; }),
          "lines are sorted");
  Require(code->DistinctLines(100).size() <= 100, "lines are bounded");
}

// Reads the code object of a copy, also when the process has ended.
void UseCopy(FakePython& python, const Interpreter& interpreter,
             std::span<const std::byte> record) {
  record::python::CopiedMemory memory(python);
  const auto copied = memory.Take(record);
  if (!copied) return;
  for (const bool is_dead : {false, true}) {
    python.is_dead = is_dead;
    CodeObjects codes(memory, interpreter);
    UseCode(python, codes, {.code = copied->code, .globals = copied->globals});
  }
}

void Run(std::span<const std::byte> input) {
  constexpr size_t kHead = 5;
  if (input.size() < kHead) return;
  const Build build = kBuilds[std::to_integer<size_t>(input[0]) % kBuilds.size()];
  uint32_t size = 0;
  std::memcpy(&size, input.data() + 1, sizeof(size));
  input = input.subspan(kHead);
  const std::span<const std::byte> memory = input.first(std::min<size_t>(size, input.size()));
  FakePython python(build.version, build.is_free_threaded);
  python.bytes().assign(memory.begin(), memory.end());
  const auto interpreter = Recognise(python.image(), FakePython::kBias, python);
  Require(python.reads < kMostReads, "recognising is bounded");
  if (!interpreter.ok()) return;
  const WalkLayout& walk = interpreter->layout.walk;
  CodeObjects codes(python, *interpreter);
  for (const uint64_t thread : ReadThreads(python, walk, 8)) {
    const Frames frames = ReadFrames(python, walk, thread, kMostFrames);
    Require(frames.frames.size() <= kMostFrames, "a stack is bounded");
    for (const Frame& frame : frames.frames) UseCode(python, codes, frame);
    codes.Refresh();
  }
  UseCopy(python, *interpreter, input.subspan(memory.size()));
}

Bytes SeedOf(size_t number) {
  const Build build = kBuilds[number];
  FakePython python(build.version, build.is_free_threaded);
  // Tables in each format; a table in another one is garbage.
  const uint64_t first = python.Code({.name = "f",
                                      .qualified_name = "C.f",
                                      .lines = std::string("\0\2\10\2", 4),
                                      .thread_instructions = {0x9000}});
  const uint64_t second = python.Code({.name = "<module>", .lines = "\xeb\4\xf3\x44\1\1\1\1"});
  const uint64_t module = python.Module("m");
  python.Thread(
      kThread, {{.code = first,
                 .instruction = python.Instruction(first, 2),
                 .globals = module,
                 .is_entry = false},
                {.code = second, .instruction = python.Instruction(second, 8), .globals = module}});
  const record::python::PythonCopier copier(python, first, module);
  Bytes seed = {static_cast<std::byte>(number)};
  const auto size = static_cast<uint32_t>(python.bytes().size());
  const auto size_bytes = std::as_bytes(std::span(&size, 1));
  seed.insert(seed.end(), size_bytes.begin(), size_bytes.end());
  seed.insert(seed.end(), python.bytes().begin(), python.bytes().end());
  seed.insert(seed.end(), copier.record().begin(), copier.record().end());
  return seed;
}

std::vector<Bytes> Seeds() {
  std::vector<Bytes> seeds;
  for (size_t i = 0; i < kBuilds.size(); ++i) seeds.push_back(SeedOf(i));
  return seeds;
}

}  // namespace

FuzzTarget PythonTarget() { return {"python", "the memory of a process with CPython", Run, Seeds}; }

}  // namespace profiler::fuzz
