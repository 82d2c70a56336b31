// Fuzzes real programs of compilers and linkers with a few changed numbers: in the ELF header and
// its tables, in symbols, relocations and notes, in call frame information and in debug
// information.

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <vector>

#include "src/base/byte_reader.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/names/testing/create_symbolizer.h"
#include "symbolize/symbolizer.h"
#include "tests/fuzz/choices.h"
#include "tests/fuzz/compiled_programs.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/scratch_directory.h"
#include "tests/fuzz/unwind_through.h"

namespace profiler::fuzz {
namespace {

using symbolize::ElfImage;
using symbolize::ElfSection;

// Position and width of a number in the file.
struct Field {
  size_t at = 0;
  size_t width = 1;
};

// Widths of the fields of each ELF structure, in bytes.
constexpr size_t kHeader[] = {4, 1, 1, 1, 1, 8, 2, 2, 4, 8, 8, 8, 4, 2, 2, 2, 2, 2, 2};
constexpr size_t kProgramHeader[] = {4, 4, 8, 8, 8, 8, 8, 8};
constexpr size_t kSectionHeader[] = {4, 4, 8, 8, 8, 8, 4, 4, 8, 8};
constexpr size_t kSymbol[] = {4, 1, 1, 2, 8, 8};
constexpr size_t kRelocation[] = {8, 4, 4, 8};
constexpr size_t kNote[] = {4, 4, 4, 4};

Field FieldOf(std::span<const size_t> widths, size_t start, size_t index) {
  Field field = {start, widths[index]};
  for (size_t i = 0; i < index; ++i) field.at += widths[i];
  return field;
}

class Editor {
 public:
  Editor(Choices& choices, Bytes program) : choices_(choices), bytes_(std::move(program)) {
    const auto image = ElfImage::Parse(bytes_);
    Require(image.ok(), "a compiled program is an ELF file");
    std::memcpy(&header_, bytes_.data(), sizeof(header_));
    for (const ElfSection& section : image->sections()) {
      if (section.contents.empty()) continue;
      const auto at = static_cast<size_t>(section.contents.data() - bytes_.data());
      sections_.push_back({std::string(section.name), section.type, at, section.contents.size()});
    }
  }

  Bytes Edit() {
    for (size_t edits = 1 + choices_.Below(6); edits != 0 && !choices_.ended(); --edits) {
      Put(Choose());
    }
    return std::move(bytes_);
  }

 private:
  struct Section {
    std::string name;
    uint32_t type;
    size_t at, size;
  };

  Field Choose() {
    switch (choices_.Below(10)) {
      case 0:
        return OneIn(kHeader, 0, 1);
      case 1:
        return OneIn(kProgramHeader, header_.e_phoff, header_.e_phnum);
      case 2:
      case 3:
        return OneIn(kSectionHeader, header_.e_shoff, header_.e_shnum);
      case 4:
        return InSection(
            [](const Section& s) { return s.type == SHT_SYMTAB || s.type == SHT_DYNSYM; }, kSymbol,
            sizeof(Elf64_Sym));
      case 5:
        return InSection([](const Section& s) { return s.type == SHT_RELA; }, kRelocation,
                         sizeof(Elf64_Rela));
      case 6:
        return InSection([](const Section& s) { return s.type == SHT_NOTE; }, kNote, 16);
      case 7:
        return InFrames();
      case 8:
        return AnywhereIn([](const Section& s) { return s.name.starts_with(".debug"); });
      default:
        return AnywhereIn([](const Section&) { return true; });
    }
  }

  Field OneIn(std::span<const size_t> widths, size_t start, size_t count) {
    size_t size = 0;
    for (const size_t width : widths) size += width;
    const size_t entry = choices_.Below(count);
    return FieldOf(widths, start + entry * size, choices_.Below(widths.size()));
  }

  template <class Suits>
  const Section* OneOfThese(Suits suits) {
    std::vector<const Section*> suiting;
    for (const Section& section : sections_) {
      if (suits(section)) suiting.push_back(&section);
    }
    return suiting.empty() ? nullptr : choices_.OneOf(suiting);
  }

