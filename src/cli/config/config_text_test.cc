#include "src/cli/config/config_text.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace profiler::config {
namespace {

// Returns a line "LINE KEY=[VALUE]" for each setting, or the error.
std::string Read(const std::string& text) {
  const auto settings = ParseConfig(text);
  if (!settings.ok()) return std::string(settings.status().message());
  std::string result;
  for (const Setting& setting : *settings) {
    absl::StrAppend(&result, setting.line, " ", setting.key, "=[", setting.value, "]\n");
  }
  return result;
}

TEST(ConfigText, HasSectionsKeysAndComments) {
  EXPECT_EQ(Read("# first\n"
                 "[report]\n"
                 "\tchildren = false\n"
                 "  sort_order=dso,symbol ; last\n"
                 "\n"
                 "[Call-Graph] Record-Mode = dwarf # on the line of the section\n"),
            "3 report.children=[false]\n"
            "4 report.sort_order=[dso,symbol]\n"
            "6 call-graph.record-mode=[dwarf]\n");
}

TEST(ConfigText, HasSubsectionsInCapitalsAndSmallLetters) {
  EXPECT_EQ(Read("[a \"B \\\"c\\\"\"]\nD = 1\n"), "2 a.B \"c\".d=[1]\n");
}

TEST(ConfigText, KeepsBlanksAndMarksInQuotes) {
  EXPECT_EQ(Read("[a]\nb = \" x # y \" z \nc = \\\"\\\\\\t\n"),
            "2 a.b=[ x # y  z]\n3 a.c=[\"\\\t]\n");
}

TEST(ConfigText, JoinsLinesThatEndWithABackslash) {
  EXPECT_EQ(Read("[a]\nb = one \\\n  two\nc = 3\n"), "2 a.b=[one   two]\n4 a.c=[3]\n");
}

TEST(ConfigText, ReadsTheLineEndsOfOtherSystemsAndFilesWithoutALastOne) {
  EXPECT_EQ(Read("\xef\xbb\xbf[a]\r\nb = 1\r\nc = 2\r\nd"), "2 a.b=[1]\n3 a.c=[2]\n4 a.d=[true]\n");
}

TEST(ConfigText, IsTrueWithoutAValueAndEmptyBehindAnEqualsSign) {
  EXPECT_EQ(Read("[a]\nb\nc # no value\nd =\n"), "2 a.b=[true]\n3 a.c=[true]\n4 a.d=[]\n");
}

TEST(ConfigText, NamesTheFirstMalformedLine) {
  EXPECT_EQ(Read("b = 1\n"), "1: the key 'b' stands before the first [SECTION]");
  EXPECT_EQ(Read("[a]\n\nb 1\n"), "3: the key 'b' is not followed by =");
  EXPECT_EQ(Read("[a\nb = 1\n"), "1: the section [a is not closed by ]");
  EXPECT_EQ(Read("\n[]\n"), "2: a section has no name: write [NAME]");
  EXPECT_EQ(Read("[a \"b]\n"), "1: the name of a section has no closing quote");
  EXPECT_EQ(Read("[a]\nb = \"c\n"), "2: a value has no closing quote");
  EXPECT_EQ(Read("[a]\nb = \\c\n"),
            "2: a backslash in a value begins none of \\\\ \\\" \\n \\t \\b: write \\\\ for a "
            "backslash");
  EXPECT_EQ(Read("[a]\n= 1\n"), "2: no key: a line is [SECTION], KEY = VALUE or # COMMENT");
  EXPECT_EQ(Read(std::string("[a]\n\0b = 1\n", 11)),
            "2: no key: a line is [SECTION], KEY = VALUE or # COMMENT");
}

TEST(ConfigText, HasSwitchesInManyWords) {
  for (const char* const word : {"true", "Yes", "ON", "1"}) EXPECT_TRUE(*ParseSwitch(word)) << word;
  for (const char* const word : {"false", "No", "OFF", "0", ""}) {
    EXPECT_FALSE(*ParseSwitch(word)) << word;
  }
  EXPECT_EQ(ParseSwitch("maybe").status().message(), "'maybe' is not true or false");
}

}  // namespace
}  // namespace profiler::config
