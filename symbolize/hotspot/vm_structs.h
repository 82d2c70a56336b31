// The tables in which HotSpot exports the layout of its own data, for debuggers that look at it
// from outside: which field of which type lies where.
//
//   libjvm.so: gHotSpotVMStructs ──▶ entry │ type "CodeBlob" │ field "_size" │ offset 12 │ …
//                                    entry │ type "CodeCache" │ field "_heaps" │ address … │ static
//              gHotSpotVMStructEntryTypeNameOffset, …ArrayStride: how an entry is laid out itself
//              gHotSpotVMTypes, gHotSpotVMIntConstants, gHotSpotVMLongConstants: likewise
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

// Immutable once read.
class VmStructs {
 public:
  // The address of an exported variable of libjvm.so in the process; nothing where there is none.
  using FindVariable = std::function<std::optional<uint64_t>(std::string_view name)>;

  // Nothing where the tables are not there, or are none: at most kMostEntries are read, of each
  // two or three texts. Takes some milliseconds.
  static std::optional<VmStructs> Read(ProcessMemory& memory, const FindVariable& find);

  // Of a field in an object of its type, in bytes.
  std::optional<uint64_t> Offset(std::string_view type, std::string_view field) const;
  // Of such a field, as its declaration has it; nothing where that is not told.
  std::optional<std::string> TypeOf(std::string_view type, std::string_view field) const;
  // Where a static field is.
  std::optional<uint64_t> Address(std::string_view type, std::string_view field) const;
  // Of an object of the type, in bytes.
  std::optional<uint64_t> Size(std::string_view type) const;
  std::optional<int64_t> Constant(std::string_view name) const;

  // Of one of the tables; JDK 25 has about 2 000 in all of them together.
  static constexpr size_t kMostEntries = 16384;

 private:
  class Reader;

  absl::flat_hash_map<std::string, uint64_t> offsets_, addresses_;  // by "type::field"
  absl::flat_hash_map<std::string, std::string> types_;             // likewise
  absl::flat_hash_map<std::string, uint64_t> sizes_;
  absl::flat_hash_map<std::string, int64_t> constants_;
};

}  // namespace profiler::symbolize::hotspot
