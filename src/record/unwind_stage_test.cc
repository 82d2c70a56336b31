// Tests the stage on samples of this process: registers and stack bytes are those of the running
// test.

#include "src/record/unwind_stage.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "ringbuf/testing/counted_new.h"
#include "ringbuf/testing/fake_ring.h"
#include "src/format/perf_event/testing/record_builder.h"
#include "src/machine/procfs/memory_map.h"
#include "src/record/testing/stack_record_builder.h"

namespace profiler::record {
namespace {

using perf_event::Attr;
using perf_event::RecordBuilder;

constexpr uint64_t kRegisters = 0xff0fff;

// A sample of the calling function while it runs, as the kernel would copy it.
struct Captured {
  std::array<uint64_t, 20> registers{};
  std::vector<std::byte> stack;
};

#if defined(__x86_64__)
[[gnu::noinline]] Captured Capture(size_t stack_bytes) {
  ucontext_t context;
  getcontext(&context);
  const auto& regs = context.uc_mcontext.gregs;
  constexpr std::array<int, 20> kOrder = {REG_RAX,    REG_RBX,    REG_RCX, REG_RDX, REG_RSI,
                                          REG_RDI,    REG_RBP,    REG_RSP, REG_RIP, REG_EFL,
                                          REG_CSGSFS, REG_CSGSFS, REG_R8,  REG_R9,  REG_R10,
                                          REG_R11,    REG_R12,    REG_R13, REG_R14, REG_R15};
  Captured captured;
  for (size_t i = 0; i < kOrder.size(); ++i) {
    captured.registers[i] = static_cast<uint64_t>(regs[kOrder[i]]);
  }
  // Copies at most the bytes up to the end of the stack, as the kernel does.
  captured.stack.resize(stack_bytes);
  const int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  const ssize_t size = pread(memory, captured.stack.data(), stack_bytes, regs[REG_RSP]);
  close(memory);
  captured.stack.resize(size < 0 ? 0 : static_cast<size_t>(size));
  return captured;
}
#endif

// Calls `body` with `frames` frames in between.
[[gnu::noinline]] void Deep(int frames,
                            const std::function<void()>& body) {  // NOLINT(misc-no-recursion)
  if (frames == 0) {
    body();
  } else {
    Deep(frames - 1, body);
  }
  asm volatile("");
}

class UnwindStageTest : public testing::Test {
 protected:
  static constexpr size_t kRing = 1 << 20;

  void SetUp() override {
#if !defined(__x86_64__)
    GTEST_SKIP() << "the test captures registers of x86-64 only";
#endif
  }

  static Attr Written() {
    return perf_event::SampleAttr(perf_event::kSampleIdentifier | perf_event::kSampleIp |
                                  perf_event::kSampleTid | perf_event::kSampleTime |
                                  perf_event::kSampleCallchain);
  }
  static Attr Opened() {
    Attr attr = Written();
    attr.sample_type |= perf_event::kSampleRegsUser | perf_event::kSampleStackUser;
    attr.sample_regs_user = kRegisters;
    attr.sample_stack_user = 16384;
    return attr;
  }

  static perf_event::Sample SampleOf(const Captured& captured, uint64_t time) {
    perf_event::Sample sample;
    sample.pid = sample.tid = static_cast<uint32_t>(getpid());
    sample.time = time;
    sample.ip = captured.registers[8];
    sample.user_regs = {perf_event::kRegsAbi64, kRegisters,
                        std::as_bytes(std::span(captured.registers))};
    sample.user_stack = captured.stack;
    return sample;
  }

  void Publish(size_t ring, const RecordBuilder& records) {
    for (const auto record : records.records()) {
      ASSERT_TRUE(rings_[ring].Publish(record.bytes()));
    }
  }
  void PublishSample(size_t ring, const Captured& captured, uint64_t time) {
    RecordBuilder records(Opened());
    records.Add(perf_event::kRecordSample, perf_event::kMiscUser, SampleOf(captured, time));
    Publish(ring, records);
  }
  // Publishes the executable mappings of this process as MMAP2 records. If `program` is not empty,
  // it replaces the name of the test's own program.
  void PublishMappings(size_t ring, uint64_t time, const std::string& program = "") {
    std::string maps;
    ASSERT_TRUE(procfs::ReadFile("/proc/self/maps", &maps).ok());
    RecordBuilder records(Opened());
    const auto pid = static_cast<uint32_t>(getpid());
    records.At(time).By(pid, pid);
    const std::string own_path = std::filesystem::read_symlink("/proc/self/exe");
    for (procfs::TextScanner lines(maps); !lines.done();) {
      const auto map = procfs::ParseMapsLine(lines.Until('\n'));
      if (!map || (map->prot & PROT_EXEC) == 0) continue;
      const bool is_program = !program.empty() && map->name == own_path;
      records.Mmap2(map->start, map->end - map->start, map->pgoff,
                    is_program ? program : std::string(map->name));
    }
    Publish(ring, records);
  }

