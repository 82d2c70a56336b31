// Python programs that overwrite the structures of their own interpreter.

#include <unistd.h>

#include <string>

#include "tests/hostile/scene.h"

namespace profiler::tests {
namespace {

// Functions for the programs. `ready` says that the profiler may start.
constexpr const char* kBegin = R"(
import ctypes, os, sys, threading
minor = sys.version_info[1]
def ready():
    os.write(1, b'!')
def spin():
    ready()
    while True:
        pass
def named(function, name, file):
    names = {'co_name': name, 'co_filename': file}
    if minor >= 11:
        names['co_qualname'] = name
    function.__code__ = function.__code__.replace(**names)
    return function
def word(address, value):
    ctypes.c_uint64.from_address(address).value = value
# The frame that the kernel walks, and the offset of its caller.
def walked(frame):
    if minor < 11:
        return id(frame), 24
    return ctypes.c_uint64.from_address(id(frame) + 24).value, 48 if minor == 11 else 8
# Offsets in code objects.
file, lines = (104, 120) if minor < 11 else (112, 136)
)";

// Returns an attack by a Python program. Without python3, nothing runs.
auto Python(std::string script) {
  return [script = kBegin + std::move(script)](Scene& scene) {
    scene.attackers().Start([&](const auto& ready) {
      int pipe_ends[2];
      if (pipe(pipe_ends) != 0) _exit(126);
      const pid_t pid = fork();
      if (pid == 0) {
        dup2(pipe_ends[1], STDOUT_FILENO);
        execlp("python3", "python3", "-c", script.c_str(), nullptr);
        _exit(127);
      }
      close(pipe_ends[1]);
      char mark = 0;
      if (read(pipe_ends[0], &mark, 1) < 0) _exit(126);
      ready();
      WaitFor(pid);
      for (;;) pause();
    });
  };
}

}  // namespace

std::vector<LiveCase> PythonCases() {
  using enum Runs;
  return {
      {"NamesOfTenMegabytes", kAlways,
       Python("named(spin, 'evil' * 2_500_000, '/evil' * 2_000_000)()")},
      {"NamesOfControlCharacters", kWithAll,
       Python("named(spin, '\\x1b[31mevil\\n\\0\\x7f\\u202e\\ud800', '\\x1b]0;evil\\7\\n')()")},
      {"FramesInACycle", kAlways, Python(R"(
def evil():
    frame, caller = walked(sys._getframe())
    word(frame + caller, frame)
    spin()
evil()
)")},
      {"FramesThatLeadNowhere", kWithAll, Python(R"(
def evil():
    frame, caller = walked(sys._getframe())
    word(frame + caller, 0x4141414141414141)
    spin()
evil()
)")},
      {"FramesWithoutEnd", kWithAll, Python(R"(
sys.setrecursionlimit(10**9)
def evil(n):
    return evil(n - 1) if n else spin()
threading.stack_size(1 << 29)
thread = threading.Thread(target=evil, args=(100_000,))
thread.start()
thread.join()
)")},
      {"FramesThatChangeAlways", kWithAll, Python(R"(
def evil(n):
    if n:
        evil(n - 1)
ready()
while True:
    evil(20)
)")},
      {"CodeOfGarbage", kAlways, Python(R"(
code = id(spin.__code__)
for offset in range(file, lines + 8, 8):
    word(code + offset, 0x4141414141414141)
spin()
)")},
      {"CodeWhoseTextsAreOtherObjects", kWithAll, Python(R"(
code = id(spin.__code__)
for offset in range(file, lines + 8, 8):
    word(code + offset, code)
spin()
)")},
      {"CodeWhoseTextsAreLong", kWithAll, Python(R"(
code = id(spin.__code__)
for offset in range(file, lines + 8, 8):
    word(ctypes.c_uint64.from_address(code + offset).value + 16, (1 << 63) - 1)
spin()
)")},
      {"CodeWithoutNumber", kWithAll, Python(R"(
ready()
while True:
    for n in range(1000):
        exec(compile('def evil%d():\n for i in range(200): pass\nevil%d()' % (n, n), 'evil', 'exec'))
)")},
      {"AModuleOfGarbage", kWithAll, Python(R"(
evil = {'__name__': 'e' * 10_000_000, 'spin': spin, 'os': os, 'ready': ready}
exec('def f():\n ready()\n while True: pass\nf()', evil)
)")},
  };
}

}  // namespace profiler::tests
