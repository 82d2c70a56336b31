#include "src/views/browser/browser.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/profile/losses_text.h"
#include "src/terminal/columns.h"
#include "src/views/browser/help.h"
#include "src/views/report/chains.h"
#include "src/views/report/report.h"

namespace profiler::browser {

using profile::Profile;
using terminal::Box;
using terminal::Event;
using terminal::Key;
using terminal::Pane;
using terminal::TextField;

namespace {

constexpr int kTitleRows = 3;  // title, quality, headings

// Joins the lines of comments ("# …\n") to one line.
std::string WithoutMarks(std::string_view lines) {
  std::string text;
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    std::string_view line = lines.substr(0, end);
    lines.remove_prefix(std::min(end + 1, lines.size()));
    line.remove_prefix(std::min(line.find_first_not_of("# "), line.size()));
    if (line.empty()) continue;
    absl::StrAppend(&text, text.empty() ? "" : "; ", absl::string_view(line.data(), line.size()));
  }
  return text;
}

}  // namespace

Browser::Browser(const Source& source)
    : source_(source), shared_(source.profile), options_(source.options) {
  Rebuild();
}

report::ReportOptions Browser::Options() const { return zooms_.Applied(options_); }

void Browser::Rebuild() {
  constexpr size_t kMostKept = 6;
  if (view_) {
    kept_.push_back(
        {std::move(view_key_), std::move(view_symbol_part_), std::move(tables_), std::move(view_)});
    if (kept_.size() > kMostKept) kept_.pop_front();
  }
  view_key_ = absl::StrCat(event_, zooms_.Key());
  const auto kept = std::find_if(kept_.begin(), kept_.end(),
                                 [this](const View& view) { return view.key == view_key_; });
  if (kept != kept_.end()) {
    tables_ = std::move(kept->tables);
    view_ = std::move(kept->table);
    view_symbol_part_ = std::move(kept->symbol_part);
    kept_.erase(kept);
  } else {
    const report::ReportOptions options = Options();
    tables_ = report::BrowsableTables(profile(), options);
    event_ = std::min(event_, tables_.size() - 1);
    report::BrowsedProfile& shared = shared_times_ && zoomed_in_time() ? *shared_times_ : shared_;
    view_ = std::make_unique<TableView>(shared, options, tables_[event_]);
    view_symbol_part_.clear();
  }
  FilterSymbols();
}

void Browser::RebuildAll() {
  view_.reset();
  kept_.clear();
  Rebuild();
}

// Takes over another 100 %, which tables of all samples share with the former one.
void Browser::ShowPercentages() {
  const report::ReportOptions options = Options();
  if (!options.filter.empty() || options.slices || options.column_filter.socket ||
      options.column_filter.only_with_parent) {
    return RebuildAll();
  }
  kept_.clear();
}

void Browser::FilterSymbols() {
  const std::string part = zooms_.symbol_part();
  if (part == view_symbol_part_) return;
  view_symbol_part_ = part;
  view_->table().SetSymbolPart(part);
  view_->lines().FoldAll();
  view_->Select({.row = 0});
}

void Browser::Draw(Pane pane) {
  rows_ = pane.rows();
  if (overlay_ == Overlay::kCode) {
    pane.PutIn(0, 0, pane.columns(), code_title_, terminal::kTitleStyle);
    code_->Draw(pane.Part(1, 0, {pane.rows() - 2, pane.columns()}));
    pane.PutIn(pane.rows() - 1, 0, pane.columns(),
               message_.empty() ? "H hottest  Tab next hot  s source  Esc back  q quit" : message_);
    return;
  }
  DrawTitle(pane.Top(kTitleRows));
  DrawTable(pane.Part(kTitleRows, 0, {pane.rows() - kTitleRows - 1, pane.columns()}));
  DrawFoot(pane.Part(pane.rows() - 1, 0, {1, pane.columns()}));
  if (overlay_ == Overlay::kTime) strip_->Draw(pane.Part(rows_ - 2, 0, {2, pane.columns()}));
  if (box_) box_->Draw(pane);
}

void Browser::DrawTitle(Pane pane) {
  const std::vector<std::string>& totals = view_->table().Totals();
  std::string title = totals.front();
  if (tables_.size() > 1) absl::StrAppend(&title, " (", event_ + 1, " of ", tables_.size(), ")");
  if (!zooms_.empty()) absl::StrAppend(&title, ", ", zooms_.Text());
  if (totals.size() > 1) absl::StrAppend(&title, ", ", totals[1]);
  pane.PutIn(0, 0, pane.columns(), title, terminal::kTitleStyle);

  const std::string losses = profile::LossesText(profile().losses);
  int column = pane.Put(1, 0, losses.empty() ? "no losses" : "Losses: " + losses,
                        losses.empty() ? terminal::Style() : terminal::kWarningStyle);
  std::string quality = ChainsText();
  for (size_t i = 2; i < totals.size(); ++i) {
    absl::StrAppend(&quality, quality.empty() ? "" : "; ", totals[i]);
  }
  for (const std::string& warning : profile().losses.warnings) {
    absl::StrAppend(&quality, quality.empty() ? "" : "; ", "Warning: ", warning);
  }
  if (!quality.empty()) column = pane.Put(1, column, "; ");
  pane.PutIn(1, column, pane.columns() - column, quality);
  view_->DrawHeadings(pane, 2, scrolled_, {.bold = true});
}

