// Reads a made-up CPython of each version.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "symbolize/python/frames.h"
#include "symbolize/python/testing/fake_python.h"

namespace profiler::symbolize::python {
namespace {

constexpr uint64_t kThread = 0x7f42000;
constexpr size_t kMostFrames = 100;

struct Build {
  uint16_t version;
  bool is_free_threaded = false;
};
std::string NameOf(const testing::TestParamInfo<Build>& info) {
  return absl::StrCat("Python3", info.param.version & 0xff,
                      info.param.is_free_threaded ? "FreeThreaded" : "");
}

class PythonTest : public testing::TestWithParam<Build> {
 protected:
  FakePython python_{GetParam().version, GetParam().is_free_threaded};

  bool HasQualifiedNames() const { return GetParam().version >= kPython311; }
  // Returns names, files and lines of the thread's frames, one per line of text.
  std::string FramesOf(uint64_t id) {
    const auto interpreter = Recognise();
    if (!interpreter.ok()) return interpreter.status().ToString();
    CodeObjects codes(python_, *interpreter);
    const auto thread = FindThread(python_, interpreter->layout.walk, id);
    if (!thread) return "no thread";
    const Frames frames = ReadFrames(python_, interpreter->layout.walk, *thread, kMostFrames);
    std::string text;
    for (const Frame& frame : frames.frames) {
      const CodeObjects::Code* const code = codes.Find(frame.code, frame.globals);
      if (code == nullptr) return text + "no code\n";
      absl::StrAppend(&text, code->is_internal ? "(" : "", code->name, code->is_internal ? ")" : "",
                      " ", code->file, ":", code->first_line, " ",
                      code->LineAt(code->OffsetOf(frame.instruction)),
                      frame.is_entry ? " entry\n" : "\n");
    }
    return text + (frames.is_whole ? "" : "cut\n");
  }
  absl::StatusOr<Interpreter> Recognise() {
    return python::Recognise(python_.image(), FakePython::kBias, python_);
  }
  std::string Why() {
    const auto interpreter = Recognise();
    return interpreter.ok() ? "recognised" : std::string(interpreter.status().message());
  }
  // Returns a table, in the version's format, for code that begins in line 1: line 3, and line 5
  // from offset 8 on.
  std::string Lines() const {
    if (GetParam().version < kPython310) return std::string("\0\2\10\2", 4);
    if (GetParam().version == kPython310) return "\10\2\10\2";
    return "\xeb\4\xeb\4";
  }
};

INSTANTIATE_TEST_SUITE_P(, PythonTest,
                         testing::Values(Build{kPython38}, Build{VersionOf(3, 9)},
                                         Build{kPython310}, Build{kPython311}, Build{kPython312},
                                         Build{kPython313}, Build{kPython313, true},
                                         Build{kPython314}, Build{kPython314, true}),
                         NameOf);

TEST_P(PythonTest, FramesHaveNamesFilesAndLines) {
  const uint64_t method = python_.Code(
      {.name = "run", .qualified_name = "Job.run", .file = "/srv/job.py", .lines = Lines()});
  const uint64_t module =
      python_.Code({.name = "<module>", .file = "/srv/main.py", .lines = Lines()});
  python_.Thread(kThread + 1, {});
  python_.Thread(kThread, {{.code = method,
                            .instruction = python_.Instruction(method, 10),
                            .globals = python_.Module("work.job"),
                            .is_entry = false},
                           {.code = module,
                            .instruction = python_.Instruction(module, 0),
                            .globals = python_.Module("__main__")}});
  const bool all_are_entries = GetParam().version < kPython311;
  EXPECT_EQ(FramesOf(kThread), absl::StrCat("work.job.", HasQualifiedNames() ? "Job.run" : "run",
                                            " /srv/job.py:1 5", all_are_entries ? " entry" : "",
                                            "\n__main__.<module> /srv/main.py:1 3 entry\n"));
}

TEST_P(PythonTest, AnInterpreterThatHasNotStartedIsUnavailable) {
  python_.Put(python_.head(), uint64_t{0});
  EXPECT_EQ(Why(), "the interpreter has not started yet");
  EXPECT_EQ(Recognise().status().code(), absl::StatusCode::kUnavailable);
}

TEST_P(PythonTest, AnInterpreterWithoutThreadsOrFramesIsUnavailable) {
  EXPECT_EQ(Why(), "the interpreter has no thread yet");
  python_.Thread(kThread, {});
  EXPECT_EQ(Why(), "no thread of the interpreter runs Python");
  EXPECT_EQ(Recognise().status().code(), absl::StatusCode::kUnavailable);
}

TEST_P(PythonTest, AThreadOfAnotherInterpreterIsRefused) {
  const uint64_t thread = python_.Thread(kThread, {{.code = python_.Code({})}});
  python_.Put(thread + python_.walk().thread_interpreter, python_.head());
  EXPECT_EQ(Why(), absl::StrCat("the state of a thread differs from that of CPython 3.",
                                GetParam().version & 0xff));
}

TEST_P(PythonTest, AFrameWhoseCodeIsAnotherObjectIsRefused) {
  python_.Thread(kThread, {{.code = python_.Text(std::string_view("no code"))}});
  EXPECT_EQ(Why(),
            absl::StrCat("a frame differs from that of CPython 3.", GetParam().version & 0xff));
}

TEST_P(PythonTest, UnreadableMemoryIsRefused) {
  python_.is_dead = true;
  EXPECT_EQ(Why(), "the memory of the interpreter cannot be read");
}

TEST_P(PythonTest, NamesOfAllWidthsAreUtf8WithoutControlCharacters) {
  const uint64_t code = python_.Code({});
  python_.Thread(kThread, {{.code = code}});
  const uint16_t offset =
      HasQualifiedNames() ? python_.walk().code_qualified_name : python_.walk().code_name;
  const auto name = [&](uint64_t text) {
    python_.Put(code + offset, text);
    CodeObjects codes(python_, *Recognise());
    const CodeObjects::Code* const found = codes.Find(code);
    return found == nullptr ? "none" : found->name;
  };
  EXPECT_EQ(name(python_.Text(std::string_view("a\x1b[31m\nb"))), "a?[31m?b");
  EXPECT_EQ(name(python_.Text(std::string_view("\xe9\x9b"))), "é?");
  EXPECT_EQ(name(python_.Text(std::u16string_view(u"\u0436\u202e\xdc80"))), "ж?\ufffd");
  EXPECT_EQ(name(python_.Text(std::u32string_view(U"\U0001f40d"))), "🐍");
  EXPECT_EQ(name(python_.Text(std::string(5000, 'x'))), std::string(1024, 'x') + "…");
}

TEST_P(PythonTest, ATextThatLiesAboutItsLengthIsNotRead) {
  const uint64_t code = python_.Code({});
  python_.Thread(kThread, {{.code = code}});
  const auto interpreter = Recognise();
  ASSERT_TRUE(interpreter.ok());
  const uint64_t name = python_.Word(code + python_.walk().code_name);
  if (HasQualifiedNames()) python_.Put(code + python_.walk().code_qualified_name, name);
  python_.Put(name + python_.walk().text_length, ~uint64_t{0});
  python_.bytes().resize(python_.bytes().size() - 16);
  CodeObjects codes(python_, *interpreter);
  const CodeObjects::Code* const found = codes.Find(code);
  EXPECT_TRUE(found == nullptr || found->name.size() <= 1024 + 3);
}

TEST_P(PythonTest, AnObjectOfAnotherTypeIsNoCode) {
  python_.Thread(kThread, {{.code = python_.Code({})}});
  CodeObjects codes(python_, *Recognise());
  EXPECT_EQ(codes.Find(python_.Text(std::string_view("f"))), nullptr);
  EXPECT_EQ(codes.Find(0), nullptr);
  EXPECT_EQ(codes.Find(FakePython::kStart + 3), nullptr);
  EXPECT_EQ(codes.Find(~uint64_t{7}), nullptr);
}

TEST_P(PythonTest, ACodeObjectIsReadOnceAndComparedAfterRefresh) {
  const uint64_t code = python_.Code({.name = "f"});
  python_.Thread(kThread, {{.code = code}});
  CodeObjects codes(python_, *Recognise());
  const uint64_t number = codes.Find(code)->number;
  const uint64_t reads = python_.reads;
  EXPECT_EQ(codes.Find(code)->name, "f");
  EXPECT_EQ(python_.reads, reads);
  codes.Refresh();
  EXPECT_EQ(codes.Find(code)->number, number);
  python_.Fill(code, {.name = "g"});
  EXPECT_EQ(codes.Find(code)->name, "f");
  codes.Refresh();
  EXPECT_EQ(codes.Find(code)->name, "g");
  EXPECT_NE(codes.Find(code)->number, number);
}

TEST_P(PythonTest, ACodeObjectThatChangesWhileItIsReadHasNoName) {
  const uint64_t code = python_.Code({.name = "f", .file = "/f.py"});
  python_.Thread(kThread, {{.code = code}});
  CodeObjects codes(python_, *Recognise());
  const uint64_t file = python_.Word(code + python_.walk().code_file);
  bool is_changed = false;
  python_.on_read = [&](uint64_t address) {
    if (is_changed || address < file || address >= file + 64) return;
    is_changed = true;
    python_.Fill(code, {.name = "g", .file = "/g.py"});
  };
  EXPECT_EQ(codes.Find(code), nullptr);
  EXPECT_EQ(codes.Find(code)->name, "g");
}

TEST_P(PythonTest, TheNameOfAModuleComesFromItsDictionary) {
  const uint64_t code = python_.Code({.name = "f"});
  python_.Thread(kThread, {{.code = code}});
  const auto name = [&](uint64_t globals) {
    CodeObjects codes(python_, *Recognise());
    return codes.Find(code, globals)->name;
  };
  const uint64_t key = python_.Text(std::string_view("__name__"));
  const uint64_t other = python_.Text(std::string_view("x"));
  EXPECT_EQ(name(0), "f");
  EXPECT_EQ(name(python_.Dictionary({{other, other}, {key, other}})), "x.f");
  EXPECT_EQ(name(python_.Dictionary({{0, 0}, {key, other}}, true)), "x.f");
  EXPECT_EQ(name(python_.Dictionary({{key, other}}, false, true)), "x.f");
  EXPECT_EQ(name(python_.Dictionary({{key, code}})), "f");
  EXPECT_EQ(name(python_.Dictionary({})), "f");
  EXPECT_EQ(name(other), "f");
}

TEST_P(PythonTest, AnInstructionOutsideOfTheCodeIsItsFirst) {
  const uint64_t code = python_.Code({.size = 16});
  python_.Thread(kThread, {{.code = code}});
  CodeObjects codes(python_, *Recognise());
  const CodeObjects::Code* const found = codes.Find(code);
  EXPECT_EQ(found->size, 16u);
  EXPECT_EQ(found->OffsetOf(python_.Instruction(code, 12)), 12u);
  EXPECT_EQ(found->OffsetOf(python_.Instruction(code, 16)), 0u);
  EXPECT_EQ(found->OffsetOf(python_.Instruction(code, 0) - 2), 0u);
}

TEST_P(PythonTest, CyclesOfFramesAndThreadsEnd) {
  const uint64_t code = python_.Code({});
  const uint64_t thread = python_.Thread(kThread, {{.code = code}});
  const WalkLayout& walk = python_.walk();
  python_.Put(thread + walk.thread_next, thread);
  WalkLayout layout = Recognise()->layout.walk;
  EXPECT_EQ(ReadThreads(python_, layout, 10).size(), 10u);
  EXPECT_EQ(FindThread(python_, layout, kThread + 8), std::nullopt);
  uint64_t frame = python_.Word(thread + walk.thread_frame);
  if (walk.frame_indirect != kPythonNoField) frame = python_.Word(frame + walk.frame_indirect);
  python_.Put(frame + walk.frame_previous, frame);
  const Frames frames = ReadFrames(python_, layout, thread, kMostFrames);
  EXPECT_EQ(frames.frames.size(), kMostFrames);
  EXPECT_FALSE(frames.is_whole);
}

TEST(PythonProcessTest, TheVersionOfAnOldImageIsThatOfItsFunctions) {
  FakePython python(kPython38);
  python.Thread(kThread, {{.code = python.Code({})}});
  PythonImage image = python.image();
  image.least_version = 0;
  const auto status = Recognise(image, FakePython::kBias, python).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(status.message(), "the version of CPython is unknown");
}

TEST(PythonProcessTest, AnUnknownVersionIsNotGuessed) {
  FakePython python(kPython312);
  python.Thread(kThread, {{.code = python.Code({})}});
  python.Put(python.version_variable(), uint64_t{0x030b00f0});
  EXPECT_EQ(Recognise(python.image(), FakePython::kBias, python).status().message(),
            "the code type differs from that of CPython 3.11");
  python.Put(python.version_variable(), uint64_t{0x030f00f0});
  EXPECT_EQ(Recognise(python.image(), FakePython::kBias, python).status().message(),
            "the layout of CPython 3.15 is unknown");
}

TEST(PythonProcessTest, ImplausibleDebugOffsetsAreRefused) {
  constexpr size_t kPrevious = 8 + 8 * (2 + 3 + 13 + 9 + 1);
  for (const uint64_t offset : {~uint64_t{0}, uint64_t{4096}, uint64_t{7}, uint64_t{0xffff}}) {
    FakePython python(kPython313);
    python.Thread(kThread, {{.code = python.Code({})}});
    python.Put(FakePython::kStart + kPrevious, offset);
    EXPECT_EQ(Recognise(python.image(), FakePython::kBias, python).status().code(),
              absl::StatusCode::kUnimplemented);
  }
}

TEST(PythonProcessTest, CodeOfTheInterpreterItselfIsInternal) {
  FakePython python(kPython312);
  const uint64_t code = python.Code({.name = "__init__", .size = 6, .untraced = 4});
  python.Thread(kThread, {{.code = code}});
  CodeObjects codes(python, *Recognise(python.image(), FakePython::kBias, python));
  EXPECT_TRUE(codes.Find(code)->is_internal);
}

TEST(PythonProcessTest, AThreadMayRunItsOwnCopyOfTheInstructions) {
  FakePython python(kPython314, true);
  const uint64_t code = python.Code({.size = 16, .thread_instructions = {0, 0x9000, 0xa000}});
  python.Thread(kThread, {{.code = code}});
  CodeObjects codes(python, *Recognise(python.image(), FakePython::kBias, python));
  const CodeObjects::Code* const found = codes.Find(code);
  EXPECT_EQ(found->OffsetOf(0x9004), 4u);
  EXPECT_EQ(found->OffsetOf(0xa00e), 14u);
  EXPECT_EQ(found->OffsetOf(0xa010), 0u);
}

TEST(PythonProcessTest, TheNewestFrameMayBeAnEvaluationLoopsOwn) {
  FakePython python(kPython313);
  const uint64_t thread = python.Thread(kThread, {{.code = python.Code({})}});
  const WalkLayout walk = Recognise(python.image(), FakePython::kBias, python)->layout.walk;
  const uint64_t frame = python.Word(thread + walk.thread_frame);
  const uint64_t entry = python.Take(kPythonMostFrameBytes);
  python.Put(entry + walk.frame_previous, frame);
  python.Put(entry + walk.frame_owner, uint8_t{3});
  python.Put(thread + walk.thread_frame, entry);
  const Frames frames = ReadFrames(python, walk, thread, kMostFrames);
  EXPECT_EQ(frames.frames.size(), 1u);
  EXPECT_TRUE(frames.is_whole);
}

}  // namespace
}  // namespace profiler::symbolize::python
