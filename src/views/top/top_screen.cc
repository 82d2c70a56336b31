#include "src/views/top/top_screen.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "src/terminal/box.h"
#include "src/terminal/list_position.h"
#include "src/terminal/strip.h"
#include "src/terminal/style.h"
#include "src/terminal/text_field.h"
#include "src/views/report/sort_keys.h"
#include "src/views/top/report_lines.h"

namespace profiler::top {
namespace {

using report::SortKey;
using terminal::Event;
using terminal::Key;
using terminal::Pane;

constexpr int kHeadRows = 4, kFootRows = 1;

constexpr const char* kHelp[] = {
    "q, Ctrl-C     quit",
    "arrows, PgUp  move; Home and End too",
    "Enter, +, e   call graph below a row, and away again",
    "C             fold all call graphs",
    "i             call graphs from callers to callees, or the other way",
    "a             code of the function, with its samples",
    "Tab, 1 2 3    functions, threads, images",
    "s             rows by samples in functions themselves, or with their callees",
    "/             filter by a part of the name, as you type",
    "t, d          only the thread, the image of the row",
    "Esc, Left     take back filters, one by one",
    "K, U          without kernel code, without user code",
    "w             last 2 s, 10 s, minute, all",
    "f, Space      freeze, and go on",
    "z             forget all samples, and begin again",
    "P             save the last minute as a recording",
};

std::vector<SortKey> KeysOf(Tab tab) {
  switch (tab) {
    case Tab::kThreads:
      return {SortKey::kComm, SortKey::kTid};
    case Tab::kImages:
      return {SortKey::kDso};
    case Tab::kFunctions:
      break;
  }
  return {};
}

}  // namespace

class TopScreen::Impl {
 public:
  Impl(Choice choice, std::vector<std::string> ranges)
      : choice_(std::move(choice)), ranges_(std::move(ranges)) {}

  void SetData(TopData data);
  void ShowCode(std::string title, std::string_view listing);
  void ShowMessage(std::string message) { message_ = std::move(message); }
  void Draw(Pane pane);
  Request Handle(const Event& event);
  const Choice& choice() const { return choice_; }
  bool is_frozen() const { return is_frozen_; }
  RowNames Selected() const;

 private:
  report::ReportOptions OptionsOfTab() const;
  void MakeLines();
  std::optional<ReportLine> SelectedLine() const;
  void DrawHead(Pane pane);
  void DrawList(Pane pane);
  void DrawLine(Pane pane, int row, const ReportLine& line) const;
  void DrawCode(Pane pane);
  void DrawFoot(Pane pane);
  Request HandleField(const Event& event);
  Request HandleCode(const Event& event);
  Request HandleKey(char key);
  Request Choose(bool changed) { return changed ? Request::kData : Request::kNone; }
  Request Show(Tab tab);
  Request Zoom(std::string* filter, std::string value);
  void ToggleGraph();

  Choice choice_;
  const std::vector<std::string> ranges_;
  TopData data_;
  std::optional<ReportLines> table_;
  std::set<std::string> unfolded_;  // keys of rows
  terminal::ListPosition position_;
  std::string selected_key_;
  bool is_frozen_ = false;
  std::optional<terminal::TextField> field_;  // the filter that is being typed
  std::optional<terminal::Box> help_;
  std::vector<std::string> code_;  // lines of a listing; empty: the table is shown
  std::string code_title_;
  terminal::ListPosition code_position_;
  std::string message_;
};

void TopScreen::Impl::SetData(TopData data) {
  selected_key_.clear();
  // The first row stays selected as the first row, whatever it is.
  if (position_.selected() != 0) selected_key_ = Selected().key;
  data_ = std::move(data);
  MakeLines();
}

report::ReportOptions TopScreen::Impl::OptionsOfTab() const {
  report::ReportOptions options = data_.options;
  if (const auto keys = KeysOf(choice_.tab); !keys.empty()) {
    options.sort = keys;
    options.sort_fields.clear();
    options.fields = {};
  }
  options.hierarchy = false;
  options.quiet = false;
  options.call_graph.type = report::CallGraphType::kGraph;
  if (choice_.is_inverted) options.call_graph.order = report::ChainOrder::kCaller;
  if (choice_.by_self) options.children = false;
  options.symbol_part = choice_.symbol_part;
  return options;
}

// Makes the lines, and selects the row that was selected before.
void TopScreen::Impl::MakeLines() {
  table_.emplace(data_.profile, OptionsOfTab(), unfolded_);
  if (selected_key_.empty()) return;
  const std::vector<ReportLine>& lines = table_->lines();
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].is_row || table_->NamesOf(lines[i]).key != selected_key_) continue;
    position_.Fit(lines.size(), 1);
    return position_.Select(i);
  }
}

