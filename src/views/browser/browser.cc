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
using report::RowFacts;
using report::SortKey;
using terminal::Box;
using terminal::Event;
using terminal::Key;
using terminal::Pane;
using terminal::TextField;

namespace {

constexpr int kTitleRows = 3;  // title, quality, headings
constexpr size_t kScroll = 8;  // columns

struct SortChoice {
  const char* text;
  std::vector<SortKey> keys;  // empty: as the options say
};

const std::vector<SortChoice>& SortChoices() {
  static const std::vector<SortChoice> choices = {
      {"as the options say", {}},
      {"symbol", {SortKey::kSymbol}},
      {"dso,symbol", {SortKey::kDso, SortKey::kSymbol}},
      {"comm,dso,symbol", {SortKey::kComm, SortKey::kDso, SortKey::kSymbol}},
      {"comm", {SortKey::kComm}},
      {"dso", {SortKey::kDso}},
      {"comm,dso", {SortKey::kComm, SortKey::kDso}}};
  return choices;
}

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

bool IsOfThread(const Zoom& zoom) { return !zoom.comm.empty() || zoom.tid != 0; }
bool IsOfImage(const Zoom& zoom) { return !zoom.image.empty(); }
bool IsOfSymbol(const Zoom& zoom) { return !zoom.symbol_part.empty(); }
bool IsOfTime(const Zoom& zoom) { return zoom.is_of_time(); }

}  // namespace

Browser::Browser(const Source& source) : source_(source), options_(source.options) { Rebuild(); }

report::ReportOptions Browser::Options() const { return zooms_.Applied(options_); }

void Browser::Rebuild() {
  const report::ReportOptions options = Options();
  tables_ = report::BrowsableTables(profile(), options);
  event_ = std::min(event_, tables_.size() - 1);
  lines_.reset();
  table_ = std::make_unique<report::BrowsedTable>(profile(), options, tables_[event_]);
  table_->SetSymbolPart(zooms_.symbol_part());
  lines_ = std::make_unique<TableLines>(*table_);
  position_ = {};
}

std::optional<TableLines::Line> Browser::Selected() const {
  if (position_.selected() >= lines_->size()) return std::nullopt;
  return lines_->At(position_.selected());
}

void Browser::Select(const TableLines::Line& line) {
  size_t at = lines_->LineOf(line.row);
  position_.Fit(lines_->size(), static_cast<size_t>(std::max(rows_ - kTitleRows - 1, 1)));
  while (line.node != 0 && at + 1 < lines_->size() && lines_->At(at).row == line.row &&
         lines_->At(at).node != line.node) {
    ++at;
  }
  position_.Select(at);
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
  const std::vector<std::string> totals = table_->Totals();
  std::string title = totals.front();
  if (tables_.size() > 1) absl::StrAppend(&title, " (", event_ + 1, " of ", tables_.size(), ")");
  if (!zooms_.empty()) absl::StrAppend(&title, ", ", zooms_.Text());
  if (totals.size() > 1) absl::StrAppend(&title, ", ", totals[1]);
  pane.PutIn(0, 0, pane.columns(), title, terminal::kTitleStyle);

  const std::string losses = profile::LossesText(profile().losses);
  int column = pane.Put(1, 0, losses.empty() ? "no losses" : "Losses: " + losses,
                        losses.empty() ? terminal::Style() : terminal::kWarningStyle);
  std::string quality = WithoutMarks(report::ChainsLine(profile()));
  for (size_t i = 2; i < totals.size(); ++i) {
    absl::StrAppend(&quality, quality.empty() ? "" : "; ", totals[i]);
  }
  for (const std::string& warning : profile().losses.warnings) {
    absl::StrAppend(&quality, quality.empty() ? "" : "; ", "Warning: ", warning);
  }
  if (!quality.empty()) column = pane.Put(1, column, "; ");
  pane.PutIn(1, column, pane.columns() - column, quality);

  std::string headings = table_->Headings();
  headings.insert(0, "  ");
  pane.Put(2, 0, Scrolled(headings, scrolled_), {.bold = true});
}

