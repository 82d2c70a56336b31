// Tests the section CODE: code of functions, and names of instructions.

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "src/base/packed_section.h"
#include "src/base/testing/damaged_section.h"
#include "symbolize/names/names_codec.h"

namespace profiler::symbolize {
namespace {

constexpr uint32_t kNone = NameFacts::kNone;

std::vector<std::byte> Bytes(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

// Formats one line per image, followed by its code and its instructions.
std::string Told(const NameFacts& code) {
  std::ostringstream text;
  for (const auto& image : code.images) {
    text << code.strings[image.path] << " kind " << static_cast<int>(image.kind) << " pid "
         << image.pid << " build-id " << image.build_id.size() << " machine " << image.machine
         << "\n"
         << std::hex;
    for (const auto& piece : image.pieces) {
      text << "  " << piece.address.value << " is " << piece.place.value << ":";
      for (const std::byte byte : piece.bytes) text << " " << std::to_integer<int>(byte);
      text << "\n";
    }
    for (const auto& address : image.instructions) {
      text << "  " << address.at.value;
      if (address.symbol == kNone) {
        text << " unnamed\n";
        continue;
      }
      if (address.inlined != kNone) {
        text << " " << code.strings[image.inlined[address.inlined].name] << " in";
      }
      text << " " << code.strings[image.symbols[address.symbol].name] << "+" << address.distance
           << " " << code.strings[address.file] << ":" << std::dec << address.line << std::hex
           << "\n";
    }
    text << std::dec;
  }
  return text.str();
}

NameFacts Example() {
  NameFacts code;
  const auto id = [&](std::string_view text) { return code.strings.Intern(text); };
  NameFacts::Image& program = code.images.emplace_back();
  program.path = id("/usr/bin/program");
  program.build_id.resize(4, std::byte{0xab});
  program.machine = 62;
  program.symbols = {{id("main"), {0x401000}, 4}, {id("exit@plt"), {0x400500}, 16}};
  program.inlined = {{id("inner"), kNone, id("main.cc"), 12}};
  program.instructions = {
      {.at = {0x400500}, .symbol = 1},
      {.at = {0x401000}, .symbol = 0, .inlined = 0, .file = id("main.cc"), .line = 3},
      {.at = {0x401001}, .distance = 1, .symbol = 0, .file = id("main.cc"), .line = 4},
      {.at = {0x409000}, .reason = Reason{4}}};
  program.pieces = {{{0x401000}, FileOffset{0x1000}, Bytes({0x90, 0xc3, 0x90, 0x90})},
                    {{0x403000}, FileOffset{0x2000}, Bytes({0xcc})}};
  NameFacts::Image& kernel = code.images.emplace_back();
  kernel.kind = ImageKind{2};
  kernel.path = id("[kernel.kallsyms]");
  kernel.machine = 183;
  kernel.pieces = {{{0xffffffff81000000}, RuntimeAddress{0xffffffff81000000}, Bytes({1, 2})}};
  return code;
}

constexpr char kToldExample[] =
    "/usr/bin/program kind 0 pid 0 build-id 4 machine 62\n"
    "  401000 is 1000: 90 c3 90 90\n"
    "  403000 is 2000: cc\n"
    "  400500 exit@plt+0 :0\n"
    "  401000 inner in main+0 main.cc:3\n"
    "  401001 main+1 main.cc:4\n"
    "  409000 unnamed\n"
    "[kernel.kallsyms] kind 2 pid 0 build-id 0 machine 183\n"
    "  ffffffff81000000 is ffffffff81000000: 1 2\n";

TEST(CodeCodecTest, IsReadAsItWasWritten) {
  ASSERT_EQ(Told(Example()), kToldExample);
  const std::string section = EncodeCode(Example());
  const auto read = DecodeCode(section);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(Told(*read), kToldExample);
  EXPECT_EQ(read->images, Example().images);
  EXPECT_EQ(EncodeCode(*read), section);
}

TEST(CodeCodecTest, OfNothingIsAValueToo) {
  const auto read = DecodeCode(EncodeCode({}));
  ASSERT_TRUE(read.has_value());
  EXPECT_TRUE(read->images.empty());
  EXPECT_TRUE(DecodeCode(EncodeCode({}) + std::string(7, '\0')).has_value()) << "padded";
}

TEST(CodeCodecTest, IsNoPartOfTheNames) {
  NameFacts both = Example();
  both.images[0].addresses = {{.at = FileOffset{0x1000}, .symbol = 0}};
  EXPECT_EQ(EncodeCode(both), EncodeCode(Example()));
  const std::string names = EncodeNames(both);
  for (auto& image : both.images) {
    image.pieces.clear();
    image.instructions.clear();
  }
  EXPECT_EQ(EncodeNames(both), names);
}

// These bytes must not change, because existing recordings contain them. FORMAT.md draws them.
TEST(CodeCodecTest, IsTheseNumbers) {
  NameFacts code;
  NameFacts::Image& image = code.images.emplace_back();
  image.path = code.strings.Intern("a");
  image.symbols = {{image.path, {16}, 3, true}};
  image.instructions = {{.at = {16}, .symbol = 0, .file = image.path, .line = 5},
                        {.at = {17}, .distance = 1, .symbol = 0, .file = image.path, .line = 6}};
  image.machine = 62;
  image.pieces = {{{16}, FileOffset{8}, Bytes({0x90, 0xc3, 0xcc})},
                  {{32}, FileOffset{24}, Bytes({0x90})}};
  const std::string section = EncodeCode(code);
  const auto unpacked = UnpackSection(section, 1);
  ASSERT_TRUE(unpacked.has_value());
  std::vector<int> bytes;
  for (const std::byte byte : unpacked->content) bytes.push_back(std::to_integer<int>(byte));
  const std::vector<int> expected = {1,  1,    'a',                                 // strings
                                     1,  0,    0,    1,    0,                       // images
                                     1,  3,    32,   3,                             // symbols
                                     2,  32,   2,    0,    0,  2,   0, 0, 0, 0, 0,  // instructions
                                     0,  2,    10,   0,    0,  2,   0,              // their lines
                                     62, 2,    32,   32,   15, 0,                   // pieces
                                     3,  0x90, 0xc3, 0xcc, 1,  0x90};
  EXPECT_EQ(bytes, expected);
}

TEST(CodeCodecTest, ThatIsCutAnywhereIsNone) {
  const std::string whole = EncodeCode(Example());
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(DecodeCode(whole.substr(0, size)).has_value()) << size;
  }
}

// Returns true if all references are valid and all tables are in order.
bool IsWhole(const NameFacts& code) {
  bool whole = true;
  const auto is_below = [](uint32_t index, size_t size) { return index == kNone || index < size; };
  for (const auto& image : code.images) {
    for (const auto& address : image.instructions) {
      whole &= is_below(address.symbol, image.symbols.size());
      whole &= is_below(address.neighbour, image.symbols.size());
      whole &= is_below(address.inlined, image.inlined.size());
      whole &= static_cast<uint32_t>(address.file) < code.strings.size();
    }
    whole &= std::ranges::is_sorted(image.pieces, {}, &NameFacts::Piece::address);
    for (const auto& piece : image.pieces) whole &= !piece.bytes.empty();
  }
  return whole;
}

TEST(CodeCodecTest, WithAnyByteChangedIsWholeOrNone) {
  const std::string whole = EncodeCode(Example());
  ASSERT_EQ(whole[1], 3) << "is not packed";
  ExpectWholeOrNone(whole, DecodeCode, IsWhole);
}

TEST(CodeCodecTest, ThatWasDamagedIsNone) {
  NameFacts code = Example();
  auto& pieces = code.images[0].pieces;
  for (uint64_t i = 0; i < 100; ++i) {
    pieces.push_back(
        {{0x500000 + 16 * i}, FileOffset{0x5000 + 16 * i}, Bytes({0x55, 0x48, 0x89, 0xe5, 0xc3})});
  }
  const std::string whole = EncodeCode(code);
  ASSERT_EQ(whole[1], 7) << "is packed";
  ExpectDamageIsSeen(whole, DecodeCode,
                     [&](const NameFacts& read) { return read.images == code.images; });
}

// Returns true if an example image changed by `spoil` can be decoded.
bool Accepts(void (*spoil)(NameFacts::Image&)) {
  NameFacts code = Example();
  spoil(code.images[0]);
  return DecodeCode(EncodeCode(code)).has_value();
}

TEST(CodeCodecTest, OutOfOrderOrWithoutBytesIsNone) {
  EXPECT_TRUE(Accepts([](auto&) {}));
  EXPECT_FALSE(Accepts([](auto& image) { image.pieces[1].address = {0x401000}; }));
  EXPECT_FALSE(Accepts([](auto& image) { image.pieces[0].bytes.clear(); }));
  EXPECT_FALSE(Accepts([](auto& image) { image.instructions[1].at = {0x400500}; }));
  EXPECT_FALSE(Accepts([](auto& image) { image.instructions[1].symbol = 2; }));
}

}  // namespace
}  // namespace profiler::symbolize
