// Reads the memory of other processes without waiting for them.
//
// process_vm_readv(2) waits for the page that it reads. A page of a FUSE or NFS file, or one that
// is registered with userfaultfd(2), may never come, and no signal ends that wait, not even
// SIGKILL. So a reader process does the read. If it has not answered after 50 ms, it is abandoned:
// it lives on until its page comes, holds nothing of this program, and nobody waits for it. A spare
// reader replaces it at once.
//
// A process whose memory did not come is not read again. One user may cost kMostOfUser readers, all
// users together kMostAbandoned.

#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "src/base/status.h"
#include "src/machine/reader/exchange.h"
#include "src/machine/reader/reader_pool.h"

namespace profiler::reader {

// Reads memory of a process like process_vm_readv(2). Returns the number of bytes, or a negative
// errno.
using ReadFunction = int64_t (*)(uint32_t pid, std::span<const RemotePiece> pieces,
                                 std::span<std::byte> into);
int64_t ReadMemory(uint32_t pid, std::span<const RemotePiece> pieces, std::span<std::byte> into);

// An address to read from, and the buffer to fill.
struct Piece {
  uint64_t address = 0;
  std::span<std::byte> bytes;
};

inline constexpr size_t kMostAbandoned = 4;
// Limit of abandoned readers for all users other than the user of this program, together. So one
// reader is left for the processes of this program's user.
inline constexpr size_t kMostOfOthers = 3;
inline constexpr size_t kMostOfUser = 2;

struct ReadersOptions {
  std::string proc = "/proc";
  std::chrono::nanoseconds deadline = std::chrono::milliseconds(50);
  // A reader that is runnable but gets no CPU is abandoned only after this many deadlines.
  int most_rounds = 10;
  ReadFunction read = ReadMemory;
};

// Reader processes for memory, for one thread. The destructor ends them and returns at once, even
// if some are abandoned.
class Readers {
 public:
  explicit Readers(ReadersOptions options = {});
  Readers(const Readers&) = delete;
  Readers& operator=(const Readers&) = delete;

  // Forks the processes. Without this call, the first read forks them. Call it while this process
  // is small. Errors: those of fork(2), mmap(2) and socketpair(2); after an error all reads fail.
  absl::Status Start() { return pool_.Start(); }
  // Gives the readers the current priority of this thread.
  void TakeOverPriority() { pool_.TakeOverPriority(); }

  // Reads the pieces in order, until one cannot be read. Returns the number of bytes read. If no
  // byte was read, returns a negative errno: one of process_vm_readv(2), or
  //   -ETIMEDOUT  the process's memory did not come in time, now or in an earlier call
  //   -EACCES     the process's user has cost too many readers
  //   -EAGAIN     there are no readers
  int64_t Read(uint32_t pid, std::span<const Piece> pieces) { return Read(pid, pid, pieces); }
  // Reads the process through one of its threads, for a process whose first thread has ended.
  int64_t Read(uint32_t pid, uint32_t tid, std::span<const Piece> pieces);
  // Reads memory page by page, so that everything before an unreadable page is read.
  int64_t ReadPages(uint32_t pid, uint32_t tid, uint64_t address, std::span<std::byte> bytes);

  // Forgets that `pid` did not answer, because the number now belongs to a new process.
  void Forget(uint32_t pid) { waits_.erase(pid); }

  // Returns sentences for the user about processes that could not be read. Empty if there are none.
  std::vector<std::string> Notes() const;
  size_t abandoned() const { return pool_.abandoned(); }
  // Returns the CPU time of the reader processes.
  std::chrono::nanoseconds CpuTime() const { return pool_.CpuTime(); }

 private:
  struct Wait {
    uint32_t pid = 0;
    std::string name;
    std::optional<uint32_t> user;
  };

  // Returns 0, or the negative errno for a process that is refused.
  int64_t Standing(uint32_t pid) const;
  int64_t Ask(uint32_t pid, uint32_t tid);
  void CountWait(uint32_t pid);
  bool HasCostTooMany(std::optional<uint32_t> user) const;

  const ReadersOptions options_;
  ReaderPool pool_;
  absl::flat_hash_set<uint32_t> waits_;  // processes that did not answer; they are refused
  std::vector<Wait> noted_;
  absl::flat_hash_map<uint32_t, size_t> of_user_;  // abandoned readers per user ID
  // Number of abandoned readers of all users other than the user of this program.
  size_t of_others_ = 0;
  bool has_refused_ = false;  // true if a user, or all together, cost too many readers
};

}  // namespace profiler::reader
