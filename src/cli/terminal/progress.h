// The progress of a step that may take longer than a second: one line on standard error, updated in
// place and removed at the end.
//
//   Progress progress(!arguments.quiet);
//   while (…) progress.Show([&] { return absl::StrCat("Reading: ", read, " bytes"); });
//
// Only terminals get the line, so pipes and files never contain it. Messages that are printed
// meanwhile erase the line first (output.cc).

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"

namespace profiler::cli {

class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  // A step shorter than this shows nothing.
  static constexpr std::chrono::milliseconds kDelay{500};
  // Time between two updates of the line.
  static constexpr std::chrono::milliseconds kInterval{200};

  // Begins a step. Shows nothing if `wanted` is false or standard error is no terminal.
  explicit Progress(bool wanted = true);
  // For tests: `now` returns the time; `put` receives each text, and "" to erase the line.
  Progress(std::function<Clock::time_point()> now, std::function<void(std::string_view)> put);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { Clear(); }

  // Shows the text that `describe` returns, if the step is long enough and the last update old
  // enough. Otherwise only reads the clock. The line is cut to the terminal's width.
  void Show(absl::FunctionRef<std::string()> describe);
  // Erases the line. A later Show may show it again.
  void Clear();

 private:
  const std::function<Clock::time_point()> now_;
  const std::function<void(std::string_view)> put_;  // empty: nothing is shown
  Clock::time_point next_;                           // earliest time of the next update
  bool shown_ = false;
};

// Returns "Reading PATH: 12 of 176 MB" for numbers of bytes; without the total if `all` is 0.
std::string ReadingText(std::string_view path, uint64_t done, uint64_t all);

}  // namespace profiler::cli
