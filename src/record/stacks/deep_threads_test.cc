#include "src/record/stacks/deep_threads.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "src/record/testing/stack_record_builder.h"

namespace profiler::record {
namespace {

using symbolize::ChainEnd;
using symbolize::StackWords;

constexpr uint64_t kPage = kStackPageBytes;
constexpr uint64_t kSp = 0x7ffc'0000'0100, kFrom = 0x7ffc'0001'0000;
constexpr uint32_t kTid = 7;

// Returns the words as text, with their addresses from kFrom on.
std::string Text(const StackWords* words) {
  if (words == nullptr) return "none";
  std::string text;
  for (uint64_t address = words->start(); address < words->end(); address += StackWords::kWord) {
    if (!words->Covers(address)) {
      absl::StrAppend(&text, address % kPage == 0 ? "hole, " : "");
    } else if (const auto word = words->Find(address)) {
      absl::StrAppend(&text, absl::Hex(address - kFrom), ": ", absl::Hex(*word), ", ");
    }
  }
  return absl::StrCat(text, "end ", absl::Hex(words->end() - kFrom));
}

TEST(DeliveredStackTest, ARecordHasTheWordsOfItsPages) {
  DeliveredStack stack;
  StackRecordBuilder record(kSp, kFrom, kFrom + 3 * kPage);
  record.Page(kFrom).Word(0, 0x401000).Word(511, kSp).Page(kFrom + 2 * kPage).Word(5, 0x401005);
  ASSERT_TRUE(DeliveredStack::IsRecord(record.bytes()));
  stack.Take(kTid, record.bytes());
  EXPECT_EQ(Text(stack.Of(kTid, kSp)), "0: 401000, ff8: 7ffc00000100, 2028: 401005, end 3000");
  EXPECT_EQ(stack.state(), kStackNoMemory);
}

TEST(DeliveredStackTest, PagesThatWereNotReadableAreHoles) {
  DeliveredStack stack;
  StackRecordBuilder record(kSp, kFrom, kFrom + 4 * kPage);
  record.Hole(kFrom, kFrom + 2 * kPage).Hole(kFrom + 2 * kPage, kFrom + 3 * kPage);
  record.Page(kFrom + 3 * kPage).Word(0, 1);
  stack.Take(kTid, record.bytes());
  EXPECT_EQ(Text(stack.Of(kTid, kSp)), "hole, hole, hole, 3000: 1, end 4000");
}

TEST(DeliveredStackTest, RecordsOfOneSampleContinueEachOther) {
  DeliveredStack stack;
  stack.Take(
      kTid,
      StackRecordBuilder(kSp, kFrom, kFrom + kPage, kStackGoesOn).Page(kFrom).Word(1, 1).bytes());
  EXPECT_EQ(stack.Of(kTid, kSp), nullptr);
  stack.Take(kTid, StackRecordBuilder(kSp, kFrom + kPage, kFrom + 2 * kPage)
                       .Page(kFrom + kPage)
                       .Word(1, 2)
                       .bytes());
  EXPECT_EQ(Text(stack.Of(kTid, kSp)), "8: 1, 1008: 2, end 2000");
}

TEST(DeliveredStackTest, TheWordsBelongToOneSampleOnly) {
  DeliveredStack stack;
  stack.Take(kTid, StackRecordBuilder(kSp, kFrom, kFrom + kPage).bytes());
  EXPECT_NE(stack.Of(kTid, kSp), nullptr);
  EXPECT_EQ(stack.Of(kTid + 1, kSp), nullptr);
  EXPECT_EQ(stack.Of(kTid, kSp + 8), nullptr);
  stack.Clear();
  EXPECT_EQ(stack.Of(kTid, kSp), nullptr);
}

// The kernel could not write the record between these two.
TEST(DeliveredStackTest, WithoutARecordInBetweenTheLaterWordsAreOfNoUse) {
  DeliveredStack stack;
  stack.Take(
      kTid,
      StackRecordBuilder(kSp, kFrom, kFrom + kPage, kStackGoesOn).Page(kFrom).Word(1, 1).bytes());
  stack.Take(kTid, StackRecordBuilder(kSp, kFrom + 2 * kPage, kFrom + 3 * kPage)
                       .Page(kFrom + 2 * kPage)
                       .Word(1, 3)
                       .bytes());
  // The words begin only there, far behind the copied bytes.
  EXPECT_EQ(stack.Of(kTid, kSp)->start(), kFrom + 2 * kPage);
}

TEST(DeliveredStackTest, MalformedRecordsHaveNoWords) {
  const auto words_of = [](StackRecordBuilder& record, size_t cut_off = 0) {
    DeliveredStack stack;
    const auto bytes = record.bytes();
    stack.Take(kTid, bytes.first(bytes.size() - cut_off));
    return Text(stack.Of(kTid, kSp));
  };
  const auto record = [] {
    return StackRecordBuilder(kSp, kFrom, kFrom + 2 * kPage).Page(kFrom).Word(1, 1);
  };
  StackRecordBuilder good = record();
  EXPECT_EQ(words_of(good), "8: 1, end 2000");
  EXPECT_EQ(words_of(good, 1), "none") << "fewer words than said";
  EXPECT_EQ(words_of(good, good.bytes().size() - 4), "none") << "no header";
  StackRecordBuilder bad = record();
  bad.header().state = 9;
  EXPECT_EQ(words_of(bad), "none") << "unknown state";
  bad = record();
  bad.header().count = UINT32_MAX;
  EXPECT_EQ(words_of(bad), "none") << "more words than a record holds";
  bad = record();
  bad.Hole(uint64_t{1} << 47, kFrom + kPage);
  EXPECT_EQ(words_of(bad), "none") << "a hole that begins behind its end, and behind the record";
  bad = record();
  bad.header().from += 8;
  EXPECT_EQ(words_of(bad), "none") << "does not begin with a page";
  bad = record();
  bad.header().to = kFrom - kPage;
  EXPECT_EQ(words_of(bad), "none") << "ends before it begins";
  bad = record();
  bad.header().to = UINT64_MAX - kPage + 1;
  EXPECT_EQ(words_of(bad), "none") << "more pages than a stack may have";
  bad = record();
  bad.header().to += 8;
  EXPECT_EQ(words_of(bad), "none") << "ends within a page";
  bad = record().Word(1, 1);
  EXPECT_EQ(words_of(bad), "none") << "a word twice";
  bad = record().Word(0, 1);
  EXPECT_EQ(words_of(bad), "none") << "an earlier word";
  bad = record().Word(512, 1);
  EXPECT_EQ(words_of(bad), "none") << "a word beyond its page";
  bad = record().Page(kFrom + 2 * kPage).Word(0, 1);
  EXPECT_EQ(words_of(bad), "none") << "a page beyond the end";
  bad = record().Page(kFrom - kPage);
  EXPECT_EQ(words_of(bad), "none") << "a page before the start";
  bad = record().Hole(kFrom + kPage, kFrom + 2 * kPage);
  EXPECT_EQ(words_of(bad), "none") << "a hole at the end";
  bad = record().Hole(kFrom, kFrom + kPage);
  EXPECT_EQ(words_of(bad), "none") << "a hole with words";
  bad = record().Entry(uint64_t{kStackHoleEndMark} << kStackWordShift | (kFrom + kPage));
  EXPECT_EQ(words_of(bad), "none") << "a hole without a start";
  bad = StackRecordBuilder(kSp, kFrom, kFrom + kPage).Word(1, 1);
  EXPECT_EQ(words_of(bad), "none") << "a word of no page";
}

// Follows all threads, and notes which.
class FakeFollower final : public StackFollower {
 public:
  bool Follow(uint32_t tid, const FollowedThread& thread) override {
    absl::StrAppend(&log, "follow ", tid, " to ",
                    thread.end == UINT64_MAX ? "any end" : absl::StrCat(absl::Hex(thread.end)),
                    thread.skip == 0 ? "" : absl::StrCat(" without ", thread.skip), "\n");
    return follows;
  }
  void Leave(uint32_t tid) override { absl::StrAppend(&log, "leave ", tid, "\n"); }

