#include "src/format/perf_event/record_text.h"

#include <cstring>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace profiler::perf_event {
namespace {

using testing::HasSubstr;

template <class Record>
std::vector<std::byte> Encoded(uint32_t type, uint16_t misc, const RecordLayout& layout,
                               const Record& record) {
  std::vector<std::byte> bytes;
  EXPECT_TRUE(Encode(type, misc, layout, record, &bytes));
  return bytes;
}

std::string Text(std::span<const std::byte> bytes, const RecordLayout& layout,
                 bool expect_whole = true) {
  std::string text;
  EXPECT_EQ(AppendFields(RawRecord(bytes), layout, ArchitectureOf("x86_64"), &text), expect_whole);
  return text;
}

RecordLayout LayoutOf(uint64_t sample_type) {
  Attr attr;
  attr.sample_type = sample_type;
  attr.flags = kAttrSampleIdAll;
  attr.sample_regs_user = 0b101;
  attr.read_format = kFormatId;
  return RecordLayout(attr);
}

TEST(RecordTextTest, AFieldIsALineAndTheSampleIdStandsApart) {
  const RecordLayout layout = LayoutOf(kSampleTid | kSampleTime);
  Comm comm{.pid = 7, .tid = 8, .comm = "a\n\"b"};
  comm.sample_id = {.pid = 7, .tid = 8, .time = 1234};
  EXPECT_EQ(Text(Encoded(kRecordComm, 0, layout, comm), layout),
            "    pid                 7\n"
            "    tid                 8\n"
            "    comm                \"a\\n\\\"b\"\n"
            "    sample_id\n"
            "      pid               7\n"
            "      tid               8\n"
            "      time              1234\n");
}

TEST(RecordTextTest, AMappingHasItsProtectionAndItsBuildId) {
  const RecordLayout layout = LayoutOf(0);
  const std::vector<std::byte> id(4, std::byte{0xab});
  Mmap2 mmap{.pid = 1, .tid = 1, .addr = 0x1000, .len = 0x20, .build_id = id, .prot = 5};
  mmap.filename = "/bin/x";
  const std::string text = Text(Encoded(kRecordMmap2, kMiscMmapBuildId, layout, mmap), layout);
  EXPECT_THAT(text, HasSubstr("addr                0x1000\n"));
  EXPECT_THAT(text, HasSubstr("build_id            abababab00000000000000000000000000000000\n"));
  EXPECT_THAT(text, HasSubstr("prot                0x5 r-x\n"));
}

TEST(RecordTextTest, ASampleHasCallChainRegistersAndCounts) {
  const RecordLayout layout =
      LayoutOf(kSampleIp | kSampleCallchain | kSampleRegsUser | kSampleRead | kSampleDataSrc);
  const std::vector<uint64_t> chain = {kContextUser, 0x401000}, regs = {0x11, 0x22}, read = {99, 3};
  Sample sample{.ip = 0x401000};
  sample.callchain = U64Array(std::as_bytes(std::span(chain)));
  sample.read = U64Array(std::as_bytes(std::span(read)));
  sample.user_regs = {kRegsAbi64, 0b101, std::as_bytes(std::span(regs))};
  sample.data_src = 2 | 0x2 << 5 | 0x8 << 5;
  EXPECT_EQ(Text(Encoded(kRecordSample, kMiscUser, layout, sample), layout),
            "    ip                  0x401000\n"
            "    read                (1)\n"
            "      value 99 id 0x3\n"
            "    callchain_nr        2\n"
            "    callchain           (2)\n"
            "      0xfffffffffffffe00 USER\n"
            "      0x401000\n"
            "    user_regs_abi       2\n"
            "    user_regs           (2)\n"
            "      AX                0x11\n"
            "      CX                0x22\n"
            "    data_src            0x142 OP_LOAD|LVL_HIT|LVL_L1\n");
}

TEST(RecordTextTest, ARecordThatIsTooShortShowsWhatIsThereAndWhereItEnds) {
  const RecordLayout layout = LayoutOf(0);
  std::vector<std::byte> bytes = Encoded(kRecordLost, 0, layout, Lost{.id = 5, .lost = 6});
  bytes.resize(bytes.size() - 4);
  const auto size = static_cast<uint16_t>(bytes.size());
  std::memcpy(bytes.data() + 6, &size, sizeof(size));
  EXPECT_EQ(Text(bytes, layout, false),
            "    id                  0x5\n"
            "    lost                (the record ends before: 4 bytes are left)\n");
}

TEST(RecordTextTest, NoCountMakesItReadPastTheRecord) {
  const RecordLayout layout = LayoutOf(kSampleCallchain);
  std::vector<std::byte> bytes = Encoded(kRecordSample, 0, layout, Sample{});
  std::memset(bytes.data() + 8, 0xff, 8);
  EXPECT_THAT(Text(bytes, layout, false), HasSubstr("the record ends before"));
}

TEST(RecordTextTest, ATypeThatNobodyDefinedIsShownAsBytes) {
  std::vector<std::byte> bytes(8 + 26);
  const RecordHeader header{40, 0, static_cast<uint16_t>(bytes.size())};
  std::memcpy(bytes.data(), &header, sizeof(header));
  std::memcpy(bytes.data() + 8, "hello", 5);
  EXPECT_EQ(Text(bytes, LayoutOf(0), false),
            "    (bytes)             (26 bytes)\n"
            "      0000:  68 65 6c 6c 6f 00 00 00 00 00 00 00 00 00 00 00  hello...........\n"
            "      0010:  00 00 00 00 00 00 00 00 00 00                    ..........\n");
}

TEST(RecordTextTest, MiscBitsAreNamedAsTheTypeMeansThem) {
  EXPECT_EQ(DescribeMisc(kRecordSample, 0x4001), "0x4001 KERNEL|EXACT_IP");
  EXPECT_EQ(DescribeMisc(kRecordComm, 0x2000), "0x2000 COMM_EXEC");
  EXPECT_EQ(DescribeMisc(kRecordMmap2, 0x6002), "0x6002 USER|MMAP_DATA|MMAP_BUILD_ID");
  EXPECT_EQ(DescribeMisc(kRecordSwitch, 0x6000), "0x6000 SWITCH_OUT|SWITCH_OUT_PREEMPT");
  EXPECT_EQ(DescribeMisc(kRecordFinishedRound, 0), "0");
  EXPECT_EQ(DescribeMisc(kRecordSample, 0x8002), "0x8002 USER|0x8000");
}

}  // namespace
}  // namespace profiler::perf_event