  // Runs one pass that began at `began`. Returns the records that it wrote, one per line.
  std::string Pass(uint64_t began, bool last = false) {
    std::vector<ringbuf::RingPass> passes;
    for (auto& ring : rings_) {
      const ringbuf::RingBytes bytes = ring.view().Peek();
      passes.push_back({0, bytes, kRing, began, bytes.size()});
    }
    const absl::Status status = stage_.Take(passes, last);
    EXPECT_TRUE(status.ok()) << status;
    for (size_t i = 0; i < rings_.size(); ++i) rings_[i].view().Consume(passes[i].consume);
    std::string text;
    ringbuf::RingBytes bytes;
    bytes.spans[0] = stage_.output();
    ringbuf::BounceBuffer bounce;
    ringbuf::RecordCursor cursor(bytes, bounce);
    while (const auto record = cursor.Next()) {
      if (record->type() != perf_event::kRecordSample) continue;
      perf_event::Sample sample;
      EXPECT_TRUE(Decode(*record, written_, &sample));
      chain_.clear();
      for (size_t i = 0; i < sample.callchain.size(); ++i) chain_.push_back(sample.callchain[i]);
      absl::StrAppend(&text, "sample at ", sample.time, "\n");
    }
    EXPECT_TRUE(cursor.status().ok());
    return text;
  }

  std::string Quality() {
    const ChainQuality q = stage_.quality();
    return absl::StrCat("complete ", q.complete, " guessed ", q.guessed, " cut ", q.cut(),
                        q.no_stack == 0 ? "" : absl::StrCat(" no stack ", q.no_stack));
  }

