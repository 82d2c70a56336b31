#include "symbolize/embedded_symbolizer.h"

#include <sstream>

#include "src/base/byte_reader.h"
#include "symbolize/name_collector.h"
#include "symbolize/test_files.h"

namespace profiler::symbolize {
namespace {

constexpr const char* kFixtures[] = {"pie", "shared", "stripped", "inlined", "mini"};

// All that a view can see of an answer.
std::string Told(const Naming& naming) {
  std::ostringstream text;
  text << int{static_cast<uint8_t>(naming.reason)} << " +" << naming.distance;
  for (const NamedFunction& function : naming.functions) {
    text << " " << function.name << " " << function.start.value << "/" << function.size
         << (function.inlined ? " inlined " : " ") << function.file << ":" << function.line;
  }
  if (naming.unnamed_size != 0) {
    text << " unnamed " << naming.unnamed_start.value << "/" << naming.unnamed_size;
  }
  return text.str();
}

SymbolizerOptions Options(bool demangle, bool inlines, bool function_starts,
                          bool bounded_symbols = true) {
  SymbolizerOptions options;
  options.demangle = demangle;
  options.inlines = inlines;
  options.function_starts = function_starts;
  options.bounded_symbols = bounded_symbols;
  options.build_id_caches.clear();
  return options;
}

ImageSpec Fixture(const char* name) { return {.path = TestFile(name)}; }

// Asks for every byte of a fixture, and some behind it; a line an answer.
std::string AllNames(Symbolizer& symbolizer, const ImageSpec& spec) {
  std::string text;
  const size_t size = ReadFile(spec.path).size() + 100;
  const ImageId image = symbolizer.AddImage(spec);
  for (uint64_t offset = 0; offset < size; ++offset) {
    text += Told(symbolizer.Name(image, {offset})) + "\n";
  }
  return text;
}

// Files that nobody must look at.
class NoFiles final : public Symbolizer {
 public:
  ImageId AddImage(const ImageSpec& spec) override {
    specs_.push_back(spec);
    return ImageId{static_cast<uint32_t>(specs_.size() - 1)};
  }
  const ImageSpec& image(ImageId id) const override { return specs_[static_cast<size_t>(id)]; }
  Naming Name(ImageId id, FileOffset offset) override {
    asked_ += image(id).path + " " + std::to_string(offset.value) + "\n";
    return {Reason::kNoImageFile, {}};
  }
  Naming NameAt(ImageId id, ElfAddress address) override {
    asked_ += image(id).path + " at " + std::to_string(address.value) + "\n";
    return {Reason::kNoImageFile, {}};
  }
  absl::StatusOr<std::span<const JitCode>> JitCodes(ImageId) override {
    return absl::NotFoundError("no dump");
  }
  void SetKernelReference(std::string_view, RuntimeAddress) override {}
  void AddKernelSymbol(RuntimeAddress, uint64_t, std::string_view) override {}

  static std::string asked_;

