// A complete small view, as an example. A real one also needs a line in the table of command.h.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "gtest/gtest.h"
#include "src/analysis/event_choice.h"
#include "src/base/percent.h"
#include "src/base/text.h"
#include "src/cli/command.h"
#include "src/cli/terminal/output.h"
#include "src/cli/views/report_options.h"
#include "src/cli/views/view.h"
#include "src/format/perf_data/testing/recording_builder.h"

namespace profiler::cli {
namespace {

// Implements `profiler top`: the ten functions that took most CPU time.
std::string FormatTopTen(const profile::Profile& profile, profile::EventId event) {
  uint64_t total = 0;
  std::vector<std::pair<uint64_t, std::string>> functions;
  for (uint32_t i = 0; i < profile.symbols.size(); ++i) {
    functions.emplace_back(0, profile.text(profile.symbols[i].name));
  }
  functions.emplace_back(0, "[unnamed]");
  for (const profile::Row& row : profile.rows) {
    if (row.event != event) continue;
    const auto lines = profile.LinesOf(profile[row.self]);
    const bool named = !lines.empty() && lines.back().symbol != profile::kNoSymbol;
    const size_t function = named ? static_cast<size_t>(lines.back().symbol) : functions.size() - 1;
    functions[function].first += row.period;
    total += row.period;
  }
  std::stable_sort(functions.begin(), functions.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(functions.size(), 10); ++i) {
    if (functions[i].first == 0) break;
    absl::StrAppendFormat(&text, "%6.2f%%  ", Percent(functions[i].first, total));
    AppendPrintable(functions[i].second, text);
    text += '\n';
  }
  return text;
}

int WriteTopTen(const ViewArguments& arguments) {
  const auto load = LoadOptionsOf(arguments);
  if (!load.ok()) return kExitUsage;
  const auto loaded = LoadProfileOrPrint(arguments.input, *load);
  if (!loaded) return kExitFailure;
  Output output("-");
  const auto event = analysis::FirstEventWithSamples(loaded->profile);
  if (event) output.Write(FormatTopTen(loaded->profile, *event));
  return Finish(*loaded, output);
}

void AddTopTenCommand(usage::Command& app, Commands& commands) {
  usage::Command& command = app.AddCommand("top", "Show the ten functions that took most time");
  auto arguments = std::make_shared<ViewArguments>();
  AddViewOptions(command, *arguments);
  commands[&command] =
      RunView(command, *arguments, [arguments] { return WriteTopTen(*arguments); });
}

TEST(TopTenTest, IsAViewInOneFile) {
  usage::Command app("profiler", "");
  Commands commands;
  AddTopTenCommand(app, commands);
  const std::string recording = perf_data::TestPath("recording");
  perf_data::WriteUsualRecording(recording);
  ASSERT_EQ(app.Parse({"top", "--no-cache", recording}).kind, usage::Parsed::Kind::kCommand);
  testing::internal::CaptureStdout();
  EXPECT_EQ(commands.begin()->second(), kExitOk);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "100.00%  [unnamed]\n");
}

}  // namespace
}  // namespace profiler::cli