  const perf_event::RecordLayout written_{Written()};
  std::array<ringbuf::FakeRing, 2> rings_{ringbuf::FakeRing(kRing), ringbuf::FakeRing(kRing)};
  UnwindStage stage_{{{perf_event::RecordLayout(Opened()), written_}}, procfs::Roots()};
  std::vector<uint64_t> chain_;  // chain of the last sample
};

#if defined(__x86_64__)

TEST_F(UnwindStageTest, WritesAnOrdinaryCallChainInPlaceOfTheStack) {
  PublishMappings(0, 1);
  Deep(20, [&] { PublishSample(0, Capture(16384), 2); });
  EXPECT_EQ(Pass(0, /*last=*/true), "sample at 2\n");
  EXPECT_EQ(Quality(), "complete 1 guessed 0 cut 0");
  EXPECT_GT(chain_.size(), 22u);
  EXPECT_EQ(chain_[0], perf_event::kContextUser);
}

TEST_F(UnwindStageTest, KeepsTheRegistersThatWereAskedFor) {
  Attr written = Written();
  written.sample_type |= perf_event::kSampleRegsUser;
  written.sample_regs_user = uint64_t{1} << 7 | uint64_t{1} << 8;  // sp and ip
  const perf_event::RecordLayout layout(written);
  UnwindStage stage({{perf_event::RecordLayout(Opened()), layout}}, procfs::Roots());
  const Captured captured = Capture(16384);
  RecordBuilder records(Opened());
  records.Add(perf_event::kRecordSample, perf_event::kMiscUser, SampleOf(captured, 2));
  Publish(0, records);
  const ringbuf::RingBytes bytes = rings_[0].view().Peek();
  std::vector<ringbuf::RingPass> passes = {{0, bytes, kRing, 0, bytes.size()}};
  ASSERT_TRUE(stage.Take(passes, /*last=*/true).ok());
  ringbuf::RingBytes output;
  output.spans[0] = stage.output();
  ringbuf::BounceBuffer bounce;
  ringbuf::RecordCursor cursor(output, bounce);
  const auto record = cursor.Next();
  ASSERT_TRUE(record.has_value());
  perf_event::Sample sample;
  ASSERT_TRUE(Decode(*record, layout, &sample));
  const perf_event::U64Array values(sample.user_regs.values);
  ASSERT_EQ(values.size(), 2u);
  EXPECT_EQ(values[0], captured.registers[7]);
  EXPECT_EQ(values[1], captured.registers[8]);
}

// The event without stacks has a layout of its own.
TEST_F(UnwindStageTest, SamplesOfAnEventWithoutStacksGoIntoTheFileAsTheyAre) {
  constexpr uint64_t kUnwound = 21, kPlain = 22;
  UnwindStage stage({{perf_event::RecordLayout(Opened()), written_}, {written_, written_}},
                    procfs::Roots());
  stage.AddId(kUnwound, 0);
  stage.AddId(kPlain, 1);
  PublishMappings(0, 1);
  const Captured captured = Capture(16384);
  perf_event::Sample unwound = SampleOf(captured, 2);
  unwound.id = kUnwound;
  perf_event::Sample plain;
  plain.id = kPlain;
  plain.time = 3;
  const std::array<uint64_t, 2> chain = {perf_event::kContextUser, 0x1234};
  plain.callchain = perf_event::U64Array(std::as_bytes(std::span(chain)));
  RecordBuilder opened(Opened()), written(Written());
  opened.Add(perf_event::kRecordSample, perf_event::kMiscUser, unwound);
  written.Add(perf_event::kRecordSample, perf_event::kMiscUser, plain);
  Publish(0, opened);
  Publish(0, written);
  const ringbuf::RingBytes bytes = rings_[0].view().Peek();
  std::vector<ringbuf::RingPass> passes = {{0, bytes, kRing, 0, bytes.size()}};
  ASSERT_TRUE(stage.Take(passes, /*last=*/true).ok());

  std::vector<std::pair<uint64_t, size_t>> found;  // id and chain length of each sample
  ringbuf::RingBytes output;
  output.spans[0] = stage.output();
  ringbuf::BounceBuffer bounce;
  ringbuf::RecordCursor cursor(output, bounce);
  while (const auto record = cursor.Next()) {
    perf_event::Sample sample;
    if (record->type() != perf_event::kRecordSample) continue;
    ASSERT_TRUE(Decode(*record, written_, &sample));
    found.emplace_back(sample.id, sample.callchain.size());
  }
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].first, kUnwound);
  EXPECT_GT(found[0].second, 2u);
  EXPECT_EQ(found[1], (std::pair<uint64_t, size_t>(kPlain, 2)));
}

// Files have no event for the records of programs in the kernel, so no record may name it.
TEST_F(UnwindStageTest, LossesThatTheEventOfProgramsReportsAreThoseOfTheFirstEvent) {
  constexpr uint64_t kSampled = 21, kOutput = 23;
  UnwindStage stage({{perf_event::RecordLayout(Opened()), written_},
                     {.opened = written_, .written = written_, .is_output = true}},
                    procfs::Roots());
  stage.AddId(kSampled, 0);
  stage.AddId(kOutput, 1);
  perf_event::Lost lost;
  lost.id = lost.sample_id.id = kOutput;
  lost.lost = 5;
  RecordBuilder records(Opened());
  records.Add(perf_event::kRecordLost, 0, lost);
  Publish(0, records);
  const ringbuf::RingBytes bytes = rings_[0].view().Peek();
  std::vector<ringbuf::RingPass> passes = {{0, bytes, kRing, 0, bytes.size()}};
  ASSERT_TRUE(stage.Take(passes, /*last=*/true).ok());

  perf_event::Lost found;
  const perf_event::RawRecord record(stage.output());
  ASSERT_EQ(record.type(), perf_event::kRecordLost);
  ASSERT_TRUE(Decode(record, written_, &found));
  EXPECT_EQ(found.lost, 5u);
  EXPECT_EQ(found.id, kSampled);
  EXPECT_EQ(found.sample_id.id, kSampled);
}

// Follows all threads.
class CountingFollower final : public StackFollower {
 public:
  bool Follow(uint32_t, const FollowedThread&) override { return ++followed > 0; }
  void Leave(uint32_t) override { --followed; }
  int followed = 0;
};

class LargeStackTest : public UnwindStageTest {
 protected:
  static constexpr uint64_t kSampled = 21, kOutput = 23;

