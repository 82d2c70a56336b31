#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "src/importers/json_tree.h"
#include "src/importers/testing/views.h"

namespace profiler::importers {
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

TEST(Speedscope, FramesThatCloseAtOneMomentCloseInTheOrderOfTheStack) {
  const auto loaded = Load(FileWith(R"json({"$schema":
    "https://www.speedscope.app/file-format-schema.json",
    "shared": {"frames": [{"name": "main"}, {"name": "f"}, {"name": "g"}]},
    "profiles": [{"type": "evented", "name": "w", "unit": "nanoseconds", "startValue": 0,
      "endValue": 100, "events": [{"type": "O", "frame": 0, "at": 0},
        {"type": "O", "frame": 1, "at": 30}, {"type": "O", "frame": 2, "at": 40},
        {"type": "C", "frame": 1, "at": 60}, {"type": "O", "frame": 1, "at": 60},
        {"type": "C", "frame": 2, "at": 60}, {"type": "O", "frame": 2, "at": 60},
        {"type": "C", "frame": 2, "at": 60}, {"type": "C", "frame": 0, "at": 100},
        {"type": "C", "frame": 1, "at": 100}]}]})json"));
  EXPECT_EQ(FoldedOf(loaded.profile), "w;main 30\nw;main;f 50\nw;main;f;g 20\n");
}

TEST(Speedscope, AFrameThatClosesBeforeItsCalleeIsRefused) {
  EXPECT_EQ(ErrorOf(FileWith(R"json({"$schema":
    "https://www.speedscope.app/file-format-schema.json",
    "shared": {"frames": [{"name": "main"}, {"name": "f"}]},
    "profiles": [{"type": "evented", "name": "w", "unit": "nanoseconds", "startValue": 0,
      "endValue": 100, "events": [{"type": "O", "frame": 0, "at": 0},
        {"type": "O", "frame": 1, "at": 30}, {"type": "C", "frame": 0, "at": 60},
        {"type": "C", "frame": 1, "at": 70}]}]})json")),
            "F: speedscope: profile 1: at 60 a frame closes that is not open, or before a frame "
            "that it called");
}

TEST(Speedscope, WithAFrameThatIsNotThereIsRefused) {
  EXPECT_EQ(
      ErrorOf(FileWith(R"json({"$schema": "https://www.speedscope.app/file-format-schema.json",
    "shared": {"frames": []}, "profiles": [{"type": "sampled", "name": "w", "unit": "none",
      "samples": [[5]], "weights": [1]}]})json")),
      "F: speedscope: profile 1: it names a frame that is not among the 0 of the file");
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

constexpr char kTwoNodes[] = R"json({"nodes": [
      {"id": 1, "callFrame": {"functionName": "a"}, "hitCount": 2},
      {"id": 2, "callFrame": {"functionName": "b"}, "hitCount": 1}])json";

TEST(ACpuProfile, HasItsSamplesInOrderOfTime) {
  const auto loaded = Load(FileWith(std::string(kTwoNodes) + R"json(,
    "startTime": 1000, "endTime": 2000, "samples": [1, 1, 2], "timeDeltas": [0, 500, -100]})json"));
  EXPECT_EQ(FoldedOf(loaded.profile), "[unknown];a 900000\n[unknown];b 100000\n");
}

TEST(ACpuProfile, HasNoTimeBeyondItsOwn) {
  const auto loaded = Load(FileWith(std::string(kTwoNodes) + R"json(,
    "startTime": 1000, "endTime": 2000, "samples": [1, 2], "timeDeltas": [-300, 800]})json"));
  EXPECT_EQ(FoldedOf(loaded.profile), "[unknown];a 500000\n[unknown];b 500000\n");
}

TEST(ACpuProfile, WithoutSamplesHasItsHitCounts) {
  const auto loaded = Load(FileWith(std::string(kTwoNodes) + "}"));
  EXPECT_EQ(EventsOf(loaded.profile), "samples 3/3");
  EXPECT_EQ(FoldedOf(loaded.profile), "[unknown];a 2\n[unknown];b 1\n");
}

