// Runs hostile programs of an unprivileged user while the profiler runs.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace profiler::tests {

// A user id that no other program of the machine uses.
inline constexpr uid_t kAttacker = 61713;

// The attackers that are running. All of them, and their descendants, end with this object.
class Attackers {
 public:
  Attackers();
  Attackers(const Attackers&) = delete;
  ~Attackers();

  // The code of an attacker's process. It runs as kAttacker in the directory `/`. It calls `ready`
  // when the profiler may start, and spins for ever or returns.
  using Program = std::function<void(const std::function<void()>& ready)>;

  // Starts a process and waits until it is ready. Returns the process's pid.
  pid_t Start(const Program& program);
  // Like Start(), but keeps the rights of root until the program gives them up.
  pid_t StartAsRoot(const Program& program);
  // Starts a process that executes the file.
  pid_t Execute(const std::string& path);
  // Starts a process that maps the file as code and spins in it; see HostileElf.
  pid_t SpinIn(const std::string& path);

  // Stop and continue the process groups that were started. Descendants that left their group are
  // not stopped.
  void Pause() const;
  void Resume() const;
  void EndAll();

 private:
  std::vector<pid_t> started_;
};

// ---- building blocks of attackers' programs

void GiveUpRights();
[[noreturn]] void Spin();
// Runs the code of a HostileElf at `address` repeatedly. If the file shrinks, a signal ends the
// process.
[[noreturn]] void SpinAt(void* address);
// Runs each of `codes` for half a millisecond in turn, for ever. Each is the code of a HostileElf,
// entered at `entry`: kDescend or kStairs.
[[noreturn]] void SpinInTurns(const std::vector<void*>& codes, uint64_t entry);
// Maps the HostileElf at `path` as code. Returns the address of its kCode; null if the file cannot
// be mapped.
void* MapCode(const std::string& path);
// Returns anonymous memory with the code of a HostileElf.
void* CodeInMemory();
void WaitFor(pid_t child);
// Writes a file with the rights of this process's user.
void WriteAs(const std::string& path, const std::string& text);

}  // namespace profiler::tests
