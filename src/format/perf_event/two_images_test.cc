// Tests samples of the other byte order whose opaque bytes are not copied.

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "gtest/gtest.h"
#include "src/base/byte_reader.h"
#include "src/format/perf_event/codec.h"

namespace profiler::perf_event {
namespace {

constexpr uint64_t kBase = kSampleIp | kSampleTid | kSampleTime | kSampleCallchain;
constexpr std::array<uint64_t, 3> kWords = {0x0102030405060708, 2, 0x7fff00001234};

std::span<const std::byte> Words() { return std::as_bytes(std::span(kWords)); }

Sample SomeSample() {
  Sample sample;
  sample.ip = 0x401234;
  sample.pid = 7;
  sample.tid = 8;
  sample.time = 99;
  sample.callchain = U64Array(Words());
  sample.raw = BytesOfText("abcdefghijkl");
  sample.user_regs = {kRegsAbi64, 7, Words()};
  sample.user_stack = BytesOfText("stack words 1234");
  sample.user_stack_size = 64;
  sample.data_src = 0x1122334455667788;
  sample.aux = BytesOfText("trace...");
  return sample;
}

RecordLayout LayoutOf(uint64_t sample_type, uint64_t branch_sample_type = 0) {
  return RecordLayout(Attr{.sample_type = kBase | sample_type,
                           .branch_sample_type = branch_sample_type,
                           .sample_regs_user = 7});
}

// A sample in both byte orders.
struct BothOrders {
  explicit BothOrders(const RecordLayout& layout) {
    EXPECT_TRUE(Encode(kRecordSample, kMiscUser, layout, SomeSample(), &native));
    std::memcpy(&header, native.data(), sizeof(header));
    foreign = native;
    EXPECT_TRUE(SwapToForeign(foreign, layout));
  }
  RecordHeader header;
  std::vector<std::byte> native, foreign;
};

bool Inside(std::span<const std::byte> part, std::span<const std::byte> whole) {
  return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
}

// Returns scratch memory with bytes from an earlier use.
std::vector<std::byte> UsedScratch() {
  return std::vector<std::byte>(size_t{1} << 16, std::byte{0xee});
}

TEST(TwoImagesTest, EveryMixOfOpaqueFieldsReadsAsTheNativeRecordAndJoinsToIt) {
  constexpr uint64_t kOptional[] = {kSampleRaw, kSampleRegsUser | kSampleStackUser, kSampleDataSrc,
                                    kSampleAux};
  for (unsigned mix = 0; mix < 16; ++mix) {
    uint64_t type = 0;
    for (int i = 0; i < 4; ++i) type |= (mix >> i & 1) != 0 ? kOptional[i] : 0;
    const RecordLayout layout = LayoutOf(type);
    const BothOrders sample(layout);
    std::vector<std::byte> scratch = UsedScratch();
    const RawRecord record = TurnToNative(sample.foreign, sample.header, layout, &scratch);
    EXPECT_EQ(record.in_one_piece(), (type & (kSampleRaw | kSampleStackUser | kSampleAux)) == 0);
    EXPECT_EQ(CopyInOnePiece(record, layout), sample.native) << mix;

    Sample read;
    ASSERT_TRUE(Decode(record, layout, &read)) << mix;
    std::vector<std::byte> again;
    ASSERT_TRUE(Encode(kRecordSample, record.misc(), layout, read, &again));
    EXPECT_EQ(again, sample.native) << mix;
    EXPECT_EQ(TimeOf(record, layout), 99u);
  }
}

TEST(TwoImagesTest, OpaqueBytesAreViewsOfWhatIsStored) {
  const RecordLayout layout =
      LayoutOf(kSampleRaw | kSampleRegsUser | kSampleStackUser | kSampleAux);
  const BothOrders sample(layout);
  std::vector<std::byte> scratch;
  Sample read;
  ASSERT_TRUE(Decode(TurnToNative(sample.foreign, sample.header, layout, &scratch), layout, &read));
  EXPECT_TRUE(Inside(read.raw, sample.foreign));
  EXPECT_TRUE(Inside(read.user_stack, sample.foreign));
  EXPECT_TRUE(Inside(read.aux, sample.foreign));
  EXPECT_TRUE(Inside(read.callchain.bytes(), scratch));
  EXPECT_TRUE(Inside(read.user_regs.values, scratch));
}

TEST(TwoImagesTest, ARecordTooShortForItsLayoutComesInOnePiece) {
  const RecordLayout layout = LayoutOf(kSampleRaw | kSampleStackUser | kSampleAux);
  const BothOrders sample(layout);
  for (size_t size = sizeof(RecordHeader); size < sample.native.size(); size += 8) {
    std::vector<std::byte> scratch = UsedScratch();
    RecordHeader header = sample.header;
    header.size = static_cast<uint16_t>(size);
    const RawRecord record =
        TurnToNative(std::span(sample.foreign).first(size), header, layout, &scratch);
    EXPECT_TRUE(record.in_one_piece()) << size;
    Sample read;
    EXPECT_FALSE(Decode(record, layout, &read)) << size;
  }
}

TEST(TwoImagesTest, ASampleThatMayLackItsHardwareIndexComesInOnePiece) {
  const RecordLayout layout = LayoutOf(kSampleBranchStack | kSampleStackUser, kBranchHwIndex);
  const BothOrders sample(layout);
  std::vector<std::byte> scratch = UsedScratch();
  const RawRecord record = TurnToNative(sample.foreign, sample.header, layout, &scratch);
  ASSERT_TRUE(record.in_one_piece());
  EXPECT_TRUE(std::ranges::equal(record.bytes(), sample.native));
}

TEST(TwoImagesTest, FieldsOfANewerKernelBehindTheLastOneAreKept) {
  const RecordLayout layout = LayoutOf(kSampleRaw);
  BothOrders sample(layout);
  for (std::vector<std::byte>* bytes : {&sample.native, &sample.foreign}) {
    bytes->resize(bytes->size() + 16, std::byte{0x42});
  }
  sample.header.size += 16;
  std::memcpy(sample.native.data(), &sample.header, sizeof(sample.header));
  std::vector<std::byte> scratch = UsedScratch();
  const RawRecord record = TurnToNative(sample.foreign, sample.header, layout, &scratch);
  EXPECT_EQ(CopyInOnePiece(record, layout), sample.native);
}

}  // namespace
}  // namespace profiler::perf_event
