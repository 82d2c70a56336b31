#include "src/views/browser/browser.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/profile/losses_text.h"
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

// Makes a view. Any thread may call it.
View MakeView(const Choice& choice, const Profile& profile, report::BrowsedProfile& shared) {
  const report::ReportOptions options = choice.Applied();
  View view{.key = choice.Key(),
            .symbol_part = {},
            .tables = report::BrowsableTables(profile, options),
            .table = nullptr};
  const size_t event = std::min(choice.event, view.tables.size() - 1);
  view.table = std::make_shared<TableView>(shared, options, view.tables[event]);
  return view;
}

}  // namespace

Browser::Browser(const Source& source) : source_(source), shared_(source.profile) {
  choice_.options = source.options;
  Rebuild();
}

void Browser::Rebuild() {
  constexpr size_t kMostKept = 6;
  const std::string key = choice_.Key();
  if (view_.table == nullptr || view_.key != key) {
    if (view_.table != nullptr) kept_.push_back(std::move(view_));
    const auto kept =
        std::find_if(kept_.begin(), kept_.end(), [&](const View& view) { return view.key == key; });
    if (kept != kept_.end()) {
      view_ = std::move(*kept);
      kept_.erase(kept);
    } else if (std::optional<View> made = maker_.Take(key)) {
      view_ = *std::move(made);
    } else {
      view_ = MakeView(choice_, profile(), SharedOf(choice_));
    }
    if (kept_.size() > kMostKept) kept_.pop_front();
  }
  choice_.event = std::min(choice_.event, view_.tables.size() - 1);
  FilterSymbols();
}

std::optional<report::RowFacts> Browser::SelectedFacts() const {
  const auto line = table().Selected();
  if (!line) return std::nullopt;
  return table().table().FactsOf(line->row);
}

std::string Browser::Situation() const {
  const auto line = table().Selected();
  const bool sorts = overlay_ == Overlay::kSort;
  size_t selected = sorts ? box_->selected().value_or(0) : line ? line->row : 0;
  const auto time = strip_ ? strip_->next() : std::nullopt;
  if (time) selected = size_t{time->first} << 32 | time->second;
  return absl::StrCat(view_.key, "\n", selected, " ", static_cast<int>(overlay_));
}

std::vector<Choice> Browser::NextChoices() const {
  std::vector<Choice> next;
  if (overlay_ == Overlay::kSort) {
    // The selected one first, then those below and above.
    const size_t count = SortChoices(), selected = box_->selected().value_or(0);
    for (size_t i = 0; i < count; ++i) next.push_back(WithSort((selected + i) % count));
    return next;
  }
  if (strip_) {
    if (const auto time = strip_->next()) next.push_back(WithTime(*time));
    return next;
  }
  const std::optional<report::RowFacts> facts = SelectedFacts();
  const report::RowFacts* const row = facts ? &*facts : nullptr;
  const auto add = [&](const auto& toggle) {
    Choice zoomed = choice_;
    if (toggle(zoomed)) next.push_back(std::move(zoomed));
  };
  add([&](Choice& zoomed) { return zoomed.ToggleThread(profile(), row); });
  add([&](Choice& zoomed) { return zoomed.ToggleImage(profile(), row); });
  add([&](Choice& zoomed) { return zoomed.ToggleKernel(profile()); });
  if (table().table().has_call_graphs()) next.push_back(WithOtherOrder());
  return next;
}

void Browser::Prepare() {
  prepared_for_ = Situation();
  std::vector<ViewMaker::Wish> wishes;
  for (const Choice& next : NextChoices()) {
    const std::string key = next.Key();
    const auto has_key = [&](const auto& view) { return view.key == key; };
    if (key == view_.key || std::any_of(kept_.begin(), kept_.end(), has_key) ||
        std::any_of(wishes.begin(), wishes.end(), has_key)) {
      continue;
    }
    wishes.push_back({.key = key, .make = [next, &of = ProfileOf(next), &with = SharedOf(next)] {
                        return MakeView(next, of, with);
                      }});
  }
  maker_.Want([table = view_.table] { return table->table().PrepareNext(); }, std::move(wishes));
  const bool has_times = !source_.profile.column(profile::Dimension::kSlice).empty();
  if (!has_times && times_ == nullptr && !coming_times_.valid()) {
    coming_times_ = std::async(std::launch::async, source_.with_times);
  }
}

