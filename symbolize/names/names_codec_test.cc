#include "symbolize/names/names_codec.h"

#include <sstream>

#include "gtest/gtest.h"

namespace profiler::symbolize {
namespace {

constexpr uint32_t kNone = NameFacts::kNone;

// Formats one line per image and one per address below it, leaf first.
std::string Told(const NameFacts& names) {
  std::ostringstream text;
  for (const auto& image : names.images) {
    text << names.strings[image.path] << " kind " << static_cast<int>(image.kind) << " pid "
         << image.pid << " build-id " << image.build_id.size() << "\n"
         << std::hex;
    for (const auto& address : image.addresses) {
      text << "  " << address.at.value;
      if (address.symbol == kNone) {
        text << " unnamed " << static_cast<int>(address.reason) << " beside " << address.neighbour
             << "\n";
        continue;
      }
      const auto place = [&](StringId file, uint32_t line) {
        text << " (" << names.strings[file] << ":" << std::dec << line << std::hex << ")";
      };
      StringId file = address.file;
      uint32_t line = address.line;
      for (uint32_t i = address.inlined; i != kNone; i = image.inlined[i].caller) {
        text << " " << names.strings[image.inlined[i].name];
        place(file, line);
        file = image.inlined[i].file;
        line = image.inlined[i].line;
      }
      const auto& symbol = image.symbols[address.symbol];
      text << " " << names.strings[symbol.name] << "+" << address.distance;
      place(file, line);
      text << " of " << symbol.start.value << "/" << symbol.size
           << (symbol.in_symbol_table ? "\n" : " by debug information\n");
    }
    for (const auto& code : image.codes) {
      text << "  at " << std::dec << code.time << std::hex << " " << code.start.value << "/"
           << code.size << " is " << code.offset.value << "\n";
    }
    text << std::dec;
  }
  return text.str();
}

NameFacts Example() {
  NameFacts names;
  const auto id = [&](std::string_view text) { return names.strings.Intern(text); };
  NameFacts::Image& program = names.images.emplace_back();
  program.path = id("/usr/bin/program");
  program.build_id.resize(20, std::byte{0xab});
  program.symbols = {{id("_Z4mainv"), {0x401000}, 0x200, true},
                     {id("helper"), {0x400800}, 0, false}};
  program.inlined = {{id("outer"), kNone, id("main.cc"), 12}, {id("inner"), 0, id("outer.h"), 7}};
  program.addresses = {{.at = FileOffset{0x800}, .symbol = 1, .file = id("helper.c"), .line = 3},
                       {.at = FileOffset{0x1010},
                        .distance = 0x10,
                        .symbol = 0,
                        .inlined = 1,
                        .file = id("inner.h"),
                        .line = 99},
                       {.at = FileOffset{0x1018}, .distance = 0x18, .symbol = 0},
                       {.at = FileOffset{0x9000}, .neighbour = 0, .reason = Reason{4}}};
  NameFacts::Image& kernel = names.images.emplace_back();
  kernel.kind = ImageKind{2};
  kernel.path = id("[kernel.kallsyms]");
  kernel.symbols = {{id("do_syscall_64"), {0xffffffff81000000}, 0x80, true}};
  kernel.addresses = {{.at = RuntimeAddress{0xffffffff81000004}, .distance = 4, .symbol = 0}};
  NameFacts::Image& jit = names.images.emplace_back();
  jit.kind = ImageKind{5};
  jit.pid = 4711;
  jit.path = id("/tmp/jit-4711.dump");
  jit.codes = {{1000, {0x7f0000001000}, 0x40, {0x80}}, {2000, {0x7f0000001000}, 0x60, {0x200}}};
  return names;
}

constexpr char kToldExample[] =
    "/usr/bin/program kind 0 pid 0 build-id 20\n"
    "  800 helper+0 (helper.c:3) of 400800/0 by debug information\n"
    "  1010 inner (inner.h:99) outer (outer.h:7) _Z4mainv+10 (main.cc:12) of 401000/200\n"
    "  1018 _Z4mainv+18 (:0) of 401000/200\n"
    "  9000 unnamed 4 beside 0\n"
    "[kernel.kallsyms] kind 2 pid 0 build-id 0\n"
    "  ffffffff81000004 do_syscall_64+4 (:0) of ffffffff81000000/80\n"
    "/tmp/jit-4711.dump kind 5 pid 4711 build-id 0\n"
    "  at 1000 7f0000001000/40 is 80\n"
    "  at 2000 7f0000001000/60 is 200\n";

TEST(NamesCodecTest, AreReadAsTheyWereWritten) {
  ASSERT_EQ(Told(Example()), kToldExample);
  const std::string section = EncodeNames(Example());
  const auto read = DecodeNames(section);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(Told(*read), kToldExample);
  EXPECT_TRUE(read->has_lines);
  EXPECT_TRUE(read->is_complete);
  EXPECT_EQ(EncodeNames(*read), section);
}

TEST(NamesCodecTest, WithoutLinesHaveNoRoomForThem) {
  NameFacts names = Example();
  const size_t with_lines = EncodeNames(names).size();
  names.has_lines = false;
  names.is_complete = false;
  const std::string section = EncodeNames(names);
  EXPECT_LT(section.size(), with_lines);
  const auto read = DecodeNames(section);
  ASSERT_TRUE(read.has_value());
  EXPECT_FALSE(read->has_lines);
  EXPECT_FALSE(read->is_complete);
  EXPECT_TRUE(read->images[0].inlined.empty());
  EXPECT_EQ(read->images[0].addresses[1].distance, 0x10u);
}

TEST(NamesCodecTest, NobodyHitAnythingIsAValueToo) {
  const auto read = DecodeNames(EncodeNames({}));
  ASSERT_TRUE(read.has_value());
  EXPECT_TRUE(read->images.empty());
}

TEST(NamesCodecTest, MayBeFollowedByPadding) {
  EXPECT_TRUE(DecodeNames(EncodeNames({}) + std::string(7, '\0')).has_value());
}

// An address after another one in the same function takes about two bytes: distance and line.
TEST(NamesCodecTest, AreSmall) {
  NameFacts names;
  NameFacts::Image& image = names.images.emplace_back();
  uint32_t random = 1;
  for (uint32_t i = 0; i < 100; ++i) {
    image.symbols.push_back(
        {names.strings.Intern("function" + std::to_string(i)), {i * 4096}, 4096});
    uint32_t distance = 0;
    for (uint32_t j = 0; j < 100; ++j) {
      random = random * 1664525 + 1013904223;
      distance += 1 + (random >> 28);
      image.addresses.push_back({.at = FileOffset{i * 4096 + distance},
                                 .distance = distance,
                                 .symbol = i,
                                 .line = i * 100 + (random >> 24) % 5});
    }
  }
  const std::string section = EncodeNames(names);
  EXPECT_LT(section.size(), 25'000u);
  EXPECT_EQ(DecodeNames(section)->images, names.images);
}

TEST(NamesCodecTest, ThatExpandTooMuchAreWrittenAsTheyAre) {
  NameFacts names;
  names.images.emplace_back().build_id.resize(1 << 20);
  const std::string section = EncodeNames(names);
  EXPECT_GT(section.size(), size_t{1} << 20);
  EXPECT_EQ(DecodeNames(section)->images, names.images);
}

TEST(NamesCodecTest, CutShortAreNotUsed) {
  const std::string section = EncodeNames(Example());
  for (size_t size = 0; size < section.size(); ++size) {
    EXPECT_FALSE(DecodeNames(section.substr(0, size)).has_value()) << size;
  }
}

// Returns true if an example image changed by `spoil` can be decoded.
bool Accepts(void (*spoil)(NameFacts::Image&)) {
  NameFacts names = Example();
  spoil(names.images[0]);
  return DecodeNames(EncodeNames(names)).has_value();
}

TEST(NamesCodecTest, RefuseWhatPointsNowhereOrInCircles) {
  EXPECT_TRUE(Accepts([](auto&) {}));
  EXPECT_FALSE(Accepts([](auto& image) { image.path = StringId(999); }));
  EXPECT_FALSE(Accepts([](auto& image) { image.symbols[0].name = StringId(999); }));
  EXPECT_FALSE(Accepts([](auto& image) { image.addresses[0].symbol = 2; }));
  EXPECT_FALSE(Accepts([](auto& image) { image.addresses[0].neighbour = 2; }));
  EXPECT_FALSE(Accepts([](auto& image) { image.addresses[0].inlined = 2; }));
  EXPECT_FALSE(Accepts([](auto& image) { image.inlined[0].caller = 1; }));
  EXPECT_FALSE(Accepts([](auto& image) { image.inlined[0].caller = 0; }));
  EXPECT_FALSE(Accepts([](auto& image) { image.addresses[1].at = FileOffset{0x800}; }));
  EXPECT_FALSE(Accepts([](auto& image) {
    image.inlined.resize(1);
    image.addresses[1].inlined = 0;
    for (uint32_t i = 0; i < NameFacts::kMostInlined; ++i) {
      image.inlined.push_back({.caller = i});
    }
  }));
}

TEST(NamesCodecTest, OfALaterVersionAreNotUsed) {
  std::string section = EncodeNames(Example());
  section[0] = 2;
  EXPECT_FALSE(DecodeNames(section).has_value());
}

}  // namespace
}  // namespace profiler::symbolize
