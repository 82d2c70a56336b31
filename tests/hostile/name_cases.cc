// Names of files, functions and threads that try to look like something else.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "gmock/gmock.h"
#include "src/base/unique_fd.h"
#include "tests/hostile/hostile_elf.h"
#include "tests/hostile/scene.h"

namespace profiler::tests {
namespace {

// A false row of the report: it shows samples of the victim in a library that the victim does not
// have.
constexpr char kRow[] = "\n    99.99%  workload  libevil.so  [.] evil_function\n";

// Returns an attack by a process that runs a file called `name`.
auto FileNamed(std::string name) {
  return [name = std::move(name)](Scene& scene) {
    const std::string path = scene.File(name);
    HostileElf().AddFrames().AddSymbols().Write(path);
    scene.GiveAway(path);
    scene.attackers().SpinIn(path);
    scene.attackers().Execute(path);
  };
}

auto FunctionsNamed(std::vector<std::string> names) {
  return [names = std::move(names)](Scene& scene) {
    const std::string path = scene.File("evil.so");
    HostileElf().AddFrames().AddSymbolsNamed(names).Write(path);
    scene.GiveAway(path);
    scene.attackers().SpinIn(path);
  };
}

auto ThreadNamed(std::string name) {
  return [name = std::move(name)](Scene& scene) {
    scene.attackers().Start([&](const auto& ready) {
      prctl(PR_SET_NAME, name.c_str());
      ready();
      Spin();
    });
  };
}

// Returns an attack by a process that runs a file in memory. The kernel shows it as "/memfd:" and
// `name`.
auto MemoryFileNamed(std::string name) {
  return [name = std::move(name)](Scene& scene) {
    scene.attackers().Start([&](const auto& ready) {
      const UniqueFd file(memfd_create(name.c_str(), MFD_CLOEXEC));
      const std::string bytes = HostileElf().AddFrames().AddSymbols().Bytes();
      if (write(file.get(), bytes.data(), bytes.size()) < 0) _exit(126);
      void* const code = MapCode("/proc/self/fd/" + std::to_string(file.get()));
      if (code == nullptr) _exit(126);
      ready();
      SpinAt(code);
    });
  };
}

// Runs files in another root directory. Their names are those that the kernel gives to mappings
// without a file.
void NamesOfTheKernelInAnotherRoot(Scene& scene) {
  for (const char* const name : {"[vdso]", "[kernel.kallsyms]", "[vsyscall]", "anon", "[heap]"}) {
    const std::string path = scene.File(name);
    HostileElf().AddFrames().AddSymbols().Write(path);
    scene.GiveAway(path);
    scene.attackers().StartAsRoot([&](const auto& ready) {
      if (chroot(scene.theirs().c_str()) != 0 || chdir("/") != 0) _exit(126);
      GiveUpRights();
      void* const code = MapCode("/" + std::string(name));
      if (code == nullptr) _exit(126);
      ready();
      SpinAt(code);
    });
  }
}

// Runs a file in nested directories, whose full path exceeds the limit of paths.
void APathWithoutEnd(Scene& scene) {
  const std::string bytes = HostileElf().AddFrames().AddSymbols().Bytes();
  scene.attackers().Start([&](const auto& ready) {
    if (chdir(scene.theirs().c_str()) != 0) _exit(126);
    const std::string name(250, 'e');
    for (int i = 0; i < 20; ++i) {
      if (mkdir(name.c_str(), 0755) != 0 || chdir(name.c_str()) != 0) _exit(126);
    }
    WriteAs("evil.so", bytes);
    void* const code = MapCode("evil.so");
    if (code == nullptr) _exit(126);
    ready();
    SpinAt(code);
  });
}

void MemoryWithAName(Scene& scene) {
  scene.attackers().Start([&](const auto& ready) {
    void* const code = CodeInMemory();
    void* const start = static_cast<char*>(code) - kCode;
    constexpr int kSetName = 0;  // PR_SET_VMA_ANON_NAME of <linux/prctl.h>
    prctl(0x53564d41, kSetName, start, kEnd, "evil kernel.kallsyms");
    ready();
    SpinAt(code);
  });
}

}  // namespace

std::vector<LiveCase> NameCases() {
  using enum Runs;
  return {
      {"APathWithANewline", kWithAll, FileNamed("evil\n\n.so")},
      {"APathWithEscapes", kAlways, FileNamed("evil\033[2J\033]0;evil\007\177\x9b.so")},
      {"APathWithTabsAndSpaces", kWithAll, FileNamed("evil\t \v\f\r .so")},
      {"APathThatEndsInDeleted", kWithAll, FileNamed("evil.so (deleted)")},
      {"APathThatIsNoUtf8", kWithAll, FileNamed("evil\xff\xfe\xc0\x80.so")},
      {"APathOfAMapOfAJit", kWithAll, FileNamed("perf-1.map")},
      {"APathOfADumpOfAJit", kWithAll, FileNamed("jit-1.dump")},
      {"APathThatIsARow", kWithAll, FileNamed("    99.99%  workload  libc.so.6  [.] function")},
      {"APathWithoutEnd", kWithAll, APathWithoutEnd},
      {"FunctionsWithEscapes", kWithAll, FunctionsNamed({"evil\033[2J\n\r\b\177", "\xff\xfe"})},
      {"FunctionsThatAreRows", kWithAll, FunctionsNamed({kRow, ";;a;b c 5\nmain;evil 99"})},
      {"AFunctionOfMegabytes", kWithAll, FunctionsNamed({std::string(size_t{20} << 20, 'e')})},
      {"AFunctionWithoutAName", kWithAll, FunctionsNamed({""})},
      {"AThreadWithEscapes", kWithAll, ThreadNamed("\033[2J\n\r\tevil")},
      {"AThreadThatIsNoUtf8", kWithAll, ThreadNamed("\xff\xfe\x80 ;:/")},
      {"AThreadWithoutAName", kWithAll, ThreadNamed("")},
      {"AMemoryFileThatIsTheVdso", kWithAll, MemoryFileNamed("[vdso]")},
      {"AMemoryFileWithEscapes", kWithAll, MemoryFileNamed("\033[2J\n//anon")},
      {"NamesOfTheKernelInAnotherRoot", kWithAll, NamesOfTheKernelInAnotherRoot},
      {"MemoryWithAName", kWithAll, MemoryWithAName},
  };
}

}  // namespace profiler::tests
