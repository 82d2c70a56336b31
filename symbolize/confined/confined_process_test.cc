// Tests the limits of a confined process, and what happens if it misbehaves.

#include "symbolize/confined/confined_process.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "symbolize/confined/confinement.h"
#include "symbolize/confined/sanitized.h"
#include "symbolize/testing/test_files.h"

namespace profiler::symbolize {
namespace {

class ConfinedProcessTest : public testing::Test {
 protected:
  ConfinedProcessTest() : rules_(options_, FileRules::Owners::kAll) {}

  // Returns the answer of a process that runs `serve`, or the error.
  std::string Ask(const std::function<void(int socket)>& serve, const ConfinedBudget& budget = {}) {
    auto process = ConfinedProcess::Start(serve, rules_, budget);
    if (!process.ok()) return process.status().ToString();
    auto answer = (*process)->Ask(MessageKind::kFind, "question");
    return answer.ok() ? *answer : answer.status().ToString();
  }
  // Makes `call` in a confined process and returns "OK" or the name of the error.
  std::string Try(const std::function<long()>& call) {
    return Ask([&](int socket) {
      (void)Receive(socket);
      const std::string said = call() >= 0 ? "OK" : strerrorname_np(errno);
      (void)Send(socket, {MessageKind::kAnswer, said, {}});
    });
  }