  static Attr Output() {
    Attr attr = Written();
    attr.sample_type &= ~perf_event::kSampleCallchain;
    attr.sample_type |= perf_event::kSampleRaw;
    return attr;
  }

  LargeStackTest()
      : stage_({{perf_event::RecordLayout(Opened()), written_},
                {.opened = perf_event::RecordLayout(Output()),
                 .written = perf_event::RecordLayout(Output()),
                 .is_output = true}},
               procfs::Roots()) {
    stage_.AddId(kSampled, 0);
    stage_.AddId(kOutput, 1);
    stage_.SetStackFollower(&follower_);
  }

  // Captures a stack of some ten KiB, of which samples copy a small part.
  void CaptureDeep() {
    PublishMappings(0, 1);
    Deep(300, [&] { captured_ = Capture(65536); });
    ASSERT_GT(captured_.stack.size(), 10 * kCopied);
  }

  // Publishes the words of the stack, as the kernel would write them before a sample of thread `tid`.
  void PublishWords(uint32_t tid) {
    constexpr uint64_t kPage = kStackPageBytes;
    const uint64_t sp = captured_.registers[7];
    const uint64_t from = sp / kPage * kPage;
    const uint64_t to = (sp + captured_.stack.size()) / kPage * kPage;
    StackRecordBuilder words(sp, from, to);
    for (uint64_t address = sp; address < to; address += sizeof(uint64_t)) {
      if (address == sp || address % kPage == 0) words.Page(address / kPage * kPage);
      uint64_t word = 0;
      std::memcpy(&word, captured_.stack.data() + (address - sp), sizeof(word));
      if (word != 0 && word >> 48 == 0) words.Word(address % kPage / sizeof(word), word);
    }
    perf_event::Sample sample;
    sample.id = kOutput;
    sample.pid = static_cast<uint32_t>(getpid());
    sample.tid = tid;
    sample.time = 2;
    sample.raw = words.bytes();
    RecordBuilder records(Output());
    records.Add(perf_event::kRecordSample, perf_event::kMiscUser, sample);
    Publish(0, records);
  }
  void PublishSample() {
    perf_event::Sample sample = SampleOf(captured_, 2);
    sample.id = kSampled;
    sample.user_stack = sample.user_stack.first(kCopied);
    RecordBuilder records(Opened());
    records.Add(perf_event::kRecordSample, perf_event::kMiscUser, sample);
    Publish(0, records);
  }

  // Takes the records, and returns the numbers of whole and cut chains so far.
  std::string Chains() {
    const ringbuf::RingBytes bytes = rings_[0].view().Peek();
    std::vector<ringbuf::RingPass> passes = {{0, bytes, kRing, 0, bytes.size()}};
    EXPECT_TRUE(stage_.Take(passes, /*last=*/true).ok());
    rings_[0].view().Consume(passes[0].consume);
    const ChainQuality quality = stage_.quality();
    return absl::StrCat("whole ", quality.whole(), " cut ", quality.cut());
  }

  static constexpr size_t kCopied = 1024;
  Captured captured_;
  CountingFollower follower_;
  UnwindStage stage_;
};

TEST_F(LargeStackTest, TheRestOfTheStackComesFromTheRecordBeforeTheSample) {
  CaptureDeep();
  PublishSample();
  EXPECT_EQ(Chains(), "whole 0 cut 1");
  EXPECT_EQ(follower_.followed, 1);
  PublishWords(static_cast<uint32_t>(getpid()));
  PublishSample();
  EXPECT_EQ(Chains(), "whole 1 cut 1");
}

TEST_F(LargeStackTest, ARecordIsOfTheNextSampleOfItsThreadOnly) {
  CaptureDeep();
  PublishWords(static_cast<uint32_t>(getpid()) + 1);
  PublishSample();
  EXPECT_EQ(Chains(), "whole 0 cut 1") << "another thread";
  PublishWords(static_cast<uint32_t>(getpid()));
  PublishSample();
  PublishSample();
  EXPECT_EQ(Chains(), "whole 1 cut 2") << "a later sample";
}

