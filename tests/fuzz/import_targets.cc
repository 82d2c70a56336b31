// Fuzzes profiles of other programs: one target per format, and one that detects the format.

#include <span>
#include <string>
#include <string_view>

#include "src/base/gzip.h"
#include "src/format/perf_data/read/recording.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/codec.h"
#include "src/importers/format.h"
#include "src/importers/import.h"
#include "src/importers/open_recording.h"
#include "src/importers/write_profile.h"
#include "src/views/flamegraph/testing/profile_for_test.h"
#include "src/views/interchange/firefox.h"
#include "src/views/interchange/origin.h"
#include "src/views/interchange/otlp.h"
#include "src/views/interchange/pprof.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/recording_files.h"

namespace profiler::fuzz {
namespace {

using importers::Format;

// Returns the sum of the periods of a recording's samples.
uint64_t PeriodsIn(const std::string& path) {
  auto recording = perf_data::Recording::Open(path);
  Require(recording.ok(), "what is written of a profile can be read");
  uint64_t sum = 0;
  const absl::Status status =
      (*recording)
          ->ForEach(perf_data::Recording::Order::kTime, [&](const perf_data::TimedRecord& timed) {
            if (timed.record.type() != perf_event::kRecordSample) return;
            perf_event::Sample sample;
            Require(Decode(timed.record, (*recording)->events()[timed.event].layout, &sample),
                    "a sample is whole");
            sum += sample.period;
          });
  Require(status.ok(), "all of what is written can be read");
  return sum;
}

void ImportAs(std::span<const std::byte> input, std::optional<Format> format) {
  const auto imported = importers::Import(input, format);
  if (!imported.ok()) {
    Require(!imported.status().message().empty(), "an error says what is wrong");
    return;
  }
  uint64_t of_rows = 0, of_events = 0;
  for (const profile::Row& row : imported->profile.rows) of_rows += row.period;
  for (const profile::Event& event : imported->profile.events) of_events += event.period;
  Require(of_rows == of_events, "events are the sums of their rows");
  MemoryFile file;
  importers::WriteProfileOptions options;
  options.most_samples = 1000;  // more samples only cost time
  const auto written = importers::WriteProfile(imported->profile, file.path(), options);
  Require(written.ok(), "a profile can be written");
  Require(PeriodsIn(file.path()) == of_rows, "a recording has the totals of its profile");
}

template <Format kFormat>
void Run(std::span<const std::byte> input) {
  ImportAs(input, kFormat);
}

// Imports the input. Also opens it as a file and as a pipe, as views do.
void RunAny(std::span<const std::byte> input) {
  ImportAs(input, std::nullopt);
  static MemoryFile& file = *new MemoryFile();
  file.Fill(input);
  const auto recording = importers::OpenRecording(file.path());
  Require(recording.ok() || !recording.status().message().empty(), "an error says what is wrong");
  constexpr size_t kPipeSize = 64 << 10;
  if (input.size() > kPipeSize) return;
  const UniqueFd pipe = FilledPipe(input);
  Require(importers::OpenRecording(PathOf(pipe.get())).ok() == recording.ok(),
          "a profile is read from a pipe as from a file");
}

std::vector<Bytes> BytesOf(std::initializer_list<std::string_view> texts) {
  std::vector<Bytes> seeds;
  for (const std::string_view text : texts) seeds.push_back(ToBytes(text));
  return seeds;
}

std::vector<Bytes> FoldedSeeds() {
  return BytesOf({"sh;main;read_[k] 12\nsh;main 1.5\n", "a;b 1 2\na;c 3 4\n"});
}

std::vector<Bytes> PerfScriptSeeds() {
  return BytesOf(
      {"sh 12/13 [003] 1.500000: 100 cycles:u:\n"
       "\t7f0000001010 read+0x10 (/lib/libc.so.6)\n"
       "\t401b94 inner (inlined)\n\t401b94 main+0x1c (/bin/app (deleted))\n"
       "  main.c:12\n\n"
       "sh 12 2.5: cycles: ffffffff81000010 [unknown] ([kernel.kallsyms])\n",
       "a b 1 cycles:\nffffffffc0000010 f ([ext4])\n10 g (//anon)\n20 h ([vdso])\n"});
}

// Returns seeds with two sample types, one sample, one mapping, and a location with a function.
std::vector<Bytes> PprofSeeds() {
  return BytesOf({std::string_view(
      "\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x03\x10\x04\x12\x08\x0a\x01\x01\x12\x03\x03\x90\x4e"
      "\x1a\x0e\x08\x01\x10\x80\x80\x80\x02\x18\x80\x80\xc0\x02\x28\x05"
      "\x22\x0d\x08\x01\x10\x01\x18\x90\x80\x80\x02\x22\x04\x08\x01\x10\x09"
      "\x2a\x04\x08\x01\x10\x06\x32\x00\x32\x07samples\x32\x05"
      "count\x32\x03"
      "cpu\x32\x0bnanoseconds\x32\x06/bin/x\x32\x04main",
      112)});
}

std::vector<Bytes> LegacyPprofSeeds() {
  static constexpr uint64_t kCpu[] = {0, 3, 0, 10000, 0, 2, 2, 0x401000, 0x402000, 0, 1, 0};
  std::vector<Bytes> seeds = BytesOf(
      {"heap profile: 2: 18432 [ 3: 20000] @ heapz_v2/524288\n"
       " 1: 9216 [ 2: 10784] @ 0x400101 0x400201\n--- Memory map: ---\n"
       " source=/bin\n 00400000-00500000: $source/server\n",
       "heap_v2/4096\n t*: 3: 300 [0: 0]\n@ 0x400101\n t*: 2: 200 [0: 0]\nMAPPED_LIBRARIES:\n"
       "00400000-00500000 r-xp 00000000 08:01 123 /bin/server\n",
       "goroutine profile: total 2\n2 @ 0x401001\n#\t0x401001\tmain.main+0x1\t\t/src/main.go:9\n"});
  const auto cpu = std::as_bytes(std::span(kCpu));
  seeds.emplace_back(cpu.begin(), cpu.end());
  // Mappings. In a CPU profile they follow the samples.
  const Bytes maps = ToBytes(
      "build=/opt/app\n00400000-00500000 r-xp 00001000 08:01 123 /bin/server\n"
      "7f0000000000-7f0000001000 rw-p 00000000 00:00 0 [stack]\n 00600000-00700000: $build/x\n");
  seeds.emplace_back(cpu.begin(), cpu.end());
  seeds.back().insert(seeds.back().end(), maps.begin(), maps.end());
  // A Java profile. Its samples have numbers of functions; the functions' names follow the samples.
  static constexpr uint64_t kJava[] = {0, 3, 1, 10000, 0, 2, 2, 0x6, 0x7, 0, 1, 0};
  const auto java = std::as_bytes(std::span(kJava));
  const Bytes names = ToBytes(" 0x0000006 com.example.f06 (source.java:06)\n 0x7 g\n");
  seeds.emplace_back(java.begin(), java.end());
  seeds.back().insert(seeds.back().end(), names.begin(), names.end());
  return seeds;
}

std::vector<Bytes> FirefoxSeeds() {
  return BytesOf(
      {R"({"meta":{"preprocessedProfileVersion":61},"libs":[{"path":"/lib/x.so"}],"shared":{
"stringArray":["main","f"],"stackTable":{"frame":[0,1],"prefix":[null,0]},"frameTable":{"func":[0,1],
"line":[null,7]},"funcTable":{"name":[0,1],"resource":[-1,0]},"resourceTable":{"lib":[0]}},"threads":[
{"name":"a","pid":"1","tid":2,"samples":{"stack":[1,null],"time":[1,2],"weight":[3,1],"weightType":"samples"}}]})",
       R"j({"meta":{"interval":1},"libs":[],"threads":[{"name":"G","pid":5,"tid":6,"samples":{"schema":{"stack":0,
"time":1},"data":[[1,2.0]]},"stackTable":{"schema":{"prefix":0,"frame":1},"data":[[null,0],[0,1]]},
"frameTable":{"schema":{"location":0},"data":[[0],[1]]},"stringTable":["main","go (y.js:12:3)"]}]})j"});
}

