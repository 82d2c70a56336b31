// Compares frames, names and lines with those that programs print themselves. Runs python3, and the
// interpreters in the environment's PROFILER_PYTHONS.

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "symbolize/python/frames.h"
#include "symbolize/python/testing/live_python.h"

namespace profiler::symbolize::python {
namespace {

constexpr size_t kMostFrames = 1000;

// Lists its own frames, and those of another thread, and stops.
constexpr std::string_view kStacks = R"(
import functools, json, os, re, signal, sys, threading

def show(frame):
    text = ''
    while frame:
        code = frame.f_code
        name = getattr(code, 'co_qualname', code.co_name)
        module = frame.f_globals['__name__']
        text += '%s.%s %s:%d %d\n' % (module, name, code.co_filename, code.co_firstlineno,
                                      frame.f_lineno)
        frame = frame.f_back
    return text

def report(ident, frame):
    os.write(1, ('thread %d\n%s' % (ident, show(frame))).encode())

# Reports and stops on one line, so that the line of the frame is the reported one.
def stop():
    idents = [threading.get_ident()] + [t.ident for t in threading.enumerate()
                                        if t is not threading.current_thread()]
    frames = sys._current_frames()
    for ident in idents:
        frame = sys._getframe() if ident == idents[0] else frames[ident]
        report(ident, frame); ident == idents[-1] and os.kill(os.getpid(), signal.SIGSTOP)

class Made:
    def __init__(self, value):
        self.value = self.make(value)
    def make(self, value):
        return recurse(value)
    def __lt__(self, other):
        return sort_key(self) < sort_key(other)

def recurse(n):
    return n and recurse(n - 1) or next(generate(n))

def generate(n):
    yield from inner_generate(n)

def inner_generate(n):
    for i in [sorted([3, 2, 1], key=lambda x: by_key(x)) for _ in range(2)]:
        yield i

def by_key(x):
    return re.sub('a', replaced, 'a' * x)

def replaced(match):
    return json.dumps({'a': Unknown()}, default=converted)

class Unknown:
    pass

def converted(value):
    with Context():
        try:
            raise ValueError
        except ValueError:
            return functools.reduce(
                lambda a, b: (stop(), a + b)[1],
                [1, 2])

class Context:
    def __enter__(self):
        pass
    def __exit__(self, *rest):
        pass

ready = threading.Event()
def wait(depth):
    if depth:
        return wait(depth - 1)
    ready.set()
    threading.Event().wait()
threading.Thread(target=wait, args=(3,), daemon=True).start()
ready.wait()
exec(compile('Made(3)\n', 'exec\x1b[31m.py', 'exec'))
)";

class LiveTest : public testing::Test {
 protected:
  void SetUp() override {
    if (PythonsToTest().empty()) GTEST_SKIP() << "not installed: python3";
  }
};

std::string ListedBy(LivePython& python, const Interpreter& interpreter) {
  std::istringstream printed(python.output());
  CodeObjects codes(python.memory(), interpreter);
  std::string text;
  for (std::string line; std::getline(printed, line);) {
    if (!line.starts_with("thread ")) continue;
    const uint64_t ident = std::stoull(line.substr(line.find(' ')));
    absl::StrAppend(&text, "thread ", ident, "\n");
    const WalkLayout& walk = interpreter.layout.walk;
    const auto thread = FindThread(python.memory(), walk, ident);
    if (!thread) return text + "not found\n";
    const Frames frames = ReadFrames(python.memory(), walk, *thread, kMostFrames);
    for (const Frame& frame : frames.frames) {
      const CodeObjects::Code* const code = codes.Find(frame.code, frame.globals);
      if (code == nullptr) {
        text += "no code\n";
      } else if (!code->is_internal) {
        absl::StrAppend(&text, code->name, " ", code->file, ":", code->first_line, " ",
                        code->LineAt(code->OffsetOf(frame.instruction)), "\n");
      }
    }
    if (!frames.is_whole) text += "cut\n";
  }
  return text;
}

std::string WithoutControls(std::string text) {
  for (char& c : text) {
    if (c == '\x1b') c = '?';
  }
  return text;
}

TEST_F(LiveTest, FramesAreThoseThatTheProgramSees) {
  for (const std::string& name : PythonsToTest()) {
    SCOPED_TRACE(name);
    LivePython python(name, std::string(kStacks));
    const auto interpreter = python.Recognise();
    ASSERT_TRUE(interpreter.ok()) << interpreter.status();
    EXPECT_EQ(ListedBy(python, *interpreter), WithoutControls(python.output()));
  }
}

// Loads the code of the whole standard library, prints all its code objects and stops.
constexpr std::string_view kLibrary = R"(
import dis, importlib.machinery, os, signal, sys, sysconfig, types

def lines_of(code):
    size = len(code.co_code)
    if hasattr(code, 'co_lines'):
        starts = [(start, line or 0) for start, end, line in code.co_lines() if start != end]
        last = max([end for start, end, line in code.co_lines()] + [0])
        if last < size:
            starts.append((last, 0))
    else:
        starts = list(dis.findlinestarts(code))
    merged = []
    for start, line in starts:
        if start < size and (not merged or merged[-1][1] != line):
            merged.append((start, line))
    return ' '.join('%d:%d' % pair for pair in merged)

def show(code, out):
    name = getattr(code, 'co_qualname', code.co_name)
    out.write('%d\t%s\t%s\t%d\t%s\n' % (id(code), name, code.co_filename, code.co_firstlineno,
                                        lines_of(code)))
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            show(constant, out)

kept = []
out = open(1, 'w', encoding='utf-8', errors='replace', closefd=False)
root = sysconfig.get_paths()['stdlib']
for folder, folders, files in os.walk(root):
    folders[:] = [f for f in folders if f not in ('site-packages', 'test', 'tests', 'lib2to3')]
    for file in files:
        path = os.path.join(folder, file)
        if file.endswith('.py'):
            try:
                code = importlib.machinery.SourceFileLoader('m', path).get_code('m')
            except (SyntaxError, UnicodeDecodeError):
                continue
            kept.append(code)
            show(code, out)
out.flush()
os.kill(os.getpid(), signal.SIGSTOP)
)";

