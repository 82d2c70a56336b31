#include "src/profile/profile_codec.h"

#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "src/base/packed_section.h"
#include "src/base/testing/damaged_section.h"

namespace profiler::profile {
namespace {

constexpr uint64_t kDataSize = 4711;
const Wanted kAll{.threads = true, .dimensions = kStoredDimensions, .samples = {}};

template <class Id>
uint32_t NumberOf(Id id) {
  return static_cast<uint32_t>(id);
}

std::optional<Profile> Read(const std::string& section) {
  return DecodeProfile(section, kDataSize, kAll);
}

std::string Written(Profile profile) { return EncodeProfile(profile, kDataSize); }

std::string FrameText(const Profile& profile, FrameId id) {
  const Frame& frame = profile[id];
  std::ostringstream text;
  text << std::hex << profile.text(profile[frame.image].long_name) << "+" << frame.place.value
       << "@" << frame.ip.value << "/" << NumberOf(frame.mode) << (frame.return_address ? "r" : "");
  return text.str();
}

std::string RowsText(const Profile& profile) {
  std::ostringstream text;
  for (size_t i = 0; i < profile.rows.size(); ++i) {
    const Row& row = profile.rows[i];
    const Thread& thread = profile[row.thread];
    text << profile.text(profile[row.event].name) << " " << profile.text(thread.comm) << " "
         << thread.pid << "/" << thread.tid;
    for (size_t d = 0; d < kDimensions; ++d) {
      const auto& column = profile.columns[d];
      if (kStoredDimensions[d]) text << " " << (column.empty() ? 0 : column[i]);
    }
    text << ":";
    for (StackId id = row.stack; id != kNoStack; id = profile[id].parent) {
      text << " " << FrameText(profile, profile[id].frame);
    }
    text << " self " << FrameText(profile, row.self) << " " << row.count << " " << row.period
         << "\n";
  }
  return text.str();
}

std::string HeadText(const Profile& profile) {
  std::ostringstream text;
  text << profile.losses.lost_records << " lost, " << profile.losses.unknown_records
       << " unknown\n";
  for (const Event& event : profile.events) {
    text << profile.text(event.name) << " " << event.samples << " " << event.period
         << (event.frequency ? " frequency" : "") << (event.callchains ? " callchains" : "")
         << "\n";
  }
  for (const Image& image : profile.images) {
    text << profile.text(image.name) << " = " << profile.text(image.long_name) << " kind "
         << NumberOf(image.kind) << " pid " << image.pid << " build-id " << image.build_id.size()
         << "\n";
  }
  text << "kernel " << profile.text(profile.kernel.reference) << std::hex << " "
       << profile.kernel.reference_address.value << "\n";
  for (const KernelFacts::Symbol& symbol : profile.kernel.symbols) {
    text << profile.text(symbol.name) << " " << symbol.start.value << "/" << symbol.size << "\n";
  }
  return text.str();
}

Profile Example() {
  Profile profile;
  const auto id = [&](std::string_view text) { return profile.strings.Intern(text); };
  profile.losses.lost_records = 3;
  profile.losses.unknown_records = 1;
  profile.events = {{id("cycles"), 5, 500, true, true}, {id("faults"), 1, 7, false, false}};
  profile.images = {{.name = id("[unknown]"), .long_name = id("[unknown]")},
                    {.name = id("cat"),
                     .long_name = id("/bin/cat"),
                     .kind = symbolize::ImageKind::kUser,
                     .build_id = std::vector<std::byte>(20),
                     .pid = 12},
                    {.name = id("[kernel.kallsyms]"),
                     .long_name = id("[kernel.kallsyms]"),
                     .kind = symbolize::ImageKind::kKernel}};
  profile.kernel = {id("_text"),
                    RuntimeAddress{0xffffffff81000000},
                    {{{0xffffffffc0000000}, 64, id("bpf_prog_1")}}};
  profile.threads = {{7, 7, id("cat"), id("cat"), id("cat")},
                     {7, 8, id("cat"), id("dog"), id("cat")},
                     {9, 9, id("dog"), id("dog"), id("dog")}};
  const auto frame = [&](uint32_t image, Mode mode, bool called, CodePlace place, uint64_t ip) {
    profile.frames.push_back({.place = place,
                              .mode = mode,
                              .return_address = called,
                              .image = ImageId{image},
                              .ip = RuntimeAddress{ip}});
  };
  frame(0, Mode::kCut, false, RuntimeAddress{0xc03}, 0xc03);
  frame(1, Mode::kUser, false, FileOffset{0x1000}, 0x401000);
  frame(1, Mode::kUser, true, FileOffset{0x1234}, 0x401234);
  frame(2, Mode::kKernel, false, RuntimeAddress{0xffffffff81000010}, 0xffffffff81000010);
  profile.stacks = {{kNoStack, FrameId{0}},
                    {kNoStack, FrameId{2}},
                    {StackId{1}, FrameId{1}},
                    {StackId{1}, FrameId{3}}};
  profile.slices = TimeSlices::Of(100, 299, 2);
  profile.slices.slices = {{100, 150}, {201, 299}};
  const auto row = [&](uint32_t event, uint32_t thread, uint32_t stack, uint32_t self, uint32_t cpu,
                       uint32_t slice, uint64_t count, uint64_t period) {
    profile.rows.push_back(
        {EventId{event}, ThreadId{thread}, FrameId{self}, StackId{stack}, count, period});
    profile.column(Dimension::kCpu).push_back(cpu);
    profile.column(Dimension::kSlice).push_back(slice);
  };
  row(0, 0, 2, 1, 0, 0, 1, 100);
  row(0, 1, 2, 1, 1, 1, 2, 200);
  row(0, 2, 3, 3, 0, 1, 2, 200);
  row(1, 0, 0, 1, kNoCpu, 1, 1, 7);
  return profile;
}

TEST(ProfileCodecTest, ReadsAllThatWasWritten) {
  const auto profile = Read(Written(Example()));
  ASSERT_TRUE(profile.has_value());
  EXPECT_EQ(HeadText(*profile),
            "3 lost, 1 unknown\n"
            "cycles 5 500 frequency callchains\n"
            "faults 1 7\n"
            "[unknown] = [unknown] kind 8 pid 0 build-id 0\n"
            "cat = /bin/cat kind 0 pid 12 build-id 20\n"
            "[kernel.kallsyms] = [kernel.kallsyms] kind 2 pid 0 build-id 0\n"
            "kernel _text ffffffff81000000\n"
            "bpf_prog_1 ffffffffc0000000/40\n");
  EXPECT_EQ(RowsText(*profile),
            "cycles cat 7/7 0 0: /bin/cat+1000@401000/1 /bin/cat+1234@401234/1r self "
            "/bin/cat+1000@401000/1 1 100\n"
            "cycles cat 7/8 1 1: /bin/cat+1000@401000/1 /bin/cat+1234@401234/1r self "
            "/bin/cat+1000@401000/1 2 200\n"
            "cycles dog 9/9 0 1: [kernel.kallsyms]+ffffffff81000010@ffffffff81000010/2 "
            "/bin/cat+1234@401234/1r self [kernel.kallsyms]+ffffffff81000010@ffffffff81000010/2 2 "
            "200\n"
            "faults cat 7/7 4294967295 1: [unknown]+c03@c03/6 self /bin/cat+1000@401000/1 1 7\n");
  EXPECT_EQ(profile->slices.slices, Example().slices.slices);
  EXPECT_EQ(Written(*Read(Written(Example()))), Written(Example()));
}

TEST(ProfileCodecTest, TheSummaryHasThreadsOfOneNameAsOne) {
  const auto profile = DecodeProfile(Written(Example()), kDataSize, {});
  ASSERT_TRUE(profile.has_value());
  EXPECT_EQ(RowsText(*profile),
            "cycles cat 0/0 0 0: /bin/cat+1000@401000/1 /bin/cat+1234@401234/1r self "
            "/bin/cat+1000@401000/1 3 300\n"
            "cycles dog 0/0 0 0: [kernel.kallsyms]+ffffffff81000010@ffffffff81000010/2 "
            "/bin/cat+1234@401234/1r self [kernel.kallsyms]+ffffffff81000010@ffffffff81000010/2 2 "
            "200\n"
            "faults cat 0/0 0 0: [unknown]+c03@c03/6 self /bin/cat+1000@401000/1 1 7\n");
}

TEST(ProfileCodecTest, EventsCountTheSamplesThatAreWanted) {
  const auto profile = DecodeProfile(Written(Example()), kDataSize, {.samples = {.cpus = {1}}});
  ASSERT_TRUE(profile.has_value());
  EXPECT_EQ(profile->events[0].samples, 2u);
  EXPECT_EQ(profile->events[0].period, 200u);
  EXPECT_EQ(profile->events[1].samples, 0u);
}

// The bytes that FORMAT.md documents: files written by earlier versions must stay readable.
TEST(ProfileCodecTest, WritesTheseNumbers) {
  Profile profile;
  const auto id = [&](std::string_view text) { return profile.strings.Intern(text); };
  profile.events = {{id("e"), 1, 60, false, true}};
  profile.threads = {{5, 6, id("a"), id("a"), id("b")}};
  profile.images = {{.name = id("?"), .long_name = id("?")}};
  profile.frames = {{.place = FileOffset{16},
                     .mode = Mode::kUser,
                     .return_address = true,
                     .ip = RuntimeAddress{17}},
                    {.place = FileOffset{20}, .mode = Mode::kUser, .ip = RuntimeAddress{21}}};
  profile.stacks = {{kNoStack, FrameId{0}}, {StackId{0}, FrameId{1}}};
  profile.rows = {{EventId{0}, ThreadId{0}, FrameId{1}, StackId{1}, 1, 60}};
  profile.columns = {HugeVector<uint32_t>{3}, HugeVector<uint32_t>{0}};
  profile.slices = {.begin = 7, .length = 2, .slices = {{8, 8}}};
  const std::string section = EncodeProfile(profile, 5);
  NumberReader parts(BytesOfText(section));
  EXPECT_EQ(parts.Number(), 2u);
  const auto content_of = [](std::string_view packed) {
    const auto unpacked = UnpackSection(packed, 2);
    std::vector<int> numbers;
    if (!unpacked) return numbers;
    for (const std::byte byte : unpacked->content) numbers.push_back(std::to_integer<int>(byte));
    return numbers;
  };
  const std::vector<int> summary = {5, 0, 0,   0,  0,   0,  0,   0,       // data_size, losses
                                    4, 1, 'e', 1,  'a', 1,  'b', 1, '?',  // strings
                                    1, 1, 1,   60, 1,                     // events
                                    1, 2,                                 // names
                                    1, 8, 0,   4,  4,   0,                // images
                                    0, 0, 0,                              // the kernel
                                    2, 0, 0,   3,  2,   32, 8,   2, 0,    // frames
                                    2, 0, 1,   0,  2,                     // stacks
                                    1, 0, 0,   2,  0,   1,  120};         // rows
  EXPECT_EQ(content_of(TextOf(parts.Bytes())), summary);
  const std::vector<int> details = {1, 10, 2, 2,  2, 3,  // threads
                                    7, 2,  1, 2,  0,     // slices
                                    1, 1,                // parts of each row
                                    1, 0,                // their threads,
                                    1, 4,  1, 0,         // CPUs, slices,
                                    1, 1,  1, 120};      // counts and periods
  EXPECT_EQ(content_of(section.substr(section.size() - parts.remaining())), details);
}

TEST(ProfileCodecTest, AProfileWithoutAnySampleIsOneToo) {
  Profile profile;
  profile.images = {{.name = profile.strings.Intern("[unknown]")}};
  EXPECT_TRUE(Read(Written(std::move(profile))).has_value());
}

TEST(ProfileCodecTest, WhatIsCutAnywhereIsNone) {
  const std::string whole = Written(Example());
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(Read(whole.substr(0, size)).has_value()) << size;
  }
  EXPECT_TRUE(Read(whole + std::string(7, '\0')).has_value()) << "as streams pad it";
}

bool IsBelow(auto id, size_t size) { return NumberOf(id) < size; }

// True if all referenced ids exist.
bool IsWhole(const Profile& profile) {
  bool whole = true;
  for (const Frame& frame : profile.frames) whole &= IsBelow(frame.image, profile.images.size());
  for (size_t i = 0; i < profile.stacks.size(); ++i) {
    const StackNode& stack = profile.stacks[i];
    whole &= stack.parent == kNoStack || IsBelow(stack.parent, i);
    whole &= IsBelow(stack.frame, profile.frames.size());
  }
  for (const Row& row : profile.rows) {
    whole &= IsBelow(row.event, profile.events.size()) &&
             IsBelow(row.thread, profile.threads.size()) &&
             IsBelow(row.stack, profile.stacks.size()) && IsBelow(row.self, profile.frames.size());
  }
  for (size_t d = 0; d < kDimensions; ++d) {
    whole &= profile.columns[d].size() == (kStoredDimensions[d] ? profile.rows.size() : 0);
  }
  return whole;
}

TEST(ProfileCodecTest, WhatRefersToWhatIsNotThereIsNone) {
  ExpectWholeOrNone(Written(Example()), Read, IsWhole);
}

TEST(ProfileCodecTest, WhatWasDamagedIsNone) {
  Profile profile = Example();
  for (uint32_t i = 0; i < 1000; ++i) {
    profile.rows.push_back({EventId{0}, ThreadId{0}, FrameId{1}, StackId{2}, i % 7, i % 5 * 100});
    profile.column(Dimension::kCpu).push_back(10 + i);
    profile.column(Dimension::kSlice).push_back(0);
  }
  const std::string whole = Written(std::move(profile));
  ExpectDamageIsSeen(whole, Read,
                     [&](Profile& read) { return EncodeProfile(read, kDataSize) == whole; });
}

TEST(ProfileCodecTest, CodeInNoFileWithAnotherAddressThanItsPlaceMakesItNone) {
  Profile profile = Example();
  ASSERT_FALSE(profile.frames[0].place.in_file);
  ++profile.frames[0].ip.value;
  EXPECT_FALSE(Read(Written(std::move(profile))).has_value());
}

TEST(ProfileCodecTest, AStackThatNoRecordCanHaveMakesItNone) {
  const auto reads_depth = [](uint32_t depth) {
    Profile profile = Example();
    profile.stacks = {};
    for (uint32_t i = 0; i < depth; ++i) profile.stacks.push_back({StackId{i - 1}, FrameId{0}});
    return Read(Written(std::move(profile))).has_value();
  };
  EXPECT_TRUE(reads_depth(kMostFrames));
  EXPECT_FALSE(reads_depth(kMostFrames + 1));
}

}  // namespace
}  // namespace profiler::profile
