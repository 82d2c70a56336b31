// Programs whose ELF files have false headers, symbols and notes.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "gmock/gmock.h"
#include "src/base/build_id.h"
#include "src/base/unique_fd.h"
#include "symbolize/elf/elf_image.h"
#include "tests/hostile/compressed.h"
#include "tests/hostile/hostile_elf.h"
#include "tests/hostile/scene.h"

namespace profiler::tests {
namespace {

constexpr uint64_t kGigabyte = uint64_t{1} << 30;

// Starts an attacker that spins in the code of `elf`.
void SpinIn(Scene& scene, const HostileElf& elf) {
  const std::string path = scene.File("evil.so");
  elf.Write(path);
  scene.GiveAway(path);
  scene.attackers().SpinIn(path);
}

// Returns an attack by an ELF file. The file has valid call frame information, then `sections`.
auto With(std::vector<HostileSection> sections) {
  return [sections = std::move(sections)](Scene& scene) {
    HostileElf elf;
    elf.AddFrames();
    for (const HostileSection& section : sections) elf.Add(section);
    SpinIn(scene, elf);
  };
}

auto Lying(HostileElf::Lie lie) {
  return [lie = std::move(lie)](Scene& scene) {
    SpinIn(scene, HostileElf().AddFrames().AddSymbols().Lying(lie));
  };
}

// Like Lying(). The file also ends with a hole, so that tables of gigabytes lie inside the file.
auto LyingInHole(uint64_t hole, HostileElf::Lie lie) {
  return [hole, lie = std::move(lie)](Scene& scene) {
    SpinIn(scene,
           HostileElf().AddFrames().AddSymbols().Add({.name = "hole", .hole = hole}).Lying(lie));
  };
}

HostileSection Compressed(std::string name, std::vector<std::byte> bytes) {
  return {.name = std::move(name), .bytes = std::move(bytes), .flags = SHF_COMPRESSED};
}

// Claims `count` sections in the first section header, where ELF stores large counts.
void ClaimSections(uint64_t count, Elf64_Ehdr& header, std::vector<Elf64_Shdr>& sections) {
  header.e_shnum = 0;
  sections[0].sh_size = count;
}

std::vector<Elf64_Phdr> ManySegments(size_t count, uint64_t step) {
  std::vector<Elf64_Phdr> segments;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t start = 0x10000000 + i * step;
    segments.push_back({.p_type = PT_LOAD,
                        .p_flags = PF_R | PF_X,
                        .p_offset = start,
                        .p_vaddr = start,
                        .p_paddr = start,
                        .p_filesz = 0x1000,
                        .p_memsz = 0x1000,
                        .p_align = 0x1000});
  }
  return segments;
}

void TruncateAndRestore(Scene& scene) {
  const std::string path = scene.File("evil.so");
  HostileElf().AddFrames().AddSymbols().Write(path);
  scene.GiveAway(path);
  scene.attackers().Start([&](const auto& ready) {
    std::ifstream in(path, std::ios::binary);
    const std::string whole((std::istreambuf_iterator<char>(in)), {});
    ready();
    for (;;) {
      // Starts a process that runs in the file. When the file is truncated, the process dies.
      const pid_t pid = fork();
      if (pid == 0) SpinAt(MapCode(path));
      usleep(20'000);
      if (truncate(path.c_str(), 0) != 0) _exit(126);
      usleep(2'000);
      WriteAs(path, whole);
      waitpid(pid, nullptr, 0);
    }
  });
}

void RewriteInPlace(Scene& scene) {
  const std::string path = scene.File("evil.so");
  HostileElf().AddFrames().AddSymbols().Write(path);
  scene.GiveAway(path);
  scene.attackers().Start([&](const auto& ready) {
    if (fork() == 0) {
      ready();  // closes the pipe's end of this child, too
      SpinAt(MapCode(path));
    }
    const UniqueFd file(open(path.c_str(), O_RDWR | O_CLOEXEC));
    std::string page(0x1000, '\0');
    if (pread(file.get(), page.data(), page.size(), 0x2000) < 0) _exit(126);
    ready();
    for (uint64_t state = 1;; state = state * 6364136223846793005u + 1442695040888963407u) {
      page[state >> 52] = static_cast<char>(state >> 40);
      if (pwrite(file.get(), page.data(), page.size(), 0x2000) < 0) _exit(126);
    }
  });
}

// Spins in a file that has the victim's build-id but other symbol names than the victim.
void TakeBuildIdOfVictim(Scene& scene) {
  scene.ForgetNames();
  const std::string exe = "/proc/" + std::to_string(scene.victim()) + "/exe";
  std::ifstream in(exe, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  const auto bytes = BytesOf(whole);
  const auto image = symbolize::ElfImage::Parse(bytes);
  ASSERT_TRUE(image.ok()) << image.status();
  ASSERT_FALSE(image->build_id().empty());
  SpinIn(scene,
         HostileElf().AddBuildId(image->build_id()).AddFrames().AddSymbolsNamed({"evil_twin"}));
}

// Spins in a file with 200,000 symbols. Their names are parts of one long text: each name begins
// one byte after the previous name.
void SymbolsThatShareALongName(Scene& scene) {
  constexpr size_t kSymbols = 200'000, kName = size_t{16} << 20;
  std::vector<std::byte> symbols(sizeof(Elf64_Sym) * kSymbols);
  for (size_t i = 1; i < kSymbols; ++i) {
    const Elf64_Sym symbol{.st_name = static_cast<Elf64_Word>(i),
                           .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                           .st_other = 0,
                           .st_shndx = 1,
                           .st_value = kSpin,
                           .st_size = 16};
    std::memcpy(&symbols[i * sizeof(symbol)], &symbol, sizeof(symbol));
  }
  HostileElf elf;
  elf.AddFrames();
  elf.Add({.name = ".symtab",
           .bytes = std::move(symbols),
           .type = SHT_SYMTAB,
           .link = elf.next_index() + 1,
           .entry_size = sizeof(Elf64_Sym)});
  elf.Add({.name = ".strtab", .bytes = BytesOf(std::string(kName, 'e')), .type = SHT_STRTAB});
  SpinIn(scene, elf);
}

// Returns a name whose demangled form doubles in length `times` times.
std::string DoublingName(int times) {
  std::string name = "_Z1f";
  std::string type = "1aIiiE";
  for (int i = 0; i < times; ++i) {
    type = "1bI" + type +
           (i == 0 ? "S_" : "S" + std::string(1, static_cast<char>('0' + i % 10)) + "_") + "E";
  }
  return name + type;
}

// Maps a file under many names, so that the recorder has to open each of them.
void MapLinks(Scene& scene, const HostileElf& elf, int links) {
  const std::string path = scene.File("evil.so");
  elf.Write(path);
  scene.GiveAway(path);
  const std::vector<std::string> names = Scene::Links(path, links);
  scene.attackers().Start([&](const auto& ready) {
    for (const std::string& name : names) {
      if (MapCode(name) == nullptr) _exit(126);
    }
    ready();
    SpinAt(MapCode(path));
  });
}

// Returns a file with `count` empty section headers, which are a hole in the file.
HostileElf ElfOfSections(uint64_t count) {
  std::vector<std::byte> first(sizeof(Elf64_Shdr));
  const Elf64_Shdr header{.sh_size = count};
  std::memcpy(first.data(), &header, sizeof(header));
  HostileElf elf;
  elf.AddFrames().AddSymbols();
  const uint64_t at = elf.next_offset();
  elf.Add({.name = "headers", .bytes = first, .hole = count * sizeof(Elf64_Shdr)});
  elf.Lying([at](Elf64_Ehdr& lying, auto&) {
    lying.e_shnum = 0;
    lying.e_shoff = at;
  });
  return elf;
}

HostileSection Note(uint32_t name_size, uint32_t size, uint64_t hole) {
  const Elf64_Nhdr header{name_size, size, NT_GNU_BUILD_ID};
  std::vector<std::byte> bytes(sizeof(header));
  std::memcpy(bytes.data(), &header, sizeof(header));
  for (const char c : {'G', 'N', 'U', '\0'}) bytes.push_back(static_cast<std::byte>(c));
  return {.name = ".note.gnu.build-id", .bytes = bytes, .hole = hole, .type = SHT_NOTE};
}

}  // namespace

std::vector<LiveCase> ElfCases() {
  using enum Runs;
  return {
      {"ASymbolTableOfGigabytes", kAlways,
       With({{.name = ".symtab",
              .hole = 6 * kGigabyte,
              .type = SHT_SYMTAB,
              .link = 4,
              .entry_size = 24},
             {.name = ".strtab", .bytes = BytesOf("evil"), .type = SHT_STRTAB}})},
      {"AStringTableOfGigabytes", kWithAll,
       [](Scene& scene) {
         SpinIn(scene,
                HostileElf()
                    .AddFrames()
                    .AddSymbolsNamed({"evil"})
                    .Add({.name = "hole", .hole = 4 * kGigabyte})
                    .Lying([](auto&, auto& sections) { sections[4].sh_size = 4 * kGigabyte; }));
       }},
      {"ADynamicSymbolTableOfGigabytes", kWithAll,
       With({{.name = ".dynsym",
              .hole = 4 * kGigabyte,
              .type = SHT_DYNSYM,
              .link = 4,
              .entry_size = 24},
             {.name = ".dynstr", .bytes = BytesOf("evil"), .type = SHT_STRTAB}})},
      {"SymbolsOfEntrySizeZero", kWithAll,
       With({{.name = ".symtab", .hole = kGigabyte, .type = SHT_SYMTAB, .link = 4, .entry_size = 0},
             {.name = ".strtab", .type = SHT_STRTAB}})},
      {"ADebugDataOfGigabytes", kWithAll,
       With({{.name = ".gnu_debugdata", .hole = 4 * kGigabyte}})},
      {"NotesOfGigabytes", kWithAll, With({Note(4, 20, 4 * kGigabyte), Note(4, 0, 4 * kGigabyte)})},
      {"ABuildIdWithoutEnd", kWithAll, With({Note(4, 0xffffffff, 0)})},
      {"ANoteWhoseNameHasNoEnd", kWithAll, With({Note(0xffffffff, 0xffffffff, 64)})},
      {"ABuildIdOfMegabytes", kAlways,
       [](Scene& scene) {
         SpinIn(scene, HostileElf()
                           .AddBuildId(std::vector<std::byte>(size_t{8} << 20, std::byte{7}))
                           .AddFrames()
                           .AddSymbols());
       }},
      {"TheBuildIdOfTheVictim", kAlways, TakeBuildIdOfVictim},
      {"SectionsUpToSixteenBits", kWithAll,
       Lying([](Elf64_Ehdr& header, auto&) { header.e_shnum = 0xfeff; })},
      {"SectionsUpToThirtyTwoBits", kWithAll,
       LyingInHole(8 * kGigabyte,
                   [](Elf64_Ehdr& header, std::vector<Elf64_Shdr>& sections) {
                     ClaimSections((uint64_t{1} << 32) - 1, header, sections);
                   })},
      {"SectionHeadersThatAreAHole", kWithAll,
       [](Scene& scene) { SpinIn(scene, ElfOfSections(uint64_t{60} << 20)); }},
      {"AMillionSections", kWithAll, [](Scene& scene) { SpinIn(scene, ElfOfSections(1'040'000)); }},
      {"ManyImagesOfSections", kAlways,
       [](Scene& scene) { MapLinks(scene, ElfOfSections(60'000), 200); }},
      {"ManyImagesOfSegments", kWithAll,
       [](Scene& scene) {
         HostileElf elf;
         elf.AddFrames().AddSymbols().Segments(ManySegments(65'000, 0x1000));
         MapLinks(scene, elf, 400);
       }},
      {"SectionHeadersInACode", kWithAll,
       Lying([](Elf64_Ehdr& header, auto&) { header.e_shoff = kCode; })},
      {"OffsetsPastTheEnd", kWithAll,
       Lying([](Elf64_Ehdr& header, std::vector<Elf64_Shdr>& sections) {
         header.e_phoff = ~uint64_t{0} - 8;
         for (Elf64_Shdr& section : sections)
           section.sh_offset = ~uint64_t{0} - section.sh_size / 2;
       })},
      {"NamesOfSectionsPastTheEnd", kWithAll,
       Lying([](Elf64_Ehdr& header, std::vector<Elf64_Shdr>& sections) {
         header.e_shstrndx = 0xfff0;
         for (Elf64_Shdr& section : sections) section.sh_name = 0xfffffff0;
       })},
      {"HeadersOfSizeZero", kWithAll,
       Lying([](Elf64_Ehdr& header, auto&) { header.e_shentsize = header.e_phentsize = 0; })},
      {"AZlibBomb", kWithAll,
       With({Compressed(".debug_info", ZlibSection(2 * kGigabyte, 2 * kGigabyte)),
             Compressed(".debug_abbrev", ZlibSection(kGigabyte, kGigabyte)),
             Compressed(".debug_line", ZlibSection(kGigabyte, kGigabyte))})},
      {"AZlibSectionOfATerabyte", kWithAll,
       With({Compressed(".debug_info", ZlibSection(kGigabyte / 16, uint64_t{1} << 40)),
             Compressed(".symtab", ZlibSection(kGigabyte / 16, ~uint64_t{0}))})},
      {"AZstdBomb", kWithAll,
       With({Compressed(".debug_info", ZstdSection(4 * kGigabyte, 4 * kGigabyte)),
             Compressed(".debug_line", ZstdSection(4 * kGigabyte, uint64_t{1} << 40))})},
      {"AnXzBomb", kWithAll, With({{.name = ".gnu_debugdata", .bytes = XzOfZeros(4 * kGigabyte)}})},
      {"SixtyFourThousandSegments", kWithAll,
       [](Scene& scene) {
         SpinIn(scene, HostileElf().Depth(8000).AddFrames().AddSymbols().Segments(
                           ManySegments(65'000, 0x1000)));
       }},
      {"SegmentsThatOverlap", kWithAll,
       [](Scene& scene) {
         std::vector<Elf64_Phdr> segments = ManySegments(5'000, 0);
         for (Elf64_Phdr& segment : segments) {
           segment.p_offset = 0;
           segment.p_vaddr = static_cast<Elf64_Addr>(&segment - segments.data());
         }
         SpinIn(scene, HostileElf().Depth(200).AddFrames().AddSymbols().Segments(segments));
       }},
      {"SegmentsOfAllMemory", kWithAll,
       [](Scene& scene) {
         std::vector<Elf64_Phdr> segments = ManySegments(4, 0);
         for (Elf64_Phdr& segment : segments) {
           segment.p_offset = 1;
           segment.p_vaddr = ~uint64_t{0} - 5;
           segment.p_filesz = segment.p_memsz = ~uint64_t{0};
         }
         SpinIn(scene, HostileElf().Depth(20).AddFrames().AddSymbols().Segments(segments));
       }},
      {"AFileThatIsCut", kWithAll,
       [](Scene& scene) {
         const std::string path = scene.File("evil.so");
         HostileElf().AddFrames().AddSymbols().Write(path);
         ASSERT_EQ(truncate(path.c_str(), 0x2010), 0);
         scene.GiveAway(path);
         scene.attackers().SpinIn(path);
       }},
      {"AFileThatIsNoElf", kWithAll,
       Lying([](Elf64_Ehdr& header, auto&) { header.e_ident[0] = 'E'; })},
      {"AFileOfAnotherMachine", kWithAll, Lying([](Elf64_Ehdr& header, auto&) {
         header.e_machine = EM_S390;
         header.e_ident[EI_DATA] = ELFDATA2MSB;
       })},
      {"AFileThatShrinks", kAlways, TruncateAndRestore},
      {"AFileThatIsRewritten", kWithAll, RewriteInPlace},
      {"SymbolsThatShareALongName", kWithAll, SymbolsThatShareALongName},
      {"ANameThatDoublesAsItIsDemangled", kWithAll,
       [](Scene& scene) {
         SpinIn(scene,
                HostileElf().AddFrames().AddSymbolsNamed({DoublingName(40), DoublingName(4000),
                                                          "_Z" + std::string(100'000, 'P') + "i",
                                                          "_R" + std::string(50'000, 'N')}));
       }},
  };
}

}  // namespace profiler::tests
