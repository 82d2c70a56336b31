// Unwinds this process: its registers and stack as in a sample, its mappings as records.

#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "src/format/perf_event/testing/record_builder.h"
#include "src/profile/profile_builder.h"
#include "src/profile/testing/profile_text.h"
#include "symbolize/names/testing/create_symbolizer.h"
#include "symbolize/symbolizer.h"

#if defined(__x86_64__)

namespace profiler::profile {
namespace {

using perf_event::kContextKernel;
using perf_event::kContextUser;
using perf_event::RecordBuilder;

constexpr uint64_t kType = perf_event::kSampleIp | perf_event::kSampleTid |
                           perf_event::kSampleTime | perf_event::kSampleCallchain |
                           perf_event::kSampleRegsUser | perf_event::kSampleStackUser;
constexpr uint64_t kRegisters = 0xff0fff;  // all registers that the kernel provides on x86-64
constexpr size_t kMostStack = 32768;

struct Captured {
  std::vector<uint64_t> registers;  // values of the registers, in perf's order
  std::vector<std::byte> stack;
};

// Returns the words of PERF_REG_X86_*: ax bx cx dx si di bp sp ip flags cs ss, r8 … r15.
std::vector<uint64_t> PerfOrder(const ucontext_t& context) {
  std::vector<uint64_t> registers;
  for (const int i : {REG_RAX, REG_RBX, REG_RCX, REG_RDX,    REG_RSI,    REG_RDI, REG_RBP,
                      REG_RSP, REG_RIP, REG_EFL, REG_CSGSFS, REG_CSGSFS, REG_R8,  REG_R9,
                      REG_R10, REG_R11, REG_R12, REG_R13,    REG_R14,    REG_R15}) {
    registers.push_back(static_cast<uint64_t>(context.uc_mcontext.gregs[i]));
  }
  return registers;
}

uint64_t EndOfStack() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (!absl::EndsWith(line, "[stack]")) continue;
    return std::stoull(line.substr(line.find('-') + 1), nullptr, 16);
  }
  return 0;
}

extern "C" __attribute__((noinline)) void InnermostForTest(Captured* captured) {
  ucontext_t context;
  getcontext(&context);
  captured->registers = PerfOrder(context);
  const auto sp = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RSP]);
  captured->stack.resize(std::min<uint64_t>(kMostStack, EndOfStack() - sp));
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a register holds the address.
  const auto* from = reinterpret_cast<const std::byte*>(sp);
  for (std::byte& byte : captured->stack) byte = *const_cast<const volatile std::byte*>(from++);
}

extern "C" __attribute__((noinline)) void CallerForTest(Captured* captured) {
  InnermostForTest(captured);
  asm volatile("");  // prevents a tail call
}

void AddOwnMappings(RecordBuilder& records) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::string range, rights, offset, device, inode, path;
    words >> range >> rights >> offset >> device >> inode >> path;
    if (rights.find('x') == std::string::npos) continue;
    const uint64_t start = std::stoull(range, nullptr, 16);
    const uint64_t end = std::stoull(range.substr(range.find('-') + 1), nullptr, 16);
    records.Mmap2(start, end - start, std::stoull(offset, nullptr, 16), path);
  }
}

class UserUnwinderTest : public testing::Test {
 protected:
  UserUnwinderTest() : records_(MakeAttr()) {
    CallerForTest(&captured_);
    const auto pid = static_cast<uint32_t>(getpid());
    records_.At(1).By(pid, pid).Comm("test", true);
    AddOwnMappings(records_);
  }

  static perf_event::Attr MakeAttr() {
    perf_event::Attr attr = perf_event::SampleAttr(kType);
    attr.sample_regs_user = kRegisters;
    attr.sample_stack_user = kMostStack;
    return attr;
  }

  // Adds a sample of the captured state, with this call chain from the kernel.
  void AddSample(const std::vector<uint64_t>& callchain, size_t stack_size) {
    perf_event::Sample sample;
    sample.ip = captured_.registers[8];
    sample.pid = sample.tid = static_cast<uint32_t>(getpid());
    sample.time = 2;
    sample.callchain = perf_event::U64Array(std::as_bytes(std::span(callchain)));
    sample.user_regs = {.abi = perf_event::kRegsAbi64,
                        .mask = kRegisters,
                        .values = std::as_bytes(std::span(captured_.registers))};
    sample.user_stack = std::span(captured_.stack).first(stack_size);
    sample.user_stack_size = captured_.stack.size();
    records_.Add(perf_event::kRecordSample, perf_event::kMiscUser, sample);
  }