TEST_F(LargeStackTest, AThreadThatEndsIsLeft) {
  CaptureDeep();
  PublishSample();
  Chains();
  RecordBuilder records(Opened());
  const auto pid = static_cast<uint32_t>(getpid());
  records.Add(perf_event::kRecordExit, 0,
              perf_event::Task{.pid = pid, .ppid = pid, .tid = pid, .ptid = pid, .time = 3});
  Publish(0, records);
  Chains();
  EXPECT_EQ(follower_.followed, 0);
}

// A build may overwrite a program that ran a moment ago. The new contents are not used until the
// file is mapped again.
TEST_F(UnwindStageTest, AProgramThatIsOverwrittenEndsItsChainsUntilItIsMappedAgain) {
  const std::string program = testing::TempDir() + "/overwritten";
  const auto write = [&] {
    std::filesystem::copy_file("/proc/self/exe", program,
                               std::filesystem::copy_options::overwrite_existing);
  };
  write();
  PublishMappings(0, 1, program);
  Pass(0, /*last=*/true);
  std::filesystem::resize_file(program, 0);
  PublishSample(0, Capture(16384), 2);
  Pass(0, /*last=*/true);
  ASSERT_EQ(stage_.quality().cuts.size(), 1u);
  EXPECT_EQ(stage_.quality().cuts[0].reason, "file changed");
  EXPECT_EQ(stage_.quality().cuts[0].image, program);

  write();
  PublishMappings(0, 3, program);
  PublishSample(0, Capture(16384), 4);
  Pass(0, /*last=*/true);
  EXPECT_EQ(Quality(), "complete 1 guessed 0 cut 1");
}

TEST_F(UnwindStageTest, TheKernelsPartStaysInFront) {
  PublishMappings(0, 1);
  const Captured captured = Capture(16384);
  perf_event::Sample sample = SampleOf(captured, 2);
  const std::array<uint64_t, 3> kernel = {perf_event::kContextKernel, 0xffffffff81000000,
                                          0xffffffff81000010};
  sample.callchain = perf_event::U64Array(std::as_bytes(std::span(kernel)));
  RecordBuilder records(Opened());
  records.Add(perf_event::kRecordSample, perf_event::kMiscKernel, sample);
  Publish(0, records);
  Pass(0, /*last=*/true);
  ASSERT_GT(chain_.size(), 5u);
  EXPECT_TRUE(std::equal(kernel.begin(), kernel.end(), chain_.begin()));
  EXPECT_EQ(chain_[3], perf_event::kContextUser);
  EXPECT_EQ(chain_[4], captured.registers[8]);
}

TEST_F(UnwindStageTest, AMappingPublishedAfterALaterSampleIsAppliedBeforeIt) {
  PublishSample(0, Capture(16384), 2'000'000);
  EXPECT_EQ(Pass(2'100'000), "") << "the margin is not over";
  PublishMappings(1, 1'900'000);
  EXPECT_EQ(Pass(3'000'000), "sample at 2000000\n");
  EXPECT_EQ(Quality(), "complete 1 guessed 0 cut 0");
}

TEST_F(UnwindStageTest, TheLastPassLeavesNothingBehind) {
  PublishSample(0, Capture(16384), 2'000'000);
  EXPECT_EQ(Pass(2'000'001, /*last=*/true), "sample at 2000000\n");
  EXPECT_EQ(rings_[0].head(), rings_[0].tail());
}

// The thread still has the stack with the same calls as in the sample, but the stage cannot know
// that.
TEST_F(UnwindStageTest, AChainThatIsLongerThanTheCopiedStackIsCutThereAndSaysWhy) {
  PublishMappings(0, 1);
  Deep(300, [&] {
    PublishSample(0, Capture(65536), 2);
    Pass(0, /*last=*/true);
    const std::vector<uint64_t> whole = chain_;
    ASSERT_GT(whole.size(), 300u);
    PublishSample(0, Capture(1024), 3);
    Pass(0, /*last=*/true);
    EXPECT_LT(chain_.size(), 60u);
    EXPECT_EQ(chain_.back(), kCutMarks + 4) << "stack copied short";
  });
  EXPECT_EQ(Quality(), "complete 1 guessed 0 cut 1");
  ASSERT_EQ(stage_.quality().cuts.size(), 1u);
  EXPECT_EQ(stage_.quality().cuts[0].reason, "stack copied short");
}

// Alpha() and Beta() call the same function at the same stack depth. A complete chain of Alpha()
// says nothing about the next chain, which does not fit into the copy.
[[gnu::noinline]] void Alpha(const std::function<void()>& body) {
  Deep(100, body);
  asm volatile("");
}
[[gnu::noinline]] void Beta(const std::function<void()>& body) {
  Deep(100, body);
  asm volatile("");
}

