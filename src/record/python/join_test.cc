#include "src/record/python/join.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "symbolize/unwind/arch/architecture.h"

namespace profiler::record::python {
namespace {

using symbolize::ChainEnd;

constexpr uint64_t kUnknown = 1;
// C frames are 0x100 bytes apart: the stack pointer of frame i is kStack + i * 0x100.
constexpr uint64_t kStack = 0x7000, kFrameBytes = 0x100;
constexpr uint64_t kLoopBegin = 0x5000, kLoopEnd = 0x6000, kHead = 0x9000;

class FakeLoops final : public Loops {
 public:
  bool HasLoop(RuntimeAddress address) const override {
    return address.value >= kLoopBegin && address.value < kLoopEnd;
  }
  bool IsAtEntry(RuntimeAddress address) const override {
    return address.value >= kLoopBegin && address.value < kLoopBegin + 0x100;
  }
  bool AllKnown() const override { return all_known; }
  bool IsInImage(RuntimeAddress address) const override {
    return address.value >= 0x4000 && address.value < 0x7000;
  }

  bool all_known = true;
};

// Words stand for frames. C frames: "loop" (the evaluation loop), "entry" (its beginning), "cold" (a
// part of it without symbols), others. Python frames: any word; "|" ends a run.
class JoinTest : public ::testing::Test {
 protected:
  // Sets the C stack, leaf first.
  void SetChain(const std::string& words, ChainEnd end = ChainEnd::kThreadStart) {
    chain_.frames.clear();
    chain_.end = end;
    std::istringstream in(words);
    for (std::string word; in >> word;) {
      const size_t i = chain_.frames.size();
      uint64_t address = 0x1000 + 16 * i;
      if (word == "loop") address = kLoopBegin + 0x800 + 16 * i;
      if (word == "entry") address = kLoopBegin + 8;
      if (word == "cold") address = 0x4800 + 16 * i;
      names_[address] = word;
      chain_.frames.push_back({.address = {address}, .stack_pointer = kStack + i * kFrameBytes});
    }
  }

  // Sets the Python frames, the newest first. With places, run r is in the C frame `frames[r]`.
  void SetPython(const std::string& words, const std::vector<size_t>& frames = {}) {
    stack_.Clear();
    stack_.head = kHead;
    stack_.has_places = !frames.empty();
    size_t begin = 0;
    const auto end_run = [&](bool is_whole) {
      std::optional<uint64_t> place;
      if (is_whole && stack_.has_places) {
        place = kStack + frames.at(stack_.runs.size()) * kFrameBytes + 0x20;
      }
      stack_.runs.push_back({begin, stack_.frames.size(), place, is_whole});
      begin = stack_.frames.size();
    };
    std::istringstream in(words);
    for (std::string word; in >> word;) {
      if (word == "|") {
        end_run(true);
        continue;
      }
      const uint64_t address = 0x100000 + 16 * names_.size();
      names_[address] = word;
      stack_.frames.push_back(address);
    }
    if (begin != stack_.frames.size()) end_run(false);
  }

  void SetRegisterOfHead() { registers_.Set(3, kHead); }

  std::string Joined(const Stack* stack) {
    std::vector<uint64_t> out;
    const auto joined = Join(chain_, registers_, loops_, stack, kUnknown, &out);
    names_[kUnknown] = "?";
    std::string text = absl::StrJoin(out, " ", [this](std::string* to, uint64_t address) {
      absl::StrAppend(to, names_.at(address));
    });
    const char* const qualities[] = {"none", "whole", "partly", "unknown"};
    return absl::StrCat(text, ": ", qualities[static_cast<int>(joined.quality)],
                        joined.is_leaf_python ? ", leaf" : "");
  }
  std::string Joined() { return Joined(&stack_); }

