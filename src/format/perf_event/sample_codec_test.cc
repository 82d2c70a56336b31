// Tests SAMPLE: every sample_type bit alone and all together, in both byte orders, truncated at
// every length, and with absurd counts.

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "src/base/byte_reader.h"
#include "src/format/perf_event/codec.h"

namespace profiler::perf_event {
namespace {

std::string Hex(std::span<const std::byte> bytes) {
  std::string text;
  for (std::byte byte : bytes) absl::StrAppendFormat(&text, "%02x", std::to_integer<int>(byte));
  return text;
}

std::string Text(U64Array words) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < words.size(); ++i) parts.push_back(absl::StrFormat("%x", words[i]));
  return "[" + absl::StrJoin(parts, " ") + "]";
}

std::string Text(const Registers& registers) {
  return absl::StrFormat("abi %d mask %x %s", registers.abi, registers.mask,
                         Text(U64Array(registers.values)));
}

// Returns every field that is not zero or empty.
std::string Text(const Sample& s) {
  std::string text;
  const auto number = [&](const char* name, uint64_t value) {
    if (value != 0) absl::StrAppendFormat(&text, "%s %x\n", name, value);
  };
  const auto bytes = [&](const char* name, std::span<const std::byte> value) {
    if (!value.empty()) absl::StrAppend(&text, name, " ", Hex(value), "\n");
  };
  number("ip", s.ip), number("pid", s.pid), number("tid", s.tid), number("time", s.time);
  number("addr", s.addr), number("id", s.id), number("stream_id", s.stream_id);
  number("cpu", s.cpu), number("cpu_reserved", s.cpu_reserved), number("period", s.period);
  if (!s.read.empty()) absl::StrAppend(&text, "read ", Text(s.read), "\n");
  if (!s.callchain.empty()) absl::StrAppend(&text, "callchain ", Text(s.callchain), "\n");
  bytes("raw", s.raw);
  number("branch_hw_index", s.branch_hw_index);
  bytes("branches", s.branches);
  if (!s.branch_counters.empty())
    absl::StrAppend(&text, "counters ", Text(s.branch_counters), "\n");
  if (s.user_regs.abi) absl::StrAppend(&text, "user_regs ", Text(s.user_regs), "\n");
  bytes("user_stack", s.user_stack);
  number("user_stack_size", s.user_stack_size);
  number("weight", s.weight), number("data_src", s.data_src);
  number("transaction", s.transaction);
  if (s.intr_regs.abi) absl::StrAppend(&text, "intr_regs ", Text(s.intr_regs), "\n");
  number("phys_addr", s.phys_addr), number("cgroup", s.cgroup);
  number("data_page_size", s.data_page_size), number("code_page_size", s.code_page_size);
  bytes("aux", s.aux);
  return text;
}

template <size_t N>
std::span<const std::byte> WordBytes(const std::array<uint64_t, N>& words) {
  return std::as_bytes(std::span(words));
}

constexpr std::array<uint64_t, 5> kGroup = {2, 100, 7, 200, 8};  // nr, then value and id of each
constexpr std::array<uint64_t, 4> kChain = {kContextKernel, 0xffffffff81000010, kContextUser,
                                            0x4010};
constexpr std::array<uint64_t, 6> kBranches = {0x10, 0x20, 0x13, 0x30, 0x40, 0x2a5};
constexpr std::array<uint64_t, 2> kCounters = {0x1111, 0x2222};
constexpr std::array<uint64_t, 3> kRegisters = {0xa, 0xb, 0xc};
constexpr std::array<uint64_t, 2> kStack = {0x5151515151515151, 0x5252525252525252};
constexpr std::array<uint64_t, 1> kAuxData = {0xa0a1a2a3a4a5a6a7};
constexpr std::string_view kRawData = "raw!twelve b";

Attr AllFields() {
  return {.sample_type = kSampleAll,
          .read_format = kFormatGroup | kFormatId,
          .branch_sample_type = kBranchHwIndex | kBranchCounters,
          .sample_regs_user = 0b1101,
          .sample_regs_intr = 0b111};
}

