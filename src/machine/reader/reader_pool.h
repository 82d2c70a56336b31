// Manages reader processes, which answer one question at a time and are abandoned if they do not
// answer.
//
// One reader is in use. If it has not answered at the deadline, it is abandoned: it lives on until
// its own wait ends, holds nothing of this program, and nobody waits for it. A spare reader
// replaces it at once.
//
// Private to this package.

#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "src/base/status.h"
#include "src/base/unique_fd.h"
#include "src/machine/reader/exchange.h"
#include "src/machine/reader/reader_process.h"

namespace profiler::reader {

struct PoolOptions {
  std::string proc = "/proc";
  std::chrono::nanoseconds deadline = std::chrono::milliseconds(50);
  // A reader that is runnable but gets no CPU is abandoned only after this many deadlines.
  int most_rounds = 10;
  size_t most_abandoned = 8;  // abandoned readers; at most kIndex - 1
};

// A pool for one thread.
class ReaderPool {
 public:
  enum class Answer : uint8_t { kGiven, kWaits, kReaderGone };

  ReaderPool(PoolOptions options, Service service)
      : options_(std::move(options)), service_(std::move(service)) {}
  // Ends the readers and returns at once, even if some are abandoned. In a process that was forked
  // after Start, leaves them alone.
  ~ReaderPool();
  ReaderPool(const ReaderPool&) = delete;
  ReaderPool& operator=(const ReaderPool&) = delete;

  // Forks the processes. Later calls return the first result. Errors: those of fork(2), mmap(2) and
  // socketpair(2).
  absl::Status Start();
  const absl::Status& started() const { return started_; }
  bool is_started() const { return is_started_; }
  // True if this process was forked from the process that started the readers.
  bool AreOfParent() const;
  // Gives the readers the current priority of this thread.
  void TakeOverPriority();

  // True if there is a reader to ask.
  bool HasReader() const { return current_ < forked_; }
  // Returns the exchange of the reader in use. The caller writes the request into the exchange;
  // after Ask, the exchange has the answer.
  Exchange& current() const { return exchanges_[current_]; }
  // Asks the reader in use. Abandons the reader unless the result is kGiven.
  Answer Ask();
  // Returns the file that came with the last answer; an invalid descriptor if there was none.
  UniqueFd ReceiveFile() const;

  size_t abandoned() const { return abandoned_; }
  // Returns the CPU time of all reader processes and of the forker.
  std::chrono::nanoseconds CpuTime() const;

 private:
  Answer AwaitAnswer(Exchange& exchange, uint32_t number) const;
  void Abandon();
  void Order(uint8_t order) const;
  size_t SharedBytes() const;

  const PoolOptions options_;
  const Service service_;
  absl::Status started_ = absl::UnavailableError("not started");
  bool is_started_ = false;
  pid_t starter_ = 0;
  void* shared_ = nullptr;  // the priority, followed by the exchanges
  Priority* priority_ = nullptr;
  // Exchanges of the reader in use, the spare one, and the abandoned ones. Each reader has its own,
  // because an abandoned reader may still write into it.
  std::span<Exchange> exchanges_;
  UniqueFd socket_;  // connected to the forker
  pid_t forker_ = 0;
  size_t current_ = 0;    // index of the exchange in use
  size_t forked_ = 0;     // number of exchanges that have or had a reader
  size_t abandoned_ = 0;  // number of abandoned readers
  std::chrono::nanoseconds time_of_abandoned_{0};
};

// Sends a file to the program as part of the answer in this exchange. Returns false if it cannot be
// sent.
bool SendFile(int channel, const Exchange& exchange, int fd);

// Returns the beginning of a file of /proc whose content does not come from a process's memory.
std::string BeginningOf(const std::string& path);
// Returns the real user of the process: its effective user may be that of a set-user-ID program.
// nullopt if the process is gone.
std::optional<uint32_t> UserOf(const std::string& proc, uint32_t pid);

}  // namespace profiler::reader
