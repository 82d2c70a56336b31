#include "src/format/perf_data/format/file_header.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "src/base/byte_reader.h"

namespace profiler::perf_data {
namespace {

FileHeader RandomHeader(std::mt19937_64& random) {
  FileHeader header;
  header.swapped = random() % 2;
  header.attr_entry_size = 80 + random() % 12 * 8;
  header.attrs = {random(), random()};
  header.data = {random(), random()};
  header.event_types = {random(), random()};
  for (int bit = 0; bit < kFeatureBits; ++bit) header.features[bit] = random() % 4 == 0;
  header.features.set(kFeatureHostname);  // as in every file; needed to swap a foreign bitmap
  return header;
}

TEST(FileHeader, DecodesWhatItEncodesInBothByteOrders) {
  std::mt19937_64 random(7);
  for (int turn = 0; turn < 1000; ++turn) {
    const FileHeader header = RandomHeader(random);
    const absl::StatusOr<FileHeader> decoded = DecodeFileHeader(EncodeFileHeader(header));
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    ASSERT_EQ(*decoded, header) << "turn " << turn;
  }
}

TEST(FileHeader, EncodesWhatItDecoded) {
  std::mt19937_64 random(8);
  for (int turn = 0; turn < 100; ++turn) {
    const auto bytes = EncodeFileHeader(RandomHeader(random));
    ASSERT_EQ(EncodeFileHeader(*DecodeFileHeader(bytes)), bytes);
  }
}

TEST(FileHeader, ReadsTheFeatureBitsOfA32BitRecorderOfTheOtherByteOrder) {
  FileHeader header;
  header.swapped = true;
  header.attr_entry_size = 80;
  header.features.set(kFeatureHostname).set(kFeatureNrcpus).set(kFeatureMemTopology);
  auto bytes = EncodeFileHeader(header);
  for (size_t at = kFeatureBitsOffset; at < bytes.size(); at += 8) {
    std::swap_ranges(bytes.begin() + at, bytes.begin() + at + 4, bytes.begin() + at + 4);
  }
  EXPECT_EQ(DecodeFileHeader(bytes)->features, header.features);
}

TEST(FileHeader, ReadsAHeaderFromBeforeFeatures) {
  FileHeader header;
  header.attr_entry_size = 80;
  auto bytes = EncodeFileHeader(header);
  bytes[8] = std::byte{kFileHeaderSizeWithoutFeatures};
  const auto decoded = DecodeFileHeader(std::span(bytes).first(kFileHeaderSizeWithoutFeatures));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(*decoded, header);
}

TEST(FileHeader, KnowsAStreamByItsHeaderSize) {
  auto bytes = EncodeFileHeader(FileHeader());
  bytes[8] = std::byte{kPipeHeaderSize};
  EXPECT_TRUE(DecodeFileHeader(std::span(bytes).first(kPipeHeaderSize))->pipe);
}

std::string ErrorOf(std::span<const std::byte> bytes) {
  const auto decoded = DecodeFileHeader(bytes);
  EXPECT_TRUE(absl::IsDataLoss(decoded.status()));
  return std::string(decoded.status().message());
}

TEST(FileHeader, SaysWhereItIsNoPerfData) {
  FileHeader header;
  header.attr_entry_size = 80;
  header.attrs.size = 80;
  const auto bytes = EncodeFileHeader(header);
  EXPECT_EQ(ErrorOf(BytesOfText("hello")),
            "not a perf.data file: offset 5: expected a header of 16 bytes");
  EXPECT_EQ(ErrorOf(BytesOfText("#!/bin/sh\necho hello\n")),
            "not a perf.data file: offset 0: expected the magic PERFILE2 or PERFFILE");
  EXPECT_EQ(ErrorOf(std::span(bytes).first(60)),
            "not a perf.data file: offset 60: expected the rest of the header, but the file ends");
  auto size = bytes;
  size[8] = std::byte{99};
  EXPECT_EQ(ErrorOf(size),
            "not a perf.data file: offset 8: expected a header size of 104, 72 or 16");
  auto attr = bytes;
  attr[16] = std::byte{3};
  EXPECT_EQ(ErrorOf(attr),
            "not a perf.data file: offset 16: expected an attr size from 80 to 4112");
}

TEST(FileHeader, AnAttrHasAPossibleSizeAlsoWhereThereIsNone) {
  for (const uint64_t size : {uint64_t{0}, uint64_t{3}, uint64_t{79}, uint64_t{1} << 40}) {
    FileHeader header;
    header.attr_entry_size = size;
    EXPECT_EQ(ErrorOf(EncodeFileHeader(header)),
              "not a perf.data file: offset 16: expected an attr size from 80 to 4112");
  }
}

TEST(FileHeader, EveryPrefixIsRefusedOrRead) {
  FileHeader header;
  header.attr_entry_size = 80;
  const auto bytes = EncodeFileHeader(header);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(DecodeFileHeader(std::span(bytes).first(size)).ok()) << size;
  }
}

// Returns a file with a header and these attr entries.
std::vector<std::byte> FileOf(FileHeader* header, const std::string& entries) {
  header->attrs = {kFileHeaderSize, entries.size()};
  const auto start = EncodeFileHeader(*header);
  std::vector<std::byte> file(start.size() + entries.size());
  std::ranges::copy(BytesOfText(entries), std::ranges::copy(start, file.begin()).out);
  return file;
}

TEST(AttrEntries, HaveZeroesWhereTheFileIsOlderAndATailWhereItIsNewer) {
  perf_event::Attr attr;
  attr.type = 1;
  attr.config = 42;
  attr.sample_type = 0x107;
  for (const size_t size : {64u, 144u, 168u}) {
    FileHeader header;
    header.attr_entry_size = size + sizeof(FileSection);
    std::string entry;
    WriteSizedAttr(attr, size, &entry);
    if (size > sizeof(attr)) entry.back() = 'x';
    FieldWriter(&entry).U64(1000);
    FieldWriter(&entry).U64(16);
    const std::vector<std::byte> file = FileOf(&header, entry + entry);
    const auto entries = DecodeAttrs(file, header);
    ASSERT_TRUE(entries.ok());
    ASSERT_EQ(entries->size(), 2u);
    perf_event::Attr expected = attr;
    expected.size = static_cast<uint32_t>(size);
    EXPECT_EQ((*entries)[1].attr, expected);
    EXPECT_EQ((*entries)[1].ids, (FileSection{1000, 16}));
    EXPECT_EQ((*entries)[1].unknown_tail.size(), size > sizeof(attr) ? size - sizeof(attr) : 0);
  }
}

TEST(AttrEntries, PastTheEndAreDataLoss) {
  FileHeader header;
  header.attr_entry_size = 80;
  const std::vector<std::byte> file = FileOf(&header, std::string(80, '\0'));
  header.attrs.size = 160;
  EXPECT_EQ(DecodeAttrs(file, header).status().message(),
            "cut file: the attrs section (offset 104, size 160) is past the end (184)");
}

TEST(AttrEntries, OfMoreEventsThanAnybodyRecordsAreRefused) {
  FileHeader header;
  header.attr_entry_size = 80;
  const std::vector<std::byte> most = FileOf(&header, std::string(kMostEvents * 80, '\0'));
  EXPECT_EQ(DecodeAttrs(most, header)->size(), kMostEvents);
  const std::vector<std::byte> more = FileOf(&header, std::string((kMostEvents + 1) * 80, '\0'));
  EXPECT_EQ(DecodeAttrs(more, header).status().message(),
            "it has 8193 events, and no more than 8192 are read: record fewer at a time");
}

TEST(Ids, AreReadOnlyAsFarAsTheFileGoes) {
  FileHeader header;
  std::vector<std::byte> file(20);
  file[8] = std::byte{7};
  EXPECT_EQ(DecodeIds(file, header, {0, UINT64_MAX}, 100), (std::vector<uint64_t>{0, 7}));
  EXPECT_EQ(DecodeIds(file, header, {0, UINT64_MAX}, 1), (std::vector<uint64_t>{0}));
  EXPECT_TRUE(DecodeIds(file, header, {UINT64_MAX, 8}, 100).empty());
}

}  // namespace
}  // namespace profiler::perf_data
