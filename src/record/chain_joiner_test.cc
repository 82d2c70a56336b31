#include "src/record/chain_joiner.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace profiler::record {
namespace {

using symbolize::FrameOrigin;
using symbolize::UnwoundFrame;

UnwoundFrame Frame(uint64_t address, uint64_t sp, FrameOrigin origin = FrameOrigin::kCfi) {
  return {RuntimeAddress{address}, sp, origin, /*is_return_address=*/true, false};
}

class ChainJoinerTest : public testing::Test {
 protected:
  // The callers of the frame, root first; "none" where it is not known.
  std::string Callers(uint32_t tid, const UnwoundFrame& frame) {
    const auto outer = joiner_.Find(tid, frame);
    if (!outer) return "none";
    std::string text;
    for (const ChainJoiner::Frame& caller : outer->callers) {
      absl::StrAppend(&text, absl::Hex(caller.instruction), " ");
    }
    return text + (outer->guessed ? "guessed" : "");
  }

  ChainJoiner joiner_;
};

TEST_F(ChainJoinerTest, FindsTheCallersOfAFrameThatIsStillThere) {
  joiner_.Remember(7, 0, std::vector{Frame(0x401, 10), Frame(0x301, 20), Frame(0x201, 30)});
  EXPECT_EQ(Callers(7, Frame(0x401, 10)), "200 300 ");
  EXPECT_EQ(Callers(7, Frame(0x201, 30)), "");
}

TEST_F(ChainJoinerTest, AnotherInstructionPlaceOrThreadIsAnotherFrame) {
  joiner_.Remember(7, 0, std::vector{Frame(0x401, 10), Frame(0x301, 20)});
  EXPECT_EQ(Callers(7, Frame(0x402, 10)), "none");
  EXPECT_EQ(Callers(7, Frame(0x401, 11)), "none");
  EXPECT_EQ(Callers(8, Frame(0x401, 10)), "none");
}

TEST_F(ChainJoinerTest, PutsNewInnerFramesOnTheOuterOnesThatStay) {
  joiner_.Remember(7, 0, std::vector{Frame(0x401, 10), Frame(0x301, 20), Frame(0x201, 30)});
  joiner_.Remember(7, 1, std::vector{Frame(0x901, 5), Frame(0x801, 15)});
  EXPECT_EQ(Callers(7, Frame(0x901, 5)), "200 800 ");
  EXPECT_EQ(Callers(7, Frame(0x301, 20)), "none");
}

TEST_F(ChainJoinerTest, TellsWhetherACallerWasGuessed) {
  joiner_.Remember(
      7, 0, std::vector{Frame(0x401, 10), Frame(0x301, 20, FrameOrigin::kGuess), Frame(0x201, 30)});
  EXPECT_EQ(Callers(7, Frame(0x401, 10)), "200 300 guessed");
  EXPECT_EQ(Callers(7, Frame(0x301, 20)), "200 ");
  joiner_.Remember(7, 1, std::vector{Frame(0x501, 10)});
  EXPECT_EQ(Callers(7, Frame(0x501, 10)), "200 ");
}

TEST_F(ChainJoinerTest, AFrameWithoutStackIsToldFromItsCaller) {
  joiner_.Remember(7, 0, std::vector{Frame(0x401, 20), Frame(0x301, 20), Frame(0x201, 30)});
  EXPECT_EQ(Callers(7, Frame(0x401, 20)), "200 300 ");
  EXPECT_EQ(Callers(7, Frame(0x301, 20)), "200 ");
}

TEST_F(ChainJoinerTest, KeepsOnlyWhatIsOnOneStack) {
  // A handler on a stack of its own, below or above.
  joiner_.Remember(7, 0, std::vector{Frame(0x901, 500), Frame(0x301, 20), Frame(0x201, 30)});
  EXPECT_EQ(Callers(7, Frame(0x301, 20)), "200 ");
  EXPECT_EQ(Callers(7, Frame(0x901, 500)), "none");
}

TEST_F(ChainJoinerTest, ForgetsThreadsThatEnd) {
  joiner_.Remember(7, 0, std::vector{Frame(0x401, 10), Frame(0x301, 20)});
  joiner_.Forget(7);
  EXPECT_EQ(Callers(7, Frame(0x401, 10)), "none");
}

TEST_F(ChainJoinerTest, DropsEverythingRatherThanGrowForEver) {
  std::vector<UnwoundFrame> deep;
  for (uint64_t i = 0; i < 8000; ++i) deep.push_back(Frame(0x401, 8 * i));
  for (uint32_t tid = 1; tid <= 200; ++tid) joiner_.Remember(tid, 0, deep);
  EXPECT_EQ(Callers(1, deep[3]), "none");
  EXPECT_NE(Callers(200, deep[3]), "none");
}

}  // namespace
}  // namespace profiler::record
