// Tests the stage on samples of a Go program that runs on the stack of a thread. Such samples do
// not have the goroutine's own stack.

#include <elf.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "ringbuf/testing/fake_ring.h"
#include "src/format/perf_event/testing/record_builder.h"
#include "src/record/unwind_stage.h"
#include "symbolize/go/table/testing/table_builder.h"

namespace profiler::record {
namespace {

// Difference between an address in memory and its address in the file. Nothing of this process is
// mapped there.
constexpr uint64_t kBias = 0x10000000000;
constexpr uint64_t kOutermost = 0x1000, kSystemstack = 0x1100, kOnThread = 0x1200, kWork = 0x1300,
                   kMain = 0x1400, kAsmcgocall = 0x1500, kCgocall = 0x1600, kStub = 0x1700,
                   kCgocallback = 0x1800, kInCallback = 0x1900, kFunctionOfC = 0x1a00,
                   kOtherStub = 0x1b00, kOtherFunctionOfC = 0x1c00, kVariables = 0x1d00,
                   kEnd = 0x1e00;
constexpr uint64_t kStack = 0x20000000000;
constexpr uint64_t kOtherFrame = 0x30000000018;  // the frame pointer of main.work

constexpr uint64_t kRegisters = 0xff0fff;
constexpr size_t kFp = 6, kSp = 7, kPc = 8;

// Makes a program: main.main calls main.work and the stubs, which call C. If `is_newer`,
// asmcgocall, which switches stacks to call C, has a frame, as in newer versions of Go.
std::vector<std::byte> ProgramFile(bool is_newer) {
  symbolize::ByteBuilder code;
  const auto pad_to = [&](uint64_t address) {
    while (code.size() < address - kOutermost) code.U8(0x90);
  };
  const auto call = [&](uint64_t address, uint64_t function) {
    pad_to(address);
    code.U8(0xe8).U32(static_cast<uint32_t>(function - (address + 5)));
  };
  const auto stub = [&](uint64_t address, uint64_t variable) {
    pad_to(address + 0x30);
    code.U8(0x48).U8(0x8b).U8(0x05).U32(static_cast<uint32_t>(variable - (address + 0x37)));
    call(address + 0x3b, kCgocall);
  };
  call(kWork + 0x1b, kMain);
  call(kWork + 0x3b, kSystemstack);
  call(kMain + 0x3b, kWork);
  call(kMain + 0x5b, kStub);
  call(kMain + 0x7b, kOtherStub);
  call(kMain + 0x9b, kMain);
  pad_to(kAsmcgocall + 0x49);
  for (const int byte : {0x48, 0x8b, 0x7c, 0x24, 0x30, 0x48, 0x8b, 0x77, 0x08, 0x48, 0x2b, 0x74}) {
    code.U8(byte);
  }
  call(kCgocall + 0x3b, kAsmcgocall);
  stub(kStub, kVariables);
  stub(kOtherStub, kVariables + 8);
  pad_to(kVariables);
  code.U64(kBias + kFunctionOfC).U64(kBias + kOtherFunctionOfC);
  pad_to(kEnd);
  constexpr int kWritesStackPointer = symbolize::GoFunctionSpec::kWritesStackPointer;
  const std::vector<symbolize::GoFunctionSpec> functions = {
      {.name = "runtime.goexit",
       .start = kOutermost,
       .flags = symbolize::GoFunctionSpec::kTopFrame},
      {.name = "runtime.systemstack", .start = kSystemstack, .flags = kWritesStackPointer},
      {.name = "runtime.onThread", .start = kOnThread, .pieces = {{8, 0x100}}},
      {.name = "main.work", .start = kWork, .pieces = {{24, 0x100}}},
      {.name = "main.main", .start = kMain, .pieces = {{16, 0x100}}},
      {.name = "runtime.asmcgocall",
       .start = kAsmcgocall,
       .pieces = {{is_newer ? 8 : 0, 0x100}},
       .flags = kWritesStackPointer},
      {.name = "runtime.cgocall", .start = kCgocall, .pieces = {{24, 0x100}}},
      {.name = "main._Cfunc_f", .start = kStub, .pieces = {{16, 0x100}}},
      {.name = "runtime.cgocallback",
       .start = kCgocallback,
       .pieces = {{32, 0x100}},
       .flags = kWritesStackPointer},
      {.name = "runtime.cgocallbackg", .start = kInCallback, .pieces = {{8, 0x100}}},
      {.name = "f", .start = kFunctionOfC, .pieces = {{8, 0x100}}},
      {.name = "main._Cfunc_g", .start = kOtherStub, .pieces = {{16, 0x100}}},
      {.name = "g", .start = kOtherFunctionOfC, .pieces = {{8, 0x100}}}};
  // The file's header has 64 bytes.
  constexpr uint64_t kTextOffset = 64;
  return symbolize::ElfBuilder()
      .Section(".text", kOutermost, code, SHF_ALLOC | SHF_EXECINSTR)
      .Section(".gopclntab", 0x8000, symbolize::GoTable(functions, kEnd))
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
    const std::vector<std::byte> file = ProgramFile(is_newer_);
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(file.data()),
               static_cast<std::streamsize>(file.size()));
    for (const uint32_t pid : {kPid, static_cast<uint32_t>(getpid())}) {
      perf_event::RecordBuilder records(Opened());
      records.At(1).By(pid, pid).Mmap2(kBias + kOutermost, kEnd - kOutermost, 64, path);
      Publish(records);
    }
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

