#include "src/machine/events/trace_print.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "src/machine/events/function_marks.h"
#include "src/machine/events/trace_values.h"

namespace profiler::events {
namespace {

using Kind = TraceNode::Kind;

// A record's text may not be longer. Names and texts of fields may stand in a format many times.
constexpr size_t kMostText = 1 << 20;
constexpr uint32_t kUuidBytes = 16;

uint32_t WithoutCasts(const TraceArguments& arguments, uint32_t node) {
  while (arguments[node].kind == Kind::kCast) node = arguments[node].left;
  return node;
}

// True if libtraceevent takes the bytes for text: printable ones, up to a NUL.
bool IsReadable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return absl::ascii_isprint(byte) || absl::ascii_isspace(byte);
  });
}

void AppendAddress(uint64_t number, std::string* out) {
  *out += "0x";
  AppendConverted({.bytes = 8, .letter = 'x'}, number, out);
}

void AppendUuid(std::span<const std::byte> bytes, std::string* out) {
  for (size_t i = 0; i < bytes.size(); ++i) {
    const bool begins_group = i == 4 || i == 6 || i == 8 || i == 10;
    if (begins_group) *out += '-';
    absl::StrAppendFormat(out, "%02x", std::to_integer<unsigned>(bytes[i]));
  }
}

}  // namespace

std::optional<TracePrint> TracePrint::Compile(std::string_view format) {
  auto event = ParseTraceEvent(format);
  if (!event) return std::nullopt;
  auto arguments = ParseTraceArguments(*event);
  if (!arguments) return std::nullopt;
  TracePrint print;
  print.event_ = *std::move(event);
  print.arguments_ = *std::move(arguments);
  if (!print.CompilePieces()) return std::nullopt;
  return print;
}

bool TracePrint::CompilePieces() {
  std::string_view format = event_.format;
  size_t used = 0;  // arguments
  pieces_.emplace_back();
  while (!format.empty()) {
    const char c = format.front();
    format.remove_prefix(1);
    std::string& text = pieces_.back().text;
    if (c == '\\') {
      const char escaped = format.front();
      format.remove_prefix(1);
      text += escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped == 'r' ? '\r' : escaped;
    } else if (c != '%') {
      text += c;
    } else if (format.starts_with('%')) {
      text += c;
      format.remove_prefix(1);
    } else {
      if (!CompileConversion(&format, &used, &pieces_.back())) return false;
      pieces_.emplace_back();
    }
  }
  return true;
}

bool TracePrint::CompileConversion(std::string_view* format, size_t* used, Piece* piece) const {
  piece->conversion = TakeConversion(format);
  if (!piece->conversion) return false;
  const TraceConversion& conversion = *piece->conversion;
  if (conversion.width == TraceConversion::kFromArgument ||
      conversion.precision == TraceConversion::kFromArgument) {
    if (*used == arguments_.roots.size()) return false;
    piece->length = arguments_.roots[(*used)++];
    if (!IsNumber(event_, arguments_, piece->length)) return false;
  }
  if (*used == arguments_.roots.size()) return false;
  piece->argument = arguments_.roots[(*used)++];
  return IsSupported(*piece);
}

bool TracePrint::IsSupported(const Piece& piece) const {
  if (piece.conversion->letter == 's') return IsText(piece.argument);
  if (piece.conversion->pointer_letter != 'U') {
    return IsNumber(event_, arguments_, piece.argument);
  }
  const TraceNode& uuid = arguments_[WithoutCasts(arguments_, piece.argument)];
  return uuid.kind == Kind::kField && event_.fields[uuid.field].size == kUuidBytes;
}

bool TracePrint::IsText(uint32_t node) const {
  const TraceNode& text = arguments_[node];
  switch (text.kind) {
    case Kind::kString:
    case Kind::kDynamicString:
    case Kind::kCast:
      return true;
    case Kind::kField: {
      const TraceEventField& field = event_.fields[text.field];
      return field.is_array && !field.is_dynamic && field.size != 0;
    }
    case Kind::kFlags:
    case Kind::kSymbolic:
      return IsNumber(event_, arguments_, text.left);
    default:
      return text.IsOperator("?") && IsNumber(event_, arguments_, text.left) &&
             arguments_[text.right].IsOperator(":") && IsText(arguments_[text.right].left) &&
             IsText(arguments_[text.right].right);
  }
}

bool TracePrint::Append(std::span<const std::byte> record, std::string* out) const {
  if (!IsWholeRecord(event_, record)) return true;
  const size_t start = out->size();
  for (const Piece& piece : pieces_) {
    *out += piece.text;
    if (!piece.conversion) continue;
    if (!AppendPiece(piece, record, out) || out->size() - start > kMostText) {
      out->resize(start);
      return false;
    }
  }
  return true;
}

