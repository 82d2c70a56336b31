#include "symbolize/v8/leaf_frame.h"

#include <vector>

#include "gtest/gtest.h"

namespace profiler::symbolize::v8 {
namespace {

using Code = std::vector<uint8_t>;

TEST(LeafFrameTest, AFunctionHasNoFrameBeforeItHasSetTheFramePointer) {
  const Code checks = {0x48, 0x8b, 0x59, 0xd0,              // mov rbx, [rcx - 0x30]
                       0xf6, 0x43, 0x37, 0x01,              // test byte [rbx + 0x37], 1
                       0x0f, 0x85, 0x10, 0x00, 0x00, 0x00,  // jnz
                       0x55,                                // push rbp
                       0x48, 0x89, 0xe5,                    // mov rbp, rsp
                       0x56, 0x57};                         // push rsi; push rdi
  EXPECT_FALSE(HasFrame(checks));
  EXPECT_FALSE(HasFrame(std::span(checks).subspan(14))) << "push rbp";
  EXPECT_FALSE(HasFrame(std::span(checks).subspan(15))) << "mov rbp, rsp";
  EXPECT_TRUE(HasFrame(std::span(checks).subspan(18)));
}

TEST(LeafFrameTest, AFunctionHasNoFrameOnceItHasTakenItDown) {
  const Code end = {0x48, 0x8b, 0x4d, 0xe8,  // mov rcx, [rbp - 0x18]
                    0x48, 0x89, 0xec,        // mov rsp, rbp
                    0x5d,                    // pop rbp
                    0x48, 0x83, 0xf9, 0x02,  // cmp rcx, 2
                    0x7f, 0x03,              // jg
                    0xc2, 0x10, 0x00,        // ret 0x10
                    0x41, 0x5a,              // pop r10
                    0x48, 0x8d, 0x24, 0xcc,  // lea rsp, [rsp + rcx * 8]
                    0x41, 0x52,              // push r10
                    0xc3};                   // ret
  EXPECT_TRUE(HasFrame(end));
  EXPECT_TRUE(HasFrame(std::span(end).subspan(7))) << "pop rbp";
  EXPECT_FALSE(HasFrame(std::span(end).subspan(8))) << "cmp";
  EXPECT_FALSE(HasFrame(std::span(end).subspan(17))) << "pop r10";
  EXPECT_FALSE(HasFrame(std::span(end).last(1)));
}

TEST(LeafFrameTest, WhatGoesOnElsewhereIsInTheMiddle) {
  EXPECT_TRUE(HasFrame(Code{0xe8, 0, 0, 0, 0, 0xc3})) << "call";
  EXPECT_TRUE(HasFrame(Code{0xeb, 0x10, 0xc3})) << "jmp";
  EXPECT_TRUE(HasFrame(Code(64, 0x90))) << "nop";
}

TEST(LeafFrameTest, WhatIsNoCodeTellsNothing) {
  EXPECT_FALSE(HasFrame(Code{0x06}));
  EXPECT_FALSE(HasFrame(Code{0xff, 0xff, 0xff}));
}

}  // namespace
}  // namespace profiler::symbolize::v8