 private:
  std::vector<ImageSpec> specs_;
};
std::string NoFiles::asked_;

std::unique_ptr<Symbolizer> FromNames(EmbeddedNames names, EmbeddedOptions options = {}) {
  NoFiles::asked_.clear();
  return CreateEmbeddedSymbolizer(std::move(names), std::make_unique<NoFiles>(), options);
}

EmbeddedNames NamesOf(const std::vector<const char*>& fixtures, bool lines = true) {
  const auto files = Symbolizer::Create(Options(false, lines, true));
  NameCollector collector(*files);
  for (const char* fixture : fixtures) AllNames(collector, Fixture(fixture));
  return collector.Take(lines);
}

class EmbeddedSymbolizerTest : public testing::TestWithParam<const char*> {};

TEST_P(EmbeddedSymbolizerTest, AnswersAsTheFilesDidWhateverIsAsked) {
  const ImageSpec spec = Fixture(GetParam());
  for (int options = 0; options < 16; ++options) {
    const bool demangle = (options & 1) != 0, inlines = (options & 2) != 0;
    const bool starts = (options & 4) != 0, bounded = (options & 8) != 0;
    const auto files = Symbolizer::Create(Options(demangle, inlines, starts, bounded));
    const auto embedded = FromNames(NamesOf({GetParam()}), {.demangle = demangle,
                                                            .inlines = inlines,
                                                            .function_starts = starts,
                                                            .bounded_symbols = bounded});
    EXPECT_EQ(AllNames(*embedded, spec), AllNames(*files, spec)) << "options " << options;
    EXPECT_EQ(NoFiles::asked_, "");
  }
}

// The same for every address, each as if it were a function of 40 bytes.
std::string AllCode(Symbolizer& symbolizer, const ImageSpec& spec) {
  std::string text;
  const size_t size = ReadFile(spec.path).size() + 100;
  const ImageId image = symbolizer.AddImage(spec);
  for (uint64_t address = 0; address < size; ++address) {
    text += Told(symbolizer.NameAt(image, {address}));
    const CodeBytes code = symbolizer.CodeAt(image, {address}, 40);
    text += " " + std::to_string(code.machine) + " " + std::to_string(code.offset.value) + " ";
    text += TextOf(code.bytes);
    text += "\n";
  }
  return text;
}

TEST_P(EmbeddedSymbolizerTest, AnswersForInstructionsAsTheFilesDid) {
  const ImageSpec spec = Fixture(GetParam());
  const auto linkers = Symbolizer::Create(Options(false, true, true));
  NameCollector collector(*linkers);
  AllCode(collector, spec);
  const auto embedded = FromNames(collector.Take(true));
  const auto files = Symbolizer::Create(Options(true, true, true));
  const std::string told = AllCode(*embedded, spec);
  EXPECT_EQ(told, AllCode(*files, spec));
  EXPECT_NE(told.find(" 62 "), std::string::npos) << "there is code";
}

INSTANTIATE_TEST_SUITE_P(Fixtures, EmbeddedSymbolizerTest, testing::ValuesIn(kFixtures));

TEST(EmbeddedNamesTest, WithoutLinesAreSymbolsAlone) {
  const auto files = Symbolizer::Create(Options(true, false, true));
  const auto embedded = FromNames(NamesOf({"inlined"}, /*lines=*/false));
  EXPECT_EQ(AllNames(*embedded, Fixture("inlined")), AllNames(*files, Fixture("inlined")));
}

TEST(EmbeddedNamesTest, KnowTheImagesOwnAddressesOfFunctions) {
  const ImageSpec spec = Fixture("nopie");
  const auto files = Symbolizer::Create(Options(true, true, true));
  const auto embedded = FromNames(NamesOf({"nopie"}));
  const size_t size = ReadFile(spec.path).size();
  const ImageId in_files = files->AddImage(spec), in_names = embedded->AddImage(spec);
  size_t compared = 0;
  for (uint64_t offset = 0; offset < size; ++offset) {
    const Naming naming = files->Name(in_files, {offset});
    if (naming.functions.empty() && naming.unnamed_size == 0) continue;
    ASSERT_EQ(embedded->Name(in_names, {offset}).address, naming.address) << "at " << offset;
    EXPECT_NE(naming.address, ElfAddress{offset});
    ++compared;
  }
  EXPECT_NE(compared, 0u);
}

TEST(EmbeddedNamesTest, FilesAnswerForAddressesThatWereNotCollected) {
  const auto files = Symbolizer::Create(Options(false, false, true));
  NameCollector collector(*files);
  collector.Name(collector.AddImage(Fixture("pie")), {0x1000});
  const auto embedded = FromNames(collector.Take(false));
  embedded->Name(embedded->AddImage(Fixture("pie")), {0x1000});
  EXPECT_EQ(NoFiles::asked_, "");
  embedded->Name(embedded->AddImage(Fixture("pie")), {0x1001});
  embedded->Name(embedded->AddImage({.path = "/bin/other"}), {7});
  EXPECT_EQ(NoFiles::asked_, TestFile("pie") + " 4097\n/bin/other 7\n");
}

TEST(EmbeddedNamesTest, CutShortAreWhatWasCollectedBefore) {
  const auto files = Symbolizer::Create(Options(false, false, true));
  int left = 2;
  NameCollector collector(*files, [&] { return left-- > 0; });
  const ImageId image = collector.AddImage(Fixture("pie"));
  for (uint64_t offset = 0; offset < 5; ++offset) collector.Name(image, {offset});
  const EmbeddedNames names = collector.Take(false);
  EXPECT_FALSE(names.is_complete);
  ASSERT_EQ(names.images.size(), 1u);
  EXPECT_EQ(names.images[0].addresses.size(), 2u);
}

// Names every address "f", and has a byte of code at each from 100 to 199.
class HundredBytes final : public Symbolizer {
 public:
  ImageId AddImage(const ImageSpec& spec) override {
    spec_ = spec;
    return ImageId{0};
  }
  const ImageSpec& image(ImageId) const override { return spec_; }
  Naming Name(ImageId, FileOffset) override { return {}; }
  Naming NameAt(ImageId, ElfAddress) override { return {Reason::kNamed, {&function_, 1}}; }
  absl::StatusOr<std::span<const JitCode>> JitCodes(ImageId) override {
    return absl::NotFoundError("no dump");
  }
  CodeBytes CodeAt(ImageId, ElfAddress address, uint64_t size) override {
    if (address.value < 100 || address.value >= 200) return {Reason::kNoSymbol, {}};
    const auto rest = std::span<const std::byte>(code_).subspan(address.value - 100);
    return {Reason::kNamed,
            rest.first(std::min<size_t>(size, rest.size())),
            {address.value + 5000},
            62};
  }
  void SetKernelReference(std::string_view, RuntimeAddress) override {}
  void AddKernelSymbol(RuntimeAddress, uint64_t, std::string_view) override {}