Sample FullSample() {
  return {.ip = 0x401234,
          .pid = 1001,
          .tid = 1002,
          .time = 0x1122334455667788,
          .addr = 0x7fff0010,
          .id = 77,
          .stream_id = 78,
          .cpu = 3,
          .cpu_reserved = 9,
          .period = 4000,
          .read = U64Array(WordBytes(kGroup)),
          .callchain = U64Array(WordBytes(kChain)),
          .raw = BytesOfText(kRawData),
          .branch_hw_index = 5,
          .branches = WordBytes(kBranches),
          .branch_counters = U64Array(WordBytes(kCounters)),
          .user_regs = {.abi = kRegsAbi64, .mask = 0b1101, .values = WordBytes(kRegisters)},
          .user_stack = WordBytes(kStack),
          .user_stack_size = 32,
          .weight = 0x0003000200000001,
          .data_src = 0x68100142,
          .transaction = 2,
          .intr_regs = {.abi = kRegsAbi32, .mask = 0b111, .values = WordBytes(kRegisters)},
          .phys_addr = 0x123000,
          .cgroup = 42,
          .data_page_size = 4096,
          .code_page_size = 0x200000,
          .aux = WordBytes(kAuxData)};
}

std::vector<std::byte> EncodeSample(const Sample& sample, const RecordLayout& layout) {
  std::vector<std::byte> bytes;
  EXPECT_TRUE(Encode(kRecordSample, kMiscUser, layout, sample, &bytes));
  return bytes;
}

// Returns the record shortened or extended, with the new size in its header.
std::vector<std::byte> Resized(std::vector<std::byte> bytes, size_t size) {
  bytes.resize(size);
  const RecordHeader header{kRecordSample, kMiscUser, static_cast<uint16_t>(size)};
  std::memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

// Returns one 8-byte word per line, in hexadecimal.
std::string Words(std::span<const std::byte> body) {
  std::string text;
  for (size_t i = 0; i + 8 <= body.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, body.data() + i, 8);
    absl::StrAppendFormat(&text, "%x\n", word);
  }
  return text;
}

TEST(SampleCodecTest, AllFieldsStandInTheOrderOfTheKernel) {
  const auto bytes = EncodeSample(FullSample(), RecordLayout(AllFields()));
  EXPECT_EQ(Words(std::span(bytes).subspan(8)),
            "4d\n"                // IDENTIFIER
            "401234\n"            // IP
            "3ea000003e9\n"       // pid, tid
            "1122334455667788\n"  // TIME
            "7fff0010\n"          // ADDR
            "4d\n4e\n"            // ID, STREAM_ID
            "900000003\n"         // cpu, res
            "fa0\n"               // PERIOD
            "2\n64\n7\nc8\n8\n"   // READ: nr, {value, id}
            "4\nffffffffffffff80\nffffffff81000010\nfffffffffffffe00\n4010\n"  // CALLCHAIN
            "217761720000000c\n622065766c657774\n"                             // RAW
            "2\n5\n10\n20\n13\n30\n40\n2a5\n1111\n2222\n"                      // BRANCH_STACK
            "2\na\nb\nc\n"                                                     // REGS_USER
            "20\n5151515151515151\n5252525252525252\n0\n0\n10\n"               // STACK_USER
            "3000200000001\n68100142\n2\n"  // WEIGHT, DATA_SRC, TRANSACTION
            "1\na\nb\nc\n"                  // REGS_INTR
            "123000\n2a\n1000\n200000\n"    // PHYS_ADDR, CGROUP, DATA_, CODE_PAGE_SIZE
            "8\na0a1a2a3a4a5a6a7\n");       // AUX: last
}

