// Converts a decoded sample into the value that views read.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "src/format/perf_event/codec.h"
#include "src/format/perf_event/register_names.h"
#include "src/profile/profile_builder.h"
#include "src/profile/sample_details.h"

namespace profiler::profile {

// The reader. Not thread-safe.
class SampleReader {
 public:
  // Appends the text of the raw data of a tracepoint's sample.
  using DescribeTracepoint =
      std::function<void(std::span<const std::byte> raw, uint32_t cpu, std::string* out)>;

  // `architecture` is the recorded machine's, and decides the registers' names. `describe` may be
  // empty.
  explicit SampleReader(perf_event::Architecture architecture, DescribeTracepoint describe = {})
      : architecture_(architecture), describe_(std::move(describe)) {}

  // Takes a CGROUP record: samples with this id belong to this cgroup from now on.
  void AddCgroup(const perf_event::Cgroup& cgroup);

  // The addresses to look up.
  struct LookUps {
    bool addr = false, branches = false;
    bool trace = false;  // True: also describe the record of a tracepoint.
  };

  // Returns the details of a sample whose event has this layout; valid until the next call. The
  // sample's record must be the last one that `builder` has got.
  const SampleDetails& Read(const perf_event::Sample& sample,
                            const perf_event::RecordLayout& layout, LookUps look_ups,
                            ProfileBuilder& builder);

 private:
  void ReadBranches(const perf_event::Sample& sample, bool look_up, ProfileBuilder& builder);
  void ReadRegisters(const perf_event::Registers& registers, RegisterValues* out) const;

  const perf_event::Architecture architecture_;
  const DescribeTracepoint describe_;
  absl::flat_hash_map<uint64_t, std::string> cgroups_;
  SampleDetails details_;  // kept to save its allocations
};

}  // namespace profiler::profile
