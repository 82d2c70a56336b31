#include "src/analysis/unnamed_node.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "src/profile/testing/handmade_profile.h"

namespace profiler::analysis {
namespace {

// The image "jit" has generated code; "?" there stands for code without a name.
class UnnamedNodeTest : public testing::Test {
 protected:
  void Sample(uint32_t pid, const std::vector<std::string>& chain, uint64_t count = 1) {
    builder_.Thread(pid, pid).Sample("program", chain, count);
  }

  // Returns the result, such as "25 %".
  std::string Found() {
    profile::Profile& profile = builder_.profile();
    for (profile::Image& image : profile.images) {
      image.kind = profile.text(image.name) == "jit" ? symbolize::ImageKind::kJit
                                                     : symbolize::ImageKind::kUser;
    }
    for (profile::Frame& frame : profile.frames) {
      const auto lines = profile.LinesOf(frame);
      if (lines.empty() || profile.text(profile[lines.back().symbol].name) != "?") continue;
      frame.unnamed = profile::Unnamed::kNoSymbol;
    }
    const auto found = FindUnnamedNode(profile);
    return found ? std::to_string(static_cast<int>(100 * found->part + 0.5)) + " %" : "none";
  }

  profile::HandmadeProfile builder_;
};

TEST_F(UnnamedNodeTest, IsFoundByItsProgramOrItsLibraryBelowCodeWithoutAName) {
  Sample(1, {"main@node", "Builtins_JSEntry@node", "?@jit"});
  Sample(2, {"main@node", "Start@libnode.so.127", "?@jit", "Builtins_Call@libnode.so.127"});
  Sample(3, {"main@app", "?@jit"}, 2);
  EXPECT_EQ(Found(), "50 %");
}

TEST_F(UnnamedNodeTest, AProcessWhoseFunctionsHaveNamesIsLeftOut) {
  Sample(1, {"main@node", "JS:*work@jit"});
  Sample(1, {"main@node", "?@jit"}, 3);
  EXPECT_EQ(Found(), "none");
}

TEST_F(UnnamedNodeTest, ASmallPartIsNotWorthALine) {
  Sample(1, {"main@node", "collect@node"}, 99);
  Sample(1, {"main@node", "?@jit"});
  EXPECT_EQ(Found(), "none");
}

TEST_F(UnnamedNodeTest, TheMessageNamesTheOption) {
  EXPECT_EQ(MissingText({.part = 0.5}),
            "JavaScript of Node.js took 50.0 %, and its functions have no names");
  EXPECT_NE(RemedyText({}).find("--perf-basic-prof"), std::string::npos);
}

}  // namespace
}  // namespace profiler::analysis
