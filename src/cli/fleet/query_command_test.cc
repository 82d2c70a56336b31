#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/cli/command.h"
#include "src/cli/commands.h"
#include "src/cli/fleet/fleet_recording.h"
#include "src/cli/usage/command_line.h"
#include "src/fleet/segments/segment_directory.h"
#include "src/fleet/segments/testing/window_text.h"
#include "src/profile/naming/load_profile.h"

namespace profiler::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Ran {
  int exit_code = 0;
  std::string out, err;
};

// Runs `profiler WORD…`.
Ran RunProfiler(std::vector<std::string> words) {
  usage::Command app("profiler", "");
  Commands commands;
  AddCommands(app, commands, {});
  Ran ran;
  const usage::Parsed parsed = app.Parse(std::move(words));
  if (parsed.kind != usage::Parsed::Kind::kCommand) return {kExitUsage, "", parsed.text};
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  for (const auto& [command, run] : commands) {
    if (command->WasGiven()) ran.exit_code = run();
  }
  ran.out = testing::internal::GetCapturedStdout();
  ran.err = testing::internal::GetCapturedStderr();
  return ran;
}

class QueryCommandTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    spool_path_ = absl::StrCat(testing::TempDir(), "/query-", test->name());
    std::filesystem::remove_all(spool_path_);
    auto spool = fleet::SegmentSpool::Open(spool_path_, {});
    ASSERT_TRUE(spool.ok()) << spool.status();
    spool_.emplace(*std::move(spool));
    for (int i = 0; i < 2; ++i) Add(fleet::WebAndDatabase(), "h1", i);
  }

  void Add(fleet::WindowBuilder builder, std::string host, int64_t number) {
    fleet::Window window = std::move(builder).Finish();
    window.host = std::move(host);
    window.begin += number * 10'000'000'000;
    ASSERT_TRUE(spool_->Add(window).ok());
  }

  Ran Query(std::vector<std::string> options) {
    std::vector<std::string> words = {"query", "--from", spool_path_, "--since", "2025-11-26"};
    words.insert(words.end(), options.begin(), options.end());
    return RunProfiler(words);
  }

  std::string spool_path_;
  std::optional<fleet::SegmentSpool> spool_;
};

TEST_F(QueryCommandTest, PrintsATableOfFunctions) {
  const Ran ran = Query({"--where", "service=web"});
  EXPECT_EQ(ran.exit_code, kExitOk) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("# 10 samples, 0.000 s of cpu-clock\n"));
  EXPECT_THAT(ran.out, HasSubstr("  60.00%        6   0.000 s  poll\n"
                                 "  40.00%        4   0.000 s  parse\n"));
}

TEST_F(QueryCommandTest, TellsApartWhatIsNamedOnceOrSeveralTimes) {
  const std::string once = Query({"--by", "region,service"}).out;
  EXPECT_THAT(once, HasSubstr("region  Service\n"));
  EXPECT_THAT(once, HasSubstr("eu      web\n"));
  EXPECT_EQ(Query({"--by", "region", "--by", "service"}).out, once);
  EXPECT_THAT(Query({"--by", "service", "--json"}).out, HasSubstr("\"view\": \"query\""));
}

TEST_F(QueryCommandTest, WritesARecordingThatViewsOpen) {
  const std::string path = spool_path_ + ".data";
  const Ran ran = Query({"--where", "service=web", "-o", path});
  EXPECT_EQ(ran.exit_code, kExitOk) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("profiler query: 10 samples"));
  const auto loaded = naming::LoadProfile(path, {});
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->profile.events.front().samples, 10u);
}

TEST_F(QueryCommandTest, ViewsAskByThemselves) {
  for (const auto& [question, samples] : {std::pair<const char*, uint64_t>{"", 12},
                                          {"?service=db", 2},
                                          {"?service=web&times=1", 10}}) {
    const Ran ran = RunProfiler({"folded", "--no-cache", "-i", spool_path_ + question});
    EXPECT_EQ(ran.exit_code, kExitOk) << ran.err;
    const auto loaded = naming::LoadProfile(spool_path_ + question, {.open = OpenOptionsFor()});
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_EQ(loaded->profile.events.front().samples, samples);
  }
  EXPECT_THAT(RunProfiler({"folded", "--no-cache", "-i", spool_path_ + "?service=db"}).out,
              HasSubstr("db/postgres;main;do_syscall_64 200\n"));
  const Ran none = RunProfiler({"report", "-i", spool_path_ + "?service=mail"});
  EXPECT_EQ(none.exit_code, kExitFailure);
  EXPECT_THAT(none.err, HasSubstr("leave out a condition"));
}

