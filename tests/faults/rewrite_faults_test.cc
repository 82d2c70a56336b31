// Runs archive and convert with a fault at each system call that writes. The output replaces an old
// recording (perf.data), which is kept as perf.data.old. Before each run,
// perf.data.old is a still older recording.

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/faults/fault_walk.h"

namespace profiler::tests {
namespace {

namespace fs = std::filesystem;
using testing::IsSubsetOf;

constexpr char kOutput[] = "perf.data", kKept[] = "perf.data.old", kInput[] = "input.data";

class RewriteFaults : public FaultWalk {
 protected:
  void SetUp() override {
    FaultWalk::SetUp();
    if (IsSkipped()) return;
    older_ = MakeRecording(kKept);
    old_ = MakeRecording(kOutput);
    input_ = MakeRecording(kInput);
  }

  void Prepare() const {
    Write(File(kKept), older_);
    Write(File(kOutput), old_);
    Write(File(kInput), input_);
  }

  // Walks a command that writes kOutput anew.
  void WalkRewrite(const std::vector<std::string>& arguments) {
    Prepare();
    ExpectSuccess(Profiler(arguments));
    new_ = Contents(File(kOutput));
    ASSERT_NE(new_, old_);
    Walk(
        arguments, [this] { Prepare(); }, [this](const Traced& traced) { Check(traced); });
  }

 private:
  void Check(const Traced& traced) const {
    ExpectWhole(File(kInput), {input_});
    if (IsKilled(traced)) return CheckAfterKill();
    // Temporary files may remain only if the calls that remove them fail, too.
    if (!GoesOn(traced)) {
      EXPECT_THAT(NamesIn(files_), IsSubsetOf({kInput, kOutput, kKept}));
    }
    if (!IsRefused(traced) || IsNeedless(traced)) return CheckNew(traced);
    ExpectRefusal(traced);
    if (GoesOn(traced)) return CheckAfterKill();
    ExpectWhole(File(kOutput), {old_});
    // Without hard links, the older recording may be gone: it is removed before the new recording
    // is renamed.
    if (has_hard_links_ || fs::exists(File(kKept))) ExpectWhole(File(kKept), {older_});
  }

  // True if the command can succeed without the failed call. Such calls are calls on the cache, and
  // link(2): without hard links, the old recording is renamed instead.
  bool IsNeedless(const Traced& traced) const {
    return !GoesOn(traced) &&
           (IsOfCache(traced) || traced.calls[*traced.spoilt].name.starts_with("link"));
  }

  void CheckNew(const Traced& traced) const {
    ExpectSuccess(traced);
    ExpectWhole(File(kOutput), {new_});
    ExpectWhole(File(kKept), {old_});
  }

  // Expects that the output's name has the old or the new recording, and that some file has the old
  // recording.
  void CheckAfterKill() const {
    if (has_hard_links_ || fs::exists(File(kOutput))) ExpectWhole(File(kOutput), {old_, new_});
    std::vector<std::string> contents;
    for (const std::string& name : NamesIn(files_)) contents.push_back(Contents(File(name)));
    EXPECT_TRUE(std::ranges::count(contents, old_) > 0);
  }

  std::string older_, old_, input_, new_;
};

TEST_P(RewriteFaults, ArchiveInPlaceLeavesTheOldRecordingOrTheNewOne) {
  WalkRewrite({"archive", "-i", File(kOutput)});
}

TEST_P(RewriteFaults, ArchiveOverAnotherRecordingLeavesTheOldOneOrTheNewOne) {
  WalkRewrite({"archive", "-i", File(kInput), "-o", File(kOutput)});
}

TEST_P(RewriteFaults, ConvertLeavesTheOldRecordingOrTheNewOne) {
  WalkRewrite({"convert", File(kInput), "-o", File(kOutput)});
}

TEST_P(RewriteFaults, ConvertThatCompressesLeavesTheOldRecordingOrTheNewOne) {
  WalkRewrite({"convert", "-z", File(kInput), "-o", File(kOutput)});
}

TEST_P(RewriteFaults, ConvertLeavesTheOldRecordingOrTheNewOneWithoutHardLinks) {
  has_hard_links_ = false;
  WalkRewrite({"convert", File(kInput), "-o", File(kOutput)});
}

INSTANTIATE_TEST_SUITE_P(All, RewriteFaults, EachFault(), FaultName);

}  // namespace
}  // namespace profiler::tests
