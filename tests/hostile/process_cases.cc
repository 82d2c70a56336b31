// Programs that attack the profiler by their system calls.

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <iostream>
#include <new>
#include <string>

#include "gmock/gmock.h"
#include "src/base/unique_fd.h"
#include "tests/hostile/fuse_server.h"
#include "tests/hostile/hostile_elf.h"
#include "tests/hostile/scene.h"

namespace profiler::tests {
namespace {

using testing::HasSubstr;

// Writes a valid program that spins, and returns its path.
std::string Spinner(Scene& scene, const std::string& name) {
  std::string path = scene.File(name);
  HostileElf().AddFrames().AddSymbols().Write(path);
  scene.GiveAway(path);
  return path;
}

// Starts two attackers that start short-lived processes without end.
void ShortLives(Scene& scene) {
  for (int i = 0; i < 2; ++i) {
    scene.attackers().Start([](const auto& ready) {
      ready();
      for (;;) {
        const pid_t pid = fork();
        if (pid == 0) _exit(0);
        WaitFor(pid);
      }
    });
  }
}

// Starts 300 processes that run at the same time, or fewer if the user may not have so many.
void ProcessesByTheHundred(Scene& scene) {
  scene.attackers().Start([](const auto& ready) {
    for (int i = 0; i < 300; ++i) {
      const pid_t pid = fork();
      if (pid == 0) {
        ready();  // closes the child's end of the pipe
        setsid();
        for (;;) usleep(20'000);
      }
      if (pid < 0) break;
    }
    ready();
    for (;;) pause();
  });
}

void Executions(Scene& scene) {
  const std::string path = Spinner(scene, "evil");
  for (int i = 0; i < 2; ++i) {
    scene.attackers().Start([&](const auto& ready) {
      ready();
      for (;;) {
        const pid_t pid = fork();
        if (pid == 0) {
          ualarm(2'000, 0);
          execl(path.c_str(), path.c_str(), nullptr);
          _exit(127);
        }
        WaitFor(pid);
      }
    });
  }
}

// Maps every other page of one file, so that the kernel cannot merge the mappings.
void AllMappingsOfOneFile(Scene& scene) {
  const std::string path = scene.File("evil.so");
  HostileElf()
      .AddFrames()
      .AddSymbols()
      .Add({.name = "hole", .hole = uint64_t{1} << 30})
      .Write(path);
  scene.GiveAway(path);
  scene.attackers().Start([&](const auto& ready) {
    const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    for (off_t i = 0; i < 65'000; ++i) {
      void* const page =
          mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file.get(), i * 8192);
      if (page == MAP_FAILED) break;
    }
    ready();
    Spin();
  });
}

// Maps 3,000 files, each with its own long name.
void MappingsOfManyFiles(Scene& scene) {
  const std::string bytes = HostileElf().AddFrames().AddSymbols().Bytes();
  scene.attackers().Start([&](const auto& ready) {
    const std::string folder = scene.File(std::string(200, 'e'));
    mkdir(folder.c_str(), 0755);
    for (int i = 0; i < 3000; ++i) {
      const std::string path = folder + "/" + std::string(200, 'e') + std::to_string(i);
      WriteAs(path, bytes);
      if (MapCode(path) == nullptr) _exit(126);
    }
    ready();
    Spin();
  });
}

void ChurnOfMappings(Scene& scene) {
  const std::string path = Spinner(scene, "evil.so");
  scene.attackers().Start([&](const auto& ready) {
    const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    ready();
    for (;;) {
      void* const code = mmap(nullptr, kEnd, PROT_READ | PROT_EXEC, MAP_PRIVATE, file.get(), 0);
      if (code == MAP_FAILED) _exit(126);
      munmap(code, kEnd);
    }
  });
}

void ChurnOfProtections(Scene& scene) {
  scene.attackers().Start([&](const auto& ready) {
    void* const start = static_cast<char*>(CodeInMemory()) - kCode;
    ready();
    for (;;) {
      mprotect(start, kEnd, PROT_READ);
      mprotect(start, kEnd, PROT_READ | PROT_EXEC);
    }
  });
}

void* EndThread(void*) { return nullptr; }

void ChurnOfThreads(Scene& scene) {
  scene.attackers().Start([](const auto& ready) {
    ready();
    for (;;) {
      pthread_t thread;
      if (pthread_create(&thread, nullptr, EndThread, nullptr) != 0) _exit(126);
      pthread_join(thread, nullptr);
    }
  });
}

void ChurnOfNames(Scene& scene) {
  scene.attackers().Start([](const auto& ready) {
    ready();
    for (uint64_t i = 0;; ++i) prctl(PR_SET_NAME, ("evil-" + std::to_string(i)).c_str());
  });
}

void NoObserver(Scene& scene) {
  scene.attackers().Start([](const auto& ready) {
    prctl(PR_SET_DUMPABLE, 0);
    ready();
    Spin();
  });
}

// Runs a process that is root in namespaces of its own. There it mounts its file over /bin/true.
void OwnNamespaces(Scene& scene) {
  const std::string path = Spinner(scene, "evil.so");
  scene.attackers().Start([&](const auto& ready) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID) == 0) {
      // Mounts only inside the new namespaces. If the kernel refuses them, nothing is mounted.
      mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
      mount(path.c_str(), "/bin/true", nullptr, MS_BIND, nullptr);
      mount("none", "/tmp", "tmpfs", 0, nullptr);
    }
    const pid_t pid = fork();
    if (pid == 0) {
      ready();
      void* const code = MapCode("/bin/true");
      if (code == nullptr) Spin();
      SpinAt(code);
    }
    ready();
    WaitFor(pid);
  });
}

