// Tests the steps from a profile to the text: choice, annotation and listing.

#include <elf.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/base/text.h"
#include "src/views/annotate/annotation.h"
#include "src/views/annotate/choice.h"
#include "src/views/annotate/instruction_bytes.h"
#include "src/views/annotate/listing.h"
#include "src/views/annotate/source_files.h"

namespace profiler::annotate {
namespace {

using profile::EventId;
using profile::FrameId;
using profile::Profile;
using profile::SymbolId;
using symbolize::CodeBytes;
using symbolize::ImageId;
using symbolize::ImageKind;
using symbolize::ImageSpec;
using symbolize::Naming;
using symbolize::Reason;

constexpr uint64_t kBias = 0x5000;  // file offset - address

// A profile with samples by function and distance from its start.
class Samples {
 public:
  Samples() {
    profile_.events.push_back({.name = profile_.strings.Intern("cpu-clock")});
    Image("/usr/bin/app", ImageKind::kUser);
  }

  profile::ImageId Image(std::string_view path, ImageKind kind) {
    profile_.images.push_back({.name = profile_.strings.Intern(path.substr(path.rfind('/') + 1)),
                               .long_name = profile_.strings.Intern(path),
                               .kind = kind});
    return image_ = profile::ImageId(profile_.images.size() - 1);
  }

  SymbolId Function(std::string_view name, uint64_t start = 0x1000, uint64_t size = 0x10) {
    profile_.symbols.push_back(
        {.name = profile_.strings.Intern(name), .image = image_, .start = {start}, .size = size});
    return SymbolId(profile_.symbols.size() - 1);
  }

  // Returns a frame in `symbol`; with `inlined`, in that function inlined into it.
  FrameId Frame(SymbolId symbol, uint64_t distance, SymbolId inlined = profile::kNoSymbol) {
    const FileOffset offset{kBias + profile_[symbol].start.value + distance};
    profile::Frame frame{.place = offset,
                         .unnamed = profile::Unnamed::kNamed,
                         .image = profile_[symbol].image,
                         .first_line = static_cast<uint32_t>(profile_.lines.size()),
                         .symbol_offset = distance};
    if (inlined != profile::kNoSymbol) {
      profile_.lines.push_back({.symbol = inlined, .inlined = true});
    }
    profile_.lines.push_back({.symbol = symbol});
    frame.line_count = static_cast<uint32_t>(profile_.lines.size()) - frame.first_line;
    profile_.frames.push_back(frame);
    return FrameId(static_cast<uint32_t>(profile_.frames.size() - 1));
  }

  Samples& Add(FrameId frame, uint64_t count) {
    profile_.rows.push_back({.self = frame, .count = count, .period = count * 10});
    profile_.events[0].samples += count;
    return *this;
  }
  Samples& Add(SymbolId symbol, uint64_t distance, uint64_t count) {
    return Add(Frame(symbol, distance), count);
  }

  // Returns a caller's frame in `symbol`: the address behind the call.
  FrameId Caller(SymbolId symbol, uint64_t distance, SymbolId inlined = profile::kNoSymbol) {
    const FrameId frame = Frame(symbol, distance, inlined);
    profile_.frames[static_cast<uint32_t>(frame)].return_address = true;
    return frame;
  }

  // Adds samples with a call chain, from the outermost caller to the interrupted instruction.
  Samples& AddChain(const std::vector<FrameId>& chain, uint64_t count) {
    profile::StackId stack = profile::kNoStack;
    for (const FrameId frame : chain) {
      profile_.stacks.push_back({.parent = stack, .frame = frame});
      stack = profile::StackId(static_cast<uint32_t>(profile_.stacks.size() - 1));
    }
    Add(chain.back(), count);
    profile_.rows.back().stack = stack;
    return *this;
  }

  Profile& profile() { return profile_; }

  GroupMembers group_;  // shown beside the first event

  // Returns "name samples" for each chosen function, or the error.
  std::string Chosen(std::string_view name, Counted counted = Counted::kOwn) const {
    const auto functions = ChooseFunctions(profile_, EventId{0}, name, counted);
    if (!functions.ok()) return std::string(functions.status().message());
    return TextOf(*functions);
  }

