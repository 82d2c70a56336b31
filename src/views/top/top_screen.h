// The screen of `top`: a table that is replaced at each refresh, under a strip of the CPU use.
//
//   profiler top  all 2 CPUs, 999 Hz                    last 10 s: 1998 samples, lost 0
//   CPU use ▁▂▃▅▇█▇ 78 %
//   12.30 % of the samples, on idle CPUs, are hidden
//     Children      Self  Command  Shared Object  Symbol
//   +   41.20%    11.05%  cc1plus  cc1plus        [.] parse
//   h help  Enter calls  / filter  …
//
// The screen knows profiles and keys, and neither recordings nor time: its owner passes new data,
// and does what the returned requests ask for.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/profile/profile.h"
#include "src/profile/row_change.h"
#include "src/terminal/canvas.h"
#include "src/terminal/event.h"
#include "src/views/report/options.h"

namespace profiler::top {

// The rows of the table.
enum class Tab : uint8_t { kFunctions, kThreads, kImages };

// The user's choices, which decide the next data.
struct Choice {
  Tab tab = Tab::kFunctions;
  size_t range = 0;  // index of the time that is shown
  // True if only the samples since the last refresh are shown, instead of `range`.
  bool since_refresh = false;
  bool hide_kernel = false, hide_user = false;
  bool is_inverted = false;  // call graphs begin with the outermost caller
  bool by_self = false;      // rows by their own samples, without those of callees
  std::string comm, image;   // only rows of these; empty: all
  std::string symbol_part;   // only functions with this in their name
};

// Data of one refresh.
struct TopData {
  // May change until the next SetData, which gets these changes.
  std::shared_ptr<const profile::Profile> profile;
  // Changes since the last data, if profile and choice are the same; nothing: the table is made
  // again.
  std::optional<std::vector<profile::RowChange>> changes;
  report::ReportOptions options;     // of functions; the tab chooses the sort keys of others
  std::string title;                 // "all 2 CPUs, 999 Hz"
  std::string figures;               // "1998 samples, lost 0"
  std::vector<std::string> remarks;  // what is left out, cut or missing
  bool warns = false;                // True if samples were lost.
  std::vector<double> use;           // CPU use of each window, from 0 to 1, the oldest first
};

// The request to the owner after an event.
enum class Request : uint8_t {
  kNone,  // draw again
  kData,  // the choice changed: pass new data, even if the screen is frozen
  kQuit,
  kClear,     // forget all samples
  kSave,      // save the last minute
  kAnnotate,  // show the code of the selected function
};

class TopScreen {
 public:
  // `ranges` names the choices of time, such as "2 s".
  TopScreen(Choice choice, std::vector<std::string> ranges);
  TopScreen(const TopScreen&) = delete;
  ~TopScreen();

  // Replaces the data. The selected row stays selected if it still exists.
  void SetData(TopData data);
  // Shows the listing of a function (annotate/listing.h) in place of the table.
  void ShowCode(std::string title, std::string_view listing);
  // Shows a line at the bottom until the next key.
  void ShowMessage(std::string message);

  void Draw(terminal::Pane pane);
  Request Handle(const terminal::Event& event);

  const Choice& choice() const;
  bool is_frozen() const;
  // Returns the name of the selected row's function; empty if it has none.
  std::string selected_function() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace profiler::top