void Browser::FilterSymbols() {
  const std::string part = choice_.zooms.symbol_part();
  if (part == view_.symbol_part) return;
  view_.symbol_part = part;
  table().table().SetSymbolPart(part);
  table().lines().FoldAll();
  table().Select({.row = 0});
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
  // Lines of light rows may widen the columns, so the headings follow.
  DrawTable(pane.Part(kTitleRows, 0, {pane.rows() - kTitleRows - 1, pane.columns()}));
  DrawTitle(pane.Top(kTitleRows));
  DrawFoot(pane.Part(pane.rows() - 1, 0, {1, pane.columns()}));
  if (overlay_ == Overlay::kTime) strip_->Draw(pane.Part(rows_ - 2, 0, {2, pane.columns()}));
  if (box_) box_->Draw(pane);
}

void Browser::DrawTitle(Pane pane) {
  const std::vector<std::string>& totals = table().table().Totals();
  std::string title = totals.front();
  if (view_.tables.size() > 1)
    absl::StrAppend(&title, " (", choice_.event + 1, " of ", view_.tables.size(), ")");
  if (!choice_.zooms.empty()) absl::StrAppend(&title, ", ", choice_.zooms.Text());
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
  table().DrawHeadings(pane, 2, scrolled_, {.bold = true});
}

const std::string& Browser::ChainsText() {
  if (chains_of_ != &profile()) chains_text_ = WithoutMarks(report::ChainsLine(profile()));
  chains_of_ = &profile();
  return chains_text_;
}

void Browser::DrawTable(Pane pane) {
  if (table().lines().size() == 0) pane.Put(0, 2, "(no rows; press Esc to go back)");
  table().Draw(pane, scrolled_);
}

void Browser::DrawFoot(Pane pane) {
  if (overlay_ == Overlay::kFilter) return field_->Draw(pane, 0);
  if (!message_.empty()) {
    pane.PutIn(0, 0, pane.columns(), message_, terminal::kWarningStyle);
    return;
  }
  pane.PutIn(0, 0, pane.columns(),
             choice_.zooms.empty()
                 ? "h help  Enter unfold  a annotate  / filter  t thread  d DSO  q quit"
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
  if (ScrollSideways(event, &scrolled_)) return true;
  if (table().Move(event)) return true;
  if (event.IsKey(Key::kTab)) return SwitchEvent(1), true;
  if (event.IsKey(Key::kBackTab)) return SwitchEvent(-1), true;
  if (event.IsKey(Key::kEscape) || event.IsKey(Key::kBackspace)) return GoBack(), true;
  if (event.IsKey(Key::kEnter)) {
    if (!table().Toggle()) OpenMenu();
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
      table().HandleFolds(*terminal::CharacterOf(event.key));
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
      field_.emplace("Symbol: ", choice_.zooms.symbol_part());
      break;
    case 'F':
      choice_.options.relative_percentages = !choice_.options.relative_percentages;
      Rebuild();
      message_ = choice_.options.relative_percentages ? "100 % are the samples that are shown"
                                                      : "100 % are all samples";
      break;
    case 'x':
      if (!table().table().has_call_graphs()) {
        message_ = "no sample has a call chain: record with -g";
        break;
      }
      choice_ = WithOtherOrder();
      Rebuild();
      message_ =
          table().table().shows_callers() ? "rows unfold into callers" : "rows unfold into callees";
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
  if (table().Move(event) || event.kind != Event::Kind::kPress) return;
  table().Press(event.row - kTitleRows);
}

Choice Browser::WithOtherOrder() const {
  Choice other = choice_;
  other.options.call_graph.order =
      table().table().shows_callers() ? report::ChainOrder::kCaller : report::ChainOrder::kCallee;
  return other;
}

void Browser::GoBack() {
  if (choice_.zooms.empty()) {
    message_ = "press q to quit";
    return;
  }
  choice_.zooms.Pop();
  Rebuild();
}

void Browser::Print() {
  report::ReportOptions options = choice_.Applied();
  options.symbol_part = choice_.zooms.symbol_part();
  std::string text;
  report::WriteReport(profile(), options, [&text](std::string_view piece) { text += piece; });
  const auto file = source_.print(text);
  message_ = file.ok() ? "printed to " + *file : std::string(file.status().message());
}

void Browser::SwitchEvent(ptrdiff_t by) {
  if (view_.tables.size() < 2) {
    message_ = "the recording has one event";
    return;
  }
  choice_.event =
      (choice_.event + view_.tables.size() + static_cast<size_t>(by)) % view_.tables.size();
  Rebuild();
}

void Browse(const Source& source, terminal::Screen& screen) {
  Browser browser(source);
  for (;;) {
    terminal::Canvas canvas(screen.size());
    browser.Draw(canvas.Whole());
    screen.Show(canvas);
    constexpr int kRest = 100;  // ms
    const Event event = screen.Read(browser.has_to_prepare() ? kRest : terminal::Screen::kForever);
    if (event.kind == Event::Kind::kTimeout) browser.Prepare();
    if (!browser.Handle(event)) return;
  }
}

}  // namespace profiler::browser
