// Where attackers and the profiler meet: their folders, a program of root beside them, and what the
// profiler is asked to do and may cost.

#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "tests/hostile/attackers.h"
#include "tests/hostile/watched_command.h"

namespace profiler::tests {

// Which test runs try a case: each, or those with PROFILER_HOSTILE=all in their environment.
enum class Runs { kAlways, kWithAll };

class Scene {
 public:
  Scene();
  Scene(const Scene&) = delete;
  ~Scene();

  Attackers& attackers() { return attackers_; }

  // In the folder that belongs to the attackers.
  std::string File(const std::string& name) const { return theirs_ + "/" + name; }
  const std::string& theirs() const { return theirs_; }
  // In the folder that belongs to root, where recordings go.
  std::string OwnFile(const std::string& name) const { return ours_ + "/" + name; }

  void Write(const std::string& path, std::string_view bytes);
  // Gives a file that this test has made to the attackers.
  void GiveAway(const std::string& path) const;
  // That many names more for the file at `path`, each of which a process maps as a file of its own.
  static std::vector<std::string> Links(const std::string& path, int count);
  std::string MakeFifo(const std::string& name);
  // A character device that a read of blocks for no time: /dev/zero under another name.
  std::string MakeDevice(const std::string& name);

  // From now on nobody may open it.
  void ForbidToOpen(const std::string& path);
  // How often one of them was.
  int Opened() const;

  // Of root: computes in Outer, which calls Inner. It runs until the scene ends.
  void StartVictim();
  pid_t victim() const { return victim_; }

  // Runs the profiler and checks that it ended, by itself, without too much time or memory, and
  // said nothing but text; `recorded` is the time that it was asked to take. What it says in views
  // has no name of the attackers in the victim's rows. From `interrupted` on, in seconds, somebody
  // presses Ctrl-C.
  Watched Profiler(const std::vector<std::string>& arguments, double recorded = 0,
                   double interrupted = std::numeric_limits<double>::infinity());

  // Of a system where this is the last process that has recorded: a home directory without a cache.
  void ForgetNames();

 private:
  void CheckText(const std::string& text) const;

  std::string folder_, ours_, theirs_;
  int inotify_ = -1;
  pid_t victim_ = 0;
  Attackers attackers_;
};

// Samples of the victim in what `report` says; each has a name.
void ExpectVictim(const std::string& report);

// The cases that this run tries.
template <class Case>
std::vector<Case> Chosen(const std::vector<Case>& cases) {
  const char* const which = std::getenv("PROFILER_HOSTILE");
  if (which != nullptr && std::string_view(which) == "all") return cases;
  std::vector<Case> chosen;
  for (const Case& one : cases) {
    if (one.runs == Runs::kAlways) chosen.push_back(one);
  }
  return chosen;
}

// Attackers that run while everything is recorded.
struct LiveCase {
  const char* name;
  Runs runs;
  std::function<void(Scene&)> attack;
  // What is to be true besides; null: nothing.
  std::function<void(Scene&, const std::string& report)> check = nullptr;
};

// A recording that an attacker made.
struct RecordingCase {
  const char* name;
  Runs runs;
  std::function<void(Scene&, const std::string& path)> make;
};

inline void PrintTo(const LiveCase& one, std::ostream* out) { *out << one.name; }
inline void PrintTo(const RecordingCase& one, std::ostream* out) { *out << one.name; }

std::vector<LiveCase> ElfCases();
std::vector<LiveCase> DwarfCases();
std::vector<LiveCase> FrameCases();
std::vector<LiveCase> NameCases();
std::vector<LiveCase> ProcessCases();
std::vector<LiveCase> JitCases();
std::vector<RecordingCase> RecordingCases();

}  // namespace profiler::tests
