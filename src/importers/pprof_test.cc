#include <gtest/gtest.h>

#include <map>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/gzip.h"
#include "src/importers/pprof_fields.h"
#include "src/importers/testing/views.h"

namespace profiler::importers {
namespace {

using protozero::pbf_writer;
using Fields = PprofFields;

// A builder of profiles in pprof's format.
class PprofBuilder {
 public:
  PprofBuilder() { Text(""); }

  PprofBuilder& Type(std::string_view type, std::string_view unit) {
    pbf_writer message(profile_, Fields::kSampleType);
    message.add_int64(Fields::kType, Text(type));
    message.add_int64(Fields::kUnit, Text(unit));
    return *this;
  }

  PprofBuilder& Mapping(uint64_t id, uint64_t start, uint64_t limit, uint64_t offset,
                        std::string_view file, std::string_view build_id = "") {
    pbf_writer message(profile_, Fields::kMapping);
    message.add_uint64(Fields::kMappingId, id);
    message.add_uint64(Fields::kStart, start);
    message.add_uint64(Fields::kLimit, limit);
    message.add_uint64(Fields::kOffset, offset);
    message.add_int64(Fields::kFilename, Text(file));
    message.add_int64(Fields::kBuildId, Text(build_id));
    return *this;
  }

  struct Function {
    std::string_view name, file;
    int64_t line = 0;
  };
  PprofBuilder& Location(uint64_t id, uint64_t mapping, uint64_t address,
                         const std::vector<Function>& functions) {
    std::string lines;
    for (const Function& function : functions) {
      const uint64_t number = ++functions_;
      {
        pbf_writer message(profile_, Fields::kFunction);
        message.add_uint64(Fields::kFunctionIdOf, number);
        message.add_int64(Fields::kName, Text(function.name));
        message.add_int64(Fields::kFile, Text(function.file));
      }
      std::string line;
      pbf_writer message(line);
      message.add_uint64(Fields::kFunctionId, number);
      message.add_int64(Fields::kLineNumber, function.line);
      pbf_writer(lines).add_message(Fields::kLine, line);
    }
    std::string location;
    pbf_writer message(location);
    message.add_uint64(Fields::kLocId, id);
    message.add_uint64(Fields::kMappingOf, mapping);
    message.add_uint64(Fields::kAddress, address);
    profile_.add_message(Fields::kLocation, location + lines);
    return *this;
  }

  PprofBuilder& Sample(const std::vector<uint64_t>& locations, const std::vector<int64_t>& values,
                       const std::map<std::string, std::string>& labels = {}) {
    pbf_writer message(profile_, Fields::kSample);
    message.add_packed_uint64(Fields::kLocationId, locations.begin(), locations.end());
    message.add_packed_int64(Fields::kValue, values.begin(), values.end());
    for (const auto& [key, value] : labels) {
      pbf_writer label(message, Fields::kLabel);
      label.add_int64(Fields::kKey, Text(key));
      label.add_int64(Fields::kStr, Text(value));
    }
    return *this;
  }

  // Adds a field that refers to a string.
  PprofBuilder& Field(uint32_t field, std::string_view text) {
    profile_.add_int64(field, Text(text));
    return *this;
  }

  std::string Bytes() const { return bytes_ + strings_; }

 private:
  int64_t Text(std::string_view text) {
    pbf_writer(strings_).add_string(Fields::kString, text.data(), text.size());
    return next_string_++;
  }

