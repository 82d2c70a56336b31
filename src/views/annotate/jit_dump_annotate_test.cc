// Tests functions whose code is in a JIT's dump.

#include <elf.h>

#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "gtest/gtest.h"
#include "src/profile/profile.h"
#include "src/views/annotate/annotation.h"
#include "src/views/annotate/choice.h"
#include "src/views/annotate/listing.h"
#include "symbolize/files/file_facts.h"
#include "symbolize/names/name_store.h"
#include "symbolize/names/testing/create_symbolizer.h"
#include "symbolize/symbolizer.h"
#include "symbolize/symbols/testing/jit_dump_builder.h"

namespace profiler::annotate {
namespace {

using profile::EventId;
using profile::FrameId;
using profile::Profile;
using profile::SymbolId;
using symbolize::CreateSymbolizer;
using symbolize::JitDumpBuilder;
using symbolize::Symbolizer;

// At 7000: mov %rsp, %rbp; call 8004; call 9000; jne 7000; ret
constexpr char kHot[] = "\x48\x89\xe5\xe8\xfc\x0f\0\0\xe8\xf3\x1f\0\0\x75\xf1\xc3";
constexpr char kCallee[] = "\x90\x90\x90\x90\x90\xc3";

class JitDumpAnnotateTest : public testing::Test {
 protected:
  JitDumpAnnotateTest() {
    Write(JitDumpBuilder()
              .Lines(0x7000, {{0x7000, 3, "a.js"}, {0x700d, 5, "\xff"}})
              .Load(10, 0x7000, 1, "hot", std::string(kHot, sizeof(kHot) - 1))
              .Load(20, 0x8000, 2, "callee", kCallee));
    profile_.events.push_back({.name = profile_.strings.Intern("cycles:p")});
    profile_.images.push_back({.long_name = profile_.strings.Intern(path_),
                               .kind = symbolize::ImageKind::kJitDump,
                               .pid = 7});
    hot_ = Function("hot", 0);
    callee_ = Function("callee", 1);
  }
  ~JitDumpAnnotateTest() override { std::remove(path_.c_str()); }

  void Write(const JitDumpBuilder& dump) {
    std::ofstream(path_, std::ios::binary) << dump.bytes();
    files_ = CreateSymbolizer({});
  }

  // Adds the dump's function number `code`, in order of time.
  SymbolId Function(std::string_view name, size_t code) {
    const auto codes = files_->JitCodes(
        files_->AddImage({.kind = symbolize::ImageKind::kJitDump, .path = path_, .pid = 7}));
    EXPECT_TRUE(codes.ok()) << codes.status();
    profile_.symbols.push_back({.name = profile_.strings.Intern(name),
                                .start = {(*codes)[code].offset.value},
                                .size = (*codes)[code].size});
    return SymbolId(profile_.symbols.size() - 1);
  }

  // Adds samples `distance` bytes into a function that starts at `start`.
  void Add(SymbolId symbol, uint64_t start, uint64_t distance, uint64_t count) {
    profile_.lines.push_back({.symbol = symbol});
    profile_.frames.push_back({.place = FileOffset{profile_[symbol].start.value + distance},
                               .ip = {start + distance},
                               .first_line = static_cast<uint32_t>(profile_.lines.size() - 1),
                               .line_count = 1,
                               .symbol_offset = distance});
    profile_.rows.push_back({.self = FrameId(static_cast<uint32_t>(profile_.frames.size() - 1)),
                             .count = count,
                             .period = count});
  }

  // Returns the listing without its heading.
  std::string Listed(Symbolizer& symbolizer, Syntax syntax = Syntax::kAtt) {
    const auto functions = ChooseFunctions(profile_, EventId{0}, "hot");
    const auto function = Annotate(profile_, EventId{0}, functions->front(), symbolizer, syntax);
    if (!function.ok()) return std::string(function.status().message());
    EXPECT_EQ(function->image, path_);
    const SourceText none = [](std::string_view, uint32_t) { return std::nullopt; };
    const std::string text = FormatListing(*function, {}, none);
    return text.substr(text.find(" :      \n         :      a.js:3\n") + 9);
  }