std::optional<ReportLine> TopScreen::Impl::SelectedLine() const {
  if (!table_ || position_.selected() >= table_->lines().size()) return std::nullopt;
  return table_->lines()[position_.selected()];
}

// Returns the names of the selected row, or of the row above a selected line of a graph.
RowNames TopScreen::Impl::Selected() const {
  const auto line = SelectedLine();
  if (!line) return {};
  for (const ReportLine& row : table_->lines()) {
    if (row.is_row && row.row == line->row) return table_->NamesOf(row);
  }
  return {};
}

void TopScreen::Impl::ShowCode(std::string title, std::string_view listing) {
  code_title_ = std::move(title);
  code_.clear();
  while (!listing.empty()) {
    const std::string_view line = listing.substr(0, listing.find('\n'));
    listing.remove_prefix(std::min(listing.size(), line.size() + 1));
    code_.emplace_back(line);
  }
  code_position_ = {};
}

void TopScreen::Impl::Draw(Pane pane) {
  pane.Clear();
  const int list_rows = std::max(1, pane.rows() - kHeadRows - kFootRows);
  DrawHead(pane.Top(kHeadRows));
  const Pane list = pane.Part(kHeadRows, 0, {list_rows, pane.columns()});
  code_.empty() ? DrawList(list) : DrawCode(list);
  DrawFoot(pane.Below(pane.rows() - kFootRows));
  if (help_) help_->Draw(pane);
}

void TopScreen::Impl::DrawCode(Pane pane) {
  code_position_.Fit(code_.size(), static_cast<size_t>(std::max(1, pane.rows())));
  for (int row = 0; row < pane.rows(); ++row) {
    const size_t at = code_position_.LineAt(row);
    if (at >= code_.size()) break;
    pane.PutIn(row, 0, pane.columns(), code_[at]);
    if (at == code_position_.selected()) pane.Reverse(row);
  }
}

void TopScreen::Impl::DrawHead(Pane pane) {
  const std::string left = absl::StrCat(" profiler top  ", data_.title);
  const std::string right = absl::StrCat(is_frozen_ ? "FROZEN  " : "", "last ",
                                         ranges_[choice_.range], ": ", data_.figures, " ");
  pane.PutIn(0, 0, pane.columns(), left, terminal::kTitleStyle);
  pane.PutRight(0, pane.columns(), right, terminal::kTitleStyle);
  constexpr std::string_view kUse = "CPU use ";
  constexpr size_t kPercentColumns = 7;
  const size_t room =
      std::max<size_t>(static_cast<size_t>(pane.columns()), kUse.size() + kPercentColumns + 1) -
      kUse.size() - kPercentColumns;
  std::span<const double> use = data_.use;
  if (use.size() > room) use = use.last(room);
  int column = pane.Put(1, 0, kUse);
  column = pane.Put(1, column, terminal::StripOf(use, 1.0), {.colour = terminal::Colour::kCyan});
  if (!use.empty()) pane.Put(1, column, absl::StrFormat(" %.0f %%", 100 * use.back()));
  std::vector<std::string> remarks;
  const auto add = [&](const std::string& value, const char* what) {
    if (!value.empty()) remarks.push_back(absl::StrCat("only ", what, " ", value));
  };
  add(choice_.comm, "thread");
  add(choice_.image, "image");
  add(choice_.symbol_part, "functions with");
  if (choice_.hide_kernel) remarks.emplace_back("no kernel code");
  if (choice_.hide_user) remarks.emplace_back("no user code");
  remarks.insert(remarks.end(), data_.remarks.begin(), data_.remarks.end());
  pane.Put(2, 0, absl::StrJoin(remarks, "; "),
           data_.warns ? terminal::kWarningStyle : terminal::Style{});
  const std::string headings = table_ ? table_->headings() : std::string();
  pane.PutIn(3, 0, pane.columns(), code_.empty() ? headings : code_title_,
             {.bold = true, .underline = true});
}

