#include "src/machine/events/trace_event.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "src/machine/events/trace_tokens.h"
#include "src/machine/procfs/proc_file.h"

namespace profiler::events {
namespace {

constexpr uint32_t kAssumedLongBytes = 8;

// A field lies in a record, whose size has 16 bits.
constexpr uint32_t kMostFieldBytes = UINT16_MAX;

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool TakePrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Removes the text before the next `end`, and `end`. Returns false if there is none.
bool TakeUntil(std::string_view& text, char end, std::string_view* taken) {
  const size_t at = text.find(end);
  if (at == std::string_view::npos) return false;
  *taken = text.substr(0, at);
  text.remove_prefix(at + 1);
  return true;
}

std::string_view Stripped(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Splits "unsigned long flags" into "unsigned long" and "flags". Returns false if there are no two
// words, or other characters than names, blanks and '*'.
bool SplitName(std::string_view text, std::string_view* type, std::string_view* name) {
  for (const char c : text) {
    const bool is_word = absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
    if (!is_word && c != ' ' && c != '*') return false;
  }
  const size_t end = text.find_last_of(" *");
  if (end == std::string_view::npos) return false;
  *name = text.substr(end + 1);
  *type = text.substr(0, end + 1);
  return !name->empty() && !Stripped(*type).empty();
}

uint32_t SizeOfType(std::string_view type) {
  if (type == "u8" || type == "s8" || type == "char") return 1;
  if (type == "u16" || type == "s16") return 2;
  if (type == "u32" || type == "s32") return 4;
  if (type == "u64" || type == "s64") return 8;
  return 0;
}

// Parses "TYPE NAME", "TYPE NAME[LENGTH]" or "TYPE[] NAME". Sets the length and the size that the
// type gives an element; 0 if unknown.
bool ParseDeclaration(std::string_view text, TraceEventField* field, uint32_t* length,
                      uint32_t* element) {
  std::string_view type, name;
  const size_t bracket = text.find('[');
  if (bracket == std::string_view::npos) {
    if (!SplitName(text, &type, &name)) return false;
  } else {
    field->is_array = true;
    std::string_view rest = text.substr(bracket + 1), inside;
    if (!TakeUntil(rest, ']', &inside) || !SplitName(text.substr(0, bracket), &type, &name)) {
      return false;
    }
    if (!inside.empty()) {
      const auto number = procfs::ParseNumber<uint32_t>(inside);
      if (!number || *number == 0) return false;
      *length = *number;
    }
    rest = Stripped(rest);
    if (!rest.empty()) {
      *element = SizeOfType(name);
      type = text.substr(0, bracket);
      name = rest;
      if (name.find_first_of("[]*. ()") != std::string_view::npos) return false;
    }
  }
  if (Contains(type, "__attribute__")) return false;
  field->name = std::string(name);
  field->is_pointer = Contains(type, "*");
  field->is_string =
      field->is_array && (Contains(type, "char") || Contains(type, "u8") || Contains(type, "s8"));
  field->is_relative = type.starts_with("__rel_loc");
  field->is_dynamic = field->is_relative || type.starts_with("__data_loc");
  field->is_long = Contains(type, "long");
  return true;
}

// Parses "KEY:NUMBER;" and a tab.
bool TakeNumber(std::string_view& line, std::string_view key, uint32_t* number) {
  std::string_view part;
  line = Stripped(line);
  if (!TakeUntil(line, ';', &part) || !TakePrefix(part, key)) return false;
  const auto value = procfs::ParseNumber<uint32_t>(part);
  if (!value) return false;
  *number = *value;
  return true;
}

std::optional<TraceEventField> ParseField(std::string_view line) {
  TraceEventField field;
  std::string_view declaration;
  uint32_t length = 0, element = 0, is_signed = 0;
  line = Stripped(line);
  if (!TakePrefix(line, "field:") || !TakeUntil(line, ';', &declaration)) return std::nullopt;
  if (!ParseDeclaration(declaration, &field, &length, &element)) return std::nullopt;
  if (!TakeNumber(line, "offset:", &field.offset) || !TakeNumber(line, "size:", &field.size) ||
      !TakeNumber(line, "signed:", &is_signed) || !Stripped(line).empty()) {
    return std::nullopt;
  }
  if (field.offset > kMostFieldBytes || field.size > kMostFieldBytes) return std::nullopt;
  if (field.is_dynamic && field.size != sizeof(uint32_t)) return std::nullopt;
  field.is_signed = is_signed != 0;
  if (!field.is_array && !field.is_dynamic) {
    field.element_size = field.size;
  } else if (length != 0) {
    field.element_size = field.size / length;
  } else if (field.is_dynamic) {
    field.element_size = element;
  } else if (field.is_string) {
    field.element_size = 1;
  } else if (field.is_long) {
    field.element_size = kAssumedLongBytes;
  }
  return field;
}

// Parses lines of fields up to an empty line.
bool TakeFields(std::string_view& text, std::vector<TraceEventField>* fields) {
  std::string_view line;
  while (TakeUntil(text, '\n', &line)) {
    if (line.empty()) return true;
    auto field = ParseField(line);
    if (!field) return false;
    fields->push_back(*std::move(field));
  }
  return false;
}

}  // namespace

std::optional<uint32_t> TraceEvent::Find(std::string_view field) const {
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == field) return static_cast<uint32_t>(i);
  }
  return std::nullopt;
}

std::optional<TraceEvent> ParseTraceEvent(std::string_view text) {
  TraceEvent event;
  std::string_view line;
  if (!TakeUntil(text, '\n', &line) || !TakePrefix(line, "name: ")) return std::nullopt;
  event.name = std::string(line);
  if (!TakeUntil(text, '\n', &line) || !TakePrefix(line, "ID: ")) return std::nullopt;
  const auto id = procfs::ParseNumber<uint32_t>(line);
  if (!id || !TakeUntil(text, '\n', &line) || line != "format:") return std::nullopt;
  event.id = *id;
  if (!TakeFields(text, &event.fields)) return std::nullopt;
  event.common_fields = event.fields.size();
  if (!TakeFields(text, &event.fields) || !TakePrefix(text, "print fmt: ")) return std::nullopt;
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  if (text.find('\n') != std::string_view::npos) return std::nullopt;
  TraceTokens tokens(text);
  TraceToken token = tokens.Next();
  if (token.kind != TraceToken::Kind::kString) return std::nullopt;
  event.format = std::move(token.text);
  token = tokens.Next();
  if (token.IsDelimiter(',')) {
    event.arguments = std::string(tokens.rest());
  } else if (token.kind != TraceToken::Kind::kEnd) {
    return std::nullopt;
  }
  return event;
}

std::string ReadableFormat(std::string_view format) {
  const size_t print = format.find("print fmt:");
  std::string text(format.substr(0, print));
  if (print == std::string_view::npos) return text;
  for (size_t at = print; at < format.size(); ++at) {
    if (format[at] == '\t') {
      text += "\\t";
    } else if (format.substr(at).starts_with("%pB")) {
      text += "%pS";
      at += 2;
    } else {
      text += format[at];
    }
  }
  return text;
}

}  // namespace profiler::events
