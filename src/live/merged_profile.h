// Adds up named profiles that were built apart, such as the windows of a live recording.
//
//   profile of window 1 ─┐
//   profile of window 2 ─┼─▶ MergedProfile ─▶ one Profile
//   …                    ┘
//
// Two frames are one frame if they have the same place in the same image, and the same name there.
// Images are the same if path and build-id are, and code without a file also if its process is.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/profile/profile.h"
#include "src/profile/row_change.h"

namespace profiler::live {

// Samples with the same values in a profile. Of the dimensions, a merged profile keeps the CPU and
// the cgroup.
struct MergedRow {
  profile::Row row;
  uint32_t cpu = profile::kNoCpu;
  StringId cgroup{};
};

// The difference that an addition made to a merged profile.
struct MergedChanges {
  struct EventChange {
    uint64_t samples = 0, period = 0;
  };
  std::vector<profile::RowChange> rows;
  std::vector<EventChange> events;  // indexed by event; may lack the last events
};

// Adds counts of losses, but not their warnings.
void AddLosses(const profile::Losses& part, profile::Losses* sum);

// Adds the warnings that the sum does not have yet.
void AddWarnings(const std::vector<std::string>& warnings, profile::Losses* sum);

// Returns the approximate memory of the tables of a merged profile, in bytes.
size_t MemoryOf(const profile::Profile& profile);

// The sum of profiles. Use it from one thread. Copies only what rows use. Memory: about 40 bytes
// for each stack node, 100 for each frame and each row.
class MergedProfile {
 public:
  MergedProfile();

  // kNone: stacks of several frames become the interrupted function and a mark, which is the
  // outermost frame of a cut chain.
  enum class Callers : bool { kAll, kNone };
  // Adds rows that refer to the tables of `from`. Does not add losses. Appends the changes of this
  // profile's rows to `changes`, if given.
  void Add(const profile::Profile& from, std::span<const MergedRow> rows,
           Callers callers = Callers::kAll, std::vector<profile::RowChange>* changes = nullptr);
  // Adds all rows, and the losses, of `from`. Each sample counts `factor` times. Events also count
  // samples whose rows were left out. Notes the changes in `changes`, if given.
  void Add(const profile::Profile& from, uint64_t factor = 1, MergedChanges* changes = nullptr);
  // Takes back the changes that Add has noted, except losses. Rows without samples stay.
  void Subtract(const MergedChanges& changes);

  const profile::Profile& profile() const { return profile_; }
  profile::Losses& losses() { return profile_.losses; }
  ChainQuality& chains() { return profile_.chains; }
  profile::Profile Take() && { return std::move(profile_); }

  size_t memory() const { return MemoryOf(profile_); }

 private:
  // The ids in profile_ of the ids in the profile that is being added; UINT32_MAX: not added yet.
  struct Translation;

  StringId String(Translation& to, StringId id);
  profile::EventId Event(Translation& to, profile::EventId id);
  profile::ThreadId Thread(Translation& to, profile::ThreadId id);
  profile::ImageId Image(Translation& to, profile::ImageId id);
  profile::SymbolId Symbol(Translation& to, profile::SymbolId id);
  profile::FrameId Frame(Translation& to, profile::FrameId id);
  profile::StackId Stack(Translation& to, profile::StackId id);
  profile::StackId InternStack(profile::StackId parent, profile::FrameId frame);
  profile::FrameId Mark();

  using RowKey = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>;
  using ImageKey = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, std::string>;
  using FrameKey = std::tuple<uint32_t, uint64_t, uint32_t, uint32_t, uint64_t>;

  profile::Profile profile_;
  profile::FrameId mark_ = profile::kNoFrame;
  absl::flat_hash_map<uint32_t, uint32_t> events_;  // keyed by name
  absl::flat_hash_map<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>, uint32_t>
      threads_;
  absl::flat_hash_map<ImageKey, uint32_t> images_;
  absl::flat_hash_map<std::tuple<uint32_t, uint32_t, uint64_t>, uint32_t> symbols_;
  absl::flat_hash_map<FrameKey, uint32_t> frames_;
  absl::flat_hash_map<uint64_t, uint32_t> stacks_;  // keyed by parent and frame
  absl::flat_hash_map<RowKey, uint32_t> rows_;
};

// Returns a profile with at most about `most` bytes. The rows with most weight stay whole; the
// others keep only their interrupted function, whose callers are replaced by a mark. Sets
// `*shortened` to the part of the weight, from 0 to 1, whose callers are gone.
profile::Profile Shortened(const profile::Profile& profile, size_t most, double* shortened);

}  // namespace profiler::live
