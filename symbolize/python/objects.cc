#include "symbolize/python/objects.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "src/base/append_utf8.h"
#include "src/base/text.h"
#include "symbolize/python/known_layouts.h"

namespace profiler::symbolize::python {
namespace {

constexpr uint64_t kWord = 8;
constexpr std::string_view kModuleNameKey = "__name__";
constexpr size_t kMostModuleName = 256;

// The part of a text's state after the bits that say how it is shared.
struct TextState {
  explicit TextState(uint32_t state)
      : character_bytes(state & 7),
        is_compact((state >> 3 & 1) != 0),
        is_ascii((state >> 4 & 1) != 0) {}
  uint32_t character_bytes;
  bool is_compact;
  bool is_ascii;
};

uint32_t CharacterAt(std::span<const std::byte> bytes, size_t index, uint32_t size) {
  uint32_t character = 0;
  std::memcpy(&character, bytes.data() + index * size, size);
  return character;
}

void AppendVisible(uint32_t character, std::string& text) {
  constexpr uint32_t kReplacement = 0xfffd, kMost = 0x10ffff;
  const bool is_surrogate = character >= 0xd800 && character < 0xe000;
  if (character > kMost || is_surrogate) {
    AppendUtf8(kReplacement, text);
  } else if (IsControl(character)) {
    text.push_back('?');
  } else {
    AppendUtf8(character, text);
  }
}

// Location of a dictionary's entries.
struct Entries {
  uint64_t first = 0, count = 0;
  uint64_t size = 0, key = 0;  // size of an entry, and offset of the key in it
};

// Before 3.11: │ references │ table size │ function │ usable │ entries │ table …
std::optional<Entries> OldEntries(uint64_t keys, ProcessMemory& memory) {
  const auto head = memory.Value<std::array<uint64_t, 5>>(keys);
  if (!head) return std::nullopt;
  const uint64_t table = (*head)[1];
  constexpr uint64_t kMostTable = uint64_t{1} << 40;
  if (table == 0 || (table & (table - 1)) != 0 || table > kMostTable) return std::nullopt;
  const uint64_t index_bytes = table <= 0xff         ? 1
                               : table <= 0xffff     ? 2
                               : table <= 0xffffffff ? 4
                                                     : 8;
  return Entries{keys + sizeof(*head) + table * index_bytes, (*head)[4], 3 * kWord, kWord};
}

// Since 3.11: │ references │ log2 of table size, of its bytes, kind │ usable │ entries │ table …
std::optional<Entries> NewEntries(uint64_t keys, ProcessMemory& memory) {
  const auto head = memory.Value<std::array<uint64_t, 4>>(keys);
  if (!head) return std::nullopt;
  const uint64_t log2_bytes = (*head)[1] >> 8 & 0xff;
  const bool has_hashes = ((*head)[1] >> 16 & 0xff) == 0;
  if (log2_bytes > 40) return std::nullopt;
  const uint64_t first = keys + sizeof(*head) + (uint64_t{1} << log2_bytes);
  return has_hashes ? Entries{first, (*head)[3], 3 * kWord, kWord}
                    : Entries{first, (*head)[3], 2 * kWord, 0};
}

}  // namespace

bool Objects::IsOfType(uint64_t object, uint64_t& known, std::string_view name) {
  if (object == 0 || object % kWord != 0) return false;
  const auto type = memory_.Value<uint64_t>(object + layout_.code.object_type);
  if (!type || *type == 0 || *type % kWord != 0) return false;
  if (known != 0) return *type == known;
  const auto address = memory_.Value<uint64_t>(*type + layout_.code.type_name);
  std::array<char, 16> text{};
  if (!address ||
      !memory_.Read(*address, std::as_writable_bytes(std::span(text).first(name.size() + 1)))) {
    return false;
  }
  if (std::string_view(text.data(), name.size() + 1) !=
      std::string_view(name.data(), name.size() + 1)) {
    return false;
  }
  known = *type;
  return true;
}

std::optional<std::string> Objects::Text(uint64_t object, size_t most) {
  if (!IsOfType(object, types_.text, "str")) return std::nullopt;
  const auto length = memory_.Value<uint64_t>(object + layout_.walk.text_length);
  const auto bits = memory_.Value<uint32_t>(object + layout_.code.text_state);
  if (!length || !bits) return std::nullopt;
  const TextState state(*bits >> layout_.code.text_state_shift);
  const uint32_t size = state.character_bytes;
  if (!state.is_compact || (size != 1 && size != 2 && size != 4)) return std::nullopt;
  if (state.is_ascii && size != 1) return std::nullopt;
  const uint64_t start =
      object + (state.is_ascii ? layout_.code.text_ascii_header : layout_.walk.text_bytes);
  const size_t count = std::min<uint64_t>(*length, most);
  std::vector<std::byte> bytes(count * size);
  if (!memory_.Read(start, bytes)) return std::nullopt;
  std::string text;
  text.reserve(count);
  for (size_t i = 0; i < count; ++i) AppendVisible(CharacterAt(bytes, i, size), text);
  if (count < *length) text += "…";
  return text;
}

std::optional<uint64_t> Objects::BytesSize(uint64_t object) {
  if (!IsOfType(object, types_.bytes, "bytes")) return std::nullopt;
  return memory_.Value<uint64_t>(object + layout_.walk.bytes_length);
}

std::optional<std::vector<std::byte>> Objects::Bytes(uint64_t object, size_t most) {
  const auto size = BytesSize(object);
  if (!size || *size > most) return std::nullopt;
  std::vector<std::byte> bytes(*size);
  if (!memory_.Read(object + layout_.walk.bytes_header, bytes)) return std::nullopt;
  return bytes;
}

std::optional<std::string> Objects::ModuleName(uint64_t dictionary) {
  if (!IsOfType(dictionary, types_.dictionary, "dict")) return std::nullopt;
  const auto keys = memory_.Value<uint64_t>(dictionary + layout_.walk.dictionary_keys);
  if (!keys || *keys == 0 || *keys % kWord != 0) return std::nullopt;
  const std::optional<Entries> entries =
      layout_.walk.version < kPython311 ? OldEntries(*keys, memory_) : NewEntries(*keys, memory_);
  if (!entries) return std::nullopt;
  // A module begins with its name. While a dictionary grows, its count of entries is 0, but CPython
  // has cleared or copied them, so the first one can be read.
  constexpr uint64_t kMostEntries = 8;
  for (uint64_t i = 0; i < std::clamp<uint64_t>(entries->count, 1, kMostEntries); ++i) {
    const uint64_t key = entries->first + i * entries->size + entries->key;
    const auto entry = memory_.Value<std::array<uint64_t, 2>>(key);
    if (!entry) return std::nullopt;
    if ((*entry)[0] == 0 || Text((*entry)[0], kModuleNameKey.size() + 1) != kModuleNameKey)
      continue;
    return Text((*entry)[1], kMostModuleName);
  }
  return std::nullopt;
}

}  // namespace profiler::symbolize::python
