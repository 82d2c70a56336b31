#include "src/views/interchange/otlp.h"

#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/format/otlp/testing/receiver.h"
#include "src/views/flamegraph/testing/profile_for_test.h"

namespace profiler::exports {
namespace {

using otlp::Receiver;
using symbolize::ImageKind;
using testing::HasSubstr;
using testing::Not;

constexpr std::byte kBuild{0xab};

// Decodes the profile as a receiver does. The image "app" has a build-id.
Receiver Read(ProfileForTest& builder, const Origin& origin = {.producer = "profiler 1"}) {
  for (profile::Image& image : builder.profile().images) {
    if (builder.profile().text(image.name) == "app") image.build_id = {kBuild};
  }
  return Receiver(Otlp(builder.profile(), origin));
}

TEST(Otlp, HasAResourceForEachProgramTheOneWithMostSamplesFirst) {
  ProfileForTest builder;
  builder.Add("few", "main", 1, 1000).Add("many", "main work", 3, 3000);
  EXPECT_EQ(Read(builder).text,
            "service.name=unknown_service:many process.executable.name=many by 1:profiler 2:1 "
            "samples/count for 0 every cpu/nanoseconds 1000 perf.event.name=cpu-clock\n"
            "  work<app gnu=ab> main<app gnu=ab> process.pid=100 thread.id=100 thread.name=many 3\n"
            "service.name=unknown_service:many process.executable.name=many by 1:profiler 2:1 "
            "cpu/nanoseconds for 0 every cpu/nanoseconds 1000 perf.event.name=cpu-clock\n"
            "  work<app gnu=ab> main<app gnu=ab> process.pid=100 thread.id=100 thread.name=many "
            "3000\n"
            "service.name=unknown_service:few process.executable.name=few by 1:profiler 2:1 "
            "samples/count for 0 every cpu/nanoseconds 1000 perf.event.name=cpu-clock\n"
            "  main<app gnu=ab> process.pid=100 thread.id=100 thread.name=few 1\n"
            "service.name=unknown_service:few process.executable.name=few by 1:profiler 2:1 "
            "cpu/nanoseconds for 0 every cpu/nanoseconds 1000 perf.event.name=cpu-clock\n"
            "  main<app gnu=ab> process.pid=100 thread.id=100 thread.name=few 1000\n");
}

TEST(Otlp, HasTheTypeOfEachFrameAndAMappingOnlyWithABuildId) {
  ProfileForTest builder;
  builder.Define(
      "js", {.name = "JS:*work /a.js:1:2", .image = "jit-7.dump", .kind = ImageKind::kJitDump});
  builder.Define("sys", {.name = "vfs_read",
                         .image = "[kernel.kallsyms]",
                         .kind = ImageKind::kKernel,
                         .mode = profile::Mode::kKernel});
  builder.Define("lib", {.name = "read", .image = "libc.so.6"});
  builder.Add("node", "main js lib sys", 1, 1000);
  const std::string text = Read(builder).text;
  EXPECT_THAT(text, HasSubstr("\n  vfs_read(kernel)<> read<~libc.so.6> JS:*work /a.js:1:2(v8js)<> "
                              "main<app gnu=ab> process.pid"));
  EXPECT_THAT(text, Not(HasSubstr("jit-7.dump")));
}

TEST(Otlp, HasTheHashOfAFileWithoutABuildId) {
  ProfileForTest builder;
  builder.Define("lib", {.name = "read", .image = "libc.so.6"});
  builder.Add("app", "main lib", 1, 1000);
  const Origin origin = {.htlhash_of = [&](const profile::Image& image) {
    return std::string(builder.profile().text(image.name)) == "libc.so.6" ? "cd34" : "";
  }};
  EXPECT_THAT(Read(builder, origin).text, HasSubstr("\n  read<libc.so.6 htlhash=cd34> main<app "));
}

TEST(Otlp, HasTheCommandOfTheProgramAndNotOfTheRecorder) {
  ProfileForTest builder;
  builder.Add("app", "main", 1, 1000).Add("sh", "main", 1, 1000);
  const std::string text = Read(builder, {.command = "profiler record -- /bin/app -x",
                                          .program = {"/bin/app", "-x"},
                                          .machine = "x86_64",
                                          .os = "Linux 6.1"})
                               .text;
  EXPECT_THAT(text, HasSubstr("unknown_service:app process.executable.name=app host.arch=amd64 "
                              "os.type=linux os.description=Linux 6.1 "
                              "process.command_args=[/bin/app,-x] by "));
  EXPECT_THAT(text, HasSubstr("unknown_service:sh process.executable.name=sh host.arch=amd64 "
                              "os.type=linux os.description=Linux 6.1 by "));
  EXPECT_THAT(text, Not(HasSubstr("record")));
}

TEST(Otlp, HasTheTimesOfSamplesWithinThatOfTheirProfile) {
  ProfileForTest builder;
  builder.Add("app", "main", 1, 1000).Add("app", "main", 2, 2000);
  builder.SetTimes({100, 150});
  const Origin origin = {.first_sample = 100, .last_sample = 150, .clock_started = 1'000'000'000};
  EXPECT_THAT(Read(builder, origin).text, HasSubstr("thread.name=app 0,50,50\n"));
}

TEST(Otlp, SumsUpSamplesThatAreOneForReceivers) {
  ProfileForTest builder;
  builder.Add("\xff", "main", 1, 1000).Add("\xfe", "main", 2, 1000);
  EXPECT_EQ(Read(builder).totals.at("samples/count"), 3);
}

TEST(Otlp, HasTimesOffTheCpuAsPyroscopeTakesThem) {
  ProfileForTest builder;
  const auto blocked = builder.AddEvent("offcpu-time");
  builder.Add("app", "main", 2, 700, blocked);
  const std::string text = Read(builder).text;
  EXPECT_THAT(text, HasSubstr("samples/count for 0 every context_switch/count 1 perf.event.name="));
  EXPECT_THAT(text, HasSubstr("off_cpu/nanoseconds for 0 perf.event.name=offcpu-time\n"));
}

}  // namespace
}  // namespace profiler::exports
