// Compares every row of call frame information of real files with libdw: one step from made-up
// registers and memory must lead to the same caller.

#include "symbolize/unwind/testing/libdw_oracle.h"

#include <glob.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "src/base/mapped_file.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/elf/section_contents.h"
#include "symbolize/unwind/cfi_table.h"
#include "symbolize/unwind/frame_rules.h"
#include "symbolize/unwind/frame_section.h"
#include "symbolize/unwind/full_step.h"
#include "symbolize/unwind/unwinder.h"

namespace profiler::symbolize {
namespace {

// Returns a made-up word for an address: a multiple of 8, so that it is a possible CFA.
uint64_t MadeUpWord(uint64_t address) {
  return (address * 0x9e3779b97f4a7c15 >> 20 & ~uint64_t{7}) | uint64_t{1} << 46;
}

constexpr unsigned kRbx = 3;  // DWARF number on x86-64

class MadeUpMemory : public MemoryReader {
 public:
  bool ReadBytes(uint64_t address, std::span<std::byte> bytes) override {
    const uint64_t word = MadeUpWord(address);
    std::memcpy(bytes.data(), &word, std::min(bytes.size(), sizeof(word)));
    return bytes.size() <= sizeof(word);
  }
};

// A space in which one image is at all addresses, loaded at its ELF addresses.
class OneImage : public UnwindSpace {
 public:
  explicit OneImage(CfiTable* cfi) : cfi_(cfi) {}
  bool FindCode(RuntimeAddress, MappedCode* code) override {
    *code = {.start = {0}, .size = ~uint64_t{0}, .cfi = cfi_};
    return true;
  }
  // Reads the stack, but no code.
  bool ReadMemory(uint64_t address, std::span<std::byte> bytes) override {
    return address >> 40 != 0 && MadeUpMemory().ReadBytes(address, bytes);
  }

 private:
  CfiTable* cfi_;
};

RegisterSet MadeUpRegisters(Architecture architecture, uint64_t pc) {
  RegisterSet registers(architecture);
  for (unsigned i = 0; i < kRegisters; ++i) {
    if (architecture == Architecture::kX86_64 && i > 16) break;
    registers.Set(i, 0x7f0000000000 + uint64_t{i} * 0x100000);
  }
  const RegisterNumbers numbers = NumbersOf(architecture);
  registers.Set(numbers.sp, 0x7e0000000000);
  registers.Set(numbers.fp, 0x7e0000100000);
  registers.Set(numbers.pc, pc);
  return registers;
}

// Returns the registers that the frame would have during a call. During a call, no slot of the
// frame was popped yet.
RegisterSet InCall(RegisterSet registers) {
  registers.Set(NumbersOf(registers.architecture()).pc, registers.pc() + 1);
  return registers;
}

std::string Text(const RegisterSet& registers) {
  std::string text;
  char buffer[64];
  for (unsigned i = 0; i < kRegisters; ++i) {
    if (!registers.Knows(i)) continue;
    std::snprintf(buffer, sizeof(buffer), " r%u=%lx", i, registers.Get(i));
    text += buffer;
  }
  return text;
}

struct Comparison {
  size_t functions = 0, rows = 0, different = 0, fast = 0, different_fast = 0;
  std::string first_difference;
};

class Comparer {
 public:
  Comparer(const std::string& path, const std::string& section, size_t every)
      : section_name_(section), every_(every) {
    auto file = MappedFile::Open(path);
    if (!file.ok()) return;
    file_ = *std::move(file);
    elf_ = *ElfImage::Parse(file_.bytes());
    table_ = *CfiTable::Create(elf_);
    oracle_ =
        std::make_unique<LibdwOracle>(path, section == ".debug_frame", table_->architecture());
  }

  bool opened() const { return oracle_ != nullptr && oracle_->ok(); }
  size_t CountFunctions() const { return oracle_->CountFunctions(); }
  CfiTable& table() { return *table_; }
  size_t section_size() const { return elf_.FindSection(section_name_)->size; }

  Comparison Compare() {
    Comparison all;
    const bool is_debug = section_name_ == ".debug_frame";
    const SectionContents contents = ReadSectionContents(elf_, section_name_, {});
    const FrameSection section(is_debug ? FrameSection::kDebugFrame : FrameSection::kEhFrame,
                               contents.bytes,
                               is_debug ? 0 : elf_.FindSection(section_name_)->address.value);
    std::optional<uint64_t> offset = 0;
    for (; offset; offset = section.Next(*offset)) {
      const std::optional<FunctionEntry> function = section.ReadFunction(*offset);
      if (!function) continue;
      ++all.functions;
      if (all.functions % every_ != 0 || function->size == 0) continue;
      for (uint64_t address = function->start; address < function->start + function->size;) {
        address = CompareRow(address, function->start + function->size, &all);
      }
    }
    return all;
  }

