// A report on the screen of a terminal: the table of functions, whose rows unfold into call graphs,
// with perf's keys. The lines of the table are those of the report's text.
//
// Draws pictures and takes events; a test needs no terminal. docs/browser.md lists the keys.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/status.h"
#include "src/profile/profile.h"
#include "src/terminal/box.h"
#include "src/terminal/canvas.h"
#include "src/terminal/event.h"
#include "src/terminal/screen.h"
#include "src/terminal/text_field.h"
#include "src/views/browser/choice.h"
#include "src/views/browser/code_view.h"
#include "src/views/browser/table_view.h"
#include "src/views/browser/time_strip.h"
#include "src/views/browser/view_maker.h"
#include "src/views/report/browsed_table.h"
#include "src/views/report/options.h"

namespace profiler::browser {

// A function to annotate.
struct CodeRequest {
  profile::EventId event{};
  std::string_view function, image;  // the names that the table shows
  bool source = true;
};

// The recording, and the services of the command line.
struct Source {
  const profile::Profile& profile;
  report::ReportOptions options;
  // Returns the listing of a function (annotate/listing.h). Errors are shown.
  std::function<absl::StatusOr<std::string>(const CodeRequest&)> annotate;
  // Returns the same profile with Dimension::kSlice, which must outlive the browser. Called at most
  // once, on another thread, and only if `profile` has no such column.
  std::function<absl::StatusOr<const profile::Profile*>()> with_times;
  // Writes a text to a new file, and returns the file's name.
  std::function<absl::StatusOr<std::string>(std::string_view text)> print;
};

class Browser {
 public:
  // `source` must have at least one table (report::BrowsableTables), and must outlive the browser.
  explicit Browser(const Source& source);

  void Draw(terminal::Pane pane);
  // True if Prepare makes the next keys faster. The owner calls it while the user rests.
  bool has_to_prepare() const { return prepared_for_ != Situation(); }
  // Begins to make, on other threads, call graphs, the views of the next keys, and the profile with
  // times. Does not wait for them.
  void Prepare();
  // Returns false if the user quits.
  bool Handle(const terminal::Event& event);

 private:
  enum class Overlay : uint8_t { kNone, kHelp, kMenu, kSort, kFilter, kTime, kCode };

  // Shows the view of the present choice: a kept one, a prepared one, or a new one.
  void Rebuild();
  const profile::Profile& profile() const { return ProfileOf(choice_); }
  const profile::Profile& ProfileOf(const Choice& choice) const {
    return choice.is_of_time() ? *times_ : source_.profile;
  }
  report::BrowsedProfile& SharedOf(const Choice& choice) {
    return choice.is_of_time() && shared_times_ ? *shared_times_ : shared_;
  }
  TableView& table() { return *view_.table; }
  const TableView& table() const { return *view_.table; }
  // Returns facts about the selected row; nothing if there is none.
  std::optional<report::RowFacts> SelectedFacts() const;
  // Returns a text that changes when other views become probable.
  std::string Situation() const;
  // Returns the choices of the next keys, the most probable first.
  std::vector<Choice> NextChoices() const;
  static size_t SortChoices();  // their number
  Choice WithSort(size_t sort) const;
  Choice WithOtherOrder() const;
  Choice WithTime(std::pair<uint32_t, uint32_t> slices) const;

  // Returns the share of whole call chains, as text.
  const std::string& ChainsText();
  void DrawTitle(terminal::Pane pane);
  void DrawTable(terminal::Pane pane);
  void DrawFoot(terminal::Pane pane);

  bool HandleOverlay(const terminal::Event& event);
  bool HandleKey(const terminal::Event& event);
  void HandleMouse(const terminal::Event& event);
  bool Choose(size_t item);
  // Shows only symbols that contain the text of the zooms.
  void FilterSymbols();
  void GoBack();
  void ZoomIntoThread();
  void ZoomIntoImage(bool kernel);
  void ZoomIntoTime();
  // Returns false, with a message, if there is no profile with times.
  bool FindTimes();
  void OpenTime();
  void OpenCode();
  void OpenMenu();
  void OpenSort();
  void Print();
  void SwitchEvent(ptrdiff_t by);

  const Source& source_;
  report::BrowsedProfile shared_;
  // The profile with times, once it was needed, and its parts if it is another profile.
  const profile::Profile* times_ = nullptr;
  std::unique_ptr<report::BrowsedProfile> shared_times_;
  Choice choice_;
  View view_;
  // The latest views, so that the way back from a zoom is immediate and finds the same lines.
  std::deque<View> kept_;
  size_t scrolled_ = 0;  // columns that are left of the screen
  std::string message_;  // shown until the next event
  bool shows_source_ = true;
  // Text about the chains of this profile, kept because it costs a pass over its rows.
  const profile::Profile* chains_of_ = nullptr;
  std::string chains_text_;

  Overlay overlay_ = Overlay::kNone;
  std::optional<terminal::Box> box_;
  std::string menu_keys_;  // the key of each line of the menu
  std::optional<terminal::TextField> field_;
  std::optional<TimeStrip> strip_;
  std::optional<CodeView> code_;
  std::string code_title_;
  int rows_ = 0;  // of the screen, when drawn last

  std::string prepared_for_;  // Situation() of the last Prepare
  // The result of Source::with_times, which is called on another thread; invalid: not called yet.
  std::future<absl::StatusOr<const profile::Profile*>> coming_times_;
  ViewMaker maker_;  // uses the members above
};

// Shows the browser until the user quits.
void Browse(const Source& source, terminal::Screen& screen);

}  // namespace profiler::browser
