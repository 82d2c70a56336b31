#include "src/record/return_probes.h"

#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/testing/record_builder.h"

namespace profiler::record {
namespace {

using perf_event::RecordBuilder;

constexpr uint64_t kTrampoline = 0x7fffffffe000, kStack = 0x10000;
constexpr uint64_t kStackPointer = uint64_t{1} << 7;

// In these tests, return addresses are small numbers, and a stack consists of the words from kStack
// on.
class ReturnProbesTest : public testing::Test {
 protected:
  ReturnProbesTest() : records_(EntryAttr()) {
    probes_.Begin(0);
    records_.By(7, 7).At(1);
    records_.Mmap2(kTrampoline, 0x1000, 0, "[uprobes]");
    Take();
  }

  static perf_event::Attr EntryAttr() {
    return CompanionOf({},
                       perf_event::SampleAttr(perf_event::kSampleTid | perf_event::kSampleTime));
  }

  void Take() {
    for (const auto record : records_.records()) probes_.Take(record, records_.layout());
    records_.Clear();
  }

  // Returns a sample of the thread at the entry or return of a function. The stack pointer points
  // to word number `at` of the thread's stack, and this word is `word`.
  perf_event::RawRecord SampleAt(uint32_t tid, size_t at, uint64_t word) {
    words_ = {kStack + 8 * at};
    stack_ = {word};
    perf_event::Sample sample{.pid = 7, .tid = tid, .time = time_};
    sample.user_regs = {perf_event::kRegsAbi64, kStackPointer, std::as_bytes(std::span(words_))};
    sample.user_stack = std::as_bytes(std::span(stack_));
    sample.user_stack_size = sizeof(uint64_t);
    records_.Clear();
    records_.Add(perf_event::kRecordSample, perf_event::kMiscUser, sample);
    return records_.last();
  }
  void Enter(size_t at, uint64_t caller, uint32_t tid = 7) {
    probes_.TakeEntry(SampleAt(tid, at, caller), records_.layout());
    records_.Clear();
  }
  void Return(size_t at) {
    probes_.TakeReturn(SampleAt(7, at + 1, 0), records_.layout());
    records_.Clear();
  }

  // Returns a stack as the unwinder sees it. "T" is the trampoline.
  std::string Seen(std::vector<uint64_t> words, uint32_t tid = 7, uint32_t pid = 7) {
    const auto bytes = std::as_bytes(std::span(words));
    const symbolize::StackBytes seen = probes_.PutBack(pid, tid, {kStack, bytes});
    EXPECT_EQ(seen.start, kStack);
    std::string text;
    for (size_t i = 0; i < words.size(); ++i) {
      uint64_t word = 0;
      std::memcpy(&word, seen.bytes.data() + 8 * i, 8);
      absl::StrAppend(&text, i == 0 ? "" : " ", word == kTrampoline ? "T" : absl::StrCat(word));
    }
    return text;
  }

  RecordBuilder records_;
  ReturnProbes probes_;
  uint64_t time_ = 10;
  std::vector<uint64_t> words_, stack_;
};

constexpr uint64_t T = kTrampoline;

TEST_F(ReturnProbesTest, TheCallerIsPutBackWhereTheFunctionWasEntered) {
  Enter(2, 100);
  Enter(1, 200);
  EXPECT_EQ(Seen({1, T, T, 3}), "1 200 100 3");
  EXPECT_EQ(Seen({1, 2, T, 3}), "1 2 100 3") << "the inner one has returned";
}

TEST_F(ReturnProbesTest, TheLastEntryCounts) {
  Enter(1, 100);
  Enter(1, 200);
  EXPECT_EQ(Seen({1, T}), "1 200");
}

TEST_F(ReturnProbesTest, ATrampolineThatNobodySawBeingSetStays) {
  EXPECT_EQ(Seen({T, T}), "T T") << "it was there when recording began";
  Enter(1, 100);
  EXPECT_EQ(Seen({T, T}), "T 100");
  EXPECT_EQ(Seen({T, T}, /*tid=*/8), "T T") << "of another thread";
}

TEST_F(ReturnProbesTest, AnEntryEndsWithItsReturn) {
  Enter(1, 100);
  Return(1);
  EXPECT_EQ(Seen({1, T}), "1 T") << "a probe of somebody else";
}

TEST_F(ReturnProbesTest, AFunctionThatWasJumpedToHasTheCallerOfTheFirst) {
  Enter(1, 100);
  Enter(1, T);
  EXPECT_EQ(Seen({1, T}), "1 100");
}

TEST_F(ReturnProbesTest, NoEntryCountsAfterALoss) {
  for (const bool samples : {false, true}) {
    Enter(1, 100);
    samples ? records_.LostSamples(3) : records_.Lost(3);
    Take();
    EXPECT_EQ(Seen({1, T}), "1 T");
  }
  Enter(1, 200);
  EXPECT_EQ(Seen({1, T}), "1 200");
}

TEST_F(ReturnProbesTest, NoEntryCountsFromBeforeAllEventsWereOpen) {
  probes_.Begin(11);
  Enter(1, 100);
  EXPECT_EQ(Seen({1, T}), "1 T");
  time_ = 11;
  Enter(1, 200);
  EXPECT_EQ(Seen({1, T}), "1 200");
}

TEST_F(ReturnProbesTest, AChildHasTheStackOfItsParent) {
  Enter(1, 100);
  records_.Fork(9, 9);
  Take();
  EXPECT_EQ(Seen({1, T}, 9, 9), "1 100");
  EXPECT_EQ(Seen({1, T}), "1 100");
  records_.By(7, 7).Fork(7, 8);
  Take();
  EXPECT_EQ(Seen({1, T}, 8), "1 T") << "a thread has a stack of its own";
}

TEST_F(ReturnProbesTest, AnotherProgramHasAnotherStack) {
  Enter(1, 100);
  records_.Comm("next", /*exec=*/true);
  records_.Mmap2(kTrampoline, 0x1000, 0, "[uprobes]");
  Take();
  EXPECT_EQ(Seen({1, T}), "1 T");
}

TEST_F(ReturnProbesTest, WordsThatOnlyReachIntoTheCopyAreLeftAlone) {
  Enter(1, 100);
  Enter(3, 200);
  EXPECT_EQ(Seen({1, T}), "1 100");
  EXPECT_EQ(Seen({}), "");
}

}  // namespace
}  // namespace profiler::record
