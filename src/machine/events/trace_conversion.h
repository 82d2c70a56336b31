// The conversions of printf in the print formats of tracepoints: "%-10s", "%08lx", "%pS".

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace profiler::events {

struct TraceConversion {
  static constexpr int kNone = -1;
  static constexpr int kFromArgument = -2;

  bool left_aligned = false;   // -
  bool zeros = false;          // 0
  bool with_prefix = false;    // #
  int width = kNone;           // or kFromArgument, for '*'
  int precision = kNone;       // likewise
  uint32_t bytes = 4;          // size of the number, as hh, h, l, ll, L and z give it
  char letter = '\0';          // d i u x X o s p
  char pointer_letter = '\0';  // 's', 'S' or 'U' for %ps, %pS and %pU; of a plain %p '\0'

  bool is_number() const { return letter != 's' && letter != 'p'; }
};

// Parses the conversion at the front of `format`, after the '%', and removes it. Returns nullopt if
// only libtraceevent supports it, or versions of libtraceevent differ in it.
std::optional<TraceConversion> TakeConversion(std::string_view* format);

// Append a number or a text as printf does. The number's upper bits are ignored if it has fewer than
// 8 bytes.
void AppendConverted(const TraceConversion& conversion, uint64_t number, std::string* out);
void AppendConverted(const TraceConversion& conversion, std::string_view text, std::string* out);

}  // namespace profiler::events
