#include "symbolize/v8/functions.h"

#include <string>

#include "gtest/gtest.h"
#include "symbolize/v8/testing/fake_heap.h"

namespace profiler::symbolize::v8 {
namespace {

class HeapTest : public testing::Test {
 protected:
  std::string Text(Word string) { return heap_.Text(string, 100).value_or("none"); }
  std::string NameOf(Word shared) {
    bool is_new = false;
    const Function* const function = functions_.Find(shared, &is_new);
    return function == nullptr ? "none" : function->name;
  }

  FakeHeap fake_;
  Heap heap_{fake_, fake_.metadata()};
  Functions functions_{heap_};
};

TEST_F(HeapTest, StringsOfAllKindsAreRead) {
  const Word plain = fake_.String("abcdef");
  EXPECT_EQ(Text(plain), "abcdef");
  EXPECT_EQ(Text(fake_.WideString(u"a\u00e9\u20ac\U0001f600")), "a\u00e9\u20ac\U0001f600");
  EXPECT_EQ(Text(fake_.Cons(plain, fake_.String("gh"), 8)), "abcdefgh");
  EXPECT_EQ(Text(fake_.Cons(plain, fake_.String(""), 6)), "abcdef");
  EXPECT_EQ(Text(fake_.Thin(plain, 6)), "abcdef");
  EXPECT_EQ(Text(fake_.Sliced(plain, 2, 3)), "cde");
  const uint64_t characters = FakeHeap::AddressOf(plain) + 16;
  EXPECT_EQ(Text(fake_.External(characters, 4)), "abcd");
}

TEST_F(HeapTest, ControlCharactersAndHalfCharactersAreReplaced) {
  EXPECT_EQ(Text(fake_.String(std::string("a\n\x1b\0b", 5))), "a   b");
  EXPECT_EQ(Text(fake_.WideString(u"x\xd800y")), "x\ufffdy");
}

TEST_F(HeapTest, LongStringsAreCut) {
  EXPECT_EQ(Text(fake_.String(std::string(1000, 'x'))), std::string(100, 'x'));
}

TEST_F(HeapTest, WhatIsNoStringHasNoText) {
  EXPECT_EQ(Text(fake_.Context()), "none");
  EXPECT_EQ(Text(FakeHeap::Small(7)), "none");
  EXPECT_EQ(Text(0xdeadbeef1), "none");
  const Word plain = fake_.String("abc");
  EXPECT_EQ(Text(fake_.Sliced(plain, 2, 3)), "none") << "longer than what it is a part of";
  EXPECT_EQ(Text(fake_.Sliced(plain, -1, 1)), "none");
  EXPECT_EQ(Text(fake_.External(0x1, 4)), "none");
}

TEST_F(HeapTest, StringsThatReferToThemselvesEnd) {
  const Word thin = fake_.Thin(0, 3);
  fake_.Set(thin, 16, thin);
  EXPECT_EQ(Text(thin), "none");
  const Word cons = fake_.Cons(0, 0, 3);
  fake_.Set(cons, 16, cons);
  fake_.Set(cons, 24, cons);
  EXPECT_EQ(Text(cons), "none");
}

TEST_F(HeapTest, AFunctionHasNameScriptLineAndColumn) {
  const Word code = fake_.Bytecode();
  EXPECT_EQ(NameOf(fake_.Shared({}, code)), "f /app.js:1:11");
  const std::string source = "let a;\r\nlet b;\n  function g() {}\n";
  EXPECT_EQ(NameOf(fake_.Shared({.name = "g", .source = source, .start = 27, .end = 32}, code)),
            "g /app.js:3:13");
}

TEST_F(HeapTest, AFunctionWithoutANameHasTheInferredOne) {
  const Word code = fake_.Bytecode();
  EXPECT_EQ(NameOf(fake_.Shared({.name = "", .inferred = "a.b"}, code)), "a.b /app.js:1:11");
  EXPECT_EQ(NameOf(fake_.Shared({.name = "f", .inferred = "a.b"}, code)), "f /app.js:1:11");
  EXPECT_EQ(NameOf(fake_.Shared({.name = ""}, code)), " /app.js:1:11");
}

TEST_F(HeapTest, LocalsAreNoNames) {
  const Word code = fake_.Bytecode();
  EXPECT_EQ(NameOf(fake_.Shared({.locals = 3}, code)), "f /app.js:1:11");
  EXPECT_EQ(NameOf(fake_.Shared({.locals = 74}, code)), "f /app.js:1:11");
  EXPECT_EQ(NameOf(fake_.Shared({.locals = 75}, code)), "f /app.js:1:11");
}

TEST_F(HeapTest, FunctionsOfV8ItselfHaveNoScriptAndNoName) {
  const Word shared = fake_.SharedOf(fake_.String("forEach"), FakeHeap::Small(0), fake_.Bytecode());
  EXPECT_EQ(NameOf(shared), "none");
}

TEST_F(HeapTest, APositionBehindTheEndOfTheSourceIsNone) {
  const Word code = fake_.Bytecode();
  EXPECT_EQ(NameOf(fake_.Shared({.source = "x", .start = 10, .end = 16}, code)), "f /app.js");
}

TEST_F(HeapTest, WhatIsNowAtAnAddressIsNamedAndNotWhatWasThere) {
  const Word code = fake_.Bytecode();
  const Word shared = fake_.Shared({.name = "before"}, code);
  const Word other = fake_.ScopeInfo({.name = "after"});
  EXPECT_EQ(NameOf(shared), "before /app.js:1:11");
  fake_.Set(shared, fake_.metadata().shared_name_or_scope_info, other);
  EXPECT_EQ(NameOf(shared), "after /app.js:1:11");
  fake_.Set(shared, fake_.metadata().object_map, other);
  EXPECT_EQ(NameOf(shared), "none");
}

TEST_F(HeapTest, AScopeOfAsManyLocalsAsThereCannotBeIsNone) {
  const Word scope = fake_.ScopeInfo({});
  fake_.Set(scope, 8 + 2 * 8, FakeHeap::Small(1 << 20));
  const Word script = fake_.Script(fake_.String("/app.js"), fake_.String("x"));
  EXPECT_EQ(NameOf(fake_.SharedOf(scope, script, fake_.Bytecode())), "none");
}

}  // namespace
}  // namespace profiler::symbolize::v8