  template <class Suits>
  Field InSection(Suits suits, std::span<const size_t> widths, size_t size) {
    const Section* const section = OneOfThese(suits);
    if (section == nullptr || section->size < size) return {};
    return OneIn(widths, section->at, section->size / size);
  }

  // Returns a field at any offset in a section. In half of the cases it is in the first 40 bytes,
  // because numbers there control how the section is read.
  template <class Suits>
  Field AnywhereIn(Suits suits) {
    const Section* const section = OneOfThese(suits);
    if (section == nullptr) return {};
    constexpr size_t kFront = 40;
    const size_t reach = choices_.Yes() ? std::min(section->size, kFront) : section->size;
    return {section->at + choices_.Below(reach), size_t{1} << choices_.Below(4)};
  }

  // Returns a field in call frame information: the length or the id of an entry, or any later byte
  // of the entry.
  Field InFrames() {
    const Section* const section = OneOfThese([](const Section& s) {
      return s.name == ".eh_frame" || s.name == ".debug_frame" || s.name == ".eh_frame_hdr";
    });
    if (section == nullptr) return {};
    if (section->name == ".eh_frame_hdr") return {section->at + choices_.Below(section->size), 1};
    std::vector<Field> entries;  // begin and length of each entry
    for (size_t at = 0; at + 8 <= section->size;) {
      uint32_t length = 0;
      std::memcpy(&length, bytes_.data() + section->at + at, sizeof(length));
      if (length < 4 || length > section->size - at - 4) break;
      entries.push_back({section->at + at, length + 4});
      at += length + 4;
    }
    if (entries.empty()) return {};
    const Field& entry = choices_.OneOf(entries);
    const size_t place = choices_.Below(2 + entry.width - 8);
    if (place < 2) return {entry.at + place * 4, 4};
    return {entry.at + 8 + place - 2, 1};
  }

  void Put(const Field& field) {
    if (field.at + field.width > bytes_.size()) return;
    uint64_t number = 0;
    std::memcpy(&number, bytes_.data() + field.at, field.width);
    number = field.width == 1 ? choices_.Byte()
                              : choices_.HardNumber(choices_.Yes() ? number : bytes_.size());
    std::memcpy(bytes_.data() + field.at, &number, field.width);
  }

