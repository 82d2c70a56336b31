#include "src/cli/views/tracepoint_texts.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "src/base/byte_reader.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/machine/events/testing/example_tracepoint.h"
#include "src/machine/procfs/testing/fake_tree.h"

namespace profiler::cli {
namespace {

// A recording that has only the formats of tracepoints.
class FormatsAlone final : public perf_data::Recording {
 public:
  void Tell(std::string section) {
    features_.other[perf_data::kFeatureTracingData] = std::move(section);
  }

  const std::vector<perf_data::EventDescription>& events() const override { return events_; }
  const perf_data::Features& features() const override { return features_; }
  const perf_data::FileLayout& layout() const override { return layout_; }
  const std::vector<std::string>& warnings() const override { return warnings_; }

 private:
  absl::Status Pass(Order, const Window&, Visitor) override { return absl::OkStatus(); }

  std::vector<perf_data::EventDescription> events_;
  perf_data::Features features_;
  perf_data::FileLayout layout_;
  std::vector<std::string> warnings_;
};

using Record = events::ExampleRecord;

class TracepointTextsTest : public testing::Test {
 protected:
  std::string Formats() { return events::ExampleTracingData(tree_); }

  // Returns the records' texts, each after a bar, and then the messages on standard error.
  static std::string Said(TracepointTexts& texts, const std::vector<Record>& records) {
    std::string text;
    testing::internal::CaptureStderr();
    for (const Record& record : records) {
      text += "|";
      texts.Append(BytesOf(record), 0, &text);
    }
    return text + " # " + testing::internal::GetCapturedStderr();
  }

  FormatsAlone recording_;
  TracepointTexts texts_{recording_};
  procfs::FakeTree tree_;
};

TEST_F(TracepointTextsTest, RecordsSayWhatTheKernelWouldPrint) {
  recording_.Tell(Formats());
  EXPECT_EQ(Said(texts_, {{}, {.id = -1}}), "|id 5|id -1 # ");
}

TEST_F(TracepointTextsTest, RecordsInFrontOfTheFormatsSayNothingAndThoseBehindThemDo) {
  EXPECT_EQ(Said(texts_, {{}, {}}), "|| # ");
  recording_.Tell(Formats());
  EXPECT_EQ(Said(texts_, {{}}), "|id 5 # ");
}

TEST_F(TracepointTextsTest, ARecordThatNoFormatIsOfAndAnEmptyOneSayNothing) {
  recording_.Tell(Formats());
  EXPECT_EQ(Said(texts_, {{.type = 1}}), "| # ");
  std::string text;
  texts_.Append({}, 0, &text);
  EXPECT_EQ(text, "");
}

TEST_F(TracepointTextsTest, RecordsInFrontOfTheOneThatEndsTheProcessKeepTheirText) {
  recording_.Tell(events::ExampleTracingData(tree_, "\"id %ld\", 10 / REC->id"));
  std::vector<events::TraceRecord> records;
  for (const int id : {5, 0, 2}) records.emplace_back(0, TextOf(BytesOf(Record{.id = id})));
  std::vector<std::string> texts;
  testing::internal::CaptureStderr();
  texts_.Describe(records, {}, &texts);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("libtraceevent crashes"),
            std::string::npos);
  EXPECT_EQ(texts, (std::vector<std::string>{"id 2", "", "id 5"}));
}

TEST_F(TracepointTextsTest, FieldsThatAreAskedForStandBehindTheText) {
  recording_.Tell(Formats());
  TracepointTexts texts(recording_, {.fields = {{"a:b", "id"}}, .end = ';'});
  EXPECT_EQ(Said(texts, {{}, {.type = 1}}), "|id 5;5;|;; # ");
}

TEST(TraceFieldTest, AFieldIsOfOneEventOrOfAny) {
  EXPECT_EQ(TraceFieldOf("sched:sched_switch.prev_comm"),
            (events::TraceField{"sched:sched_switch", "prev_comm"}));
  EXPECT_EQ(TraceFieldOf("prev_comm"), (events::TraceField{"", "prev_comm"}));
}

TEST(TraceFieldTest, ARecordingThatIsNotThereHasNoFields) {
  EXPECT_TRUE(TraceFieldNames("/no/such/file").Named("prev_comm").empty());
}

TEST(TraceFunctionsTest, NamesStandInThePlaceOfTheirMarks) {
  profile::Profile profile;
  const auto intern = [&](std::string_view text) { return profile.strings.Intern(text); };
  profile.symbols.push_back({.name = intern("schedule")});
  profile.lines.push_back({.symbol = profile::SymbolId{0}});
  profile.frames.push_back({.line_count = 1, .symbol_offset = 0x1a});
  profile.trace_functions.push_back({.address = 0xffff, .frame = profile::FrameId{0}});
  const std::string mark =
                        "\x01"
                        "000000000000ffff\x02",
                    other =
                        "\x01"
                        "0000000000000010\x02";
  profile.column(profile::Dimension::kTrace) = {
      static_cast<uint32_t>(intern("at " + mark + "+0x0 by " + mark)),
      static_cast<uint32_t>(intern("at " + other)), 0};
  NameTraceFunctions(profile);
  std::string texts;
  for (const uint32_t text : profile.column(profile::Dimension::kTrace)) {
    texts += std::string(profile.text(StringId{text})) + ";";
  }
  EXPECT_EQ(texts, "at schedule+0x1a by schedule;at 0x10;;");
}

TEST_F(TracepointTextsTest, WhatIsWrongWithTheFormatsIsSaidOnce) {
  recording_.Tell("nothing of this kind");
  EXPECT_EQ(Said(texts_, {{}, {}, {}}),
            "||| # profiler: warning: TRACING_DATA: cut short, so tracepoints are shown without "
            "fields\n");
}

}  // namespace
}  // namespace profiler::cli