  symbolize::UnwoundChain chain_;
  symbolize::RegisterSet registers_{symbolize::kNativeArchitecture};
  FakeLoops loops_;
  Stack stack_;
  std::map<uint64_t, std::string> names_;
};

TEST_F(JoinTest, EachLoopIsReplacedByTheFramesThatItRuns) {
  SetChain("memmove loop list_sort loop main");
  SetPython("key | sort_all run module |");
  EXPECT_EQ(Joined(), "memmove key list_sort sort_all run module main: whole");
}

TEST_F(JoinTest, AtTheLeafTheNewestFrameReplacesTheLoop) {
  SetChain("loop main");
  SetPython("f module |");
  EXPECT_EQ(Joined(), "f module main: whole, leaf");
}

TEST_F(JoinTest, PlacesOnTheStackSayWhichLoopRunsARun) {
  SetChain("memmove loop list_sort loop main");
  SetPython("key | run |", {1, 3});
  EXPECT_EQ(Joined(), "memmove key list_sort run main: whole");
}

TEST_F(JoinTest, ALoopAtTheLeafWithoutAFrameStaysAsItIs) {
  SetChain("entry call loop main");
  SetPython("run |", {2});
  EXPECT_EQ(Joined(), "entry call run main: whole");
  SetPython("run |");
  EXPECT_EQ(Joined(), "entry call run main: whole");
}

TEST_F(JoinTest, ALoopInsideWithoutAFrameBecomesAMark) {
  SetChain("memmove loop list_sort loop main loop start");
  SetPython("key | run |", {1, 5});
  EXPECT_EQ(Joined(), "memmove key list_sort ? main run start: partly");
}

TEST_F(JoinTest, TheInnermostLoopMayHaveEndedWhileItsCFrameChecksTheResult) {
  SetChain("check_result loop list_sort loop main");
  SetPython("run |", {3});
  EXPECT_EQ(Joined(), "check_result loop list_sort run main: whole");
  SetPython("run |");
  EXPECT_EQ(Joined(), "check_result loop list_sort run main: whole");
}

TEST_F(JoinTest, IfTheNumbersDisagreeNoFrameIsShown) {
  SetChain("memmove loop loop loop main");
  SetPython("run |");
  EXPECT_EQ(Joined(), "memmove ? ? ? main: unknown");
  SetChain("memmove loop list_sort loop main");
  SetPython("a | b | c |");
  EXPECT_EQ(Joined(), "memmove ? list_sort ? main: unknown");
}

TEST_F(JoinTest, APlaceInAFrameThatIsNoLoopIsRefused) {
  SetChain("memmove loop list_sort loop main");
  SetPython("key | run |", {1, 2});
  EXPECT_EQ(Joined(), "memmove key list_sort ? main: partly");
}

TEST_F(JoinTest, APlaceProvesAPartOfTheLoopWithoutSymbols) {
  SetChain("memmove cold main");
  loops_.all_known = false;
  SetPython("run |", {1});
  EXPECT_EQ(Joined(), "memmove run main: whole");
  loops_.all_known = true;
  EXPECT_EQ(Joined(), "memmove cold main: none");
}

TEST_F(JoinTest, IfPartsOfTheLoopMayBeUnknownRunsAreNotCounted) {
  SetChain("memmove loop main");
  loops_.all_known = false;
  SetPython("run |");
  EXPECT_EQ(Joined(), "memmove ? main: unknown");
}

TEST_F(JoinTest, IfTheCStackIsCutTheOuterFramesFollow) {
  SetChain("memmove loop list_sort", ChainEnd::kStackTooShort);
  SetPython("key | run module |", {1, 7});
  EXPECT_EQ(Joined(), "memmove key list_sort run module: whole");
  SetPython("key | run module |");
  EXPECT_EQ(Joined(), "memmove key list_sort run module: whole");
}

TEST_F(JoinTest, IfTheCStackIsCutBeforeTheFirstLoopAllFramesFollow) {
  SetChain("memmove list_sort", ChainEnd::kStackTooShort);
  SetPython("key | run |", {4, 6});
  EXPECT_EQ(Joined(), "memmove list_sort key run: whole");
}

TEST_F(JoinTest, IfTheCStackIsCutARegisterShowsThatTheLoopAtTheLeafHasItsFrame) {
  SetChain("loop list_sort", ChainEnd::kStackTooShort);
  SetPython("key | run |");
  EXPECT_EQ(Joined(), "loop list_sort: none");
  SetRegisterOfHead();
  EXPECT_EQ(Joined(), "key list_sort run: whole, leaf");
}

TEST_F(JoinTest, AWalkThatWasCutEndsWithAMark) {
  SetChain("memmove loop list_sort loop main");
  SetPython("key | run", {1});
  EXPECT_EQ(Joined(), "memmove key list_sort run ? main: partly");
}

TEST_F(JoinTest, ARemnantOfAnEarlierCallIsNotShown) {
  SetChain("entry list_sort loop main");
  SetPython("old | run |", {0, 2});
  stack_.may_be_remnant = true;
  EXPECT_EQ(Joined(), "entry list_sort run main: whole");
  SetPython("run |", {2});
  stack_.may_be_remnant = true;
  EXPECT_EQ(Joined(), "entry list_sort run main: whole");
  SetPython("old | run |", {0, 2});
  stack_.may_be_remnant = true;
  SetRegisterOfHead();
  EXPECT_EQ(Joined(), "old list_sort run main: whole, leaf");
}

TEST_F(JoinTest, WithoutAWalkEachCallerIsUnknown) {
  SetChain("memmove loop list_sort loop main");
  EXPECT_EQ(Joined(nullptr), "memmove ? list_sort ? main: unknown");
}

TEST_F(JoinTest, AStackWithoutALoopIsUnchanged) {
  SetChain("memmove main");
  SetPython("");
  EXPECT_EQ(Joined(), "memmove main: none");
}

TEST_F(JoinTest, ALoopWithoutFramesToShowStaysAsItIs) {
  SetChain("memmove loop list_sort loop main");
  SetPython("| run |", {1, 3});
  EXPECT_EQ(Joined(), "memmove loop list_sort run main: whole");
}

}  // namespace
}  // namespace profiler::record::python
