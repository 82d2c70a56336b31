#include "src/machine/reader/readers.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <vector>

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "src/machine/reader/own_memory.h"

namespace profiler::reader {
namespace {

// Reads of processes whose pid is at least kHangs never end.
constexpr uint32_t kHangs = 1 << 23;  // above any real pid
// A reader that is asked to read this process ends at once.
constexpr uint32_t kCrashes = kHangs - 1;

int64_t ReadOrHang(uint32_t pid, std::span<const RemotePiece> pieces, std::span<std::byte> into) {
  if (pid == kCrashes) _exit(1);
  while (pid >= kHangs) pause();
  return ReadMemory(pid, pieces, into);
}

class ReadersTest : public testing::Test {
 protected:
  uint64_t AddressOf(const void* memory) { return reinterpret_cast<uint64_t>(memory); }
  // Reads an integer from the memory of this process.
  int64_t ReadOwn() {
    uint64_t copy = 0;
    const Piece piece{AddressOf(&number_), std::as_writable_bytes(std::span(&copy, 1))};
    const int64_t read = readers_.Read(self_, std::span(&piece, 1));
    EXPECT_TRUE(read < 0 || copy == number_);
    return read;
  }
  int64_t ReadOf(uint32_t pid) {
    uint64_t copy = 0;
    const Piece piece{AddressOf(&number_), std::as_writable_bytes(std::span(&copy, 1))};
    return readers_.Read(pid, std::span(&piece, 1));
  }

  const uint32_t self_ = static_cast<uint32_t>(getpid());
  const uint64_t number_ = 0x0123456789abcdef;
  Readers readers_{{.deadline = std::chrono::milliseconds(200), .read = ReadOrHang}};
};

TEST_F(ReadersTest, ReadsPiecesOneBehindTheOther) {
  std::vector<std::byte> memory(3 << 20), copy(memory.size());
  for (size_t i = 0; i < memory.size(); ++i) memory[i] = std::byte(i * 7 / 5);
  const uint64_t address = AddressOf(memory.data());
  const size_t half = memory.size() / 2 + 1;
  const std::vector<Piece> pieces = {{address + half, std::span(copy).subspan(half)},
                                     {address, std::span(copy).first(0)},
                                     {address, std::span(copy).first(half)}};
  EXPECT_EQ(readers_.Read(self_, pieces), static_cast<int64_t>(memory.size()));
  EXPECT_TRUE(copy == memory);
}

TEST_F(ReadersTest, ReadsPagesUpToOneThatIsNotThere) {
  std::vector<std::byte> memory(3 << 20, std::byte{7}), copy(memory.size());
  EXPECT_EQ(readers_.ReadPages(self_, self_, AddressOf(memory.data()), copy),
            static_cast<int64_t>(memory.size()));
  EXPECT_TRUE(copy == memory);
  EXPECT_EQ(readers_.ReadPages(self_, self_, 8, copy), -EFAULT);
}

TEST_F(ReadersTest, SaysThatAProcessIsGone) {
  const pid_t pid = fork();
  if (pid == 0) _exit(0);
  waitpid(pid, nullptr, 0);
  EXPECT_EQ(ReadOf(static_cast<uint32_t>(pid)), -ESRCH);
  EXPECT_EQ(readers_.Notes().size(), 0);
}

TEST_F(ReadersTest, GoesOnBehindAProcessThatLetsItWait) {
  EXPECT_EQ(ReadOf(kHangs), -ETIMEDOUT);
  EXPECT_EQ(ReadOwn(), 8);
  EXPECT_EQ(readers_.abandoned(), 1);
  EXPECT_EQ(absl::StrJoin(readers_.Notes(), "\n"),
            "memory of process 8388608 could not be read within 200 ms, so it was not read again: "
            "some call chains of this process are cut");
}

TEST_F(ReadersTest, NeverReadsThatProcessAgain) {
  EXPECT_EQ(ReadOf(kHangs), -ETIMEDOUT);
  EXPECT_EQ(ReadOf(kHangs), -ETIMEDOUT);
  EXPECT_EQ(readers_.abandoned(), 1);
}

TEST_F(ReadersTest, ReadsANewProcessThatHasItsNumber) {
  EXPECT_EQ(ReadOf(kHangs), -ETIMEDOUT);
  readers_.Forget(kHangs);
  EXPECT_EQ(ReadOf(kHangs), -ETIMEDOUT);
  EXPECT_EQ(readers_.abandoned(), 2);
}

TEST_F(ReadersTest, AbandonsSoManyAndNoMore) {
  for (uint32_t i = 0; i < 20; ++i) EXPECT_LT(ReadOf(kHangs + i), 0);
  // These processes have no known user, so only the total limits them.
  EXPECT_EQ(readers_.abandoned(), kMostAbandoned);
  EXPECT_EQ(ReadOwn(), -EACCES);
  EXPECT_EQ(readers_.Notes().back(),
            "4 reads from other processes did not end, so no memory was read again: some call "
            "chains are cut");
}

TEST_F(ReadersTest, ReplacesAReaderThatEnds) {
  EXPECT_EQ(ReadOf(kCrashes), -EAGAIN);
  EXPECT_EQ(ReadOwn(), 8);
}

TEST_F(ReadersTest, WaitsForNobodyAtItsEnd) {
  EXPECT_EQ(ReadOf(kHangs), -ETIMEDOUT);
  EXPECT_EQ(ReadOwn(), 8);
}

class OwnMemoryTest : public testing::Test {
 protected:
  // Reads an integer from the memory of a child process after the child has called `change`.
  int64_t ReadOfChild(void (*change)()) {
    std::array<int, 2> ends;
    EXPECT_EQ(pipe(ends.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
      change();
      [[maybe_unused]] const ssize_t written = write(ends[1], "", 1);
      while (true) pause();
    }
    char byte = 0;
    EXPECT_EQ(read(ends[0], &byte, 1), 1);
    uint64_t copy = 0;
    const Piece piece{reinterpret_cast<uint64_t>(&number_),
                      std::as_writable_bytes(std::span(&copy, 1))};
    OwnMemory memory("/proc", static_cast<uint32_t>(child));
    const int64_t read = memory.Read(std::span(&piece, 1));
    EXPECT_TRUE(read < 0 || copy == number_);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    for (const int end : ends) close(end);
    return read;
  }

  const uint64_t number_ = 0x0123456789abcdef;
};

TEST_F(OwnMemoryTest, ReadsAProcessOfOurUser) {
  EXPECT_EQ(ReadOfChild([] {}), 8);
}

TEST_F(OwnMemoryTest, ReadsNoneOfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to have a process of another user";
  EXPECT_EQ(ReadOfChild([] { EXPECT_EQ(setresuid(65534, 65534, 65534), 0); }), -EPERM);
}

TEST_F(OwnMemoryTest, ReadsNoneThatAnotherUserStartedByASetUserIdProgram) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to have a process of another user";
  EXPECT_EQ(ReadOfChild([] { EXPECT_EQ(setresuid(65534, 0, 0), 0); }), -EPERM);
}

}  // namespace
}  // namespace profiler::reader
