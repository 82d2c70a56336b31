// The tables of a pprof file, which may follow the samples that refer to them.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace profiler::importers {

// The tables. Strings are views of the file.
struct PprofTables {
  struct ValueType {
    uint64_t type = 0, unit = 0;
  };
  struct Mapping {
    uint64_t start = 0, limit = 0, offset = 0;
    uint64_t file = 0, build_id = 0;
  };
  struct Function {
    uint64_t name = 0, system_name = 0, file = 0;
  };
  struct Line {
    uint64_t function = 0;
    int64_t line = 0;
  };
  struct Location {
    uint64_t mapping = 0, address = 0;
    std::vector<Line> lines;  // innermost first
  };

  std::vector<ValueType> value_types;
  ValueType period_type;
  int64_t period = 0;
  // Indices in `strings`; 0: none.
  uint64_t default_type = 0, drop_frames = 0, keep_frames = 0;
  std::vector<std::string_view> strings;
  absl::flat_hash_map<uint64_t, Mapping> mappings;
  uint64_t first_mapping = 0;  // id of the main program's mapping
  absl::flat_hash_map<uint64_t, Function> functions;
  absl::flat_hash_map<uint64_t, Location> locations;

  std::string_view text(uint64_t index) const {
    return index < strings.size() ? strings[index] : std::string_view();
  }

  // Reads the tables. Throws protozero::exception if the bytes do not have this layout.
  void Read(std::string_view bytes);
};

}  // namespace profiler::importers
