#include "symbolize/v8/functions.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"

namespace profiler::symbolize::v8 {
namespace {

constexpr size_t kLongestName = 256, kLongestScript = 512;
// Limits per script and per process, in bytes. A script beyond them gets no line numbers.
constexpr uint64_t kLargestSource = uint64_t{8} << 20, kMostSource = uint64_t{128} << 20;
constexpr size_t kMostLines = size_t{1} << 18;
// No scope has more locals, because V8 stores their number in 17 bits.
constexpr int64_t kMostLocals = int64_t{1} << 17;
// A scope with this many locals or more has their names in a separate table
// (kScopeInfoMaxInlinedLocalNames).
constexpr int64_t kNamesInTable = 75;
// After the locals: slot of a class, name and slot of the function, inferred name, start and end,
// outer scope.
constexpr size_t kWordsBehindLocals = 8;

}  // namespace

const Function* Functions::Find(Word shared, bool* is_new) {
  *is_new = false;
  std::optional<Function> function = ReadFunction(shared);
  const auto known = functions_.find(shared);
  if (function && known != functions_.end() && known->second == *function) return &known->second;
  // Reads again, because another object may have replaced this one, or its texts, meanwhile.
  if (function) heap_.ReadAnew();
  if (!function || ReadFunction(shared) != function) {
    if (known != functions_.end()) functions_.erase(known);
    return nullptr;
  }
  if (known == functions_.end() && functions_.size() >= kMostFunctions) functions_.clear();
  *is_new = true;
  return &(functions_[shared] = *std::move(function));
}

std::optional<Function> Functions::ReadFunction(Word shared) {
  if (!heap_.IsOfType(shared, data_.shared_type)) return std::nullopt;
  const auto name = heap_.Field(shared, data_.shared_name_or_scope_info);
  const auto script = heap_.Field(shared, data_.shared_script);
  // V8's own functions have no script.
  if (!name || !script || !heap_.IsOfType(*script, data_.script_type)) return std::nullopt;
  Function function;
  function.name_or_scope_info = *name;
  function.script_word = *script;
  if (heap_.IsOfType(*name, data_.scope_info_type)) {
    if (!ReadScope(*name, &function)) return std::nullopt;
  } else if (heap_.IsString(*name)) {
    function.name = heap_.Text(*name, kLongestName).value_or("");
  }
  const auto text = heap_.Field(*script, data_.script_name);
  if (text && heap_.IsString(*text)) {
    function.script = heap_.Text(*text, kLongestScript).value_or("");
  }
  const auto start = heap_.SmallInteger(function.start);
  std::optional<Place> place;
  if (function.position_address != 0 && start) place = PlaceOf(*script, *start);
  if (!function.script.empty() || place) absl::StrAppend(&function.name, " ", function.script);
  if (place) absl::StrAppend(&function.name, ":", place->line, ":", place->column);
  if (function.name.empty()) return std::nullopt;
  return function;
}

// Reads the name and positions of a ScopeInfo:
//
//   … │ locals: names, or a table of them │ their slots │ [slot] │ [name │ slot] │ [inferred name]
//   │ [start │ end] │ [outer scope] │ …
//
// Flags say which parts in brackets exist, but their bits differ between releases. So start and end
// are recognized as small integers: the last two of at least two in a row, with the start smaller
// than the end. Slots cannot be mistaken for them, because the slot of an unused name is not above
// 0.
bool Functions::ReadScope(Word scope, Function* function) {
  const std::optional<uint64_t> address = heap_.AddressOf(scope);
  const auto count = heap_.Field(scope, data_.object_map + kWord * (1 + data_.scope_local_count));
  const auto locals = count ? heap_.SmallInteger(*count) : std::nullopt;
  if (!address || !locals || *locals < 0 || *locals > kMostLocals) return false;
  const int64_t words = *locals < kNamesInTable ? 2 * *locals : 1 + *locals;
  const uint64_t first =
      *address + static_cast<uint64_t>(data_.object_map) +
      static_cast<uint64_t>(kWord * (1 + int64_t{data_.scope_first_local} + words));
  std::array<Word, kWordsBehindLocals> behind{};
  size_t known = 0;
  for (; known < behind.size(); ++known) {
    if (!heap_.Read(first + known * kWord,
                    std::as_writable_bytes(std::span(behind).subspan(known, 1)))) {
      break;
    }
  }
  std::string name;
  size_t integers = 0;  // number of consecutive small integers up to here
  for (size_t i = 0; i <= known; ++i) {
    const auto integer = i < known ? heap_.SmallInteger(behind[i]) : std::nullopt;
    if (integer) {
      ++integers;
      continue;
    }
    if (integers >= 2) {
      const auto start = heap_.SmallInteger(behind[i - 2]), end = heap_.SmallInteger(behind[i - 1]);
      if (*start >= 0 && *start < *end) {
        function->position_address = first + (i - 2) * kWord;
        function->start = behind[i - 2];
        function->end = behind[i - 1];
        function->name = std::move(name);
        return true;
      }
    }
    integers = 0;
    // Prefers the function's own name to the inferred one, which comes later.
    if (i < known && name.empty() && heap_.IsString(behind[i])) {
      name = heap_.Text(behind[i], kLongestName).value_or("");
    }
  }
  // Without positions, the end of the ScopeInfo is unknown. The name may then belong to another
  // object.
  return false;
}

std::optional<Functions::Place> Functions::PlaceOf(Word script, int64_t position) {
  const Lines* const lines = LinesOf(script);
  if (lines == nullptr || position < 0 || position > lines->length) return std::nullopt;
  const auto at = static_cast<uint32_t>(position);
  const auto next = std::upper_bound(lines->starts.begin(), lines->starts.end(), at);
  const auto line = static_cast<uint32_t>(next - lines->starts.begin());
  return Place{line, at - lines->starts[line - 1] + 1};
}

const Functions::Lines* Functions::LinesOf(Word script) {
  const auto source = heap_.Field(script, data_.script_source);
  const auto characters = source ? heap_.CharactersOf(*source) : std::nullopt;
  if (!characters) return nullptr;
  const auto known = lines_.find(script);
  if (known != lines_.end() && known->second.source == *source &&
      known->second.length == characters->length) {
    return &known->second;
  }
  if (known != lines_.end()) {
    known_lines_ -= known->second.starts.size();
    lines_.erase(known);
  }
  Lines lines{.source = *source, .length = characters->length, .starts = {0}};
  if (!ReadLines(*characters, &lines.starts)) return nullptr;
  // Reads again, because the text may have been moved while it was read.
  heap_.ReadAnew();
  if (heap_.Field(script, data_.script_source) != source) return nullptr;
  if (known_lines_ + lines.starts.size() > kMostLines) {
    lines_.clear();
    known_lines_ = 0;
  }
  known_lines_ += lines.starts.size();
  return &(lines_[script] = std::move(lines));
}

// Finds line ends as in ECMA-262, 12.3: \n, \r, \r\n, U+2028, U+2029.
bool Functions::ReadLines(const Heap::Characters& source, std::vector<uint32_t>* starts) {
  constexpr uint32_t kPiece = 1 << 16;  // characters
  const uint64_t width = source.are_wide ? 2 : 1;
  const uint64_t size = source.length * width;
  if (size > kLargestSource || source_read_ + size > kMostSource) return false;
  source_read_ += size;
  std::vector<uint8_t> piece(std::min<uint64_t>(size, kPiece * width));
  char16_t last = 0;
  for (uint32_t first = 0; first < source.length; first += kPiece) {
    const uint32_t count = std::min(kPiece, source.length - first);
    const auto bytes = std::span(piece).first(count * width);
    if (!heap_.Read(source.address + first * width, std::as_writable_bytes(bytes))) return false;
    for (uint32_t i = 0; i < count; ++i) {
      const auto c = static_cast<char16_t>(
          source.are_wide ? piece[2 * i] | static_cast<unsigned>(piece[2 * i + 1]) << 8 : piece[i]);
      if (c == '\n' && last == '\r') {
        starts->back() = first + i + 1;
      } else if (c == '\n' || c == '\r' || c == 0x2028 || c == 0x2029) {
        if (starts->size() >= kMostLines) return false;
        starts->push_back(first + i + 1);
      }
      last = c;
    }
  }
  return true;
}

}  // namespace profiler::symbolize::v8
