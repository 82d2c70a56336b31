#include "symbolize/unwind/stack_reader.h"

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

}  // namespace
}  // namespace profiler::symbolize
