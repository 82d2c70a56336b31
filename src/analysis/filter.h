// Filters samples by command, image, symbol, process and thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "src/profile/profile.h"

namespace profiler::analysis {

// A choice of samples. Each list that is not empty keeps only the samples that it names. The image
// and the symbols are those of the interrupted instruction: the function, and the functions that
// are inlined there, because views show them by name. Symbols match by their whole name, without
// "[k] ".
struct Filter {
  std::vector<std::string> comms;
  std::vector<std::string> images;  // short names or paths
  std::vector<std::string> symbols;
  std::vector<uint32_t> pids;
  std::vector<uint32_t> tids;

  bool empty() const {
    return comms.empty() && images.empty() && symbols.empty() && pids.empty() && tids.empty();
  }
  // True if the profile must distinguish threads with the same name.
  bool NeedsThreads() const { return !pids.empty() || !tids.empty(); }

  // True if the lists keep this thread, or this interrupted frame. A row passes if its thread and
  // its frame `self` pass. Linear in the lists.
  bool Passes(const profile::Profile& profile, const profile::Thread& thread) const;
  bool Passes(const profile::Profile& profile, const profile::Frame& interrupted) const;
};

// A choice of rows by columns, which the profile must have.
struct ColumnFilter {
  std::optional<uint32_t> socket;  // Dimension::kSocket
  bool only_with_parent = false;   // requires a name in Dimension::kParent

  bool Passes(const profile::Profile& profile, size_t row) const;
};

// A filter prepared for a profile with many rows: each thread and each frame is checked once. Keeps
// no references. Reading is thread-safe.
class RowFilter {
 public:
  RowFilter(const profile::Profile& profile, const Filter& filter);

  bool Passes(const profile::Row& row) const {
    return threads_.empty() || (threads_[static_cast<uint32_t>(row.thread)] &&
                                frames_[static_cast<uint32_t>(row.self)]);
  }

 private:
  // threads_[thread] and frames_[frame] are True if it passes. Empty if all pass.
  std::vector<bool> threads_, frames_;
};

// Drops the rows that do not pass, for views whose 100 % are the rows that pass. Event::samples
// still counts all samples of the recording.
void KeepOnly(const Filter& filter, profile::Profile& profile);

// Drops the rows for which `is_kept` is false.
void KeepRows(absl::FunctionRef<bool(const profile::Row&)> is_kept, profile::Profile& profile);

}  // namespace profiler::analysis
