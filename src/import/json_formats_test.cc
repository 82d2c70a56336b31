#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "src/import/json_tree.h"
#include "src/import/testing/views.h"

namespace profiler::import {
namespace {

TEST(AJsonTree, HasWhatTheTextHas) {
  const auto tree = JsonTree::Parse(R"json({"a": [1.5, "x", null, {"b": -2}], "c": true})json");
  ASSERT_TRUE(tree.ok()) << tree.status();
  const auto elements = tree->root()["a"].elements();
  ASSERT_EQ(elements.size(), 4);
  EXPECT_EQ(elements[0].number(), 1.5);
  EXPECT_EQ(elements[1].text(), "x");
  EXPECT_FALSE(elements[2].exists());
  EXPECT_EQ(elements[3]["b"].number(), -2);
  EXPECT_EQ(elements[3]["b"].index(), std::nullopt);
  EXPECT_FALSE(tree->root()["no"]["such"]["path"].exists());
}

TEST(AJsonTree, SaysWhereTheTextIsNone) {
  EXPECT_EQ(JsonTree::Parse("{\"a\": [1,,]}").status().message(),
            "offset 9: no JSON from there on");
  EXPECT_EQ(JsonTree::Parse(std::string(1000, '[')).status().message(),
            "it nests more than 200 levels deep");
}

TEST(Speedscope, OfSamplesHasTheirTimesAndWeights) {
  const auto loaded = Load(FileWith(R"json({
    "$schema": "https://www.speedscope.app/file-format-schema.json",
    "shared": {"frames": [{"name": "main", "file": "a.c", "line": 3}, {"name": "f"}]},
    "profiles": [{"type": "sampled", "name": "worker", "unit": "milliseconds", "startValue": 10,
      "endValue": 16, "samples": [[0], [0, 1], [0, 1]], "weights": [1, 2, 3]}]})json"));
  EXPECT_EQ(EventsOf(loaded.profile), "time 3/6000000");
  EXPECT_EQ(FoldedOf(loaded.profile), "worker;main 1000000\nworker;main;f 5000000\n");
  EXPECT_EQ(loaded.recording->features().sample_time->first, 10'000'000);
  EXPECT_EQ(loaded.recording->features().sample_time->last, 13'000'000);
}

TEST(Speedscope, OfCountsAndOfBytesAreAnEventEach) {
  const auto loaded = Load(FileWith(R"json({"$schema":
    "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": [{"name": "f"}]},
    "profiles": [
      {"type": "sampled", "name": "a", "unit": "none", "samples": [[0]], "weights": [7]},
      {"type": "sampled", "name": "b", "unit": "bytes", "samples": [[0]], "weights": [100]}]})json"));
  EXPECT_EQ(EventsOf(loaded.profile), "samples 7/7, bytes 1/100");
}

TEST(Speedscope, OfEventsHasTheTimeBetweenThem) {
  const auto loaded = Load(FileWith(R"json({"$schema":
    "https://www.speedscope.app/file-format-schema.json",
    "shared": {"frames": [{"name": "main"}, {"name": "f"}]},
    "profiles": [{"type": "evented", "name": "w", "unit": "nanoseconds", "startValue": 0,
      "endValue": 100, "events": [{"type": "O", "frame": 0, "at": 0},
        {"type": "O", "frame": 1, "at": 30}, {"type": "C", "frame": 1, "at": 90},
        {"type": "C", "frame": 0, "at": 100}]}]})json"));
  EXPECT_EQ(FoldedOf(loaded.profile), "w;main 40\nw;main;f 60\n");
}

TEST(Speedscope, WithAFrameThatIsNotThereIsRefused) {
  EXPECT_EQ(
      ErrorOf(FileWith(R"json({"$schema": "https://www.speedscope.app/file-format-schema.json",
    "shared": {"frames": []}, "profiles": [{"type": "sampled", "name": "w", "unit": "none",
      "samples": [[5]], "weights": [1]}]})json")),
      "F: speedscope: profile 1: it has a frame that is none of the 0 of the file");
}

TEST(ACpuProfile, HasTheTimeFromEachSampleToTheNext) {
  const auto loaded = Load(FileWith(R"json({"nodes": [
      {"id": 1, "callFrame": {"functionName": "(root)", "url": "", "lineNumber": -1},
       "children": [2, 4]
},
      {"id": 2, "callFrame": {"functionName": "main", "url": "file:///a.js", "lineNumber": 9},
       "children": [3]},
      {"id": 3, "callFrame": {"functionName": "", "url": "file:///a.js", "lineNumber": 19}},
      {"id": 4, "callFrame": {"functionName": "(idle)", "url": "", "lineNumber": -1}}],
    "startTime": 1000, "endTime": 1100, "samples": [2, 3, 3, 4], "timeDeltas": [5, 10, 20, 30]
})json"));
  EXPECT_EQ(FoldedOf(loaded.profile),
            "[unknown];(idle) 35000\n[unknown];main 10000\n[unknown];main;<anonymous> 50000\n");
  EXPECT_EQ(FramesOf(loaded.profile),
            "(idle)@[unknown] 1/35000\n"
            "main@[unknown] file:///a.js:10 1/10000\n"
            "main@[unknown] file:///a.js:10;<anonymous>@[unknown] file:///a.js:20 2/50000\n");
}