TEST_F(QueryCommandTest, ComparesHostsOfTwoReleases) {
  for (int host = 0; host < 4; ++host) {
    for (const bool is_new : {false, true}) {
      fleet::WindowBuilder builder;
      builder.window().labels = {{"release", is_new ? "1.3" : "1.2"}};
      builder.window().begin = 1'764'115'200'000'000'000;
      const uint32_t event = builder.Event("cpu-clock");
      const uint32_t who = builder.Workload({.service = "mail", .program = "smtpd"});
      for (uint64_t i = 0; i < 10; ++i) {
        const uint64_t samples =
            1000 + (static_cast<uint64_t>(host) * 7 + i * 5) % 23 + (is_new && i == 0 ? 800 : 0);
        builder.Add({event, who, fleet::StackOf(builder, absl::StrCat("main mail;f", i, " mail")),
                     samples, samples * 1'000'000});
      }
      Add(std::move(builder), absl::StrCat(is_new ? "new" : "old", host), 0);
    }
  }
  const std::vector<std::string> question = {"--where",     "service=mail", "--before",
                                             "release=1.2", "--after",      "release=1.3"};
  const Ran ran = Query(question);
  EXPECT_EQ(ran.exit_code, kExitOk) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("# before: release=1.2: 4 hosts, "));
  EXPECT_THAT(ran.out, HasSubstr("10 functions compared, each by itself: 1 changed"));
  EXPECT_THAT(ran.out, HasSubstr("  f0\n"));
  EXPECT_THAT(ran.out, Not(HasSubstr("  f1\n")));
  const Ran same =
      Query({"--where", "service=mail", "--before", "release=1.2", "--after", "release=1.2"});
  EXPECT_THAT(same.out, HasSubstr("no significant change"));
}

TEST_F(QueryCommandTest, SaysInOneLineWhatIsWrong) {
  const auto error = [&](std::vector<std::string> options, int exit_code = kExitUsage) {
    const Ran ran = Query(std::move(options));
    EXPECT_EQ(ran.exit_code, exit_code) << ran.err;
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
    return ran.err;
  };
  EXPECT_THAT(error({"--where", "service"}), HasSubstr("--where: 'service' is not a condition"));
  EXPECT_THAT(error({"--until", "soon"}), HasSubstr("--until: 'soon' is not a time"));
  EXPECT_THAT(error({"--until", "2025-11-25"}), HasSubstr("is not before --until"));
  EXPECT_THAT(error({"--by", "service,"}), HasSubstr("--by: "));
  EXPECT_THAT(error({"--by", "host", "--total"}), HasSubstr("add function to --by"));
  EXPECT_THAT(error({"--before", "release=1.2"}), HasSubstr("must be given together"));
  EXPECT_THAT(error({"--sql"}), HasSubstr("is a directory"));
  EXPECT_THAT(error({"--before", "a=1", "--after", "a=2"}, kExitFailure),
              HasSubstr("--before a=1"));
  EXPECT_THAT(error({"--where", "service=mail"}, kExitFailure), HasSubstr("leave out a condition"));
  const Ran missing = RunProfiler({"query", "--from", spool_path_ + "-not"});
  EXPECT_EQ(missing.exit_code, kExitFailure);
  EXPECT_THAT(missing.err, HasSubstr("name the directory of an agent's segments"));
  const Ran other = RunProfiler({"query", "--from", "otlp+http://localhost:4318"});
  EXPECT_EQ(other.exit_code, kExitUsage);
  EXPECT_THAT(other.err, HasSubstr("only clickhouse+http:// servers can be queried"));
}

TEST_F(QueryCommandTest, PrintsTheStatementThatAServerWouldBeSent) {
  const std::vector<std::string> words = {"query", "--from", "clickhouse+http://localhost:8123/db",
                                          "--sql"};
  const Ran ran = RunProfiler(words);
  EXPECT_EQ(ran.exit_code, kExitOk) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("SELECT event AS key0"));
}

}  // namespace
}  // namespace profiler::cli
