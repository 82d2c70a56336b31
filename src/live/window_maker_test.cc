#include "src/live/window_maker.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/format/perf_data/testing/recording_builder.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/testing/record_builder.h"

namespace profiler::live {
namespace {

using testing::ElementsAre;

constexpr uint64_t kSecond = 1'000'000'000;  // ns

// A maker whose windows are texts.
class WindowMakerTest : public testing::Test {
 protected:
  void Make(WindowOptions options) {
    maker_.emplace(options, [this](const Window& window) {
      uint64_t samples = 0;
      for (const profile::Row& row : window.profile.rows) samples += row.count;
      windows_.push_back(absl::StrCat(window.begin / kSecond, " s: ", samples, " samples, ",
                                      window.profile.losses.lost_records, " lost"));
    });
  }

  std::optional<WindowMaker> maker_;
  std::vector<std::string> windows_;
};

TEST_F(WindowMakerTest, ANewBuilderForgetsNoLosses) {
  const perf_event::Attr attr = perf_data::UsualAttr();
  perf_event::RecordBuilder records(attr);
  records.At(10 * kSecond).By(7, 7).Sample(0x1234);
  records.At(10 * kSecond + 1).Lost(3);
  Make({.most_stacks = 0});
  std::vector<std::byte> stream = perf_data::StreamOf({{attr, "cpu-clock", {}}}, records.bytes());
  for (int round = 0; round < 2; ++round) {
    perf_data::AddRecord(perf_event::kRecordFinishedRound, "", &stream);
  }
  maker_->Take(stream);
  maker_->CloseUntil(10 * kSecond + kSecond / 2);  // replaces the builder
  maker_->CloseUntil(11 * kSecond + kSecond / 2);
  EXPECT_THAT(windows_, ElementsAre("10 s: 1 samples, 3 lost"));
}

}  // namespace
}  // namespace profiler::live
