// Tests every record except SAMPLE: encoding and decoding in both byte orders, truncation, absurd
// values.

#include <array>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "gtest/gtest.h"
#include "src/base/byte_reader.h"
#include "src/format/perf_event/codec.h"

namespace profiler::perf_event {
namespace {

constexpr uint64_t kTrailerType = kSampleTid | kSampleTime | kSampleCpu | kSampleIdentifier;

RecordLayout Layout() {
  return RecordLayout(Attr{.sample_type = kTrailerType,
                           .read_format = kFormatId | kFormatTotalTimeEnabled,
                           .flags = kAttrSampleIdAll});
}

constexpr SampleId kTrailer = {.pid = 0x71, .tid = 0x72, .time = 0x73, .id = 0x74, .cpu = 0x75};

std::string Hex(std::span<const std::byte> bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i != 0 && i % 8 == 0) text += ' ';
    absl::StrAppendFormat(&text, "%02x", std::to_integer<int>(bytes[i]));
  }
  return text;
}

constexpr std::array<uint64_t, 4> kWords = {0x81, 0x82, 0x83, 0x84};

U64Array Words(size_t count) { return U64Array(std::as_bytes(std::span(kWords)).first(count * 8)); }

// A test case: a record, and a function that decodes and encodes it. `foreign_body` is the record's
// body in the other byte order, without the sample_id; it shows the position and width of every
// field.
struct Case {
  const char* name;
  std::vector<std::byte> bytes;
  std::string foreign_body;
  std::function<bool(RawRecord, std::vector<std::byte>*)> recode;
};

template <class Record>
Case MakeCase(const char* name, uint32_t type, uint16_t misc, Record record, std::string body) {
  record.sample_id = kTrailer;
  Case result{.name = name, .foreign_body = std::move(body)};
  EXPECT_TRUE(Encode(type, misc, Layout(), record, &result.bytes)) << name;
  result.recode = [type, misc](RawRecord raw, std::vector<std::byte>* out) {
    Record decoded;
    const bool ok = Decode(raw, Layout(), &decoded);
    return Encode(type, misc, Layout(), decoded, out) && ok;
  };
  return result;
}