TEST_F(UnwindStageTest, NoCallerIsTakenFromAnEarlierChainOfTheSamePlace) {
  PublishMappings(0, 1);
  std::vector<uint64_t> alpha, beta;
  Alpha([&] {
    PublishSample(0, Capture(32768), 2);
    Pass(0, /*last=*/true);
    alpha = chain_;
  });
  Beta([&] {
    PublishSample(0, Capture(1024), 3);
    Pass(0, /*last=*/true);
    beta = chain_;
  });
  ASSERT_GT(alpha.size(), 100u);
  EXPECT_LT(beta.size(), alpha.size() / 2);
  EXPECT_TRUE(IsCutMark(beta.back()));
  EXPECT_FALSE(IsCutMark(alpha.back()));
}

TEST_F(UnwindStageTest, TheWeightOfCutChainsIsSummedUp) {
  PublishMappings(0, 1);
  perf_event::Attr attr = Opened();
  attr.sample_type |= perf_event::kSamplePeriod;
  UnwindStage stage(
      {{.opened = perf_event::RecordLayout(attr), .written = written_, .name = "cpu-clock"}},
      procfs::Roots());
  const ringbuf::RingBytes mappings = rings_[0].view().Peek();
  std::vector<ringbuf::RingPass> passes = {{0, mappings, kRing, 0, mappings.size()}};
  ASSERT_TRUE(stage.Take(passes, /*last=*/true).ok());
  rings_[0].view().Consume(mappings.size());
  Deep(100, [&] {
    for (const auto& [bytes, period] : {std::pair<size_t, uint64_t>(65536, 30), {1024, 70}}) {
      const Captured captured = Capture(bytes);
      perf_event::Sample sample = SampleOf(captured, 2);
      sample.period = period;
      RecordBuilder records(attr);
      records.Add(perf_event::kRecordSample, perf_event::kMiscUser, sample);
      Publish(0, records);
      const ringbuf::RingBytes pending = rings_[0].view().Peek();
      passes = {{0, pending, kRing, 0, pending.size()}};
      ASSERT_TRUE(stage.Take(passes, /*last=*/true).ok());
      rings_[0].view().Consume(pending.size());
    }
  });
  ASSERT_EQ(stage.weights().size(), 1u);
  EXPECT_EQ(stage.weights()[0].event, "cpu-clock");
  EXPECT_EQ(stage.weights()[0].whole, 30u);
  EXPECT_EQ(stage.weights()[0].cut, 70u);
}

TEST_F(UnwindStageTest, AReturnAddressInNoMappingIsNotWritten) {
  PublishMappings(0, 1);
  Captured captured = Capture(16384);
  std::ranges::fill(captured.stack, std::byte{0x78});
  PublishSample(0, captured, 2);
  Pass(0, /*last=*/true);
  EXPECT_EQ(chain_, (std::vector<uint64_t>{perf_event::kContextUser, captured.registers[8],
                                           kCutMarks + 8}));
  const ChainQuality quality = stage_.quality();
  ASSERT_EQ(quality.cuts.size(), 1u);
  EXPECT_EQ(quality.cuts[0].reason, "bad return address");
  EXPECT_FALSE(quality.cuts[0].image.empty()) << "whose code led there";
}

TEST_F(UnwindStageTest, ASampleWithoutUserRegistersHasTheKernelsChainAlone) {
  RecordBuilder records(Opened());
  perf_event::Sample sample;
  sample.time = 2;
  const std::array<uint64_t, 2> kernel = {perf_event::kContextKernel, 0xffffffff81000000};
  sample.callchain = perf_event::U64Array(std::as_bytes(std::span(kernel)));
  records.Add(perf_event::kRecordSample, perf_event::kMiscKernel, sample);
  Publish(0, records);
  Pass(0, /*last=*/true);
  EXPECT_EQ(chain_, std::vector(kernel.begin(), kernel.end()));
  EXPECT_EQ(stage_.quality().chains(), 0u);
}

