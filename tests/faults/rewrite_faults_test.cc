// archive and convert with a fault at each of the calls that they write with. Their output takes
// the place of an older one, of which another one is kept already.

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

  // Walks `arguments`, which write kOutput anew.
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
    // What cannot be put right once nothing works any more is left behind; nothing else is.
    if (!GoesOn(traced)) {
      EXPECT_THAT(NamesIn(files_), IsSubsetOf({kInput, kOutput, kKept}));
    }
    if (!IsRefused(traced) || IsNeedless(traced)) return CheckNew(traced);
    ExpectRefusal(traced);
    if (GoesOn(traced)) return CheckAfterKill();
    ExpectWhole(File(kOutput), {old_});
    // Without hard links the older recording goes before the new one takes its place.
    if (has_hard_links_ || fs::exists(File(kKept))) ExpectWhole(File(kKept), {older_});
  }

  // Without a second link the old file is renamed before the new one is.
  bool IsNeedless(const Traced& traced) const {
    return !GoesOn(traced) &&
           (IsOfCache(traced) || traced.calls[*traced.spoilt].name.starts_with("link"));
  }

  void CheckNew(const Traced& traced) const {
    ExpectSuccess(traced);
    ExpectWhole(File(kOutput), {new_});
    ExpectWhole(File(kKept), {old_});
  }

  // The old recording or the new one is in its place, and the old one is somewhere.
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