const std::string& Browser::ChainsText() {
  if (chains_of_ != &profile()) chains_text_ = WithoutMarks(report::ChainsLine(profile()));
  chains_of_ = &profile();
  return chains_text_;
}

void Browser::DrawTable(Pane pane) {
  if (view_->lines().size() == 0) pane.Put(0, 2, "(no rows; press Esc to go back)");
  view_->Draw(pane, scrolled_);
}

void Browser::DrawFoot(Pane pane) {
  if (overlay_ == Overlay::kFilter) return field_->Draw(pane, 0);
  if (!message_.empty()) {
    pane.PutIn(0, 0, pane.columns(), message_, terminal::kWarningStyle);
    return;
  }
  pane.PutIn(0, 0, pane.columns(),
             zooms_.empty() ? "h help  Enter unfold  a annotate  / filter  t thread  d DSO  q quit"
                            : "h help  Enter unfold  a annotate  / filter  Esc back  q quit");
}

bool Browser::Handle(const Event& event) {
  if (event.kind == Event::Kind::kInterrupt || event.kind == Event::Kind::kClosed) return false;
  if (event.kind == Event::Kind::kTimeout || event.kind == Event::Kind::kRedraw) return true;
  message_.clear();
  if (overlay_ != Overlay::kNone) return HandleOverlay(event);
  if (event.kind != Event::Kind::kKey) {
    HandleMouse(event);
    return true;
  }
  return HandleKey(event);
}

bool Browser::HandleKey(const Event& event) {
  if (event.IsKey(Key::kRight)) return scrolled_ += terminal::kScrolledColumns, true;
  if (event.IsKey(Key::kLeft))
    return scrolled_ -= std::min(scrolled_, terminal::kScrolledColumns), true;
  if (view_->Move(event)) return true;
  if (event.IsKey(Key::kTab)) return SwitchEvent(1), true;
  if (event.IsKey(Key::kBackTab)) return SwitchEvent(-1), true;
  if (event.IsKey(Key::kEscape) || event.IsKey(Key::kBackspace)) return GoBack(), true;
  if (event.IsKey(Key::kEnter)) {
    if (!view_->Toggle()) OpenMenu();
    return true;
  }
  const bool is_help = event.IsKey(Key::kF1) || event.IsKey('?');
  switch (is_help ? 'h' : terminal::CharacterOf(event.key).value_or('\0')) {
    case 'q':
      return false;
    case 'h':
      overlay_ = Overlay::kHelp;
      box_.emplace("Keys", HelpLines(), false);
      break;
    case '+':
    case '-':
    case 'e':
    case 'c':
    case 'E':
    case 'C':
      view_->HandleFolds(*terminal::CharacterOf(event.key));
      break;
    case 'a':
      OpenCode();
      break;
    case 't':
      ZoomIntoThread();
      break;
    case 'd':
      ZoomIntoImage(false);
      break;
    case 'k':
      ZoomIntoImage(true);
      break;
    case 'T':
      OpenTime();
      break;
    case '/':
      overlay_ = Overlay::kFilter;
      field_.emplace("Symbol: ", zooms_.symbol_part());
      break;
    case 'F':
      options_.relative_percentages = !options_.relative_percentages;
      ShowPercentages();
      message_ = options_.relative_percentages ? "100 % are the samples that are shown"
                                               : "100 % are all samples";
      break;
    case 'x':
      if (!view_->table().has_call_graphs()) {
        message_ = "no sample has a call chain: record with -g";
        break;
      }
      options_.call_graph.order = view_->table().shows_callers() ? report::ChainOrder::kCaller
                                                                 : report::ChainOrder::kCallee;
      RebuildAll();
      message_ =
          view_->table().shows_callers() ? "rows unfold into callers" : "rows unfold into callees";
      break;
    case 's':
      OpenSort();
      break;
    case 'm':
      OpenMenu();
      break;
    case 'P':
      Print();
      break;
    default:
      break;
  }
  return true;
}

void Browser::HandleMouse(const Event& event) {
  if (view_->Move(event) || event.kind != Event::Kind::kPress) return;
  view_->Press(event.row - kTitleRows);
}

void Browser::GoBack() {
  if (zooms_.empty()) {
    message_ = "press q to quit";
    return;
  }
  zooms_.Pop();
  Rebuild();
}

void Browser::Print() {
  report::ReportOptions options = Options();
  options.symbol_part = zooms_.symbol_part();
  std::string text;
  report::WriteReport(profile(), options, [&text](std::string_view piece) { text += piece; });
  const auto file = source_.print(text);
  message_ = file.ok() ? "printed to " + *file : std::string(file.status().message());
}

void Browser::SwitchEvent(ptrdiff_t by) {
  if (tables_.size() < 2) {
    message_ = "the recording has one event";
    return;
  }
  event_ = (event_ + tables_.size() + static_cast<size_t>(by)) % tables_.size();
  Rebuild();
}

void Browse(const Source& source, terminal::Screen& screen) {
  Browser browser(source);
  for (;;) {
    terminal::Canvas canvas(screen.size());
    browser.Draw(canvas.Whole());
    screen.Show(canvas);
    constexpr int kRest = 200;  // ms
    const Event event = screen.Read(browser.has_to_prepare() ? kRest : terminal::Screen::kForever);
    if (event.kind == Event::Kind::kTimeout) browser.Prepare();
    if (!browser.Handle(event)) return;
  }
}

}  // namespace profiler::browser
