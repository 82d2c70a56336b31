// Where the parts of a recording are, as its header says.

#pragma once

#include <cstdint>
#include <vector>

namespace profiler::perf_data {

struct FileLayout {
  struct Section {
    uint64_t offset = 0, size = 0;
  };
  struct Feature {
    int bit = 0;
    Section section;
  };

  int version = 2;       // 1: PERFFILE
  bool swapped = false;  // the recording is in the other byte order
  bool pipe = false;     // a stream, which has no sections: all comes as records
  uint64_t attr_entry_size = 0;
  Section attrs, data, event_types;
  std::vector<Feature> features;  // those whose entry in the feature table can be read
};

}  // namespace profiler::perf_data
