#include "symbolize/symbols/jit_dump.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/base/byte_reader.h"
#include "symbolize/symbols/jit_dump_writer.h"
#include "symbolize/symbols/testing/jit_dump_builder.h"

namespace profiler::symbolize {
namespace {

using testing::HasSubstr;

JitDump Parsed(std::string_view bytes) {
  absl::StatusOr<JitDump> dump = JitDump::Parse(BytesOfText(bytes));
  EXPECT_TRUE(dump.ok()) << dump.status();
  return dump.ok() ? *std::move(dump) : JitDump();
}

// Returns name and line of the code at `offset`.
std::string NameAt(const JitDump& dump, uint64_t offset) {
  const JitDump::Function* function = dump.Find(FileOffset{offset});
  if (function == nullptr) return "-";
  const uint64_t distance = offset - function->offset.value;
  const JitDump::Line* line = JitDump::LineAt(*function, distance);
  std::string text = absl::StrCat(std::string(function->name), "+", distance);
  if (line != nullptr) absl::StrAppend(&text, " ", std::string(line->file), ":", line->line);
  return text;
}

// Formats all code as "time address+size name", one per line.
std::string CodesOf(const JitDump& dump) {
  return absl::StrJoin(dump.codes(), "\n", [&](std::string* out, const JitCode& code) {
    absl::StrAppend(out, code.time, " ", absl::Hex(code.start.value), "+", code.size, " ",
                    NameAt(dump, code.offset.value));
  });
}

TEST(JitDumpTest, CodeThatIsLoadedWhereOtherCodeWasHasAPlaceOfItsOwn) {
  const std::string bytes = JitDumpBuilder()
                                .Load(10, 0x1000, 1, "first", "abcd")
                                .Load(20, 0x1000, 2, "second", "xyz")
                                .bytes();
  const JitDump dump = Parsed(bytes);
  EXPECT_EQ(CodesOf(dump), "10 1000+4 first+0\n20 1000+3 second+0");
  EXPECT_EQ(bytes.substr(dump.codes()[1].offset.value, 3), "xyz");
  EXPECT_EQ(TextOf(dump.Find(dump.codes()[1].offset)->code), "xyz");
  EXPECT_EQ(dump.machine(), 62);
  EXPECT_EQ(NameAt(dump, dump.codes()[0].offset.value + 3), "first+3");
  EXPECT_EQ(NameAt(dump, dump.codes()[0].offset.value + 4), "-");
}

// A process in a time namespace has its own CLOCK_MONOTONIC.
TEST(JitDumpTest, TimesOfAnotherClockBecomeThoseOfTheRecording) {
  constexpr uint64_t kSecond = 1'000'000'000;
  const auto codes_of = [](uint64_t began, uint64_t mapped_at) {
    const std::string bytes =
        JitDumpBuilder().Began(began).Load(began + 5, 0x1000, 1, "first", "abcd").bytes();
    JitDump dump = Parsed(bytes);
    dump.AdjustTimes(mapped_at);
    return CodesOf(dump);
  };
  const uint64_t mapped = 500 * kSecond;
  EXPECT_EQ(codes_of(mapped - 1, mapped), absl::StrCat(mapped + 4, " 1000+4 first+0"));
  EXPECT_EQ(codes_of(86900 * kSecond, mapped), absl::StrCat(mapped + 5, " 1000+4 first+0"));
  EXPECT_EQ(codes_of(400 * kSecond, mapped), absl::StrCat(mapped + 5, " 1000+4 first+0"));
  EXPECT_EQ(codes_of(400 * kSecond, 0), absl::StrCat(400 * kSecond + 5, " 1000+4 first+0"));
  const std::string of_day =
      JitDumpBuilder().Began(1'795'735 * kSecond).Load(mapped + 7, 0x1000, 1, "f", "abcd").bytes();
  JitDump dump = Parsed(of_day);
  dump.AdjustTimes(mapped);
  EXPECT_EQ(CodesOf(dump), absl::StrCat(mapped + 7, " 1000+4 f+0")) << "as V8 writes it";
  EXPECT_EQ(codes_of(400 * kSecond, 0), absl::StrCat(400 * kSecond + 5, " 1000+4 first+0"));
}

TEST(JitDumpTest, OfADumpWithoutEndTheBeginningIsRead) {
  const std::string bytes = JitDumpBuilder()
                                .Load(10, 0x1000, 1, "first", "abcd")
                                .Lines(0x3000, {{0x3000, 3, "a.js"}, {0x3001, 5, "a.js"}})
                                .Load(11, 0x3000, 2, "second", "ab")
                                .bytes();
  const auto parsed = [&](const JitDump::Limits& limits) {
    const JitDump dump = *JitDump::Parse(BytesOfText(bytes), limits);
    return CodesOf(dump) + (dump.is_cut() ? " cut" : "");
  };
  EXPECT_EQ(parsed({.codes = 2, .lines = 2}), "10 1000+4 first+0\n11 3000+2 second+0 a.js:3");
  EXPECT_EQ(parsed({.codes = 1, .lines = 2}), "10 1000+4 first+0 cut");
  EXPECT_EQ(parsed({.codes = 2, .lines = 1}), "10 1000+4 first+0 cut");
}

TEST(JitDumpTest, CodeThatIsMovedKeepsItsPlace) {
  const std::string bytes = JitDumpBuilder()
                                .Load(10, 0x1000, 1, "first", "abcd")
                                .Load(11, 0x3000, 2, "second", "ab")
                                .Move(30, 0x2000, 4, 1)
                                .Move(31, 0x9000, 4, 77)  // was never loaded
                                .bytes();
  EXPECT_EQ(CodesOf(Parsed(bytes)), "10 1000+4 first+0\n11 3000+2 second+0\n30 2000+4 first+0");
}

TEST(JitDumpTest, CodesAreInTheOrderOfTheirTimes) {
  const std::string bytes =
      JitDumpBuilder().Load(20, 0x1000, 1, "late", "a").Load(10, 0x2000, 2, "early", "b").bytes();
  EXPECT_EQ(CodesOf(Parsed(bytes)), "10 2000+1 early+0\n20 1000+1 late+0");
}

TEST(JitDumpTest, LinesAreThoseOfTheNextCode) {
  const std::string bytes = JitDumpBuilder()
                                .Load(9, 0x500, 1, "bare", "abcdefgh")
                                .Lines(0x1000, {{0x1000, 3, "a.js"}, {0x1004, 5, "\xff"}})
                                .Load(10, 0x1000, 2, "lined", "abcdefgh")
                                .bytes();
  const JitDump dump = Parsed(bytes);
  const uint64_t offset = dump.codes()[1].offset.value;
  EXPECT_EQ(NameAt(dump, offset), "lined+0 a.js:3");
  EXPECT_EQ(NameAt(dump, offset + 3), "lined+3 a.js:3");
  EXPECT_EQ(NameAt(dump, offset + 7), "lined+7 a.js:5");
  EXPECT_EQ(NameAt(dump, dump.codes()[0].offset.value + 1), "bare+1");
}

TEST(JitDumpTest, LinesThatCountAnElfHeaderAreTakenBackByIt) {
  const std::string bytes = JitDumpBuilder()
                                .Lines(0x1000, {{0x1040, 3, "a.js"}, {0x1044, 5, "a.js"}})
                                .Load(10, 0x1000, 1, "lined", "abcdefgh")
                                .bytes();
  const JitDump dump = Parsed(bytes);
  EXPECT_EQ(NameAt(dump, dump.codes()[0].offset.value + 2), "lined+2 a.js:3");
  EXPECT_EQ(NameAt(dump, dump.codes()[0].offset.value + 4), "lined+4 a.js:5");
}

TEST(JitDumpTest, LinesThatAreNotAllOfTheFunctionAreNotBelieved) {
  // node 20 writes names from freed memory like this.
  const std::string freed("\x99\xdb\x8a\xfa\7\0\0\0\x90\x2c\xa8\x7f\xad\4", 14);
  const std::string bytes = JitDumpBuilder()
                                .Lines(0x1000, {{0x1040, 2, freed}, {0x1042, 3, freed}})
                                .Load(10, 0x1000, 1, "freed", "abcdefgh")
                                .Lines(0x2000, {{0x2040, 3, "a.js"}})
                                .Load(20, 0x2000, 2, "lined", "abcdefgh")
                                .bytes();
  const JitDump dump = Parsed(bytes);
  EXPECT_EQ(NameAt(dump, dump.codes()[0].offset.value), "freed+0");
  EXPECT_EQ(NameAt(dump, dump.codes()[1].offset.value), "lined+0 a.js:3");
}

TEST(JitDumpTest, IsReadAsFarAsItIsWhole) {
  const std::string bytes = JitDumpBuilder()
                                .Lines(0x1000, {{0x1000, 3, "a.js"}})
                                .Load(10, 0x1000, 1, "first", "abcd")
                                .Move(15, 0x2000, 4, 1)
                                .Load(20, 0x3000, 2, "second", "xyz")
                                .bytes();
  size_t most = 0;
  for (size_t size = 40; size <= bytes.size(); ++size) {
    const JitDump dump = Parsed(std::string_view(bytes).substr(0, size));
    EXPECT_GE(dump.codes().size(), most);
    most = dump.codes().size();
  }
  EXPECT_EQ(most, 3u);
}

TEST(JitDumpTest, SizesThatAreNotThereAreNotBelieved) {
  JitDumpBuilder huge;
  huge.Load(10, 0x1000, 1, "good", "abcd");
  std::string body(40, '\0');
  body[24] = '\x7f';  // 127 bytes of code, but none follow
  huge.Record(0, 11, body + "short" + '\0');
  huge.Record(2, 12, std::string(16, '\xff'));  // 2^64 lines
  huge.Load(13, ~uint64_t{0} - 1, 3, "around the end", "abcd");
  huge.Load(14, 0x2000, 4, "good too", "ab");
  EXPECT_EQ(CodesOf(Parsed(huge.bytes())), "10 1000+4 good+0\n14 2000+2 good too+0");
}

TEST(JitDumpTest, SaysWhyAFileIsOfNoUse) {
  const auto error_of = [](const std::string& bytes) {
    return std::string(JitDump::Parse(BytesOfText(bytes)).status().message());
  };
  EXPECT_THAT(error_of(""), HasSubstr("is no jitdump file"));
  EXPECT_THAT(error_of(JitDumpBuilder().bytes().substr(0, 39)), HasSubstr("no whole header"));
  EXPECT_THAT(error_of(JitDumpBuilder(0x4454694a).bytes()), HasSubstr("other byte order"));
  EXPECT_THAT(error_of(JitDumpBuilder(0x4a695444, 1).bytes()), HasSubstr("the processor's clock"));
}

// Returns the calls at a distance, innermost first.
std::string CallsAt(const JitDump& dump, uint64_t distance) {
  const JitDump::Function& function = *dump.Find(dump.codes().front().offset);
  const JitDump::Place* const place = JitDump::PlaceAt(function, distance);
  if (place == nullptr) return "none";
  std::string text;
  uint32_t line = place->line;
  for (uint32_t at = place->call; at != JitDump::kNone; at = function.calls[at].caller) {
    absl::StrAppend(&text, std::string(function.calls[at].name), " ",
                    std::string(function.calls[at].file), ":", line, " ");
    line = function.calls[at].line;
  }
  return absl::StrCat(text, std::string(function.name), " ", std::string(function.file), ":", line);
}

class WrittenDump : public testing::Test {
 protected:
  std::string Written() const {
    std::string bytes = JitDumpHeader(62, 7, 1);
    AppendLoad(code_, 7, 10, 1, &bytes);
    return bytes;
  }

