#include "symbolize/go/table/functions.h"

#include <elf.h>
#include <gelf.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "src/base/byte_reader.h"
#include "symbolize/elf/libelf_file.h"

namespace profiler::symbolize {

// Version   magic        entry of a function           its record
// 1.16      0xfffffffa   start, offset: 8 bytes each   start (8), name, …, frame sizes, …, id,
//                                                      flags
// 1.18      0xfffffff0   4 bytes each, start counted   start (4), name, …, frame sizes, …, id,
//                        from the start of all code    flags
// 1.20      0xfffffff1   as in 1.18                    as in 1.18, the function's line before id
struct GoFunctions::Layout {
  uint32_t magic;
  bool has_text_start;  // true if the header has the start address of all code
  size_t word;          // size of each number in an entry
  size_t name, frame_sizes, flags;
};

// Numbers that are stored in the header, after its first 8 bytes.
struct GoFunctions::Header {
  uint64_t functions, text_start, names, pc_tables, entries;
};

namespace {

constexpr std::array<std::string_view, 2> kSections = {".gopclntab", ".data.rel.ro.gopclntab"};
// In position-independent programs that contain C, GNU ld merges the table into kMergedSection. The
// table then starts somewhere inside this section, at a multiple of kAlignment. If the program has
// the section kMarkOfGo, it is a Go program.
constexpr std::string_view kMergedSection = ".data.rel.ro", kMarkOfGo = ".go.buildinfo";
constexpr size_t kAlignment = 32;
// Largest number of functions: ten times as many as the largest programs have.
constexpr uint64_t kMostFunctions = 1 << 22;
constexpr int kMostRelocations = 1 << 22;
// Largest number of entries that are read from the pc table of one function.
constexpr uint64_t kMostSteps = 1 << 16;
constexpr uint8_t kTopFrame = 1, kWritesStackPointer = 2;
constexpr std::array<std::string_view, 4> kOutermost = {"runtime.goexit", "runtime.mstart",
                                                        "runtime.rt0_go", "runtime.mcall"};
constexpr uint64_t kTextStartOffset = 24;
// kModuleText is the offset in runtime.moduledata at which the start address of all code is stored.
// In front of it are the table's address, 19 other words, the start of the first function and the
// end of the last function.
constexpr std::string_view kModuleSection = ".go.module";
constexpr uint64_t kModuleText = 22 * sizeof(uint64_t);

bool IsOutermost(std::string_view name) {
  // The assembler appends ".abi0" to functions with the older calling convention.
  if (name.ends_with(".abi0")) name.remove_suffix(5);
  return std::find(kOutermost.begin(), kOutermost.end(), name) != kOutermost.end();
}

uint64_t ReadVarint(ByteReader& reader) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const auto byte = reader.Read<uint8_t>();
    value |= uint64_t{byte & 0x7fu} << shift;
    if ((byte & 0x80) == 0) return value;
  }
  reader.Fail();
  return 0;
}

bool IsInCode(const ElfImage& image, uint64_t address) {
  return std::any_of(image.segments().begin(), image.segments().end(), [&](const auto& segment) {
    return segment.executable && address - segment.address.value < segment.memory_size;
  });
}

// Returns the value that the dynamic linker would write at `address`. In the file of a
// position-independent program, the word itself is zero.
std::optional<uint64_t> RelocatedWord(const ElfImage& image, uint64_t address) {
  const LibelfFile file(image.bytes());
  for (const ElfSection& section : image.sections()) {
    if (section.type != SHT_RELA || (section.flags & SHF_ALLOC) == 0) continue;
    Elf_Data* const table = file.Table(section.contents, ELF_T_RELA);
    GElf_Rela entry;
    for (int i = 0; i < kMostRelocations && gelf_getrela(table, i, &entry) != nullptr; ++i) {
      if (entry.r_offset == address) return static_cast<uint64_t>(entry.r_addend);
    }
  }
  return std::nullopt;
}

