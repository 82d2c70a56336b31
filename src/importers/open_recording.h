// Opens whatever a view is given: a recording, a profile that another program wrote, or the answer
// to a question, such as "/var/lib/profiler?since=1h".

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "src/base/status.h"
#include "src/base/unique_fd.h"
#include "src/format/perf_data/read/recording.h"
#include "src/importers/format.h"

namespace profiler::importers {

// A source of recordings that are not files. It answers a question with a recording.
class RecordingSource {
 public:
  virtual ~RecordingSource() = default;

  // True if `path` is a question to this source and not the name of a file.
  virtual bool IsQuestion(const std::string& path) const = 0;
  // Returns the answer as a recording in the layout of a file. Prints its own notes.
  virtual absl::StatusOr<UniqueFd> Answer(const std::string& question) = 0;
};

struct OpenOptions {
  RecordingSource* source = nullptr;  // asked before a file is opened; null: no source
  // Format of profiles of other programs; unset: recognised by their bytes. perf.data files are
  // always recognised by their magic.
  std::optional<Format> format;
};

// Opens a recording as Recording::Open does. A profile of another format is written as a recording
// into a file in memory (write_profile.h), and that file is opened. This costs the memory of the
// profile and some hundred bytes per sample. Errors: those of Recording::Open, Import and
// RecordingSource::Answer.
absl::StatusOr<std::unique_ptr<perf_data::Recording>> OpenRecording(
    const std::string& path, const OpenOptions& options = {});

}  // namespace profiler::importers
