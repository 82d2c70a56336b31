// Reads the fields of pprof's messages.

#pragma once

#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <string_view>

#include "src/format/pprof/field_numbers.h"

namespace profiler::importers {

using PprofFields = pprof::Fields;

// Throws if a field has another wire type, because protozero does not check that itself. All
// functions throw if the input is damaged.
inline void RequireType(const protozero::pbf_reader& field, protozero::pbf_wire_type type) {
  if (field.wire_type() != type) throw protozero::unknown_pbf_wire_type_exception{};
}
inline uint64_t NumberOf(protozero::pbf_reader& field) {
  RequireType(field, protozero::pbf_wire_type::varint);
  return field.get_uint64();
}
inline int64_t SignedNumberOf(protozero::pbf_reader& field) {
  return static_cast<int64_t>(NumberOf(field));
}
inline protozero::pbf_reader MessageOf(protozero::pbf_reader& field) {
  RequireType(field, protozero::pbf_wire_type::length_delimited);
  return field.get_message();
}
inline std::string_view TextOfField(protozero::pbf_reader& field) {
  RequireType(field, protozero::pbf_wire_type::length_delimited);
  const protozero::data_view view = field.get_view();
  return {view.data(), view.size()};
}

}  // namespace profiler::importers
