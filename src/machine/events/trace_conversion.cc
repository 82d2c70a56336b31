#include "src/machine/events/trace_conversion.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"

namespace profiler::events {
namespace {

bool TakeCharacter(std::string_view* text, char c) {
  if (!text->starts_with(c)) return false;
  text->remove_prefix(1);
  return true;
}

// Takes digits or '*'. Returns false for a number of more than three digits, which would let a
// recording print gigabytes.
bool TakeWidth(std::string_view* text, int* width) {
  constexpr int kMost = 999;
  if (TakeCharacter(text, '*')) {
    *width = TraceConversion::kFromArgument;
    return true;
  }
  while (!text->empty() && absl::ascii_isdigit(static_cast<unsigned char>(text->front()))) {
    *width = std::max(*width, 0) * 10 + (text->front() - '0');
    if (*width > kMost) return false;
    text->remove_prefix(1);
  }
  return true;
}

uint32_t TakeBytes(std::string_view* text) {
  if (TakeCharacter(text, 'h')) return TakeCharacter(text, 'h') ? 1 : 2;
  if (TakeCharacter(text, 'l')) {
    TakeCharacter(text, 'l');
    return 8;
  }
  return TakeCharacter(text, 'L') || TakeCharacter(text, 'z') ? 8 : 4;
}

void AppendPadded(bool left_aligned, int width, std::string_view text, std::string* out) {
  const size_t blanks = static_cast<size_t>(std::max(width, 0)) -
                        std::min(text.size(), static_cast<size_t>(std::max(width, 0)));
  if (!left_aligned) out->append(blanks, ' ');
  out->append(text);
  if (left_aligned) out->append(blanks, ' ');
}

}  // namespace

std::optional<TraceConversion> TakeConversion(std::string_view* format) {
  TraceConversion conversion;
  for (;;) {
    if (TakeCharacter(format, '-')) {
      conversion.left_aligned = true;
    } else if (TakeCharacter(format, '0')) {
      conversion.zeros = true;
    } else if (TakeCharacter(format, '#')) {
      conversion.with_prefix = true;
    } else {
      break;
    }
  }
  if (!TakeWidth(format, &conversion.width)) return std::nullopt;
  if (TakeCharacter(format, '.')) {
    conversion.precision = 0;
    if (!TakeWidth(format, &conversion.precision)) return std::nullopt;
  }
  const size_t before = format->size();
  conversion.bytes = TakeBytes(format);
  const bool has_length = format->size() != before;
  if (format->empty()) return std::nullopt;
  conversion.letter = format->front();
  format->remove_prefix(1);
  const bool takes_width = conversion.width == TraceConversion::kFromArgument;
  const bool takes_precision = conversion.precision == TraceConversion::kFromArgument;
  const bool has_flags = conversion.zeros || conversion.with_prefix;
  const bool is_plain = !has_flags && !conversion.left_aligned && !has_length &&
                        conversion.width == TraceConversion::kNone &&
                        conversion.precision == TraceConversion::kNone;
  switch (conversion.letter) {
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o':
      if (takes_width || takes_precision) return std::nullopt;
      return conversion;
    case 's':
      if (has_flags || has_length || (takes_width && takes_precision)) return std::nullopt;
      return conversion;
    case 'p':
      break;
    default:
      return std::nullopt;
  }
  if (!is_plain) return std::nullopt;
  const char next = format->empty() ? '\0' : format->front();
  if (!absl::ascii_isalnum(static_cast<unsigned char>(next))) return conversion;
  format->remove_prefix(1);
  switch (next) {
    case 's':
    case 'f':
      conversion.pointer_letter = 's';
      return conversion;
    case 'S':
    case 'F':
      conversion.pointer_letter = 'S';
      return conversion;
    case 'U':
      conversion.pointer_letter = 'U';
      // A letter after it selects the order of bytes.
      if (format->find_first_of("bBlL") == 0) return std::nullopt;
      return conversion;
    default:
      return std::nullopt;
  }
}

void AppendConverted(const TraceConversion& conversion, uint64_t number, std::string* out) {
  const bool is_signed = conversion.letter == 'd' || conversion.letter == 'i';
  const unsigned unused_bits = 64 - 8 * conversion.bytes;
  number <<= unused_bits;
  const bool is_negative = is_signed && static_cast<int64_t>(number) < 0;
  number = is_signed ? static_cast<uint64_t>(static_cast<int64_t>(number) >> unused_bits)
                     : number >> unused_bits;
  if (is_negative) number = -number;
  const bool is_hex = conversion.letter == 'x' || conversion.letter == 'X';
  const bool is_octal = conversion.letter == 'o';
  const uint64_t base = is_hex ? 16 : is_octal ? 8 : 10;
  const char* const digits = conversion.letter == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
  char text[24];
  char* const end = text + sizeof(text);
  char* start = end;
  for (uint64_t rest = number; rest != 0; rest /= base) *--start = digits[rest % base];
  if (number == 0 && conversion.precision != 0) *--start = '0';

  const auto count = static_cast<int>(end - start);
  std::string_view prefix = is_negative ? "-" : "";
  if (conversion.with_prefix && number != 0 && is_hex) {
    prefix = conversion.letter == 'X' ? "0X" : "0x";
  }
  int zeros = std::max(conversion.precision - count, 0);
  const bool lacks_zero = zeros == 0 && (count == 0 || *start != '0');
  if (conversion.with_prefix && is_octal && lacks_zero) zeros = 1;
  const auto width = conversion.width - static_cast<int>(prefix.size());
  if (conversion.zeros && !conversion.left_aligned &&
      conversion.precision == TraceConversion::kNone) {
    zeros = std::max(zeros, width - count);
  }
  const int blanks = std::max(width - zeros - count, 0);
  if (!conversion.left_aligned) out->append(static_cast<size_t>(blanks), ' ');
  out->append(prefix);
  out->append(static_cast<size_t>(zeros), '0');
  out->append(start, end);
  if (conversion.left_aligned) out->append(static_cast<size_t>(blanks), ' ');
}

void AppendConverted(const TraceConversion& conversion, std::string_view text, std::string* out) {
  if (conversion.precision >= 0) text = text.substr(0, static_cast<size_t>(conversion.precision));
  AppendPadded(conversion.left_aligned, conversion.width, text, out);
}

}  // namespace profiler::events