  const std::string code_bytes_ = "abcdefgh";
  std::vector<JitDump::Call> calls_ = {{JitDump::kNone, 12, "middle", "b.java"},
                                       {0, 23, "inner", "c.java"}};
  std::vector<JitDump::Place> places_ = {{2, JitDump::kNone, 11}, {4, 1, 34}, {6, 0, 24}};
  const VmCode code_ = {.start = {0x1000},
                        .bytes = BytesOfText(code_bytes_),
                        .name = "outer",
                        .file = "a.java",
                        .calls = calls_,
                        .places = places_};
};

TEST_F(WrittenDump, HasTheCodeAndWhatWasInlined) {
  const std::string bytes = Written();
  const JitDump dump = Parsed(bytes);
  EXPECT_EQ(CodesOf(dump), "10 1000+8 outer+0");
  EXPECT_EQ(TextOf(dump.Find(dump.codes()[0].offset)->code), code_bytes_);
  EXPECT_EQ(CallsAt(dump, 0), "none");
  EXPECT_EQ(CallsAt(dump, 3), "outer a.java:11");
  EXPECT_EQ(CallsAt(dump, 5), "inner c.java:34 middle b.java:23 outer a.java:12");
  EXPECT_EQ(CallsAt(dump, 7), "middle b.java:24 outer a.java:12");
}

TEST_F(WrittenDump, SaysThatCodeIsThereAgain) {
  std::string bytes = Written();
  AppendReturn(code_, 7, 20, 1, &bytes);
  EXPECT_EQ(CodesOf(Parsed(bytes)), "10 1000+8 outer+0\n20 1000+8 outer+0");
}

TEST_F(WrittenDump, CallsAndPlacesThatMakeNoSenseAreNotBelieved) {
  const auto expect_none = [&] {
    const std::string bytes = Written();
    const JitDump dump = Parsed(bytes);
    EXPECT_EQ(CodesOf(dump), "10 1000+8 outer+0");
    EXPECT_EQ(CallsAt(dump, 5), "none");
  };
  calls_[1].caller = 1;  // itself
  expect_none();
  calls_[1].caller = 0;
  places_[1].call = 2;  // does not exist
  expect_none();
  places_[1].call = 1;
  places_[1].distance = 1;  // less than the previous one
  expect_none();
}

TEST_F(WrittenDump, IsReadAsFarAsItIsWhole) {
  const std::string bytes = Written();
  for (size_t size = 40; size < bytes.size(); ++size) {
    EXPECT_EQ(CodesOf(Parsed(std::string_view(bytes).substr(0, size))), "");
  }
}

}  // namespace
}  // namespace profiler::symbolize