void TopScreen::Impl::DrawList(Pane pane) {
  const size_t lines = table_ ? table_->lines().size() : 0;
  position_.Fit(lines, static_cast<size_t>(std::max(1, pane.rows())));
  if (lines == 0) {
    const bool has_samples = table_ && table_->has_table();
    pane.Put(0, 2, has_samples ? "No row passes the filters." : "No samples yet.");
    return;
  }
  for (int row = 0; row < pane.rows(); ++row) {
    const size_t at = position_.LineAt(row);
    if (at >= lines) break;
    DrawLine(pane, row, table_->lines()[at]);
    if (at == position_.selected()) pane.Reverse(row);
  }
}

void TopScreen::Impl::DrawLine(Pane pane, int row, const ReportLine& line) const {
  pane.PutIn(row, 0, pane.columns(), line.text,
             line.is_row ? terminal::Style{} : terminal::Style{.colour = terminal::Colour::kGrey});
  size_t begin = 0, end = 0;
  const double percent = line.is_row ? FirstPercentOf(line.text, &begin, &end) : -1;
  if (percent < 0) return;
  pane.Put(row, static_cast<int>(begin), line.text.substr(begin, end + 1 - begin),
           terminal::StyleOfPercent(percent));
}

void TopScreen::Impl::DrawFoot(Pane pane) {
  if (field_) return field_->Draw(pane, 0);
  const std::string_view tabs[] = {"1 functions", "2 threads", "3 images"};
  const std::string hints =
      absl::StrCat("h help  Enter calls  a code  / filter  f freeze  w time  ",
                   std::string(tabs[static_cast<size_t>(choice_.tab)]), "  q quit");
  pane.PutIn(0, 0, pane.columns(), message_.empty() ? hints : message_,
             message_.empty() ? terminal::Style{.reverse = true} : terminal::kWarningStyle);
}

void TopScreen::Impl::ToggleGraph() {
  const RowNames row = Selected();
  if (row.key.empty()) return;
  const size_t lines = table_->lines().size();
  const bool folds = unfolded_.erase(row.key) != 0;
  if (!folds) unfolded_.insert(row.key);
  selected_key_ = row.key;
  MakeLines();
  if (folds || table_->lines().size() != lines) return;
  unfolded_.erase(row.key);
  ShowMessage("There is no call graph here: without -g, samples have no call chains.");
}

Request TopScreen::Impl::Show(Tab tab) {
  const bool changed = tab != choice_.tab;
  choice_.tab = tab;
  return Choose(changed);
}

Request TopScreen::Impl::Zoom(std::string* filter, std::string value) {
  if (value.empty()) return Request::kNone;
  *filter = *filter == value ? std::string() : std::move(value);
  return Request::kData;
}

Request TopScreen::Impl::HandleField(const Event& event) {
  if (event.IsKey(Key::kEnter)) {
    field_.reset();
    return Request::kNone;
  }
  if (event.IsKey(Key::kEscape)) {
    field_.reset();
    return Choose(!std::exchange(choice_.symbol_part, "").empty());
  }
  if (!field_->Handle(event)) return Request::kNone;
  choice_.symbol_part = field_->text();
  return Request::kData;
}

// Moves in the listing. Other keys close it.
Request TopScreen::Impl::HandleCode(const Event& event) {
  const bool closes = event.IsKey('q') || event.IsKey('a') || event.IsKey(Key::kEscape) ||
                      event.IsKey(Key::kLeft) || event.IsKey(Key::kEnter);
  if (closes) {
    code_.clear();
  } else {
    code_position_.Handle(event);
  }
  return Request::kNone;
}

