#include "symbolize/unwind/stack_reader.h"

#include <array>
#include <span>
#include <vector>

#include "symbolize/unwind/testing/fake_space.h"

namespace profiler::symbolize {
namespace {

class StackReaderTest : public StepTest {};

TEST_F(StackReaderTest, ReadsCopiedWordsWithoutTheProcess) {
  StackReader& stack = Stack({1, 2});
  uint64_t word = 0;
  EXPECT_TRUE(stack.ReadStackWord(kStack + 8, &word));
  EXPECT_EQ(word, 2u);
  EXPECT_FALSE(stack.is_late());
}

TEST_F(StackReaderTest, ReadsOtherWordsFromTheProcessAndSaysSo) {
  StackReader& stack = Stack({1, 2});
  memory_->SetMemory(kStack + 16, ByteBuilder().U64(3));
  uint64_t word = 0;
  EXPECT_FALSE(stack.ReadCopiedWord(kStack + 16, &word));
  EXPECT_TRUE(stack.ReadStackWord(kStack + 16, &word));
  EXPECT_EQ(word, 3u);
  EXPECT_TRUE(stack.is_late());
}

TEST_F(StackReaderTest, AWordThatIsOnlyPartlyCopiedIsNotCopied) {
  StackReader& stack = Stack({1, 2});
  uint64_t word = 7;
  EXPECT_FALSE(stack.ReadCopiedWord(kStack + 9, &word));
  EXPECT_FALSE(stack.ReadCopiedWord(kStack - 1, &word));
  EXPECT_EQ(word, 7u);
}

TEST_F(StackReaderTest, TheReasonForTheEndIsThePositionOfTheUnreadableWord) {
  StackReader& stack = Stack({1, 2});
  const auto end_at = [&](uint64_t address, bool is_other_stack) {
    uint64_t word = 0;
    EXPECT_FALSE(stack.ReadStackWord(address, &word));
    return ChainEndName(stack.EndOfUnreadable(is_other_stack));
  };
  EXPECT_EQ(end_at(kStack + 12, false), "stack too short");
  EXPECT_EQ(end_at(kStack + 16, true), "stack too short");
  EXPECT_EQ(end_at(kStack + (uint64_t{1} << 30), false), "bad register");
  EXPECT_EQ(end_at(8, true), "stack switch");
}

TEST_F(StackReaderTest, TheEndOfTheStackIsKnownOnlyIfTheCopyReachesIt) {
  const std::vector<std::byte> bytes(128);
  const StackReader reaches({kStack, bytes, /*reaches_end=*/true}, *memory_, 8);
  EXPECT_TRUE(reaches.EndsBehind(kStack + 64));
  EXPECT_FALSE(reaches.EndsBehind(kStack + 63));
  EXPECT_FALSE(reaches.EndsBehind(kStack + 129));
  const StackReader is_cut({kStack, bytes, /*reaches_end=*/false}, *memory_, 8);
  EXPECT_FALSE(is_cut.EndsBehind(kStack + 64));
}

// The rest of a large stack, behind two copied words: one word of its first page, and no other.
class RestOfStackTest : public StackReaderTest {
 protected:
  static constexpr uint64_t kWords = kStack + 16;

  RestOfStackTest() {
    rest_.Begin(kStack);
    EXPECT_TRUE(rest_.Add(kStack, 9));
    EXPECT_TRUE(rest_.Add(kWords, 3));
    EXPECT_TRUE(rest_.SetEnd(kStack + 2 * StackWords::kPage));
  }

  StackReader Reader(uint64_t word = 8) {
    return {{kStack, std::as_bytes(std::span(copied_)), false, &rest_}, *memory_, word};
  }

