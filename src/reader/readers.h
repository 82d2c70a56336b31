// Reads the memory of other processes without ever waiting for them.
//
// process_vm_readv(2) waits for the page that it reads. A page of a FUSE or NFS file, or one that
// is registered with userfaultfd(2), may never come, and no signal ends that wait, SIGKILL
// included. So another process does the read. If it has not answered after 50 ms, it is abandoned:
// it stays behind until its page comes, holds nothing of this program, and nobody waits for it. A
// spare one takes its place at once.
//
// A process whose memory did not come is not read again. A user may cost kMostOfUser readers, and
// all users together kMostAbandoned.

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
#include "src/reader/exchange.h"
#include "src/reader/reader_pool.h"

namespace profiler::reader {

// Reads memory of a process as process_vm_readv(2) does. Returns the number of bytes, or a negative
// errno.
using ReadFunction = int64_t (*)(uint32_t pid, std::span<const RemotePiece> pieces,
                                 std::span<std::byte> into);
int64_t ReadMemory(uint32_t pid, std::span<const RemotePiece> pieces, std::span<std::byte> into);

// Memory to be read, and the buffer that takes it.
struct Piece {
  uint64_t address = 0;
  std::span<std::byte> bytes;
};

inline constexpr size_t kMostAbandoned = 4;
// Users other than the one that runs this program may together cost less: a reader is left for its
// own.
inline constexpr size_t kMostOfOthers = 3;
inline constexpr size_t kMostOfUser = 2;

struct ReadersOptions {
  std::string proc = "/proc";
  std::chrono::nanoseconds deadline = std::chrono::milliseconds(50);
  // A reader that could run but is given no CPU has so many deadlines.
  int most_rounds = 10;
  ReadFunction read = ReadMemory;
};

// One thread. The destructor ends the readers and returns at once, abandoned ones or not.
class Readers {
 public:
  explicit Readers(ReadersOptions options = {});
  Readers(const Readers&) = delete;
  Readers& operator=(const Readers&) = delete;

  // Forks the processes; the first read does so otherwise. To be called while this process is
  // small. Errors: those of fork(2), mmap(2) and socketpair(2). They last: all reads fail.
  absl::Status Start() { return pool_.Start(); }
  // Gives the readers the priority that this thread has by now.
  void TakeOverPriority() { pool_.TakeOverPriority(); }

  // Reads pieces one behind the other, until one cannot be read. Returns the number of bytes, or a
  // negative errno if there is none: those of process_vm_readv(2), ETIMEDOUT if the process did not
  // let its memory be read in time, now or before, EACCES if its user has cost too many readers,
  // EAGAIN if there are no readers.
  int64_t Read(uint32_t pid, std::span<const Piece> pieces) { return Read(pid, pid, pieces); }
  // Reads the process by one of its threads, for a process whose first thread has ended.
  int64_t Read(uint32_t pid, uint32_t tid, std::span<const Piece> pieces);
  // Reads memory page by page: what lies before a page that cannot be read is there.
  int64_t ReadPages(uint32_t pid, uint32_t tid, uint64_t address, std::span<std::byte> bytes);

  // The number belongs to a new process from here on.
  void Forget(uint32_t pid) { waits_.erase(pid); }

  // Sentences for the user: which processes did not let themselves be read. Empty if all did.
  std::vector<std::string> Notes() const;
  size_t abandoned() const { return pool_.abandoned(); }
  // CPU time of the processes.
  std::chrono::nanoseconds CpuTime() const { return pool_.CpuTime(); }

 private:
  struct Wait {
    uint32_t pid = 0;
    std::string name;
    std::optional<uint32_t> user;
  };

  // Returns 0, or the negative errno for a process that is not read any more.
  int64_t Standing(uint32_t pid) const;
  int64_t Ask(uint32_t pid, uint32_t tid);
  void CountWait(uint32_t pid);
  bool HasCostTooMany(std::optional<uint32_t> user) const;

  const ReadersOptions options_;
  ReaderPool pool_;
  absl::flat_hash_set<uint32_t> waits_;  // processes that are not read any more
  std::vector<Wait> noted_;
  absl::flat_hash_map<uint32_t, size_t> of_user_;  // readers abandoned
  size_t of_others_ = 0;
  bool has_refused_ = false;  // some user, or all, have cost too many
};

}  // namespace profiler::reader
