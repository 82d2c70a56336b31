// The stack of filters into which the user zoomed. Esc takes the last one off.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "src/views/report/options.h"

namespace profiler::browser {

// A filter: exactly one of its members is set.
struct Zoom {
  std::string comm;   // only threads of this name
  uint32_t tid = 0;   // only this thread
  std::string image;  // only samples that interrupted this image
  std::string symbol_part;
  // First and last slice of the profile's time.
  std::pair<uint32_t, uint32_t> slices = {1, 0};
  std::string text;  // text for the title, such as "thread: cc1"

  bool is_of_time() const { return slices.first <= slices.second; }
};

class Zooms {
 public:
  bool empty() const { return zooms_.empty(); }
  void Push(Zoom zoom) { zooms_.push_back(std::move(zoom)); }
  void Pop() { zooms_.pop_back(); }
  // Takes off all zooms of the same kind as `zoom`. Returns true if there was one.
  bool Remove(bool (*is_kind)(const Zoom&));
  bool Any(bool (*is_kind)(const Zoom&)) const;

  // Returns the report's options with all filters except parts of symbols, which a table applies
  // itself.
  report::ReportOptions Applied(report::ReportOptions options) const;
  // Returns the part of a symbol that rows must have; empty: none.
  std::string symbol_part() const;
  // Returns a text that differs for zooms with different options (Applied).
  std::string Key() const;
  // Returns "thread: cc1, DSO: libc.so.6"; empty without zooms.
  std::string Text() const;

 private:
  std::vector<Zoom> zooms_;
};

}  // namespace profiler::browser
