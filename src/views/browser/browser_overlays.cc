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

bool IsOfThread(const Zoom& zoom) { return !zoom.comm.empty() || zoom.tid != 0; }
bool IsOfImage(const Zoom& zoom) { return !zoom.image.empty(); }
bool IsOfSymbol(const Zoom& zoom) { return !zoom.symbol_part.empty(); }
bool IsOfTime(const Zoom& zoom) { return zoom.is_of_time(); }

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
      zooms_.Remove(IsOfSymbol);
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
        zooms_.Remove(IsOfSymbol);
        if (!field_->text().empty()) {
          zooms_.Push({.symbol_part = field_->text(), .text = "symbol: " + field_->text()});
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
  if (zooms_.Remove(IsOfThread)) return Rebuild();
  const auto line = view_->Selected();
  if (!line) return;
  const profile::Thread& thread = profile()[view_->table().FactsOf(line->row).thread];
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
  } else if (const auto line = view_->Selected()) {
    image = profile().text(profile()[view_->table().FactsOf(line->row).image].name);
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
    if (times_ != &source_.profile) {
      shared_times_ = std::make_unique<report::BrowsedProfile>(*times_);
    }
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
  const auto line = view_->Selected();
  if (!line) return;
  const RowFacts facts = view_->table().FactsOf(line->row);
  if (facts.function.empty()) {
    message_ = "the row has no symbol to annotate";
    return;
  }
  const std::string function(facts.function), image(profile().text(profile()[facts.image].name));
  const auto listing = source_.annotate({.event = view_->table().events().front(),
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
  if (const auto line = view_->Selected()) {
    const RowFacts facts = view_->table().FactsOf(line->row);
    const std::string comm(profile().text(profile()[facts.thread].comm));
    if (!facts.function.empty()) {
      add('a', absl::StrCat("Annotate ", std::string(facts.function)));
    }
    add('t', zooms_.Any(IsOfThread) ? "Zoom out of the thread" : "Zoom into thread " + comm);
    add('d', zooms_.Any(IsOfImage)
                 ? "Zoom out of the DSO"
                 : absl::StrCat("Zoom into DSO ",
                                std::string(profile().text(profile()[facts.image].name))));
    if (view_->lines().MarkOf({.row = line->row}) != ' ') add('e', "Unfold or fold the whole row");
  }
  add('/', "Filter by a part of the symbol");
  add('T', "Choose a part of the time");
  add('s', "Sort by other keys");
  if (view_->table().has_call_graphs()) {
    add('x', view_->table().shows_callers() ? "Unfold into callees" : "Unfold into callers");
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
  RebuildAll();
  return true;
}

}  // namespace profiler::browser
