#include "symbolize/symbols/demangle.h"

#include <string>

#include "gtest/gtest.h"

namespace profiler::symbolize {
namespace {

TEST(DemangleTest, CxxNamesHaveTheirParameters) {
  EXPECT_EQ(Demangle("_Z3fooi"), "foo(int)");
  EXPECT_EQ(Demangle("_ZNK3foo3barEv"), "foo::bar() const");
  EXPECT_EQ(Demangle("_ZNSt6vectorIiSaIiEE9push_backERKi"),
            "std::vector<int, std::allocator<int> >::push_back(int const&)");
  EXPECT_EQ(Demangle("_ZZN12_GLOBAL__N_15helloEvENKUliE_clEi"),
            "(anonymous namespace)::hello()::{lambda(int)#1}::operator()(int) const");
  EXPECT_EQ(Demangle("_Z6mangleIdiEvT_T0_"), "void mangle<double, int>(double, int)");
}

TEST(DemangleTest, ClonesSayWhichPassMadeThem) {
  EXPECT_EQ(Demangle("_ZN3foo3barEi.isra.0"), "foo::bar(int) [clone .isra.0]");
  EXPECT_EQ(Demangle("_ZN3foo3barEi.constprop.0.isra.0"),
            "foo::bar(int) [clone .constprop.0] [clone .isra.0]");
  EXPECT_EQ(Demangle("_ZN3foo3barEi.cold"), "foo::bar(int) [clone .cold]");
  EXPECT_EQ(Demangle("plain.part.0"), "plain.part.0");
}

TEST(DemangleTest, WhatIsNotMangledStaysAsItIs) {
  for (const char* name : {"", "main", "f", "i", "v", "_", "_Z", "_ZN", "_R", "_D",
                           "_D3foo3barFiZv", "_DYNAMIC", "__libc_start_main", "_ZN3fooE3", "_Zfoo",
                           "_init", "malloc@@GLIBC_2.2.5", "_Rust", "PyEval_EvalFrame"}) {
    EXPECT_EQ(Demangle(name), name);
  }
}

TEST(DemangleTest, LegacyRustNamesLoseTheirHash) {
  EXPECT_EQ(Demangle("_ZN4core5slice4sort17h0123456789abcdefE"), "core::slice::sort");
  EXPECT_EQ(Demangle("_ZN3foo17h05af221e174051e9E"), "foo");
  EXPECT_EQ(Demangle("_ZN43_$LT$app..Error$u20$as$u20$std..Display$GT$3fmt17h00000000000000ffE"),
            "<app::Error as std::Display>::fmt");
  EXPECT_EQ(Demangle("_ZN3app4main28_$u7b$$u7b$closure$u7d$$u7d$17h00000000000000ffE"),
            "app::main::{{closure}}");
  EXPECT_EQ(Demangle("_ZN20$RF$$BP$$LP$a$C$$RP$1f17h00000000000000ffE.llvm.12345"), "&*(a,)::f");
  EXPECT_EQ(Demangle("_ZN7$u10e1$1f17h00000000000000ffE"), "\u10e1::f");
}

TEST(DemangleTest, OnlyARustHashMakesARustName) {
  EXPECT_EQ(Demangle("_ZN3foo3barE"), "foo::bar");
  EXPECT_EQ(Demangle("_ZN3foo17hg5af221e174051e9E"), "foo::hg5af221e174051e9");
  EXPECT_EQ(Demangle("_ZN17h05af221e174051e93fooE"), "h05af221e174051e9::foo");
}

TEST(DemangleTest, RustV0Names) {
  EXPECT_EQ(Demangle("_RNvC6_123foo3bar"), "123foo::bar");
  EXPECT_EQ(Demangle("_RINvNtC3std3mem8align_ofjE"), "std::mem::align_of::<usize>");
  EXPECT_EQ(Demangle("_RNvC9backtrace3foo.llvm.A5310EB9"), "backtrace::foo");
}

TEST(DemangleTest, HostileNamesEnd) {
  const std::string deep = "_Z1f" + std::string(60000, 'P') + "i";
  EXPECT_FALSE(Demangle(deep).empty());
  const std::string nested = "_ZN" + std::string(30000, 'S') + "E";
  EXPECT_EQ(Demangle(nested), nested);
  const std::string templates = "_Z" + std::string(30000, 'I');
  EXPECT_EQ(Demangle(templates), templates);
  const std::string types = "_R" + std::string(30000, 'T');
  EXPECT_EQ(Demangle(types), types);
  EXPECT_EQ(Demangle("_ZN99999999999999999999foo17h05af221e174051e9E"),
            "_ZN99999999999999999999foo17h05af221e174051e9E");
}

}  // namespace
}  // namespace profiler::symbolize