  std::string Containers(std::string_view name) const {
    return TextOf(InlinedInto(profile_, EventId{0}, name));
  }

 private:
  std::string TextOf(const std::vector<ChosenFunction>& functions) const {
    std::string text;
    for (const ChosenFunction& function : functions) {
      absl::StrAppend(&text, std::string(profile_.text(profile_[function.symbol].name)), " ",
                      function.samples, "\n");
    }
    return text;
  }

  Profile profile_;
  profile::ImageId image_{};
};

TEST(ChoiceTest, TheHeaviestFunctionIsChosenWhereNoneIsNamed) {
  Samples samples;
  samples.Add(samples.Function("light"), 0, 1).Add(samples.Function("heavy"), 0, 5);
  EXPECT_EQ(samples.Chosen(""), "heavy 5\n");
}

TEST(ChoiceTest, AFunctionIsFoundInAllImages) {
  Samples samples;
  samples.Add(samples.Function("copy"), 0, 1).Add(samples.Function("main"), 0, 9);
  samples.Image("/usr/lib/x.so", ImageKind::kUser);
  const SymbolId other = samples.Function("copy");
  samples.Add(other, 0, 2).Add(other, 4, 2);
  EXPECT_EQ(samples.Chosen("copy"), "copy 4\ncopy 1\n");
}

TEST(ChoiceTest, ANameWithoutParametersStandsForEachOverload) {
  Samples samples;
  samples.Add(samples.Function("ns::f(int)"), 0, 1)
      .Add(samples.Function("ns::f(char) const"), 0, 2);
  EXPECT_EQ(samples.Chosen("ns::f"), "ns::f(char) const 2\nns::f(int) 1\n");
  EXPECT_EQ(samples.Chosen("ns::f(int)"), "ns::f(int) 1\n");
}

TEST(ChoiceTest, ANameWithoutTemplateArgumentsStandsForEachInstance) {
  Samples samples;
  samples.Add(samples.Function("void ns::Table<int>::Put<long>(long)"), 0, 1)
      .Add(samples.Function("void ns::Table<char>::Put<long>(long)"), 0, 2);
  EXPECT_EQ(samples.Chosen("ns::Table::Put"),
            "void ns::Table<char>::Put<long>(long) 2\nvoid ns::Table<int>::Put<long>(long) 1\n");
  EXPECT_EQ(samples.Chosen("ns::Table<int>::Put<long>"),
            "void ns::Table<int>::Put<long>(long) 1\n");
}

TEST(ChoiceTest, AnUnknownNameComesWithNearOnes) {
  Samples samples;
  samples.Add(samples.Function("parse_line(char*)"), 0, 1)
      .Add(samples.Function("parse_file"), 0, 2);
  samples.Add(samples.Function("zlib"), 0, 2);
  EXPECT_EQ(samples.Chosen("parse"),
            "no function 'parse' has samples; near: parse_file, parse_line");
  EXPECT_EQ(samples.Chosen("prase_file"), "no function 'prase_file' has samples; near: parse_file");
  EXPECT_EQ(samples.Chosen("quicksort"), "no function 'quicksort' has samples");
}

TEST(ChoiceTest, FunctionsWithoutSamplesSayWhy) {
  Samples samples;
  EXPECT_EQ(samples.Chosen("main"), "the recording has no samples of this event");
  const SymbolId main = samples.Function("main");
  const SymbolId inner = samples.Function("inner");
  samples.Add(samples.Frame(samples.Function("outer"), 4, inner), 3);
  samples.Frame(main, 0);
  EXPECT_EQ(samples.Chosen("inner"), "'inner' was inlined into 'outer'; annotate that function");
  EXPECT_EQ(samples.Chosen("main"),
            "'main' has no samples of its own; annotate one of its callees");
}

TEST(ChoiceTest, OfAnInlinedFunctionTheHeaviestFiveThatContainItAreNamed) {
  Samples samples;
  const SymbolId inner = samples.Function("inner(int)");
  for (uint64_t i = 1; i <= 6; ++i) {
    const std::string number = std::to_string(i);
    const SymbolId outer = samples.Function("void outer" + number + "<int>(int)", 0x1000 * i);
    samples.Add(samples.Frame(outer, 4, inner), i).Add(outer, 8, 10);
  }
  // A caller into which it was inlined has the samples of its callee; recursion counts once.
  const SymbolId main = samples.Function("main", 0x9000);
  const FrameId call = samples.Caller(main, 5, inner);
  samples.AddChain({call, call, samples.Frame(samples.Function("leaf", 0xa000), 0)}, 20);
  EXPECT_EQ(samples.Chosen("inner"),
            "'inner' was inlined into 'main', 'outer6<...>', 'outer5<...>', 'outer4<...>', "
            "'outer3<...>' and 2 more; annotate the first one");
  EXPECT_EQ(samples.Containers("inner(int)"),
            "main 20\nvoid outer6<int>(int) 6\nvoid outer5<int>(int) 5\nvoid outer4<int>(int) 4\n"
            "void outer3<int>(int) 3\nvoid outer2<int>(int) 2\nvoid outer1<int>(int) 1\n");
  EXPECT_EQ(samples.Containers("main"), "");
}

TEST(ChoiceTest, WithCalleesAFunctionHasAllSamplesBelowIt) {
  Samples samples;
  const SymbolId main = samples.Function("main(int)"), leaf = samples.Function("leaf", 0x2000);
  const FrameId call = samples.Caller(main, 5);
  samples.AddChain({call, call, samples.Frame(leaf, 0)}, 7).Add(main, 0, 1).Add(leaf, 0, 4);
  EXPECT_EQ(samples.Chosen("main", Counted::kWithCallees), "main(int) 8\n");
  EXPECT_EQ(samples.Chosen("", Counted::kWithCallees), "leaf 11\n");
  EXPECT_EQ(samples.Chosen("man", Counted::kWithCallees),
            "no function 'man' has samples; near: main");
}

TEST(ChoiceTest, AllInterruptedFunctionsComeByTheirSamplesWhateverTheEvent) {
  Samples samples;
  const SymbolId light = samples.Function("light"), heavy = samples.Function("heavy");
  const SymbolId caller = samples.Function("caller"), middle = samples.Function("middle");
  samples.Frame(caller, 0);
  samples.Add(light, 0, 1).Add(middle, 0, 4).Add(heavy, 0, 3).Add(heavy, 8, 2);
  samples.profile().rows.back().event = EventId{1};
  EXPECT_EQ(InterruptedFunctions(samples.profile()), (std::vector{heavy, middle, light}));
}

TEST(ChoiceTest, CodeWithoutNamesCannotBeChosen) {
  Samples samples;
  samples.profile().frames.push_back({});
  samples.Add(FrameId{0}, 3);
  EXPECT_EQ(samples.Chosen(""), "no sample is in a function whose name is known");
}

// A symbolizer with one image, whose code, names and lines the test sets.
class CodeSource : public symbolize::Symbolizer {
 public:
  ImageId AddImage(const ImageSpec& spec) override {
    spec_ = spec;
    return ImageId{0};
  }
  const ImageSpec& image(ImageId) const override { return spec_; }
  Naming Name(ImageId, CodePlace) override { return {}; }
  Naming NameAt(ImageId, ElfAddress address) override {
    found_.clear();
    if (const auto line = lines_.find(address.value); line != lines_.end()) {
      const auto& [file, number, inlined] = line->second;
      if (!inlined.empty()) {
        found_.push_back({.name = inlined, .inlined = true, .file = file, .line = number});
      }
      found_.push_back({.name = "hot", .start = {0x1000}, .file = file, .line = number});
    } else if (address.value >= 0x2000) {
      found_.push_back({.name = "callee", .start = {0x2000}});
      return {Reason::kNamed, found_, address.value - 0x2000};
    }
    return {found_.empty() ? Reason::kNoSymbol : Reason::kNamed, found_};
  }
  absl::StatusOr<std::span<const symbolize::JitCode>> JitCodes(ImageId) override {
    return absl::NotFoundError("no dump");
  }
  CodeBytes CodeAt(ImageId, ElfAddress address, uint64_t size) override {
    if (reason_ != Reason::kNamed) return {reason_, {}};
    EXPECT_EQ(address.value, 0x1000u);
    return {Reason::kNamed, std::span(code_).first(std::min<uint64_t>(size, code_.size())),
            FileOffset{kBias + address.value}, EM_X86_64};
  }
  void SetKernelReference(std::string_view, RuntimeAddress) override {}
  void AddKernelSymbol(RuntimeAddress, uint64_t, std::string_view) override {}

