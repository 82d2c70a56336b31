// Runs archive and convert with a fault at each call that writes. The output replaces an older
// file. That file's own predecessor is also kept.

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
    // Temporary files may only remain if all later calls fail, too.
    if (!GoesOn(traced)) {
      EXPECT_THAT(NamesIn(files_), IsSubsetOf({kInput, kOutput, kKept}));
    }
    if (!IsRefused(traced) || IsNeedless(traced)) return CheckNew(traced);
    ExpectRefusal(traced);
    if (GoesOn(traced)) return CheckAfterKill();
    ExpectWhole(File(kOutput), {old_});
    // Without hard links the older recording is removed before the new one is renamed.
    if (has_hard_links_ || fs::exists(File(kKept))) ExpectWhole(File(kKept), {older_});
  }

  // True if the command succeeds without the failed call: a call on the cache, or link(2). If the
  // file system cannot link, the old file is renamed before the new one.
  bool IsNeedless(const Traced& traced) const {
    return !GoesOn(traced) &&
           (IsOfCache(traced) || traced.calls[*traced.spoilt].name.starts_with("link"));
  }

  void CheckNew(const Traced& traced) const {
    ExpectSuccess(traced);
    ExpectWhole(File(kOutput), {new_});
    ExpectWhole(File(kKept), {old_});
  }

  // Expects the old or the new recording at the output's name, and the old one somewhere.
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