  std::string bytes_, strings_;
  pbf_writer profile_{bytes_};
  int64_t next_string_ = 0;
  uint64_t functions_ = 0;
};

PprofBuilder CpuProfile() {
  PprofBuilder pprof;
  pprof.Type("samples", "count").Type("cpu", "nanoseconds");
  pprof.Mapping(1, 0x400000, 0x500000, 0x1000, "/bin/server", "0123456789abcdef");
  pprof.Mapping(2, 0x7f0000000000, 0x7f0000100000, 0, "/lib/libc.so.6");
  pprof.Location(1, 2, 0x7f0000000100, {{"read", "read.c", 10}});
  pprof.Location(2, 1, 0x400200, {{"inner", "a.h", 3}, {"main", "main.c", 20}});
  pprof.Location(3, 1, 0x400300, {});
  return pprof;
}

TEST(Pprof, HasCountsPeriodsImagesLinesAndInlinedCalls) {
  PprofBuilder pprof = CpuProfile();
  pprof.Sample({1, 2}, {3, 30'000'000}).Sample({3}, {1, 10'000'000});
  for (const std::string& bytes : {pprof.Bytes(), Gzip(pprof.Bytes())}) {
    const auto loaded = Load(FileWith(bytes));
    EXPECT_EQ(EventsOf(loaded.profile), "cpu 4/40000000");
    EXPECT_EQ(FramesOf(loaded.profile),
              "?@server 1/10000000\n"
              "main@server main.c:20;inner@server a.h:3;read@libc.so.6 read.c:10 3/30000000\n");
  }
}

TEST(Pprof, KeepsBuildIdsAndPlacesInFiles) {
  PprofBuilder pprof = CpuProfile();
  pprof.Sample({3}, {1, 10});
  const auto loaded = Load(FileWith(pprof.Bytes()));
  const profile::Frame& frame = loaded.profile[loaded.profile.rows[0].self];
  EXPECT_EQ(frame.ip.value, 0x400300);
  EXPECT_EQ(frame.place.value, 0x1300);
  EXPECT_EQ(loaded.profile[frame.image].build_id.size(), 8);
}

TEST(Pprof, SaysWhoseSampleItIsByItsLabels) {
  PprofBuilder pprof = CpuProfile();
  pprof.Sample({1}, {1, 10}, {{"pid", "12"}, {"tid", "13"}, {"thread", "worker"}});
  pprof.Sample({1}, {2, 20});
  const auto loaded = Load(FileWith(pprof.Bytes()));
  EXPECT_EQ(FoldedOf(loaded.profile), "server;read 20\nworker;read 10\n");
  EXPECT_EQ(loaded.profile[loaded.profile.rows[0].thread].tid, 13);
}

TEST(Pprof, OfAHeapIsAnEventForEachOfItsValues) {
  PprofBuilder pprof;
  pprof.Type("alloc_objects", "count").Type("alloc_space", "bytes").Type("inuse_space", "bytes");
  pprof.Location(1, 0, 0, {{"f", "", 0}}).Location(2, 0, 0, {{"g", "", 0}});
  pprof.Sample({1}, {3, 300, 0}).Sample({2}, {1, 50, 50}).Sample({2}, {0, 0, -5});
  const auto loaded = Load(FileWith(pprof.Bytes()));
  EXPECT_EQ(EventsOf(loaded.profile), "inuse_space 1/50, alloc_objects 2/4, alloc_space 2/350");
  ASSERT_EQ(loaded.recording->warnings().size(), 1);
  EXPECT_TRUE(loaded.recording->warnings()[0].ends_with("1 values are below zero and left out"));
}

TEST(Pprof, OfSeveralEventsHasTheSamplesOfEach) {
  PprofBuilder pprof;
  pprof.Type("cycles_samples", "count").Type("cycles", "count");
  pprof.Type("faults_samples", "count").Type("faults", "count");
  pprof.Location(1, 0, 0, {{"f", "", 0}});
  pprof.Sample({1}, {3, 3000, 1, 40}).Sample({1}, {0, 0, 2, 2});
  EXPECT_EQ(EventsOf(Load(FileWith(pprof.Bytes())).profile), "faults 3/42, cycles 3/3000");
}

// Returns a profile in which main calls work, and work calls malloc. The function alloc is inlined
// into malloc.
PprofBuilder MallocProfile() {
  PprofBuilder pprof;
  pprof.Type("space", "bytes");
  pprof.Location(1, 0, 0, {{"main", "", 0}}).Location(2, 0, 0, {{"work", "", 0}});
  pprof.Location(3, 0, 0, {{"alloc", "", 0}, {"malloc(unsigned long)", "", 0}});
  pprof.Sample({3, 2, 1}, {7}).Sample({2, 1}, {5});
  return pprof;
}

std::string FoldedWith(std::string_view drop, std::string_view keep = {}) {
  PprofBuilder pprof = MallocProfile();
  pprof.Field(Fields::kDropFrames, drop).Field(Fields::kKeepFrames, keep);
  return FoldedOf(Load(FileWith(pprof.Bytes())).profile);
}

TEST(Pprof, CountsASampleForTheInnermostInlinedFunction) {
  EXPECT_EQ(FoldedOf(Load(FileWith(MallocProfile().Bytes())).profile),
            "[unknown];main;work 5\n[unknown];main;work;malloc(unsigned long);alloc 7\n");
}

TEST(Pprof, LeavesOutWhatItsDropFramesName) {
  EXPECT_EQ(FoldedWith("malloc|free"), "[unknown];main;work 12\n");
  EXPECT_EQ(FoldedWith("mal"), FoldedWith("nothing"));
  EXPECT_EQ(FoldedWith("alloc"),
            "[unknown];main;work 5\n[unknown];main;work;malloc(unsigned long) 7\n");
  EXPECT_EQ(FoldedWith(".*", "main|work"), "[unknown];main;work 12\n");
  EXPECT_EQ(FoldedWith(R"((?:m\wll?oc|w[a-z]+?k))"), "[unknown];main 12\n");
  // Dropped frames outside of the first kept function stay.
  EXPECT_EQ(FoldedWith("main"), FoldedWith("nothing"));
}

TEST(Pprof, ShowsFramesThatItCannotDropAndSaysSo) {
  for (const char* const pattern : {"(?i)malloc", "(((a{99}){99}){99})", "a(", "\\pL", "[a"}) {
    PprofBuilder pprof = MallocProfile();
    const auto loaded = Load(FileWith(pprof.Field(Fields::kDropFrames, pattern).Bytes()));
    EXPECT_EQ(FoldedOf(loaded.profile), FoldedWith("nothing")) << pattern;
    ASSERT_EQ(loaded.recording->warnings().size(), 1) << pattern;
    EXPECT_NE(loaded.recording->warnings()[0].find("its drop_frames are shown"), std::string::npos);
  }
}

TEST(Pprof, ShowsFramesWhereDroppingThemWouldTakeTooLong) {
  PprofBuilder pprof = MallocProfile();
  for (uint64_t i = 10; i < 110; ++i) {
    const std::string name = std::string(3000, 'a') + std::to_string(i);
    pprof.Location(i, 0, 0, {{name, "", 0}});
  }
  std::string pattern = "malloc|";
  while (pattern.size() < 4000) pattern += "(a|b)*a";
  const auto loaded = Load(FileWith(pprof.Field(Fields::kDropFrames, pattern).Bytes()));
  EXPECT_EQ(FoldedOf(loaded.profile), FoldedWith("nothing"));
  ASSERT_EQ(loaded.recording->warnings().size(), 1);
}

TEST(Pprof, BeginsWithTheEventOfItsDefaultType) {
  PprofBuilder pprof;
  pprof.Type("samples", "count").Type("cpu", "nanoseconds").Type("wall", "seconds");
  pprof.Location(1, 0, 0, {{"f", "", 0}}).Sample({1}, {2, 20, 3});
  EXPECT_EQ(EventsOf(Load(FileWith(pprof.Bytes())).profile), "wall 1/3000000000, cpu 2/20");
  pprof.Field(Fields::kDefaultSampleType, "samples");
  EXPECT_EQ(EventsOf(Load(FileWith(pprof.Bytes())).profile), "cpu 2/20, wall 1/3000000000");
}

TEST(Pprof, KeepsTypesOfOneNameApart) {
  PprofBuilder pprof;
  pprof.Type("space", "count").Type("space", "bytes").Type("space", "bytes");
  pprof.Location(1, 0, 0, {{"f", "", 0}}).Sample({1}, {1, 20, 300});
  EXPECT_EQ(EventsOf(Load(FileWith(pprof.Bytes())).profile),
            "space_bytes_2 1/300, space 1/1, space_bytes 1/20");
}

TEST(Pprof, WhoseSamplesLackValuesIsRefused) {
  PprofBuilder pprof = CpuProfile();
  EXPECT_NE(ErrorOf(FileWith(pprof.Sample({1}, {1}).Bytes()))
                .find("a sample has 1 values, and the profile 2 types of values"),
            std::string::npos);
}

TEST(Pprof, IsRecognisedInWhateverOrderItsFieldsStand) {
  std::string time;
  constexpr uint32_t kTimeNanos = 9;
  pbf_writer(time).add_int64(kTimeNanos, 1'700'000'000'000'000'000);
  PprofBuilder pprof = CpuProfile();
  const auto loaded = Load(FileWith(time + pprof.Sample({1}, {1, 10}).Bytes()));
  EXPECT_EQ(EventsOf(loaded.profile), "cpu 1/10");
}

TEST(Pprof, ThatIsCutIsRefused) {
  PprofBuilder pprof = CpuProfile();
  const std::string bytes = pprof.Sample({1}, {1, 10}).Bytes();
  EXPECT_NE(ErrorOf(FileWith(bytes.substr(0, bytes.size() - 3))).find("F: pprof: cut or damaged"),
            std::string::npos);
  const std::string gzip = Gzip(bytes);
  EXPECT_NE(ErrorOf(FileWith(gzip.substr(0, gzip.size() - 9))).find("F: gzip: cut"),
            std::string::npos);
}

TEST(Pprof, ThatInflatesWithoutEndIsRefused) {
  const std::string bytes =
      CpuProfile().Sample({1}, {1, 10}).Bytes() + std::string(size_t{60} << 20, '\0');
  EXPECT_NE(ErrorOf(FileWith(Gzip(bytes))).find("F: gzip: it inflates to more than"),
            std::string::npos);
}

TEST(AHeapProfile, IsScaledUpToWhatWasAllocated) {
  const auto loaded =
      Load(FileWith("heap profile:    2:  18432 [     3:    20000] @ heapz_v2/524288\n"
                    "     1:     9216 [     2:    10784] @ 0x400101 0x400201\n"
                    "     1:     9216 [     1:     9216] @ 0x400301\n"
                    "--- Memory map: ---\n"
                    "  00400000-00500000: /bin/server\n"));
  EXPECT_EQ(EventsOf(loaded.profile),
            "inuse_objects 2/114, inuse_space 2/1057818, alloc_objects 2/252, "
            "alloc_space 2/1582886");
}

TEST(AHeapProfile, OfJemallocHasTheSumOfItsThreads) {
  const auto loaded =
      Load(FileWith("heap_v2/1\n"
                    "  t*: 3: 300 [0: 0]\n"
                    "  t0: 3: 300 [0: 0]\n"
                    "@ 0x400101 0x400201\n"
                    "  t*: 2: 200 [0: 0]\n"
                    "  t0: 2: 200 [0: 0]\n"
                    "@ 0x400301\n"
                    "  t*: 1: 100 [0: 0]\n"
                    "\n"
                    "MAPPED_LIBRARIES:\n"
                    "00400000-00500000 r-xp 00000000 08:01 123 /bin/server\n"));
  EXPECT_EQ(EventsOf(loaded.profile), "objects 2/3, space 2/300");
  EXPECT_EQ(FoldedOf(loaded.profile, "space"),
            "server;[server] 100\nserver;[server];[server] 200\n");
}

TEST(AHeapProfile, OfGoHasTheNamesThatFollowItsAddresses) {
  const auto loaded =
      Load(FileWith("goroutine profile: total 3\n"
                    "2 @ 0x401001 0x402001\n"
                    "#\t0x401001\truntime.gopark+0x1\t/go/proc.go:5\n"
                    "#\t0x402001\tmain.main+0x1\t\t/src/main.go:9\n"
                    "\n"
                    "1 @ 0x402001\n"
                    "#\t0x402001\tmain.main+0x1\t\t/src/main.go:9\n"));
  EXPECT_EQ(EventsOf(loaded.profile), "goroutine 3/3");
  EXPECT_EQ(FramesOf(loaded.profile),
            "main.main@[unknown] /src/main.go:9 1/1\n"
            "main.main@[unknown] /src/main.go:9;runtime.gopark@[unknown] /go/proc.go:5 2/2\n");
}

}  // namespace
}  // namespace profiler::importers