  const SymbolizerOptions options_;
  FileRules rules_;
};

TEST_F(ConfinedProcessTest, CanBeTriedByAProcessThatKeepsItsRights) {
  EXPECT_EQ(TryConfinement().ToString(), "OK");
  EXPECT_GE(UniqueFd(open("/dev/null", O_RDWR)).get(), 0);
}

TEST_F(ConfinedProcessTest, OpensNothing) {
  EXPECT_EQ(Try([] { return open("/etc/passwd", O_RDONLY); }), "EACCES");
  EXPECT_EQ(Try([] { return open("/dev/null", O_RDWR); }), "EACCES");
  EXPECT_EQ(Try([] { return openat(AT_FDCWD, "/", O_PATH); }), "EACCES");
  EXPECT_EQ(Try([] { return creat("/tmp/confined", 0600); }), "EACCES");
}

TEST_F(ConfinedProcessTest, HasNoNetworkAndNoOtherProcess) {
  EXPECT_EQ(Try([] { return socket(AF_INET, SOCK_STREAM, 0); }), "EPERM");
  EXPECT_EQ(Try([] { return kill(getppid(), 0); }), "EPERM");
  EXPECT_EQ(Try([] { return fork(); }), "EPERM");
  EXPECT_EQ(Try([] { return ptrace(PTRACE_ATTACH, 1, nullptr, nullptr); }), "EPERM");
  EXPECT_EQ(Try([] { return execl("/bin/true", "true", nullptr); }), "EPERM");
}

TEST_F(ConfinedProcessTest, RunsNoCodeButItsOwn) {
  const auto map = [](int protection) {
    void* const memory = mmap(nullptr, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? -1L : 0L;
  };
  EXPECT_EQ(Try([&] { return map(PROT_READ | PROT_WRITE); }), "OK");
  EXPECT_EQ(Try([&] { return map(PROT_READ | PROT_EXEC); }), "EACCES");
}

TEST_F(ConfinedProcessTest, HasNoDescriptorButItsSocket) {
  const UniqueFd secret(open("/etc/passwd", O_RDONLY));
  EXPECT_EQ(Try([&] {
              char byte = 0;
              return secret.get() > 3 ? pread(secret.get(), &byte, 1, 0) : (errno = EBADF, -1L);
            }),
            "EBADF");
}

TEST_F(ConfinedProcessTest, IsEndedWhenItComputesForEver) {
  const std::string said = Ask(
      [](int) {
        for (volatile bool on = true; on;) {
        }
      },
      {.time = std::chrono::milliseconds(10)});
  EXPECT_EQ(said, "DEADLINE_EXCEEDED: it took too long");
}

TEST_F(ConfinedProcessTest, EndsWhenItTakesTooMuchMemory) {
  if (kSanitized) GTEST_SKIP() << "sanitizers have memory of their own";
  const std::string said = Ask([](int) {
    std::vector<std::unique_ptr<std::string>> all;
    while (true) all.push_back(std::make_unique<std::string>(1 << 20, 'x'));
  });
  EXPECT_EQ(said, "RESOURCE_EXHAUSTED: it took too much memory");
}

TEST_F(ConfinedProcessTest, HasNoMoreThanTheMostHoweverMuchItIsGiven) {
  if (kSanitized) GTEST_SKIP() << "sanitizers have memory of their own";
  // The process first asks for this program's file, which raises its budget. Then it allocates 64
  // MiB.
  const auto said = [&](const ConfinedBudget& budget) {
    return Ask(
        [](int socket) {
          (void)Receive(socket);
          ContentWriter to;
          to.PutText("/proc/self/exe").PutText("");
          (void)Send(socket, {MessageKind::kOpen, std::move(to).Take(), {}});
          (void)Receive(socket);
          const std::string large(uint64_t{64} << 20, 'x');
          (void)Send(socket, {MessageKind::kAnswer, large.substr(0, 1), {}});
        },
        budget);
  };
  constexpr uint64_t kForEachByte = 1024;
  constexpr uint64_t kLittle = uint64_t{8} << 20;
  EXPECT_EQ(said({.memory = kLittle, .memory_a_byte = kForEachByte}), "x");
  EXPECT_EQ(said({.memory = kLittle, .memory_a_byte = kForEachByte, .most_memory = kLittle}),
            "RESOURCE_EXHAUSTED: it took too much memory");
  const auto computes_for_ever = [](int) {
    for (volatile bool on = true; on;) {
    }
  };
  EXPECT_EQ(Ask(computes_for_ever, {.most_time = std::chrono::milliseconds(10)}),
            "DEADLINE_EXCEEDED: it took too long");
}

TEST_F(ConfinedProcessTest, MayCrash) {
  EXPECT_EQ(Ask([](int) { raise(SIGKILL); }), "DATA_LOSS: reading it failed");
  EXPECT_EQ(Ask([](int) { _exit(0); }), "DATA_LOSS: reading it failed");
}

TEST_F(ConfinedProcessTest, MaySayNonsense) {
  EXPECT_EQ(Ask([](int socket) {
              const uint32_t header[] = {~0U, ~0U};
              (void)!write(socket, header, sizeof(header));
            }),
            "DATA_LOSS: reading it failed");
  EXPECT_EQ(Ask([](int socket) {
              (void)Receive(socket);
              (void)Send(socket, {MessageKind::kFind, "", {}});
            }),
            "DATA_LOSS: no question");
  EXPECT_EQ(Ask([](int socket) {
              (void)Receive(socket);
              (void)Send(socket, {MessageKind::kOpen, "\x09", {}});
            }),
            "DATA_LOSS: no question");
}

// Returns the decision about the file at `path`.
std::string Given(FileRules& rules, const std::string& path) {
  ContentWriter to;
  to.PutText(path).PutText("");
  const auto reply = rules.Answer({MessageKind::kOpen, std::move(to).Take(), {}});
  if (!reply.ok()) return reply.status().ToString();
  return reply->fd.valid() ? "given" : "refused";
}

// Returns the decision about a file of the kernel.
std::string GivenOfKernel(FileRules& rules, const std::string& path) {
  ContentWriter to;
  to.PutText(path);
  const auto reply = rules.Answer({MessageKind::kOpenOwn, std::move(to).Take(), {}});
  if (!reply.ok()) return reply.status().ToString();
  return reply->fd.valid() ? "given" : "refused";
}

class FileRulesTest : public testing::Test {
 protected:
  FileRulesTest() : directory_(TestDirectory()), rules_(options_, FileRules::Owners::kAll) {}

  std::string Write(const std::string& name, std::string_view content) const {
    WriteFile(directory_ + "/" + name, content);
    return directory_ + "/" + name;
  }
  std::string Elf(char type) const {
    return std::string(
               "\x7f"
               "ELF\x02\x01\x01",
               7) +
           std::string(9, '\0') + type + '\0' + "rest";
  }

  const std::string directory_;
  const SymbolizerOptions options_;
  FileRules rules_;
};

TEST_F(FileRulesTest, GiveElfFilesAndNoCoreDumps) {
  EXPECT_EQ(Given(rules_, Write("program", Elf(2))), "given");
  EXPECT_EQ(Given(rules_, Write("library", Elf(3))), "given");
  EXPECT_EQ(Given(rules_, Write("core", Elf(4))), "refused");
  EXPECT_EQ(Given(rules_, "/proc/self/exe"), "given");
}

TEST_F(FileRulesTest, GiveNoOtherFile) {
  EXPECT_EQ(Given(rules_, "/etc/passwd"), "refused");
  EXPECT_EQ(Given(rules_, "/dev/zero"), "refused");
  for (const char* path : {"/etc/passwd", "/proc/self/environ", "/proc/1/../self/status",
                           "/sys/module/../../etc/notes/.note.gnu.build-id"}) {
    EXPECT_EQ(Given(rules_, path), "refused") << path;
    EXPECT_EQ(GivenOfKernel(rules_, path), "refused") << path;
  }
  EXPECT_EQ(Given(rules_, Write("short",
                                "\x7f"
                                "EL")),
            "refused");
}

TEST_F(FileRulesTest, GiveWhatTheKernelSays) {
  EXPECT_EQ(GivenOfKernel(rules_, "/proc/kallsyms"), "given");
  EXPECT_EQ(GivenOfKernel(rules_, absl::StrCat("/proc/", getpid(), "/status")), "given");
}

// A recorded image may have the path of a file of the kernel.
TEST_F(FileRulesTest, GiveNoFileOfTheKernelAsAnImage) {
  EXPECT_EQ(Given(rules_, "/proc/kallsyms"), "refused");
  EXPECT_EQ(Given(rules_, absl::StrCat("/proc/", getpid(), "/status")), "refused");
}

TEST_F(FileRulesTest, GiveMapsByTheNameThatTheyReallyHave) {
  EXPECT_EQ(Given(rules_, Write("perf-12.map", "1000 10 f\n")), "given");
  EXPECT_EQ(Given(rules_, Write("perf-12x.map", "1000 10 f\n")), "refused");
  const std::string secret = Write("secret", "x");
  const std::string link = directory_ + "/perf-13.map";
  ASSERT_EQ(symlink(secret.c_str(), link.c_str()), 0);
  EXPECT_EQ(Given(rules_, link), "refused");
}

TEST_F(FileRulesTest, CountWhatFilesTakeOnDisk) {
  const std::string path = Write("sparse", Elf(2));
  std::filesystem::resize_file(path, uint64_t{1} << 30);
  EXPECT_EQ(Given(rules_, path), "given");
  EXPECT_LT(rules_.bytes_given(), uint64_t{1} << 20);
}

TEST_F(FileRulesTest, SayThatAFileWasRefusedForItsOwner) {
  constexpr uid_t kNobody = 65534;
  const std::string path = Write("program", Elf(2));
  if (chown(path.c_str(), kNobody, kNobody) != 0) {
    GTEST_SKIP() << "only root can give files to another user";
  }
  FileRules trusted(options_, FileRules::Owners::kUserAndRoot);
  EXPECT_EQ(Given(trusted, path), "refused");
  EXPECT_TRUE(trusted.TakeRefusedOwner());
  EXPECT_EQ(Given(rules_, path), "given");
  EXPECT_FALSE(rules_.TakeRefusedOwner());
}

}  // namespace
}  // namespace profiler::symbolize
