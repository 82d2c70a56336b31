#include "src/base/sample_sums.h"

#include <sstream>
#include <vector>

#include "gtest/gtest.h"
#include "src/base/damaged_section.h"
#include "src/base/packed_section.h"
#include "src/perf_data/format/perf_data_format.h"
#include "src/perf_data/sections/own_sections.h"

namespace profiler::perf_data {
namespace {

constexpr uint32_t kNone = SampleSums::kNone;

uint32_t NumberOf(auto id) { return static_cast<uint32_t>(id); }

std::optional<SampleSums> Read(const std::string& section) {
  Features features;
  features.other[kFeatureSums] = section;
  return ReadSampleSums(features);
}

std::string Told(const SampleSums& sums) {
  std::ostringstream text;
  text << "of " << sums.data_size << " bytes, " << sums.losses.lost_records << " lost, "
       << sums.losses.unknown_records << " unknown\n";
  for (const auto& event : sums.events) {
    text << "event " << event.samples << " " << event.period << "\n";
  }
  for (const auto& image : sums.images) {
    text << sums.strings[image.path] << " kind " << int{image.kind} << " pid " << image.pid
         << " build-id " << image.build_id.size() << "\n";
  }
  text << "kernel " << sums.strings[sums.kernel_reference] << std::hex << " "
       << sums.kernel_reference_address << "\n";
  for (const auto& symbol : sums.kernel_symbols) {
    text << sums.strings[symbol.name] << " " << symbol.start << "/" << symbol.size << "\n";
  }
  const auto frame_text = [&](FrameId id) {
    const auto& frame = sums.frames[NumberOf(id)];
    text << (frame.image == kNone ? "nowhere" : sums.strings[sums.images[frame.image].path]) << "+"
         << frame.offset << "@" << frame.ip << "/" << int{frame.mode}
         << (frame.return_address ? "r" : "");
  };
  for (const auto& row : sums.rows) {
    text << NumberOf(row.event) << " " << sums.strings[sums.threads[NumberOf(row.thread)]] << ":";
    for (StackId id = row.stack; id != kNoStack;) {
      const StackNode& stack = sums.stacks[NumberOf(id)];
      text << " ";
      frame_text(stack.frame);
      id = stack.parent;
    }
    text << " self ";
    frame_text(row.self);
    text << " " << row.count << " " << row.period << "\n";
  }
  return text.str();
}

Row RowOf(uint32_t event, uint32_t thread, uint32_t stack, uint32_t self, uint64_t count,
          uint64_t period) {
  return {EventId{event}, ThreadId{thread}, FrameId{self}, StackId{stack}, count, period};
}

SampleSums Example() {
  SampleSums sums;
  const auto id = [&](std::string_view text) { return sums.strings.Intern(text); };
  sums.data_size = 4711;
  sums.losses.lost_records = 3;
  sums.losses.unknown_records = 1;
  sums.events = {{5, 500}, {1, 7}};
  sums.images.push_back({0, 12, id("/bin/cat"), std::vector<std::byte>(20)});
  sums.images.push_back({3, 0, id("[kernel.kallsyms]"), {}});
  sums.kernel_reference = id("_text");
  sums.kernel_reference_address = 0xffffffff81000000;
  sums.kernel_symbols = {{0xffffffffc0000000, 64, id("bpf_prog_1")}};
  sums.threads = {id("cat"), id("dog")};
  sums.frames = {{0, 1, true, 0x1234, 0x401234},
                 {0, 1, false, 0x1000, 0x401000},
                 {1, 2, false, 0xffffffff81000010, 0xffffffff81000010},
                 {kNone, 1, false, 0x10, 0x10}};
  sums.stacks = {{kNoStack, FrameId{0}},
                 {StackId{0}, FrameId{1}},
                 {StackId{0}, FrameId{2}},
                 {kNoStack, FrameId{3}}};
  sums.rows = {RowOf(0, 0, 1, 1, 3, 300), RowOf(0, 1, 2, 2, 2, 200), RowOf(1, 0, 3, 1, 1, 7)};
  return sums;
}

TEST(SampleSumsTest, AreReadAsTheyWereWritten) {
  const auto sums = Read(EncodeSampleSums(Example()));
  ASSERT_TRUE(sums.has_value());
  EXPECT_EQ(Told(*sums),
            "of 4711 bytes, 3 lost, 1 unknown\n"
            "event 5 500\n"
            "event 1 7\n"
            "/bin/cat kind 0 pid 12 build-id 20\n"
            "[kernel.kallsyms] kind 3 pid 0 build-id 0\n"
            "kernel _text ffffffff81000000\n"
            "bpf_prog_1 ffffffffc0000000/40\n"
            "0 cat: /bin/cat+1000@401000/1 /bin/cat+1234@401234/1r self /bin/cat+1000@401000/1 3 "
            "12c\n"
            "0 dog: [kernel.kallsyms]+ffffffff81000010@ffffffff81000010/2 "
            "/bin/cat+1234@401234/1r self [kernel.kallsyms]+ffffffff81000010@ffffffff81000010/2 2 "
            "c8\n"
            "1 cat: nowhere+10@10/1 self /bin/cat+1000@401000/1 1 7\n");
  EXPECT_EQ(EncodeSampleSums(*sums), EncodeSampleSums(Example()));
}

// As FORMAT.md draws it: what was written yesterday has to be read tomorrow.
TEST(SampleSumsTest, AreTheseNumbers) {
  SampleSums sums;
  sums.data_size = 5;
  sums.events = {{1, 60}};
  sums.threads = {sums.strings.Intern("a")};
  sums.frames = {{kNone, 1, true, 16, 17}, {kNone, 1, false, 20, 21}};
  sums.stacks = {{kNoStack, FrameId{0}}, {StackId{0}, FrameId{1}}};
  sums.rows = {RowOf(0, 0, 1, 1, 1, 60)};
  const std::string section = EncodeSampleSums(sums);
  const auto unpacked = UnpackSection(section, 1);
  ASSERT_TRUE(unpacked.has_value());
  std::vector<int> bytes;
  for (const std::byte byte : unpacked->content) bytes.push_back(std::to_integer<int>(byte));
  const std::vector<int> expected = {5, 0, 0,   0, 0, 0,  0,  0,     // data_size, losses
                                     1, 1, 'a',                      // strings
                                     1, 1, 60,  1, 1,                // events, threads
                                     0, 0, 0,   0,                   // images and the kernel's
                                     2, 0, 0,   3, 2, 32, 8,  2, 0,  // frames
                                     2, 0, 1,   0, 2,                // stacks
                                     1, 0, 0,   2, 0, 1,  120};      // rows
  EXPECT_EQ(bytes, expected);
}

TEST(SampleSumsTest, WithoutAnySampleAreSumsToo) {
  EXPECT_TRUE(Read(EncodeSampleSums(SampleSums())).has_value());
}

TEST(SampleSumsTest, ThatAreCutAnywhereAreNone) {
  const std::string whole = EncodeSampleSums(Example());
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(Read(whole.substr(0, size)).has_value()) << size;
  }
  EXPECT_TRUE(Read(whole + std::string(7, '\0')).has_value()) << "as streams pad it";
}

bool IsBelow(auto id, size_t size) { return static_cast<uint32_t>(id) < size; }

// Whether everything that is referred to is there.
bool IsWhole(const SampleSums& sums) {
  bool whole = true;
  for (const auto& frame : sums.frames) {
    whole &= frame.image == kNone || IsBelow(frame.image, sums.images.size());
  }
  for (size_t i = 0; i < sums.stacks.size(); ++i) {
    whole &= sums.stacks[i].parent == kNoStack || IsBelow(sums.stacks[i].parent, i);
    whole &= IsBelow(sums.stacks[i].frame, sums.frames.size());
  }
  for (const auto& row : sums.rows) {
    whole &= IsBelow(row.event, sums.events.size()) && IsBelow(row.thread, sums.threads.size()) &&
             IsBelow(row.stack, sums.stacks.size()) && IsBelow(row.self, sums.frames.size());
  }
  return whole;
}

TEST(SampleSumsTest, ThatReferToWhatIsNotThereAreNone) {
  ExpectWholeOrNone(EncodeSampleSums(Example()), Read, IsWhole);
}

TEST(SampleSumsTest, ThatWereDamagedAreNone) {
  SampleSums sums = Example();
  for (uint64_t i = 0; i < 1000; ++i) sums.rows.push_back(RowOf(0, 0, 1, 1, i % 7, i % 5 * 100));
  const std::string whole = EncodeSampleSums(sums);
  ExpectDamageIsSeen(whole, Read,
                     [&](const SampleSums& read) { return EncodeSampleSums(read) == whole; });
}

TEST(SampleSumsTest, WithAStackThatNoRecordCanHaveAreNone) {
  SampleSums sums = Example();
  const auto grow_to = [&](uint32_t depth) {
    sums.stacks = {};
    for (uint32_t i = 0; i < depth; ++i) sums.stacks.push_back({StackId{i - 1}, FrameId{0}});
    return Read(EncodeSampleSums(sums)).has_value();
  };
  EXPECT_TRUE(grow_to(SampleSums::kMostFrames));
  EXPECT_FALSE(grow_to(SampleSums::kMostFrames + 1));
}

}  // namespace
}  // namespace profiler::perf_data
