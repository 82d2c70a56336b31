// Runs a child process that reads untrusted files and can do nothing else.
//
//     this process                                   its child, confined (confinement.h)
//
//     Ask(question) ───────────────────────────────▶ FileFacts: ELF, DWARF, maps and dumps
//                      ◀── may I have this file? ───
//     FileRules: yes, here is its descriptor ───────▶
//                      ◀───────────────── answer ───
//
// The child is a fork of this process, not another program: it starts in a millisecond and has the
// code already. All its descriptors except the socket are closed, and its capabilities are dropped.
// The child inherits this process's memory, but can send it only to this process.
//
// The child's budget grows with the size of the files that it was given, up to a limit. If a child
// exceeds its budget or dies, a file may have taken it over. Then the current question fails, and
// the next question goes to a new child.
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
#include "symbolize/confined/socket_message.h"

namespace profiler::symbolize {

// Limits of a child. The size of a file is the space that it occupies on disk.
struct ConfinedBudget {
  std::chrono::milliseconds time{3'000};  // CPU time that a child has even without files
  std::chrono::milliseconds time_a_megabyte{150};
  std::chrono::milliseconds most_time = std::chrono::hours(24);
  uint64_t memory = uint64_t{192} << 20;  // bytes beyond the memory at the start
  uint64_t memory_a_byte = 4;
  uint64_t most_memory = uint64_t{1} << 40;
};

// Budget for files of other users, who may make a file as large as their disk.
inline constexpr ConfinedBudget kBudgetForOthers = {
    .time_a_megabyte = std::chrono::milliseconds(20),
    .most_time = std::chrono::seconds(10),
    .most_memory = uint64_t{320} << 20,
};

// A confined child process. Not thread-safe.
class ConfinedProcess {
 public:
  // Forks a process that confines itself and then calls `serve` with its end of the socket. The
  // process ends when `serve` returns. `rules` must outlive this object. Errors: those of fork(2)
  // and socketpair(2); kUnimplemented if the process cannot be confined.
  static absl::StatusOr<std::unique_ptr<ConfinedProcess>> Start(
      const std::function<void(int socket)>& serve, FileRules& rules, const ConfinedBudget& budget);
  ~ConfinedProcess();
  ConfinedProcess(const ConfinedProcess&) = delete;
  ConfinedProcess& operator=(const ConfinedProcess&) = delete;

  // Sends a message that has no answer. Errors: those of Send.
  absl::Status Tell(MessageKind kind, std::string content);

  // Sends a question and returns the content of the answer. Meanwhile answers the child's requests
  // for files. After an error the child cannot be asked again. Errors: kDeadlineExceeded: time
  // budget exceeded; kResourceExhausted: memory budget exceeded; kDataLoss: the child died or sent
  // an invalid message.
  absl::StatusOr<std::string> Ask(MessageKind kind, std::string content);

 private:
  ConfinedProcess(pid_t pid, UniqueFd socket, FileRules& rules, const ConfinedBudget& budget);
  absl::Status AwaitReady();
  absl::StatusOr<Message> ReceiveNext();
  absl::Status WaitForMore();
  void Grant();
  absl::Status HowItEnded();

  pid_t pid_;  // 0: the child has ended and was waited for
  const UniqueFd socket_;
  FileRules& rules_;
  const ConfinedBudget budget_;
  const uint64_t first_memory_;  // private memory at the start, in bytes
};

}  // namespace profiler::symbolize