TEST_F(LiveTest, LinesOfTheStandardLibraryAreThoseOfPythonItself) {
  for (const std::string& name : PythonsToTest()) {
    SCOPED_TRACE(name);
    LivePython python(name, std::string(kLibrary));
    const auto interpreter = python.Recognise();
    ASSERT_TRUE(interpreter.ok()) << interpreter.status();
    CodeObjects codes(python.memory(), *interpreter);
    std::istringstream printed(python.output());
    size_t count = 0, wrong = 0;
    for (std::string line; std::getline(printed, line) && wrong < 5; ++count) {
      const uint64_t address = std::stoull(line);
      const CodeObjects::Code* const code = codes.Find(address);
      ASSERT_NE(code, nullptr) << line;
      std::string text =
          absl::StrCat(address, "\t", code->name, "\t", code->file, "\t", code->first_line, "\t");
      for (const Line& at : code->lines) absl::StrAppend(&text, at.offset, ":", at.line, " ");
      if (!code->lines.empty()) text.pop_back();
      EXPECT_EQ(text, line);
      wrong += text == line ? 0 : 1;
    }
    EXPECT_GT(count, 10000u);
  }
}

TEST_F(LiveTest, ReadingAnEndedProcessKeepsKnownNames) {
  for (const std::string& name : PythonsToTest()) {
    SCOPED_TRACE(name);
    LivePython python(name, "import os\ndef f(): os.kill(os.getpid(), 19)\nf()");
    const auto interpreter = python.Recognise();
    ASSERT_TRUE(interpreter.ok()) << interpreter.status();
    CodeObjects codes(python.memory(), *interpreter);
    const WalkLayout& walk = interpreter->layout.walk;
    const auto threads = ReadThreads(python.memory(), walk, 1);
    ASSERT_EQ(threads.size(), 1u);
    const Frames frames = ReadFrames(python.memory(), walk, threads[0], kMostFrames);
    ASSERT_EQ(frames.frames.size(), 2u);
    ASSERT_NE(codes.Find(frames.frames[0].code, frames.frames[0].globals), nullptr);
    python.Kill();
    codes.Refresh();
    const CodeObjects::Code* const known = codes.Find(frames.frames[0].code);
    ASSERT_NE(known, nullptr);
    EXPECT_EQ(known->name, "__main__.f");
    EXPECT_EQ(codes.Find(frames.frames[1].code), nullptr);
    EXPECT_EQ(python.Recognise().status().code(), absl::StatusCode::kFailedPrecondition);
  }
}

}  // namespace
}  // namespace profiler::symbolize::python