// Returns the word at `offset` of a section as it is in the memory of a program that was loaded at
// its link address.
std::optional<uint64_t> WordIn(const ElfImage& image, const ElfSection& section, uint64_t offset) {
  ByteReader reader(section.contents);
  reader.Skip(offset);
  const auto word = reader.Read<uint64_t>();
  if (reader.ok() && word != 0) return word;
  return RelocatedWord(image, section.address.value + offset);
}

// Returns the base of function starts. Since version 1.26 the header has no base, but
// runtime.moduledata has one. In a program linked by GNU ld, C code precedes the Go code, so the
// start of .text is only a last resort.
uint64_t TextStart(const ElfImage& image, uint64_t said, ElfAddress table) {
  if (IsInCode(image, said)) return said;
  const auto relocated = RelocatedWord(image, table.value + kTextStartOffset);
  if (relocated && IsInCode(image, *relocated)) return *relocated;
  const ElfSection* const module = image.FindSection(kModuleSection);
  if (module != nullptr && WordIn(image, *module, 0) == table.value) {
    const auto text = WordIn(image, *module, kModuleText);
    if (text && IsInCode(image, *text)) return *text;
  }
  const ElfSection* const text = image.FindSection(".text");
  return text == nullptr ? 0 : text->address.value;
}

}  // namespace

std::optional<GoFunctions> GoFunctions::Find(const ElfImage& image) {
  if (!image.is_64_bit()) return std::nullopt;
  for (const std::string_view name : kSections) {
    if (const ElfSection* const section = image.FindSection(name)) {
      return Read(image, section->address, section->contents);
    }
  }
  const ElfSection* const merged = image.FindSection(kMergedSection);
  if (merged == nullptr || image.FindSection(kMarkOfGo) == nullptr) return std::nullopt;
  const std::span<const std::byte> all = merged->contents;
  for (size_t at = -merged->address.value % kAlignment; at < all.size(); at += kAlignment) {
    if (const auto table = Read(image, {merged->address.value + at}, all.subspan(at))) return table;
  }
  return std::nullopt;
}

// Reads the table at the start of `all`, if there is one.
std::optional<GoFunctions> GoFunctions::Read(const ElfImage& image, ElfAddress address,
                                             std::span<const std::byte> all) {
  static constexpr std::array kLayouts = {
      Layout{0xfffffffa, false, 8, 8, 20, 41},
      Layout{0xfffffff0, true, 4, 4, 16, 37},
      Layout{0xfffffff1, true, 4, 4, 16, 41},
  };
  ByteReader reader(all);
  const auto magic = reader.Read<uint32_t>();
  const auto layout = std::find_if(kLayouts.begin(), kLayouts.end(),
                                   [magic](const Layout& l) { return l.magic == magic; });
  if (layout == kLayouts.end()) return std::nullopt;
  reader.Skip(2);
  const auto quantum = reader.Read<uint8_t>();
  const auto word_size = reader.Read<uint8_t>();
  if (word_size != sizeof(uint64_t)) return std::nullopt;

  Header header{};
  header.functions = reader.Read<uint64_t>();
  reader.Read<uint64_t>();  // skips the number of files
  if (layout->has_text_start) header.text_start = reader.Read<uint64_t>();
  header.names = reader.Read<uint64_t>();
  reader.Read<uint64_t>();  // skips the offset of compilation units
  reader.Read<uint64_t>();  // skips the offset of file names
  header.pc_tables = reader.Read<uint64_t>();
  header.entries = reader.Read<uint64_t>();
  const bool is_inside = reader.ok() && header.names <= all.size() &&
                         header.pc_tables <= all.size() && header.entries <= all.size();
  if (!is_inside || header.functions > kMostFunctions) return std::nullopt;

  GoFunctions table;
  table.layout_ = &*layout;
  table.names_ = all.subspan(header.names);
  table.pc_tables_ = all.subspan(header.pc_tables);
  table.functions_ = all.subspan(header.entries);
  table.count_ = header.functions;
  table.quantum_ = quantum;
  if ((2 * table.count_ + 1) * layout->word > table.functions_.size()) return std::nullopt;
  if (layout->has_text_start) {
    table.text_ = TextStart(image, header.text_start, address);
  }
  return table;
}

