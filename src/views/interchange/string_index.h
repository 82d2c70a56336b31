// The table of strings in pprof's, Firefox's and OpenTelemetry's formats. Number 0 is the empty
// string.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "src/base/string_table.h"

namespace profiler::exports {

class StringIndex {
 public:
  uint32_t Of(std::string_view text) { return static_cast<uint32_t>(table_.Intern(text)); }
  size_t size() const { return table_.size(); }
  std::string_view operator[](uint32_t number) const { return table_[StringId{number}]; }

 private:
  StringTable table_;
};

}  // namespace profiler::exports
