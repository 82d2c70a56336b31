// How much may still be looked at of entries. What an entry costs goes by the attributes that its
// abbreviation lists, which may be any number for no bytes of the entry: DW_FORM_flag_present and
// DW_FORM_implicit_const have none. So a few kilobytes could list thousands for each of thousands
// of entries.
//
// Private to this package.

#pragma once

#include <elfutils/libdw.h>

#include <cstddef>
#include <cstdint>

namespace profiler::symbolize::dwarf {

// Not thread-safe.
class AttributeBudget {
 public:
  // For a unit of so many bytes that is read now. Each entry is gone through up to three times, and
  // has hardly more attributes than bytes.
  void AddUnit(uint64_t bytes) { left_ += 16 * bytes + 4096; }

  // Takes what the entry costs. False from the first one on for which too little is left.
  bool Afford(Dwarf_Die& entry) {
    size_t attributes = 0;
    // The tag makes libdw look the abbreviation up.
    if (dwarf_tag(&entry) != DW_TAG_invalid) dwarf_getattrcnt(entry.abbrev, &attributes);
    is_spent_ = is_spent_ || attributes >= left_;
    left_ -= is_spent_ ? 0 : attributes + 1;
    return !is_spent_;
  }

  // Whether entries were left out.
  bool is_spent() const { return is_spent_; }

 private:
  uint64_t left_ = 0;
  bool is_spent_ = false;
};

}  // namespace profiler::symbolize::dwarf