std::vector<Case> Cases() {
  const std::string_view build_id = "0123456789abcdefghij";
  return {
      MakeCase("MMAP", kRecordMmap, kMiscUser,
               Mmap{.pid = 1, .tid = 2, .addr = 3, .len = 4, .pgoff = 5, .filename = "/bin/cat"},
               "0000000100000002 0000000000000003 0000000000000004 0000000000000005 "
               "2f62696e2f636174 0000000000000000"),
      MakeCase("LOST", kRecordLost, 0, Lost{.id = 1, .lost = 2},
               "0000000000000001 0000000000000002"),
      MakeCase("COMM", kRecordComm, kMiscCommExec, Comm{.pid = 1, .tid = 2, .comm = "seven77"},
               "0000000100000002 736576656e373700"),
      MakeCase("EXIT", kRecordExit, 0, Task{.pid = 1, .ppid = 2, .tid = 3, .ptid = 4, .time = 5},
               "0000000100000002 0000000300000004 0000000000000005"),
      MakeCase("FORK", kRecordFork, 0, Task{.pid = 1, .ppid = 2, .tid = 3, .ptid = 4, .time = 5},
               "0000000100000002 0000000300000004 0000000000000005"),
      MakeCase("THROTTLE", kRecordThrottle, 0, Throttle{.time = 1, .id = 2, .stream_id = 3},
               "0000000000000001 0000000000000002 0000000000000003"),
      MakeCase("UNTHROTTLE", kRecordUnthrottle, 0, Throttle{.time = 1, .id = 2, .stream_id = 3},
               "0000000000000001 0000000000000002 0000000000000003"),
      MakeCase("READ", kRecordRead, 0, Read{.pid = 1, .tid = 2, .values = Words(3)},
               "0000000100000002 0000000000000081 0000000000000082 0000000000000083"),
      MakeCase("MMAP2", kRecordMmap2, kMiscUser,
               Mmap2{.pid = 1,
                     .tid = 2,
                     .addr = 3,
                     .len = 4,
                     .pgoff = 5,
                     .maj = 6,
                     .min = 7,
                     .ino = 8,
                     .ino_generation = 9,
                     .prot = 10,
                     .flags = 11,
                     .filename = "/l"},
               "0000000100000002 0000000000000003 0000000000000004 0000000000000005 "
               "0000000600000007 0000000000000008 0000000000000009 0000000a0000000b "
               "2f6c000000000000"),
      MakeCase("MMAP2 with build-id", kRecordMmap2, kMiscUser | kMiscMmapBuildId,
               Mmap2{.pid = 1,
                     .tid = 2,
                     .addr = 3,
                     .len = 4,
                     .pgoff = 5,
                     .build_id = BytesOfText(build_id),
                     .prot = 10,
                     .flags = 11,
                     .filename = "/l"},
               "0000000100000002 0000000000000003 0000000000000004 0000000000000005 "
               "1400000030313233 3435363738396162 636465666768696a 0000000a0000000b "
               "2f6c000000000000"),
      MakeCase("MMAP2 with a short build-id", kRecordMmap2, kMiscUser | kMiscMmapBuildId,
               Mmap2{.build_id = BytesOfText(build_id.substr(0, 8)), .filename = "/l"},
               "0000000000000000 0000000000000000 0000000000000000 0000000000000000 "
               "0800000030313233 3435363700000000 0000000000000000 0000000000000000 "
               "2f6c000000000000"),
      MakeCase("AUX", kRecordAux, 0, Aux{.aux_offset = 1, .aux_size = 2, .flags = 3},
               "0000000000000001 0000000000000002 0000000000000003"),
      MakeCase("ITRACE_START", kRecordItraceStart, 0, ItraceStart{.pid = 1, .tid = 2},
               "0000000100000002"),
      MakeCase("LOST_SAMPLES", kRecordLostSamples, 0, LostSamples{.lost = 1}, "0000000000000001"),
      MakeCase("SWITCH", kRecordSwitch, kMiscSwitchOut, Switch{}, ""),
      MakeCase("SWITCH_CPU_WIDE", kRecordSwitchCpuWide, 0,
               SwitchCpuWide{.next_prev_pid = 1, .next_prev_tid = 2}, "0000000100000002"),
      MakeCase("NAMESPACES", kRecordNamespaces, 0,
               Namespaces{.pid = 1, .tid = 2, .links = Words(4)},
               "0000000100000002 0000000000000002 0000000000000081 0000000000000082 "
               "0000000000000083 0000000000000084"),
      MakeCase("KSYMBOL", kRecordKsymbol, 0,
               Ksymbol{.addr = 1, .len = 2, .ksym_type = 3, .flags = 4, .name = "bpf"},
               "0000000000000001 0000000200030004 6270660000000000"),
      MakeCase("BPF_EVENT", kRecordBpfEvent, 0,
               BpfEvent{.event_type = 1, .flags = 2, .id = 3, .tag = 0x0807060504030201},
               "0001000200000003 0102030405060708"),
      MakeCase("CGROUP", kRecordCgroup, 0, Cgroup{.id = 1, .path = "/"},
               "0000000000000001 2f00000000000000"),
      MakeCase("TEXT_POKE", kRecordTextPoke, 0,
               TextPoke{.addr = 1, .old_len = 2, .new_len = 3, .bytes = BytesOfText("abcde")},
               "0000000000000001 0002000361626364 6500000000000000"),
      MakeCase("AUX_OUTPUT_HW_ID", kRecordAuxOutputHwId, 0, AuxOutputHwId{.hw_id = 1},
               "0000000000000001"),
      MakeCase("CALLCHAIN_DEFERRED", kRecordCallchainDeferred, 0,
               CallchainDeferred{.cookie = 1, .callchain = Words(2)},
               "0000000000000001 0000000000000002 0000000000000081 0000000000000082"),
  };
}

TEST(RecordCodecTest, EveryRecordComesBackAsItWas) {
  for (const Case& c : Cases()) {
    std::vector<std::byte> again;
    EXPECT_TRUE(c.recode(RawRecord(c.bytes), &again)) << c.name;
    EXPECT_EQ(Hex(again), Hex(c.bytes)) << c.name;
  }
}