  void Code(std::initializer_list<int> bytes) {
    for (const int byte : bytes) code_.push_back(static_cast<std::byte>(byte));
  }
  void LineAt(uint64_t address, std::string file, uint32_t line, std::string inlined = "") {
    lines_[address] = {std::move(file), line, std::move(inlined)};
  }
  void Refuse(Reason reason) { reason_ = reason; }
  const ImageSpec& asked_for() const { return spec_; }

 private:
  ImageSpec spec_;
  std::vector<std::byte> code_;
  std::map<uint64_t, std::tuple<std::string, uint32_t, std::string>> lines_;
  std::vector<symbolize::NamedFunction> found_;
  Reason reason_ = Reason::kNamed;
};

// A symbolizer that finds every place at address 0x1000, and counts the requests.
class PlacedCode : public CodeSource {
 public:
  Naming Name(ImageId, CodePlace) override {
    ++asked_;
    return {.reason = Reason::kNoSymbol, .address = ElfAddress{0x1000}};
  }
  int asked_ = 0;
};

std::string Listed(
    Samples& samples, CodeSource& code, const ListingOptions& options = {},
    const SourceText& sources = [](std::string_view, uint32_t) { return std::nullopt; }) {
  const auto functions = ChooseFunctions(samples.profile(), EventId{0}, "");
  const auto function = Annotate(samples.profile(), EventId{0}, functions->front(), code,
                                 Syntax::kAtt, samples.group_);
  if (!function.ok()) return std::string(function.status().message());
  return FormatListing(*function, options, sources);
}

class AnnotateTest : public testing::Test {
 protected:
  // Sets the code: 1000 mov, 1003 mov, 1006 call 2010, 100b jne 1000, 100d ret.
  AnnotateTest() {
    code_.Code({0x48, 0x89, 0xe5, 0x48, 0x89, 0xe5, 0xe8, 0x05, 0x10, 0, 0, 0x75, 0xf3, 0xc3});
    hot_ = samples_.Function("hot", 0x1000, 14);
  }
  Samples samples_;
  CodeSource code_;
  SymbolId hot_{};
};

TEST_F(AnnotateTest, EachInstructionHasTheSamplesInIt) {
  samples_.Add(hot_, 0, 1).Add(hot_, 4, 2).Add(hot_, 11, 5);  // one in the middle of an instruction
  EXPECT_EQ(Listed(samples_, code_),
            " Percent |      Source code & Disassembly of app for cpu-clock (8 samples, percent: "
            "local period)\n"
            "--------------------------------------------------------------------------------------"
            "-----------\n"
            "         :      hot  /usr/bin/app 0x1000\n"
            "         :      Samples stand where the interrupt came, often some instructions after "
            "what took the time.\n"
            "   12.50 :   1000:  mov %rsp, %rbp\n"
            "   25.00 :   1003:  mov %rsp, %rbp\n"
            "    0.00 :   1006:  call 0x2010 <callee+0x10>\n"
            "   62.50 :   100b:  jne 0x1000 <hot>\n"
            "    0.00 :   100d:  ret\n");
  EXPECT_EQ(code_.asked_for().path, "/usr/bin/app");
}

// Returns the listing without its heading.
std::string Body(const std::string& text) { return text.substr(text.find("the time.\n") + 10); }

TEST_F(AnnotateTest, SourceLinesStandBeforeTheirInstructions) {
  samples_.Add(hot_, 0, 1).Add(hot_, 3, 3);
  code_.LineAt(0x1000, "/src/a.cc", 7);
  code_.LineAt(0x1003, "/src/in.h", 2, "mix(unsigned)");
  code_.LineAt(0x1006, "/src/in.h", 2, "mix(unsigned)");
  code_.LineAt(0x100b, "/src/a.cc", 9);
  const SourceText sources = [](std::string_view file,
                                uint32_t line) -> std::optional<std::string_view> {
    if (file != "/src/in.h") return std::nullopt;
    return line == 2 ? "  x ^= x << 13;\x1b[2J" : "?";
  };
  EXPECT_EQ(Body(Listed(samples_, code_, {}, sources)),
            "         :      \n"
            "   75.00 :   in.h:2\n"
            "   25.00 :   a.cc:7\n"
            "         :      \n"
            "         :      a.cc:7\n"
            "   25.00 :   1000:  mov %rsp, %rbp\n"
            "         :      in.h:2  mix(unsigned) (inlined)\n"
            "         :            x ^= x << 13;?[2J\n"
            "   75.00 :   1003:  mov %rsp, %rbp\n"
            "    0.00 :   1006:  call 0x2010 <callee+0x10>\n"
            "         :      a.cc:9\n"
            "    0.00 :   100b:  jne 0x1000 <hot>\n"
            "    0.00 :   100d:  ret\n");
  EXPECT_EQ(Body(Listed(samples_, code_, {.source = false}, sources)),
            "   25.00 :   1000:  mov %rsp, %rbp\n"
            "   75.00 :   1003:  mov %rsp, %rbp\n"
            "    0.00 :   1006:  call 0x2010 <callee+0x10>\n"
            "    0.00 :   100b:  jne 0x1000 <hot>\n"
            "    0.00 :   100d:  ret\n");
}

TEST_F(AnnotateTest, PercentagesAreOfTheFunctionOrOfTheEvent) {
  samples_.Add(hot_, 0, 1).Add(hot_, 3, 3);
  samples_.profile().rows.back().period = 10;  // three light samples
  const auto first_line = [&](PercentType type) {
    const std::string text =
        Listed(samples_, code_, {.source = false, .percent = type, .totals = {{40, 8}}});
    const std::string heading =
        text.substr(text.find("percent: "), text.find(")") + 1 - text.find("percent: "));
    return heading + text.substr(text.find(" :   1000:") - 8, 8);
  };
  EXPECT_EQ(first_line(PercentType::kLocalPeriod), "percent: local period)   50.00");
  EXPECT_EQ(first_line(PercentType::kLocalHits), "percent: local hits)   25.00");
  EXPECT_EQ(first_line(PercentType::kGlobalPeriod), "percent: global period)   25.00");
  EXPECT_EQ(first_line(PercentType::kGlobalHits), "percent: global hits)   12.50");
}

TEST_F(AnnotateTest, EachEventOfAGroupHasAColumn) {
  Profile& profile = samples_.profile();
  profile.events.push_back({.name = profile.strings.Intern("page-faults")});
  samples_.group_ = {"anon group", {EventId{1}}};
  samples_.Add(hot_, 0, 1).Add(hot_, 3, 3);
  for (const uint64_t distance : {3, 40}) {
    samples_.Add(hot_, distance, 2);
    profile.rows.back().event = EventId{1};
  }
  const std::string text = Listed(samples_, code_);
  EXPECT_TRUE(
      text.starts_with(" Percent         |      Source code & Disassembly of app for anon group { "
                       "cpu-clock, page-faults } (4 samples, percent: local period)\n---"))
      << text;
  EXPECT_NE(text.find("\n                 :      hot  /usr/bin/app 0x1000\n"), std::string::npos);
  EXPECT_EQ(Body(text),
            "   25.00    0.00 :   1000:  mov %rsp, %rbp\n"
            "   75.00   50.00 :   1003:  mov %rsp, %rbp\n"
            "    0.00    0.00 :   1006:  call 0x2010 <callee+0x10>\n"
            "    0.00    0.00 :   100b:  jne 0x1000 <hot>\n"
            "    0.00    0.00 :   100d:  ret\n"
            "    0.00   50.00 :   at no instruction above\n");
}

TEST_F(AnnotateTest, SamplesBeyondTheFunctionAreSaid) {
  samples_.Add(hot_, 0, 2).Add(hot_, 40, 1).Add(hot_, ~uint64_t{0x20}, 1);
  const std::string text = Listed(samples_, code_);
  EXPECT_NE(text.find("   50.00 :   at no instruction above\n"), std::string::npos) << text;
}

TEST_F(AnnotateTest, TheFirstColumnMayHaveTheNumberOfSamples) {
  samples_.Add(hot_, 0, 2).Add(hot_, 3, 1234).Add(hot_, 40, 7);
  const std::string text = Listed(samples_, code_, {.sample_counts = true});
  EXPECT_EQ(text.substr(0, 9), " Samples ");
  EXPECT_EQ(Body(text),
            "       2 :   1000:  mov %rsp, %rbp\n"
            "    1234 :   1003:  mov %rsp, %rbp\n"
            "       0 :   1006:  call 0x2010 <callee+0x10>\n"
            "       0 :   100b:  jne 0x1000 <hot>\n"
            "       0 :   100d:  ret\n"
            "       7 :   at no instruction above\n");
}

TEST_F(AnnotateTest, SourceLinesMayStandBehindTheInstructionsThatMatter) {
  samples_.Add(hot_, 0, 200).Add(hot_, 3, 599).Add(hot_, 6, 1).Add(hot_, 11, 200);
  code_.LineAt(0x1000, "/src/a.cc", 7);
  code_.LineAt(0x1003, "/src/in.h", 2, "mix(unsigned)");
  code_.LineAt(0x1006, "/src/in.h", 3);
  code_.LineAt(0x100b, "/src/in.h", 2);
  EXPECT_EQ(Body(Listed(samples_, code_, {.source = false, .line_numbers = true})),
            "   20.00 :   1000:  mov %rsp, %rbp // a.cc:7\n"
            "   59.90 :   1003:  mov %rsp, %rbp // in.h:2\n"
            "    0.10 :   1006:  call 0x2010 <callee+0x10>\n"
            "   20.00 :   100b:  jne 0x1000 <hot>\n"
            "    0.00 :   100d:  ret\n");
}

// Returns the listing of a function whose callees count.
std::string ListedWithCallees(Samples& samples, CodeSource& code,
                              const ListingOptions& options = {}) {
  const auto functions =
      ChooseFunctions(samples.profile(), EventId{0}, "hot", Counted::kWithCallees);
  const auto function = Annotate(samples.profile(), EventId{0}, functions->front(), code,
                                 Syntax::kAtt, {}, Counted::kWithCallees);
  if (!function.ok()) return std::string(function.status().message());
  return FormatListing(*function, options, [](std::string_view, uint32_t) { return std::nullopt; });
}

TEST_F(AnnotateTest, WithCalleesACallHasTheSamplesBelowIt) {
  const SymbolId callee = samples_.Function("callee", 0x2000);
  samples_.AddChain({samples_.Caller(hot_, 11), samples_.Frame(callee, 0)}, 6).Add(hot_, 3, 2);
  samples_.Add(callee, 0, 50);
  const std::string text = ListedWithCallees(samples_, code_);
  EXPECT_TRUE(text.starts_with(
      "Children    Self |      Source code & Disassembly of app for cpu-clock (8 samples with "
      "callees, percent: local period)\n---"))
      << text;
  EXPECT_NE(text.find("\n                 :      hot  /usr/bin/app 0x1000\n"), std::string::npos);
  EXPECT_EQ(Body(text),
            "    0.00    0.00 :   1000:  mov %rsp, %rbp\n"
            "   25.00   25.00 :   1003:  mov %rsp, %rbp\n"
            "   75.00    0.00 :   1006:  call 0x2010 <callee+0x10>\n"
            "    0.00    0.00 :   100b:  jne 0x1000 <hot>\n"
            "    0.00    0.00 :   100d:  ret\n");
  EXPECT_EQ(Body(ListedWithCallees(samples_, code_, {.sample_counts = true})),
            "       0       0 :   1000:  mov %rsp, %rbp\n"
            "       2       2 :   1003:  mov %rsp, %rbp\n"
            "       6       0 :   1006:  call 0x2010 <callee+0x10>\n"
            "       0       0 :   100b:  jne 0x1000 <hot>\n"
            "       0       0 :   100d:  ret\n");
}

TEST_F(AnnotateTest, WithCalleesASampleCountsOnceForALineThatCallsItselfAgain) {
  code_.LineAt(0x1003, "/src/a.cc", 7);
  code_.LineAt(0x1006, "/src/a.cc", 7);
  code_.LineAt(0x100b, "/src/a.cc", 9);
  const FrameId call = samples_.Caller(hot_, 11);
  samples_.AddChain({call, call, samples_.Frame(hot_, 3)}, 3).Add(hot_, 40, 1);
  EXPECT_EQ(Body(ListedWithCallees(samples_, code_, {.line_numbers = true})),
            "                 :      \n"
            "   75.00   75.00 :   a.cc:7\n"
            "                 :      \n"
            "    0.00    0.00 :   1000:  mov %rsp, %rbp\n"
            "                 :      a.cc:7\n"
            "   75.00   75.00 :   1003:  mov %rsp, %rbp // a.cc:7\n"
            "   75.00    0.00 :   1006:  call 0x2010 <callee+0x10>\n"
            "                 :      a.cc:9\n"
            "    0.00    0.00 :   100b:  jne 0x1000 <hot>\n"
            "    0.00    0.00 :   100d:  ret\n"
            "   25.00   25.00 :   at no instruction above\n");
}

TEST_F(AnnotateTest, PreciseEventsHaveNoSkid) {
  samples_.profile().events[0].name = samples_.profile().strings.Intern("cycles:pp");
  samples_.Add(hot_, 0, 1);
  EXPECT_EQ(Listed(samples_, code_).find("interrupt"), std::string::npos);
}

TEST_F(AnnotateTest, AFileThatIsNotTheRecordedOneIsNotShown) {
  samples_.Add(hot_, 0, 1);
  code_.Refuse(Reason::kBuildIdMismatch);
  EXPECT_EQ(Listed(samples_, code_),
            "cannot annotate 'hot': the file here is not the one that was recorded");
  code_.Refuse(Reason::kNoImageFile);
  EXPECT_EQ(Listed(samples_, code_),
            "cannot annotate 'hot': its file is not here, and the recording does not have its code "
            "(run record or archive with --embed code on the machine that has the file)");
}

TEST_F(AnnotateTest, TheKernelsFileIsNamedWhereItIsNotHere) {
  samples_.Image("[kernel.kallsyms]", ImageKind::kKernel);
  samples_.Add(samples_.Function("copy"), 0, 1);
  code_.Refuse(Reason::kNoImageFile);
  EXPECT_EQ(Listed(samples_, code_),
            "cannot annotate 'copy': vmlinux is not here (Debian: linux-image-RELEASE-dbg)");
}

// A symbolizer that counts and logs the requests.
class CountingCode : public CodeSource {
 public:
  Naming NameAt(ImageId image, ElfAddress address) override {
    asked_ += absl::StrCat(absl::Hex(address.value), " ");
    return CodeSource::NameAt(image, address);
  }
  std::string asked_;
};

TEST(LookUpCodeTest, AsksWhatAnnotateAsks) {
  Samples samples;
  CountingCode code;
  code.Code({0x48, 0x89, 0xe5, 0xe8, 0x05, 0x10, 0, 0, 0xc3});  // mov, call 200d, ret
  const SymbolId hot = samples.Function("hot", 0x1000, 9);
  samples.Add(hot, 3, 1);
  EXPECT_TRUE(LookUpCode(samples.profile(), hot, code).ok());
  EXPECT_EQ(code.asked_, "1000 200d 1003 1008 ");
  for (const Syntax syntax : {Syntax::kAtt, Syntax::kIntel}) {
    code.asked_.clear();
    EXPECT_TRUE(Annotate(samples.profile(), EventId{0}, {.symbol = hot}, code, syntax).ok());
    EXPECT_EQ(code.asked_, "1000 200d 1003 1008 ");
  }
  code.Refuse(Reason::kNoImageFile);
  EXPECT_FALSE(LookUpCode(samples.profile(), hot, code).ok());
}

TEST_F(AnnotateTest, TheBytesOfASampledInstructionAreFoundByItsFrame) {
  const FrameId call = samples_.Frame(hot_, 6);
  samples_.profile().images.push_back({.kind = ImageKind::kUnknown});
  profile::Frame unknown;
  unknown.image = profile::ImageId(samples_.profile().images.size() - 1);
  samples_.profile().frames.push_back(unknown);
  PlacedCode code;
  code.Code({0xe8, 0x05, 0x10, 0, 0, 0x75, 0xf3, 0xc3});
  InstructionBytes instructions(samples_.profile(), code);
  for (int time = 0; time < 2; ++time) {
    EXPECT_EQ(HexOf(instructions.At(call)), "e805100000");
    EXPECT_EQ(HexOf(instructions.At(FrameId(static_cast<uint32_t>(call) + 1))), "");
  }
  EXPECT_EQ(code.asked_, 1);
}

TEST_F(AnnotateTest, BytesThatAreNoInstructionAndFilesThatAreNotHereGiveNone) {
  const FrameId frame = samples_.Frame(hot_, 6);
  PlacedCode bad, gone;
  bad.Code({0x06, 0x06});
  gone.Refuse(Reason::kNoImageFile);
  EXPECT_EQ(HexOf(InstructionBytes(samples_.profile(), bad).At(frame)), "");
  EXPECT_EQ(HexOf(InstructionBytes(samples_.profile(), gone).At(frame)), "");
}

TEST_F(AnnotateTest, CodeInNoFileIsNotShown) {
  samples_.Image("[nf_tables]", ImageKind::kModule);
  samples_.Add(samples_.Function("copy"), 0, 1);
  EXPECT_EQ(Listed(samples_, code_),
            "cannot annotate 'copy': it is code of a module or a BPF program, which is not read");
  samples_.Image("/tmp/perf-7.map", ImageKind::kJit);
  samples_.Add(samples_.Function("js"), 0, 5);
  EXPECT_EQ(
      Listed(samples_, code_),
      "cannot annotate 'js': it is generated code, whose bytes are in no file (a JIT's dump has "
      "them: node --perf-prof)");
}

// A symbolizer by which all code comes from the file `source_`.
class CodeWithSource : public CodeSource {
 public:
  bool IsSourceOf(symbolize::ImageId, ElfAddress, std::string_view file) override {
    return file == source_;
  }
  std::string source_;
};

class SourceFilesTest : public testing::Test {
 protected:
  static std::string Write(const std::string& name) {
    const std::string path = testing::TempDir() + "/" + name;
    std::ofstream(path) << "first\r\n\nthird";
    return path;
  }
  void Permit(const std::string& named, const std::string& said) {
    CodeWithSource code;
    code.source_ = said;
    AnnotatedFunction function;
    function.instructions.push_back({.source = {.file = named, .line = 1}});
    files_.Permit(function, code);
  }