// Removes the stack from a sample, but not the registers of the system call. The kernel takes such
// samples of a thread that has dropped its memory.
perf_event::Sample WithoutStack(perf_event::Sample sample) {
  sample.user_stack = {};
  sample.user_stack_size = 16384;
  return sample;
}
void EnterKernel(perf_event::Sample* sample) {
  static constexpr std::array<uint64_t, 2> kChain = {perf_event::kContextKernel,
                                                     0xffffffff81000000};
  sample->callchain = perf_event::U64Array(std::as_bytes(std::span(kChain)));
}

TEST_F(UnwindStageTest, ASystemCallThatDropsItsStackHasNoCallersFromBeforeThat) {
  PublishMappings(0, 1);
  const Captured captured = Capture(16384);
  perf_event::Sample before = SampleOf(captured, 2);
  EnterKernel(&before);
  perf_event::Sample after = before;
  after.time = 3;
  RecordBuilder records(Opened());
  records.Add(perf_event::kRecordSample, perf_event::kMiscKernel, before);
  Publish(0, records);
  Pass(0, /*last=*/true);
  EXPECT_EQ(Quality(), "complete 1 guessed 0 cut 0");
  // The stack pointer gets an unmapped address, because the test's own stack still exists.
  Captured gone = captured;
  gone.registers[6] = 0x10040;
  gone.registers[7] = 0x10000;
  after.user_regs.values = std::as_bytes(std::span(gone.registers));
  RecordBuilder later(Opened());
  later.Add(perf_event::kRecordSample, perf_event::kMiscKernel, WithoutStack(after));
  Publish(0, later);
  Pass(0, /*last=*/true);
  EXPECT_EQ(chain_.back(), kNoStackMark);
  EXPECT_EQ(chain_.size(), 5u);
  EXPECT_EQ(Quality(), "complete 1 guessed 0 cut 0 no stack 1");
}

TEST_F(UnwindStageTest, ASampleWhoseStackIsGoneIsNeitherWholeNorCut) {
  PublishMappings(0, 1);
  Captured captured = Capture(16384);
  // Stack pointer and frame pointer point to unmapped memory.
  captured.registers[6] = 0x10040;
  captured.registers[7] = 0x10000;
  perf_event::Sample sample = SampleOf(captured, 2);
  EnterKernel(&sample);
  RecordBuilder records(Opened());
  records.Add(perf_event::kRecordSample, perf_event::kMiscKernel, WithoutStack(sample));
  Publish(0, records);
  Pass(0, /*last=*/true);
  EXPECT_EQ(Quality(), "complete 0 guessed 0 cut 0 no stack 1");
  EXPECT_EQ(chain_.size(), 5u) << "the system call is known";
}

TEST_F(UnwindStageTest, NothingOfTheFormerProgramIsTakenForTheNextOnes) {
  Captured captured = Capture(16384);
  captured.registers[7] = 0x10000;
  perf_event::Sample sample = SampleOf(captured, 2);
  EnterKernel(&sample);
  RecordBuilder records(Opened());
  records.Add(perf_event::kRecordSample, perf_event::kMiscKernel, WithoutStack(sample));
  Publish(0, records);
  Pass(0, /*last=*/true);
  EXPECT_EQ(Quality(), "complete 0 guessed 0 cut 0 no stack 1");
  EXPECT_EQ(chain_.size(), 2u) << "the kernel's part alone";
}

// During exec, the kernel first drops the old memory, then reports the new program, then its
// mappings. The registers change after all of this.
TEST_F(UnwindStageTest, NothingOfTheNextProgramsStackIsTakenForTheFormerOnes) {
  PublishMappings(0, 1);
  const Captured captured = Capture(16384);
  const auto pid = static_cast<uint32_t>(getpid());
  perf_event::Sample sample = SampleOf(captured, 2);
  EnterKernel(&sample);
  RecordBuilder records(Opened());
  records.Add(perf_event::kRecordSample, perf_event::kMiscKernel, sample);
  Publish(0, records);
  Pass(0, /*last=*/true);
  const std::vector<uint64_t> whole = chain_;
  ASSERT_GT(whole.size(), 5u);

  RecordBuilder later(Opened());
  later.At(3).By(pid, pid).Comm("next", /*exec=*/true).Mmap2(0x1000, 0x1000, 0, "/bin/next");
  sample.time = 4;
  // The next program has another stack at the same address.
  const std::vector<std::byte> next_stack(16384, std::byte{1});
  sample.user_stack = next_stack;
  later.Add(perf_event::kRecordSample, perf_event::kMiscKernel, sample);
  Publish(0, later);
  EXPECT_EQ(Pass(0, /*last=*/true), "sample at 4\n");
  EXPECT_EQ(chain_, (std::vector<uint64_t>{whole[0], whole[1], whole[2], whole[3], kNoStackMark}))
      << "the system call alone";
  EXPECT_EQ(Quality(), "complete 1 guessed 0 cut 0 no stack 1");
}

