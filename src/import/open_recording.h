// The door of every view: a recording, a profile that another program wrote, or an answer to what
// is asked where a fleet is recorded.

#pragma once

#include <memory>
#include <string>

#include "src/base/status.h"
#include "src/base/unique_fd.h"
#include "src/import/format.h"
#include "src/perf_data/read/recording.h"

namespace profiler::import {

// Makes recordings of what no file has: answers to questions, such as
// "/var/lib/profiler?since=1h".
class AnswerMaker {
 public:
  virtual ~AnswerMaker() = default;

  // Whether that is a question, and no file's name.
  virtual bool IsQuestion(const std::string& path) const = 0;
  // The answer as a recording in the layout of a file. Says itself what is to be said.
  virtual absl::StatusOr<UniqueFd> Answer(const std::string& question) = 0;
};

// What OpenRecording asks first, from now on; none where it is null. For who knows more than this
// library: it is called before other threads are started, and `maker` lives until the next call.
void SetAnswerMaker(AnswerMaker* maker);

// From now on, OpenRecording reads profiles of other programs in this format, whatever their bytes
// look like. perf.data files are still recognised by their magic.
void SetProfileFormat(Format format);

// Recording::Open for all of them: a profile of another format is written as a recording into a
// file in memory (write_profile.h), and that is opened. Costs the profile in memory, and some
// hundred bytes per sample. Errors: those of Recording::Open, Import and
// AnswerMaker::Answer.
absl::StatusOr<std::unique_ptr<perf_data::Recording>> OpenRecording(const std::string& path);

}  // namespace profiler::import