 private:
  ImageSpec spec_;
  const NamedFunction function_ = {.name = "f"};
  const std::vector<std::byte> code_ = std::vector<std::byte>(100);
};

// The pieces: "address @offset +size", a line each.
std::string PiecesOf(const EmbeddedNames& names) {
  std::string text;
  for (const EmbeddedNames::Image& image : names.images) {
    for (const EmbeddedNames::Piece& piece : image.pieces) {
      text += std::to_string(piece.address) + " @" + std::to_string(piece.offset) + " +" +
              std::to_string(piece.bytes.size()) + "\n";
    }
  }
  return text;
}

TEST(EmbeddedCodeTest, IsKeptOncePerPlaceAsFarAsTheFileHasIt) {
  HundredBytes files;
  NameCollector collector(files);
  const ImageId image = collector.AddImage({.path = "/bin/a"});
  for (const uint64_t size : {4, 20, 8}) collector.CodeAt(image, {150}, size);
  collector.CodeAt(image, {110}, 10);
  collector.CodeAt(image, {190}, 50);
  collector.CodeAt(image, {300}, 50);
  EXPECT_EQ(PiecesOf(collector.Take(true)), "110 @5110 +10\n150 @5150 +20\n190 @5190 +10\n");
}

TEST(EmbeddedCodeTest, IsFoundFromAnyOfItsBytesOn) {
  HundredBytes files;
  NameCollector collector(files);
  const ImageSpec spec = {.path = "/bin/a"};
  collector.CodeAt(collector.AddImage(spec), {110}, 10);
  const auto embedded = FromNames(collector.Take(true));
  std::string told;
  for (const uint64_t address : {109, 110, 117, 120}) {
    const CodeBytes code = embedded->CodeAt(embedded->AddImage(spec), {address}, 8);
    told += std::to_string(code.bytes.size()) + " @" + std::to_string(code.offset.value) + "\n";
  }
  EXPECT_EQ(told, "0 @0\n8 @5110\n3 @5117\n0 @0\n");
}

TEST(EmbeddedCodeTest, CutShortHasAllNamesOfTheCodeThatItHas) {
  HundredBytes files;
  int left = 1;
  NameCollector collector(files, [&] { return left-- > 0; });
  const ImageId image = collector.AddImage({.path = "/bin/a"});
  for (const uint64_t function : {110, 150}) {
    if (collector.CodeAt(image, {function}, 3).bytes.empty()) continue;
    for (int i = 0; i < 3; ++i) collector.NameAt(image, {function + i});
  }
  const EmbeddedNames code = collector.Take(true);
  EXPECT_FALSE(code.is_complete);
  EXPECT_EQ(PiecesOf(code), "110 @5110 +3\n");
  EXPECT_EQ(code.images[0].instructions.size(), 3u);
}

// A symbolizer for which each process has a file of its own, but for those that share one.
class Containers final : public Symbolizer {
 public:
  ImageId AddImage(const ImageSpec& spec) override {
    const uint32_t root = spec.pid < 10 ? 0 : spec.pid;
    for (uint32_t i = 0; i < roots_.size(); ++i) {
      if (roots_[i] == root) return ImageId{i};
    }
    roots_.push_back(root);
    specs_.push_back(spec);
    names_.push_back("in_root_" + std::to_string(root));
    return ImageId{static_cast<uint32_t>(roots_.size() - 1)};
  }
  const ImageSpec& image(ImageId id) const override { return specs_[static_cast<size_t>(id)]; }
  Naming Name(ImageId id, FileOffset) override {
    function_.name = names_[static_cast<size_t>(id)];
    return {Reason::kNamed, {&function_, 1}};
  }
  Naming NameAt(ImageId id, ElfAddress) override { return Name(id, {}); }
  absl::StatusOr<std::span<const JitCode>> JitCodes(ImageId) override {
    return absl::NotFoundError("no dump");
  }
  void SetKernelReference(std::string_view, RuntimeAddress) override {}
  void AddKernelSymbol(RuntimeAddress, uint64_t, std::string_view) override {}

