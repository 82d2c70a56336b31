// Opens the input of every view: a recording, a profile of another program, or the answer to a
// query about a recorded fleet.

#pragma once

#include <memory>
#include <string>

#include "src/base/status.h"
#include "src/base/unique_fd.h"
#include "src/import/format.h"
#include "src/perf_data/read/recording.h"

namespace profiler::import {

// Makes recordings that answer queries instead of reading a file, such as
// "/var/lib/profiler?since=1h".
class AnswerMaker {
 public:
  virtual ~AnswerMaker() = default;

  // True if `path` is a query instead of a file's name.
  virtual bool IsQuestion(const std::string& path) const = 0;
  // Returns the answer as a recording in the layout of a file. Prints its own messages.
  virtual absl::StatusOr<UniqueFd> Answer(const std::string& question) = 0;
};

// Sets the AnswerMaker that OpenRecording asks first; null: none. It connects libraries on which
// this one does not depend. Call it before other threads are started. `maker` must live until the
// next call.
void SetAnswerMaker(AnswerMaker* maker);

// Sets the format in which OpenRecording reads profiles of other programs, whatever their bytes
// look like. perf.data files are still recognised by their magic.
void SetProfileFormat(Format format);

// Opens any of these as a recording. A profile of another format is written as a recording into a
// file in memory (write_profile.h). That costs the profile in memory, and some hundred bytes per
// sample. Errors: those of Recording::Open, Import and AnswerMaker::Answer.
absl::StatusOr<std::unique_ptr<perf_data::Recording>> OpenRecording(const std::string& path);

}  // namespace profiler::import