TEST(RecordCodecTest, EveryRecordIsLaidOutAsTheKernelDrawsItInTheOtherByteOrder) {
  for (const Case& c : Cases()) {
    auto bytes = c.bytes;
    ASSERT_TRUE(SwapToForeign(bytes, Layout())) << c.name;
    const std::string trailer =
        "0000007100000072 0000000000000073 0000007500000000 0000000000000074";
    EXPECT_EQ(Hex(std::span(bytes).subspan(8)),
              c.foreign_body.empty() ? trailer : c.foreign_body + " " + trailer)
        << c.name;
    ASSERT_TRUE(SwapToNative(bytes, Layout())) << c.name;
    EXPECT_EQ(Hex(bytes), Hex(c.bytes)) << c.name;
  }
}

TEST(RecordCodecTest, EveryRecordHasItsTimeAndIdAtTheEnd) {
  for (const Case& c : Cases()) {
    EXPECT_EQ(TimeOf(RawRecord(c.bytes), Layout()), 0x73u) << c.name;
    EXPECT_EQ(IdOf(RawRecord(c.bytes), Layout()), 0x74u) << c.name;
  }
}

TEST(RecordCodecTest, FieldsOfANewerKernelInFrontOfTheTrailerAreSkipped) {
  const RecordLayout layout = Layout();
  std::vector<std::byte> bytes;
  ASSERT_TRUE(
      Encode(kRecordLost, 0, layout, Lost{.id = 1, .lost = 2, .sample_id = kTrailer}, &bytes));
  bytes.insert(bytes.begin() + 24, 16, std::byte{0xee});
  const RecordHeader header{kRecordLost, 0, static_cast<uint16_t>(bytes.size())};
  std::memcpy(bytes.data(), &header, sizeof(header));
  Lost lost;
  ASSERT_TRUE(Decode(RawRecord(bytes), layout, &lost));
  EXPECT_EQ(lost.lost, 2u);
  EXPECT_EQ(lost.sample_id.time, 0x73u);
}

TEST(RecordCodecTest, EveryRecordCutBelowItsFixedFieldsIsRefused) {
  for (const Case& c : Cases()) {
    // The length of texts and padded bytes is not stored, so only the size of the other fields is
    // checked.
    size_t fixed = c.bytes.size();
    for (const char* text : {"MMAP", "MMAP2", "MMAP2 with build-id", "MMAP2 with a short build-id",
                             "COMM", "KSYMBOL", "CGROUP", "TEXT_POKE"}) {
      if (std::string_view(c.name) == text) fixed -= 16;
    }
    if (std::string_view(c.name) == "COMM" || std::string_view(c.name) == "CGROUP" ||
        std::string_view(c.name) == "KSYMBOL" || std::string_view(c.name).starts_with("MMAP2")) {
      fixed += 8;
    }
    for (size_t size = 8; size < fixed; ++size) {
      auto cut = c.bytes;
      cut.resize(size);
      std::vector<std::byte> again;
      EXPECT_FALSE(c.recode(RawRecord(cut), &again)) << c.name << " " << size;
      EXPECT_FALSE(SwapBodyToNative(cut, Layout())) << c.name << " " << size;
    }
  }
}

TEST(RecordCodecTest, AllOnesNeverReadBeyondTheRecord) {
  for (uint32_t type = 1; type < 30; ++type) {
    for (size_t size = 8; size <= 256; size += 8) {
      std::vector<std::byte> bytes(size, std::byte{0xff});
      const RecordHeader header{type, kMiscMmapBuildId, static_cast<uint16_t>(size)};
      std::memcpy(bytes.data(), &header, sizeof(header));
      for (const Case& c : Cases()) {
        RecordHeader of_case;
        std::memcpy(&of_case, c.bytes.data(), sizeof(of_case));
        std::vector<std::byte> again;
        if (of_case.type == type) c.recode(RawRecord(bytes), &again);
      }
      SwapBodyToNative(bytes, Layout());
      TimeOf(RawRecord(bytes), Layout());
    }
  }
}

