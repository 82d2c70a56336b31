#include "src/views/browser/browser.h"

#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/profile/testing/handmade_profile.h"
#include "src/terminal/testing/fake_screen.h"
#include "src/views/browser/help.h"
#include "src/views/report/testing/format_report.h"

namespace profiler::browser {
namespace {

using profile::HandmadeProfile;
using terminal::Canvas;
using terminal::Event;
using terminal::Key;
using testing::HasSubstr;
using testing::Not;

HandmadeProfile Example() {
  HandmadeProfile b;
  b.Event("cycles");
  b.Sample("worker", {"main@app", "parse@app", "read@libc.so.6"}, 30);
  b.Sample("worker", {"main@app", "parse@app"}, 20);
  b.Sample("worker", {"main@app", "write@libc.so.6", "copy@[kernel.kallsyms]"}, 40);
  b.Sample("logger", {"main@app", "flush@app"}, 10);
  return b;
}

// A browser on a screen of the given size.
class Fixture {
 public:
  explicit Fixture(const profile::Profile& profile, report::ReportOptions options = {},
                   terminal::Size size = {.rows = 12, .columns = 100})
      : size_(size),
        source_{.profile = profile,
                .options = std::move(options),
                .annotate = [this](const CodeRequest& request) { return Annotate(request); },
                .with_times = [this] { return Times(); },
                .print =
                    [this](std::string_view text) {
                      printed = text;
                      return absl::StatusOr<std::string>("perf.hist.0");
                    }},
        browser_(source_) {
    Screen();
  }

  Fixture& Type(std::string_view keys) {
    for (const char key : keys) Press(terminal::KeyOf(key));
    return *this;
  }
  Fixture& Press(Key key) { return Take({.kind = Event::Kind::kKey, .key = key}); }
  Fixture& Take(const Event& event) {
    is_running = browser_.Handle(event);
    first_drawn = Screen();
    return *this;
  }

  Fixture& Prepare() {
    browser_.Prepare();
    return *this;
  }

  std::string Screen() {
    Canvas canvas(size_);
    browser_.Draw(canvas.Whole());
    styles = canvas.Styles();
    return canvas.Text();
  }
  // Returns the lines of the table, without blanks at their begin and without the rest.
  std::string Table() {
    const std::string screen = Screen();
    std::string table;
    size_t row = 0;
    for (size_t at = 0; at < screen.size(); ++row) {
      const size_t end = screen.find('\n', at);
      if (row >= 3 && row + 1 < static_cast<size_t>(size_.rows) && end > at) {
        table += screen.substr(at, end + 1 - at);
      }
      at = end + 1;
    }
    return table;
  }

  bool is_running = true;
  std::string first_drawn;  // the first picture after the last event
  std::string printed, styles;
  absl::StatusOr<const profile::Profile*> times = absl::NotFoundError("no times");

 private:
  absl::StatusOr<std::string> Annotate(const CodeRequest& request) {
    if (request.function == "flush") return absl::NotFoundError("the file is gone");
    return std::string(request.function) + (request.source ? " with source\n" : "\n") +
           "    1.00 :   10:  push\n   99.00 :   11:  pop\n";
  }
  absl::StatusOr<const profile::Profile*> Times() { return times; }

