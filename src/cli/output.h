// Where a sub-command writes its result: standard output or a file, in pieces.

#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace profiler::cli {

// One line on standard error: "profiler: MESSAGE".
void PrintError(std::string_view message);
void PrintError(const absl::Status& status);
// "profiler: warning: MESSAGE"
void PrintWarning(std::string_view message);

// Whether a recording can be read more than once: it is no pipe.
bool CanBeReadAgain(const std::string& path);

// Whether a line on standard error can be written over and over: it is a terminal.
bool ErrorsAreShownLive();

// kInvalidArgument for "-" where standard output is a terminal, which no recording may go to.
absl::Status CheckStreamOutput(const std::string& path);

// Writes to a file or to standard output. Errors are kept until Close.
class Output {
 public:
  // Standard output for "" and "-".
  explicit Output(const std::string& path);
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output();

  void Write(std::string_view text);
  // Hands on what was written so far.
  void Flush();
  // Flushes and closes; what went wrong first, if anything did (full disk, no such folder). A
  // reader that went away early (`profiler report | head`) is no error.
  absl::Status Close();
  // Nobody reads any more.
  bool abandoned() const { return abandoned_; }

 private:
  void Fail(int error);

  std::string path_;
  std::FILE* file_ = nullptr;
  int error_ = 0;
  bool abandoned_ = false;
};

}  // namespace profiler::cli
