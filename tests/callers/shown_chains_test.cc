#include "tests/callers/shown_chains.h"

#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace profiler::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

const KnownCalls kCalls(Language::kC,
                        ">main main>alpha main>beta alpha>deep beta>deep deep>deep deep>leaf",
                        "deep", "leaf");

ShownChains Read(const std::string& folded) { return ReadChains(folded, kCalls, 2, ""); }

TEST(ShownChainsTest, ChainsThatBeginWhereTheThreadBeginsAreWhole) {
  const ShownChains shown = Read(
      "p;_start;__libc_start_main;main;alpha;deep;deep;leaf 30\n"
      "p;_start;__libc_start_main;main;beta;deep;deep;leaf 10\n"
      "p;clone3;start_thread;exotic 2\n");
  EXPECT_EQ(shown.whole, 42);
  EXPECT_EQ(shown.all(), 42);
  EXPECT_EQ(shown.alpha, 30);
  EXPECT_EQ(shown.beta, 10);
  EXPECT_THAT(shown.invented, IsEmpty());
  EXPECT_THAT(shown.wrong_depths, IsEmpty());
}

TEST(ShownChainsTest, ChainsWithAMarkAreCutAndTheirOuterCallIsNotJudged) {
  const ShownChains shown = Read("p;[cut: stack too short];deep;deep;leaf 30\n");
  EXPECT_EQ(shown.cut, 30);
  EXPECT_EQ(shown.alpha + shown.beta, 0);
  EXPECT_THAT(shown.invented, IsEmpty());
}

TEST(ShownChainsTest, OwnFunctionsAtTheOuterEndWithoutAMarkAreInvented) {
  const ShownChains shown = Read("p;deep;deep;leaf 30\np;puts;leaf 1\np;puts 2\n");
  EXPECT_EQ(shown.unmarked, 33);
  EXPECT_THAT(shown.invented, ElementsAre(Pair("cut>deep", 30), Pair("cut>leaf", 1)));
}

TEST(ShownChainsTest, CallsThatTheProgramDoesNotMakeAreInvented) {
  const ShownChains shown = Read(
      "p;_start;main;leaf 1\n"
      "p;_start;deep;leaf 2\n"
      "p;[cut: no image];deep;qsort;alpha;deep 4\n"
      "p;_start;main;alpha;deep;beta;deep 8\n");
  EXPECT_THAT(shown.invented,
              ElementsAre(Pair(">deep", 2), Pair("alpha and beta", 8), Pair("deep>alpha", 4),
                          Pair("deep>beta", 8), Pair("main>leaf", 1)));
}

TEST(ShownChainsTest, ALeafIsOnlyCalledAtFullDepth) {
  const ShownChains shown = Read(
      "p;_start;main;alpha;deep;leaf 1\n"
      "p;_start;main;alpha;deep;deep;deep;leaf 2\n"
      "p;_start;main;alpha;deep 4\n"
      "p;[cut: no image];deep;leaf 8\n");
  EXPECT_THAT(shown.wrong_depths, ElementsAre(Pair("depth 1", 1), Pair("depth 3", 2)));
  EXPECT_EQ(shown.examples.at("depth 3"), "_start;main;alpha;deep x3;leaf");
}

TEST(ShownChainsTest, SharesCountChainsToALeafOnly) {
  const std::string folded =
      "p;_start;main;alpha;deep;deep;leaf 3\n"
      "p;_start;main;beta;deep;deep;leaf 1\n"
      "p;_start;main;alpha;deep 8\n"
      "p;_start;main;beta 16\n";
  const ShownChains shown = Read(folded);
  EXPECT_EQ(shown.alpha, 3);
  EXPECT_EQ(shown.beta, 1);
  EXPECT_EQ(shown.whole, 28);
  const KnownCalls without_leaf(Language::kC, ">main main>alpha main>beta", "", "");
  const ShownChains all = ReadChains(folded, without_leaf, 0, "");
  EXPECT_EQ(all.alpha, 11);
  EXPECT_EQ(all.beta, 17);
}

