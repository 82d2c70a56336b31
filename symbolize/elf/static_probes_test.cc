#include "symbolize/elf/static_probes.h"

#include <elf.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "src/base/byte_reader.h"
#include "symbolize/elf/testing/elf_classes.h"

namespace profiler::symbolize {
namespace {

template <class T>
std::string Raw(const T& value) {
  return std::string(TextOf(BytesOf(value)));
}

std::string Note(std::string_view owner, uint32_t type, const std::string& contents) {
  const auto padded = [](std::string text) {
    text.resize((text.size() + 3) / 4 * 4);
    return text;
  };
  const Elf64_Nhdr header = {.n_namesz = static_cast<uint32_t>(owner.size() + 1),
                             .n_descsz = static_cast<uint32_t>(contents.size()),
                             .n_type = type};
  return Raw(header) + padded(std::string(owner) + '\0') + padded(contents);
}

// Returns the note of a probe. `texts` are its strings, separated by '|'.
template <class Word>
std::string ProbeNote(Word location, Word base, Word semaphore, std::string texts) {
  for (char& c : texts) c = c == '|' ? '\0' : c;
  return Note("stapsdt", 3, Raw(location) + Raw(base) + Raw(semaphore) + texts + '\0');
}

// Returns an ELF file with the notes. `base` is the address of .stapsdt.base; 0: there is none.
template <class Classes>
std::string ElfOf(const std::string& notes, uint64_t base = 0) {
  using Ehdr = typename Classes::Ehdr;
  using Shdr = typename Classes::Shdr;
  const std::string names("\0.note.stapsdt\0.stapsdt.base\0", 29);
  Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = Classes::kClass;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_ehsize = sizeof(Ehdr);
  header.e_shoff = sizeof(Ehdr);
  header.e_shentsize = sizeof(Shdr);
  header.e_shnum = 4;
  header.e_shstrndx = 3;
  Shdr section = {}, base_section = {}, strings = {};
  section.sh_name = 1;
  section.sh_type = SHT_NOTE;
  section.sh_offset = sizeof(Ehdr) + 4 * sizeof(Shdr);
  section.sh_size = notes.size();
  base_section.sh_name = base == 0 ? 0 : 15;
  base_section.sh_type = SHT_NOBITS;
  base_section.sh_addr = base;
  strings.sh_type = SHT_STRTAB;
  strings.sh_offset = section.sh_offset + notes.size();
  strings.sh_size = names.size();
  return Raw(header) + Raw(Shdr{}) + Raw(section) + Raw(base_section) + Raw(strings) + notes +
         names;
}

// Returns one line per probe: "libc:setjmp at 0x10 semaphore 0x20 (-4@%edi)".
std::string Probes(const std::string& file) {
  const auto image = ElfImage::Parse(BytesOfText(file));
  if (!image.ok()) return image.status().ToString();
  std::vector<std::string> lines;
  for (const StaticProbe& probe : ReadStaticProbes(*image)) {
    std::string& line = lines.emplace_back(absl::StrCat(
        std::string(probe.provider), ":", std::string(probe.name), " at ", probe.location.value));
    if (probe.semaphore) absl::StrAppend(&line, " semaphore ", probe.semaphore->value);
    if (!probe.arguments.empty()) absl::StrAppend(&line, " (", std::string(probe.arguments), ")");
  }
  return absl::StrJoin(lines, "\n");
}

TEST(StaticProbesTest, EachNoteIsAProbe) {
  EXPECT_EQ(Probes(ElfOf<Elf64Types>(ProbeNote<uint64_t>(1000, 0, 0, "libc|setjmp|8@%rdi -4@%esi") +
                                     Note("GNU", 3, "someone else's note") +
                                     Note("stapsdt", 4, "another version") +
                                     ProbeNote<uint64_t>(2000, 0, 3000, "python|gc__done|"))),
            "libc:setjmp at 1000 (8@%rdi -4@%esi)\n"
            "python:gc__done at 2000 semaphore 3000");
  EXPECT_EQ(Probes(ElfOf<Elf32Types>(ProbeNote<uint32_t>(1000, 0, 2000, "libc|setjmp|"))),
            "libc:setjmp at 1000 semaphore 2000");
  EXPECT_EQ(Probes(ElfOf<Elf64Types>("")), "");
}

TEST(StaticProbesTest, AddressesMoveWithAPrelinkedFile) {
  const std::string notes = ProbeNote<uint64_t>(1000, 500, 2000, "p|moved|") +
                            ProbeNote<uint64_t>(1000, 500, 0, "p|ready|");
  EXPECT_EQ(Probes(ElfOf<Elf64Types>(notes, 500)),
            "p:moved at 1000 semaphore 2000\np:ready at 1000");
  EXPECT_EQ(Probes(ElfOf<Elf64Types>(notes, 100500)),
            "p:moved at 101000 semaphore 102000\np:ready at 101000");
  EXPECT_EQ(Probes(ElfOf<Elf64Types>(notes)), "p:moved at 1000 semaphore 2000\np:ready at 1000");
}

TEST(StaticProbesTest, ACutNoteIsNoProbe) {
  const std::string first = ProbeNote<uint64_t>(1000, 0, 0, "p|first|");
  const std::string second = ProbeNote<uint64_t>(2000, 0, 0, "p|second|ab");
  for (size_t size = 0; size < second.size(); ++size) {
    EXPECT_EQ(Probes(ElfOf<Elf64Types>(first + second.substr(0, size))), "p:first at 1000") << size;
  }
  EXPECT_EQ(Probes(ElfOf<Elf64Types>(first + second)), "p:first at 1000\np:second at 2000 (ab)");
}

TEST(StaticProbesTest, ANameThatNobodyCouldTypeIsNoProbe) {
  EXPECT_EQ(
      Probes(ElfOf<Elf64Types>(
          ProbeNote<uint64_t>(1, 0, 0, "p|\033[2J|") + ProbeNote<uint64_t>(1, 0, 0, "|name|") +
          ProbeNote<uint64_t>(1, 0, 0, "p||") + ProbeNote<uint64_t>(1, 0, 0, "p|name") +
          ProbeNote<uint64_t>(1, 0, 0, std::string(129, 'p') + "|n|") +
          ProbeNote<uint64_t>(7, 0, 0, "p|name|\033"))),
      "p:name at 7 (\033)");
}

TEST(StaticProbesTest, AFileHasAtMost65536Probes) {
  std::string notes;
  const std::string note = ProbeNote<uint64_t>(1, 0, 0, "p|n|");
  for (int i = 0; i < 70000; ++i) notes += note;
  const std::string file = ElfOf<Elf64Types>(notes);
  EXPECT_EQ(ReadStaticProbes(*ElfImage::Parse(BytesOfText(file))).size(), 65536u);
}

}  // namespace
}  // namespace profiler::symbolize