Request TopScreen::Impl::HandleKey(char key) {
  const RowNames row = Selected();
  switch (key) {
    case 'q':
      return Request::kQuit;
    case 'h':
    case '?':
      help_.emplace("Keys", std::vector<std::string>(std::begin(kHelp), std::end(kHelp)), false);
      return Request::kNone;
    case '+':
    case 'e':
      ToggleGraph();
      return Request::kNone;
    case 'C':
      unfolded_.clear();
      selected_key_ = row.key;
      MakeLines();
      return Request::kNone;
    case 'i':
      choice_.is_inverted = !choice_.is_inverted;
      return Request::kData;
    case 'a':
      return row.function.empty() ? Request::kNone : Request::kAnnotate;
    case '1':
    case '2':
    case '3':
      return Show(Tab(key - '1'));
    case 's':
      choice_.by_self = !choice_.by_self;
      return Request::kData;
    case '/':
      field_.emplace("Filter: ", choice_.symbol_part);
      return Request::kNone;
    case 't':
      return Zoom(&choice_.comm, row.comm);
    case 'd':
      return Zoom(&choice_.image, row.image);
    case 'K':
      choice_.hide_kernel = !choice_.hide_kernel;
      return Request::kData;
    case 'U':
      choice_.hide_user = !choice_.hide_user;
      return Request::kData;
    case 'w':
      choice_.range = (choice_.range + 1) % ranges_.size();
      return Request::kData;
    case 'f':
    case ' ':
      is_frozen_ = !is_frozen_;
      return is_frozen_ ? Request::kNone : Request::kData;
    case 'z':
      return Request::kClear;
    case 'P':
      return Request::kSave;
    default:
      return Request::kNone;
  }
}

Request TopScreen::Impl::Handle(const Event& event) {
  if (event.kind == Event::Kind::kInterrupt || event.kind == Event::Kind::kClosed) {
    return Request::kQuit;
  }
  if (event.kind == Event::Kind::kKey) message_.clear();
  if (help_) {
    if (event.kind == Event::Kind::kKey && !help_->Handle(event)) help_.reset();
    return Request::kNone;
  }
  if (!code_.empty()) return HandleCode(event);
  if (field_) return HandleField(event);
  if (event.IsKey(Key::kEnter) || event.IsKey(Key::kRight)) {
    ToggleGraph();
    return Request::kNone;
  }
  if (event.IsKey(Key::kTab)) {
    return Show(Tab((static_cast<int>(choice_.tab) + 1) % 3));
  }
  if (event.IsKey(Key::kF1)) return HandleKey('h');
  if (event.IsKey(Key::kEscape) || event.IsKey(Key::kLeft)) {
    for (std::string* filter : {&choice_.symbol_part, &choice_.image, &choice_.comm}) {
      if (!std::exchange(*filter, "").empty()) return Request::kData;
    }
    return Request::kNone;
  }
  const auto character =
      event.kind == Event::Kind::kKey ? terminal::CharacterOf(event.key) : std::nullopt;
  // Keys with a meaning here come before those that move.
  constexpr std::string_view kOwn = "qh?+eCia123s/tdKUwf zP";
  if (character && kOwn.find(*character) != kOwn.npos) return HandleKey(*character);
  position_.Handle(event);
  return Request::kNone;
}

TopScreen::TopScreen(Choice choice, std::vector<std::string> ranges)
    : impl_(std::make_unique<Impl>(std::move(choice), std::move(ranges))) {}
TopScreen::~TopScreen() = default;
void TopScreen::SetData(TopData data) { impl_->SetData(std::move(data)); }
void TopScreen::ShowCode(std::string title, std::string_view listing) {
  impl_->ShowCode(std::move(title), listing);
}
void TopScreen::ShowMessage(std::string message) { impl_->ShowMessage(std::move(message)); }
void TopScreen::Draw(Pane pane) { impl_->Draw(pane); }
Request TopScreen::Handle(const Event& event) { return impl_->Handle(event); }
const Choice& TopScreen::choice() const { return impl_->choice(); }
bool TopScreen::is_frozen() const { return impl_->is_frozen(); }
std::string TopScreen::selected_function() const { return impl_->Selected().function; }

}  // namespace profiler::top
