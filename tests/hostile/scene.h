// Sets up tests of attackers against the profiler: their folders, a victim that root runs beside
// them, and the limits of the profiler's time, memory and output.

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

// The test runs that try a case: every run, or only runs with PROFILER_HOSTILE=all in the
// environment.
enum class Runs { kAlways, kWithAll };

class Scene {
 public:
  Scene();
  Scene(const Scene&) = delete;
  ~Scene();

  Attackers& attackers() { return attackers_; }

  // Returns the path of file `name` in the attackers' folder.
  std::string File(const std::string& name) const { return theirs_ + "/" + name; }
  const std::string& theirs() const { return theirs_; }
  // Returns the path of file `name` in root's folder, for recordings.
  std::string OwnFile(const std::string& name) const { return ours_ + "/" + name; }

  void Write(const std::string& path, std::string_view bytes);
  // Makes the attackers own a file of this test.
  void GiveAway(const std::string& path) const;
  // Makes `count` hard links to `path`. A process maps each of them as a separate file.
  static std::vector<std::string> Links(const std::string& path, int count);
  std::string MakeFifo(const std::string& name);
  // Makes a device that never blocks a read (/dev/zero under another name), and forbids to open it.
  std::string MakeDevice(const std::string& name);

  // From now on, Opened() also counts each open of `path`.
  void ForbidToOpen(const std::string& path);
  // Returns how often forbidden files were opened since the last call of Opened().
  int Opened() const;

  // Starts a program of root that computes in Outer, which calls Inner. It runs until the scene
  // ends.
  void StartVictim();
  pid_t victim() const { return victim_; }

  // Runs the profiler. Checks that it ends by itself, stays within limits of CPU time and memory,
  // and prints plain text only. Rows of the victim must not contain names of the attackers.
  // `recorded` is the recording time in seconds. After `interrupted` seconds, sends SIGINT every
  // second.
  Watched Profiler(const std::vector<std::string>& arguments, double recorded = 0,
                   double interrupted = std::numeric_limits<double>::infinity());

  // Sets a new home directory without a cache, as if nothing had been recorded before.
  void ForgetNames();

 private:
  void CheckText(const std::string& text) const;

  std::string folder_, ours_, theirs_;
  int inotify_ = -1;
  pid_t victim_ = 0;
  Attackers attackers_;
};

// Expects samples of the victim in the output of `report`, each with a symbol name.
void ExpectVictim(const std::string& report);

// Returns those of `cases` that this test run tries.
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

// Attackers that run while the profiler records everything.
struct LiveCase {
  const char* name;
  Runs runs;
  std::function<void(Scene&)> attack;
  // Checks further conditions of this case; null if the case has none.
  std::function<void(Scene&, const std::string& report)> check = nullptr;
};

// A recording made by an attacker.
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
std::vector<LiveCase> PythonCases();
std::vector<RecordingCase> RecordingCases();

}  // namespace profiler::tests