// Runs a process in a root directory where every file that the profiler looks for is a trap.
void ARootOfTraps(Scene& scene) {
  const std::string path = Spinner(scene, "evil.so");
  for (const char* const folder : {"tmp", "proc", "usr", "usr/lib", "usr/lib/debug"}) {
    ASSERT_EQ(mkdir(scene.File(folder).c_str(), 0777), 0);
    scene.GiveAway(scene.File(folder));
  }
  scene.MakeFifo("usr/lib/debug/.build-id");
  ASSERT_EQ(symlink("/../../../../dev/zero", scene.File("loop").c_str()), 0);
  scene.attackers().StartAsRoot([&](const auto& ready) {
    if (chroot(scene.theirs().c_str()) != 0 || chdir("/") != 0) _exit(126);
    GiveUpRights();
    void* const code = MapCode("/evil.so");
    if (code == nullptr) _exit(126);
    // Puts FIFOs at the mapped file's old path and at the path of this process's JIT map.
    rename("/evil.so", "/gone.so");
    mkfifo("/evil.so", 0666);
    mkfifo(("/tmp/perf-" + std::to_string(getpid()) + ".map").c_str(), 0666);
    ready();
    SpinAt(code);
  });
  scene.ForbidToOpen(path);
}

void ADeletedProgram(Scene& scene) {
  const std::string path = Spinner(scene, "evil");
  scene.attackers().Execute(path);
  ASSERT_EQ(unlink(path.c_str()), 0);
  ASSERT_EQ(mkfifo(path.c_str(), 0666), 0);
  ASSERT_EQ(mkfifo((path + " (deleted)").c_str(), 0666), 0);
  scene.ForbidToOpen(path);
  scene.ForbidToOpen(path + " (deleted)");
}

void AProgramThatIsReplaced(Scene& scene) {
  const std::string path = Spinner(scene, "evil");
  scene.attackers().Execute(path);
  scene.attackers().Start([&](const auto& ready) {
    ready();
    for (;;) {
      HostileElf().AddSymbols().Write(path + ".new");
      rename((path + ".new").c_str(), path.c_str());
      unlink(path.c_str());
      if (symlink("/dev/zero", path.c_str()) != 0) _exit(126);
    }
  });
}

// ---- memory that never comes

// Opens userfaultfd(2) for page faults in the kernel. Ordinary users may do so if
// vm.unprivileged_userfaultfd is 1. FUSE lets ordinary users delay the kernel in the same way on
// every machine.
UniqueFd OpenFaults() {
  UniqueFd faults(static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC)));
  uffdio_api api = {.api = UFFD_API, .features = 0, .ioctls = 0};
  if (faults.valid() && ioctl(faults.get(), UFFDIO_API, &api) != 0) faults.Reset();
  return faults;
}