  Profile Build(BuilderOptions options = {}) {
    symbolize::SymbolizerOptions names;
    names.inlines = false;  // inlining depends on how this test is compiled
    const auto symbolizer = symbolize::CreateSymbolizer(names);
    ProfileBuilder builder(*symbolizer, std::move(options));
    builder.AddEvent("cpu-clock", records_.attr());
    for (const perf_event::RawRecord record : records_.records()) {
      builder.Add(record, 0, perf_event::TimeOf(record, records_.layout()));
    }
    return std::move(builder).Finish();
  }

  Captured captured_;
  RecordBuilder records_;
};

constexpr const char* kOwnFrames = ";CallerForTest;InnermostForTest";

TEST_F(UserUnwinderTest, UnwindsToTheThreadsStart) {
  AddSample({}, captured_.stack.size());
  const Profile profile = Build();
  ASSERT_EQ(profile.rows.size(), 1u);
  const std::string stack = StackText(profile, profile.rows[0].stack);
  EXPECT_TRUE(absl::StartsWith(stack, "_start;")) << stack;
  EXPECT_TRUE(absl::StrContains(stack, ";main;")) << stack;
  EXPECT_TRUE(absl::EndsWith(stack, kOwnFrames)) << stack;
  EXPECT_EQ(profile.chains.chains(), 1u);
  EXPECT_EQ(profile.chains.complete, 1u);
  EXPECT_TRUE(profile.chains.cuts.empty());
}

TEST_F(UserUnwinderTest, KeepsTheKernelsPartAndReplacesTheUsers) {
  AddSample({kContextKernel, 0xffffffff81000010, kContextUser, 0x1234, 0x5678},
            captured_.stack.size());
  const Profile profile = Build();
  ASSERT_EQ(profile.rows.size(), 1u);
  std::string stack = StackText(profile, profile.rows[0].stack);
  EXPECT_TRUE(absl::StrContains(stack, std::string(kOwnFrames) + ";")) << stack;
  EXPECT_FALSE(absl::StrContains(stack, "0x5678")) << stack;
  EXPECT_EQ(profile[profile[profile.rows[0].stack].frame].mode, Mode::kKernel);
}

TEST_F(UserUnwinderTest, AViewOfEachSampleSeesTheChainThatWasUnwound) {
  AddSample({}, captured_.stack.size());
  AddSample({}, 0);
  std::vector<bool> has_chain;
  Build({.on_samples = [&](const Profile&, std::span<const SampleRow> rows,
                           const perf_event::Sample*) {
    for (const SampleRow& row : rows) has_chain.push_back(row.has_chain);
  }});
  EXPECT_EQ(has_chain, (std::vector<bool>{true, false}));
}

TEST_F(UserUnwinderTest, CountsWhatIsCutAndWhy) {
  AddSample({}, 64);
  const Profile profile = Build();
  EXPECT_EQ(profile.chains.whole(), 0u);
  ASSERT_EQ(profile.chains.cuts.size(), 1u);
  EXPECT_EQ(profile.chains.cuts[0].reason, "stack copied short");
  EXPECT_EQ(profile.chains.cuts[0].chains, 1u);
}

TEST_F(UserUnwinderTest, AReturnAddressInNoMappingIsNoFrame) {
  std::ranges::fill(captured_.stack, std::byte{0x78});
  AddSample({}, captured_.stack.size());
  const Profile profile = Build();
  ASSERT_EQ(profile.rows.size(), 1u);
  EXPECT_EQ(StackText(profile, profile.rows[0].stack),
            "[cut: bad return address];InnermostForTest");
  ASSERT_EQ(profile.chains.cuts.size(), 1u);
  EXPECT_EQ(profile.chains.cuts[0].reason, "bad return address");
}

TEST_F(UserUnwinderTest, ASampleWithoutStackKeepsItsChain) {
  AddSample({kContextUser, captured_.registers[8]}, 0);
  const Profile profile = Build();
  ASSERT_EQ(profile.rows.size(), 1u);
  EXPECT_EQ(StackText(profile, profile.rows[0].stack), "InnermostForTest");
  EXPECT_EQ(profile.chains.chains(), 0u);
}

}  // namespace
}  // namespace profiler::profile

#endif  // __x86_64__