TEST(ACpuProfile, WhoseNodesAreNoTreeIsRefused) {
  EXPECT_NE(ErrorOf(FileWith(R"json({"nodes": [
      {"id": 1, "callFrame": {"functionName": "a"}, "children": [2]},
      {"id": 2, "callFrame": {"functionName": "b"}, "children": [1]}],
    "startTime": 0, "endTime": 1, "samples": [1], "timeDeltas": [1]})json"))
                .find("is among its own callers"),
            std::string::npos);
}

constexpr char kTablesOfFirefox[] = R"json(
    "stackTable": {"frame": [0, 1], "prefix": [null, 0], "length": 2},
    "frameTable": {"func": [0, 1], "line": [null, 7], "address": [-1, 16], "length": 2},
    "funcTable": {"name": [0, 1], "fileName": [null, 2], "resource": [-1, 0], "length": 2},
    "resourceTable": {"lib": [0], "name": [3], "type": [1], "length": 1},
    "nativeSymbols": {"length": 0})json";

TEST(AProfileOfFirefox, HasItsTablesInEachThread) {
  const auto loaded = Load(FileWith(std::string(R"json({"meta": {"interval": 1, "version": 24,
    "preprocessedProfileVersion": 57}, "libs": [{"name": "libx.so", "path": "/lib/libx.so"}],
    "threads": [{"name": "GeckoMain", "pid": "12", "tid": 13,
    "stringArray": ["main", "work", "x.cc", "libx.so"], "samples": {"stack": [1, null, 0, 1],
      "time": [1.5, 2, 3, 4.25], "weight": [2, 1, 1, 1], "weightType": "samples", "length": 4},)json") +
                                    kTablesOfFirefox + "}]}"));
  EXPECT_EQ(EventsOf(loaded.profile), "samples 4/4");
  EXPECT_EQ(FramesOf(loaded.profile),
            "main@[unknown] 1/1\nmain@[unknown];work@libx.so x.cc:7 3/3\n");
  EXPECT_EQ(loaded.profile.threads[0].pid, 12);
  EXPECT_EQ(loaded.recording->features().sample_time->first, 1'500'000);
  EXPECT_EQ(loaded.recording->features().sample_time->last, 4'250'000);
}

// As samply saves it: addresses in the place of names, and what they are in a file beside it.
TEST(AProfileOfFirefox, WithoutNamesHasThoseOfTheSymbolFileBesideIt) {
  const std::string path = FileWith(R"json({"meta": {"symbolicated": false},
    "libs": [{"path": "/no/such/file", "codeId": "3e5c28e9"}],
    "threads": [{"name": "w", "stringArray": ["0x1139", "0x1200"],
      "frameTable": {"func": [0, 1], "address": [4409, 4608]},
      "funcTable": {"name": [0, 1], "resource": [0, 0]}, "resourceTable": {"lib": [0]},
      "stackTable": {"frame": [1, 0], "prefix": [null, 0]},
      "samples": {"stack": [1], "time": [1]}}]})json");
  std::ofstream(path + ".syms.json") << R"json({"string_table": ["UNKNOWN", "heavy"],
    "data": [{"code_id": "3e5c28e9",
              "symbol_table": [{"rva": 4393, "size": 35, "symbol": 1}]}]})json";
  EXPECT_EQ(FoldedOf(Load(path).profile), "w;0x1200;heavy 1\n");
}

TEST(AProfileOfFirefox, HasTablesThatItsThreadsShare) {
  const auto loaded = Load(FileWith(std::string(R"json({"meta": {"interval": 1, "version": 24,
    "preprocessedProfileVersion": 61}, "libs": [{"name": "libx.so", "path": "/lib/libx.so"}],
    "shared": {"stringArray": ["main", "work", "x.cc", "libx.so"],)json") +
                                    kTablesOfFirefox + R"json(},
    "threads": [{"name": "a", "pid": "1", "tid": 1, "samples": {"stack": [1], "timeDeltas": [4],
      "weight": null, "weightType": "samples", "length": 1}},
      {"name": "b", "pid": "1", "tid": 2, "samples": {"stack": [0, 1], "time": [1, 2],
      "weight": [10, -20], "weightType": "bytes", "length": 2}}]})json"));
  EXPECT_EQ(EventsOf(loaded.profile), "samples 1/1, bytes 1/10");
  EXPECT_EQ(FoldedOf(loaded.profile, "samples"), "a;main;work 1\n");
  EXPECT_EQ(FoldedOf(loaded.profile, "bytes"), "b;main 10\n");
}

TEST(AProfileOfFirefox, OfGeckoHasRowsWithASchema) {
  const auto loaded = Load(FileWith(R"json({"meta": {"interval": 1, "version": 24}, "libs": [],
    "threads": [{"name": "GeckoMain", "pid": 5, "tid": 6,
      "samples": {"schema": {"stack": 0, "time": 1}, "data": [[1, 2.0], [0, 3.0]]},
      "stackTable": {"schema": {"prefix": 0, "frame": 1}, "data": [[null, 0], [0, 1]]},
      "frameTable": {"schema": {"location": 0}, "data": [[0], [1]]},
      "stringTable": ["main", "go (https://x.org/y.js:12:3)"]}]
})json"));
  EXPECT_EQ(FramesOf(loaded.profile),
            "main@[unknown] 1/1\nmain@[unknown];go@[unknown] https://x.org/y.js:12 1/1\n");
}

}  // namespace
}  // namespace profiler::import
