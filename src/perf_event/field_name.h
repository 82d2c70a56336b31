// What a field of a record is called and how people read its value.

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
  kReadFormat,     // read_values.h
  kUserRegisters,  // by the bits of attr.sample_regs_user
  kIntrRegisters,  // … sample_regs_intr
  kNamespaces,     // device and inode in turn
};

// `text` lives as long as the program.
struct FieldName {
  constexpr FieldName(const char* name) : text(name) {}  // NOLINT: names stand in lists of fields
  constexpr FieldName(const char* name, Shown how) : text(name), shown(how) {}

  std::string_view text;
  Shown shown = Shown::kDecimal;
};

constexpr FieldName Hex(const char* name) { return {name, Shown::kHexadecimal}; }

}  // namespace profiler::perf_event
