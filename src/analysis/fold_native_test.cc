#include "src/analysis/fold_native.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "src/profile/testing/handmade_profile.h"

namespace profiler::analysis {
namespace {

using profile::kNoStack;
using profile::Profile;
using profile::StackId;

// The image "jit" has the code of the language.
class FoldNativeTest : public testing::Test {
 protected:
  FoldNativeTest& Sample(const std::vector<std::string>& chain, uint64_t count = 1) {
    builder_.Sample("python3", chain, count);
    return *this;
  }

  // Returns "main foo: 2\n" for each row, with the interrupted function in parentheses if it is not
  // the leaf of the stack.
  std::string Folded() {
    Profile& profile = builder_.profile();
    for (profile::Image& image : profile.images) {
      const std::string_view name = profile.text(image.name);
      image.kind = symbolize::ImageKind::kUser;
      if (name == "jit") image.kind = symbolize::ImageKind::kJit;
      if (name.starts_with("[k")) image.kind = symbolize::ImageKind::kKernel;
    }
    for (profile::Frame& frame : profile.frames) {
      frame.unnamed =
          frame.line_count == 0 ? profile::Unnamed::kNoSymbol : profile::Unnamed::kNamed;
    }
    FoldNative(profile);
    std::string text;
    for (const profile::Row& row : profile.rows) text += TextOf(row);
    return text;
  }

  profile::Profile& profile() { return builder_.profile(); }

 private:
  std::string NameOf(profile::FrameId id) {
    const auto lines = profile().LinesOf(profile()[id]);
    return lines.empty() ? "?" : std::string(profile().text(profile()[lines.back().symbol].name));
  }

  std::string TextOf(const profile::Row& row) {
    std::string chain;
    uint32_t depth = 0;
    for (StackId id = row.stack; id != kNoStack; id = profile()[id].parent, ++depth) {
      chain = NameOf(profile()[id].frame) + (chain.empty() ? "" : " ") + chain;
    }
    EXPECT_EQ(profile()[row.stack].depth, depth);
    if (profile()[row.stack].frame != row.self) chain += " (" + NameOf(row.self) + ")";
    return chain + ": " + std::to_string(row.count) + "\n";
  }

  profile::HandmadeProfile builder_;
};

TEST_F(FoldNativeTest, TheInterpretersFramesBetweenTwoOfTheLanguageAreLeftOut) {
  Sample({"main@python3.12", "eval@python3.12", "work@jit", "eval@python3.12", "call@python3.12",
          "parse@jit"});
  EXPECT_EQ(Folded(), "main eval work parse: 1\n");
}

TEST_F(FoldNativeTest, TheInterpretersOwnTimeIsThatOfTheInnermostFunctionOfTheLanguage) {
  Sample({"main@node", "work@jit", "parse@jit", "get@node", "lookup@node"}, 3);
  Sample({"main@node", "work@jit", "parse@jit"}, 2);
  EXPECT_EQ(Folded(), "main work parse: 3\nmain work parse: 2\n");
}

TEST_F(FoldNativeTest, LibrariesAndTheKernelStay) {
  Sample({"main@python3.12", "work@jit", "eval@libpython3.12.so.1.0", "malloc@libc.so.6"});
  Sample({"main@python3.12", "work@jit", "eval@python3.12", "dot@_umath.so"});
  Sample({"work@jit", "write@node", "write@libc.so.6", "sys_write@[kernel.kallsyms]"});
  EXPECT_EQ(Folded(),
            "main work malloc: 1\n"
            "main work dot: 1\n"
            "work write sys_write: 1\n");
}

TEST_F(FoldNativeTest, WhatALibraryCallsInTheInterpreterIsTheLibrarysOwn) {
  Sample({"work@jit", "eval@python3.12", "sort@_umath.so", "compare@python3.12"});
  Sample({"work@jit", "eval@python3.12", "sort@_umath.so", "eval@python3.12", "less@jit"});
  EXPECT_EQ(Folded(), "work sort: 1\nwork sort less: 1\n");
}

TEST_F(FoldNativeTest, WithoutAFunctionOfTheLanguageNothingIsFolded) {
  Sample({"main@node", "collect@node"});
  Sample({"main@app", "work@jit", "run@app", "parse@jit"});
  Sample({"main@node", "0x10@jit", "run@node"});
  EXPECT_EQ(Folded(), "main collect: 1\nmain work run parse: 1\nmain ? run: 1\n");
}

TEST_F(FoldNativeTest, AStackThatBeginsElsewhereThanTheSampleIsOfTheLanguageToo) {
  Sample({"work@jit", "parse@jit"});
  Sample({"work@jit", "get@node"});
  profile().rows[0].self = profile().rows[1].self;
  EXPECT_EQ(Folded(), "work parse: 1\nwork: 1\n");
}

}  // namespace
}  // namespace profiler::analysis
