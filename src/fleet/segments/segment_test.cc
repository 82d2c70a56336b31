#include "src/fleet/segments/segment.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/base/byte_reader.h"
#include "src/fleet/segments/testing/window_text.h"

namespace profiler::fleet {
namespace {

constexpr char kRows[] =
    "cpu-clock db c0ffee p-1 postgres | main<postgres> do_syscall_64<[kernel.kallsyms]> 1 100\n"
    "cpu-clock web nginx ab12 | main<nginx> inline parse<nginx> 2 200\n"
    "cpu-clock web nginx ab12 | main<nginx> poll<libc.so.6> 3 300\n";

TEST(Segment, HasWhatTheWindowHas) {
  const Window window = WebAndDatabase().Finish();
  const std::string bytes = EncodeSegment(window);
  const auto read = DecodeSegment(BytesOfText(bytes));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(RowsAsText(*read), kRows);
  EXPECT_EQ(read->host, "h1");
  EXPECT_EQ(read->labels, window.labels);
  EXPECT_EQ(read->begin, window.begin);
  EXPECT_EQ(read->length, window.length);
  EXPECT_EQ(read->frequency, 49);
  EXPECT_EQ(read->cpus, 2u);
  EXPECT_EQ(read->version, "profiler 1.0.0");
  EXPECT_EQ(read->losses, window.losses);
  EXPECT_EQ(EncodeSegment(*read), bytes) << "equal windows are equal bytes";
}

TEST(Segment, KeepsTypesAndBuildIdsOfFramesBehindWhatOlderProgramsRead) {
  WindowBuilder builder = WebAndDatabase();
  const std::string without = EncodeSegment(builder.window());
  EXPECT_EQ(DecodeSegment(BytesOfText(without))->frames, builder.window().frames);
  const uint32_t frame = builder.Frame({"main.work", "app", "go", "htlhash:ab12"});
  builder.Add({0, 0, builder.Stack(kNoCaller, frame), 1, 1});
  const Window window = std::move(builder).Finish();
  const auto read = DecodeSegment(BytesOfText(EncodeSegment(window)));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->frames, window.frames);
  EXPECT_EQ(read->strings[read->frames.back().type], "go");
  EXPECT_EQ(read->strings[read->frames.back().build_id], "htlhash:ab12");
}

TEST(Segment, TellsInItsHeadWhatIsInItWithoutItsBody) {
  const std::string bytes = EncodeSegment(WebAndDatabase().Finish());
  const auto head = ReadSegmentHead(BytesOfText(bytes).first(bytes.size() / 2));
  ASSERT_TRUE(head.ok()) << head.status();
  EXPECT_EQ(head->window.host, "h1");
  EXPECT_EQ(head->rows, 3u);
  EXPECT_EQ(head->samples, 6u);
}

TEST(Segment, IsRefusedWhereverItIsCut) {
  const std::string bytes = EncodeSegment(WebAndDatabase().Finish());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto read = DecodeSegment(BytesOfText(bytes).first(size));
    ASSERT_EQ(read.status().code(), absl::StatusCode::kDataLoss) << size;
  }
}

TEST(Segment, IsRefusedWhicheverBitIsChanged) {
  const std::string bytes = EncodeSegment(WebAndDatabase().Finish());
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    const auto read = DecodeSegment(BytesOfText(damaged));
    ASSERT_EQ(read.status().code(), absl::StatusCode::kDataLoss) << bit;
  }
}

TEST(Segment, OfNothingIsOne) {
  const auto read = DecodeSegment(BytesOfText(EncodeSegment(Window{})));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(read->rows.empty());
}

TEST(StackHashes, AreThoseOfTheNamesAlone) {
  // The window `other` has the same stacks in another order, and also other stacks.
  WindowBuilder other;
  StackOf(other, "x y;z w");
  const uint32_t parse = StackOf(other, "main nginx;inline ;parse nginx");
  const uint32_t poll = StackOf(other, "main nginx;poll libc.so.6");
  const Window here = WebAndDatabase().Finish();
  const Window there = std::move(other).Finish();
  const auto hashes = StackHashes(here), others = StackHashes(there);
  EXPECT_EQ(hashes[here.rows[0].stack], others[poll]);
  EXPECT_EQ(hashes[here.rows[1].stack], others[parse]);
  // This hash must never change, because servers store it.
  EXPECT_EQ(hashes[here.rows[0].stack], 17334270815153330086u);
}

TEST(StackHashes, TellApartWhatOnlyLooksAlike) {
  WindowBuilder builder;
  StackOf(builder, "ab c;d e");
  StackOf(builder, "a bc;d e");
  StackOf(builder, "d e");
  StackOf(builder, "ab c;d ");
  const auto hashes = StackHashes(std::move(builder).Finish());
  for (size_t i = 0; i < hashes.size(); ++i) {
    for (size_t j = i + 1; j < hashes.size(); ++j) EXPECT_NE(hashes[i], hashes[j]) << i << ' ' << j;
  }
}

TEST(WindowBuilder, CutsAStackThatIsTooDeepAtItsInnermostEnd) {
  WindowBuilder builder;
  uint32_t stack = kNoCaller;
  for (uint32_t i = 0; i < 2 * kMostDepth; ++i) stack = builder.Stack(stack, "f", "app");
  EXPECT_EQ(builder.window().stacks.size(), kMostDepth);
  EXPECT_EQ(stack, kMostDepth - 1);
}

TEST(WindowBuilder, TakesTheRowsOfOthersThatAreWantedAndNoNamesBesides) {
  const Window window = WebAndDatabase().Finish();
  WindowBuilder sum;
  for (int i = 0; i < 2; ++i) {
    sum.AddRows(window, [](const Row& row) { return row.samples == 3; });
  }
  const Window result = std::move(sum).Finish();
  EXPECT_EQ(RowsAsText(result), "cpu-clock web nginx ab12 | main<nginx> poll<libc.so.6> 6 600\n");
  EXPECT_EQ(result.stacks.size(), 2u);
  EXPECT_EQ(result.workloads.size(), 1u);
}

TEST(IsKernelImage, KnowsTheKernelItsModulesAndItsPrograms) {
  for (const char* image : {"[kernel.kallsyms]", "[ext4]", "bpf_prog_6deef7357e7b4530"}) {
    EXPECT_TRUE(IsKernelImage(image)) << image;
  }
  for (const char* image : {"", "libc.so.6", "[vdso]", "[JIT]", "[unknown]", "[heap]"}) {
    EXPECT_FALSE(IsKernelImage(image)) << image;
  }
}

}  // namespace
}  // namespace profiler::fleet
