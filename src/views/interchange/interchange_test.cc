#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/views/flamegraph/testing/profile_for_test.h"
#include "src/views/interchange/callgrind.h"
#include "src/views/interchange/chrome_trace.h"
#include "src/views/interchange/image_places.h"
#include "src/views/interchange/otlp.h"
#include "src/views/interchange/pprof.h"
#include "src/views/interchange/speedscope.h"
#include "src/views/interchange/testing/pprof_text.h"

namespace profiler::exports {
namespace {

const Origin kOrigin = {.command = "app --fast", .producer = "profiler 1"};

TEST(Pprof, ASampleHasItsStackFromTheLeafAndLabelsOfItsThread) {
  ProfileForTest builder;
  builder.Add("app", "main work read", 2, 2000).Add("app", "main", 1, 1000);
  EXPECT_EQ(PprofText(Pprof(builder.profile(), kOrigin)),
            "types samples/count cpu-clock/nanoseconds\n"
            "2 2000 read<work<main pid=100 tid=100 thread=app comm=app\n"
            "1 1000 main pid=100 tid=100 thread=app comm=app\n"
            "mapping 0x0-0x1000+0x0 app\n");
}

TEST(Pprof, SeveralEventsAreValuesOfOneSample) {
  ProfileForTest builder;
  const auto misses = builder.AddEvent("cache-misses");
  builder.Add("app", "main", 2, 2000).Add("app", "main", 3, 70, misses);
  EXPECT_EQ(PprofText(Pprof(builder.profile(), kOrigin)),
            "types cpu-clock_samples/count cpu-clock/nanoseconds cache-misses_samples/count "
            "cache-misses/count\n"
            "2 2000 3 70 main pid=100 tid=100 thread=app comm=app\n"
            "mapping 0x0-0x1000+0x0 app\n");
}

TEST(Pprof, InlinedCallsAreLinesOfOneLocationTheInnermostFirst) {
  ProfileForTest builder;
  builder.Define("work", {.name = "work", .inlined = {"outer", "inner"}});
  builder.Add("app", "main work");
  const std::string text = PprofText(Pprof(builder.profile(), kOrigin));
  EXPECT_NE(text.find(" inner=outer=work<main "), std::string::npos) << text;
}

TEST(Pprof, CodeWithoutASymbolIsCalledByItsImage) {
  ProfileForTest builder;
  builder.Define("?", {.name = "", .image = "/usr/lib/libz.so"});
  builder.Add("app", "main ?");
  const std::string text = PprofText(Pprof(builder.profile(), kOrigin));
  EXPECT_NE(text.find(" [libz.so]<main "), std::string::npos) << text;
}

TEST(ImagePlaces, AnImageIsPlacedWhereItsFirstFrameRan) {
  profile::Profile profile;
  profile.images.resize(1);
  profile::Frame frame;
  frame.place.in_file = true;
  frame.place.value = 0x1234;
  frame.ip.value = 0x555000001234;
  profile.frames.push_back(frame);
  frame.place.value = 0x3010;
  frame.ip.value = 0x7000003010;  // address in another process
  profile.frames.push_back(frame);
  const ImagePlaces places(profile);
  EXPECT_EQ(places[profile::ImageId{}].start, 0x555000001000u);
  EXPECT_EQ(places[profile::ImageId{}].limit, 0x555000004000u);
  EXPECT_EQ(places[profile::ImageId{}].file_offset, 0x1000u);
  EXPECT_EQ(places.AddressOf(profile.frames[1]), 0x555000003010u);
}

TEST(Callgrind, AFunctionHasItsOwnCostAndThatOfItsCalls) {
  ProfileForTest builder;
  builder.Add("app", "main work", 2, 2000).Add("app", "main", 1, 1000);
  EXPECT_EQ(Callgrind(builder.profile(), kOrigin),
            R"(# callgrind format
version: 1
creator: profiler 1
cmd: app --fast
positions: line
event: cpu_clock : cpu-clock
event: cpu_clock_samples : samples of cpu-clock
events: cpu_clock cpu_clock_samples
summary: 3000 3

ob=(1) app
fl=(1) ???
fn=(1) main
0 1000 1
cob=(1)
cfi=(1)
cfn=(2) work
calls=2 0
0 2000 2

ob=(1)
fl=(1)
fn=(2)
0 2000 2
)");
}

TEST(Callgrind, ARecursiveFunctionHasNoMoreThanItsSamples) {
  ProfileForTest builder;
  builder.Add("app", "main f f g f", 5, 5000);
  const std::string text = Callgrind(builder.profile(), kOrigin);
  // The innermost f is the leaf, so none of the calls by f counts.
  EXPECT_NE(text.find("fn=(2)\n0 5000 5\n\n"), std::string::npos) << text;
  // The call that g makes counts, because g is on the stack once.
  EXPECT_NE(text.find("\nfn=(3) g\n0 0 0\ncob=(1)\ncfi=(1)\ncfn=(2)\ncalls=5 0\n0 5000 5\n"),
            std::string::npos)
      << text;
}

TEST(Speedscope, SamplesThatFollowEachOtherWithOneStackAreOne) {
  ProfileForTest builder;
  builder.Add("app", "main work", 1, 10).Add("app", "main", 1, 10);
  builder.Add("app", "main work", 1, 10).Add("app", "main work", 1, 10);
  builder.SetTimes({100, 400, 200, 300});
  EXPECT_EQ(Speedscope(builder.profile(), kOrigin).text,
            R"({"$schema":"https://www.speedscope.app/file-format-schema.json",)"
            R"("exporter":"profiler 1","name":"app --fast","activeProfileIndex":0,)"
            R"("shared":{"frames":[{"name":"main"},{"name":"work"}]},"profiles":[)"
            R"({"type":"sampled","name":"app 100/100","unit":"nanoseconds","startValue":0,)"
            R"("endValue":40,"samples":[[0,1],[0]],"weights":[30,10]}]})"
            "\n");
}

TEST(Speedscope, StacksAreMergedWhereTheirOrderWouldTakeTooMuchRoom) {
  ProfileForTest builder;
  builder.Add("app", "main work", 1, 10).Add("app", "main", 1, 10).Add("app", "main work", 1, 10);
  builder.SetTimes({1, 2, 3});
  EXPECT_TRUE(Speedscope(builder.profile(), kOrigin, 5).in_time_order);
  const SpeedscopeFile merged = Speedscope(builder.profile(), kOrigin, 4);
  EXPECT_FALSE(merged.in_time_order);
  EXPECT_NE(merged.text.find(R"("samples":[[0,1],[0]],"weights":[20,10])"), std::string::npos);
}

// Returns a line "name begin+length samples" per slice.
std::string Slices(const std::string& text) {
  std::string lines;
  const nlohmann::json document = nlohmann::json::parse(text);
  for (const nlohmann::json& event : document["traceEvents"]) {
    if (event["ph"] == "X") {
      lines += event["name"].get<std::string>() + " " + event["ts"].dump() + "+" +
               event["dur"].dump() + " " + event["samples"].dump() + "\n";
    }
  }
  return lines;
}

TEST(ChromeTrace, ACallIsASliceAsLongAsSamplesHaveIt) {
  ProfileForTest builder;
  builder.Add("app", "main work read", 1, 1000).Add("app", "main work", 1, 1000);
  builder.Add("app", "main", 1, 1000).Add("app", "main", 1, 1000);
  builder.SetTimes({11000, 12000, 13000, 99000});
  const Origin origin = {.first_sample = 11000, .last_sample = 99000};
  EXPECT_EQ(Slices(ChromeTrace(builder.profile(), origin).text),
            "read 0.0+1.0 1\n"
            "work 0.0+2.0 2\n"
            "main 0.0+3.0 3\n"
            "main 88.0+1.0 1\n");
}

TEST(ChromeTrace, ShortCallsAreLeftOutWhereThereAreTooManySlices) {
  ProfileForTest builder;
  builder.Add("app", "main work read", 1, 1000).Add("app", "main work write", 1, 1000);
  builder.Add("app", "main work", 1, 1000).Add("app", "main", 1, 1000);
  builder.SetTimes({11000, 12000, 13000, 14000});
  const ChromeTraceFile file = ChromeTrace(builder.profile(), kOrigin, 2);
  EXPECT_EQ(Slices(file.text),
            "work 10.0+3.0 3\n"
            "main 10.0+4.0 4\n");
  EXPECT_EQ(file.left_out, 2u);
  EXPECT_EQ(file.shortest, 1024u);
}

TEST(ChromeTrace, ATimeOffTheCpuEndsWithItsState) {
  ProfileForTest builder;
  const auto blocked = builder.AddEvent("offcpu-time");
  builder.Add("app", "main", 1, 1000).Add("app", "main sleep", 1, 50000, blocked);
  builder.SetTimes({11000, 61000});
  EXPECT_EQ(Slices(ChromeTrace(builder.profile(), {.first_sample = 0}).text),
            "[blocked] 11.0+50.0 1\n"
            "sleep 11.0+50.0 1\n"
            "main 10.0+51.0 2\n");
}

TEST(ChromeTrace, SamplesOfACounterStandForTheTimeSinceTheOneBefore) {
  ProfileForTest builder;
  const auto cycles = builder.AddEvent("cycles");
  builder.Add("app", "main", 1, 7, cycles).Add("app", "work", 1, 7, cycles);
  builder.Add("app", "work", 1, 7, cycles).Add("app", "main", 1, 7, cycles);
  builder.SetTimes({10000, 12000, 14000, 90000});
  EXPECT_EQ(Slices(ChromeTrace(builder.profile(), {.first_sample = 10000}).text),
            "main 0.0+2.0 1\n"
            "work 2.0+4.0 2\n"
            "main 78.0+4.0 1\n");
}

TEST(ChromeTrace, SamplesOfOtherEventsAreInstants) {
  ProfileForTest builder;
  const auto misses = builder.AddEvent("cache-misses");
  builder.Add("app", "main", 1, 1000).Add("app", "main", 1, 77, misses);
  builder.SetTimes({11000, 11500});
  const std::string text = ChromeTrace(builder.profile(), kOrigin).text;
  EXPECT_NE(text.find(R"({"ph":"i","s":"t","name":"cache-misses","pid":100,"tid":100,"ts":11.500,)"
                      R"("args":{"function":"main","samples":1,"period":77}})"),
            std::string::npos)
      << text;
}

TEST(Exports, NamesAreTextWhateverBytesTheyHave) {
  ProfileForTest builder;
  const std::string nasty = "</script>\"'\\;\n\x1b[31m\xff\xed\xa0\x80";
  builder.AddFrames("app\"", {{.name = nasty}});
  const std::string replaced = "</script>\"'\\;\n\x1b[31m\ufffd\ufffd\ufffd\ufffd";
  const auto speedscope = nlohmann::json::parse(Speedscope(builder.profile(), kOrigin).text);
  EXPECT_EQ(speedscope["shared"]["frames"][0]["name"], replaced);
  EXPECT_EQ(
      nlohmann::json::parse(ChromeTrace(builder.profile(), kOrigin).text)["traceEvents"][2]["name"],
      replaced);
  EXPECT_NE(PprofText(Pprof(builder.profile(), kOrigin)).find(replaced), std::string::npos);
  EXPECT_NE(Callgrind(builder.profile(), kOrigin).find("fn=(1) </script>\"'\\; "),
            std::string::npos);
}

TEST(Exports, ControlCharactersThatJsonPermitsAreEscapedAllTheSame) {
  ProfileForTest builder;
  builder.AddFrames("app", {{.name = "del\x7f \u0085 \u202e"}});
  const std::string escaped = R"("del\u007f \u0085 \u202e")";
  EXPECT_NE(Speedscope(builder.profile(), kOrigin).text.find(escaped), std::string::npos);
  EXPECT_NE(ChromeTrace(builder.profile(), kOrigin).text.find(escaped), std::string::npos);
}

TEST(Exports, AProfileWithoutSamplesIsAFileWithoutSamples) {
  const profile::Profile profile;
  EXPECT_EQ(PprofText(Pprof(profile, kOrigin)), "types\n");
  EXPECT_EQ(Slices(ChromeTrace(profile, kOrigin).text), "");
  EXPECT_TRUE(nlohmann::json::parse(Speedscope(profile, kOrigin).text)["profiles"].empty());
  EXPECT_NE(Callgrind(profile, kOrigin).find("summary:\n"), std::string::npos);
  EXPECT_NE(Otlp(profile, kOrigin), "");
}

}  // namespace
}  // namespace profiler::exports
