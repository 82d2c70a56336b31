// Reads objects of V8's heap while the process runs:
//
//   word ──▶ object │ map ──▶ │ its own map, a map of maps │ … │ instance type │ …
//                   │ field   │
//                   │ field   │ a word each
//
// A garbage collector may move objects at any time, and the process is not trusted: the type of an
// object is checked before its fields are read, and all reads are bounded.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "symbolize/process_memory.h"
#include "symbolize/v8/metadata.h"

namespace profiler::symbolize::v8 {

// A word of an object or a stack: a small integer, or a tagged address.
using Word = uint64_t;

class Heap {
 public:
  // Both arguments must outlive this object.
  Heap(ProcessMemory& memory, const Metadata& data) : memory_(memory), data_(data) {}

  const Metadata& metadata() const { return data_; }
  // Forgets types of maps, and marks kept memory to be read again.
  void Refresh() {
    types_.clear();
    memory_.Refresh();
  }
  // Makes later reads see current memory.
  void ReadAnew() { memory_.Forget(); }
  // Returns the time, like ProcessMemory::Now.
  uint64_t Now() { return memory_.Now(); }

  // Returns the value of a small integer; empty if the word is none.
  std::optional<int64_t> SmallInteger(Word word) const;
  // Returns the address of the object; empty if the word is no (strong) reference to an object.
  std::optional<uint64_t> AddressOf(Word word) const;
  // Returns the object's instance type; empty if it is no object with a valid map.
  std::optional<int32_t> TypeOf(Word object);
  // Returns the instance type of objects with this map.
  std::optional<int32_t> TypeOfMap(Word map);
  bool IsOfType(Word object, int32_t type) { return TypeOf(object) == type; }
  bool IsString(Word object);
  // Returns a field of any object.
  std::optional<Word> Field(Word object, int32_t offset);

  // Returns at most `most` characters of a string in UTF-8, with control characters replaced. Empty
  // if it is no string or has too many pieces.
  std::optional<std::string> Text(Word string, size_t most);

  // The location of a string's characters, if they are contiguous.
  struct Characters {
    uint64_t address = 0;
    uint32_t length = 0;
    bool are_wide = false;  // UTF-16, else Latin-1
  };
  std::optional<Characters> CharactersOf(Word string);

  bool Read(uint64_t address, std::span<std::byte> bytes) { return memory_.Read(address, bytes); }

 private:
  bool IsEmpty(Word string);
  bool Append(Word string, size_t most, int depth, size_t* pieces, std::u16string* text);

  // Largest number of cached types; some hundred maps are in use.
  static constexpr size_t kMostTypes = 4096;

  PagedMemory memory_;
  const Metadata& data_;
  absl::flat_hash_map<Word, int32_t> types_;
};

}  // namespace profiler::symbolize::v8
