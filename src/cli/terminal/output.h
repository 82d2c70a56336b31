// The output of sub-commands: the result on standard output or in a file, and messages. All text
// for a terminal passes through here and is made visible text (src/terminal/visible_text.h).

#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "src/base/atomic_file.h"
#include "src/cli/terminal/line_fitter.h"
#include "src/cli/terminal/progress.h"
#include "src/cli/terminal/terminal.h"

namespace profiler::cli {

// Prints one line on standard error: "profiler: MESSAGE".
void PrintError(std::string_view message);
// Prints the error, and below it the excerpt that the status may contain.
void PrintError(const absl::Status& status);
// Prints "profiler: warning: MESSAGE" on standard error.
void PrintWarning(std::string_view message);

// Prints a completed step as "[ TEXT ]" on standard error.
void PrintNote(std::string_view text);

// Prints whole lines on standard error as visible text, without fitting them.
void PrintLines(std::string_view lines);

// Prints whole lines on standard error like a view (Lines::kFitted), without a pager.
void PrintFittedLines(std::string_view lines);

// Shows a line at the cursor of standard error, which must be a terminal, in place of the former
// one. Erases it if `text` is empty. Messages, and text on a terminal, erase it as well. For
// Progress (progress.h), which decides when.
void ShowLiveLine(std::string_view text);

// True if standard error is a terminal, where a line can be updated in place.
bool ErrorsAreShownLive();

// Returns kInvalidArgument for "-" if standard output is a terminal, which may get only text.
absl::Status CheckStreamOutput(const std::string& path);

// Returns kInvalidArgument if a view would overwrite a recording or its own input.
absl::Status CheckViewOutput(const std::string& path, const std::string& input);

// How lines are shown on a terminal. Elsewhere they are unchanged.
enum class Lines : uint8_t {
  kWhole,
  kFitted,  // fitted to the terminal's width (line_fitter.h), percentages in colours
};

// A writer of text to standard output or to a file. Close() gives a complete file its final name.
// Errors are kept until Close.
//
// On a terminal a pager shows the text. If the reader quits early (the pager, or `profiler report |
// head`), this program ends at once without a message, with exit code 0. Otherwise it could work
// for minutes on text that nobody reads. Messages on standard error are held back while a pager
// runs. While a file is written for longer than Progress::kDelay, a terminal at standard error
// shows how much.
class Output {
 public:
  // Standard output for "" and "-".
  explicit Output(const std::string& path, Lines lines = Lines::kWhole);
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output();

  // Writes text, which must consist of whole characters.
  void Write(std::string_view text);
  // Writes bytes unchanged. Not for a terminal: see CheckStreamOutput.
  void WriteBytes(std::string_view bytes);
  // Passes on everything written so far.
  void Flush();
  // The file that is written; "" for standard output.
  const std::string& path() const { return path_; }
  // Flushes and closes. Returns the first error (full disk, missing folder, …).
  absl::Status Close();

 private:
  void OpenFile();
  void OpenTerminal();
  void ClosePager();
  void Put(std::string_view text);
  void PutLines(std::string_view text);
  void PutFitted(const std::vector<std::string>& lines);
  void Fail(int error);
  void ShowProgress(size_t bytes);

  std::string path_;
  std::optional<AtomicFile> replaced_;  // the file being written; none if path_ is written in place
  std::FILE* file_ = nullptr;
  absl::Status status_;
  std::string visible_;
  TerminalStyle style_;      // style of standard output
  bool is_started_ = false;  // True if something was written to standard output.
  std::string line_;         // incomplete line, if lines are fitted
  LineFitter fitter_{0};
  std::optional<Progress> progress_;  // only while a file is written
  uint64_t written_ = 0;              // in bytes
};

}  // namespace profiler::cli
