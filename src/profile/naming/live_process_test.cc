#include "src/profile/naming/live_process.h"

#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "symbolize/names/testing/create_symbolizer.h"

// A function of this test, with a symbol.
extern "C" __attribute__((noinline)) int FunctionOfTheTest(int value) { return value * 3 + 1; }

namespace profiler::naming {
namespace {

class LiveProcessTest : public testing::Test {
 protected:
  LiveProcessTest() {
    options_.jit_map_directory = testing::TempDir();
    options_.inlines = false;
  }

  // Returns the name at an address of this process, or "-". The process is read at the first call.
  std::string NameOf(uint64_t address) {
    if (process_ == nullptr) {
      symbolizer_ = symbolize::CreateSymbolizer(options_);
      auto process = LiveProcess::Read(getpid(), *symbolizer_);
      if (!process.ok()) return std::string(process.status().message());
      process_ = std::make_unique<LiveProcess>(*std::move(process));
    }
    const symbolize::Naming naming = process_->Name(address);
    if (naming.functions.empty()) return "-";
    return absl::StrCat(std::string(naming.functions.back().name), "+", naming.distance);
  }

  symbolize::SymbolizerOptions options_;
  std::unique_ptr<symbolize::Symbolizer> symbolizer_;
  std::unique_ptr<LiveProcess> process_;
};

TEST_F(LiveProcessTest, NamesCodeOfItsImagesWhereverTheyAreMapped) {
  const auto address = reinterpret_cast<uint64_t>(&FunctionOfTheTest);
  EXPECT_EQ(NameOf(address), "FunctionOfTheTest+0");
  EXPECT_EQ(NameOf(address + 1), "FunctionOfTheTest+1");
}

TEST_F(LiveProcessTest, NamesTheVdso) {
  const uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
  if (vdso == 0) GTEST_SKIP() << "this machine has no vdso";
  // One of its first pages has a function.
  std::string names;
  for (uint64_t offset = 0; offset < 0x2000; offset += 0x40) names += NameOf(vdso + offset) + " ";
  EXPECT_NE(names.find("gettime"), std::string::npos) << names;
}

TEST_F(LiveProcessTest, NamesGeneratedCodeByItsMap) {
  constexpr size_t kSize = 4096;
  void* code = mmap(nullptr, kSize, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(code, MAP_FAILED);
  const auto address = reinterpret_cast<uint64_t>(code);
  const std::string map = absl::StrCat(testing::TempDir(), "/perf-", getpid(), ".map");
  std::ofstream(map) << absl::StrCat(absl::Hex(address + 0x10), " 20 jitted\n");
  EXPECT_EQ(NameOf(address + 0x18), "jitted+8");
  EXPECT_EQ(NameOf(address + 0x30), "-");
  unlink(map.c_str());
  munmap(code, kSize);
}

TEST_F(LiveProcessTest, WhereNothingIsMappedNothingIsNamed) {
  EXPECT_EQ(NameOf(0), "-");
  EXPECT_EQ(NameOf(0x7fffffff0000), "-");
  EXPECT_EQ(NameOf(~uint64_t{0}), "-");
}

TEST_F(LiveProcessTest, AProcessThatIsGoneIsNamed) {
  const auto symbolizer = symbolize::CreateSymbolizer(options_);
  constexpr pid_t kAboveAllPids = 1 << 30;
  const auto process = LiveProcess::Read(kAboveAllPids, *symbolizer);
  EXPECT_TRUE(absl::IsNotFound(process.status()));
  EXPECT_EQ(process.status().message(), "no process 1073741824");
}

}  // namespace
}  // namespace profiler::naming