 private:
  std::vector<uint32_t> roots_;
  std::vector<ImageSpec> specs_;
  std::vector<std::string> names_;
  NamedFunction function_;
};

TEST(EmbeddedNamesTest, TellFilesOfOnePathApartByTheProcessesThatSawThem) {
  Containers containers;
  NameCollector collector(containers);
  const std::vector<uint32_t> pids = {1, 20, 2, 30, 3};
  for (const uint32_t pid : pids) {
    collector.Name(collector.AddImage({.path = "/bin/a", .pid = pid}), {0});
  }
  const auto embedded = FromNames(collector.Take(false));
  std::string told;
  for (const uint32_t pid : pids) {
    const ImageId image = embedded->AddImage({.path = "/bin/a", .pid = pid});
    told += std::to_string(static_cast<uint32_t>(image)) + " ";
    told += std::string(embedded->Name(image, {0}).functions[0].name) + "\n";
  }
  EXPECT_EQ(told, "0 in_root_0\n1 in_root_20\n0 in_root_0\n2 in_root_30\n0 in_root_0\n");
}

// A dump with two functions, the second one at the first one's address later on.
class Dump final : public Symbolizer {
 public:
  ImageId AddImage(const ImageSpec& spec) override {
    spec_ = spec;
    return ImageId{0};
  }
  const ImageSpec& image(ImageId) const override { return spec_; }
  Naming Name(ImageId, FileOffset offset) override {
    function_.name = offset.value < 200 ? "first" : "second";
    function_.start = {offset.value / 100 * 100};
    function_.file = "a.js";
    function_.line = 7;
    return {Reason::kNamed, {&function_, 1}, offset.value % 100};
  }
  Naming NameAt(ImageId, ElfAddress) override { return {}; }
  absl::StatusOr<std::span<const JitCode>> JitCodes(ImageId) override { return codes_; }
  void SetKernelReference(std::string_view, RuntimeAddress) override {}
  void AddKernelSymbol(RuntimeAddress, uint64_t, std::string_view) override {}

