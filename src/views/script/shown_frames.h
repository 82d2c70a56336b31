// Collects the frames whose names `script` prints, so that only these get names, many at a time.

#pragma once

#include <span>
#include <vector>

#include "src/profile/profile.h"
#include "src/profile/sample_details.h"
#include "src/views/script/script_fields.h"
#include "src/views/script/script_formatter.h"

namespace profiler::script {

// The frames of samples that are formatted with these options. The profile must outlive it. Not
// thread-safe. Cost: one step per frame of a distinct stack, and one per sample.
class ShownFrames {
 public:
  ShownFrames(const profile::Profile& profile, const ScriptOptions& options)
      : profile_(profile), options_(options) {}

  // Adds the frames of a sample that ScriptFormatter prints with these fields.
  void Add(const profile::SampleRow& row, const profile::SampleDetails& details,
           const ScriptFields& fields);

  // Returns the frames that were added since the last call. A frame may occur more than once.
  std::vector<profile::FrameId> Take();

 private:
  void AddStack(profile::StackId stack);

  const profile::Profile& profile_;
  const ScriptOptions options_;
  std::vector<profile::FrameId> frames_;
  std::vector<bool> is_added_;  // [n]: stack n was added with all its callers
};

}  // namespace profiler::script