std::vector<Bytes> SpeedscopeSeeds() {
  return BytesOf(
      {R"({"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[{"name":"main",
"file":"a.c","line":3},{"name":"f"}]},"profiles":[{"type":"sampled","name":"w","unit":"milliseconds",
"startValue":10,"samples":[[0],[0,1]],"weights":[1,2]},{"type":"evented","name":"v","unit":"none","startValue":0,
"events":[{"type":"O","frame":0,"at":0},{"type":"C","frame":0,"at":9}]}]})"});
}

std::vector<Bytes> CpuProfileSeeds() {
  return BytesOf(
      {R"j({"nodes":[{"id":1,"callFrame":{"functionName":"(root)"},"children":[2]},{"id":2,"callFrame":
{"functionName":"main","url":"a.js","lineNumber":9}}],"startTime":1000,"endTime":1100,"samples":[2,2],
"timeDeltas":[5,10]})j"});
}

std::vector<Bytes> ChromeTraceSeeds() {
  return BytesOf(
      {R"j([{"ph":"M","name":"thread_name","pid":3,"tid":4,"args":{"name":"main"}},{"ph":"P","name":"Profile",
"id":"0x1","pid":3,"tid":4,"args":{"data":{"startTime":5000}}},{"ph":"P","name":"ProfileChunk","id":"0x1","pid":3,
"tid":9,"args":{"data":{"cpuProfile":{"nodes":[{"id":1,"callFrame":{"functionName":"f"}}],"samples":[1,1]},
"timeDeltas":[0,9],"endTime":5100}}}])j",
       R"j({"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":10},{"ph":"B","name":"b","pid":1,