  Choices& choices_;
  Bytes bytes_;
  Elf64_Ehdr header_{};
  std::vector<Section> sections_;
};

void CheckViews(const ElfImage& image, std::span<const std::byte> file) {
  const auto is_inside = [file](std::span<const std::byte> view) {
    return view.empty() ||
           (view.data() >= file.data() && view.size() <= file.size() &&
            view.data() - file.data() <= static_cast<ptrdiff_t>(file.size() - view.size()));
  };
  for (const ElfSection& section : image.sections()) {
    Require(is_inside(section.contents), "a section's bytes are those of its file");
  }
  Require(is_inside(image.build_id()), "a build-id's bytes are those of its file");
  for (const symbolize::ElfSegment& segment : image.segments()) {
    const auto address = image.AddressOf(segment.offset);
    Require(!address || image.BytesAt(*address, 64).size() <= 64, "no more than was asked for");
    Require(is_inside(image.BytesAt(segment.address, 64)), "a program's bytes are in its file");
  }
}

// Looks up names in sources of names that are not ELF files. WriteOthers() writes these sources.
void NameOthers(symbolize::Symbolizer& symbolizer) {
  using symbolize::ImageKind;
  symbolizer.SetKernelReference("_text", RuntimeAddress{0xffffffff81000000});
  for (const symbolize::ImageSpec& spec : std::vector<symbolize::ImageSpec>{
           {.kind = ImageKind::kKernel, .path = "[kernel.kallsyms]"},
           {.kind = ImageKind::kModule, .path = "[ext4]"},
           {.kind = ImageKind::kJit, .path = "/tmp/perf-7.map", .pid = 7},
           {.kind = ImageKind::kVdso, .path = "[vdso]"}}) {
    const symbolize::ImageId image = symbolizer.AddImage(spec);
    for (const uint64_t place : {uint64_t{0x10010}, uint64_t{0xffffffff81000010}}) {
      if (IsInFile(spec.kind)) {
        (void)symbolizer.Name(image, FileOffset{place});
      } else {
        (void)symbolizer.Name(image, RuntimeAddress{place});
      }
    }
  }
}

void WriteOthers(const ScratchDirectory& directory) {
  directory.Write("tmp/perf-7.map", BytesOfText("10000 1000 jitted\n12000 1000 LazyCompile:f\n"));
  directory.Write("proc/kallsyms", BytesOfText("ffffffff81000000 T _text\n"
                                               "ffffffffc0a31000 t ext4_read\t[ext4]\n"));
}

// Looks up names at some 64 offsets of the file, as a report does.
void CheckNames(std::span<const std::byte> file) {
  static const ScratchDirectory directory;
  directory.Write("image", file);
  WriteOthers(directory);
  symbolize::SymbolizerOptions options;
  options.LookBelow(directory.path());
  const auto symbolizer = symbolize::CreateSymbolizer(options);
  const symbolize::ImageId image = symbolizer->AddImage({.path = "/image"});
  const size_t step = 1 + file.size() / 64;
  for (size_t offset = 0; offset < file.size(); offset += step) {
    const symbolize::Naming naming = symbolizer->Name(image, FileOffset{offset});
    if (naming.reason != symbolize::Reason::kNamed) {
      Require(naming.functions.empty(), "what has no name has no functions");
      continue;
    }
    Require(!naming.functions.empty(), "what has a name has a function");
    const symbolize::NamedFunction& function = naming.functions.back();
    Require(!function.inlined, "the last function has the code");
    if (naming.address && *naming.address >= function.start) {
      Require(naming.address->value - function.start.value == naming.distance,
              "a function's start and the distance lead to the address");
    }
    const symbolize::CodeBytes code =
        symbolizer->CodeAt(image, function.start, std::min<uint64_t>(function.size, 4096));
    Require(code.bytes.size() <= function.size, "no more code than was asked for");
  }
  NameOthers(*symbolizer);
  (void)symbolizer->TakeWarnings();
}

void ReadEdited(std::span<const std::byte> input) {
  static const std::vector<Bytes>& programs = *new std::vector<Bytes>(CompiledPrograms());
  Choices choices(input);
  const Bytes& program = choices.OneOf(programs);
  const uint8_t reader = choices.Byte();
  const Bytes edited = Editor(choices, program).Edit();
  if (reader % 4 == 0) return DebugInfoTarget().run(edited);
  if (reader % 4 == 1) return CheckNames(edited);
  if (reader % 4 == 2) return ElfTarget().run(edited);
  const auto image = ElfImage::Parse(edited);
  if (!image.ok()) return;
  CheckViews(*image, edited);
  // Fills a stack with words that are mostly addresses of code.
  std::array<uint64_t, symbolize::kRegisters> registers{};
  std::array<uint64_t, 64> stack{};
  constexpr uint64_t kStack = 0x7fff0000;
  const ElfSection* const text = image->FindSection(".text");
  const uint64_t code = text == nullptr ? image->entry().value : text->address.value;
  const auto in_code = [&] { return code + choices.Below(0x200); };
  for (uint64_t& word : registers) word = kStack + choices.Byte();
  registers[16] = registers[32] = in_code();
  for (size_t i = 0; i < stack.size(); ++i) {
    stack[i] = choices.Yes() ? in_code() : kStack + 8 * (i + choices.Below(8));
  }
  UnwindThrough(*image, registers, std::as_bytes(std::span(stack)), reader >= 128);
}

// Returns a seed for each pair of a program and a reader. Seeds of every second program contain
// edits; all other seeds contain none.
std::vector<Bytes> EditSeeds() {
  const size_t programs = CompiledPrograms().size();
  std::vector<Bytes> seeds = ProgramsByChance(programs * 4, 120);
  for (size_t i = 0; i < seeds.size(); ++i) {
    seeds[i][0] = static_cast<std::byte>(i / 4);
    seeds[i][1] = static_cast<std::byte>(i % 4);
    if (i % 8 < 4) seeds[i].resize(3);
  }
  return seeds;
}

}  // namespace

FuzzTarget ImageEditsTarget() {
  FuzzTarget target = {"image_edits", "compiled programs with a few changes", ReadEdited,
                       EditSeeds};
  target.is_slow = true;
  return target;
}

}  // namespace profiler::fuzz
