// Programs of a user without rights, who means harm: they run while the profiler does.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace profiler::tests {

// A user that no other program of the machine has.
inline constexpr uid_t kAttacker = 61713;

// All that have been started end with this object, and all that those have started.
class Attackers {
 public:
  Attackers();
  Attackers(const Attackers&) = delete;
  ~Attackers();

  // What an attacker's process does, as that user and in the directory `/`. It calls `ready` when
  // the profiler may start, and spins for ever or returns.
  using Program = std::function<void(const std::function<void()>& ready)>;

  // Comes back when it is ready, with its pid.
  pid_t Start(const Program& program);
  // The same, with the rights of root until it gives them up.
  pid_t StartAsRoot(const Program& program);
  // Executes the file.
  pid_t Execute(const std::string& path);
  // Maps the file as code and spins in it; see HostileElf.
  pid_t SpinIn(const std::string& path);

  // Stops those that Start and its kin have started, and most of their children; and lets them go
  // on.
  void Pause() const;
  void Resume() const;
  void EndAll();

 private:
  std::vector<pid_t> started_;
};

// ---- what programs of attackers are made of

void GiveUpRights();
[[noreturn]] void Spin();
// Runs the code of a HostileElf at `address`, over and over. A signal of a file that shrinks ends
// the process.
[[noreturn]] void SpinAt(void* address);
// Runs each of the codes for half a millisecond, one after the other, over and over. They begin
// at `entry` (HostileElf), which is kDescend or kStairs.
[[noreturn]] void SpinInTurns(const std::vector<void*>& codes, uint64_t entry);
// Maps `path` as code, nothing where that is not possible. It is where its code is (HostileElf).
void* MapCode(const std::string& path);
// Memory with the code of a HostileElf.
void* CodeInMemory();
void WaitFor(pid_t child);
// A file that this process owns.
void WriteAs(const std::string& path, const std::string& text);

}  // namespace profiler::tests