TEST(SampleCodecTest, AllFieldsTogetherComeBack) {
  const RecordLayout layout(AllFields());
  const auto bytes = EncodeSample(FullSample(), layout);
  Sample sample;
  ASSERT_TRUE(Decode(RawRecord(bytes), layout, &sample));
  EXPECT_EQ(Text(sample), Text(FullSample()));
  EXPECT_EQ(Hex(EncodeSample(sample, layout)), Hex(bytes));
}

// Tests one layout for each sample_type bit; the layout has only this bit.
class EachSampleBit : public testing::TestWithParam<int> {
 protected:
  RecordLayout Layout() const {
    Attr attr = AllFields();
    attr.sample_type = 1ull << GetParam();
    return RecordLayout(attr);
  }
};

TEST_P(EachSampleBit, AloneComesBack) {
  const RecordLayout layout = Layout();
  const auto bytes = EncodeSample(FullSample(), layout);
  Sample sample;
  ASSERT_TRUE(Decode(RawRecord(bytes), layout, &sample));
  EXPECT_NE(Text(sample), "") << "the bit has no field";
  EXPECT_EQ(Hex(EncodeSample(sample, layout)), Hex(bytes));
  // Every field that came back must be in the full sample.
  const std::string full = Text(FullSample());
  std::string field;
  for (char c : Text(sample)) {
    field += c;
    if (c != '\n') continue;
    EXPECT_NE(full.find(field), std::string::npos) << field;
    field.clear();
  }
}

TEST_P(EachSampleBit, MissingLeavesTheOthersInPlace) {
  Attr attr = AllFields();
  attr.sample_type = kSampleAll & ~(1ull << GetParam());
  const RecordLayout layout(attr);
  const auto bytes = EncodeSample(FullSample(), layout);
  Sample sample;
  ASSERT_TRUE(Decode(RawRecord(bytes), layout, &sample));
  EXPECT_EQ(Hex(EncodeSample(sample, layout)), Hex(bytes));
  EXPECT_EQ(Hex(sample.aux), GetParam() == 20 ? "" : "a7a6a5a4a3a2a1a0") << "the last field";
}

TEST_P(EachSampleBit, ComesBackFromTheOtherByteOrder) {
  const RecordLayout layout = Layout();
  const auto native = EncodeSample(FullSample(), layout);
  auto bytes = native;
  ASSERT_TRUE(SwapToForeign(bytes, layout));
  EXPECT_NE(Hex(bytes), Hex(native));
  ASSERT_TRUE(SwapToNative(bytes, layout));
  EXPECT_EQ(Hex(bytes), Hex(native));
}

TEST_P(EachSampleBit, CutShortAtAnyLengthIsRefusedInBothByteOrders) {
  const RecordLayout layout = Layout();
  const auto bytes = EncodeSample(FullSample(), layout);
  for (size_t size = 8; size < bytes.size(); ++size) {
    const auto cut = Resized(bytes, size);
    Sample sample;
    EXPECT_FALSE(Decode(RawRecord(cut), layout, &sample)) << size;
    auto foreign = cut;
    EXPECT_FALSE(SwapToForeign(foreign, layout)) << size;
  }
}

INSTANTIATE_TEST_SUITE_P(SampleType, EachSampleBit, testing::Range(0, 25));

TEST(SampleCodecTest, AllFieldsCutShortAtAnyLengthAreRefusedAndWhatWasThereIsRead) {
  const RecordLayout layout(AllFields());
  const auto bytes = EncodeSample(FullSample(), layout);
  for (size_t size = 8; size < bytes.size(); ++size) {
    const auto cut = Resized(bytes, size);
    Sample sample;
    EXPECT_FALSE(Decode(RawRecord(cut), layout, &sample)) << size;
    EXPECT_EQ(sample.ip, size >= 24 ? 0x401234u : 0u) << size;
  }
}

