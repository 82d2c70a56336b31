// Reads the tables in which HotSpot exports the layout of its data for debuggers: types, fields and
// their offsets.
//
//   libjvm.so: gHotSpotVMStructs ──▶ entry │ type "CodeBlob" │ field "_size" │ offset 12 │ …
//                                    entry │ type "CodeCache" │ field "_heaps" │ address … │ static
//              gHotSpotVMStructEntryTypeNameOffset, …ArrayStride: the layout of an entry itself
//              gHotSpotVMTypes, gHotSpotVMIntConstants, gHotSpotVMLongConstants: other such tables
//
// Source: src/hotspot/share/runtime/vmStructs.hpp, JDK 17 and 25.
//
// Private to this package.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "symbolize/process_memory.h"

namespace profiler::symbolize::hotspot {

// The tables of one process. Immutable.
class VmStructs {
 public:
  // Returns the address, in the memory of the process, of a variable that libjvm.so exports; empty
  // if it exports no such variable.
  using FindVariable = std::function<std::optional<uint64_t>(std::string_view name)>;

  // Reads the tables. Empty if they do not exist or are invalid. Reads at most kMostEntries per
  // table, with two or three texts each. Takes some milliseconds.
  static std::optional<VmStructs> Read(ProcessMemory& memory, const FindVariable& find);

  // Returns the offset of a field in objects of its type, in bytes.
  std::optional<uint64_t> Offset(std::string_view type, std::string_view field) const;
  // Returns the declared type of a field; empty: unknown.
  std::optional<std::string> TypeOf(std::string_view type, std::string_view field) const;
  // Returns the address of a static field.
  std::optional<uint64_t> Address(std::string_view type, std::string_view field) const;
  // Returns the size of an object of the type, in bytes.
  std::optional<uint64_t> Size(std::string_view type) const;
  std::optional<int64_t> Constant(std::string_view name) const;

  // Limit per table; all tables of JDK 25 together have about 2,000 entries.
  static constexpr size_t kMostEntries = 16384;

 private:
  class Reader;

  absl::flat_hash_map<std::string, uint64_t> offsets_, addresses_;  // keyed by "type::field"
  absl::flat_hash_map<std::string, std::string> types_;             // keyed by "type::field"
  absl::flat_hash_map<std::string, uint64_t> sizes_;
  absl::flat_hash_map<std::string, int64_t> constants_;
};

}  // namespace profiler::symbolize::hotspot
