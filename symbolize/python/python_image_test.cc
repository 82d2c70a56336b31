#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "symbolize/python/known_layouts.h"
#include "symbolize/python/python_process.h"
#include "symbolize/unwind/testing/cfi_builder.h"

namespace profiler::symbolize::python {
namespace {

struct Symbol {
  std::string name;
  uint64_t address = 0, size = 0;
  int type = STT_FUNC;
  uint16_t section = 1;
};

std::vector<std::byte> ImageWith(const std::vector<Symbol>& symbols, uint32_t table_type,
                                 bool has_runtime_section = false) {
  ByteBuilder names{0}, table;
  table.U64(0).U64(0).U64(0);
  for (const Symbol& symbol : symbols) {
    table.U32(static_cast<uint32_t>(names.size()));
    table.U8(ELF64_ST_INFO(STB_GLOBAL, symbol.type)).U8(0).U16(symbol.section);
    table.U64(symbol.address).U64(symbol.size);
    names.Text(symbol.name);
  }
  ElfBuilder elf;
  elf.Section(".table", 0, table, 0).Section(".names", 0, names, 0);
  if (has_runtime_section) elf.Section(".PyRuntime", 0x7000, ByteBuilder{1, 2, 3});
  std::vector<std::byte> file = elf.Build();
  Elf64_Ehdr header;
  std::memcpy(&header, file.data(), sizeof(header));
  auto* const sections = reinterpret_cast<Elf64_Shdr*>(file.data() + header.e_shoff);
  sections[1].sh_type = table_type;
  sections[1].sh_link = 2;
  sections[1].sh_entsize = sizeof(Elf64_Sym);
  sections[2].sh_type = SHT_STRTAB;
  return file;
}

// Returns the facts of the image, as text.
std::string Read(const std::vector<std::byte>& file) {
  const auto elf = ElfImage::Parse(file);
  if (!elf.ok()) return elf.status().ToString();
  const auto image = PythonImage::Read(*elf);
  if (!image) return "none";
  std::string text = absl::StrCat("runtime ", absl::Hex(image->runtime.value));
  if (image->version) absl::StrAppend(&text, " version ", absl::Hex(image->version->value));
  if (image->least_version != 0) absl::StrAppend(&text, " 3.", image->least_version & 0xff);
  for (const PythonImage::Range& loop : image->evaluation_loops) {
    absl::StrAppend(&text, " ", absl::Hex(loop.begin.value), "-", absl::Hex(loop.end.value));
  }
  return text + (image->has_all_loops ? " all" : "");
}

const Symbol kRuntime = {"_PyRuntime", 0x5000, 1464, STT_OBJECT};

TEST(PythonImageTest, AnImageWithoutTheRuntimeHasNoPython) {
  EXPECT_EQ(Read(ImageWith({{"main", 0x1000, 16}}, SHT_DYNSYM)), "none");
  EXPECT_EQ(Read(ImageWith({}, SHT_SYMTAB)), "none");
}

TEST(PythonImageTest, ASymbolThatIsNotDefinedDoesNotCount) {
  EXPECT_EQ(Read(ImageWith({{"_PyRuntime", 0, 0, STT_OBJECT, SHN_UNDEF}}, SHT_DYNSYM)), "none");
}

TEST(PythonImageTest, ASectionHasTheRuntimeOfAStrippedImage) {
  EXPECT_EQ(Read(ImageWith({}, SHT_DYNSYM, true)), "runtime 7000");
}

TEST(PythonImageTest, TheLoopHasPartsThatTheCompilerSplitOff) {
  EXPECT_EQ(Read(ImageWith({kRuntime,
                            {"_PyEval_EvalFrameDefault", 0x2000, 0x100},
                            {"_PyEval_EvalFrameDefault.cold", 0x1800, 0x10},
                            {"_PyEval_EvalFrameDefault.part.0", 0x2100, 0x10},
                            {"_PyEval_EvalFrameDefaultX", 0x3000, 0x10},
                            {"_PyEval_EvalFrame", 0x3100, 0x10}},
                           SHT_SYMTAB)),
            "runtime 5000 1800-1810 2000-2110 all");
}

TEST(PythonImageTest, EachInstructionMayBeAFunction) {
  EXPECT_EQ(Read(ImageWith({kRuntime,
                            {"_PyEval_EvalFrameDefault", 0x2000, 0x100},
                            {"_TAIL_CALL_LOAD_FAST", 0x2200, 0x10}},
                           SHT_SYMTAB)),
            "runtime 5000 2000-2100 2200-2210 all");
}

TEST(PythonImageTest, AStrippedImageMayLackPartsOfTheLoop) {
  EXPECT_EQ(Read(ImageWith({kRuntime, {"_PyEval_EvalFrameDefault", 0x2000, 0x100}}, SHT_DYNSYM)),
            "runtime 5000 2000-2100");
}

TEST(PythonImageTest, FunctionsTellTheVersion) {
  std::vector<Symbol> symbols = {kRuntime};
  EXPECT_EQ(Read(ImageWith(symbols, SHT_DYNSYM)), "runtime 5000");
  symbols.push_back({"PyCode_NewWithPosOnlyArgs", 0x1000, 1});
  EXPECT_EQ(Read(ImageWith(symbols, SHT_DYNSYM)), "runtime 5000 3.8");
  symbols.push_back({"PyIter_Send", 0x1000, 1});
  symbols.push_back({"PyThreadState_GetFrame", 0x1000, 1});
  EXPECT_EQ(Read(ImageWith(symbols, SHT_DYNSYM)), "runtime 5000 3.10");
  symbols.push_back({"Py_Version", 0x6000, 8, STT_OBJECT});
  EXPECT_EQ(Read(ImageWith(symbols, SHT_DYNSYM)), "runtime 5000 version 6000 3.10");
}

TEST(PythonImageTest, ALoopThatWrapsAroundIsLeftOut) {
  EXPECT_EQ(
      Read(ImageWith({kRuntime, {"_PyEval_EvalFrameDefault", ~uint64_t{0}, 0x100}}, SHT_DYNSYM)),
      "runtime 5000");
}

}  // namespace
}  // namespace profiler::symbolize::python