  bool follows = true;
  std::string log;
};

class DeepThreadsTest : public ::testing::Test {
 protected:
  DeepThreadsTest() {
    threads_.SetFollower(&follower_);
    space_.Map({RuntimeAddress{0x400000}, 0x1000, {}, {}});
  }

  // Takes a chain that ends at stack pointer `outermost`. If `end` is not 0, words up to there were
  // delivered.
  void Take(ChainEnd chain_end, uint64_t outermost, uint64_t end = 0,
            uint32_t state = kStackNoMemory) {
    symbolize::UnwoundChain chain;
    chain.end = chain_end;
    chain.frames.push_back({RuntimeAddress{0x400010}, outermost});
    stack_.Clear();
    if (end != 0) stack_.Take(kTid, StackRecordBuilder(kSp, kFrom, end, state).bytes());
    const StackWords* const words = stack_.Of(kTid, kSp);
    threads_.Take({.tid = kTid,
                   .time = time_,
                   .chain = chain,
                   .delivered = words == nullptr ? nullptr : &stack_,
                   .words = words,
                   .may_have_rest = may_have_rest_,
                   .copied = copied_,
                   .space = space_});
  }
  std::string Log() { return std::exchange(follower_.log, {}); }

  FakeFollower follower_;
  DeepThreads threads_;
  DeliveredStack stack_;
  symbolize::AddressSpace space_;
  uint64_t time_ = 5'000'000'000;
  bool may_have_rest_ = true;
  uint64_t copied_ = 65000;
};

TEST_F(DeepThreadsTest, AThreadIsFollowedFromItsFirstChainThatIsCut) {
  Take(ChainEnd::kThreadStart, kSp + 100);
  EXPECT_EQ(Log(), "");
  Take(ChainEnd::kStackTooShort, kFrom);
  EXPECT_EQ(Log(), "follow 7 to any end without 56808\n");
  Take(ChainEnd::kStackTooShort, kFrom);
  EXPECT_EQ(Log(), "") << "a sample that was taken before";
  threads_.Ended(kTid);
  threads_.Ended(kTid);
  EXPECT_EQ(Log(), "leave 7\n");
}

TEST_F(DeepThreadsTest, AThreadWhoseStackCannotBeLargerIsNotFollowed) {
  may_have_rest_ = false;
  Take(ChainEnd::kStackTooShort, kFrom);
  Take(ChainEnd::kBadRegister, kFrom);
  EXPECT_EQ(Log(), "");
}

// Other memory may follow the stack.
TEST_F(DeepThreadsTest, NothingIsReadFarBeyondTheOutermostFrame) {
  Take(ChainEnd::kStackTooShort, kFrom);
  EXPECT_EQ(Log(), "follow 7 to any end without 56808\n");
  Take(ChainEnd::kThreadStart, kFrom + 0x2010, kFrom + 0x3000);
  EXPECT_EQ(Log(), "follow 7 to 7ffc00014000 without 56808\n");
  Take(ChainEnd::kThreadStart, kFrom + 0x2010, kFrom + 0x4000, kStackEnd);
  EXPECT_EQ(Log(), "");
  Take(ChainEnd::kThreadStart, kSp, kFrom + 0x4000, kStackEnd);
  EXPECT_EQ(Log(), "follow 7 to 7ffc00002000 without 56808\n") << "a smaller stack of the thread";
}

TEST_F(DeepThreadsTest, TheEndIsSearchedAgainIfTheThreadIsOnAnotherStack) {
  Take(ChainEnd::kStackTooShort, kFrom);
  Take(ChainEnd::kThreadStart, kFrom + 0x2010, kFrom + 0x20000);
  Log();
  Take(ChainEnd::kStackTooShort, kFrom);
  EXPECT_EQ(Log(), "follow 7 to any end without 56808\n");
  Take(ChainEnd::kThreadStart, kFrom + 0x2010, kFrom + 0x20000);
  Log();
  Take(ChainEnd::kStackTooShort, kFrom, kFrom + 0x4000, kStackEnd);
  EXPECT_EQ(Log(), "follow 7 to any end without 56808\n") << "the stack has a higher start";
}

// Large frames leave pages untouched, and the kernel copies nothing behind such a page.
TEST_F(DeepThreadsTest, TheWholeStackIsReadIfTheKernelStoppedEarly) {
  Take(ChainEnd::kStackTooShort, kFrom);
  EXPECT_EQ(Log(), "follow 7 to any end without 56808\n");
  copied_ = 0;
  Take(ChainEnd::kStackTooShort, kFrom, kFrom + kPage);
  EXPECT_EQ(Log(), "follow 7 to any end\n");
  copied_ = 65000;
  Take(ChainEnd::kStackTooShort, kFrom);
  EXPECT_EQ(Log(), "");
}

TEST_F(DeepThreadsTest, NewCodeIsReported) {
  Take(ChainEnd::kStackTooShort, kFrom);
  Log();
  space_.Map({RuntimeAddress{0x500000}, 0x1000, {}, {}});
  Take(ChainEnd::kBadReturnAddress, kFrom, kFrom + kPage);
  EXPECT_EQ(Log(), "follow 7 to any end without 56808\n");
  Take(ChainEnd::kBadReturnAddress, kFrom, kFrom + kPage);
  EXPECT_EQ(Log(), "");
}

class UselessStackTest : public DeepThreadsTest,
                         public ::testing::WithParamInterface<StackRecordState> {};

TEST_P(UselessStackTest, AThreadWhoseStackCannotBeReadToItsStartIsLeftForAWhile) {
  Take(ChainEnd::kStackTooShort, kFrom);
  Take(ChainEnd::kStackTooShort, kFrom, kFrom + kPage, GetParam());
  EXPECT_EQ(Log(), "follow 7 to any end without 56808\nleave 7\n");
  Take(ChainEnd::kStackTooShort, kFrom);
  EXPECT_EQ(Log(), "");
  time_ += 1'000'000'000;
  Take(ChainEnd::kStackTooShort, kFrom);
  EXPECT_EQ(Log(), "follow 7 to any end without 56808\n");
}

INSTANTIATE_TEST_SUITE_P(States, UselessStackTest,
                         ::testing::Values(kStackTooDeep, kStackNoMemory));

TEST_F(DeepThreadsTest, WithoutTheRightItIsTriedNowAndThen) {
  follower_.follows = false;
  Take(ChainEnd::kStackTooShort, kFrom);
  Take(ChainEnd::kStackTooShort, kFrom);
  EXPECT_EQ(Log(), "follow 7 to any end without 56808\n");
  threads_.Ended(kTid);
  EXPECT_EQ(Log(), "");
}

TEST_F(DeepThreadsTest, AThreadWithoutSamplesMakesRoomForOthers) {
  symbolize::UnwoundChain chain;
  chain.end = ChainEnd::kStackTooShort;
  const auto take = [&](uint32_t tid) {
    threads_.Take({.tid = tid,
                   .time = time_,
                   .chain = chain,
                   .may_have_rest = true,
                   .copied = 65000,
                   .space = space_});
    return Log();
  };
  for (uint32_t tid = 1; tid <= 4096; ++tid) take(tid);
  EXPECT_EQ(take(5000), "");
  time_ += 500'000'000;
  for (uint32_t tid = 2; tid <= 4096; ++tid) take(tid);
  time_ += 500'000'000;
  EXPECT_EQ(take(5000), "leave 1\nfollow 5000 to any end without 56808\n");
}

std::string RangesOf(const symbolize::AddressSpace& space) {
  FollowedThread thread{};
  SetCodeRanges(space, &thread);
  const auto text = [](const StackRange& range) {
    return absl::StrCat(absl::Hex(range.start), "+", absl::Hex(range.size), " ");
  };
  std::string ranges = text(thread.all_code) + "=";
  for (const StackRange& range : thread.code) absl::StrAppend(&ranges, " ", text(range));
  return ranges;
}

TEST(SetCodeRangesTest, AProcessWithoutCodeHasNoRange) {
  EXPECT_EQ(RangesOf({}), "0+0 = 0+0  0+0  0+0  0+0 ");
}

TEST(SetCodeRangesTest, RangesLieBetweenTheLargestGaps) {
  symbolize::AddressSpace space;
  for (const uint64_t start : {0x1000, 0x3000, 0x9000, 0xa000, 0xf000, 0x20000}) {
    space.Map({RuntimeAddress{start}, 0x1000, {}, {}});
  }
  space.Map({RuntimeAddress{0xffffffffff600000}, 0x1000, {}, {}});  // [vsyscall]
  EXPECT_EQ(RangesOf(space), "1000+20000 = 1000+3000  9000+2000  f000+1000  20000+1000 ");
}

TEST(SetCodeRangesTest, AMappingToTheEndOfMemoryIsBounded) {
  symbolize::AddressSpace space;
  space.Map({RuntimeAddress{0x1000}, UINT64_MAX - 0x1000, {}, {}});
  EXPECT_EQ(RangesOf(space), "1000+fffffffff000 = 1000+fffffffff000  0+0  0+0  0+0 ");
}

}  // namespace
}  // namespace profiler::record