// Takes samples of every kind from two rings: with complete chains, with chains in the kernel, with
// chains longer than the copied bytes, and without a stack.
TEST_F(UnwindStageTest, AllocatesNothingOnceItsBuffersHaveGrown) {
  PublishMappings(0, 1);
  uint64_t allocated = 0;
  Deep(100, [&] {
    const Captured whole = Capture(16384);
    const Captured cut = Capture(1024);
    for (uint64_t pass = 0; pass < 40; ++pass) {
      const uint64_t time = 10 + 10 * pass;
      PublishSample(0, whole, time);
      PublishSample(1, cut, time + 1);
      RecordBuilder records(Opened());
      for (const bool has_stack : {true, false}) {
        perf_event::Sample sample = SampleOf(whole, time + (has_stack ? 2 : 3));
        EnterKernel(&sample);
        records.Add(perf_event::kRecordSample, perf_event::kMiscKernel,
                    has_stack ? sample : WithoutStack(sample));
      }
      Publish(0, records);
      std::vector<ringbuf::RingPass> passes;
      for (auto& ring : rings_) {
        const ringbuf::RingBytes bytes = ring.view().Peek();
        passes.push_back({0, bytes, kRing, 0, bytes.size()});
      }
      const uint64_t before = ringbuf::NewCalls();
      ASSERT_TRUE(stage_.Take(passes, /*last=*/true).ok());
      if (pass >= 20) allocated += ringbuf::NewCalls() - before;
      for (size_t i = 0; i < rings_.size(); ++i) rings_[i].view().Consume(passes[i].consume);
    }
  });
  EXPECT_EQ(allocated, 0u);
  const ChainQuality quality = stage_.quality();
  EXPECT_EQ(quality.complete, 80u);
  EXPECT_EQ(quality.cut() + quality.no_stack, 80u);
}

TEST_F(UnwindStageTest, CodeWithoutAFileHasTheNameThatReportsHave) {
  constexpr uint64_t kCode = 0x70000000;
  const auto pid = static_cast<uint32_t>(getpid());
  RecordBuilder mapping(Opened());
  mapping.At(1).By(pid, pid).Mmap2(kCode, 0x1000, 0, "//anon");
  Publish(0, mapping);
  Captured captured = Capture(16384);
  captured.registers[6] = captured.registers[7] = 0x10000;  // an address without memory
  captured.registers[8] = kCode;
  captured.stack.clear();
  PublishSample(0, captured, 2);
  Pass(0, /*last=*/true);
  const ChainQuality quality = stage_.quality();
  ASSERT_EQ(quality.cuts.size(), 1u);
  EXPECT_EQ(quality.cuts[0].image, absl::StrCat("/tmp/perf-", pid, ".map"));
}

TEST_F(UnwindStageTest, TheFileTellsOfASampleThatCannotBeRead) {
  // The eight bytes after the header are an identifier; all other fields are missing.
  const ringbuf::RecordHeader header{perf_event::kRecordSample, perf_event::kMiscUser, 16};
  std::array<std::byte, 16> cut{};
  std::memcpy(cut.data(), &header, sizeof(header));
  ASSERT_TRUE(rings_[0].Publish(cut));
  Pass(0, /*last=*/true);
  perf_event::LostSamples lost;
  const perf_event::RawRecord record(stage_.output());
  ASSERT_EQ(record.type(), perf_event::kRecordLostSamples);
  ASSERT_TRUE(Decode(record, perf_event::RecordLayout(Written()), &lost));
  EXPECT_EQ(lost.lost, 1u);
}

TEST_F(UnwindStageTest, CountsAChainWithoutImages) {
  PublishSample(0, Capture(16384), 2);
  Pass(0, /*last=*/true);
  const ChainQuality quality = stage_.quality();
  ASSERT_EQ(quality.cut() + quality.guessed, 1u);
}

#endif

}  // namespace
}  // namespace profiler::record