TEST(RecordCodecTest, TextWithoutAnEndStopsAtTheTrailer) {
  std::vector<std::byte> bytes;
  ASSERT_TRUE(
      Encode(kRecordComm, 0, Layout(), Comm{.comm = "1234567", .sample_id = kTrailer}, &bytes));
  bytes[8 + 8 + 7] = std::byte{'8'};
  Comm comm;
  ASSERT_TRUE(Decode(RawRecord(bytes), Layout(), &comm));
  EXPECT_EQ(comm.comm, "12345678");
}

TEST(RecordCodecTest, ABuildIdLongerThanItsRoomIsCut) {
  std::vector<std::byte> bytes;
  ASSERT_TRUE(Encode(kRecordMmap2, kMiscMmapBuildId, Layout(), Mmap2{.filename = "/l"}, &bytes));
  bytes[8 + 32] = std::byte{255};
  Mmap2 mmap;
  ASSERT_TRUE(Decode(RawRecord(bytes), Layout(), &mmap));
  EXPECT_EQ(mmap.build_id.size(), 20u);
}

TEST(RecordCodecTest, AnMmap2OfAnOldKernelHasItsNameWhereTheProtectionIsSince) {
  constexpr size_t kProtOffset = 8 + 8 + 24 + 24;
  for (std::string_view name : {"/usr/bin/true", "[stack]", "//anon"}) {
    std::vector<std::byte> bytes;
    ASSERT_TRUE(Encode(kRecordMmap2, 0, Layout(), Mmap2{.ino = 9, .filename = name}, &bytes));
    bytes.erase(bytes.begin() + kProtOffset, bytes.begin() + kProtOffset + 8);
    const RecordHeader header{kRecordMmap2, 0, static_cast<uint16_t>(bytes.size())};
    std::memcpy(bytes.data(), &header, sizeof(header));
    for (int turns = 0; turns < 2; ++turns) {
      Mmap2 mmap;
      ASSERT_TRUE(Decode(RawRecord(bytes), Layout(), &mmap));
      EXPECT_EQ(mmap.filename, name);
      EXPECT_EQ(mmap.ino, 9u);
      EXPECT_EQ(mmap.prot, 0u);
      ASSERT_TRUE(SwapToForeign(bytes, Layout()));
      ASSERT_TRUE(SwapToNative(bytes, Layout()));
    }
  }
}

TEST(RecordCodecTest, AnMmap2OfAnyProtectionIsTurnedThereAndBack) {
  for (const uint32_t prot : {0x2f2f2fd0u, 0x5b000000u, 0x2fu, 0xd02f2fd0u}) {
    std::vector<std::byte> bytes;
    ASSERT_TRUE(Encode(kRecordMmap2, 0, Layout(), Mmap2{.prot = prot, .filename = "x"}, &bytes));
    const std::string before = Hex(bytes);
    ASSERT_TRUE(SwapToForeign(bytes, Layout()));
    ASSERT_TRUE(SwapToNative(bytes, Layout()));
    EXPECT_EQ(Hex(bytes), before) << prot;
  }
}

TEST(RecordCodecTest, NoTrailerWithoutSampleIdAll) {
  const RecordLayout layout(Attr{.sample_type = kTrailerType});
  std::vector<std::byte> bytes;
  ASSERT_TRUE(Encode(kRecordComm, 0, layout, Comm{.comm = "cat", .sample_id = kTrailer}, &bytes));
  EXPECT_EQ(bytes.size(), 8u + 8 + 8);
  EXPECT_EQ(TimeOf(RawRecord(bytes), layout), 0u);
}

TEST(RecordCodecTest, RecordsOfPerfItselfAreNotTurnedAndHaveNoTime) {
  std::vector<std::byte> bytes(64, std::byte{1});
  const RecordHeader header{kRecordThreadMap, 0, 64};
  std::memcpy(bytes.data(), &header, sizeof(header));
  const auto before = bytes;
  EXPECT_FALSE(SwapBodyToNative(bytes, Layout()));
  EXPECT_EQ(Hex(bytes), Hex(before));
  EXPECT_EQ(TimeOf(RawRecord(bytes), Layout()), 0u);
}

}  // namespace
}  // namespace profiler::perf_event