void Browser::DrawTable(Pane pane) {
  position_.Fit(lines_->size(), static_cast<size_t>(std::max(pane.rows(), 1)));
  if (lines_->size() == 0) pane.Put(0, 2, "(no rows; press Esc to go back)");
  for (int row = 0; row < pane.rows(); ++row) {
    const size_t line = position_.first() + static_cast<size_t>(row);
    if (line >= lines_->size()) break;
    DrawRow(pane, row, lines_->At(line));
    if (line == position_.selected()) pane.Reverse(row);
  }
}

void Browser::DrawRow(Pane pane, int row, const TableLines::Line& line) {
  constexpr size_t kIndent = 4;
  const char mark = lines_->MarkOf(line);
  std::string text;
  size_t shares = 2;  // percentages that are coloured
  if (line.node == 0) {
    text = table_->Line(line.row);
    text.front() = mark;
  } else {
    const report::BrowsedNode& node = lines_->NodeOf(line);
    text.assign(kIndent + 2 * line.depth, ' ');
    absl::StrAppend(&text, std::string(1, mark), " ");
    if (line.entry == 0 && !node.value.empty()) absl::StrAppend(&text, node.value, " ");
    // Functions of a run are below the name of the first one.
    if (line.entry != 0 && !node.value.empty()) text.append(node.value.size() + 1, ' ');
    absl::StrAppend(&text, node.functions.empty() ? "" : node.functions[line.entry]);
    if (line.entry != 0 || node.value.empty()) shares = 0;
  }
  pane.Put(row, 0, Scrolled(text, scrolled_));
  for (size_t from = 0, begin = 0, end = 0; shares > 0; --shares, from = end + 1) {
    const double percent = LeadingPercent(text, from, &begin, &end);
    if (percent < 0 || begin < scrolled_) break;
    pane.Put(row, static_cast<int>(begin - scrolled_), text.substr(begin, end + 1 - begin),
             terminal::StyleOfPercent(percent));
    if (text.substr(end, 1) != "%") break;
  }
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

bool Browser::HandleOverlay(const Event& event) {
  const auto close = [this] {
    overlay_ = Overlay::kNone;
    box_.reset();
    field_.reset();
    strip_.reset();
    code_.reset();
  };
  if (event.IsKey(Key::kEscape)) {
    if (overlay_ == Overlay::kFilter) {
      zooms_.Remove(IsOfSymbol);
      table_->SetSymbolPart("");
      lines_->FoldAll();
    }
    close();
    return true;
  }
  switch (overlay_) {
    case Overlay::kHelp:
      if (!box_->Handle(event)) close();
      return !event.IsKey('q') || overlay_ == Overlay::kNone;
    case Overlay::kMenu:
    case Overlay::kSort: {
      std::optional<size_t> chosen;
      if (event.kind == Event::Kind::kPress) chosen = box_->LineAt(event.row, event.column);
      if (event.IsKey(Key::kEnter)) chosen = box_->selected();
      if (chosen) {
        const Overlay from = overlay_;
        close();
        overlay_ = from;
        return Choose(*chosen);
      }
      if (event.IsKey('q') || event.kind == Event::Kind::kPress) close();
      if (box_) box_->Handle(event);
      return true;
    }
    case Overlay::kFilter:
      if (event.IsKey(Key::kEnter)) {
        close();
      } else if (field_->Handle(event)) {
        zooms_.Remove(IsOfSymbol);
        if (!field_->text().empty()) {
          zooms_.Push({.symbol_part = field_->text(), .text = "symbol: " + field_->text()});
        }
        table_->SetSymbolPart(zooms_.symbol_part());
        lines_->FoldAll();
        position_.Select(0);
      }
      return true;
    case Overlay::kTime:
      if (event.IsKey('q')) close();
      if (strip_ && strip_->Handle(event, rows_ - 1) && strip_->chosen()) {
        ZoomIntoTime();
        close();
      }
      return true;
    case Overlay::kCode:
      if (code_->Handle(event)) return true;
      if (event.IsKey('q')) close();
      if (event.IsKey('s')) {
        shows_source_ = !shows_source_;
        OpenCode();
      }
      return true;
    case Overlay::kNone:
      return true;
  }
  return true;
}

bool Browser::HandleKey(const Event& event) {
  if (event.IsKey(Key::kRight)) return scrolled_ += kScroll, true;
  if (event.IsKey(Key::kLeft)) return scrolled_ -= std::min(scrolled_, kScroll), true;
  if (position_.Handle(event)) return true;
  if (event.IsKey(Key::kTab)) return SwitchEvent(1), true;
  if (event.IsKey(Key::kBackTab)) return SwitchEvent(-1), true;
  if (event.IsKey(Key::kEscape) || event.IsKey(Key::kBackspace)) return GoBack(), true;
  if (event.IsKey(Key::kEnter)) {
    const auto line = Selected();
    if (!line || !lines_->Toggle(*line)) OpenMenu();
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
      HandleFolds(*terminal::CharacterOf(event.key));
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
      Rebuild();
      message_ = options_.relative_percentages ? "100 % are the samples that are shown"
                                               : "100 % are all samples";
      break;
    case 'x':
      if (!table_->has_call_graphs()) {
        message_ = "no sample has a call chain: record with -g";
        break;
      }
      options_.call_graph.order =
          table_->shows_callers() ? report::ChainOrder::kCaller : report::ChainOrder::kCallee;
      Rebuild();
      message_ = table_->shows_callers() ? "rows unfold into callers" : "rows unfold into callees";
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

void Browser::HandleFolds(char key) {
  const auto line = Selected();
  if (key == 'E') lines_->UnfoldAll();
  if (key == 'C') lines_->FoldAll();
  if (!line) return;
  if (key == '+') lines_->Toggle(*line);
  if (key == '-') return Select(lines_->Fold(*line));
  if (key == 'e') lines_->ToggleWhole(*line);
  if (key == 'c' && lines_->MarkOf({.row = line->row}) == '-') lines_->ToggleWhole(*line);
  // The selected line may have been folded away; '+' never does that.
  if (key != '+') Select({.row = line->row});
}

void Browser::HandleMouse(const Event& event) {
  if (position_.Handle(event) || event.kind != Event::Kind::kPress) return;
  const size_t line = position_.LineAt(event.row - kTitleRows);
  if (line >= lines_->size()) return;
  if (line == position_.selected()) lines_->Toggle(lines_->At(line));
  position_.Select(line);
}

void Browser::GoBack() {
  if (zooms_.empty()) {
    message_ = "press q to quit";
    return;
  }
  zooms_.Pop();
  Rebuild();
}

void Browser::ZoomIntoThread() {
  if (zooms_.Remove(IsOfThread)) return Rebuild();
  const auto line = Selected();
  if (!line) return;
  const profile::Thread& thread = profile()[table_->FactsOf(line->row).thread];
  const std::string comm(profile().text(thread.comm));
  if (thread.tid != 0) {
    zooms_.Push({.tid = thread.tid, .text = absl::StrCat("thread: ", comm, " ", thread.tid)});
  } else if (!comm.empty()) {
    zooms_.Push({.comm = comm, .text = "thread: " + comm});
  }
  Rebuild();
}

void Browser::ZoomIntoImage(bool kernel) {
  if (zooms_.Remove(IsOfImage)) return Rebuild();
  std::string image;
  if (kernel) {
    for (const profile::Image& candidate : profile().images) {
      const std::string_view name = profile().text(candidate.name);
      if (name.starts_with("[kernel")) image = name;
    }
  } else if (const auto line = Selected()) {
    image = profile().text(profile()[table_->FactsOf(line->row).image].name);
  }
  if (image.empty()) {
    message_ = kernel ? "no sample is of the kernel" : "the row has no DSO";
    return;
  }
  zooms_.Push({.image = image, .text = "DSO: " + image});
  Rebuild();
}

void Browser::OpenTime() {
  if (times_ == nullptr) {
    const auto loaded = source_.with_times();
    if (!loaded.ok()) {
      message_ = std::string(loaded.status().message());
      return;
    }
    times_ = *loaded;
  }
  if (times_->slices.slices.size() < 2) {
    message_ = "the recording lacks the times of its samples";
    return;
  }
  overlay_ = Overlay::kTime;
  strip_.emplace(*times_, tables_[event_].front());
}

void Browser::ZoomIntoTime() {
  zooms_.Remove(IsOfTime);
  const std::pair<uint32_t, uint32_t> slices = *strip_->chosen();
  zooms_.Push({.slices = slices, .text = "time: " + strip_->TextOf(slices)});
  Rebuild();
}

void Browser::OpenCode() {
  const auto line = Selected();
  if (!line) return;
  const RowFacts facts = table_->FactsOf(line->row);
  if (facts.function.empty()) {
    message_ = "the row has no symbol to annotate";
    return;
  }
  const std::string function(facts.function), image(profile().text(profile()[facts.image].name));
  const auto listing = source_.annotate({.event = table_->events().front(),
                                         .function = function,
                                         .image = image,
                                         .source = shows_source_});
  if (!listing.ok()) {
    message_ = std::string(listing.status().message());
    return;
  }
  overlay_ = Overlay::kCode;
  code_.emplace(*listing);
  code_title_ = absl::StrCat(function, "  ", image);
}

void Browser::OpenMenu() {
  std::vector<std::string> items;
  menu_keys_.clear();
  const auto add = [&](char key, std::string text) {
    menu_keys_ += key;
    items.push_back(std::move(text));
  };
  if (const auto line = Selected()) {
    const RowFacts facts = table_->FactsOf(line->row);
    const std::string comm(profile().text(profile()[facts.thread].comm));
    if (!facts.function.empty()) {
      add('a', absl::StrCat("Annotate ", std::string(facts.function)));
    }
    add('t', zooms_.Any(IsOfThread) ? "Zoom out of the thread" : "Zoom into thread " + comm);
    add('d', zooms_.Any(IsOfImage)
                 ? "Zoom out of the DSO"
                 : absl::StrCat("Zoom into DSO ",
                                std::string(profile().text(profile()[facts.image].name))));
    if (lines_->MarkOf({.row = line->row}) != ' ') add('e', "Unfold or fold the whole row");
  }
  add('/', "Filter by a part of the symbol");
  add('T', "Choose a part of the time");
  add('s', "Sort by other keys");
  if (table_->has_call_graphs()) {
    add('x', table_->shows_callers() ? "Unfold into callees" : "Unfold into callers");
  }
  add('P', "Print the report to a file");
  add('q', "Quit");
  overlay_ = Overlay::kMenu;
  box_.emplace("Menu", std::move(items), true);
}

void Browser::OpenSort() {
  std::vector<std::string> items;
  for (const SortChoice& choice : SortChoices()) items.emplace_back(choice.text);
  overlay_ = Overlay::kSort;
  box_.emplace("Sort by", std::move(items), true);
}

bool Browser::Choose(size_t item) {
  const bool is_menu = overlay_ == Overlay::kMenu;
  overlay_ = Overlay::kNone;
  if (is_menu) {
    return HandleKey({.kind = Event::Kind::kKey, .key = terminal::KeyOf(menu_keys_[item])});
  }
  const std::vector<SortKey>& keys = SortChoices()[item].keys;
  options_.sort = keys.empty() ? source_.options.sort : keys;
  options_.sort_fields = keys.empty() ? source_.options.sort_fields : std::vector<report::Field>();
  options_.fields = keys.empty() ? source_.options.fields : report::FieldList();
  Rebuild();
  return true;
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
    if (!browser.Handle(screen.Read(terminal::Screen::kForever))) return;
  }
}

}  // namespace profiler::browser
