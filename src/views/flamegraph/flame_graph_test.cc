#include "src/views/flamegraph/flame_graph.h"

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/analysis/event_choice.h"
#include "src/analysis/wall_clock.h"
#include "src/views/flamegraph/flame_layout.h"
#include "src/views/flamegraph/testing/profile_for_test.h"
#include "src/views/flamegraph/xml_text.h"

namespace profiler::exports {
namespace {

using profile::EventId;
using profile::Mode;
using symbolize::ImageKind;
using testing::HasSubstr;
using testing::Not;

// Returns one line per box, indented by its level, with its samples and percentage.
std::string BoxesOf(const ProfileForTest& test, const FlameGraphOptions& options = {}) {
  const FlameLayout layout = LayOutFlames(test.profile(), options, 1000);
  std::string out;
  for (const FlameBox& box : layout.boxes) {
    const bool all = box.label == kNoLabel;
    absl::StrAppend(&out, std::string(box.level * 2, ' '),
                    all ? "all" : layout.labels[box.label].name, " ", box.samples, " ",
                    100 * box.width / kWhole, "%\n");
  }
  return out;
}

// Returns the first fault of an XML document, or "": checks that tags are balanced, attributes are
// quoted, entities are known, and every byte is allowed where it is.
std::string XmlFault(std::string_view xml) {
  std::vector<std::string_view> open;
  for (size_t at = 0; at < xml.size();) {
    if (xml[at] == '&') {
      const std::string_view entity = xml.substr(at, xml.find(';', at) - at);
      if (entity != "&amp" && entity != "&lt" && entity != "&gt" && entity != "&quot" &&
          entity != "&#39") {
        return absl::StrCat("entity at ", at);
      }
    }
    if (static_cast<unsigned char>(xml[at]) < 0x20 && xml[at] != '\n') {
      return absl::StrCat("control character at ", at);
    }
    if (xml[at] != '<') {
      ++at;
      continue;
    }
    const size_t end = xml.find('>', at);
    if (end == std::string_view::npos) return "unfinished tag";
    std::string_view tag = xml.substr(at + 1, end - at - 1);
    at = end + 1;
    if (tag.find('<') != std::string_view::npos) return absl::StrCat("< in a tag at ", at);
    if (tag.starts_with('?') || tag.ends_with('/')) continue;
    if (!tag.starts_with('/')) {
      open.push_back(tag.substr(0, tag.find(' ')));
    } else if (open.empty() || open.back() != tag.substr(1)) {
      return absl::StrCat("closed wrongly before ", at);
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : "not closed";
}

TEST(FlameLayout, IsOneEmptyBoxWithoutSamples) {
  EXPECT_EQ(BoxesOf(ProfileForTest()), "all 0 0%\n");
  const std::string svg = FlameGraphSvg(ProfileForTest().profile());
  EXPECT_EQ(XmlFault(svg), "");
  EXPECT_THAT(svg, HasSubstr("no samples"));
}

TEST(FlameLayout, MergesStacksByNameAndOrdersByIt) {
  ProfileForTest test;
  test.Add("app", "main g", 1).Add("app", "main f", 2).Add("app", "main", 1);
  EXPECT_EQ(BoxesOf(test),
            "all 4 100%\n"
            "  app 4 100%\n"
            "    main 4 100%\n"
            "      f 2 50%\n"
            "      g 1 25%\n");
}

TEST(FlameLayout, WeighsByPeriodAndCountsSamples) {
  ProfileForTest test;
  test.Add("app", "f", 1, 900).Add("app", "g", 9, 100);
  EXPECT_EQ(BoxesOf(test), "all 10 100%\n  app 10 100%\n    f 1 90%\n    g 9 10%\n");
  EXPECT_EQ(BoxesOf(test, {.weight = WeightBy::kSamples}),
            "all 10 100%\n  app 10 100%\n    f 1 10%\n    g 9 90%\n");
}

TEST(FlameLayout, ReversedMergesFromTheLeafAndEndsWithTheProcess) {
  ProfileForTest test;
  test.Add("a", "main f malloc", 3).Add("b", "main g malloc", 1).Add("a", "main f", 4);
  EXPECT_EQ(BoxesOf(test, {.reverse = true}),
            "all 8 100%\n"
            "  f 4 50%\n"
            "    main 4 50%\n"
            "      a 4 50%\n"
            "  malloc 4 50%\n"
            "    f 3 37%\n"
            "      main 3 37%\n"
            "        a 3 37%\n"
            "    g 1 12%\n"
            "      main 1 12%\n"
            "        b 1 12%\n");
}

TEST(FlameLayout, ReversedStacksHaveTheInnermostInlinedFunctionFirst) {
  ProfileForTest test;
  test.AddFrames("app", {{.name = "main"}, {.name = "f", .inlined = {"g", "h"}}});
  EXPECT_EQ(BoxesOf(test, {.reverse = true}),
            "all 1 100%\n  h 1 100%\n    g 1 100%\n      f 1 100%\n        main 1 100%\n"
            "          app 1 100%\n");
}

TEST(FlameLayout, LeavesOutWhatIsTooNarrowAndSaysSo) {
  ProfileForTest test;
  test.Add("app", "main big", 98).Add("app", "main small deep", 2);
  EXPECT_EQ(BoxesOf(test, {.min_percent = 5}),
            "all 100 100%\n  app 100 100%\n    main 100 100%\n"
            "      big 98 98%\n");
  EXPECT_THAT(FlameGraphSvg(test.profile(), {.min_percent = 5}),
              HasSubstr("boxes under 5 % are not drawn"));
  EXPECT_THAT(FlameGraphSvg(test.profile()), Not(HasSubstr("not drawn")));
}

TEST(FlameLayout, DrawsTheWidestBoxesWhenThereAreTooMany) {
  ProfileForTest test;
  for (int i = 0; i < 100; ++i) test.Add("app", absl::StrCat("f", i), 1 + (i == 50));
  const FlameLayout layout = LayOutFlames(test.profile(), {.max_boxes = 10}, 1000);
  // Among equally wide boxes, the first by name are drawn.
  std::string names;
  for (size_t i = 1; i < layout.boxes.size(); ++i) {
    absl::StrAppend(&names, layout.labels[layout.boxes[i].label].name, " ");
  }
  EXPECT_EQ(names, "app f0 f1 f10 f11 f12 f13 f14 f50 ");
  EXPECT_TRUE(layout.pruned);
}

TEST(FlameLayout, ChildrenLieSideBySideWithinTheirParent) {
  ProfileForTest test;
  for (int i = 0; i < 300; ++i) {
    test.Add(absl::StrCat("p", i % 3), absl::StrCat("a", i % 7, " b", i % 11, " c", i % 13), 1,
             1'000'000'007ULL * (1 + i % 17));
    test.Add(absl::StrCat("p", i % 3), absl::StrCat("a", i % 7), 1, 77);
  }
  for (const bool reverse : {false, true}) {
    const FlameLayout layout =
        LayOutFlames(test.profile(), {.reverse = reverse, .min_pixels = 0}, 1000);
    std::vector<uint64_t> ends,
        starts;  // [level]: end of the latest box, and least start of its next child
    for (const FlameBox& box : layout.boxes) {
      if (box.level != 0) {
        ASSERT_LE(box.level, starts.size());
        EXPECT_GE(box.start, starts[box.level - 1]);
        EXPECT_LE(box.start + box.width, ends[box.level - 1]);
        starts[box.level - 1] = box.start + box.width;
      }
      starts.resize(box.level + 1);
      ends.resize(box.level + 1);
      starts[box.level] = box.start;
      ends[box.level] = box.start + box.width;
    }
    EXPECT_EQ(layout.boxes[0].width, kWhole);
  }
}

TEST(FlameLayout, DoesNotOverflowWithTheLargestPeriods) {
  ProfileForTest test;
  test.Add("app", "f", 1, uint64_t{1} << 62).Add("app", "g", 1, uint64_t{1} << 62);
  EXPECT_EQ(BoxesOf(test), "all 2 100%\n  app 2 100%\n    f 1 50%\n    g 1 50%\n");
}

TEST(FlameGraph, ColoursByKindAndMergesUnnamedCodeByImage) {
  ProfileForTest test;
  test.AddFrames("app", {{.name = "main", .inlined = {"small"}},
                         {.name = "", .image = "/usr/lib/libx.so"},
                         {.name = "js", .image = "/tmp/perf-1.map", .kind = ImageKind::kJit},
                         {.name = "read",
                          .image = "[kernel.kallsyms]",
                          .kind = ImageKind::kKernel,
                          .mode = Mode::kKernel}});
  const std::string svg = FlameGraphSvg(test.profile());
  for (const char* label :
       {"[\"main\",\"app\",\"user\"]", "[\"small\",\"app\",\"inlined\"]",
        "[\"[libx.so]\",\"libx.so\",\"unnamed\"]", "[\"js\",\"perf-1.map\",\"JIT\"]",
        "[\"read\",\"[kernel.kallsyms]\",\"kernel\"]", "[\"app\",\"\",\"process\"]"}) {
    EXPECT_THAT(svg, HasSubstr(label));
  }
}

TEST(FlameGraph, IsWellFormedWhateverTheNamesAre) {
  ProfileForTest test;
  test.AddFrames("<&>\"'", {{.name = "a<b>&c;\"d\"'e'\n\t\x01"},
                            {.name = "\xff\xc0\x80\xed\xa0\x80\xef\xbf\xbf"},
                            {.name = "]]></script><!--", .image = "/<&>/x"},
                            {.name = "back\\slash"},
                            {.name = "ünïcödé…𝄞"}});
  const std::string svg =
      FlameGraphSvg(test.profile(), {.title = "</text><&\"\xfe", .count_name = "<s\">"});
  EXPECT_EQ(XmlFault(svg), "");
  EXPECT_THAT(svg, HasSubstr("[\"back\\\\slash\""));
  EXPECT_THAT(svg, HasSubstr("ünïcödé…𝄞"));
}

TEST(FlameGraph, GivesTheSameBytesWhateverTheOrderOfTheRows) {
  ProfileForTest one, other;
  one.Add("a", "m f", 2).Add("b", "m g", 3).Add("a", "m h", 4);
  other.Add("a", "m h", 4).Add("b", "m g", 3).Add("a", "m f", 2);
  EXPECT_EQ(FlameGraphSvg(one.profile()), FlameGraphSvg(one.profile()));
  EXPECT_EQ(FlameGraphSvg(one.profile()), FlameGraphSvg(other.profile()));
}

TEST(FlameGraph, TellsWhatWasLostAndWhatHasNoName) {
  ProfileForTest test;
  test.Add("app", "main", 3).AddFrames("app", {{.name = "main"}, {.name = ""}}, 1);
  test.profile().losses.lost_records = 1200;
  test.profile().losses.lost_samples = 34;
  test.profile().losses.throttled = 5;
  EXPECT_THAT(FlameGraphSvg(test.profile()),
              HasSubstr("4 samples · 1,234 lost · 25.00 % in code without a name · throttled 5"));
}

TEST(FlameGraph, TellsHowManyCallChainsAreCut) {
  ProfileForTest test;
  test.Add("app", "main", 3);
  EXPECT_THAT(FlameGraphSvg(test.profile()), Not(HasSubstr("call chains cut")));
  test.profile().chains.cuts = {{1200, "stack too short", "/bin/a"}, {34, "no image", ""}};
  EXPECT_THAT(FlameGraphSvg(test.profile()), HasSubstr(" · 1,234 call chains cut"));
}

TEST(FlameGraph, TellsHowManyCallChainsOfTheKernelAreBroken) {
  ProfileForTest test;
  test.Add("app", "main", 3);
  EXPECT_THAT(FlameGraphSvg(test.profile()), Not(HasSubstr("call chains broken")));
  test.profile().chains.broken = 1234;
  EXPECT_THAT(FlameGraphSvg(test.profile()), HasSubstr(" · 1,234 call chains broken"));
}

TEST(FlameGraph, CutsNamesToTheirBoxesAtCharacters) {
  ProfileForTest test;
  test.Add("app", "ééééééééééééééééééééééééééééééé", 1).Add("app", "z", 9);
  const std::string svg = FlameGraphSvg(test.profile(), {.width = 1020});
  EXPECT_THAT(svg, HasSubstr(">éééééééééééé…</text>"));  // (100 − 7) / 6.7 = 13.9 characters
}

TEST(FlameGraph, DrawsTheEventThatIsAskedFor) {
  ProfileForTest test;
  const EventId faults = test.AddEvent("page-faults");
  test.Add("app", "f").Add("app", "g", 1, 1, faults);
  EXPECT_THAT(FlameGraphSvg(test.profile()), HasSubstr("cpu-clock · 1 samples"));
  EXPECT_THAT(FlameGraphSvg(test.profile(), {.event = faults}),
              HasSubstr("page-faults · 1 samples"));
}

TEST(CleanUtf8, ReplacesEachByteThatIsNoCharacter) {
  EXPECT_EQ(CleanUtf8("aé€𝄞"), "aé€𝄞");
  EXPECT_EQ(CleanUtf8("\xe2\x82"), "\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(CleanUtf8(std::string_view("\0\x7f", 2)), "\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(CleanUtf8("\xf5x\xc1\xbf"), "\xef\xbf\xbdx\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(FlameGraphTest, DrawsTimeOffTheCpuInColoursOfItsOwn) {
  ProfileForTest test;
  const EventId event = test.AddEvent("offcpu-time");
  test.Add("app", "main wait", 2, 1'500'000'000, event);
  const std::string svg = FlameGraphSvg(test.profile(), {.event = event});
  EXPECT_THAT(svg, HasSubstr(" class=\"off\">"));
  EXPECT_THAT(svg, HasSubstr("offcpu-time · 2 samples · width is the time off the CPU, 1.500 s"));
  test.Add("app", "main run", 2, 7);
  EXPECT_THAT(FlameGraphSvg(test.profile()), Not(HasSubstr(" class=\"off\">")));
}

TEST(FlameGraphTest, SaysWhatTheLeavesOfWallClockAreWhereThereAreAny) {
  ProfileForTest test;
  test.Add("app", "main run", 2, 1'000'000'000, test.AddEvent("oncpu-time"));
  test.Add("app", "main wait", 2, 500'000'000, test.AddEvent("offcpu-time"));
  EXPECT_THAT(FlameGraphSvg(test.profile()), Not(HasSubstr(">off the CPU<")));
  analysis::JoinWallClock(analysis::OffCpuLeaf::kOfState, test.profile());
  const std::string svg =
      FlameGraphSvg(test.profile(), {.event = analysis::FirstEventWithSamples(test.profile())});
  EXPECT_THAT(svg, HasSubstr(">off the CPU<"));
  EXPECT_THAT(svg, HasSubstr("wall-clock · 4 samples · width is the time of all threads, 1.500 s"));
}

// Returns the classes of the boxes, separated by spaces.
std::string Changes(const std::string& svg) {
  const size_t boxes = svg.find("<g id=\"boxes\">");
  const std::string drawn = svg.substr(boxes, svg.find("</g>", boxes) - boxes);
  std::string classes;
  for (size_t at = 0; (at = drawn.find("class=\"", at)) != std::string::npos;) {
    at += 7;
    classes += drawn.substr(at, drawn.find('"', at) - at) + " ";
  }
  return classes;
}

TEST(FlameGraph, AColourTellsTheChangeOfABoxItself) {
  // The boxes' own shares of the whole: main 20 → 10 %, work 60 → 80 %, rest 20 → 10 %.
  ProfileForTest before, after;
  before.Add("app", "main", 20, 20).Add("app", "main work", 60, 60).Add("app", "main rest", 20, 20);
  after.Add("app", "main", 1, 1).Add("app", "main work", 8, 8).Add("app", "main rest", 1, 1);
  // The largest change is 20 points. No samples end in "all" and "app".
  EXPECT_EQ(Changes(FlameGraphSvg(after.profile(), {.before = &before.profile()})),
            "s0 s0 l3 l3 m7 ");
}

TEST(FlameGraph, WhatIsNewIsMoreAndWhatIsGoneIsSaid) {
  ProfileForTest before, after;
  before.Add("app", "main old", 25, 25).Add("app", "main", 75, 75);
  after.Add("app", "main fresh", 25, 25).Add("app", "main", 75, 75);
  const std::string svg = FlameGraphSvg(after.profile(), {.before = &before.profile()});
  EXPECT_EQ(Changes(svg), "s0 s0 s0 m7 ");
  EXPECT_NE(svg.find("25.00 % of the earlier recording is in stacks that are not drawn"),
            std::string::npos);
}

TEST(FlameGraph, BoxesOfOneImageHaveOneColour) {
  ProfileForTest builder;
  builder.Define("deflate", {.name = "deflate", .image = "libz.so"});
  builder.Define("crc32", {.name = "crc32", .image = "libz.so"});
  builder.Add("app", "main deflate crc32");
  const std::string svg = FlameGraphSvg(builder.profile(), {.colors = FlameColors::kImage});
  std::istringstream classes(Changes(svg));
  std::string all, app, main, deflate, crc32;
  classes >> all >> app >> main >> deflate >> crc32;
  EXPECT_EQ(deflate, crc32);
  EXPECT_NE(deflate, main);
}

TEST(FlameGraph, APictureThatWouldBeTooLargeLosesItsNarrowestBoxes) {
  ProfileForTest builder;
  for (int i = 0; i < 2000; ++i) {
    builder.Add("app", "main f" + std::to_string(i), 1 + static_cast<uint64_t>(i % 50));
  }
  const std::string whole = FlameGraphSvg(builder.profile(), {.min_pixels = 0});
  const std::string cut = FlameGraphSvg(builder.profile(), {.min_pixels = 0, .max_bytes = 100'000});
  EXPECT_GT(whole.size(), 150'000u);
  EXPECT_LE(cut.size(), 100'000u);
  EXPECT_NE(cut.find("not all boxes under"), std::string::npos);
  EXPECT_GT(cut.size(), 60'000u);
}

}  // namespace
}  // namespace profiler::exports
