// Runs the profiler as root among programs and files of a hostile unprivileged user. It must end in
// time, use little memory, and print plain lines. Programs of root must be recorded and named as
// without this user.
//
// A test run tries a selection of the cases. With PROFILER_HOSTILE=all (tools/test --all), it tries
// all cases.

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/hostile/scene.h"

namespace profiler::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

class Hostile : public testing::Test {
 protected:
  void SetUp() override {
    setenv("HOME", testing::TempDir().c_str(), 1);
    unsetenv("XDG_CACHE_HOME");
    unsetenv("DEBUGINFOD_URLS");
    if (geteuid() != 0) GTEST_SKIP() << "only root records others, and can be another user";
#if !defined(__x86_64__)
    GTEST_SKIP() << "the attackers' code is x86-64's";
#endif
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "programs with ThreadSanitizer cannot be forked into others";
#endif
  }

  Scene scene_;
};

// ---- recordings of the whole machine

class Attack : public Hostile, public testing::WithParamInterface<LiveCase> {
 protected:
  void SetUp() override {
    Hostile::SetUp();
    if (IsSkipped()) return;
    const Watched probe = scene_.Profiler({"record", "-q", "-a", "-e", "cpu-clock", "--duration",
                                           "0.001", "--embed", "none", "-o", Recording()});
    if (probe.ended.exit_code != 0) GTEST_SKIP() << "nothing is recorded: " << probe.ended.err;
    scene_.StartVictim();
  }

  std::string Recording() const { return scene_.OwnFile("recording.data"); }

  void Record(const char* embed, const char* seconds) {
    scene_.attackers().Resume();
    const Watched record = scene_.Profiler(
        {"record", "-a", "-e", "cpu-clock", "--call-graph", "dwarf", "-F", "499", "--embed", embed,
         "--duration", seconds, "--no-summary", "-o", Recording()},
        std::atof(seconds));
    EXPECT_EQ(record.ended.exit_code, 0) << record.ended.err;
    // Pauses the attackers, because the following views read files and are faster without them.
    scene_.attackers().Pause();
  }

  std::string Report() {
    const Watched report =
        scene_.Profiler({"report", "--no-children", "-g", "none", "-i", Recording()});
    EXPECT_EQ(report.ended.exit_code, 0) << report.ended.err;
    EXPECT_THAT(report.ended.err, Not(HasSubstr("was not ended")));
    ExpectVictim(report.ended.out);
    return report.ended.out;
  }
};

TEST_P(Attack, IsRecordedAndSurvived) {
  GetParam().attack(scene_);
  if (HasFatalFailure()) return;
  // Records with names while the attackers run, and then runs views. Then records without names.
  Record("lines", "0.5");
  const std::string report = Report();
  scene_.Profiler({"annotate", "-i", Recording()});
  Record("none", "0.5");
  Report();
  const Watched archive =
      scene_.Profiler({"archive", "-i", Recording(), "-o", scene_.OwnFile("archived.data")});
  EXPECT_EQ(archive.ended.exit_code, 0) << archive.ended.err;
  const Watched convert =
      scene_.Profiler({"convert", Recording(), "-o", scene_.OwnFile("converted.data")});
  EXPECT_EQ(convert.ended.exit_code, 0) << convert.ended.err;
  EXPECT_EQ(scene_.Opened(), 0) << "a FIFO or a device was opened";
  if (GetParam().check) GetParam().check(scene_, report);
}

std::string NameOf(const testing::TestParamInfo<LiveCase>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Elf, Attack, testing::ValuesIn(Chosen(ElfCases())), NameOf);
INSTANTIATE_TEST_SUITE_P(Dwarf, Attack, testing::ValuesIn(Chosen(DwarfCases())), NameOf);
INSTANTIATE_TEST_SUITE_P(Frames, Attack, testing::ValuesIn(Chosen(FrameCases())), NameOf);
INSTANTIATE_TEST_SUITE_P(Names, Attack, testing::ValuesIn(Chosen(NameCases())), NameOf);
INSTANTIATE_TEST_SUITE_P(Processes, Attack, testing::ValuesIn(Chosen(ProcessCases())), NameOf);
INSTANTIATE_TEST_SUITE_P(Jit, Attack, testing::ValuesIn(Chosen(JitCases())), NameOf);
INSTANTIATE_TEST_SUITE_P(Python, Attack, testing::ValuesIn(Chosen(PythonCases())), NameOf);

// ---- recordings made by an attacker

class Recordings : public Hostile, public testing::WithParamInterface<RecordingCase> {};

TEST_P(Recordings, AreReadOrRefused) {
  const std::string path = scene_.File("perf.data");
  GetParam().make(scene_, path);
  if (HasFatalFailure()) return;
  scene_.GiveAway(path);
  scene_.Profiler({"report", "-i", path});
  scene_.Profiler({"report", "--stats", "-i", path});
  scene_.Profiler({"summary", "-i", path});
  scene_.Profiler({"annotate", "-i", path});
  scene_.Profiler({"archive", "-i", path, "-o", scene_.OwnFile("archived.data")});
  scene_.Profiler({"convert", path, "-o", scene_.OwnFile("converted.data")});
  scene_.Profiler({"script", "-G", "-i", path});
  scene_.Profiler({"dump", "-i", path});
  EXPECT_EQ(scene_.Opened(), 0) << "a FIFO or a device was opened";
}

INSTANTIATE_TEST_SUITE_P(All, Recordings, testing::ValuesIn(Chosen(RecordingCases())),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace profiler::tests