 private:
  // Compares at the first and the last byte of the row. Returns the start of the next row.
  uint64_t CompareRow(uint64_t address, uint64_t end, Comparison* all) {
    const RegisterSet registers = MadeUpRegisters(table_->architecture(), address);
    const auto expected = oracle_->Step(address, registers, MadeUpWord);
    ++all->rows;
    CompareAt(address, expected, all);
    if (!expected || expected->row_end <= address || expected->row_end > end) return end;
    const uint64_t last = expected->row_end - 1;
    if (last != address) {
      const RegisterSet at_last = MadeUpRegisters(table_->architecture(), last);
      CompareAt(last, oracle_->Step(last, at_last, MadeUpWord), all);
    }
    return expected->row_end;
  }

  void CompareAt(uint64_t address, const std::optional<OracleStep>& expected, Comparison* all) {
    const std::string ours = FullText(address, expected);
    const std::string theirs = !expected                ? "no step"
                               : expected->thread_start ? "thread start"
                                                        : Text(Comparable(expected->caller));
    if (ours != theirs) {
      ++all->different;
      Note(address, ours, theirs, all);
    }
    if (!expected) return;
    CompareFast(address, *expected, all);
  }

  std::string FullText(uint64_t address, const std::optional<OracleStep>& expected) {
    const RegisterSet before = MadeUpRegisters(table_->architecture(), address);
    RegisterSet registers = before;
    FrameRules rules;
    table_->StartChain(++asked_);
    if (table_->FullRules({address}, &rules) != CfiTable::Told::kRules) return "no step";
    uint32_t expression_steps = 1000;
    MadeUpMemory memory;
    switch (StepByRules(rules, false, memory, &expression_steps, &registers)) {
      case Stepped::kCaller:
        // libdw does not treat rbx as callee-saved.
        if (expected && !expected->caller.Knows(kRbx) && registers.Get(kRbx) == before.Get(kRbx)) {
          registers.Forget(kRbx);
        }
        return Text(Comparable(registers));
      case Stepped::kThreadStart:
        return "thread start";
      default:
        return "no step";
    }
  }

  // Callee-changed registers are not compared.
  RegisterSet Comparable(RegisterSet registers) const {
    const RegisterNumbers numbers = NumbersOf(table_->architecture());
    for (unsigned i = 0; i < kRegisters; ++i) {
      if (!IsCalleeSaved(table_->architecture(), i) && i != numbers.sp && i != numbers.pc) {
        registers.Forget(i);
      }
    }
    return registers;
  }

  // Compares libdw's step `expected` with the rule in the table.
  void CompareFast(uint64_t address, const OracleStep& expected, Comparison* all) {
    const UnwindRule rule = table_->Find({address});
    if (rule.kind == UnwindRule::kFull) return;
    ++all->fast;
    const RegisterSet registers = MadeUpRegisters(table_->architecture(), address);
    const RegisterNumbers numbers = NumbersOf(table_->architecture());
    if (expected.thread_start != (rule.kind == UnwindRule::kThreadStart)) {
      ++all->different_fast;
      return Note(address, "kind " + std::to_string(rule.kind), "thread start", all);
    }
    const uint64_t cfa = expected.caller.sp();
    // The engine refuses some steps, for example to a stack pointer that is not higher.
    if (expected.thread_start || cfa % 8 != 0 || cfa <= registers.sp()) return;
    OneImage space(table_.get());
    // Two kinds of frame are not tested during a call: the rule of a linkage table depends on the
    // position in an entry, and a function with its return address in a register makes no call.
    const bool in_call = rule.kind != UnwindRule::kLinkageTable && rule.return_slot != 0;
    unwinder_.Unwind(in_call ? InCall(registers) : registers, {}, space, {.max_frames = 2}, &chain_,
                     in_call);
    RegisterSet expected_fast(table_->architecture());
    expected_fast.Set(numbers.pc, expected.caller.pc());
    expected_fast.Set(numbers.sp, cfa);
    expected_fast.Set(numbers.fp, expected.caller.fp());
    if (Text(chain_.registers) != Text(expected_fast)) {
      ++all->different_fast;
      Note(address, Text(chain_.registers), Text(expected_fast), all);
    }
  }

  void Note(uint64_t address, const std::string& ours, const std::string& theirs, Comparison* all) {
    if (!all->first_difference.empty()) return;
    char buffer[64];
    std::snprintf(buffer, sizeof(buffer), "at 0x%lx", address);
    all->first_difference = std::string(buffer) + "\n  ours:  " + ours + "\n  libdw: " + theirs;
  }