  // Unwinds in a function that systemstack called. `kernel` has the return addresses that the
  // kernel found by frame pointers.
  std::string Unwind(const std::vector<uint64_t>& kernel) {
    return UnwindStack(kOnThread, {kOtherFrame, kBias + kSystemstack + 0x49, 1, 2}, kernel);
  }
  // Unwinds in a C function that a goroutine called. The kernel found no return addresses.
  std::string UnwindC(uint64_t function, uint64_t frame_pointer) {
    return UnwindStack(function, {frame_pointer, kBias + kAsmcgocall + 0x49, 1, 2}, {});
  }
  // Unwinds in a Go function that C called, on a goroutine's stack. The frame of cgocall is at
  // kStack + 80. In a newer Go, asmcgocall has a frame at kStack + 56, and the frame of cgocall is
  // at kStack + 88.
  std::string UnwindCallback(uint64_t stub) {
    std::vector<uint64_t> words = {0, kBias + kCgocallback + 0x40, 1, 2, 3,
                                   4, kBias + kSystemstack};
    if (is_newer_) words.push_back(kStack + 88);
    for (const uint64_t word :
         {kBias + kCgocall + 0x40, uint64_t{5}, uint64_t{6}, uint64_t{7}, kBias + stub + 0x40,
          uint64_t{8}, uint64_t{9}, kBias + kMain + (stub == kStub ? 0x60 : 0x80), uint64_t{10},
          uint64_t{11}, kBias + kOutermost + 1}) {
      words.push_back(word);
    }
    return UnwindStack(kInCallback, words, {});
  }