TEST(ACpuProfile, OfTheOlderFormIsATree) {
  const auto loaded = Load(FileWith(R"json({"head": {"functionName": "(root)", "url": "",
    "lineNumber": 0, "id": 1, "hitCount": 0, "children": [
      {"functionName": "main", "url": "a.js", "lineNumber": 5, "id": 2, "hitCount": 0, "children": [
        {"functionName": "parse", "url": "a.js", "lineNumber": 9, "id": 3, "hitCount": 2,
         "children": []}]}]}, "startTime": 1.0, "endTime": 1.003, "samples": [3, 3, 2],
    "timestamps": [1000000, 1001000, 1002000]})json"));
  EXPECT_EQ(FramesOf(loaded.profile),
            "main@[unknown] a.js:5 1/1000000\n"
            "main@[unknown] a.js:5;parse@[unknown] a.js:9 2/2000000\n");
}

constexpr char kProfileInChunks[] = R"json([
  {"ph": "M", "name": "thread_name", "pid": 3, "tid": 4, "args": {"name": "CrRendererMain"}},
  {"ph": "X", "name": "Task", "pid": 3, "tid": 4, "ts": 1, "dur": 5},
  {"ph": "P", "name": "Profile", "id": "0x1", "pid": 3, "tid": 4,
   "args": {"data": {"startTime": 5000}}},
  {"ph": "P", "name": "ProfileChunk", "id": "0x1", "pid": 3, "tid": 9, "args": {"data": {
   "cpuProfile": {"nodes": [{"id": 1, "callFrame": {"functionName": "main"}}], "samples": [1, 1]},
   "timeDeltas": [0, 1000]}}},
  {"ph": "P", "name": "ProfileChunk", "id": "0x1", "pid": 3, "tid": 9, "args": {"data": {
   "cpuProfile": {"nodes": [{"id": 2, "parent": 1, "callFrame": {"functionName": "f"}}],
   "samples": [2]}, "timeDeltas": [1000], "endTime": 7500}}})json";

TEST(AChromeTrace, HasItsCpuProfilesChunks) {
  const auto loaded = Load(FileWith(std::string(kProfileInChunks) + "]"));
  EXPECT_EQ(FoldedOf(loaded.profile),
            "CrRendererMain;main 2000000\nCrRendererMain;main;f 500000\n");
}

TEST(AChromeTrace, IsReadWithoutTheEndOfItsArray) {
  const auto loaded = Load(FileWith(std::string(kProfileInChunks) + ",\n"));
  EXPECT_EQ(EventsOf(loaded.profile), "time 3/2500000");
}

TEST(AChromeTrace, OfSlicesHasTheTimeThatTheirCalleesDoNotHave) {
  const auto loaded = Load(FileWith(R"json({"traceEvents": [
    {"ph": "X", "name": "callee", "pid": 1, "tid": 1, "ts": 2, "dur": 6},
    {"ph": "X", "name": "outer", "pid": 1, "tid": 1, "ts": 0, "dur": 10},
    {"ph": "B", "name": "begun", "pid": 1, "tid": 2, "ts": 3},
    {"ph": "E", "pid": 1, "tid": 2, "ts": 4},
    {"ph": "B", "name": "endless", "pid": 1, "tid": 2, "ts": 5},
    {"ph": "X", "name": "last", "pid": 1, "tid": 2, "ts": 6, "dur": 1.5},
    {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "app"}}]})json"));
  EXPECT_EQ(FoldedOf(loaded.profile),
            "app;begun 1000\napp;endless 1000\napp;endless;last 1500\napp;outer 4000\n"
            "app;outer;callee 6000\n");
}

TEST(AChromeTrace, SaysWhichSlicesItChangedOrLeftOut) {
  const auto loaded = Load(FileWith(R"json({"traceEvents": [
    {"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 0, "dur": 10},
    {"ph": "X", "name": "b", "pid": 1, "tid": 1, "ts": 5, "dur": 10},
    {"ph": "E", "pid": 1, "tid": 1, "ts": 20},
    {"ph": "X", "name": "c", "pid": 1, "tid": 1, "ts": 20}]})json"));
  EXPECT_EQ(FoldedOf(loaded.profile), "[unknown];a 5000\n[unknown];a;b 5000\n");
  const std::vector<std::string>& warnings = loaded.recording->warnings();
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_TRUE(warnings[0].ends_with(
      ": slices without a begin or a time, or with a negative one, were left out: 2"));
  EXPECT_TRUE(warnings[1].ends_with(
      ": slices that end after the slice that they began in were cut there: 1"));
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

// samply saves addresses in the profile, and their names in a file beside it.
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
}  // namespace profiler::importers