bool TracePrint::AppendPiece(const Piece& piece, std::span<const std::byte> record,
                             std::string* out) const {
  TraceConversion conversion = *piece.conversion;
  if (piece.length != TraceNode::kMissing) {
    const auto computed = ComputeNumber(event_, arguments_, piece.length, record);
    const auto length = static_cast<int>(computed.value_or(UINT64_MAX));
    constexpr int kMostLength = 1 << 16;  // a record has no longer text
    if (length < 0 || length > kMostLength) return false;
    (conversion.width == TraceConversion::kFromArgument ? conversion.width : conversion.precision) =
        length;
  }
  if (conversion.letter == 's') return AppendText(conversion, piece.argument, record, out);
  if (conversion.pointer_letter == 'U') {
    const TraceNode& uuid = arguments_[WithoutCasts(arguments_, piece.argument)];
    AppendUuid(record.subspan(event_.fields[uuid.field].offset, kUuidBytes), out);
    return true;
  }
  const auto number = ComputeNumber(event_, arguments_, piece.argument, record);
  if (!number) return false;
  if (conversion.is_number()) {
    AppendConverted(conversion, *number, out);
  } else if (conversion.pointer_letter != '\0') {
    AppendFunctionMark(*number, /*with_offset=*/conversion.pointer_letter == 'S', out);
  } else if (*number == 0) {
    *out += "(nil)";
  } else {
    AppendAddress(*number, out);
  }
  return true;
}

bool TracePrint::AppendText(const TraceConversion& conversion, uint32_t node,
                            std::span<const std::byte> record, std::string* out) const {
  const TraceNode& text = arguments_[node];
  switch (text.kind) {
    case Kind::kString:
      AppendConverted(conversion, text.text, out);
      return true;
    case Kind::kField:
      AppendConverted(conversion, TextAt(record, DataOf(event_.fields[text.field], record)), out);
      return true;
    case Kind::kDynamicString: {
      const TraceData data = DataOf(event_.fields[text.field], record);
      if (data.size != 0) AppendConverted(conversion, TextAt(record, data), out);
      return true;
    }
    case Kind::kCast:
      return true;  // as a null pointer, libtraceevent prints nothing
    case Kind::kFlags:
    case Kind::kSymbolic:
      return AppendNames(conversion, text, record, out);
    default:
      break;
  }
  const auto chosen = ComputeNumber(event_, arguments_, text.left, record);
  if (!chosen) return false;
  const TraceNode& both = arguments_[text.right];
  return AppendText(conversion, *chosen != 0 ? both.left : both.right, record, out);
}

bool TracePrint::AppendNames(const TraceConversion& conversion, const TraceNode& node,
                             std::span<const std::byte> record, std::string* out) const {
  const auto number = ComputeNumber(event_, arguments_, node.left, record);
  if (!number) return false;
  auto value = static_cast<int64_t>(*number);
  bool is_first = true;
  if (node.kind == Kind::kSymbolic) {
    for (const auto& [symbol, name] : node.names) {
      if (symbol != value) continue;
      AppendConverted(conversion, name, out);
      return true;
    }
  } else {
    for (const auto& [bits, name] : node.names) {
      if (value == 0 && bits < 0) {
        AppendConverted(conversion, name, out);
        break;
      }
      if (bits <= 0 || (value & bits) != bits) continue;
      if (!is_first) *out += node.text;
      AppendConverted(conversion, name, out);
      is_first = false;
      value &= ~bits;
    }
    if (value == 0) return true;
    if (!is_first) *out += node.text;
  }
  AppendAddress(static_cast<uint64_t>(value), out);
  return true;
}

bool TracePrint::AppendField(std::string_view name, std::string_view text,
                             std::span<const std::byte> record, std::string* out) const {
  const auto own = event_.fields.begin() + static_cast<std::ptrdiff_t>(event_.common_fields);
  const auto found = std::find_if(own, event_.fields.end(),
                                  [&](const TraceEventField& field) { return field.name == name; });
  if (found == event_.fields.end() || !IsWholeRecord(event_, record)) return true;
  if (found->is_string) {
    const std::string_view value = TextAt(record, DataOf(*found, record));
    if (!IsReadable(value)) return false;
    out->append(value);
    return true;
  }
  if (const auto value = ValueInText(name, text)) {
    out->append(*value);
    return true;
  }
  if (found->is_array) return false;
  return AppendNumberOf(static_cast<uint32_t>(found - event_.fields.begin()), record, out);
}

// Appends a number as the record's text has it, without a name in front of it.
bool TracePrint::AppendNumberOf(uint32_t index, std::span<const std::byte> record,
                                std::string* out) const {
  for (const Piece& piece : pieces_) {
    if (!piece.conversion) continue;
    const TraceNode& argument = arguments_[WithoutCasts(arguments_, piece.argument)];
    if (argument.kind != Kind::kField || argument.field != index) continue;
    if (piece.text.ends_with("0x")) *out += "0x";
    return AppendPiece(piece, record, out);
  }
  const TraceEventField& field = event_.fields[index];
  const uint64_t number = NumberAt(record, field.offset, field.size);
  const bool is_hex =
      field.is_pointer || (field.is_long && (!field.is_signed || field.size == sizeof(uint32_t)));
  TraceConversion conversion{.bytes = field.is_signed ? field.size : 8};
  conversion.letter = is_hex ? 'x' : field.is_signed ? 'd' : 'u';
  if (conversion.bytes == 2 && !is_hex) conversion.width = 2;
  if (conversion.bytes == 0 || conversion.bytes > 8) return false;
  if (is_hex) *out += "0x";
  AppendConverted(conversion, number, out);
  return true;
}

}  // namespace profiler::events
