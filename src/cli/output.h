// Where a sub-command writes its result, standard output or a file, and what it says on the way.
// All that a terminal may get goes through here, and is visible text then (visible_text.h).

#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "src/base/atomic_file.h"
#include "src/cli/terminal.h"

namespace profiler::cli {

// One line on standard error: "profiler: MESSAGE".
void PrintError(std::string_view message);
// And below it the status's excerpt, if it has one.
void PrintError(const absl::Status& status);
// "profiler: warning: MESSAGE"
void PrintWarning(std::string_view message);

// What was done: "[ TEXT ]", a line on standard error.
void PrintNote(std::string_view text);

// Whole lines on standard error, as they are.
void PrintLines(std::string_view lines);

// Whole lines on standard error as a view shows them (Lines::kFitted), without a pager.
void PrintFittedLines(std::string_view lines);

// A line on standard error that is written over and over, and removed in the end.
class LiveLine {
 public:
  LiveLine() = default;
  LiveLine(const LiveLine&) = delete;
  LiveLine& operator=(const LiveLine&) = delete;
  ~LiveLine() { Clear(); }

  void Show(std::string_view text);
  void Clear();

 private:
  bool shown_ = false;
};

// Whether a line on standard error can be written over and over: it is a terminal.
bool ErrorsAreShownLive();

// kInvalidArgument for "-" where standard output is a terminal, which nothing but text may go to.
absl::Status CheckStreamOutput(const std::string& path);

// kInvalidArgument where a view may not be written to `path`: a recording is there, or what the
// view is made of.
absl::Status CheckViewOutput(const std::string& path, const std::string& input);

// How lines are shown on a terminal; elsewhere they are as they are.
enum class Lines : uint8_t {
  kWhole,
  kFitted,  // cut to its width, percentages in colours (fitted_line.h)
};

// Writes text to standard output or to a file, which takes its place when it is closed and whole.
// Errors are kept until Close. On a terminal the text is shown by a pager. A reader who leaves
// early (the pager, or `profiler report | head`) ends this program, which then says nothing, with
// exit code 0: it could be busy for minutes with what nobody wants any more. What is printed on
// standard error while a pager runs comes behind it.
class Output {
 public:
  // Standard output for "" and "-".
  explicit Output(const std::string& path, Lines lines = Lines::kWhole);
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output();

  // Whole characters.
  void Write(std::string_view text);
  // What is no text, as it is. Not to a terminal: see CheckStreamOutput.
  void WriteBytes(std::string_view bytes);
  // Hands on what was written so far.
  void Flush();
  // Flushes and closes; what went wrong first, if anything did (full disk, no such folder).
  absl::Status Close();

 private:
  void OpenFile();
  void OpenTerminal();
  void ClosePager();
  void Put(std::string_view text);
  void PutLines(std::string_view text);
  void Fail(int error);

  std::string path_;
  std::optional<AtomicFile> replaced_;  // what is written to, unless it is no regular file
  std::FILE* file_ = nullptr;
  absl::Status status_;
  std::string visible_;
  TerminalStyle style_;      // of standard output
  bool is_started_ = false;  // something was written there
  std::string line_;         // that is not complete yet, where lines are shown otherwise
};

}  // namespace profiler::cli