  SourceFiles files_;
};

TEST_F(SourceFilesTest, AFileThatOnlyTheRecordingNamesIsNotRead) {
  const std::string secret = Write("secret");
  Permit(secret, "/another/file");
  EXPECT_EQ(files_.Line(secret, 1), std::nullopt);
  EXPECT_EQ(files_.Line("/no/such/file", 1), std::nullopt);
  EXPECT_THAT(
      files_.Refusals(),
      testing::ElementsAre(
          secret + " not shown as source: no program or debug file of yours or root's names it "
                   "(--symfs and --debug-dir choose these files)"));
}

TEST_F(SourceFilesTest, AFileOfAnotherUserIsNotRead) {
  const std::string path = Write("theirs.cc");
  if (chown(path.c_str(), 65534, 65534) != 0) {
    GTEST_SKIP() << "only root can give files to another user";
  }
  Permit(path, path);
  EXPECT_EQ(files_.Line(path, 1), std::nullopt);
  EXPECT_THAT(files_.Refusals(),
              testing::ElementsAre(path + " not shown as source: it belongs to another user"));
}

TEST_F(SourceFilesTest, LinesOfFilesAreRead) {
  const std::string path = Write("source.cc");
  for (const std::string& file : {path, std::string("/no/such/file"), std::string("/dev/zero")}) {
    Permit(file, file);
  }
  const SourceText sources = files_.Text();
  EXPECT_EQ(sources(path, 0), std::nullopt);
  EXPECT_EQ(sources(path, 1), "first");
  EXPECT_EQ(sources(path, 2), "");
  EXPECT_EQ(sources(path, 3), "third");
  EXPECT_EQ(sources(path, 4), std::nullopt);
  EXPECT_EQ(sources("/no/such/file", 1), std::nullopt);
  EXPECT_EQ(sources("/dev/zero", 1), std::nullopt);
  EXPECT_THAT(files_.Refusals(), testing::IsEmpty());
}

}  // namespace
}  // namespace profiler::annotate
