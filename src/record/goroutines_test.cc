// The stage on samples of a program of Go that runs on the stack of a thread: what is on the stack
// of the goroutine was not copied.

#include <elf.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "ringbuf/fake_ring.h"
#include "src/perf_event/record_builder.h"
#include "src/record/unwind_stage.h"
#include "symbolize/elf/go_table_builder.h"

namespace profiler::record {
namespace {

// Of the file and, as far as numbers tell, of memory: nothing is mapped there.
constexpr uint64_t kBias = 0x10000000000;
constexpr uint64_t kOutermost = 0x1000, kSystemstack = 0x1100, kOnThread = 0x1200, kWork = 0x1300,
                   kMain = 0x1400;
constexpr uint64_t kStack = 0x20000000000;
constexpr uint64_t kOtherFrame = 0x30000000018;  // the frame pointer of main.work

constexpr uint64_t kRegisters = 0xff0fff;
constexpr size_t kFp = 6, kSp = 7, kPc = 8;

// main.work calls systemstack at its start, and main.main calls main.work.
std::vector<std::byte> ProgramFile() {
  symbolize::ByteBuilder code;
  const auto pad_to = [&](uint64_t address) {
    while (code.size() < address - kOutermost) code.U8(0x90);
  };
  const auto call = [&](uint64_t address, uint64_t function) {
    pad_to(address);
    code.U8(0xe8).U32(static_cast<uint32_t>(function - (address + 5)));
  };
  call(kWork + 0x3b, kSystemstack);
  call(kMain + 0x3b, kWork);
  pad_to(0x1500);
  const std::vector<symbolize::GoFunctionSpec> functions = {
      {.name = "runtime.goexit",
       .start = kOutermost,
       .flags = symbolize::GoFunctionSpec::kTopFrame},
      {.name = "runtime.systemstack",
       .start = kSystemstack,
       .flags = symbolize::GoFunctionSpec::kWritesStackPointer},
      {.name = "runtime.onThread", .start = kOnThread, .pieces = {{8, 0x100}}},
      {.name = "main.work", .start = kWork, .pieces = {{24, 0x100}}},
      {.name = "main.main", .start = kMain, .pieces = {{16, 0x100}}}};
  // The first section begins behind the file's header.
  constexpr uint64_t kTextOffset = 64;
  return symbolize::ElfBuilder()
      .Section(".text", kOutermost, code, SHF_ALLOC | SHF_EXECINSTR)
      .Section(".gopclntab", 0x8000, symbolize::GoTable(functions, 0x1500))
      .Segment(kTextOffset, kOutermost, code.size(), PF_X | PF_R)
      .Build();
}

class GoroutinesTest : public testing::Test {
 protected:
  void SetUp() override {
#if !defined(__x86_64__)
    GTEST_SKIP() << "tables of Go programs are read of x86-64 only";
#endif
    const std::string path = testing::TempDir() + "/goroutines";
    const std::vector<std::byte> file = ProgramFile();
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(file.data()),
               static_cast<std::streamsize>(file.size()));
    perf_event::RecordBuilder records(Opened());
    records.At(1).By(kPid, kPid).Mmap2(kBias + kOutermost, 0x500, 64, path);
    Publish(records);
  }

  static perf_event::Attr Written() {
    return perf_event::SampleAttr(perf_event::kSampleIdentifier | perf_event::kSampleIp |
                                  perf_event::kSampleTid | perf_event::kSampleTime |
                                  perf_event::kSampleCallchain);
  }
  static perf_event::Attr Opened() {
    perf_event::Attr attr = Written();
    attr.sample_type |= perf_event::kSampleRegsUser | perf_event::kSampleStackUser;
    attr.sample_regs_user = kRegisters;
    attr.sample_stack_user = 16384;
    return attr;
  }

  void Publish(const perf_event::RecordBuilder& records) {
    for (const auto record : records.records()) ASSERT_TRUE(ring_.Publish(record.bytes()));
  }

