// Bounds the work of reading entries. The cost of an entry depends on the number of attributes in
// its abbreviation. Attributes of the forms DW_FORM_flag_present and DW_FORM_implicit_const take no
// bytes, so a file of a few kilobytes could have thousands of entries with thousands of attributes
// each.
//
// Private to this package.

#pragma once

#include <elfutils/libdw.h>

#include <cstddef>
#include <cstdint>

namespace profiler::symbolize::dwarf {

// Number of attributes that may still be read. Not thread-safe.
class AttributeBudget {
 public:
  // Adds the budget of a unit of `bytes` bytes. That is ample: each entry is read up to three
  // times, and entries from compilers have hardly more attributes than bytes.
  void AddUnit(uint64_t bytes) { left_ += 16 * bytes + 4096; }

  // Subtracts the cost of reading the entry. Returns false, now and in all later calls, if the
  // budget does not suffice.
  bool Afford(Dwarf_Die& entry) {
    size_t attributes = 0;
    // dwarf_tag makes libdw look up the abbreviation.
    if (dwarf_tag(&entry) != DW_TAG_invalid) dwarf_getattrcnt(entry.abbrev, &attributes);
    is_spent_ = is_spent_ || attributes >= left_;
    left_ -= is_spent_ ? 0 : attributes + 1;
    return !is_spent_;
  }

  // Returns true if entries were skipped.
  bool is_spent() const { return is_spent_; }

 private:
  uint64_t left_ = 0;
  bool is_spent_ = false;
};

}  // namespace profiler::symbolize::dwarf