  const terminal::Size size_;
  const Source source_;
  Browser browser_;
};

TEST(BrowserTest, ShowsTheReportOnAScreen) {
  HandmadeProfile b = Example();
  Fixture fixture(b.profile());
  EXPECT_EQ(fixture.Screen(), R"(Samples: 100  of event 'cycles', Event count (approx.): 100000000
no losses
  Children      Self  Command  Shared Object      Symbol
+   90.00%     0.00%  worker   app                [.] main
+   50.00%    20.00%  worker   app                [.] parse
+   40.00%    40.00%  worker   [kernel.kallsyms]  [k] copy
+   40.00%     0.00%  worker   libc.so.6          [.] write
+   30.00%    30.00%  worker   libc.so.6          [.] read
+   10.00%    10.00%  logger   app                [.] flush
+   10.00%     0.00%  logger   app                [.] main

h help  Enter unfold  a annotate  / filter  t thread  d DSO  q quit
)");
  // The first line is a title, the fourth one is selected, and large shares are red.
  EXPECT_EQ(fixture.styles.substr(0, 10), "BBBBBBBBBB");
  EXPECT_EQ(fixture.styles.substr(3 * 101, 24), "####RRRRRR##############");
}

TEST(BrowserTest, UnfoldsAndFoldsCallGraphs) {
  HandmadeProfile b = Example();
  Fixture fixture(b.profile());
  fixture.Press(Key::kEnter);
  EXPECT_EQ(fixture.Table(), R"(-   90.00%     0.00%  worker   app                [.] main
    - main
      + 50.00% parse
      + 40.00% write
+   50.00%    20.00%  worker   app                [.] parse
+   40.00%    40.00%  worker   [kernel.kallsyms]  [k] copy
+   40.00%     0.00%  worker   libc.so.6          [.] write
+   30.00%    30.00%  worker   libc.so.6          [.] read
)");
  const std::string one_level = fixture.Table();
  fixture.Press(Key::kEnter);
  EXPECT_THAT(fixture.Table(), Not(HasSubstr("parse\n      "))) << "folded";
  fixture.Type("e");
  EXPECT_EQ(fixture.Table(), R"(-   90.00%     0.00%  worker   app                [.] main
    - main
      - 50.00% parse
          30.00% read
      - 40.00% write
               copy
+   50.00%    20.00%  worker   app                [.] parse
+   40.00%    40.00%  worker   [kernel.kallsyms]  [k] copy
)");
  fixture.Type("c");
  const std::string folded = fixture.Table();
  fixture.Type("E");
  EXPECT_NE(fixture.Table(), folded);
  fixture.Type("C");
  EXPECT_EQ(fixture.Table(), folded);
  fixture.Type("+");
  EXPECT_EQ(fixture.Table(), one_level);
  fixture.Type("-");
  EXPECT_EQ(fixture.Table(), folded);
}

TEST(BrowserTest, ZoomsAndGoesBack) {
  HandmadeProfile b = Example();
  // As if threads with one name were merged, as a report does.
  for (profile::Thread& thread : b.profile().threads) thread.tid = 0;
  Fixture fixture(b.profile(), {.children = false});
  const std::string before = fixture.Screen();
  fixture.Type("t");
  EXPECT_THAT(fixture.Screen(), HasSubstr("thread: worker"));
  EXPECT_THAT(fixture.Table(), Not(HasSubstr("logger")));
  fixture.Type("d");
  EXPECT_THAT(fixture.Screen(), HasSubstr("thread: worker, DSO: [kernel.kallsyms]"));
  EXPECT_THAT(fixture.Table(), Not(HasSubstr("parse")));
  fixture.Press(Key::kEscape);
  EXPECT_THAT(fixture.Table(), HasSubstr("parse"));
  fixture.Press(Key::kEscape);
  EXPECT_EQ(fixture.Screen(), before);
  fixture.Press(Key::kEscape);
  EXPECT_TRUE(fixture.is_running);
  EXPECT_THAT(fixture.Screen(), HasSubstr("press q to quit"));
  fixture.Type("tt");
  EXPECT_EQ(fixture.Screen(), before) << "as in perf, the key zooms out, too";
  fixture.Type("k");
  EXPECT_THAT(fixture.Screen(), HasSubstr("DSO: [kernel.kallsyms]"));
}

TEST(BrowserTest, PreparedViewsAreThoseThatKeysMake) {
  HandmadeProfile b = Example();
  Fixture prepared(b.profile()), other(b.profile());
  for (const char key : std::string_view("tttkkxtx+dEFtd/r")) {
    prepared.Prepare().Type(std::string_view(&key, 1));
    other.Type(std::string_view(&key, 1));
    EXPECT_EQ(prepared.Screen(), other.Screen()) << key;
  }
  for (Fixture* const of : {&prepared, &other}) of->Press(Key::kEscape).Type("s").Press(Key::kDown);
  prepared.Prepare().Press(Key::kEnter);
  EXPECT_EQ(prepared.Screen(), other.Press(Key::kEnter).Screen());
}

TEST(BrowserTest, HeadingsFitTheLinesOfLightRows) {
  HandmadeProfile b;
  b.Sample("a", {"f@x"}, 1'000'000);
  for (int i = 0; i < 1000; ++i) {
    b.Sample("a", {"f" + std::to_string(i) + "@x"}, 1000 + static_cast<uint64_t>(i));
  }
  b.Sample("a-thread", {"g@a-long-name"}, 1);
  Fixture fixture(b.profile());
  fixture.Press(Key::kEnd);
  EXPECT_EQ(fixture.first_drawn, fixture.Screen());
  EXPECT_THAT(fixture.first_drawn, HasSubstr("a-long-name"));
}

TEST(BrowserTest, TheWayBackFindsTheSameLines) {
  HandmadeProfile b = Example();
  Fixture fixture(b.profile());
  fixture.Press(Key::kDown).Press(Key::kEnter);
  const std::string unfolded = fixture.Screen();
  fixture.Type("d");
  EXPECT_NE(fixture.Screen(), unfolded);
  fixture.Press(Key::kEscape);
  EXPECT_EQ(fixture.Screen(), unfolded);
  fixture.Type("dFF").Press(Key::kEscape);
  EXPECT_EQ(fixture.Screen(), unfolded) << "other options for a while";
}

TEST(BrowserTest, FiltersSymbolsWhileTheUserTypes) {
  HandmadeProfile b = Example();
  Fixture fixture(b.profile());
  const std::string before = fixture.Screen();
  fixture.Type("/re");
  EXPECT_THAT(fixture.Table(), HasSubstr("read"));
  EXPECT_THAT(fixture.Table(), Not(HasSubstr("parse")));
  EXPECT_THAT(fixture.Screen(), HasSubstr("Symbol: re"));
  fixture.Press(Key::kBackspace).Type("x");
  EXPECT_THAT(fixture.Screen(), HasSubstr("no rows"));
  fixture.Press(Key::kBackspace).Press(Key::kEnter);
  EXPECT_THAT(fixture.Screen(), HasSubstr("symbol: r"));
  fixture.Press(Key::kEscape);
  EXPECT_EQ(fixture.Screen(), before);
  fixture.Type("/re").Press(Key::kEscape);
  EXPECT_EQ(fixture.Screen(), before);
}

TEST(BrowserTest, SwitchesSortKeysEventsAndPercentages) {
  HandmadeProfile b = Example();
  b.Event("faults").Sample("worker", {"main@app", "fault@app"}, 7);
  Fixture fixture(b.profile(), {.children = false});
  fixture.Type("s").Press(Key::kDown).Press(Key::kEnter);
  EXPECT_EQ(fixture.Table(), R"(+   40.00%  [k] copy
+   30.00%  [.] read
+   20.00%  [.] parse
+   10.00%  [.] flush
)");
  fixture.Press(Key::kTab);
  EXPECT_THAT(fixture.Screen(), HasSubstr("event 'faults'"));
  EXPECT_THAT(fixture.Screen(), HasSubstr("(2 of 2)"));
  fixture.Press(Key::kBackTab);
  EXPECT_THAT(fixture.Screen(), HasSubstr("event 'cycles'"));
  fixture.Type("dF");
  EXPECT_THAT(fixture.Table(), HasSubstr("100.00%"));
}

TEST(BrowserTest, ExchangesCallersAndCallees) {
  HandmadeProfile b = Example();
  Fixture fixture(b.profile());
  fixture.Type("x");
  EXPECT_THAT(fixture.Screen(), HasSubstr("callers"));
  fixture.Type("/copy").Press(Key::kEnter).Type("e");
  EXPECT_EQ(fixture.Table(), R"(-   40.00%    40.00%  worker   [kernel.kallsyms]  [k] copy
    - copy
      write
      main
)");
}

TEST(BrowserTest, AnnotatesTheFunctionOfTheRow) {
  HandmadeProfile b = Example();
  Fixture fixture(b.profile());
  fixture.Type("/copy").Press(Key::kEnter).Type("a");
  EXPECT_THAT(fixture.Screen(), HasSubstr("copy with source"));
  EXPECT_THAT(fixture.styles, HasSubstr("####"));
  fixture.Type("s");
  EXPECT_THAT(fixture.Screen(), Not(HasSubstr("with source")));
  fixture.Press(Key::kEscape);
  EXPECT_THAT(fixture.Screen(), HasSubstr("symbol: copy"));
  fixture.Press(Key::kEscape).Type("/flush").Press(Key::kEnter).Type("a");
  EXPECT_THAT(fixture.Screen(), HasSubstr("the file is gone"));
}

TEST(BrowserTest, ShowsAPartOfTheTime) {
  HandmadeProfile b = Example();
  HandmadeProfile with_times = Example();
  profile::Profile& times = with_times.profile();
  times.slices = profile::TimeSlices::Of(0, 3'999'999'999, 4);
  times.column(profile::Dimension::kSlice).resize(times.rows.size());
  for (uint32_t row = 0; row < times.rows.size(); ++row) {
    times.column(profile::Dimension::kSlice)[row] = row;
  }
  Fixture fixture(b.profile(), {.children = false}, {.rows = 12, .columns = 100});
  fixture.Type("T");
  EXPECT_THAT(fixture.Screen(), HasSubstr("no times"));
  fixture.times = &times;
  fixture.Type("T");
  EXPECT_THAT(fixture.Screen(), HasSubstr("Time 0.00 s to 1.00 s"));
  fixture.Press(Key::kEnd).Type("  ");
  EXPECT_THAT(fixture.Table(), HasSubstr("flush"));
  EXPECT_THAT(fixture.Table(), Not(HasSubstr("copy")));
  fixture.Press(Key::kEscape);
  EXPECT_THAT(fixture.Table(), HasSubstr("copy"));
}

TEST(BrowserTest, OffersTheKeysOfTheLineInAMenu) {
  HandmadeProfile b = Example();
  Fixture fixture(b.profile(), {}, {.rows = 20, .columns = 100});
  fixture.Type("m");
  EXPECT_THAT(fixture.Screen(), HasSubstr("│ Zoom into thread"));
  fixture.Press(Key::kDown).Press(Key::kEnter);
  EXPECT_THAT(fixture.Screen(), HasSubstr("thread: "));
  fixture.Type("h");
  EXPECT_THAT(fixture.Screen(), HasSubstr("annotate the function"));
  fixture.Type("h");
  EXPECT_THAT(fixture.Screen(), Not(HasSubstr("annotate the function")));
}

TEST(BrowserTest, FollowsTheMouse) {
  HandmadeProfile b = Example();
  Fixture fixture(b.profile());
  const std::string folded = fixture.Table();
  fixture.Take({.kind = Event::Kind::kPress, .row = 4, .column = 10});
  EXPECT_EQ(fixture.Table(), folded) << "selects only";
  fixture.Take({.kind = Event::Kind::kPress, .row = 4, .column = 10});
  EXPECT_NE(fixture.Table(), folded);
  fixture.Take({.kind = Event::Kind::kPress, .row = 11, .column = 10});
  EXPECT_TRUE(fixture.is_running);
}

TEST(BrowserTest, PrintsTheReportAsText) {
  HandmadeProfile b = Example();
  Fixture fixture(b.profile());
  fixture.Type("P");
  EXPECT_EQ(fixture.printed, report::FormatReport(b.profile(), {}));
  EXPECT_THAT(fixture.Screen(), HasSubstr("printed to perf.hist.0"));
}

TEST(BrowserTest, AlwaysShowsLossesAndCutChains) {
  HandmadeProfile b = Example();
  EXPECT_THAT(Fixture(b.profile()).Screen(), HasSubstr("no losses"));
  b.profile().losses.lost_samples = 5;
  b.profile().losses.warnings = {"the file is cut"};
  Fixture fixture(b.profile());
  for (const char* const keys : {"", "t", "E", "/x"}) {
    EXPECT_THAT(fixture.Type(keys).Screen(), HasSubstr("Losses: 5 samples lost")) << keys;
    EXPECT_THAT(fixture.Screen(), HasSubstr("the file is cut")) << keys;
  }
}

TEST(BrowserTest, NamesCannotControlTheTerminal) {
  HandmadeProfile b;
  b.Event("cycles\033[2J");
  b.Sample("co\033]0;x\007mm", {"ma\033[31min@li\nb", "漢字e\u0301\u202e@\xff\x9b"}, 3);
  Fixture fixture(b.profile());
  for (const char* const keys : {"", "E", "t", "d", "a"}) {
    const std::string screen = fixture.Type(keys).Screen();
    for (const char c : screen) {
      EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20) << keys << screen;
    }
    EXPECT_THAT(screen, Not(HasSubstr("\u202e"))) << keys;
    EXPECT_THAT(screen, Not(HasSubstr("\xff"))) << keys;
  }
}

TEST(BrowserTest, DrawsOnScreensOfAnySize) {
  HandmadeProfile b = Example();
  for (int rows = 0; rows < 6; ++rows) {
    for (const int columns : {0, 1, 2, 7, 300}) {
      Fixture fixture(b.profile(), {}, {.rows = rows, .columns = columns});
      for (const char key : std::string_view("E/a?h mTsaqtdxF")) fixture.Type({&key, 1});
      fixture.Press(Key::kEscape).Press(Key::kEnd).Press(Key::kPageUp).Press(Key::kRight);
    }
  }
}

TEST(BrowserTest, QuitsByEachKeyOfPerf) {
  HandmadeProfile b = Example();
  EXPECT_FALSE(Fixture(b.profile()).Type("q").is_running);
  EXPECT_FALSE(Fixture(b.profile()).Take({.kind = Event::Kind::kInterrupt}).is_running);
  EXPECT_FALSE(Fixture(b.profile()).Take({.kind = Event::Kind::kClosed}).is_running);
  terminal::FakeScreen screen({.rows = 5, .columns = 40});
  screen.Type("Eh").Press(Key::kEscape).Resize({.rows = 3, .columns = 20}).Type("q");
  const Source source = {.profile = b.profile()};
  Browse(source, screen);
  EXPECT_EQ(screen.shown(), 5);
}

// Returns random chains of few functions, in random threads.
HandmadeProfile RandomProfile(std::mt19937& random) {
  HandmadeProfile b;
  const auto below = [&](uint32_t end) { return static_cast<uint32_t>(random() % end); };
  for (uint32_t i = 0; i < 30; ++i) {
    std::vector<std::string> chain;
    for (uint32_t depth = 1 + below(6); depth > 0; --depth) {
      const uint32_t name = below(5);
      chain.push_back(name == 0 ? "0x" + std::to_string(1000 + below(9)) + "@lib"
                                : "f" + std::to_string(name) + "@app" + std::to_string(name % 2));
    }
    b.Event(below(3) == 0 ? "faults" : "cycles");
    b.Sample("comm" + std::to_string(below(3)), chain, 1 + below(20));
  }
  return b;
}

// Returns the lines of a report's rows, without call graphs.
std::vector<std::string> RowsOf(const profile::Profile& profile, report::ReportOptions options) {
  options.quiet = true;
  const std::string text = report::FormatReport(profile, options);
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    // Lines of call graphs begin with marks or names.
    size_t begin = 0, behind = 0;
    if (!line.empty() && line.find_first_not_of(' ') == line.find_first_of("0123456789") &&
        LeadingPercent(line, 0, &begin, &behind) >= 0) {
      lines.push_back(line);
    }
    at = end + 1;
  }
  return lines;
}

TEST(BrowsedTableTest, HasTheLinesOfTheReport) {
  std::mt19937 random(1);
  for (int i = 0; i < 100; ++i) {
    HandmadeProfile b = RandomProfile(random);
    report::ReportOptions options;
    options.children = random() % 2 == 0;
    options.relative_percentages = random() % 2 == 0;
    options.show_samples = random() % 2 == 0;
    options.percent_limit = static_cast<double>(random() % 4);
    if (random() % 2 == 0) options.filter.comms = {"comm1"};
    if (random() % 2 == 0) options.sort = {report::SortKey::kDso, report::SortKey::kSymbol};
    std::vector<std::string> lines;
    for (const auto& events : report::BrowsableTables(b.profile(), options)) {
      report::BrowsedTable table(b.profile(), options, events);
      for (size_t row = 0; row < table.rows(); ++row) lines.push_back(table.Line(row));
    }
    EXPECT_EQ(lines, RowsOf(b.profile(), options)) << i;
  }
}

TEST(TableLinesTest, FindsEachLineOfUnfoldedRows) {
  std::mt19937 random(2);
  for (int i = 0; i < 20; ++i) {
    HandmadeProfile b = RandomProfile(random);
    report::BrowsedTable table(b.profile(), {}, report::BrowsableTables(b.profile(), {}).front());
    TableLines lines(table);
    for (int step = 0; step < 30; ++step) {
      const TableLines::Line line = lines.At(random() % lines.size());
      if (random() % 4 == 0) {
        lines.Fold(line);
      } else if (random() % 3 == 0) {
        lines.ToggleWhole(line);
      } else {
        lines.Toggle(line);
      }
      size_t rows = 0;
      for (size_t at = 0; at < lines.size(); ++at) {
        const TableLines::Line shown = lines.At(at);
        if (shown.node != 0) {
          EXPECT_EQ(shown.row + 1, rows);
          EXPECT_LT(shown.entry, lines.NodeOf(shown).functions.size());
          continue;
        }
        EXPECT_EQ(shown.row, rows++);
        EXPECT_EQ(lines.LineOf(shown.row), at);
      }
      EXPECT_EQ(rows, table.rows());
    }
  }
}

// Returns all lines, with all call graphs unfolded.
std::string LinesOf(report::BrowsedTable& table) {
  std::string text;
  for (size_t row = 0; row < table.rows(); ++row) {
    text += table.Line(row) + "\n";
    for (const report::BrowsedNode& node : table.Unfold(row)) {
      text += " " + node.value;
      for (const std::string& function : node.functions) text += " " + function;
      text += "\n";
    }
  }
  return text;
}

TEST(BrowsedTableTest, AnUpdatedTableHasTheLinesOfANewOne) {
  using report::SortKey;
  const std::vector<SortKey> sorts[] = {{SortKey::kComm, SortKey::kDso, SortKey::kSymbol},
                                        {SortKey::kSymbol},
                                        {SortKey::kDso},
                                        {SortKey::kComm, SortKey::kTid}};
  for (const std::vector<SortKey>& sort : sorts) {
    report::ReportOptions options;
    options.sort = sort;
    options.call_graph.type = report::CallGraphType::kGraph;
    // The chain of the first sample is the longest, because equal rows are sorted by its length.
    HandmadeProfile b;
    b.Thread(1, 1).Sample("one", {"main@app", "a@app", "b@app", "c@app", "0x10@app"}, 7, 100);
    b.Thread(2, 2).Sample("two", {"main@app", "a@app"}, 50, 100);
    std::vector<profile::RowChange> changes;
    const auto change = [&](uint32_t row, uint64_t count, uint64_t period) {
      profile::Row& changed = b.profile().rows[row];
      changed.count += count;
      changed.period += period;
      changes.push_back({.row = row, .count = count, .period = period});
    };
    report::BrowsedTable table(b.profile(), options,
                               report::BrowsableTables(b.profile(), options).front(),
                               report::BrowsedTable::Kind::kIsLive);
    LinesOf(table);
    for (uint64_t round = 1; round <= 5; ++round) {
      changes.clear();
      const auto before = static_cast<uint32_t>(b.profile().rows.size());
      // Frames that only called so far are interrupted, and new functions and threads come.
      const std::string added = "new" + std::to_string(round);
      b.Thread(3, 3).Sample("one", {"main@app", "a@app", added + "@lib"}, round, 100);
      b.Thread(1, 1).Sample("one", {"main@app", "0x10@app", "0x20@lib"}, 2, 100);
      b.Sample("one", {"main@app", "0x10@app"}, 3, 100);
      for (uint32_t row = before; row < b.profile().rows.size(); ++row) {
        const profile::Row& fresh = b.profile().rows[row];
        changes.push_back({.row = row, .count = fresh.count, .period = fresh.period});
      }
      change(1, -uint64_t{10}, -uint64_t{1000});
      if (round == 3)
        change(before - 1, -b.profile().rows[before - 1].count,
               -b.profile().rows[before - 1].period);
      ASSERT_TRUE(table.Update(changes));
      report::BrowsedTable fresh(b.profile(), options,
                                 report::BrowsableTables(b.profile(), options).front());
      EXPECT_EQ(LinesOf(table), LinesOf(fresh)) << "round " << round;
    }
  }
}

TEST(BrowsedTableTest, PreparesCallGraphsBeforeTheFirstIsShown) {
  HandmadeProfile b;
  b.Sample("worker", {"main@app", "parse@app"}, 6);
  const auto events = report::BrowsableTables(b.profile(), {}).front();
  report::BrowsedTable table(b.profile(), {}, events), other(b.profile(), {}, events);
  while (table.PrepareNext()) {
  }
  EXPECT_EQ(LinesOf(table), LinesOf(other));
  EXPECT_FALSE(table.PrepareNext());
}

TEST(BrowsedTableTest, AnotherThreadMayPrepareATableThatIsRead) {
  HandmadeProfile b;
  for (int i = 0; i < 1000; ++i) {
    b.Sample("worker", {"main@app", "f" + std::to_string(i) + "@app"},
             1 + static_cast<uint64_t>(i));
  }
  const auto events = report::BrowsableTables(b.profile(), {}).front();
  report::BrowsedTable table(b.profile(), {}, events), other(b.profile(), {}, events);
  std::thread preparing([&] {
    while (table.PrepareNext()) {
    }
  });
  const std::string lines = LinesOf(table);
  table.SetSymbolPart("f9");
  const size_t filtered = table.rows();
  table.SetSymbolPart("");
  const size_t nodes = table.Unfold(0).size();
  preparing.join();
  EXPECT_EQ(lines, LinesOf(other));
  EXPECT_EQ(filtered, 111);
  EXPECT_EQ(nodes, other.Unfold(0).size());
  EXPECT_EQ(LinesOf(table), LinesOf(other));
}

TEST(BrowsedTableTest, LinesBehindTheHeaviestOnesAreSortedWhenTheyAreRead) {
  HandmadeProfile b;
  for (int i = 0; i < 1000; ++i) {
    b.Sample("worker", {"f" + std::to_string(i % 997) + "@app"}, 1 + static_cast<uint64_t>(i % 17));
  }
  const auto events = report::BrowsableTables(b.profile(), {}).front();
  report::BrowsedTable table(b.profile(), {}, events, report::BrowsedTable::Kind::kIsLive);
  ASSERT_TRUE(table.Update({}));
  const std::string first = table.Line(0);
  report::BrowsedTable fresh(b.profile(), {}, events);
  EXPECT_EQ(table.Line(900), fresh.Line(900));
  EXPECT_EQ(table.Line(0), fresh.Line(0));
  EXPECT_EQ(first, fresh.Line(0));
  EXPECT_EQ(LinesOf(table), LinesOf(fresh));
}

TEST(BrowsedTableTest, IsMadeAgainWhenTheFirstCallChainComes) {
  HandmadeProfile b;
  b.Sample("worker", {"main@app"});
  report::BrowsedTable table(b.profile(), {}, report::BrowsableTables(b.profile(), {}).front(),
                             report::BrowsedTable::Kind::kIsLive);
  b.Sample("worker", {"main@app", "parse@app"});
  EXPECT_FALSE(table.Update(std::vector<profile::RowChange>{{.row = 1, .count = 1, .period = 1}}));
}

}  // namespace
}  // namespace profiler::browser