  std::string UnwindStack(uint64_t function, const std::vector<uint64_t>& words,
                          const std::vector<uint64_t>& kernel) {
    std::array<uint64_t, 20> registers{};
    registers[kFp] = kStack;
    registers[kSp] = kStack;
    registers[kPc] = kBias + function + 0x20;
    symbolize::ByteBuilder stack;
    for (const uint64_t word : words) stack.U64(word);
    std::vector<uint64_t> chain = {perf_event::kContextUser, registers[kPc]};
    chain.insert(chain.end(), kernel.begin(), kernel.end());
    perf_event::Sample sample;
    sample.pid = pid_;
    sample.tid = tid_;
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

  // Returns the written chain, as addresses in the file, and its quality.
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
        const uint64_t entry = sample.callchain[i];
        if (IsCutMark(entry)) {
          absl::StrAppend(&text, "cut:", entry - kCutMarks, " ");
        } else {
          absl::StrAppend(&text, absl::Hex(entry - kBias), " ");
        }
      }
    }
    const ChainQuality quality = stage_.quality();
    return absl::StrCat(text, "guessed ", quality.guessed, " cut ", quality.cut());
  }

  static constexpr size_t kRing = 1 << 20;
  static constexpr uint32_t kPid = 5'000'000;  // above the kernel's largest pid
  uint32_t pid_ = kPid, tid_ = kPid;
  bool is_newer_ = false;
  const perf_event::RecordLayout written_{Written()};
  ringbuf::FakeRing ring_{kRing};
  UnwindStage stage_{{{perf_event::RecordLayout(Opened()), written_}}, procfs::Roots()};
};

class NewerGoroutinesTest : public GoroutinesTest {
 protected:
  NewerGoroutinesTest() { is_newer_ = true; }
};

constexpr uint64_t kInSystemstack = kBias + kSystemstack + 0x49, kInMain = kBias + kMain + 0x40,
                   kAtStart = kBias + kOutermost + 1;

TEST_F(GoroutinesTest, FramePointersOfTheKernelLeadOnAndWhoTheyLeaveOutIsFoundByItsCall) {
  EXPECT_EQ(Unwind({kInSystemstack, kInMain, kAtStart}),
            "1220 1148 133f 143f 1000 guessed 1 cut 0");
}

TEST_F(GoroutinesTest, WhereNothingCallsDirectlyNobodyIsMadeUp) {
  EXPECT_EQ(Unwind({kInSystemstack, kInMain + 1, kAtStart}), "1220 1148 cut:9 guessed 0 cut 1");
}

TEST_F(GoroutinesTest, FramePointersThatLeadNowhereAreNotFollowed) {
  EXPECT_EQ(Unwind({kInSystemstack, kInMain}), "1220 1148 cut:9 guessed 0 cut 1");
  EXPECT_EQ(Unwind({kInSystemstack, kInMain, 0x1234}), "1220 1148 cut:9 guessed 0 cut 2");
  EXPECT_EQ(Unwind({kInMain, kAtStart}), "1220 1148 cut:9 guessed 0 cut 3");
  EXPECT_EQ(Unwind({}), "1220 1148 cut:9 guessed 0 cut 4");
}

TEST_F(GoroutinesTest, WhoCalledWithTheSameFunctionBeforeSaysNothingOfThisCall) {
  Unwind({kInSystemstack, kInMain, kAtStart});
  EXPECT_EQ(Unwind({kInSystemstack, kAtStart}), "1220 1148 cut:9 guessed 1 cut 1");
}

TEST_F(GoroutinesTest, WhereCHasCalledGoTheChainGoesOnWithoutTheC) {
  EXPECT_EQ(UnwindCallback(kStub), "1920 183f 163f 173f 145f 1000 guessed 1 cut 0");
}

TEST_F(GoroutinesTest, ACallOfCThatWasSeenBeforeSaysNothingOfTheNextOne) {
  UnwindCallback(kStub);
  EXPECT_EQ(UnwindC(kFunctionOfC, kStack + 80), "1a20 1548 cut:9 guessed 1 cut 1");
}

TEST_F(NewerGoroutinesTest, WhereCHasCalledGoTheChainGoesOnWithoutTheC) {
  EXPECT_EQ(UnwindCallback(kStub), "1920 183f 163f 173f 145f 1000 guessed 1 cut 0");
}

TEST_F(NewerGoroutinesTest, ACallOfCThatWasSeenBeforeSaysNothingOfTheNextOne) {
  UnwindCallback(kStub);
  EXPECT_EQ(UnwindC(kFunctionOfC, kStack + 56), "1a20 1548 cut:9 guessed 1 cut 1");
}

}  // namespace
}  // namespace profiler::record
