// The browser's menus, fields and panes, and the filters that they choose.

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/views/browser/browser.h"

namespace profiler::browser {

using report::RowFacts;
using report::SortKey;
using terminal::Event;
using terminal::Key;

namespace {

struct SortChoice {
  const char* text;
  std::vector<SortKey> keys;  // empty: as the options say
};

const std::vector<SortChoice>& AllSortChoices() {
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

bool IsOfSymbol(const Zoom& zoom) { return !zoom.symbol_part.empty(); }

}  // namespace

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
      choice_.zooms.Remove(IsOfSymbol);
      FilterSymbols();
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
        choice_.zooms.Remove(IsOfSymbol);
        if (!field_->text().empty()) {
          choice_.zooms.Push({.symbol_part = field_->text(), .text = "symbol: " + field_->text()});
        }
        FilterSymbols();
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

void Browser::ZoomIntoThread() {
  const std::optional<RowFacts> facts = SelectedFacts();
  if (choice_.ToggleThread(profile(), facts ? &*facts : nullptr)) Rebuild();
}

void Browser::ZoomIntoImage(bool kernel) {
  const std::optional<RowFacts> facts = SelectedFacts();
  const bool is_changed = kernel ? choice_.ToggleKernel(profile())
                                 : choice_.ToggleImage(profile(), facts ? &*facts : nullptr);
  if (is_changed) return Rebuild();
  message_ = kernel ? "no sample is of the kernel" : "the row has no DSO";
}

bool Browser::FindTimes() {
  if (times_ != nullptr) return true;
  if (!source_.profile.column(profile::Dimension::kSlice).empty()) {
    times_ = &source_.profile;
    return true;
  }
  const auto loaded = coming_times_.valid() ? coming_times_.get() : source_.with_times();
  if (!loaded.ok()) {
    message_ = std::string(loaded.status().message());
    return false;
  }
  times_ = *loaded;
  shared_times_ = std::make_unique<report::BrowsedProfile>(*times_);
  return true;
}

void Browser::OpenTime() {
  if (!FindTimes()) return;
  if (times_->slices.slices.size() < 2) {
    message_ = "the recording lacks the times of its samples";
    return;
  }
  overlay_ = Overlay::kTime;
  strip_.emplace(*times_, view_.tables[choice_.event].front());
}

Choice Browser::WithTime(std::pair<uint32_t, uint32_t> slices) const {
  Choice zoomed = choice_;
  zoomed.zooms.Remove(IsOfTime);
  zoomed.zooms.Push({.slices = slices, .text = "time: " + strip_->TextOf(slices)});
  return zoomed;
}

void Browser::ZoomIntoTime() {
  choice_ = WithTime(*strip_->chosen());
  Rebuild();
}

void Browser::OpenCode() {
  const auto line = table().Selected();
  if (!line) return;
  const RowFacts facts = table().table().FactsOf(line->row);
  if (facts.function.empty()) {
    message_ = "the row has no symbol to annotate";
    return;
  }
  const std::string function(facts.function), image(profile().text(profile()[facts.image].name));
  const auto listing = source_.annotate({.event = table().table().events().front(),
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
  if (const auto line = table().Selected()) {
    const RowFacts facts = table().table().FactsOf(line->row);
    const std::string comm(profile().text(profile()[facts.thread].comm));
    if (!facts.function.empty()) {
      add('a', absl::StrCat("Annotate ", std::string(facts.function)));
    }
    add('t', choice_.zooms.Any(IsOfThread) ? "Zoom out of the thread" : "Zoom into thread " + comm);
    add('d', choice_.zooms.Any(IsOfImage)
                 ? "Zoom out of the DSO"
                 : absl::StrCat("Zoom into DSO ",
                                std::string(profile().text(profile()[facts.image].name))));
    if (table().lines().MarkOf({.row = line->row}) != ' ') add('e', "Unfold or fold the whole row");
  }
  add('/', "Filter by a part of the symbol");
  add('T', "Choose a part of the time");
  add('s', "Sort by other keys");
  if (table().table().has_call_graphs()) {
    add('x', table().table().shows_callers() ? "Unfold into callees" : "Unfold into callers");
  }
  add('P', "Print the report to a file");
  add('q', "Quit");
  overlay_ = Overlay::kMenu;
  box_.emplace("Menu", std::move(items), true);
}

void Browser::OpenSort() {
  std::vector<std::string> items;
  for (const SortChoice& choice : AllSortChoices()) items.emplace_back(choice.text);
  overlay_ = Overlay::kSort;
  box_.emplace("Sort by", std::move(items), true);
}

bool Browser::Choose(size_t item) {
  const bool is_menu = overlay_ == Overlay::kMenu;
  overlay_ = Overlay::kNone;
  if (is_menu) {
    return HandleKey({.kind = Event::Kind::kKey, .key = terminal::KeyOf(menu_keys_[item])});
  }
  choice_ = WithSort(item);
  Rebuild();
  return true;
}

size_t Browser::SortChoices() { return AllSortChoices().size(); }

Choice Browser::WithSort(size_t sort) const {
  const std::vector<SortKey>& keys = AllSortChoices()[sort].keys;
  const report::ReportOptions& given = source_.options;
  Choice sorted = choice_;
  sorted.sort = sort;
  sorted.options.sort = keys.empty() ? given.sort : keys;
  sorted.options.sort_fields = keys.empty() ? given.sort_fields : std::vector<report::Field>();
  sorted.options.fields = keys.empty() ? given.fields : report::FieldList();
  return sorted;
}

}  // namespace profiler::browser