  const std::string section_name_;
  const size_t every_;
  MappedFile file_;
  ElfImage elf_;
  std::unique_ptr<CfiTable> table_;
  uint64_t asked_ = 0;
  std::unique_ptr<LibdwOracle> oracle_;
  Unwinder unwinder_{nullptr};
  UnwoundChain chain_;
};

std::string Fixture(const std::string& name) {
  return std::string(std::getenv("TEST_SRCDIR")) + "/" + std::getenv("TEST_WORKSPACE") +
         "/symbolize/unwind/testdata/" + name;
}

void ExpectSameRules(const std::string& path, const std::string& section, size_t every = 1) {
  SCOPED_TRACE(path);
  Comparer comparer(path, section, every);
  ASSERT_TRUE(comparer.opened());
  const Comparison all = comparer.Compare();
  EXPECT_EQ(all.functions, comparer.CountFunctions());
  EXPECT_GT(all.rows, 10u);
  EXPECT_LE(all.different, all.rows / 1000) << all.first_difference;
  EXPECT_LE(all.different_fast, all.fast / 1000) << all.first_difference;
  std::printf("%s: %zu functions, %zu rows, %zu + %zu different; %zu by the table\n", path.c_str(),
              all.functions, all.rows, all.different, all.different_fast, all.fast);
}

class FixtureTest : public testing::TestWithParam<std::string> {};

TEST_P(FixtureTest, HasTheRulesOfLibdw) {
  for (const char* kind :
       {"_O0", "_O1", "_O2", "_O3", "_shared", "_static", "_no_hdr", "_frame_pointer"}) {
    ExpectSameRules(Fixture(GetParam() + kind), ".eh_frame");
  }
}

TEST_P(FixtureTest, HasTheRulesOfLibdwInDebugFrame) {
  ExpectSameRules(Fixture(GetParam() + "_debug_frame"), ".debug_frame");
  ExpectSameRules(Fixture(GetParam() + "_compressed"), ".debug_frame");
  ExpectSameRules(Fixture(GetParam() + "_split.debug"), ".debug_frame");
}

INSTANTIATE_TEST_SUITE_P(Compilers, FixtureTest, testing::Values("gcc", "clang"),
                         [](const auto& info) { return info.param; });

// Returns the paths of fixtures for other machines, `cross_MACHINE_KIND`.
std::vector<std::string> CrossFixtures() {
  glob_t found = {};
  glob(Fixture("cross_*").c_str(), 0, nullptr, &found);
  std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  return paths;
}

TEST(CrossFixtureTest, HasTheRulesOfLibdw) {
  const std::vector<std::string> paths = CrossFixtures();
  ASSERT_FALSE(paths.empty());
  for (const std::string& path : paths) {
    if (std::ifstream(path).peek() == EOF) GTEST_SKIP() << "clang and lld are not installed";
    ExpectSameRules(path, path.ends_with("_debug_frame") ? ".debug_frame" : ".eh_frame");
  }
}

struct SystemImage {
  std::string path;
  size_t frames_size;  // bytes of .eh_frame
};

// Returns installed images from several compilers, except images with less than `least_frames_size`
// bytes of .eh_frame. Node.js is either one large program, or a small program with a library. Paths
// have patterns because they contain versions.
std::vector<SystemImage> SystemImages(size_t least_frames_size) {
  glob_t found = {};
  glob(
      "{/lib/x86_64-linux-gnu/libc.so.6,/lib64/ld-linux-x86-64.so.2,"
      "/lib/x86_64-linux-gnu/libstdc++.so.6,/lib/x86_64-linux-gnu/libcrypto.so.3,"
      "/usr/bin/python3,/usr/lib*/gcc/x86_64-linux-gnu/*/cc1plus,"
      "/usr/bin/node,/usr/lib/x86_64-linux-gnu/libnode.so.*}",
      GLOB_BRACE, nullptr, &found);
  std::vector<SystemImage> images;
  for (size_t i = 0; i < found.gl_pathc; ++i) {
    const std::string path = found.gl_pathv[i];
    Comparer comparer(path, ".eh_frame", 1);
    if (!comparer.opened() || comparer.section_size() < least_frames_size) continue;
    images.push_back({path, comparer.section_size()});
  }
  globfree(&found);
  return images;
}

TEST(SystemImageTest, HasTheRulesOfLibdw) {
  const std::vector<SystemImage> images = SystemImages(4 << 10);
  if (images.empty()) GTEST_SKIP() << "none of the images is here";
  for (const SystemImage& image : images) {
    // Compares only some of the functions in large files.
    const size_t every = std::max<size_t>(1, image.frames_size >> 17);
    ExpectSameRules(image.path, ".eh_frame", every);
  }
}

// In small images, parts of the table with a constant size would dominate.
TEST(TableMemoryTest, IsUnderTwiceTheSizeOfEhFrame) {
  const std::vector<SystemImage> images = SystemImages(128 << 10);
  if (images.empty()) GTEST_SKIP() << "none of the images is here";
  for (const SystemImage& image : images) {
    SCOPED_TRACE(image.path);
    Comparer comparer(image.path, ".eh_frame", 1);
    EXPECT_GT(comparer.table().CompileAll(), 1000u);
    EXPECT_LT(comparer.table().memory_used(), 2 * image.frames_size);
    std::printf("%s: table %zu KiB, .eh_frame %zu KiB\n", image.path.c_str(),
                comparer.table().memory_used() >> 10, image.frames_size >> 10);
  }
}

}  // namespace
}  // namespace profiler::symbolize