  // In what systemstack called. `kernel`: return addresses that frame pointers led the kernel to.
  std::string Unwind(const std::vector<uint64_t>& kernel) {
    std::array<uint64_t, 20> registers{};
    registers[kFp] = kStack;
    registers[kSp] = kStack;
    registers[kPc] = kBias + kOnThread + 0x20;
    symbolize::ByteBuilder stack;
    stack.U64(kOtherFrame).U64(kBias + kSystemstack + 0x49).U64(1).U64(2);
    std::vector<uint64_t> chain = {perf_event::kContextUser, registers[kPc]};
    chain.insert(chain.end(), kernel.begin(), kernel.end());
    perf_event::Sample sample;
    sample.pid = sample.tid = kPid;
    sample.time = 2;
    sample.ip = registers[kPc];
    sample.callchain = perf_event::U64Array(std::as_bytes(std::span(chain)));
    sample.user_regs = {perf_event::kRegsAbi64, kRegisters, std::as_bytes(std::span(registers))};
    sample.user_stack = stack.bytes();
    perf_event::RecordBuilder records(Opened());
    records.Add(perf_event::kRecordSample, perf_event::kMiscUser, sample);
    Publish(records);
    return Pass();
  }

  // The chain that was written, as addresses in the file, and how it was found.
  std::string Pass() {
    std::vector<ringbuf::RingPass> passes = {{0, ring_.view().Peek(), kRing, 0, 0}};
    passes[0].consume = passes[0].bytes.size();
    EXPECT_TRUE(stage_.Take(passes, /*last=*/true).ok());
    ring_.view().Consume(passes[0].consume);
    std::string text;
    ringbuf::RingBytes bytes;
    bytes.spans[0] = stage_.output();
    ringbuf::BounceBuffer bounce;
    ringbuf::RecordCursor cursor(bytes, bounce);
    while (const auto record = cursor.Next()) {
      if (record->type() != perf_event::kRecordSample) continue;
      perf_event::Sample sample;
      EXPECT_TRUE(Decode(*record, written_, &sample));
      for (size_t i = 1; i < sample.callchain.size(); ++i) {
        absl::StrAppend(&text, absl::Hex(sample.callchain[i] - kBias), " ");
      }
    }
    const ChainQuality quality = stage_.quality();
    return absl::StrCat(text, "guessed ", quality.guessed, " cut ", quality.cut());
  }

  static constexpr size_t kRing = 1 << 20;
  static constexpr uint32_t kPid = 5'000'000;  // above what the kernel gives
  const perf_event::RecordLayout written_{Written()};
  ringbuf::FakeRing ring_{kRing};
  UnwindStage stage_{{{perf_event::RecordLayout(Opened()), written_}}, procfs::Roots()};
};

constexpr uint64_t kInSystemstack = kBias + kSystemstack + 0x49, kInMain = kBias + kMain + 0x40,
                   kAtStart = kBias + kOutermost + 1;

TEST_F(GoroutinesTest, FramePointersOfTheKernelLeadOnAndWhoTheyLeaveOutIsFoundByItsCall) {
  EXPECT_EQ(Unwind({kInSystemstack, kInMain, kAtStart}),
            "1220 1148 133f 143f 1000 guessed 1 cut 0");
}

TEST_F(GoroutinesTest, WhereNothingCallsDirectlyNobodyIsMadeUp) {
  EXPECT_EQ(Unwind({kInSystemstack, kInMain + 1, kAtStart}), "1220 1148 guessed 0 cut 1");
}

TEST_F(GoroutinesTest, FramePointersThatLeadNowhereAreNotFollowed) {
  EXPECT_EQ(Unwind({kInSystemstack, kInMain}), "1220 1148 guessed 0 cut 1");
  EXPECT_EQ(Unwind({kInSystemstack, kInMain, 0x1234}), "1220 1148 guessed 0 cut 2");
  EXPECT_EQ(Unwind({kInMain, kAtStart}), "1220 1148 guessed 0 cut 3");
  EXPECT_EQ(Unwind({}), "1220 1148 guessed 0 cut 4");
}

}  // namespace
}  // namespace profiler::record