// Reads a number from the list of functions: for `word` 0 the function's start, for `word` 1 the
// offset of its record. The entry after the last function has the end of that function.
uint64_t GoFunctions::EntryWord(size_t index, size_t word) const {
  uint64_t value = 0;
  std::memcpy(&value, functions_.data() + (2 * index + word) * layout_->word, layout_->word);
  return value;
}

uint64_t GoFunctions::StartOf(size_t index) const { return text_ + EntryWord(index, 0); }

std::optional<GoFunction> GoFunctions::operator[](size_t index) const {
  if (index >= count_) return std::nullopt;
  const uint64_t record = EntryWord(index, 1);
  const uint64_t start = StartOf(index), end = StartOf(index + 1);
  if (record > functions_.size() || end <= start) return std::nullopt;
  const auto field = [&]<class T>(size_t offset, T* value) {
    ByteReader reader(functions_.subspan(record));
    reader.Skip(offset);
    *value = reader.Read<T>();
    return reader.ok();
  };
  GoFunction function{{start}, end - start};
  uint8_t flags = 0;
  const bool is_whole = field(layout_->name, &function.name_offset) &&
                        field(layout_->frame_sizes, &function.frame_sizes) &&
                        field(layout_->flags, &flags);
  if (!is_whole) return std::nullopt;
  function.name = StringAt(names_, function.name_offset);
  // Go's own stack traces end at a signal handler, so Go marks it as outermost. Unwinding continues
  // to the interrupted function.
  const bool handles_signal = function.name.starts_with("runtime.sigtramp");
  function.is_outermost =
      ((flags & kTopFrame) != 0 && !handles_signal) || IsOutermost(function.name);
  function.switches_stack = (flags & kWritesStackPointer) != 0;
  return function;
}

std::optional<GoFunction> GoFunctions::At(ElfAddress instruction) const {
  size_t first = 0, last = count_;
  while (first < last) {
    const size_t middle = first + (last - first) / 2;
    if (StartOf(middle) <= instruction.value) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  if (first == 0) return std::nullopt;
  const std::optional<GoFunction> function = (*this)[first - 1];
  const bool holds = function && instruction >= function->start &&
                     instruction.value - function->start.value < function->size;
  return holds ? function : std::nullopt;
}

// The pc table is a list of pairs. The first number is the change of the value, with its sign in
// the lowest bit. The second number is the length of the code that has the new value, in
// instructions or bytes. A change of 0 ends the table.
std::optional<uint64_t> GoFunctions::FrameSize(const GoFunction& function, ElfAddress instruction,
                                               uint64_t* steps) const {
  if (function.frame_sizes == 0 || function.frame_sizes >= pc_tables_.size()) return std::nullopt;
  ByteReader reader(pc_tables_.subspan(function.frame_sizes));
  int64_t size = -1;
  uint64_t end = function.start.value;
  for (uint64_t i = 0; i < kMostSteps && reader.ok(); ++i) {
    ++*steps;
    const uint64_t change = ReadVarint(reader);
    if (change == 0 && i != 0) break;
    const auto half = static_cast<int64_t>(change >> 1);
    size += (change & 1) != 0 ? ~half : half;
    end += ReadVarint(reader) * quantum_;
    constexpr int64_t kMostFrame = int64_t{1} << 30;
    if (!reader.ok() || size < -1 || size > kMostFrame) break;
    if (instruction.value < end) {
      return size < 0 ? std::nullopt : std::optional(static_cast<uint64_t>(size));
    }
  }
  return std::nullopt;
}

}  // namespace profiler::symbolize
