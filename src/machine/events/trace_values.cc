#include "src/machine/events/trace_values.h"

#include <algorithm>
#include <cstring>

namespace profiler::events {
namespace {

using Kind = TraceNode::Kind;

bool IsInside(uint64_t offset, uint64_t size, std::span<const std::byte> record) {
  return offset <= record.size() && size <= record.size() - offset;
}

// Computes an operator with two operands. Returns nullopt for a division by zero.
std::optional<uint64_t> Computed(std::string_view op, uint64_t left, uint64_t right) {
  constexpr uint64_t kShift = 63;  // shifts use these bits of their right operand
  switch (op[0]) {
    case '!':
      return op.size() == 1 ? right == 0 : left != right;
    case '~':
      return ~right;
    case '|':
      return op.size() == 1 ? left | right : static_cast<uint64_t>(left != 0 || right != 0);
    case '&':
      return op.size() == 1 ? left & right : static_cast<uint64_t>(left != 0 && right != 0);
    case '<':
      return op.size() == 1 ? left < right
             : op[1] == '=' ? left <= right
                            : left << (right & kShift);
    case '>':
      return op.size() == 1 ? left > right
             : op[1] == '=' ? left >= right
                            : left >> (right & kShift);
    case '=':
      return left == right;
    case '-':
      return left - right;
    case '+':
      return left + right;
    case '*':
      return left * right;
    case '/':
      if (right == 0) return std::nullopt;
      return left / right;
    case '%':
      if (right == 0) return std::nullopt;
      return left % right;
    default:
      return std::nullopt;
  }
}

}  // namespace

bool IsWholeRecord(const TraceEvent& event, std::span<const std::byte> record) {
  for (const TraceEventField& field : event.fields) {
    if (!IsInside(field.offset, field.size, record)) return false;
    if (!field.is_dynamic) continue;
    const TraceData data = DataOf(field, record);
    if (!IsInside(data.offset, data.size, record)) return false;
    if (field.is_string && data.size != 0 && record[data.offset + data.size - 1] != std::byte{0}) {
      return false;
    }
  }
  return true;
}

uint64_t NumberAt(std::span<const std::byte> record, uint32_t offset, uint32_t size) {
  const auto read = [&]<class Number>(Number number) -> uint64_t {
    std::memcpy(&number, record.data() + offset, sizeof(number));
    return number;
  };
  switch (size) {
    case 1:
      return read(uint8_t{});
    case 2:
      return read(uint16_t{});
    case 4:
      return read(uint32_t{});
    case 8:
      return read(uint64_t{});
    default:
      return 0;
  }
}

TraceData DataOf(const TraceEventField& field, std::span<const std::byte> record) {
  if (!field.is_dynamic) return {.offset = field.offset, .size = field.size};
  const auto where = static_cast<uint32_t>(NumberAt(record, field.offset, sizeof(uint32_t)));
  const uint32_t base = field.is_relative ? field.offset + field.size : 0;
  return {.offset = base + (where & 0xffff), .size = where >> 16};
}

std::string_view TextAt(std::span<const std::byte> record, TraceData data) {
  const char* text = reinterpret_cast<const char*>(record.data()) + data.offset;
  return {text, strnlen(text, data.size)};
}

bool IsNumber(const TraceEvent& event, const TraceArguments& arguments, uint32_t node) {
  const TraceNode& value = arguments[node];
  switch (value.kind) {
    case Kind::kNone:
    case Kind::kNumber:
    case Kind::kWord:
    case Kind::kField:
    case Kind::kDynamicLength:
      return true;
    case Kind::kCast:
      return IsNumber(event, arguments, value.left);
    case Kind::kOperator:
      break;
    default:
      return false;
  }
  const TraceNode& right = arguments[value.right];
  if (value.text == ":") return false;
  if (value.text == "?") {
    return IsNumber(event, arguments, value.left) && right.IsOperator(":") &&
           IsNumber(event, arguments, right.left) && IsNumber(event, arguments, right.right);
  }
  if (value.text == "[") {
    const TraceNode& array = arguments[value.left];
    return array.kind == Kind::kField && !event.fields[array.field].is_dynamic &&
           IsNumber(event, arguments, value.right);
  }
  return IsNumber(event, arguments, value.left) && IsNumber(event, arguments, value.right);
}

std::optional<uint64_t> ComputeNumber(const TraceEvent& event, const TraceArguments& arguments,
                                      uint32_t node, std::span<const std::byte> record) {
  const TraceNode& value = arguments[node];
  switch (value.kind) {
    case Kind::kNumber:
      return value.number;
    case Kind::kField:
      return NumberAt(record, event.fields[value.field].offset, event.fields[value.field].size);
    case Kind::kDynamicLength:
      return DataOf(event.fields[value.field], record).size;
    case Kind::kCast: {
      const auto number = ComputeNumber(event, arguments, value.left, record);
      if (!number) return std::nullopt;
      return *number & value.number;
    }
    case Kind::kOperator:
      break;
    default:
      return 0;
  }
  if (value.text == "?") {
    const auto chosen = ComputeNumber(event, arguments, value.left, record);
    const TraceNode& both = arguments[value.right];
    if (!chosen) return std::nullopt;
    return ComputeNumber(event, arguments, *chosen != 0 ? both.left : both.right, record);
  }
  const auto right = ComputeNumber(event, arguments, value.right, record);
  if (!right) return std::nullopt;
  if (value.text == "[") {
    const TraceEventField& array = event.fields[arguments[value.left].field];
    // libtraceevent computes positions with 32 bits; an element outside of the record is 0.
    const auto offset = static_cast<uint32_t>(array.offset + *right * array.element_size);
    return IsInside(offset, array.element_size, record)
               ? NumberAt(record, offset, array.element_size)
               : 0;
  }
  const auto left = ComputeNumber(event, arguments, value.left, record);
  if (!left) return std::nullopt;
  return Computed(value.text, *left, *right);
}

std::optional<std::string_view> ValueInText(std::string_view name, std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const size_t value = at + name.size() + 1;
    if (value < end && text.substr(at).starts_with(name) &&
        (text[value - 1] == '=' || text[value - 1] == ':')) {
      return text.substr(value, end - value);
    }
    at = end + 1;
  }
  return std::nullopt;
}

}  // namespace profiler::events