  std::vector<uint64_t> copied_ = {1, 2};
  StackWords rest_;
};

TEST_F(RestOfStackTest, CopiedBytesComeFirst) {
  StackReader stack = Reader();
  uint64_t word = 0;
  EXPECT_TRUE(stack.ReadStackWord(kStack, &word));
  EXPECT_EQ(word, 1u);
}

TEST_F(RestOfStackTest, WordsOfTheRestCountAsCopied) {
  StackReader stack = Reader();
  uint64_t word = 0;
  EXPECT_TRUE(stack.ReadCopiedWord(kWords, &word));
  EXPECT_EQ(word, 3u);
  EXPECT_TRUE(stack.ReadStackWord(kWords, &word));
  EXPECT_FALSE(stack.is_late());
}

TEST_F(RestOfStackTest, AWordThatWasLeftOutIsNoAddress) {
  StackReader stack = Reader();
  memory_->SetMemory(kWords + 8, ByteBuilder().U64(4));
  uint64_t word = 0;
  EXPECT_TRUE(stack.ReadStackWord(kWords + 8, &word));
  EXPECT_EQ(word, kNotAnAddress);
  std::array<uint64_t, 2> both{};
  EXPECT_TRUE(stack.ReadBytes(kWords, std::as_writable_bytes(std::span(both))));
  EXPECT_EQ(both, (std::array<uint64_t, 2>{3, kNotAnAddress}));
}

TEST_F(RestOfStackTest, ReadersOfOtherValuesDoNotGetIt) {
  StackReader stack = Reader();
  stack.RequireExactWords(true);
  uint64_t word = 0;
  EXPECT_TRUE(stack.ReadStackWord(kWords, &word));
  EXPECT_FALSE(stack.ReadStackWord(kWords + 8, &word));
  std::array<std::byte, 4> half{};
  EXPECT_FALSE(stack.ReadBytes(kWords, half));
}

TEST_F(RestOfStackTest, TheStackEndsWithTheRest) {
  StackReader stack = Reader();
  uint64_t word = 0;
  EXPECT_EQ(stack.end(), kStack + 2 * StackWords::kPage);
  EXPECT_TRUE(stack.ReadStackWord(stack.end() - 8, &word));
  EXPECT_FALSE(stack.ReadStackWord(stack.end(), &word));
  EXPECT_EQ(ChainEndName(stack.EndOfUnreadable(false)), "stack too short");
  EXPECT_FALSE(stack.ReadStackWord(kWords + 4, &word));
}

TEST_F(RestOfStackTest, WordsBehindAGapAreNotUsed) {
  rest_.Begin(kStack + StackWords::kPage);
  EXPECT_TRUE(rest_.SetEnd(kStack + 2 * StackWords::kPage));
  StackReader stack = Reader();
  EXPECT_EQ(stack.end(), kStack + 16);
  uint64_t word = 0;
  EXPECT_FALSE(stack.ReadStackWord(kStack + StackWords::kPage, &word));
}

TEST_F(RestOfStackTest, NothingIsKnownAboutPagesThatWereNotInMemory) {
  constexpr uint64_t kHole = kStack + 2 * StackWords::kPage;
  EXPECT_TRUE(rest_.AddHole(kHole, kHole + StackWords::kPage));
  EXPECT_TRUE(rest_.Add(kHole + StackWords::kPage, 5));
  EXPECT_TRUE(rest_.SetEnd(kHole + 2 * StackWords::kPage));
  StackReader stack = Reader();
  uint64_t word = 0;
  EXPECT_TRUE(stack.ReadStackWord(kHole - 8, &word));
  EXPECT_FALSE(stack.ReadStackWord(kHole, &word));
  EXPECT_EQ(ChainEndName(stack.EndOfUnreadable(false)), "stack too short");
  EXPECT_TRUE(stack.ReadStackWord(kHole + StackWords::kPage, &word));
  EXPECT_EQ(word, 5u);
}

TEST_F(RestOfStackTest, ProgramsWithSmallerWordsHaveNone) {
  EXPECT_EQ(Reader(/*word=*/4).end(), kStack + 16);
}

}  // namespace
}  // namespace profiler::symbolize
