#include "symbolize/elf/section_contents.h"

#include <elf.h>
#include <zlib.h>
#include <zstd.h>

#include <cstring>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "src/base/byte_reader.h"
#include "symbolize/elf/testing/elf_classes.h"

namespace profiler::symbolize {
namespace {

constexpr uint32_t kCompressZstd = 2;  // ELFCOMPRESS_ZSTD, newer than this glibc

template <class T>
std::string Raw(const T& value) {
  return std::string(TextOf(BytesOf(value)));
}

// Builds a file with one section, and the section that contains section names.
template <class Classes>
std::string ElfOf(std::string_view name, const std::string& contents, uint64_t flags) {
  using Ehdr = typename Classes::Ehdr;
  using Shdr = typename Classes::Shdr;
  const std::string names = '\0' + std::string(name) + '\0';
  Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = Classes::kClass;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_ehsize = sizeof(Ehdr);
  header.e_shoff = sizeof(Ehdr);
  header.e_shentsize = sizeof(Shdr);
  header.e_shnum = 3;
  header.e_shstrndx = 2;
  Shdr section = {}, strings = {};
  section.sh_name = 1;
  section.sh_type = SHT_PROGBITS;
  section.sh_flags = flags;
  section.sh_offset = sizeof(Ehdr) + 3 * sizeof(Shdr);
  section.sh_size = contents.size();
  strings.sh_type = SHT_STRTAB;
  strings.sh_offset = section.sh_offset + contents.size();
  strings.sh_size = names.size();
  return Raw(header) + Raw(Shdr{}) + Raw(section) + Raw(strings) + contents + names;
}

// Returns the contents of section `name` of `file`, or the error.
std::string Read(const std::string& file, std::string_view name, const SectionBounds& bounds = {}) {
  const auto image = ElfImage::Parse(BytesOfText(file));
  if (!image.ok()) return image.status().ToString();
  return std::string(TextOf(ReadSectionContents(*image, name, bounds).bytes));
}

std::string Deflated(const std::string& plain) {
  std::string packed(compressBound(plain.size()), '\0');
  uLongf size = packed.size();
  EXPECT_EQ(compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                     reinterpret_cast<const Bytef*>(plain.data()), plain.size()),
            Z_OK);
  return packed.substr(0, size);
}

std::string Zstandard(const std::string& plain) {
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), 1));
  return packed;
}

template <class Classes>
std::string Compressed(uint32_t method, uint64_t size, const std::string& packed) {
  typename Classes::Chdr header = {};
  header.ch_type = method;
  header.ch_size = static_cast<decltype(header.ch_size)>(size);
  header.ch_addralign = 1;
  return ElfOf<Classes>(".debug_line", Raw(header) + packed, SHF_COMPRESSED);
}

std::string Gnu(uint64_t size, const std::string& packed) {
  return ElfOf<Elf64Types>(".zdebug_line", "ZLIB" + Raw(__builtin_bswap64(size)) + packed, 0);
}

const std::string kPlain = "what compresses, compresses, compresses, compresses, compresses";

TEST(SectionContentsTest, APlainSectionIsAViewOfTheFile) {
  const std::string file = ElfOf<Elf64Types>(".debug_line", kPlain, 0);
  const auto image = ElfImage::Parse(BytesOfText(file));
  ASSERT_TRUE(image.ok()) << image.status();
  const SectionContents contents = ReadSectionContents(*image, ".debug_line", {});
  EXPECT_EQ(TextOf(contents.bytes), kPlain);
  EXPECT_TRUE(contents.owned.empty());
  EXPECT_EQ(Read(file, ".debug_info"), "");
}

TEST(SectionContentsTest, ReadsZlibAndZstdOfEitherClass) {
  const std::string zlib = Deflated(kPlain), zstd = Zstandard(kPlain);
  const size_t size = kPlain.size();
  EXPECT_EQ(Read(Compressed<Elf64Types>(ELFCOMPRESS_ZLIB, size, zlib), ".debug_line"), kPlain);
  EXPECT_EQ(Read(Compressed<Elf64Types>(kCompressZstd, size, zstd), ".debug_line"), kPlain);
  EXPECT_EQ(Read(Compressed<Elf32Types>(ELFCOMPRESS_ZLIB, size, zlib), ".debug_line"), kPlain);
  EXPECT_EQ(Read(Compressed<Elf32Types>(kCompressZstd, size, zstd), ".debug_line"), kPlain);
  EXPECT_EQ(Read(Compressed<Elf64Types>(77, size, zlib), ".debug_line"), "");
}

TEST(SectionContentsTest, ReadsTheOlderForm) {
  EXPECT_EQ(Read(Gnu(kPlain.size(), Deflated(kPlain)), ".debug_line"), kPlain);
  EXPECT_EQ(Read(Gnu(kPlain.size(), Deflated(kPlain)), ".debug_info"), "");
  EXPECT_EQ(Read(ElfOf<Elf64Types>(".zdebug_line", "ZLI", 0), ".debug_line"), "");
  EXPECT_EQ(Read(ElfOf<Elf64Types>(".zdebug_line", kPlain, 0), ".debug_line"), "");
}

TEST(SectionContentsTest, ASizeThatIsNotTheContentsIsNotBelieved) {
  const std::string zlib = Deflated(kPlain), zstd = Zstandard(kPlain);
  for (const size_t size : {size_t{0}, kPlain.size() - 1, kPlain.size() + 1}) {
    EXPECT_EQ(Read(Compressed<Elf64Types>(ELFCOMPRESS_ZLIB, size, zlib), ".debug_line"), "");
    EXPECT_EQ(Read(Compressed<Elf32Types>(kCompressZstd, size, zstd), ".debug_line"), "");
    EXPECT_EQ(Read(Gnu(size, zlib), ".debug_line"), "");
  }
  EXPECT_EQ(Read(Compressed<Elf64Types>(ELFCOMPRESS_ZLIB, uint64_t{1} << 60, zlib), ".debug_line"),
            "");
  EXPECT_EQ(Read(ElfOf<Elf64Types>(".debug_line", "short", SHF_COMPRESSED), ".debug_line"), "");
}

TEST(SectionContentsTest, NothingBecomesLargerThanItsBounds) {
  const std::string plain(64 << 10, 'x');
  const std::string packed = Deflated(plain);
  const std::string file = Compressed<Elf64Types>(ELFCOMPRESS_ZLIB, plain.size(), packed);
  const uint64_t needed = plain.size() / packed.size() + 1;
  EXPECT_EQ(Read(file, ".debug_line", {.expansion = needed}), plain);
  EXPECT_EQ(Read(file, ".debug_line", {.expansion = needed / 2}), "");
  EXPECT_EQ(Read(file, ".debug_line", {.expansion = needed, .bytes = plain.size()}), plain);
  EXPECT_EQ(Read(file, ".debug_line", {.expansion = needed, .bytes = plain.size() - 1}), "");
}

}  // namespace
}  // namespace profiler::symbolize
