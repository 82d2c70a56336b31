#include "symbolize/v8/heap.h"

#include <algorithm>
#include <vector>

#include "src/base/append_utf8.h"

namespace profiler::symbolize::v8 {
namespace {

// V8 flattens strings that it reads, so chains of references to characters are short.
constexpr int kMostReferences = 8;
// A string may be a tree of strings.
constexpr int kDeepest = 16;
constexpr size_t kMostPieces = 64;
// Length of the longest string, String::kMaxLength of V8.
constexpr uint32_t kLongestString = (uint32_t{1} << 29) - 24;

bool IsHighSurrogate(char16_t c) { return c >= 0xd800 && c < 0xdc00; }
bool IsLowSurrogate(char16_t c) { return c >= 0xdc00 && c < 0xe000; }

// Control characters become spaces.
void AppendVisible(uint32_t c, std::string& text) {
  constexpr uint32_t kSpace = 0x20, kDelete = 0x7f;
  AppendUtf8(c < kSpace || c == kDelete ? kSpace : c, text);
}

std::string Utf8Of(const std::u16string& wide) {
  constexpr uint32_t kReplacement = 0xfffd;
  std::string text;
  for (size_t i = 0; i < wide.size(); ++i) {
    uint32_t c = wide[i];
    if (IsHighSurrogate(wide[i]) && i + 1 < wide.size() && IsLowSurrogate(wide[i + 1])) {
      c = 0x10000 + ((c - 0xd800) << 10) + (wide[++i] - 0xdc00u);
    } else if (IsHighSurrogate(wide[i]) || IsLowSurrogate(wide[i])) {
      c = kReplacement;
    }
    AppendVisible(c, text);
  }
  return text;
}

}  // namespace

std::optional<int64_t> Heap::SmallInteger(Word word) const {
  if ((word & static_cast<uint32_t>(data_.smi_tag_mask)) != static_cast<uint32_t>(data_.smi_tag)) {
    return std::nullopt;
  }
  return static_cast<int64_t>(word) >> data_.smi_shift;
}

std::optional<uint64_t> Heap::AddressOf(Word word) const {
  const auto tag = static_cast<uint32_t>(data_.heap_object_tag);
  if ((word & static_cast<uint32_t>(data_.heap_object_tag_mask)) != tag) return std::nullopt;
  const uint64_t address = word - tag;
  if (address == 0 || address % kWord != 0) return std::nullopt;
  return address;
}

std::optional<Word> Heap::Field(Word object, int32_t offset) {
  const std::optional<uint64_t> address = AddressOf(object);
  if (!address) return std::nullopt;
  return memory_.Value<Word>(*address + static_cast<uint64_t>(int64_t{offset}));
}

std::optional<int32_t> Heap::TypeOf(Word object) {
  const std::optional<Word> map = Field(object, data_.object_map);
  return map ? TypeOfMap(*map) : std::nullopt;
}

std::optional<int32_t> Heap::TypeOfMap(Word map) {
  if (const auto known = types_.find(map); known != types_.end()) return known->second;
  const auto read_type = [&](Word of) -> std::optional<int32_t> {
    const std::optional<uint64_t> address = AddressOf(of);
    if (!address) return std::nullopt;
    return memory_.Value<uint16_t>(*address + static_cast<uint64_t>(data_.map_instance_type));
  };
  const std::optional<Word> map_of_maps = Field(map, data_.object_map);
  if (!map_of_maps || read_type(*map_of_maps) != data_.map_type) return std::nullopt;
  const std::optional<int32_t> type = read_type(map);
  if (!type) return std::nullopt;
  if (types_.size() >= kMostTypes) types_.clear();
  types_[map] = *type;
  return type;
}

bool Heap::IsString(Word object) {
  const std::optional<int32_t> type = TypeOf(object);
  return type && *type < data_.first_nonstring_type;
}

std::optional<Heap::Characters> Heap::CharactersOf(Word string) {
  uint64_t skipped = 0;
  std::optional<uint32_t> length;
  for (int i = 0; i < kMostReferences; ++i) {
    const std::optional<int32_t> type = TypeOf(string);
    const std::optional<uint64_t> address = AddressOf(string);
    if (!type || *type >= data_.first_nonstring_type) return std::nullopt;
    const auto own = memory_.Value<uint32_t>(*address + static_cast<uint64_t>(data_.string_length));
    if (!own || *own > kLongestString) return std::nullopt;
    if (!length) length = *own;
    if (skipped + *length > *own) return std::nullopt;
    const bool are_wide = (*type & data_.encoding_mask) != data_.one_byte_tag;
    const auto found = [&](uint64_t first) {
      return Characters{first + skipped * (are_wide ? 2 : 1), *length, are_wide};
    };
    const int32_t representation = *type & data_.representation_mask;
    std::optional<Word> next;
    if (representation == data_.sequential_tag) {
      return found(*address +
                   static_cast<uint64_t>(are_wide ? data_.two_byte_chars : data_.one_byte_chars));
    }
    if (representation == data_.external_tag) {
      // The resource, followed by the address of the characters (src/objects/string.tq).
      const auto first = Field(string, data_.external_resource + kWord);
      if (!first || *first == 0) return std::nullopt;
      return found(*first);
    }
    if (representation == data_.thin_tag) {
      next = Field(string, data_.thin_actual);
    } else if (representation == data_.sliced_tag) {
      const std::optional<Word> offset = Field(string, data_.sliced_offset);
      const std::optional<int64_t> more = offset ? SmallInteger(*offset) : std::nullopt;
      if (!more || *more < 0 || *more > kLongestString) return std::nullopt;
      skipped += static_cast<uint64_t>(*more);
      next = Field(string, data_.sliced_parent);
    } else if (representation == data_.cons_tag) {
      // A flattened string has all characters in its first part.
      const std::optional<Word> second = Field(string, data_.cons_second);
      if (!second || !IsEmpty(*second)) return std::nullopt;
      next = Field(string, data_.cons_first);
    }
    if (!next) return std::nullopt;
    string = *next;
  }
  return std::nullopt;
}

bool Heap::IsEmpty(Word string) {
  const std::optional<uint64_t> address = AddressOf(string);
  return address && IsString(string) &&
         memory_.Value<uint32_t>(*address + static_cast<uint64_t>(data_.string_length)) == 0u;
}

bool Heap::Append(Word string, size_t most, int depth, size_t* pieces, std::u16string* text) {
  if (text->size() >= most) return true;
  if (depth > kDeepest || ++*pieces > kMostPieces) return false;
  if (const std::optional<Characters> characters = CharactersOf(string)) {
    const size_t count = std::min<size_t>(characters->length, most - text->size());
    std::vector<std::byte> bytes(count * (characters->are_wide ? 2 : 1));
    if (!memory_.Read(characters->address, bytes)) return false;
    for (size_t i = 0; i < count; ++i) {
      const size_t at = characters->are_wide ? 2 * i : i;
      auto c = static_cast<char16_t>(bytes[at]);
      if (characters->are_wide)
        c |= static_cast<char16_t>(static_cast<unsigned>(bytes[at + 1]) << 8);
      text->push_back(c);
    }
    return true;
  }
  const std::optional<int32_t> type = TypeOf(string);
  if (!type || *type >= data_.first_nonstring_type ||
      (*type & data_.representation_mask) != data_.cons_tag) {
    return false;
  }
  const std::optional<Word> first = Field(string, data_.cons_first);
  const std::optional<Word> second = Field(string, data_.cons_second);
  return first && second && Append(*first, most, depth + 1, pieces, text) &&
         Append(*second, most, depth + 1, pieces, text);
}

std::optional<std::string> Heap::Text(Word string, size_t most) {
  std::u16string text;
  size_t pieces = 0;
  if (!Append(string, most, 0, &pieces, &text)) return std::nullopt;
  return Utf8Of(text);
}

}  // namespace profiler::symbolize::v8
