#include "src/views/browser/table_view.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "src/profile/testing/handmade_profile.h"
#include "src/terminal/canvas.h"

namespace profiler::browser {
namespace {

using profile::HandmadeProfile;

// A view of a handmade profile.
struct Shown {
  explicit Shown(uint64_t samples, Margins margins = Margins::kNone,
                 report::ReportOptions options = {}) {
    handmade.Sample("worker", {"main@app", "parse@app", "read@libc.so.6"}, samples);
    handmade.Sample("worker", {"main@app", "parse@app", "lex@app"}, samples);
    handmade.Sample("a name of a thread", {"main@app", "rest@a_library_with_a_name.so"}, 1);
    const auto tables = report::BrowsableTables(handmade.profile(), options);
    view = std::make_unique<TableView>(handmade.profile(), options, tables.front(), margins);
  }

  std::string Text() {
    terminal::Canvas canvas({.rows = 12, .columns = 90});
    view->DrawHeadings(canvas.Whole(), 0, 0, {});
    view->Draw(canvas.Whole().Below(1), 0);
    return canvas.Text();
  }

  HandmadeProfile handmade;
  std::unique_ptr<TableView> view;
};

TEST(TableView, UnfoldsInANewTableWhatWasUnfoldedInTheOldOne) {
  Shown before(50);
  before.view->Select({.row = 1});
  ASSERT_TRUE(before.view->Toggle());
  const std::string text = before.Text();
  const TableLines::Paths unfolded = before.view->lines().Unfolded();
  EXPECT_GT(unfolded.size(), 1u);

  Shown after(50);
  EXPECT_NE(after.Text(), text);
  after.view->lines().Unfold(unfolded);
  after.view->SelectRow(before.view->table().KeyOf(1));
  EXPECT_EQ(after.Text(), text);
}

TEST(TableView, FindsARowByItsKeysWhateverTheWidthsOfColumns) {
  Shown few(1), many(5000);
  for (size_t row = 0; row < few.view->table().rows(); ++row) {
    EXPECT_TRUE(many.view->SelectRow(few.view->table().KeyOf(row)));
  }
  EXPECT_FALSE(many.view->SelectRow("nobody"));
}

TEST(TableView, ShowsMarginsOnlyWhereTheyAreWide) {
  EXPECT_EQ(Shown(5000).Text().find("±"), std::string::npos);
  const std::string text = Shown(5000, Margins::kWide).Text();
  EXPECT_NE(text.find("0.01% ±"), std::string::npos) << text;
  EXPECT_EQ(text.find("50.00% ±"), std::string::npos) << text;
  EXPECT_NE(text.find("Children    95%"), std::string::npos) << text;
}

TEST(TableView, HasColumnsAsWideAsItsRowsNeed) {
  report::ReportOptions options;
  options.most_rows = 3;
  Shown shown(50, Margins::kNone, options);
  EXPECT_EQ(shown.view->table().rows(), 3u);
  EXPECT_EQ(shown.view->table().Headings().find("a name"), std::string::npos);
  EXPECT_LT(shown.view->table().Headings().size(), Shown(50).view->table().Headings().size());
}

}  // namespace
}  // namespace profiler::browser