TEST(ShownChainsTest, ChainsOfTheKernelAloneAndOfEndingProcessesAreNeitherWholeNorCut) {
  const ShownChains shown = Read(
      "p;entry_SYSCALL_64_after_hwframe;do_syscall_64;vfs_read 1\n"
      "p;execve;entry_SYSCALL_64_after_hwframe;do_syscall_64;__x64_sys_execve 2\n"
      "p;_start;main;entry_SYSCALL_64_after_hwframe;do_syscall_64;__x64_sys_execve 4\n"
      "p;leaf;asm_sysvec_apic_timer_interrupt;irqentry_exit 8\n");
  EXPECT_EQ(shown.without_stack, 2);
  EXPECT_EQ(shown.whole, 4);
  EXPECT_EQ(shown.unmarked, 8);
  EXPECT_THAT(shown.invented, ElementsAre(Pair("cut>leaf", 8)));
}

TEST(ShownChainsTest, CallsFromAFunctionWithoutANameAreNotJudged) {
  const KnownCalls calls(Language::kJavaScript, ">main main>alpha alpha>deep", "deep", "");
  const auto frame = [](std::string name) { return ";JS:*" + name + " /recursion.js:1:1"; };
  const ShownChains shown =
      ReadChains("node;_start" + frame("main") + ";[perf-1.map]" + frame("deep") + " 1\n" +
                     "node;_start" + frame("main") + ";Builtins" + frame("deep") + " 2\n" +
                     "node;_start;[perf-1.map]" + frame("alpha") + frame("main") + " 4\n",
                 calls, 2, "");
  EXPECT_EQ(shown.unnamed, 5);
  EXPECT_THAT(shown.invented, ElementsAre(Pair("alpha>main", 4), Pair("main>deep", 2)));
}

TEST(ShownChainsTest, ChainsOfOtherProgramsAreKeptApart) {
  const ShownChains shown =
      ReadChains("mine;_start;main 1\nminer;_start;main 2\nother;deep 4\n", kCalls, 2, "mine");
  EXPECT_EQ(shown.whole, 3);
  EXPECT_EQ(shown.others, 4);
  EXPECT_THAT(shown.invented, IsEmpty());
}

TEST(ShownChainsTest, NamesOfOwnFunctionsAreFoundInEachLanguage) {
  const auto name = [](Language language, std::string_view frame) {
    return KnownCalls(language, ">main main>deep >module module>deep Even>Odd Odd>Even", "", "")
        .OwnName(frame);
  };
  EXPECT_EQ(name(Language::kC, "deep"), "deep");
  EXPECT_EQ(name(Language::kC, "deeper"), "");
  EXPECT_EQ(name(Language::kCpp, "deep(int, std::function<void (int)> const&)"), "deep");
  EXPECT_EQ(name(Language::kGo, "main.deep"), "deep");
  EXPECT_EQ(name(Language::kGo, "runtime.main"), "");
  EXPECT_EQ(name(Language::kJava, "void Recursion.deep(int, long)"), "deep");
  EXPECT_EQ(name(Language::kJava, "main"), "");
  EXPECT_EQ(name(Language::kJavaScript, "JS:*deep /tmp/recursion.js:46:14"), "deep");
  EXPECT_EQ(name(Language::kJavaScript, "JS:~ /tmp/recursion.js:1:1"), "module");
  EXPECT_EQ(name(Language::kJavaScript, "JS:~deep node:internal/deep:1:1"), "");
  EXPECT_EQ(name(Language::kRust, "recursion::deep"), "deep");
  EXPECT_EQ(name(Language::kRust, "<recursion::Even as recursion::Step>::descend"), "Even");
  EXPECT_EQ(name(Language::kRust, "main"), "");
}

}  // namespace
}  // namespace profiler::tests
