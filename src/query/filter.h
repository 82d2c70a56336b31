// Which samples a view shows.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "src/profile/profile.h"

namespace profiler::query {

// Each list that is not empty keeps the samples that it names. The dso and the symbol are those of
// the interrupted instruction. Symbols match by their whole name, without "[k] ".
struct Filter {
  std::vector<std::string> comms;
  std::vector<std::string> dsos;  // short names or paths
  std::vector<std::string> symbols;
  std::vector<uint32_t> pids;
  std::vector<uint32_t> tids;

  bool empty() const {
    return comms.empty() && dsos.empty() && symbols.empty() && pids.empty() && tids.empty();
  }
  // Whether the profile must tell threads of one name apart.
  bool NeedsThreads() const { return !pids.empty() || !tids.empty(); }

  // Linear in the lists. A row of the profile passes where its thread and its frame `self` do.
  bool Passes(const profile::Profile& profile, const profile::Thread& thread) const;
  bool Passes(const profile::Profile& profile, const profile::Frame& interrupted) const;
};

// By columns of a profile's rows, which must be there where it asks for them.
struct ColumnFilter {
  std::optional<uint32_t> socket;  // Dimension::kSocket
  bool only_with_parent = false;   // Dimension::kParent: rows with a name there

  bool Passes(const profile::Profile& profile, size_t row) const;
};

// A filter applied to a profile with many rows: each thread and each frame is looked at once. Keeps
// no reference. Reading is thread-safe.
class RowFilter {
 public:
  RowFilter(const profile::Profile& profile, const Filter& filter);

  bool Passes(const profile::Row& row) const {
    return threads_.empty() || (threads_[static_cast<uint32_t>(row.thread)] &&
                                frames_[static_cast<uint32_t>(row.self)]);
  }

 private:
  // Empty where everything passes.
  std::vector<bool> threads_, frames_;
};

// Drops the rows that do not pass, for views that show parts of what is left. Event::samples stays
// what the recording has.
void KeepOnly(const Filter& filter, profile::Profile& profile);

// Drops the rows that `is_kept` is false of.
void KeepRows(absl::FunctionRef<bool(const profile::Row&)> is_kept, profile::Profile& profile);

}  // namespace profiler::query