 private:
  ImageSpec spec_;
  NamedFunction function_;
  const std::vector<JitCode> codes_ = {{.time = 1, .start = {0x7000}, .size = 50, .offset = {100}},
                                       {.time = 2, .start = {0x7000}, .size = 50, .offset = {200}},
                                       {.time = 3, .start = {0x8000}, .size = 50, .offset = {300}}};
};

TEST(EmbeddedNamesTest, HaveTheCodeOfADumpThatWasHit) {
  const ImageSpec spec = {.kind = ImageKind::kJitDump, .path = "/tmp/jit-5.dump", .pid = 5};
  Dump dump;
  NameCollector collector(dump);
  const ImageId image = collector.AddImage(spec);
  ASSERT_TRUE(collector.JitCodes(image).ok());
  for (const uint64_t offset : {210, 149}) collector.Name(image, {offset});
  const auto embedded = FromNames(collector.Take(true), {.inlines = false});
  const ImageId again = embedded->AddImage(spec);
  const auto codes = embedded->JitCodes(again);
  ASSERT_TRUE(codes.ok());
  std::string told;
  for (const JitCode& code : *codes) {
    told += std::to_string(code.time) + " ";
    told += Told(embedded->Name(again, {code.offset.value + (code.time == 1 ? 49 : 10)})) + "\n";
  }
  EXPECT_EQ(told, "1 0 +49 first 100/0 a.js:7\n2 0 +10 second 200/0 a.js:7\n");
}

// What happens to an address that `names` have, when the files say otherwise.
std::string WithFiles(EmbeddedOptions::Files files, const std::string& recorded, ImageSpec spec) {
  EmbeddedNames names;
  EmbeddedNames::Image& image = names.images.emplace_back();
  image.kind = static_cast<uint8_t>(spec.kind);
  image.path = names.strings.Intern(spec.path);
  image.build_id = spec.build_id;
  if (recorded.empty()) {
    image.addresses = {{.reason = static_cast<uint8_t>(Reason::kNoImageFile)}};
  } else {
    image.symbols = {{.name = names.strings.Intern(recorded)}};
    image.addresses = {{.symbol = 0}};
  }
  const auto embedded =
      CreateEmbeddedSymbolizer(std::move(names), std::make_unique<Containers>(), {.files = files});
  const Naming naming = embedded->Name(embedded->AddImage(spec), {0});
  return naming.functions.empty() ? "" : std::string(naming.functions[0].name);
}

TEST(EmbeddedNamesTest, WhatIsKnownOfCodeWithoutASymbolStaysWhenTheFileIsGone) {
  EmbeddedNames names;
  EmbeddedNames::Image& image = names.images.emplace_back();
  image.path = names.strings.Intern("/bin/a");
  image.build_id.resize(20);
  image.symbols = {{.start = 0x100, .size = 0x80}};
  image.addresses = {{.offset = 0x123,
                      .distance = 0x23,
                      .symbol = 0,
                      .reason = static_cast<uint8_t>(Reason::kNoSymbol)}};
  const auto embedded = FromNames(std::move(names), {.files = EmbeddedOptions::Files::kFirst});
  const ImageId id = embedded->AddImage({.path = "/bin/a", .build_id = std::vector<std::byte>(20)});
  EXPECT_EQ(Told(embedded->Name(id, {0x123})), "4 +35 unnamed 256/128");
  EXPECT_NE(NoFiles::asked_, "");
}

TEST(EmbeddedNamesTest, FilesHaveTheSayThatTheyAreGiven) {
  using Files = EmbeddedOptions::Files;
  const ImageSpec known = {.path = "/bin/a", .build_id = std::vector<std::byte>(20)};
  const ImageSpec unknown = {.path = "/bin/a"};
  EXPECT_EQ(WithFiles(Files::kForOthers, "recorded", known), "recorded");
  EXPECT_EQ(WithFiles(Files::kForOthers, "", known), "");
  EXPECT_EQ(WithFiles(Files::kForUnnamed, "recorded", known), "recorded");
  EXPECT_EQ(WithFiles(Files::kForUnnamed, "", known), "in_root_0");
  EXPECT_EQ(WithFiles(Files::kFirst, "recorded", known), "in_root_0");
  EXPECT_EQ(WithFiles(Files::kFirst, "recorded", unknown), "recorded");
  EXPECT_EQ(WithFiles(Files::kFirst, "", unknown), "in_root_0");
}

}  // namespace
}  // namespace profiler::symbolize
