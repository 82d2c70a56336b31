#include "src/views/page/page.h"

#include <zlib.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "src/base/packed_section.h"
#include "src/base/text.h"
#include "src/views/flamegraph/testing/profile_for_test.h"
#include "src/views/page/bounds.h"
#include "src/views/page/call_paths.h"
#include "src/views/page/page_data.h"

namespace profiler::page {
namespace {

using exports::ProfileForTest;

// Returns one line per row: its path, thread, slice and numbers.
std::string RowsOf(const CallPaths& paths) {
  std::vector<std::string> names;
  std::vector<std::string> open;
  for (const PathNode& node : paths.nodes) {
    open.resize(node.depth);
    open.push_back(node.label == exports::kNoLabel ? "all" : paths.labels[node.label].name);
    std::string name;
    for (size_t i = 1; i < open.size(); ++i) absl::StrAppend(&name, i == 1 ? "" : ";", open[i]);
    names.push_back(name);
  }
  std::string text;
  for (const PathRow& row : paths.rows) {
    absl::StrAppend(&text, paths.events[row.event].name, " ", paths.threads[row.thread].comm, "/",
                    paths.threads[row.thread].tid, " @", row.slice, " ", names[row.path], " ",
                    row.count, " ", row.period, "\n");
  }
  return text;
}

CallPaths PathsOf(const profile::Profile& profile) {
  const Side side{.profile = &profile, .name = "a"};
  return FindCallPaths({&side, 1});
}

std::string PageOf(const profile::Profile& profile, const PageOptions& options = {}) {
  const Side side{.profile = &profile, .name = "a.data"};
  return Page({&side, 1}, options);
}

// Decodes the data as a browser does.
std::string Inflated(std::string_view base64) {
  std::string packed;
  EXPECT_TRUE(absl::Base64Unescape(View(base64), &packed));
  std::string out;
  std::string part(1 << 16, '\0');
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, -MAX_WBITS), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  int result = Z_OK;
  while (result == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(part.data());
    stream.avail_out = static_cast<uInt>(part.size());
    result = inflate(&stream, Z_NO_FLUSH);
    out.append(part, 0, part.size() - stream.avail_out);
  }
  EXPECT_EQ(result, Z_STREAM_END);
  inflateEnd(&stream);
  return out;
}

std::string_view DataOf(std::string_view page) {
  constexpr std::string_view kBegin = "id=\"data\">";
  const size_t begin = page.find(kBegin) + kBegin.size();
  return page.substr(begin, page.find('<', begin) - begin);
}

// Lists the content of page data, table by table.
std::string Listing(std::string_view base64) {
  const std::string content = Inflated(base64);
  NumberReader in(std::as_bytes(std::span(content)));
  std::string text = absl::StrCat("version ", in.Number(), "\n");
  const auto string = [&] {
    const auto bytes = in.Bytes();
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  absl::StrAppend(&text, string(), "\n");
  absl::StrAppend(&text, string(), "\n");
  const auto table = [&](std::string_view name, std::string_view columns) {
    const uint64_t size = in.Number();
    absl::StrAppend(&text, View(name), " ", size, ":");
    for (const char kind : columns) {
      uint64_t before = 0;
      for (uint64_t i = 0; i < size; ++i) {
        if (kind == 't') {
          absl::StrAppend(&text, " ", string());
        } else if (kind == 'd') {
          absl::StrAppend(&text, " ", before = in.Difference(before));
        } else if (kind == 's') {
          absl::StrAppend(&text, " ", static_cast<int64_t>(in.Difference(0)));
        } else {
          absl::StrAppend(&text, " ", in.Number());
        }
      }
      absl::StrAppend(&text, " |");
    }
    text += "\n";
  };
  table("strings", "t");
  table("labels", "nnn");
  table("threads", "ddnnn");
  table("nodes", "nn");
  table("rows", "ddddns");
  EXPECT_TRUE(in.ok());
  EXPECT_EQ(in.remaining(), 0);
  return text;
}

TEST(PageTest, PathsAreByNameDepthFirstAndSiblingsInOrder) {
  ProfileForTest test;
  test.Add("server", "main write", 2).Add("server", "main parse read", 3).Add("node", "main", 1);
  test.Add("server", "main", 4);
  EXPECT_EQ(RowsOf(PathsOf(test.profile())),
            "cpu-clock server/100 @0 server;main 4 4000\n"
            "cpu-clock server/100 @0 server;main;parse;read 3 3000\n"
            "cpu-clock server/100 @0 server;main;write 2 2000\n"
            "cpu-clock node/100 @0 node;main 1 1000\n");
}

TEST(PageTest, RowsOfOneThreadSliceAndPathAreOne) {
  ProfileForTest test;
  test.In(1, 0, 2).Add("a", "f", 1);
  test.In(1, 1, 2).Add("a", "f", 2);
  test.In(2, 1, 2).Add("a", "f", 4);
  test.In(1, 1, 2).Add("a", "f", 8);
  EXPECT_EQ(RowsOf(PathsOf(test.profile())),
            "cpu-clock a/1 @0 a;f 1 1000\n"
            "cpu-clock a/1 @1 a;f 10 10000\n"
            "cpu-clock a/2 @1 a;f 4 4000\n");
}

TEST(PageTest, TimesOffTheCpuEndInTheirState) {
  ProfileForTest test;
  const auto blocked = test.AddEvent("offcpu-time");
  const auto preempted = test.AddEvent("preempted-time");
  test.Add("a", "main wait", 1, 500, blocked).Add("a", "main", 1, 7, preempted);
  const CallPaths paths = PathsOf(test.profile());
  EXPECT_EQ(RowsOf(paths),
            "offcpu-time a/100 @0 a;main;wait;[blocked] 1 500\n"
            "preempted-time a/100 @0 a;main;[preempted] 1 7\n");
  EXPECT_TRUE(paths.events[1].is_off_cpu && paths.events[1].is_time && paths.events[1].is_count);
  EXPECT_TRUE(!paths.events[0].is_off_cpu && paths.events[0].is_time);
}

TEST(PageTest, TwoSidesShareTheirPathsAndNothingElse) {
  ProfileForTest before, after;
  before.Add("a", "main f", 3);
  after.Add("a", "main f", 1).Add("a", "main g", 5);
  const std::vector<Side> sides = {{.profile = &before.profile(), .name = "x"},
                                   {.profile = &after.profile(), .name = "y"}};
  const CallPaths paths = FindCallPaths(sides);
  EXPECT_EQ(paths.nodes.size(), 5);  // the root, a, main, f and g
  ASSERT_EQ(paths.events.size(), 2);
  EXPECT_EQ(paths.events[0].side, 0);
  EXPECT_EQ(paths.events[0].period, 3000);
  EXPECT_EQ(paths.events[1].side, 1);
  EXPECT_EQ(paths.events[1].period, 6000);
  EXPECT_EQ(paths.threads[1].side, 1);
}

TEST(PageTest, LightPathsAreShownTogetherAndNoSampleIsLost) {
  ProfileForTest test;
  test.Add("a", "main heavy", 960).Add("a", "main light deeper", 10).Add("a", "main light", 5);
  test.Add("a", "main slight", 5).Add("a", "main heavy tail", 20);
  CallPaths paths = PathsOf(test.profile());
  const Bounded bounded = Bound({.least_share = 0.03}, paths);
  EXPECT_EQ(RowsOf(paths),
            "cpu-clock a/100 @0 a;main;heavy 960 960000\n"
            "cpu-clock a/100 @0 a;main;heavy;(lighter callees) 20 20000\n"
            "cpu-clock a/100 @0 a;main;(lighter callees) 20 20000\n");
  EXPECT_EQ(bounded.folded_samples, 40);
}

TEST(PageTest, ThreadsWithFewSamplesBecomeOneAName) {
  ProfileForTest test;
  for (uint32_t tid = 1; tid <= 6; ++tid) {
    test.In(tid, tid % 4, 4).Add(tid % 2 == 0 ? "even" : "odd", "f", tid == 3 ? 100 : 1);
  }
  CallPaths paths = PathsOf(test.profile());
  const Bounded bounded = Bound({.slice_divisor = 2, .most_threads = 1}, paths);
  EXPECT_EQ(RowsOf(paths),
            "cpu-clock odd/0 @0 odd;f 2 2000\n"
            "cpu-clock even/0 @0 even;f 1 1000\n"
            "cpu-clock even/0 @1 even;f 2 2000\n"
            "cpu-clock odd/3 @1 odd;f 100 100000\n");
  EXPECT_EQ(bounded.merged_threads, 5);
  EXPECT_EQ(paths.threads[0].threads, 2);
  EXPECT_EQ(paths.threads[1].threads, 3);
}

TEST(PageTest, DataAreTablesOfColumns) {
  ProfileForTest test;
  test.In(7, 0, 3).Add("a", "main f", 2);
  test.In(7, 2, 3).Add("a", "main f", 3);
  test.In(9, 1, 3).Add("a", "main", 1, 999);
  const CallPaths paths = PathsOf(test.profile());
  EXPECT_EQ(Listing(EncodePageData(paths, "{}", "[]")),
            "version 1\n{}\n[]\n"
            "strings 5: a f main  app |\n"
            "labels 3: 0 1 2 | 3 4 4 | 0 1 1 |\n"
            "threads 2: 100 100 | 7 9 | 0 0 | 0 0 | 1 1 |\n"
            "nodes 4: 0 0 0 0 | 0 1 3 2 |\n"
            "rows 3: 0 0 0 | 0 0 1 | 3 3 2 | 0 2 1 | 2 3 1 | 0 0 -1 |\n");
}

TEST(PageTest, TheMomentOfAFlightRecorderIsInASlice) {
  ProfileForTest test;
  test.In(7, 0, 3).Add("a", "main f", 2);
  const auto about = [&](uint64_t time) {
    const Side side = {.profile = &test.profile(), .name = "a", .moment = Moment{time, "SIGUSR2"}};
    const std::string text = Listing(DataOf(Page(std::span(&side, 1))));
    const size_t begin = text.find("\"moment\"");
    return text.substr(begin, text.find('}', begin) + 1 - begin);
  };
  const profile::TimeSlices& slices = test.profile().slices;
  EXPECT_EQ(about(slices.begin + slices.length), R"("moment":{"slice":1,"reason":"SIGUSR2"})");
  EXPECT_EQ(about(UINT64_MAX), R"("moment":{"slice":2,"reason":"SIGUSR2"})");
  EXPECT_EQ(about(0), R"("moment":{"slice":0,"reason":"SIGUSR2"})");
}

TEST(PageTest, NoNameBecomesMarkup) {
  ProfileForTest test;
  test.Define("evil", {.name = "</script><img src=x>\"'&amp;\xff\xed\xa0\x80", .image = "<!--"});
  test.Add("</title><b>", "evil");
  test.profile().losses.warnings.push_back("</footer><script>alert(1)</script>");
  PageOptions options;
  options.title = "</title><script>alert(2)</script>";
  const std::string page = PageOf(test.profile(), options);
  const std::string empty = PageOf(ProfileForTest().profile());
  const std::string_view data = DataOf(page);
  EXPECT_EQ(
      data.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="),
      std::string_view::npos);
  // Except for the data, all pages are equal.
  std::string without = page, empty_without = empty;
  without.replace(page.find(data), data.size(), "");
  empty_without.replace(empty.find(DataOf(empty)), DataOf(empty).size(), "");
  EXPECT_EQ(without, empty_without);
  EXPECT_NE(Listing(data).find("</script><img src=x>\"'&amp;\ufffd\ufffd\ufffd\ufffd"),
            std::string::npos);
}

TEST(PageTest, NothingIsAskedForElsewhere) {
  const std::string page = PageOf(ProfileForTest().profile());
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  for (const std::string_view elsewhere :
       {"http://", "https://", "src=", "href=", "@import", "url("}) {
    EXPECT_EQ(page.find(elsewhere), std::string::npos) << elsewhere;
  }
}

TEST(PageTest, WhatIsTooLargeIsShownInLessDetailAndSaid) {
  ProfileForTest test;
  uint32_t random = 1;
  for (uint32_t i = 0; i < 6000; ++i) {
    random = random * 1664525 + 1013904223;
    test.In(1, (random >> 8) % 200, 200)
        .Add("a", absl::StrCat("main f", random >> 20, " g", i % 1500, " h", (random >> 12) % 700));
  }
  test.Add("a", "main", 30'000);
  const size_t own = PageOf(ProfileForTest().profile()).size();
  const std::string whole = PageOf(test.profile());
  const std::string bounded = PageOf(test.profile(), {.most_bytes = own + 20'000});
  EXPECT_GT(whole.size(), own + 40'000);
  EXPECT_LT(bounded.size(), own + 20'000);
  EXPECT_NE(Listing(DataOf(bounded)).find("are shown as one callee, (lighter callees), of each"),
            std::string::npos);
  EXPECT_EQ(Listing(DataOf(whole)).find("lighter callees"), std::string::npos);
}

}  // namespace
}  // namespace profiler::page
