// The layouts of perf's own records (types 64 and above), as lists of fields that drive both
// byte-swapping and printing.
// Source: tools/lib/perf/include/perf/event.h and schedstat-v*.h, Linux 7.2.
//
//   record body    │ head │ entry │ entry │ … │ head of the next part … │ rest
//
// A record may consist of two layouts: for example, the second part of an EVENT_UPDATE depends on
// its type.
//
// Private to this package.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "src/format/perf_event/field_name.h"

namespace profiler::perf_data {

struct OwnField {
  enum Kind : uint8_t { kNumber, kText, kBytes, kOpaque };

  perf_event::FieldName name;
  Kind kind = kNumber;
  uint16_t size = 8;  // bytes: 1, 2, 4 or 8 for a number; 0: up to the record's end
};

struct OwnLayout {
  enum Entries : uint8_t { kNone, kCounted, kToTheEnd };

  uint32_t type = 0;
  std::span<const OwnField> head = {};
  // Number of entries after the head. kNone: no entries. kCounted: the number in the head's field
  // `counted_by`. kToTheEnd: as many as fit into the record.
  Entries entries = kNone;
  std::span<const OwnField> entry = {};
  std::string_view counted_by = "nr";
};

// The parts of a record's body, in order. OwnPartsOf chooses them by the record's type and by
// `body`, which is in the other byte order if `swapped` is true. There are no parts for unknown
// types, for HEADER_ATTR (see attr_codec.h), and for records without a body.
struct OwnParts {
  const OwnLayout* first = nullptr;
  const OwnLayout* second = nullptr;
};
OwnParts OwnPartsOf(uint32_t type, std::span<const std::byte> body, bool swapped);

// Walks over `body` and calls visit(field, bytes) for each field that is complete. `visit` returns
// the value of a number in native order; its result is ignored for other fields. Returns the total
// size of these fields in bytes. The cost is limited by the size of the body, even if a count in
// the body is absurd.
template <class Byte, class Visit>
size_t WalkOwnFields(const OwnParts& parts, std::span<Byte> body, Visit visit) {
  size_t at = 0;
  uint64_t counted = 0;
  std::string_view counter;
  const auto pass = [&](std::span<const OwnField> fields) {
    for (const OwnField& field : fields) {
      const size_t left = body.size() - at;
      const size_t size = field.size == 0 ? left : field.size;
      if (size == 0 || size > left) return false;
      const uint64_t value = visit(field, body.subspan(at, size));
      if (field.name.text == counter) counted = value;
      at += size;
    }
    return true;
  };
  for (const OwnLayout* part : {parts.first, parts.second}) {
    if (part == nullptr) break;
    counter = part->counted_by;
    if (!pass(part->head)) break;
    if (part->entries == OwnLayout::kNone) continue;
    uint64_t count = part->entries == OwnLayout::kCounted ? counted : UINT64_MAX;
    while (count-- > 0 && pass(part->entry)) {
    }
  }
  return at;
}

}  // namespace profiler::perf_data