TEST(SampleCodecTest, AllOnesAreRefusedForEveryVariableField) {
  for (uint64_t type : {kSampleCallchain, kSampleRaw, kSampleBranchStack, kSampleStackUser,
                        kSampleAux, kSampleRead, kSampleAll}) {
    for (size_t size : {16, 24, 64, 4096}) {
      Attr attr = AllFields();
      attr.sample_type = type;
      const RecordLayout layout(attr);
      auto bytes = Resized(std::vector<std::byte>(size, std::byte{0xff}), size);
      std::memset(bytes.data() + 8, 0xff, size - 8);
      Sample sample;
      EXPECT_FALSE(Decode(RawRecord(bytes), layout, &sample)) << type << " " << size;
      EXPECT_FALSE(SwapBodyToNative(bytes, layout)) << type << " " << size;
    }
  }
}

TEST(SampleCodecTest, CountsThatWrapRoundAreRefused) {
  // With these counts, the 64-bit products nr × 8, nr × 24 and 8 × (2 × nr + 1) overflow; some
  // results are small.
  for (uint64_t nr : {1ull << 61, 1ull << 63, (1ull << 63) - 1, 0xaaaaaaaaaaaaaaabull, ~0ull}) {
    for (uint64_t type : {kSampleCallchain, kSampleBranchStack, kSampleRead}) {
      Attr attr = AllFields();
      attr.sample_type = type;
      auto bytes = Resized({}, 64);
      std::memcpy(bytes.data() + 8, &nr, 8);
      Sample sample;
      EXPECT_FALSE(Decode(RawRecord(bytes), RecordLayout(attr), &sample)) << nr << " " << type;
    }
  }
}

TEST(SampleCodecTest, EveryReadFormatComesBack) {
  constexpr std::array<uint64_t, 9> kWords = {2, 11, 12, 13, 14, 15, 16, 17, 18};
  // Number of words for each read_format with two events. Without a group: the value and one word
  // per bit. With a group: nr, the times, and for each event its value, id and lost.
  for (uint64_t format = 0; format < 32; ++format) {
    const auto bit = [&](uint64_t mask) { return (format & mask) != 0 ? 1 : 0; };
    const size_t times = bit(kFormatTotalTimeEnabled) + bit(kFormatTotalTimeRunning);
    const size_t each = 1 + bit(kFormatId) + bit(kFormatLost);
    const size_t words = times + (bit(kFormatGroup) ? 1 + 2 * each : each);
    Attr attr{.sample_type = kSampleRead | kSampleCgroup, .read_format = format};
    const RecordLayout layout(attr);
    Sample sample;
    sample.read = U64Array(WordBytes(kWords).first(words * 8));
    sample.cgroup = 99;
    const auto bytes = EncodeSample(sample, layout);
    EXPECT_EQ(bytes.size(), 8 + words * 8 + 8) << format;
    Sample back;
    ASSERT_TRUE(Decode(RawRecord(bytes), layout, &back));
    EXPECT_EQ(Text(back), Text(sample)) << format;
  }
}

TEST(SampleCodecTest, RawIsPaddedSoThatTheNextFieldIsAligned) {
  const RecordLayout layout(Attr{.sample_type = kSampleRaw | kSampleWeight});
  Sample sample;
  sample.raw = BytesOfText("abcde");
  sample.weight = 7;
  const auto bytes = EncodeSample(sample, layout);
  Sample back;
  ASSERT_TRUE(Decode(RawRecord(bytes), layout, &back));
  EXPECT_EQ(TextOf(back.raw), std::string_view("abcde\0\0\0\0\0\0\0", 12));
  EXPECT_EQ(back.weight, 7u);
}

TEST(SampleCodecTest, UserStackIsCutToWhatTheKernelCouldCopy) {
  const RecordLayout layout(Attr{.sample_type = kSampleStackUser});
  Sample sample;
  sample.user_stack = WordBytes(kStack);
  sample.user_stack_size = 1024;
  auto bytes = EncodeSample(sample, layout);
  EXPECT_EQ(bytes.size(), 8u + 8 + 1024 + 8);
  Sample back;
  ASSERT_TRUE(Decode(RawRecord(bytes), layout, &back));
  EXPECT_EQ(back.user_stack.size(), 16u);
  EXPECT_EQ(back.user_stack_size, 1024u);
  // A dyn_size beyond the size gives the whole stack and not more.
  std::memset(bytes.data() + bytes.size() - 8, 0xff, 8);
  ASSERT_TRUE(Decode(RawRecord(bytes), layout, &back));
  EXPECT_EQ(back.user_stack.size(), 1024u);
}

