#include "src/views/report/sort_keys.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "gtest/gtest.h"
#include "src/profile/testing/handmade_profile.h"
#include "src/views/report/report_json.h"
#include "src/views/report/testing/format_report.h"

namespace profiler::report {
namespace {

std::string FileText(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

bool HasNoBranch(const SortKeyEntry& entry) { return entry.kind != KeyKind::kBranch; }

// Returns a profile of one row that has each column of a sort key.
profile::HandmadeProfile ProfileWithAllColumns() {
  profile::HandmadeProfile builder;
  builder.Sample("app", {"main@app"});
  profile::Profile& profile = builder.profile();
  const auto text = static_cast<uint32_t>(profile.strings.Intern("7"));
  for (const SortKeyEntry& entry : kSortKeys) {
    if (entry.column) profile.column(*entry.column).assign(1, text);
  }
  profile.column(profile::Dimension::kTime).assign(1, 0);
  profile.quanta.begins = {1'000'000'000};
  return builder;
}

TEST(SortKeysTest, EachNameBelongsToOneKey) {
  std::set<std::string_view> names;
  for (const SortKeyEntry& entry : kSortKeys) {
    EXPECT_EQ(&EntryOf(entry.key), &entry) << entry.name;
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    if (!entry.other_name.empty()) {
      EXPECT_TRUE(names.insert(entry.other_name).second) << entry.other_name;
    }
  }
}

TEST(SortKeysTest, ThePageOfReportListsTheKeys) {
  const std::string page = FileText("docs/report.md");
  for (const KeyGroup group : {KeyGroup::kSamples, KeyGroup::kAccesses, KeyGroup::kBranches}) {
    const std::string keys = ": " + SortKeyNames(group, ", ", ", ");
    EXPECT_NE(page.find(keys), std::string::npos)
        << "docs/report.md, --sort, lacks" << keys.substr(1);
  }
}

TEST(SortKeysTest, EachKeyHasAColumn) {
  profile::HandmadeProfile builder = ProfileWithAllColumns();
  for (const SortKeyEntry& entry : kSortKeys) {
    const std::string text = FormatReport(builder.profile(), {.sort = {entry.key}});
    const bool has_column = text.find(entry.heading) != std::string::npos;
    EXPECT_EQ(has_column, HasNoBranch(entry)) << entry.name << '\n' << text;
  }
}

TEST(SortKeysTest, TheSchemaHasTheMembersOfEachKey) {
  const auto schema = nlohmann::json::parse(FileText("docs/json.schema.json"));
  const auto& members = schema["$defs"]["row"]["properties"];
  profile::HandmadeProfile builder = ProfileWithAllColumns();
  for (const SortKeyEntry& entry : kSortKeys) {
    const auto report =
        nlohmann::json::parse(ReportAsJson(builder.profile(), {.sort = {entry.key}}, {}));
    const auto& row = report["events"][0]["rows"][0];
    size_t of_key = 0;
    for (const auto& [name, value] : row.items()) {
      EXPECT_TRUE(members.contains(name)) << "docs/json.schema.json lacks " << name;
      if (name != "self" && name != "total") ++of_key;
    }
    EXPECT_EQ(of_key > 0, HasNoBranch(entry)) << entry.name << ' ' << row;
  }
}

TEST(SortKeysTest, CostsAreAddedUpOrNot) {
  profile::HandmadeProfile builder = ProfileWithAllColumns();
  builder.profile().rows[0].count = 3;
  const auto value = [&](SortKey key) {
    const auto report = nlohmann::json::parse(ReportAsJson(builder.profile(), {.sort = {key}}, {}));
    return report["events"][0]["rows"][0][std::string(EntryOf(key).name)];
  };
  EXPECT_EQ(value(SortKey::kLocalWeight), 7);
  EXPECT_EQ(value(SortKey::kWeight), 21);
}

}  // namespace
}  // namespace profiler::report
