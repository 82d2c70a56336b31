#include "symbolize/elf/elf_image.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/byte_reader.h"
#include "src/base/unique_fd.h"
#include "symbolize/symbols/elf_symbols.h"
#include "symbolize/testing/test_files.h"
#include "symbolize/unwind/testing/cfi_builder.h"

namespace profiler::symbolize {
namespace {

class ProgramTest : public testing::TestWithParam<const char*> {};

TEST_P(ProgramTest, AFileOffsetLeadsToTheAddressOfItsSymbol) {
  const std::string file = ReadFile(TestFile(GetParam()));
  const auto bytes = Bytes(file);
  const auto image = ElfImage::Parse(bytes);
  ASSERT_TRUE(image.ok()) << image.status();
  const size_t offset = file.find("<the bytes of marked_code>");
  ASSERT_NE(offset, std::string::npos);
  for (const NmSymbol& symbol : ReadNm(TestFile(std::string(GetParam()) + ".nm"))) {
    if (symbol.name != "marked_code") continue;
    EXPECT_EQ(image->AddressOf({offset}), ElfAddress{symbol.address});
    EXPECT_EQ(image->OffsetOf({symbol.address}), FileOffset{offset});
    EXPECT_EQ(TextOf(image->BytesAt({symbol.address}, 6)), "<the b");
    return;
  }
  FAIL() << "nm does not list marked_code";
}

TEST_P(ProgramTest, HasABuildIdAndItsSections) {
  const auto bytes = Bytes(ReadFile(TestFile(GetParam())));
  const auto image = ElfImage::Parse(bytes);
  ASSERT_TRUE(image.ok());
  EXPECT_EQ(image->build_id().size(), 20u);
  EXPECT_TRUE(image->is_64_bit());
  ASSERT_NE(image->FindSection(".text"), nullptr);
  EXPECT_TRUE(HasSymtab(*image));
}

INSTANTIATE_TEST_SUITE_P(Links, ProgramTest,
                         testing::Values("pie", "nopie", "static", "shared", "shifted",
                                         "one_segment"));

// Creates a sparse file: `text`, then a hole of `hole` bytes, then `behind`.
UniqueFd SparseFile(const std::string& path, std::string_view text, uint64_t hole,
                    std::string_view behind = "") {
  UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  const auto end = static_cast<off_t>(text.size() + hole);
  EXPECT_EQ(pwrite(fd.get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  EXPECT_EQ(ftruncate(fd.get(), end), 0);
  EXPECT_EQ(pwrite(fd.get(), behind.data(), behind.size(), end),
            static_cast<ssize_t>(behind.size()));
  return fd;
}

// Formats holes as "offset+size", in units of 64 KiB.
std::string HolesText(int fd) {
  std::string text;
  for (const FileHole& hole : HolesOf(fd)) {
    absl::StrAppend(&text, hole.offset >> 16, "+", hole.size >> 16, " ");
  }
  return text;
}

TEST(FileHolesTest, AreWhereNothingWasWritten) {
  const std::string path = TestDirectory() + "/file";
  const std::string solid(1 << 16, 'x');
  constexpr uint64_t kHole = uint64_t{1} << 30;
  EXPECT_EQ(HolesText(SparseFile(path, solid, 0).get()), "");
  EXPECT_EQ(HolesText(SparseFile(path, "", 0).get()), "");
  const UniqueFd sparse = SparseFile(path, solid, kHole, solid);
  if (HolesText(sparse.get()).empty()) GTEST_SKIP() << "no file system with holes";
  EXPECT_EQ(HolesText(sparse.get()), "1+16384 ");
  EXPECT_EQ(HolesText(SparseFile(path, solid, kHole).get()), "1+16384 ");
  EXPECT_EQ(HolesText(SparseFile(path, solid, 1 << 15).get()), "") << "too small";
}

TEST(ElfImageTest, NothingIsTakenOfASectionBehindAHole) {
  const auto bytes = ElfBuilder()
                         .Section(".debug_info", 0, {1, 2, 3, 4, 5, 6, 7, 8})
                         .Section(".debug_line", 0, {1, 2, 3, 4})
                         .Build();
  const uint64_t start = sizeof(Elf64_Ehdr);
  const auto contents = [&](std::vector<FileHole> holes) {
    const auto image = ElfImage::Parse(bytes, holes);
    const ElfSection& info = *image->FindSection(".debug_info");
    const ElfSection& line = *image->FindSection(".debug_line");
    EXPECT_EQ(info.size, 8u);
    return absl::StrCat(info.contents.size(), info.is_cut ? " cut " : " ", line.contents.size(),
                        line.is_cut ? " cut of " : " of ",
                        image->solid_size() - (bytes.size() - 100));
  };
  EXPECT_EQ(contents({}), "8 4 of 100");
  EXPECT_EQ(contents({{start + 3, 2}}), "3 cut 4 of 98");
  EXPECT_EQ(contents({{start, 1}, {start + 9, 1}}), "0 cut 1 cut of 98");
  EXPECT_EQ(contents({{start - 5, 5}}), "8 4 of 95");
  EXPECT_EQ(contents({{start - 5, 6}}), "0 cut 4 of 94");
}

TEST(ElfImageTest, AnOffsetThatNoSegmentHoldsHasNoAddress) {
  const auto bytes = Bytes(ReadFile(TestFile("pie")));
  const auto image = ElfImage::Parse(bytes);
  EXPECT_EQ(image->AddressOf({bytes.size() + (1 << 20)}), std::nullopt);
  EXPECT_EQ(image->AddressOf({~uint64_t{0}}), std::nullopt);
}

// lld, mold and rustc link like this: neighbouring segments share a page of the file.
TEST(ElfImageTest, AnOffsetInAPageOfTwoSegmentsIsOfTheOneThatHasTheByte) {
  const auto bytes = ElfBuilder()
                         .Segment(0, 0, 0x1a40, PF_R)
                         .Segment(0x1a40, 0x2a40, 0x800, PF_R | PF_X)
                         .Segment(0x2240, 0x4240, 0x300, PF_R | PF_W)
                         .Build();
  const auto image = ElfImage::Parse(bytes);
  ASSERT_TRUE(image.ok());
  EXPECT_EQ(image->AddressOf({0x1a3f}), ElfAddress{0x1a3f});
  EXPECT_EQ(image->AddressOf({0x1a40}), ElfAddress{0x2a40});
  EXPECT_EQ(image->AddressOf({0x223f}), ElfAddress{0x323f});
  EXPECT_EQ(image->AddressOf({0x2240}), ElfAddress{0x4240});
  for (const uint64_t address : {0x1000, 0x2a40, 0x323f, 0x4300}) {
    EXPECT_EQ(image->AddressOf(*image->OffsetOf({address})), ElfAddress{address});
  }
}

TEST(ElfImageTest, OfTwoSegmentsWithTheSameBytesTheExecutableOneIsMeant) {
  for (const bool code_first : {false, true}) {
    ElfBuilder elf;
    if (code_first) elf.Segment(0, 0x10000, 0x2000, PF_R | PF_X);
    elf.Segment(0, 0, 0x2000, PF_R);
    if (!code_first) elf.Segment(0, 0x10000, 0x2000, PF_R | PF_X);
    const auto bytes = elf.Build();
    EXPECT_EQ(ElfImage::Parse(bytes)->AddressOf({0x1010}), ElfAddress{0x11010});
  }
}

TEST(ElfImageTest, ReadsTheDebugLink) {
  const auto bytes = Bytes(ReadFile(TestFile("split")));
  const auto image = ElfImage::Parse(bytes);
  const auto link = ReadDebugLink(*image);
  ASSERT_TRUE(link);
  EXPECT_EQ(link->file, "split.debug");
  EXPECT_FALSE(HasSymtab(*image));
}

TEST(ElfImageTest, WhatIsNoElfFileIsDataLoss) {
  EXPECT_TRUE(absl::IsDataLoss(ElfImage::Parse({}).status()));
  EXPECT_TRUE(absl::IsDataLoss(ElfImage::Parse(Bytes("#!/bin/sh\nexit 0\n")).status()));
  EXPECT_TRUE(absl::IsDataLoss(ElfImage::Parse(Bytes("\177ELF\2\1\1")).status()));
}

TEST(ElfImageTest, AnArchiveIsDataLoss) {
  EXPECT_TRUE(absl::IsDataLoss(ElfImage::Parse(Bytes("!<arch>\ncut off")).status()));
}

// Returns the ELF header, which tests change.
Elf64_Ehdr& HeaderOf(std::vector<std::byte>& file) {
  return *reinterpret_cast<Elf64_Ehdr*>(file.data());
}

// Numbers that do not fit into the ELF header are in the first section header.
TEST(ElfImageTest, ReadsNumbersThatAreTooLargeForTheHeader) {
  const std::vector<std::byte> usual = Bytes(ReadFile(TestFile("pie")));
  std::vector<std::byte> file = usual;
  Elf64_Ehdr& header = HeaderOf(file);
  auto& first = *reinterpret_cast<Elf64_Shdr*>(file.data() + header.e_shoff);
  first.sh_size = std::exchange(header.e_shnum, 0);
  first.sh_link = std::exchange(header.e_shstrndx, SHN_XINDEX);
  first.sh_info = std::exchange(header.e_phnum, PN_XNUM);
  const auto image = ElfImage::Parse(file);
  ASSERT_TRUE(image.ok()) << image.status();
  const auto expected = ElfImage::Parse(usual);
  EXPECT_EQ(image->sections().size(), expected->sections().size());
  EXPECT_EQ(image->segments().size(), expected->segments().size());
  EXPECT_NE(image->FindSection(".text"), nullptr);
}

// A sparse file has room for any number of sections at no cost.
TEST(ElfImageTest, AFileWithRoomForMillionsOfSectionsIsNotBelieved) {
  constexpr size_t kSections = (1 << 20) + 1;
  std::vector<std::byte> file = ElfBuilder().Build();
  const size_t table = file.size();
  file.resize(table + kSections * sizeof(Elf64_Shdr));
  HeaderOf(file).e_shoff = table;
  HeaderOf(file).e_shnum = 0;
  reinterpret_cast<Elf64_Shdr*>(file.data() + table)->sh_size = kSections;
  EXPECT_TRUE(absl::IsDataLoss(ElfImage::Parse(file).status()));
}

TEST(ElfImageTest, AFileWithoutSectionsHasItsSegmentsAndBuildId) {
  const std::vector<std::byte> usual = Bytes(ReadFile(TestFile("pie")));
  std::vector<std::byte> file = usual;
  HeaderOf(file).e_shoff = 0;
  const auto image = ElfImage::Parse(file);
  ASSERT_TRUE(image.ok()) << image.status();
  const auto expected = ElfImage::Parse(usual);
  EXPECT_TRUE(image->sections().empty());
  EXPECT_EQ(image->segments().size(), expected->segments().size());
  EXPECT_TRUE(SameBuildId(image->build_id(), expected->build_id()));
}

// Reading all notes again for each section would take minutes.
TEST(ElfImageTest, NotesThatManySectionsShareAreNotReadForEach) {
  constexpr size_t kNotes = 8 << 20;
  constexpr uint16_t kSections = 60'000;
  std::vector<std::byte> file = ElfBuilder().Build();
  const size_t notes = file.size();
  file.resize(notes + kNotes + kSections * sizeof(Elf64_Shdr));
  HeaderOf(file).e_shoff = notes + kNotes;
  HeaderOf(file).e_shnum = kSections;
  auto* const headers = reinterpret_cast<Elf64_Shdr*>(file.data() + notes + kNotes);
  for (size_t i = 1; i < kSections; ++i) {
    headers[i].sh_type = SHT_NOTE;
    headers[i].sh_offset = notes;
    headers[i].sh_size = kNotes;
  }
  const auto image = ElfImage::Parse(file);
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(image->sections().size(), kSections);
  EXPECT_TRUE(image->build_id().empty());
}

// Calls the functions that symbolization uses, to see that they do not crash. Their results do not
// matter.
size_t UseEverything(std::span<const std::byte> bytes) {
  const auto image = ElfImage::Parse(bytes);
  if (!image.ok()) return 0;
  size_t sum = image->build_id().size();
  if (const auto link = ReadDebugLink(*image)) sum += link->file.size();
  const SymbolTable table = ReadElfSymbols(*image, *image);
  for (uint64_t offset = 0; offset < bytes.size(); offset += 64) {
    if (const auto address = image->AddressOf({offset})) {
      const Symbol* symbol = table.Find(address->value);
      if (symbol != nullptr) sum += table.ShownName(*symbol).size();
    }
  }
  return sum;
}

TEST(ElfImageTest, SurvivesATruncatedFile) {
  const std::vector<std::byte> whole = Bytes(ReadFile(TestFile("pie")));
  ASSERT_GT(UseEverything(whole), 0u);
  for (size_t size = 0; size < whole.size(); size += size < 1024 ? 1 : 97) {
    // A separate allocation, so that sanitizers detect a read beyond the end.
    const std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    UseEverything(cut);
  }
}

TEST(ElfImageTest, SurvivesCorruptBytes) {
  const std::vector<std::byte> whole = Bytes(ReadFile(TestFile("pie")));
  const auto image = ElfImage::Parse(whole);
  ASSERT_TRUE(image.ok());
  std::mt19937 random(7);
  // Byte ranges that are corrupted: all headers, and the sections named below.
  std::vector<std::pair<size_t, size_t>> targets = {{16, 64 + 13 * 56}};
  const size_t headers = image->sections().size() * 64;
  targets.emplace_back(whole.size() - headers, headers);
  for (const char* name : {".dynsym", ".symtab", ".rela.plt", ".plt", ".note.gnu.build-id"}) {
    if (const ElfSection* section = image->FindSection(name)) {
      targets.emplace_back(section->offset.value, section->size);
    }
  }
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::byte> corrupt = whole;
    const int changes = 1 + static_cast<int>(random() % 4);
    for (int i = 0; i < changes; ++i) {
      const auto [start, size] = targets[random() % targets.size()];
      const auto value = random() % 3 == 0 ? 0xff : random() & 0xff;
      corrupt[start + random() % size] = static_cast<std::byte>(value);
    }
    UseEverything(corrupt);
  }
}

}  // namespace
}  // namespace profiler::symbolize