"tid":"1","ts":3},{"ph":"E","pid":1,"tid":1,"ts":4}]})j"});
}

std::vector<Bytes> CallgrindSeeds() {
  return BytesOf(
      {"# callgrind format\nevent: Ir : Instructions\npositions: instr line\nevents: Ir Dr\nob=(1) "
       "/bin/app\nfl=(1) a.c\nfn=(1) main\n0x10 15 400 20\ncfn=(2) work\ncalls=3 0x20 20\n+4 16 "
       "900 "
       "10\n* -1 7\nfn=(2)\n0x20 20 900 10\n"});
}

Bytes Gzipped(const Bytes& plain) {
  const std::string gzip = Gzip(TextOf(plain));
  const std::span<const std::byte> bytes = BytesOfText(gzip);
  return {bytes.begin(), bytes.end()};
}

// Returns the profile that the seeds export. It has inlined calls, several events, and times.
const exports::ProfileForTest& ProfileToExport() {
  static const exports::ProfileForTest& example = *[] {
    auto* const profile = new exports::ProfileForTest();
    profile->Define("inl", {.name = "outer", .inlined = {"inner", "innermost"}});
    profile->Define("lib", {.name = "in_lib", .image = "/lib/libc.so.6"});
    profile->Define("sys", {.name = "sys_read",
                            .image = "[kernel.kallsyms]",
                            .kind = symbolize::ImageKind::kKernel,
                            .mode = profile::Mode::kKernel});
    profile->Define("nameless", {.name = ""});
    const profile::EventId faults = profile->AddEvent("page-faults");
    profile->In(101, 0, 4).Add("app", "main lib sys", 3, 300).Add("app", "main inl", 2, 200);
    profile->In(102, 2, 4).Add("worker", "main nameless", 1, 50);
    profile->Add("worker", "main", 4, 4, faults);
    return profile;
  }();
  return example;
}

std::vector<Bytes> OtlpSeeds() {
  const exports::Origin origin = {.command = "app", .last_sample = 40, .clock_started = 1000};
  return {ToBytes(exports::Otlp(ProfileToExport().profile(), origin)),
          ToBytes(exports::Otlp(ProfileToExport().profile(), {}))};
}

std::vector<Bytes> SeedsOfExports() {
  const profile::Profile& profile = ProfileToExport().profile();
  const exports::Origin origin = {.command = "app", .machine = "x86_64", .last_sample = 40};
  return {ToBytes(exports::Pprof(profile, origin)), ToBytes(exports::Firefox(profile, origin))};
}

std::vector<Bytes> AllSeeds() {
  std::vector<Bytes> all;
  for (const auto seeds :
       {FoldedSeeds, PerfScriptSeeds, PprofSeeds, LegacyPprofSeeds, FirefoxSeeds, SpeedscopeSeeds,
        CpuProfileSeeds, ChromeTraceSeeds, CallgrindSeeds, OtlpSeeds}) {
    for (Bytes& seed : seeds()) {
      all.push_back(Gzipped(seed));
      all.push_back(std::move(seed));
    }
  }
  for (Bytes& seed : SeedsOfExports()) all.push_back(std::move(seed));
  return all;
}

}  // namespace

FuzzTarget ImportTarget() { return {"import", "profiles of any format", RunAny, AllSeeds}; }
FuzzTarget ImportFoldedTarget() {
  return {"import_folded", "folded stacks", Run<Format::kFolded>, FoldedSeeds};
}
FuzzTarget ImportPerfScriptTarget() {
  return {"import_perf_script", "perf script text", Run<Format::kPerfScript>, PerfScriptSeeds};
}
FuzzTarget ImportPprofTarget() {
  return {"import_pprof", "pprof", Run<Format::kPprof>, PprofSeeds};
}
FuzzTarget ImportLegacyPprofTarget() {
  return {"import_pprof_legacy", "legacy pprof", Run<Format::kLegacyPprof>, LegacyPprofSeeds};
}
FuzzTarget ImportFirefoxTarget() {
  return {"import_firefox", "Firefox Profiler", Run<Format::kFirefox>, FirefoxSeeds};
}
FuzzTarget ImportSpeedscopeTarget() {
  return {"import_speedscope", "speedscope", Run<Format::kSpeedscope>, SpeedscopeSeeds};
}
FuzzTarget ImportCpuProfileTarget() {
  return {"import_cpuprofile", "V8 CPU profiles", Run<Format::kCpuProfile>, CpuProfileSeeds};
}

FuzzTarget ImportChromeTraceTarget() {
  return {"import_chrome_trace", "Chrome traces", Run<Format::kChromeTrace>, ChromeTraceSeeds};
}
FuzzTarget ImportCallgrindTarget() {
  return {"import_callgrind", "callgrind files", Run<Format::kCallgrind>, CallgrindSeeds};
}
FuzzTarget ImportOtlpTarget() {
  return {"import_otlp", "OpenTelemetry profiles", Run<Format::kOtlp>, OtlpSeeds};
}

}  // namespace profiler::fuzz
