// Processes that answer one question at a time, and are left behind if they do not.
//
// The reader in use answers. If it has not answered at the deadline, it is abandoned: it stays
// behind until it gets what it waits for, holds nothing of this program, and nobody waits for it. A
// spare one takes its place at once.
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
#include "src/reader/exchange.h"
#include "src/reader/reader_process.h"

namespace profiler::reader {

struct PoolOptions {
  std::string proc = "/proc";
  std::chrono::nanoseconds deadline = std::chrono::milliseconds(50);
  // A reader that could run but is given no CPU has so many deadlines.
  int most_rounds = 10;
  size_t most_abandoned = 8;  // at most kIndex - 1
};

// One thread.
class ReaderPool {
 public:
  enum class Answer : uint8_t { kGiven, kWaits, kReaderGone };

  ReaderPool(PoolOptions options, Service service)
      : options_(std::move(options)), service_(std::move(service)) {}
  // Ends the readers and returns at once, abandoned ones or not. A process that was forked since
  // they were started lets them be.
  ~ReaderPool();
  ReaderPool(const ReaderPool&) = delete;
  ReaderPool& operator=(const ReaderPool&) = delete;

  // Forks the processes, once. Errors: those of fork(2), mmap(2) and socketpair(2). They last.
  absl::Status Start();
  const absl::Status& started() const { return started_; }
  bool is_started() const { return is_started_; }
  // True if this process has not started them itself: it was forked from the one that has.
  bool AreOfParent() const;
  // Gives the readers the priority that this thread has by now.
  void TakeOverPriority();

  // True if there is a reader to be asked.
  bool HasReader() const { return current_ < forked_; }
  // The exchange of the reader in use, for the request and afterwards its answer.
  Exchange& current() const { return exchanges_[current_]; }
  // Asks that reader. After another answer than kGiven it has been abandoned.
  Answer Ask();
  // The file that came with the last answer; none otherwise.
  UniqueFd ReceiveFile() const;

  size_t abandoned() const { return abandoned_; }
  // CPU time of the processes.
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
  void* shared_ = nullptr;  // the priority, and behind it the exchanges
  Priority* priority_ = nullptr;
  // The reader in use, the spare one, and the abandoned ones. Each has an exchange of its own: one
  // that was abandoned may still write into its own.
  std::span<Exchange> exchanges_;
  UniqueFd socket_;  // to the forker
  pid_t forker_ = 0;
  size_t current_ = 0;    // its exchange
  size_t forked_ = 0;     // exchanges that have or had a reader
  size_t abandoned_ = 0;  // readers
  std::chrono::nanoseconds time_of_abandoned_{0};
};

// Sends a file to the program that has asked by this exchange. False if it cannot be sent.
bool SendFile(int channel, const Exchange& exchange, int fd);

// The beginning of a file of /proc that has nothing of a process's memory.
std::string BeginningOf(const std::string& path);
// The user who started the process: its effective one may be that of a program with a set-user-ID
// bit. Empty if the process is gone.
std::optional<uint32_t> UserOf(const std::string& proc, uint32_t pid);

}  // namespace profiler::reader