TEST(SampleCodecTest, NoUserStackAndNoRegistersTakeOneWordEach) {
  const RecordLayout layout(Attr{.sample_type = kSampleStackUser | kSampleRegsUser | kSampleWeight,
                                 .sample_regs_user = 0xff0fff});
  Sample sample;
  sample.weight = 5;
  const auto bytes = EncodeSample(sample, layout);
  EXPECT_EQ(bytes.size(), 8u + 3 * 8);
  Sample back;
  ASSERT_TRUE(Decode(RawRecord(bytes), layout, &back));
  EXPECT_EQ(back.weight, 5u);
}

TEST(SampleCodecTest, BranchStackWithoutBranchesMayLackItsHardwareIndex) {
  Attr attr{.sample_type = kSampleBranchStack | kSampleWeight,
            .branch_sample_type = kBranchHwIndex};
  const RecordLayout with(attr);
  attr.branch_sample_type = 0;
  const RecordLayout without(attr);
  Sample sample;
  sample.weight = 5;
  const auto bytes = EncodeSample(sample, without);  // as the kernel writes it: nr, weight
  Sample back;
  ASSERT_TRUE(Decode(RawRecord(bytes), with, &back));
  EXPECT_EQ(Text(back), "weight 5\n");
  sample.branch_hw_index = 3;
  const auto full = EncodeSample(sample, with);
  ASSERT_TRUE(Decode(RawRecord(full), with, &back));
  EXPECT_EQ(Text(back), "branch_hw_index 3\nweight 5\n");
}

TEST(SampleCodecTest, SwappingKnowsABranchStackThatLacksItsHardwareIndex) {
  // The kernel writes nr = 0, and the stack follows at once. Bytes of the stack are not swapped.
  Attr attr{.sample_type = kSampleBranchStack | kSampleStackUser,
            .branch_sample_type = kBranchHwIndex};
  const RecordLayout with(attr);
  attr.branch_sample_type = 0;
  Sample sample;
  sample.user_stack = BytesOfText("abcdefghijklmnop");
  const auto native = EncodeSample(sample, RecordLayout(attr));
  auto bytes = native;
  ASSERT_TRUE(SwapToForeign(bytes, with));
  EXPECT_NE(bytes, native);
  ASSERT_TRUE(SwapToNative(bytes, with));
  EXPECT_EQ(bytes, native);

  sample.branch_hw_index = 3;
  const auto full = EncodeSample(sample, with);
  bytes = full;
  ASSERT_TRUE(SwapToForeign(bytes, with));
  ASSERT_TRUE(SwapToNative(bytes, with));
  EXPECT_EQ(bytes, full);
}

TEST(SampleCodecTest, SwappingTurnsPairsAndBranchFlagsAndLeavesOpaqueBytes) {
  const RecordLayout layout(Attr{.sample_type = kSampleTid | kSampleRaw | kSampleBranchStack});
  Sample sample;
  sample.pid = 0x01020304;
  sample.tid = 0x05060708;
  sample.raw = BytesOfText("abcd");
  // The flags: mispredicted, 0x1234 cycles, type 5.
  const std::array<uint64_t, 3> branch = {1, 2, 1 | 0x1234 << 4 | 5 << 20};
  sample.branches = WordBytes(branch);
  auto bytes = EncodeSample(sample, layout);
  ASSERT_TRUE(SwapToForeign(bytes, layout));
  EXPECT_EQ(Hex(bytes),
            "00000009"
            "0002"
            "0038"
            "01020304"
            "05060708"
            "00000004"
            "61626364"
            "0000000000000001"
            "0000000000000001"
            "0000000000000002"
            // From the highest bit on: the bits 1 0 0 0, 16 bits of cycles, 4 bits of type.
            "8"
            "1234"
            "5"
            "0000000000");
}