// Waits on a stack whose older pages never arrive. Readers of these pages wait for ever.
void WaitOnAStackThatNeverComes(const std::function<void()>& ready) {
  constexpr size_t kThere = size_t{64} << 10, kNever = size_t{256} << 10;
  UniqueFd faults = OpenFaults();
  void* const memory =
      mmap(nullptr, kThere + kNever, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (!faults.valid() || memory == MAP_FAILED) _exit(126);
  std::memset(memory, 0, kThere);
  uffdio_register never = {};
  never.range = {reinterpret_cast<uint64_t>(memory) + kThere, kNever};
  never.mode = UFFDIO_REGISTER_MODE_MISSING;
  if (ioctl(faults.get(), UFFDIO_REGISTER, &never) != 0) _exit(126);
  GiveUpRights();
  ready();
  ucontext_t context;
  getcontext(&context);
  context.uc_stack = {.ss_sp = memory, .ss_flags = 0, .ss_size = kThere};
  context.uc_link = nullptr;
  makecontext(
      &context,
      [] {
        for (;;) pause();
      },
      0);
  setcontext(&context);
}

void AStackThatNeverComes(Scene& scene) {
  if (!OpenFaults().valid()) {
    std::cout << "skipped: userfaultfd(2) is refused, which makes pages that never come\n";
    return;
  }
  constexpr double kRecorded = 0.5;
  const pid_t pid = scene.attackers().StartAsRoot(WaitOnAStackThatNeverComes);
  const Watched record = scene.Profiler({"record", "--off-cpu", "-p", std::to_string(pid),
                                         "--duration", "0.5", "-o", scene.OwnFile("never.data")},
                                        kRecorded);
  EXPECT_EQ(record.ended.exit_code, 0) << record.ended.err;
  EXPECT_THAT(record.ended.err, HasSubstr("could not be read within 50 ms"));
}

// ---- files that never come

// Runs a program on a file system that stops answering before the profiler starts.
void AFileSystemThatNeverAnswers(Scene& scene) {
  const std::string directory = scene.File("mount");
  ASSERT_EQ(mkdir(directory.c_str(), 0755), 0);
  scene.GiveAway(directory);
  UniqueFd device = MountFuse(directory);
  if (!device.valid()) {
    std::cout << "skipped: no FUSE file system can be mounted\n";
    return;
  }
  const std::string content = HostileElf().AddFrames().AddSymbols().Bytes();
  void* const shared =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto* const is_silent = new (shared) std::atomic<bool>(false);
  scene.attackers().Start([&](const auto& ready) {
    ready();
    ServeFuse(device, content, is_silent);
  });
  // Closes the device here, so that only the attacker has it open. When the attacker ends, the
  // kernel ends the file system, and no process waits for an answer any more.
  device.Reset();
  const pid_t pid = scene.attackers().SpinIn(directory + "/file");
  *is_silent = true;
  constexpr double kRecorded = 0.5;
  const std::string recording = scene.OwnFile("silent.data");
  const Watched record = scene.Profiler({"record", "--call-graph", "dwarf", "-p",
                                         std::to_string(pid), "--duration", "0.5", "-o", recording},
                                        kRecorded);
  EXPECT_EQ(record.ended.exit_code, 0) << record.ended.err;
  EXPECT_THAT(record.ended.err, HasSubstr("did not answer within 200 ms"));
  const Watched report = scene.Profiler({"report", "-i", recording});
  EXPECT_EQ(report.ended.exit_code, 0) << report.ended.err;
  EXPECT_EQ(umount2(directory.c_str(), MNT_DETACH), 0);
  munmap(shared, 4096);
}

// ---- as the command that is recorded

// Records a hostile command as root. At the end of the recording, the recorder asks the command to
// end, and waits for it until Ctrl-C, as perf does.
void RecordCommand(Scene& scene, const std::string& script) {
  constexpr double kRecorded = 0.5, kWaited = 5;
  const Watched record =
      scene.Profiler({"record", "-e", "cpu-clock", "--call-graph", "dwarf", "--duration", "0.5",
                      "-q", "-o", scene.OwnFile("command.data"), "--", "setpriv", "--reuid",
                      std::to_string(kAttacker), "--clear-groups", "sh", "-c", script},
                     kRecorded, kRecorded + kWaited);
  if (record.ended.signal == 0) {
    EXPECT_EQ(record.ended.exit_code, 0) << record.ended.err;
  }
  const Watched report = scene.Profiler({"report", "--stats", "-i", scene.OwnFile("command.data")});
  EXPECT_THAT(report.ended.out, HasSubstr("SAMPLE events:"));
}

auto Command(std::string script) {
  return [script = std::move(script)](Scene& scene) { RecordCommand(scene, script); };
}

}  // namespace

std::vector<LiveCase> ProcessCases() {
  using enum Runs;
  return {
      {"ShortLives", kAlways, ShortLives},
      {"ProcessesByTheHundred", kWithAll, ProcessesByTheHundred},
      {"Executions", kWithAll, Executions},
      {"AllMappingsOfOneFile", kWithAll, AllMappingsOfOneFile},
      {"MappingsOfManyFiles", kWithAll, MappingsOfManyFiles},
      {"ChurnOfMappings", kWithAll, ChurnOfMappings},
      {"ChurnOfProtections", kWithAll, ChurnOfProtections},
      {"ChurnOfThreads", kWithAll, ChurnOfThreads},
      {"ChurnOfNames", kWithAll, ChurnOfNames},
      {"NoObserver", kWithAll, NoObserver},
      {"OwnNamespaces", kWithAll, OwnNamespaces},
      {"ARootOfTraps", kAlways, ARootOfTraps},
      {"AStackThatNeverComes", kAlways, AStackThatNeverComes},
      {"AFileSystemThatNeverAnswers", kAlways, AFileSystemThatNeverAnswers},
      {"ADeletedProgram", kWithAll, ADeletedProgram},
      {"AProgramThatIsReplaced", kWithAll, AProgramThatIsReplaced},
      {"ACommandThatIgnoresSignals", kWithAll,
       Command("trap '' TERM INT HUP QUIT PIPE USR1; while :; do :; done")},
      {"ACommandThatStopsItself", kWithAll, Command("kill -STOP $$; while :; do :; done")},
      {"ACommandThatLeavesOthers", kWithAll,
       Command("for i in 1 2 3; do (trap '' TERM INT HUP; while :; do :; done) & done; exit 0")},
  };
}

}  // namespace profiler::tests