  const std::string path_ = testing::TempDir() + "/jit-7.dump";
  std::unique_ptr<Symbolizer> files_;
  Profile profile_;
  SymbolId hot_{}, callee_{};
};

TEST_F(JitDumpAnnotateTest, TheAddressesAreThoseWhereItRan) {
  Add(hot_, 0x7000, 3, 3);
  Add(hot_, 0x7000, 13, 1);
  Add(callee_, 0x8000, 5, 1);
  EXPECT_EQ(Listed(*files_),
            "         :      a.js:3\n"
            "    0.00 :   7000:  mov %rsp, %rbp\n"
            "   75.00 :   7003:  call 0x8004 <callee+0x4>\n"
            "    0.00 :   7008:  call 0x9000\n"
            "         :      a.js:5\n"
            "   25.00 :   700d:  jne 0x7000 <hot>\n"
            "    0.00 :   700f:  ret\n");
}

TEST_F(JitDumpAnnotateTest, OfCodeThatWasMovedTheLowestAddressIsShown) {
  Add(hot_, 0x7000, 0, 1);
  Add(hot_, 0x6000, 8, 1);
  EXPECT_EQ(Listed(*files_),
            "         :      a.js:3\n"
            "   50.00 :   6000:  mov %rsp, %rbp\n"
            "    0.00 :   6003:  call 0x7004 <hot+0x4>\n"
            "   50.00 :   6008:  call 0x8000\n"
            "         :      a.js:5\n"
            "    0.00 :   600d:  jne 0x6000 <hot>\n"
            "    0.00 :   600f:  ret\n");
}

TEST_F(JitDumpAnnotateTest, WhereSeveralFunctionsLayInTurnNoneIsNamed) {
  Add(hot_, 0x7000, 0, 1);
  Add(callee_, 0x8000, 5, 1);
  Add(hot_, 0x8000, 5, 1);
  EXPECT_NE(Listed(*files_).find("call 0x8004\n"), std::string::npos);
}

TEST_F(JitDumpAnnotateTest, WhatAVirtualMachineRunsHasNoInstructions) {
  Write(JitDumpBuilder(0x4a695444, 0, EM_NONE)
            .Lines(0x7000, {{0x7000, 3, "a.js"}, {0x700d, 5, "\xff"}})
            .Load(10, 0x7000, 1, "hot", std::string(kHot, sizeof(kHot) - 1))
            .Load(20, 0x8000, 2, "callee", kCallee));
  Add(hot_, 0x7000, 0, 1);
  EXPECT_EQ(Listed(*files_),
            "cannot annotate 'hot': a virtual machine runs it, so there are no instructions to "
            "show (a JIT's own dump has those of compiled code: node --perf-prof)");
}

TEST_F(JitDumpAnnotateTest, ADumpOfAnotherProcessThatHadTheNumberIsNotShown) {
  Add(hot_, 0x7000, 0, 1);
  const std::string refused =
      "cannot annotate 'hot': the file here is not the one that was recorded";
  Write(JitDumpBuilder()
            .Lines(0x7000, {{0x7000, 3, "a.js"}, {0x700d, 5, "\xff"}})
            .Load(10, 0x7000, 1, "not", std::string(kHot, sizeof(kHot) - 1)));
  EXPECT_EQ(Listed(*files_), refused);
  Write(JitDumpBuilder()
            .Lines(0x7000, {{0x7000, 3, "a.js"}, {0x700d, 5, "\xff"}})
            .Load(10, 0x7000, 1, "hot", kCallee));
  EXPECT_EQ(Listed(*files_), refused);
  Write(JitDumpBuilder());
  EXPECT_EQ(Listed(*files_), "cannot annotate 'hot': its file has no code at its address");
  std::remove(path_.c_str());
  files_ = CreateSymbolizer({});
  EXPECT_EQ(Listed(*files_),
            "cannot annotate 'hot': the JIT's dump is not here, and the recording does not have "
            "its code (run record or archive with --embed code on the machine that has the dump)");
}

TEST_F(JitDumpAnnotateTest, WithItsCodeKeptTheListingIsTheSameWithoutTheDump) {
  Add(hot_, 0x7000, 3, 3);
  Add(callee_, 0x8000, 5, 1);
  std::string with_dump;
  for (const Syntax syntax : {Syntax::kAtt, Syntax::kIntel}) with_dump += Listed(*files_, syntax);
  symbolize::NameStore keeping({.files = symbolize::CreateFileFacts({})}, {});
  keeping.Keep([] { return true; });
  for (const SymbolId function : InterruptedFunctions(profile_)) {
    EXPECT_TRUE(LookUpCode(profile_, function, keeping).ok());
  }
  std::remove(path_.c_str());
  symbolize::NameStore kept({.files = symbolize::CreateFileFacts({})}, {});
  kept.AddCode(keeping.Take());
  std::string without_dump;
  for (const Syntax syntax : {Syntax::kAtt, Syntax::kIntel}) without_dump += Listed(kept, syntax);
  EXPECT_EQ(without_dump, with_dump);
}

}  // namespace
}  // namespace profiler::annotate
