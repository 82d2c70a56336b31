#include "src/fleet/agent/window_namer.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/fleet/segments/testing/window_text.h"
#include "src/format/perf_data/testing/recording_builder.h"
#include "src/format/perf_data/write/writer.h"
#include "src/format/perf_event/testing/record_builder.h"
#include "src/machine/procfs/testing/fake_tree.h"

namespace profiler::agent {
namespace {

constexpr std::array kServerId = {std::byte{0xaa}, std::byte{0x01}};

class WindowNamerTest : public testing::Test {
 protected:
  WindowNamerTest() : records_(perf_data::UsualAttr()) {
    tree_.Write("proc/7/cgroup", "0::/system.slice/web.service\n");
    processes_ = std::make_shared<ProcessTable>(tree_.roots());
    naming_.lines = naming_.inlines = false;
    naming_.places.no_sandbox = true;
  }

  // Returns a recording in memory, as the recorder makes it.
  FinishedRecording Recorded(std::string name = "cpu-clock") {
    auto writer = perf_data::Writer::Create("a window", {{perf_data::UsualAttr(), name, {1}}},
                                            {.in_memory = true});
    EXPECT_TRUE(writer.ok());
    EXPECT_TRUE(perf_data::AppendAll(**writer, records_).ok());
    EXPECT_TRUE((*writer)->Finish(perf_data::UsualFeatures()).ok());
    FinishedRecording recording{
        .begin = 5'000'000'000, .length = std::chrono::seconds(10), .frequency = 49, .cpus = 2};
    recording.file = UniqueFd(fcntl((*writer)->readable_file(), F_DUPFD_CLOEXEC, 0));
    return recording;
  }

  // Records a server process, and a program without build-id beside it.
  void Serve() {
    records_.Id(1).Period(10).At(1).By(7, 7).Comm("server", true);
    records_.Mmap2(0x1000, 0x1000, 0, "/nowhere/server", kServerId);
    records_.At(2).By(8, 8).Comm("other", true).Mmap2(0x1000, 0x1000, 0, "/nowhere/other");
    records_.At(3).By(7, 7).Sample(0x1234).Sample(0x1234).By(8, 8).Sample(0x1300);
  }

  procfs::FakeTree tree_;
  std::shared_ptr<ProcessTable> processes_;
  naming::NamingOptions naming_;
  perf_event::RecordBuilder records_;
};

TEST_F(WindowNamerTest, SaysWhoRanWhat) {
  WindowNamer namer(naming_, processes_);
  Serve();
  const auto window = namer.Name(Recorded(), {});
  ASSERT_TRUE(window.ok()) << window.status();
  EXPECT_EQ(fleet::RowsAsText(*window),
            "cpu-clock other other | [other]<other> 1 10\n"
            "cpu-clock web server aa01 | [server]<server> 2 20\n");
}

TEST_F(WindowNamerTest, SaysWhenAndWhere) {
  WindowNamer namer(naming_, processes_);
  Serve();
  const auto window =
      namer.Name(Recorded(), {.host = "h1", .labels = {{"region", "eu"}}, .version = "v"});
  ASSERT_TRUE(window.ok()) << window.status();
  EXPECT_EQ(window->host, "h1");
  EXPECT_EQ(window->labels.front().second, "eu");
  EXPECT_EQ(window->version, "v");
  EXPECT_EQ(window->begin, 5'000'000'000);
  EXPECT_EQ(window->length, 10'000'000'000u);
  EXPECT_EQ(window->frequency, 49);
  EXPECT_EQ(window->cpus, 2u);
}

TEST_F(WindowNamerTest, EachWindowIsOfItsOwnRecording) {
  WindowNamer namer(naming_, processes_);
  Serve();
  ASSERT_TRUE(namer.Name(Recorded(), {}).ok());
  records_.At(3).By(9, 9).Comm("third", true).Sample(0x1234);
  const auto second = namer.Name(Recorded("cycles"), {});
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(fleet::RowsAsText(*second).find("cycles third third | "), 0u)
      << fleet::RowsAsText(*second);
  namer.Renew();
  Serve();
  const auto third = namer.Name(Recorded(), {});
  ASSERT_TRUE(third.ok()) << third.status();
  EXPECT_EQ(third->rows.size(), 2u);
}

TEST_F(WindowNamerTest, WhatIsNoRecordingIsAnError) {
  WindowNamer namer(naming_, processes_);
  FinishedRecording recording;
  recording.file = UniqueFd(open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_FALSE(namer.Name(recording, {}).ok());
}

}  // namespace
}  // namespace profiler::agent
