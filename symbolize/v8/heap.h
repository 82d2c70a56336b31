// Objects of V8's heap in a process that runs on meanwhile:
//
//   word ──▶ object │ map ──▶ │ its own map, a map of maps │ … │ instance type │ …
//                   │ field   │
//                   │ field   │ a word each
//
// A collector may move them at any time, and the process may write what it likes: each object is
// asked for its type before anything else is read of it, and what is read is bounded.

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

// As objects and stacks have it: a small integer, or a tagged address.
using Word = uint64_t;

class Heap {
 public:
  // Both must outlive it.
  Heap(ProcessMemory& memory, const Metadata& data) : memory_(memory), data_(data) {}

  const Metadata& metadata() const { return data_; }
  // Which map says what was kept: it has to be asked for again.
  void Refresh() {
    types_.clear();
    memory_.Refresh();
  }
  // What is read from here on is as it is now.
  void ReadAnew() { memory_.Forget(); }
  // As ProcessMemory has it.
  uint64_t Now() { return memory_.Now(); }

  // Nothing of what is no small integer.
  std::optional<int64_t> SmallInteger(Word word) const;
  // Nothing of what is no (strong) reference to an object.
  std::optional<uint64_t> AddressOf(Word word) const;
  // The object's instance type; nothing where there is no object whose map is one.
  std::optional<int32_t> TypeOf(Word object);
  // The same of the object that has this map.
  std::optional<int32_t> TypeOfMap(Word map);
  bool IsOfType(Word object, int32_t type) { return TypeOf(object) == type; }
  bool IsString(Word object);
  // Of an object, whatever it is.
  std::optional<Word> Field(Word object, int32_t offset);

  // At most `most` characters of a string, as UTF-8 without control characters. Nothing where it is
  // none, or is put together of very many.
  std::optional<std::string> Text(Word string, size_t most);

  // Where the characters of a string are, if they are in one place.
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

  // Of maps; some hundred are in use.
  static constexpr size_t kMostTypes = 4096;

  PagedMemory memory_;
  const Metadata& data_;
  absl::flat_hash_map<Word, int32_t> types_;
};

}  // namespace profiler::symbolize::v8
