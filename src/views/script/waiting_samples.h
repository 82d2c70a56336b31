// Keeps samples until their frames have names.

#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "src/profile/profile.h"
#include "src/profile/sample_details.h"
#include "src/views/script/script_fields.h"

namespace profiler::script {

// Samples in the order in which they are printed.
struct WaitingSamples {
  // The properties of a sample besides its row and its details.
  struct Print {
    StringId comm{};  // name of the thread when the sample was read
    ScriptFields fields;
    bool has_trace = false;  // True if a tracepoint's record belongs to the sample.
  };

  std::vector<profile::SampleRow> rows;
  std::vector<Print> prints;                             // one for each row
  std::vector<profile::SampleDetails> details;           // one for each row, or none at all
  std::vector<std::pair<uint32_t, std::string>> traces;  // records of tracepoints: CPU, raw data
  size_t bytes = 0;                                      // of the traces and of branches

  // Forgets the samples, and keeps the memory.
  void Clear() {
    rows.clear();
    prints.clear();
    details.clear();
    traces.clear();
    bytes = 0;
  }

  const profile::SampleDetails& DetailsOf(size_t i) const {
    static const profile::SampleDetails kNone;
    return details.empty() ? kNone : details[i];
  }
};

}  // namespace profiler::script