TEST(SampleCodecTest, OffsetsInTheLayoutAreWhereDecodeFindsTheFields) {
  for (uint64_t bits = 0; bits < 1 << 9; ++bits) {
    // Each bit selects one of the nine fields of fixed size that come first.
    constexpr uint64_t kFront[] = {kSampleIdentifier, kSampleIp,       kSampleTid,
                                   kSampleTime,       kSampleAddr,     kSampleId,
                                   kSampleCpu,        kSampleStreamId, kSamplePeriod};
    Attr attr{.flags = kAttrSampleIdAll};
    for (int i = 0; i < 9; ++i) attr.sample_type |= (bits >> i & 1) != 0 ? kFront[i] : 0;
    const RecordLayout layout(attr);
    const auto sample = EncodeSample(FullSample(), layout);
    const bool has_id = (attr.sample_type & (kSampleId | kSampleIdentifier)) != 0;
    const uint64_t time = (attr.sample_type & kSampleTime) != 0 ? FullSample().time : 0;
    EXPECT_EQ(TimeOf(RawRecord(sample), layout), time);
    EXPECT_EQ(IdOf(RawRecord(sample), layout), has_id ? 77u : 0u);
    EXPECT_EQ(layout.sample_tid_offset >= 0, (attr.sample_type & kSampleTid) != 0);
    EXPECT_EQ(layout.sample_cpu_offset >= 0, (attr.sample_type & kSampleCpu) != 0);

    std::vector<std::byte> lost;
    const Lost record{.sample_id = {.time = FullSample().time, .id = 77}};
    ASSERT_TRUE(Encode(kRecordLost, 0, layout, record, &lost));
    EXPECT_EQ(TimeOf(RawRecord(lost), layout), time);
    EXPECT_EQ(IdOf(RawRecord(lost), layout), has_id ? 77u : 0u);
  }
}

TEST(SampleCodecTest, RecordsOverTheLargestSizeAreNotWritten) {
  const RecordLayout layout(Attr{.sample_type = kSampleCallchain});
  const std::vector<uint64_t> chain(8190);
  const std::vector<uint64_t> shorter(8189);
  std::vector<std::byte> bytes;
  const auto sample = [](const std::vector<uint64_t>& words) {
    return Sample{.callchain = U64Array(std::as_bytes(std::span(words)))};
  };
  EXPECT_FALSE(Encode(kRecordSample, 0, layout, sample(chain), &bytes));
  EXPECT_TRUE(bytes.empty());
  EXPECT_TRUE(Encode(kRecordSample, 0, layout, sample(shorter), &bytes));
  EXPECT_EQ(bytes.size(), kMaxRecordSize);
}

TEST(SampleCodecTest, RecordsThatClaimMoreThanMemoryHoldsAreNotWritten) {
  const uint64_t most[] = {UINT64_MAX};
  for (uint64_t claim : {UINT64_MAX, UINT64_MAX - 7, UINT64_MAX - 15, uint64_t{1} << 61}) {
    Sample sample;
    sample.user_stack_size = claim;
    std::vector<std::byte> bytes;
    Attr attr;
    attr.sample_type = kSampleStackUser | kSampleWeight;
    EXPECT_FALSE(Encode(kRecordSample, 0, RecordLayout(attr), sample, &bytes));
    attr.sample_type = kSampleRead;
    attr.read_format = kFormatGroup;
    sample.read = U64Array(BytesOf(most));
    EXPECT_FALSE(Encode(kRecordSample, 0, RecordLayout(attr), sample, &bytes));
    EXPECT_TRUE(bytes.empty());
  }
}

}  // namespace
}  // namespace profiler::perf_event
