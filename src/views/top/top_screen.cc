#include "src/views/top/top_screen.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "src/terminal/box.h"
#include "src/terminal/strip.h"
#include "src/terminal/style.h"
#include "src/terminal/text_field.h"
#include "src/views/browser/code_view.h"
#include "src/views/browser/table_view.h"
#include "src/views/report/sort_keys.h"

namespace profiler::top {
namespace {

using browser::TableLines;
using browser::TableView;
using report::SortKey;
using terminal::Event;
using terminal::Key;
using terminal::Pane;

constexpr int kHeadRows = 4, kFootRows = 1;

constexpr const char* kHelp[] = {
    "q, Ctrl-C     quit",
    "arrows, PgUp  move; Home and End too",
    "Enter, +, -   show or hide one level of the call graph below a row",
    "e, c          show or hide the whole call graph of a row",
    "E, C          show or hide the call graphs of all rows",
    "i             turn call graphs around: callers, or callees",
    "a             show the code of the function, with its samples",
    "Tab, 1 2 3    functions, threads, images",
    "s             sort by samples in functions themselves, or with callees",
    "/             filter by a part of the name, as you type",
    "t, d          show only the thread, or the image, of the row",
    "Esc, Left     take back filters, one by one",
    "K, U          leave out kernel code, or user code",
    "w             last 2 s, 10 s, minute, all",
    "f, Space      freeze, and go on",
    "z             only the samples since the last refresh, and back to the shown time",
    "Z             forget all samples, and begin again",
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
  std::string selected_function() const;

 private:
  report::ReportOptions OptionsOfTab() const;
  void MakeTable();
  std::string SelectedKey() const;
  std::string SelectedName(SortKey key) const;
  void DrawHead(Pane pane);
  void DrawList(Pane pane);
  void DrawFoot(Pane pane);
  Request HandleField(const Event& event);
  Request HandleCode(const Event& event);
  Request HandleKey(char key);
  Request Choose(bool changed) { return changed ? Request::kData : Request::kNone; }
  Request Show(Tab tab);
  Request Zoom(std::string* filter, std::string value);
  void Fold(char key);

  Choice choice_;
  const std::vector<std::string> ranges_;
  TopData data_;
  std::unique_ptr<TableView> view_;  // null: no event has samples
  bool is_frozen_ = false;
  std::optional<terminal::TextField> field_;  // the filter that is being typed
  std::optional<terminal::Box> help_;
  std::optional<browser::CodeView> code_;  // unset: the table is shown
  std::string code_title_;
  std::string message_;
};

void TopScreen::Impl::SetData(TopData data) {
  if (view_ && data.changes && data.changes->empty() && data.profile == data_.profile) {
    data_ = std::move(data);
    return;
  }
  const TableLines::Paths unfolded = view_ ? view_->lines().Unfolded() : TableLines::Paths();
  // The first row stays selected as the first row, whatever it is.
  const std::string selected = view_ && !view_->IsAtTop() ? SelectedKey() : std::string();
  const bool is_updated =
      view_ && data.changes && data.profile == data_.profile && view_->Update(*data.changes);
  if (!is_updated) view_.reset();  // refers to the data
  data_ = std::move(data);
  if (!is_updated) MakeTable();
  if (!view_) return;
  view_->lines().Unfold(unfolded);
  if (!selected.empty()) view_->SelectRow(selected);
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

void TopScreen::Impl::MakeTable() {
  const report::ReportOptions options = OptionsOfTab();
  const auto tables = report::BrowsableTables(*data_.profile, options);
  if (tables.empty()) return;
  view_ = std::make_unique<TableView>(*data_.profile, options, tables.front(),
                                      browser::Margins::kWide, TableView::Kind::kIsLive);
}

std::string TopScreen::Impl::SelectedKey() const {
  const auto line = view_ ? view_->Selected() : std::nullopt;
  return line ? view_->table().KeyOf(line->row) : std::string();
}

// Returns the selected row's value of a key; empty if rows do not have that key.
std::string TopScreen::Impl::SelectedName(SortKey key) const {
  const auto line = view_ ? view_->Selected() : std::nullopt;
  const std::vector<SortKey> keys = OptionsOfTab().sort;
  if (!line || std::find(keys.begin(), keys.end(), key) == keys.end()) return {};
  const report::RowFacts facts = view_->table().FactsOf(line->row);
  const profile::Profile& profile = *data_.profile;
  switch (key) {
    case SortKey::kComm:
      return std::string(profile.text(profile[facts.thread].comm));
    case SortKey::kDso:
      return std::string(profile.text(profile[facts.image].name));
    default:
      return std::string(facts.function);
  }
}

std::string TopScreen::Impl::selected_function() const { return SelectedName(SortKey::kSymbol); }

void TopScreen::Impl::ShowCode(std::string title, std::string_view listing) {
  code_title_ = std::move(title);
  code_.emplace(listing);
}

void TopScreen::Impl::Draw(Pane pane) {
  pane.Clear();
  const int list_rows = std::max(1, pane.rows() - kHeadRows - kFootRows);
  // Lines of light rows may widen the columns, so the headings follow.
  const Pane list = pane.Part(kHeadRows, 0, {list_rows, pane.columns()});
  code_ ? code_->Draw(list) : DrawList(list);
  DrawHead(pane.Top(kHeadRows));
  DrawFoot(pane.Below(pane.rows() - kFootRows));
  if (help_) help_->Draw(pane);
}

void TopScreen::Impl::DrawHead(Pane pane) {
  const std::string left = absl::StrCat(" profiler top  ", data_.title);
  const std::string time =
      choice_.since_refresh ? "since last refresh" : absl::StrCat("last ", ranges_[choice_.range]);
  const std::string right =
      absl::StrCat(is_frozen_ ? "FROZEN  " : "", time, ": ", data_.figures, " ");
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
  constexpr terminal::Style kHeadings = {.bold = true};
  if (code_) {
    pane.PutIn(3, 0, pane.columns(), code_title_, kHeadings);
  } else if (view_) {
    view_->DrawHeadings(pane, 3, 0, kHeadings);
  }
}

void TopScreen::Impl::DrawList(Pane pane) {
  if (!view_ || view_->lines().size() == 0) {
    pane.Put(0, 2, view_ ? "No row passes the filters." : "No samples yet.");
  }
  if (view_) view_->Draw(pane, 0);
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

// Unfolds or folds by one of perf's keys.
void TopScreen::Impl::Fold(char key) {
  if (!view_) return;
  if (!view_->table().has_call_graphs()) {
    return ShowMessage("There is no call graph here: without -g, samples have no call chains.");
  }
  view_->HandleFolds(key);
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

Request TopScreen::Impl::HandleCode(const Event& event) {
  const bool closes =
      event.IsKey('q') || event.IsKey('a') || event.IsKey(Key::kEscape) || event.IsKey(Key::kEnter);
  if (closes) {
    code_.reset();
  } else {
    code_->Handle(event);
  }
  return Request::kNone;
}

Request TopScreen::Impl::HandleKey(char key) {
  switch (key) {
    case 'q':
      return Request::kQuit;
    case 'h':
    case '?':
      help_.emplace("Keys", std::vector<std::string>(std::begin(kHelp), std::end(kHelp)), false);
      return Request::kNone;
    case '+':
    case '-':
    case 'e':
    case 'c':
    case 'E':
    case 'C':
      Fold(key);
      return Request::kNone;
    case 'i':
      choice_.is_inverted = !choice_.is_inverted;
      return Request::kData;
    case 'a':
      return selected_function().empty() ? Request::kNone : Request::kAnnotate;
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
      return Zoom(&choice_.comm, SelectedName(SortKey::kComm));
    case 'd':
      return Zoom(&choice_.image, SelectedName(SortKey::kDso));
    case 'K':
      choice_.hide_kernel = !choice_.hide_kernel;
      return Request::kData;
    case 'U':
      choice_.hide_user = !choice_.hide_user;
      return Request::kData;
    case 'w':
      // From the time since the last refresh, back to the time before.
      if (!std::exchange(choice_.since_refresh, false)) {
        choice_.range = (choice_.range + 1) % ranges_.size();
      }
      return Request::kData;
    case 'f':
    case ' ':
      is_frozen_ = !is_frozen_;
      return is_frozen_ ? Request::kNone : Request::kData;
    case 'z':
      choice_.since_refresh = !choice_.since_refresh;
      return Request::kData;
    case 'Z':
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
  if (code_) return HandleCode(event);
  if (field_) return HandleField(event);
  if (event.IsKey(Key::kEnter) || event.IsKey(Key::kRight)) {
    Fold('+');
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
  constexpr std::string_view kOwn = "qh?+-ecECia123s/tdKUwf zZP";
  if (character && kOwn.find(*character) != kOwn.npos) return HandleKey(*character);
  if (!view_ || view_->Move(event)) return Request::kNone;
  if (event.kind == Event::Kind::kPress) view_->Press(event.row - kHeadRows);
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
std::string TopScreen::selected_function() const { return impl_->selected_function(); }

}  // namespace profiler::top
