// A process that answers questions about files that others wrote, and can do nothing else.
//
//     this process                                   its child, confined (confinement.h)
//
//     Ask(question) ───────────────────────────────▶ FileFacts: ELF, DWARF, maps and dumps
//                      ◀── may I have this file? ───
//     FileRules: yes, it is open here ─────────────▶
//                      ◀───────────────── answer ───
//
// The child is forked, not a program of its own: it is there in a millisecond, and reads with the
// code that is here. Its descriptors are closed but for the socket, and its capabilities are gone.
// What it has of this process's memory it can tell nobody but this process.
//
// Its budget grows with what it has been given to read, up to an end. One that spends more, or
// dies, was in the hands of the file that it had been asked about: the question's answer is an
// error, and the next one goes to a new child.
//
// Private to this package.

#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "src/base/status.h"
#include "src/base/unique_fd.h"
#include "symbolize/confined/file_rules.h"
#include "symbolize/confined/message.h"

namespace profiler::symbolize {

// What a child may use. Files that were read are counted as what they take on disk.
struct ConfinedBudget {
  std::chrono::milliseconds time{3'000};  // of CPU, for nothing but being asked
  std::chrono::milliseconds time_a_megabyte{150};
  std::chrono::milliseconds most_time = std::chrono::hours(24);
  uint64_t memory = uint64_t{192} << 20;  // beyond what it began with
  uint64_t memory_a_byte = 4;
  uint64_t most_memory = uint64_t{1} << 40;
};

// For files that anybody may have made as large as there is room on a disk.
inline constexpr ConfinedBudget kBudgetForOthers = {
    .time_a_megabyte = std::chrono::milliseconds(20),
    .most_time = std::chrono::seconds(10),
    .most_memory = uint64_t{320} << 20,
};

// Not thread-safe.
class ConfinedProcess {
 public:
  // Forks a process that confines itself and then calls `serve` with its end of the socket, until
  // that returns. `rules` must outlive this. Errors: those of fork(2) and socketpair(2);
  // kUnimplemented where it cannot be confined.
  static absl::StatusOr<std::unique_ptr<ConfinedProcess>> Start(
      const std::function<void(int socket)>& serve, FileRules& rules, const ConfinedBudget& budget);
  ~ConfinedProcess();
  ConfinedProcess(const ConfinedProcess&) = delete;
  ConfinedProcess& operator=(const ConfinedProcess&) = delete;

  // Tells it something that it does not answer. Errors: those of Send.
  absl::Status Tell(MessageKind kind, std::string content);

  // The content of its answer. Serves what it asks for meanwhile. After an error there is no use in
  // asking it again. Errors: kDeadlineExceeded where it took more than its time, kResourceExhausted
  // more than its memory, kDataLoss where it died or said nonsense.
  absl::StatusOr<std::string> Ask(MessageKind kind, std::string content);

 private:
  ConfinedProcess(pid_t pid, UniqueFd socket, FileRules& rules, const ConfinedBudget& budget);
  absl::Status AwaitReady();
  absl::StatusOr<Message> ReceiveNext();
  absl::Status WaitForMore();
  void Grant();
  absl::Status HowItEnded();

  pid_t pid_;  // 0: it was waited for
  const UniqueFd socket_;
  FileRules& rules_;
  const ConfinedBudget budget_;
  const uint64_t first_memory_;  // bytes
};

}  // namespace profiler::symbolize
