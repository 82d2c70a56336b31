// Runs record with a fault at each system call that writes, maps a ring of the kernel, or maps the
// recorded data. The number of calls depends on how often the rings are emptied.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/faults/fault_walk.h"
#include "tests/live/command.h"

namespace profiler::tests {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSubsetOf;
using testing::StartsWith;

constexpr char kOutput[] = "perf.data", kKept[] = "perf.data.old";

// Offset of the data size in a recording's header.
constexpr size_t kDataSizeOffset = 48;

enum class ReadBack { kWithoutWarning, kMayBeCut };

class RecordFaults : public FaultWalk {
 protected:
  void SetUp() override {
    FaultWalk::SetUp();
    if (IsSkipped()) return;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    if (GetParam().name != std::string_view("NoSpace")) {
      GTEST_SKIP() << "a recorder with sanitizers takes a second a run, and has two thousand here";
    }
#endif
    const Traced probe = Profiler(Command());
    if (probe.exit_code != 0) GTEST_SKIP() << "nothing can be recorded: " << probe.err;
    older_ = MakeRecording(kKept);
    old_ = MakeRecording(kOutput);
  }

  std::vector<std::string> Command(const std::vector<std::string>& options = {}) const {
    std::vector<std::string> command = {"record", "-q",   "-e", "cpu-clock:u",
                                        "-F",     "2000", "-o", File(kOutput)};
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), {"--", Runfile("tests/live/workload"), "busy", "0.02"});
    return command;
  }

  void WalkRecord(const std::vector<std::string>& options) {
    Walk(
        Command(options), [this] { Prepare(); }, [this](const Traced& traced) { Check(traced); });
  }

  // Walks a command that records into several files. Each file gets its final name when it is
  // complete.
  void WalkFiles() {
    Walk(
        Command({"--switch-output=1K"}), [this] { Prepare(); },
        [this](const Traced& traced) { CheckFiles(traced); });
  }

 private:
  void Prepare() const {
    Write(File(kKept), older_);
    Write(File(kOutput), old_);
  }

  void CheckFiles(const Traced& traced) const {
    const bool is_killed = IsKilled(traced);
    size_t olds = 0;
    for (const std::string& name : NamesIn(files_)) {
      EXPECT_THAT(name, StartsWith(kOutput));
      const std::string contents = Contents(File(name));
      olds += contents == old_;
      const bool is_empty = is_killed && contents.empty();
      if (contents != old_ && contents != older_ && !is_empty) Samples(name, ReadBack::kMayBeCut);
    }
    EXPECT_EQ(olds, 1u);
    if (is_killed || LacksNames(traced)) return;
    if (GoesOn(traced)) {
      EXPECT_THAT(ErrorLines(traced), Each(HasSubstr(Cause())));
      return;
    }
    if (IsRefused(traced) && !IsOfCache(traced)) return ExpectRefusal(traced);
    ExpectSuccess(traced);
  }

  void Check(const Traced& traced) const {
    if (IsKilled(traced)) return CheckAfterKill(traced);
    if (LacksNames(traced)) return CheckSamples();
    if (!IsRefused(traced) || IsOfCache(traced)) return CheckWhole(traced);
    ExpectRefusal(traced);
    const std::string output = Contents(File(kOutput));
    EXPECT_THAT(NamesIn(files_), IsSubsetOf({kOutput, kKept}));
    if (output == old_) return ExpectWhole(File(kKept), {older_, ""});
    if (!output.empty()) {
      EXPECT_TRUE(HasBegun(traced));
      return CheckOldAndNew();
    }
    // The old recording kept its other name, because the call that renames it back failed, too.
    EXPECT_EQ(GetParam().fault.kind, Fault::Kind::kErrorsFromThereOn);
    ExpectWhole(File(kKept), {old_});
  }

  void CheckWhole(const Traced& traced) const {
    ExpectSuccess(traced);
    CheckSamples();
  }

  void CheckSamples() const {
    CheckOldAndNew();
    EXPECT_GT(Samples(kOutput, ReadBack::kWithoutWarning), 0);
  }

  // True if the program called pwrite64, and so began the new recording, before the spoilt call.
  bool HasBegun(const Traced& traced) const {
    const auto begin = traced.calls.begin();
    return std::any_of(begin, begin + static_cast<std::ptrdiff_t>(*traced.spoilt),
                       [](const CountedCall& call) { return call.name == "pwrite64"; });
  }

  // True if the new recording lacks names. Names are added when the samples are already on
  // disk, so a warning is enough.
  bool LacksNames(const Traced& traced) const {
    const std::vector<std::string> lines = ErrorLines(traced);
    if (lines.empty() || traced.exit_code != 0) return false;
    EXPECT_TRUE(IsRefused(traced));
    EXPECT_THAT(lines,
                Each(AllOf(StartsWith("profiler: warning: the recording "),
                           HasSubstr(" contains no names: cannot "), HasSubstr(": " + Cause()))));
    EXPECT_TRUE(lines.size() == 1 || GoesOn(traced));
    return true;
  }

  void CheckOldAndNew() const {
    EXPECT_THAT(NamesIn(files_), ElementsAre(kOutput, kKept));
    ExpectWhole(File(kKept), {old_});
    Samples(kOutput, ReadBack::kMayBeCut);
  }

  void CheckAfterKill(const Traced& traced) const {
    const std::string output = Contents(File(kOutput));
    if (output == old_) return ExpectWhole(File(kKept), {older_});
    ExpectWhole(File(kKept), {old_});
    if (output.empty()) return;
    EXPECT_THAT(NamesIn(files_), ElementsAre(kOutput, kKept));
    Samples(kOutput, ReadBack::kMayBeCut);
    uint64_t data_size = 0;
    ASSERT_GE(output.size(), kDataSizeOffset + sizeof(data_size));
    std::memcpy(&data_size, &output[kDataSizeOffset], sizeof(data_size));
    EXPECT_GE(data_size, BytesOfRounds(traced));
  }

  // Returns how many bytes were appended before the last update of the size in the header.
  static uint64_t BytesOfRounds(const Traced& traced) {
    uint64_t appended = 0, counted = 0;
    for (const CountedCall& call : traced.calls) {
      if (call.name == "writev") appended += static_cast<uint64_t>(call.result);
      if (call.name == "pwrite64") counted = appended;
    }
    return counted;
  }

  // Returns the number of samples in the new recording `name`. Expects that the recording can be
  // read without a message. With kMayBeCut, the message "was not ended" is permitted.
  int Samples(const std::string& name, ReadBack how) const {
    const Traced report = Profiler({"report", "--stats", "-i", File(name)});
    if (how == ReadBack::kMayBeCut && report.err.find("was not ended") != std::string::npos) {
      EXPECT_EQ(report.exit_code, 0);
      EXPECT_THAT(report.err, HasSubstr("all whole records are read"));
    } else {
      ExpectSuccess(report);
    }
    const std::string title = "SAMPLE events:";
    const size_t at = report.out.find(title);
    return at == std::string::npos ? 0 : std::stoi(report.out.substr(at + title.size()));
  }

  std::string older_, old_;
};

TEST_P(RecordFaults, LeaveTheOldRecordingOrTheNewOne) { WalkRecord({}); }

TEST_P(RecordFaults, LeaveTheOldRecordingOrTheNewOneThatIsCompressed) { WalkRecord({"-z"}); }

TEST_P(RecordFaults, LeaveWholeRecordingsWhereOneFollowsTheOther) { WalkFiles(); }

INSTANTIATE_TEST_SUITE_P(All, RecordFaults, EachFault(), FaultName);

}  // namespace
}  // namespace profiler::tests
