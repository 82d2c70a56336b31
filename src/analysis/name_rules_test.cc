#include "src/analysis/name_rules.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace profiler::analysis {
namespace {

using profile::ImageId;
using profile::kNoSymbol;
using profile::Line;
using profile::Profile;
using profile::SymbolId;

using Cases = std::vector<std::pair<std::string, std::string>>;

void ExpectNames(const NameRules& rules, const Cases& cases) {
  for (const auto& [name, expected] : cases) {
    EXPECT_EQ(SimplifiedName(name, rules), expected) << name;
  }
}

TEST(NameRulesTest, WithoutRulesANameStays) {
  ExpectNames({}, {{"void f<int>(int) [clone .cold]", "void f<int>(int) [clone .cold]"}});
}

TEST(NameRulesTest, TemplateArgumentsAreFolded) {
  ExpectNames(
      {.fold_templates = 0},
      {
          {"std::vector<int, std::allocator<int> >::push_back(int const&)",
           "std::vector<...>::push_back(int const&)"},
          {"f(std::map<int, std::pair<int, char>>)", "f(std::map<...>)"},
          {"bool operator< <int>(A<int> const&, B)", "bool operator< <...>(A<...> const&, B)"},
          {"std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&)",
           "std::ostream& std::operator<< <...>(std::ostream&)"},
          {"A<int>::operator<(A<int> const&) const", "A<...>::operator<(A<...> const&) const"},
          {"A<int>::operator->() const", "A<...>::operator->() const"},
          {"A<int>::operator()(int) const", "A<...>::operator()(int) const"},
          {"A<int>::operator<=>(A<int>)", "A<...>::operator<=>(A<...>)"},
          {"A<int>::operator std::vector<int>()", "A<...>::operator std::vector<...>()"},
          {"f[abi:cxx11]<int>()", "f[abi:cxx11]<...>()"},
          {"g<((1)>(0)), int>(int)", "g<...>(int)"},
          {"g<&(A::f(int)), (anonymous namespace)::X>::h()", "g<...>::h()"},
          {"(anonymous namespace)::f<int>(int)", "(anonymous namespace)::f<...>(int)"},
          {"h()::{lambda(std::vector<int>)#1}::operator()(std::vector<int>) const",
           "h()::{lambda(std::vector<...>)#1}::operator()(std::vector<...>) const"},
          {"core::ptr::drop_in_place<alloc::vec::Vec<u8>>", "core::ptr::drop_in_place<...>"},
          {"<alloc::vec::Vec<u8> as core::ops::Drop>::drop",
           "<alloc::vec::Vec<...> as core::ops::Drop>::drop"},
          {"core::iter::sum::<u32, fn(u8) -> u32>", "core::iter::sum::<...>"},
      });
}

TEST(NameRulesTest, SomeLevelsOfTemplateArgumentsAreKept) {
  ExpectNames({.fold_templates = 1}, {{"std::vector<std::pair<int, X<int> > >::push_back(int)",
                                       "std::vector<std::pair<...> >::push_back(int)"},
                                      {"A<int>::f(B<C<int> >)", "A<int>::f(B<C<...> >)"}});
  ExpectNames({.fold_templates = 2},
              {{"a<b<c<d<int> > > >::f()", "a<b<c<...> > >::f()"}, {"a<int>::f()", "a<int>::f()"}});
}

TEST(NameRulesTest, ArgumentsAreStripped) {
  ExpectNames({.strip_args = true},
              {
                  {"main", "main"},
                  {"f(int)", "f"},
                  {"foo::bar() const", "foo::bar"},
                  {"foo::bar() const &", "foo::bar"},
                  {"void mangle<double, int>(double, int)", "mangle<double, int>"},
                  {"unsigned long a::b<int>(int) const", "a::b<int>"},
                  {"sort(void*, int (*)(void const*, void const*))", "sort"},
                  {"A::operator()(int) const", "A::operator()"},
                  {"bool operator< <int>(A<int>, B)", "operator< <int>"},
                  {"A::operator->()", "A::operator->"},
                  {"A::operator unsigned long() const", "A::operator unsigned long"},
                  {"operator new[](unsigned long)", "operator new[]"},
                  {"(anonymous namespace)::f(int)", "(anonymous namespace)::f"},
                  {"a::(anonymous namespace)::f<int>(int)", "a::(anonymous namespace)::f<int>"},
                  {"(anonymous namespace)::hello()::{lambda(int)#1}::operator()(int) const",
                   "(anonymous namespace)::hello::{lambda(int)#1}::operator()"},
                  {"f(int) const::{lambda()#1}::operator()() const", "f::{lambda()#1}::operator()"},
                  {"void f<g(int)>(char)", "f<g(int)>"},
                  {"decltype(a+b) sum<int>(int)", "sum<int>"},
                  {"guard variable for f(int)::x", "guard variable for f::x"},
                  {"non-virtual thunk to A::f(int)", "non-virtual thunk to A::f"},
                  {"f(int) [clone .cold]", "f [clone .cold]"},
                  {"f(int)@plt", "f@plt"},
                  {"main.(*Server).Serve", "main.(*Server).Serve"},
                  {"<T as core::fmt::Display>::fmt", "<T as core::fmt::Display>::fmt"},
                  {"<fn(u8) as Trait>::f", "<fn(u8) as Trait>::f"},
              });
}

TEST(NameRulesTest, ClonesAreMergedWithWhatTheyWereMadeOf) {
  ExpectNames({.merge_clones = true}, {
                                          {"f(int) [clone .cold]", "f(int)"},
                                          {"helper.__uniq.191183354", "helper"},
                                          {"step.__uniq.12.llvm.977653", "step"},
                                          {"f(int) [clone .part.0] [clone .isra.0]", "f(int)"},
                                          {"parse.isra.0", "parse"},
                                          {"parse.part.0.constprop.1", "parse"},
                                          {"parse.cold", "parse"},
                                          {"parse.llvm.1234567890", "parse"},
                                          {"finish_task_switch.isra.0", "finish_task_switch"},
                                          {"main.main", "main.main"},
                                          {"pkg.f.func1", "pkg.f.func1"},
                                          {"v.1", "v.1"},
                                          {".cold", ".cold"},
                                          {"f[abi:cxx11]", "f[abi:cxx11]"},
                                      });
}

TEST(NameRulesTest, RulesWorkTogether) {
  ExpectNames({.fold_templates = 0, .merge_clones = true, .strip_args = true},
              {{"void a<b<int> >::f<c>(d<int>) const [clone .isra.0]", "a<...>::f<...>"}});
}

TEST(NameRulesTest, WhatMakesNoSenseIsKept) {
  for (const std::string name :
       {"f(int", "f)", "a<b", "a>b", "<", ">", "(", "operator", "operator<", "a<(b>c)", "()", "<>",
        "LazyCompile:*f /a/b.js:1:2", "[unknown]"}) {
    EXPECT_EQ(SimplifiedName(name, {.fold_templates = 5, .strip_args = true}), name);
  }
  // Deeper than recursion could follow.
  const std::string deep = "f" + std::string(100'000, '{') + std::string(100'000, '}');
  EXPECT_EQ(SimplifiedName(deep + "<int>", {.fold_templates = 0}), deep + "<...>");
  EXPECT_EQ(SimplifiedName("f" + std::string(100'000, '<'), {.fold_templates = 0}),
            "f" + std::string(100'000, '<'));
}

TEST(NameRulesTest, SymbolsThatComeToOneNameAreOneWithinTheirImage) {
  Profile profile;
  const auto add = [&](std::string_view name, uint32_t image) {
    profile.symbols.push_back({.name = profile.strings.Intern(name), .image = ImageId{image}});
    profile.lines.push_back({.symbol = SymbolId(profile.symbols.size() - 1)});
  };
  add("f<int>()", 1);
  add("f<char>()", 1);
  add("f<int>()", 2);
  add("g()", 1);
  profile.lines.push_back({});
  SimplifyNames(profile, {.fold_templates = 0});
  std::string text;
  for (const Line& line : profile.lines) {
    if (line.symbol == kNoSymbol) {
      text += "none ";
      continue;
    }
    text += std::string(profile.text(profile[line.symbol].name)) + "#" +
            std::to_string(static_cast<uint32_t>(line.symbol)) + " ";
  }
  EXPECT_EQ(text, "f<...>()#0 f<...>()#0 f<...>()#2 g()#3 none ");
}

}  // namespace
}  // namespace profiler::analysis
