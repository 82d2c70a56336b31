// Names the fields of records, and says how their values are shown.

#pragma once

#include <cstdint>
#include <string_view>

namespace profiler::perf_event {

enum class Shown : uint8_t {
  kDecimal,
  kHexadecimal,
  kProtection,     // PROT_* of a mapping: r-xp
  kDataSource,     // PERF_SAMPLE_DATA_SRC
  kWeight,         // WEIGHT or WEIGHT_STRUCT
  kCallchain,      // addresses and PERF_CONTEXT_* markers
  kReadFormat,     // see read_values.h
  kUserRegisters,  // selected by attr.sample_regs_user
  kIntrRegisters,  // selected by attr.sample_regs_intr
  kNamespaces,     // pairs of device and inode
};

// A name, whose text lives as long as the program, and the format of the value.
struct FieldName {
  constexpr FieldName(const char* name) : text(name) {}  // NOLINT: implicit, for lists of fields
  constexpr FieldName(const char* name, Shown how) : text(name), shown(how) {}

  std::string_view text;
  Shown shown = Shown::kDecimal;
};

constexpr FieldName Hex(const char* name) { return {name, Shown::kHexadecimal}; }

}  // namespace profiler::perf_event
