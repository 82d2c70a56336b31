#include "symbolize/names/name_store.h"

#include <deque>
#include <functional>
#include <sstream>

#include "src/base/byte_reader.h"
#include "symbolize/files/file_facts.h"
#include "symbolize/names/testing/create_symbolizer.h"
#include "symbolize/testing/test_files.h"

namespace profiler::symbolize {
namespace {

constexpr const char* kFixtures[] = {"pie", "shared", "stripped", "inlined", "mini"};

// Formats everything in an answer that a view can show.
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

// Names every byte of a fixture, and some after it; one line per answer.
std::string AllNames(Symbolizer& symbolizer, const ImageSpec& spec) {
  std::string text;
  const size_t size = ReadFile(spec.path).size() + 100;
  const ImageId image = symbolizer.AddImage(spec);
  for (uint64_t offset = 0; offset < size; ++offset) {
    text += Told(symbolizer.Name(image, FileOffset{offset})) + "\n";
  }
  return text;
}

// Common parts of fake file sources.
class FakeFiles : public FactSource {
 public:
  ImageId AddImage(const ImageSpec& spec) override {
    specs_.push_back(spec);
    return ImageId{static_cast<uint32_t>(specs_.size() - 1)};
  }
  const ImageSpec& image(ImageId id) const override { return specs_[static_cast<size_t>(id)]; }
  AddressFacts Find(ImageId, CodePlace) override { return {}; }
  AddressFacts FindAt(ImageId, ElfAddress) override { return {}; }
  absl::StatusOr<std::span<const JitCode>> JitCodes(ImageId) override {
    return absl::NotFoundError("no dump");
  }
  void SetKernelReference(std::string_view, RuntimeAddress) override {}
  void AddKernelSymbol(RuntimeAddress, uint64_t, std::string_view) override {}

 private:
  std::vector<ImageSpec> specs_;
};

AddressFacts Named(std::string_view name, uint64_t start, uint64_t address) {
  AddressFacts facts;
  facts.reason = Reason::kNamed;
  facts.address = {address};
  facts.function = {.name = name, .start = {start}};
  return facts;
}

// A source that must not be used; it records the calls that it gets.
class NoFiles final : public FakeFiles {
 public:
  AddressFacts Find(ImageId id, CodePlace place) override {
    asked_ += image(id).path + " " + std::to_string(place.value) + "\n";
    return {.reason = Reason::kNoImageFile};
  }
  AddressFacts FindAt(ImageId id, ElfAddress address) override {
    asked_ += image(id).path + " at " + std::to_string(address.value) + "\n";
    return {.reason = Reason::kNoImageFile};
  }

  static std::string asked_;
};
std::string NoFiles::asked_;

std::unique_ptr<NameStore> FromNames(NameFacts names, const PresentOptions& options = {}) {
  NoFiles::asked_.clear();
  return std::make_unique<NameStore>(
      NameSources{.files = std::make_unique<NoFiles>(), .recorded = std::move(names)}, options);
}

std::unique_ptr<NameStore> FromCode(NameFacts code) {
  auto store = std::make_unique<NameStore>(NameSources{.files = std::make_unique<NoFiles>()},
                                           PresentOptions());
  NoFiles::asked_.clear();
  store->AddCode(std::move(code));
  return store;
}

// Creates a store that keeps the answers of these files.
std::unique_ptr<NameStore> Keeping(
    std::unique_ptr<FactSource> files, std::function<bool()> go_on = [] { return true; },
    const PresentOptions& options = {}) {
  auto store = std::make_unique<NameStore>(NameSources{.files = std::move(files)}, options);
  store->Keep(std::move(go_on));
  return store;
}

std::unique_ptr<NameStore> KeepingFiles(bool inlines = true) {
  const SymbolizerOptions options = Options(false, inlines, true);
  return Keeping(
      CreateFileFacts(options), [] { return true; }, options);
}

NameFacts NamesOf(const char* fixture, bool lines = true) {
  const auto store = KeepingFiles(lines);
  AllNames(*store, Fixture(fixture));
  return store->Take();
}

class NameStoreTest : public testing::TestWithParam<const char*> {};

TEST_P(NameStoreTest, AnswersAsTheFilesDidWhateverIsAsked) {
  const ImageSpec spec = Fixture(GetParam());
  for (int options = 0; options < 16; ++options) {
    const bool demangle = (options & 1) != 0, inlines = (options & 2) != 0;
    const bool starts = (options & 4) != 0, bounded = (options & 8) != 0;
    const auto files = CreateSymbolizer(Options(demangle, inlines, starts, bounded));
    const auto embedded = FromNames(NamesOf(GetParam()), {.demangle = demangle,
                                                          .inlines = inlines,
                                                          .function_starts = starts,
                                                          .bounded_symbols = bounded});
    EXPECT_EQ(AllNames(*embedded, spec), AllNames(*files, spec)) << "options " << options;
    EXPECT_EQ(NoFiles::asked_, "");
  }
}

// Names every address and reads 40 bytes of code there.
std::string AllCode(Symbolizer& symbolizer, const ImageSpec& spec) {
  std::string text;
  const size_t size = ReadFile(spec.path).size() + 100;
  const ImageId image = symbolizer.AddImage(spec);
  for (uint64_t address = 0; address < size; ++address) {
    text += Told(symbolizer.NameAt(image, {address}));
    const CodeBytes code = symbolizer.CodeAt(image, {address}, 40);
    text += " " + std::to_string(code.machine) + " " + std::to_string(code.place.value) + " ";
    text += TextOf(code.bytes);
    text += "\n";
  }
  return text;
}

TEST_P(NameStoreTest, AnswersForInstructionsAsTheFilesDid) {
  const ImageSpec spec = Fixture(GetParam());
  const auto keeping = KeepingFiles();
  AllCode(*keeping, spec);
  const auto embedded = FromCode(keeping->Take());
  const auto files = CreateSymbolizer(Options(true, true, true));
  const std::string told = AllCode(*embedded, spec);
  EXPECT_EQ(told, AllCode(*files, spec));
  EXPECT_NE(told.find(" 62 "), std::string::npos) << "there is code";
}

INSTANTIATE_TEST_SUITE_P(Fixtures, NameStoreTest, testing::ValuesIn(kFixtures));

TEST(KeptNamesTest, WithoutLinesAreSymbolsAlone) {
  const auto files = CreateSymbolizer(Options(true, false, true));
  const auto embedded = FromNames(NamesOf("inlined", /*lines=*/false));
  EXPECT_EQ(AllNames(*embedded, Fixture("inlined")), AllNames(*files, Fixture("inlined")));
}

TEST(KeptNamesTest, KnowTheImagesOwnAddressesOfFunctions) {
  const ImageSpec spec = Fixture("nopie");
  const auto files = CreateSymbolizer(Options(true, true, true));
  const auto embedded = FromNames(NamesOf("nopie"));
  const size_t size = ReadFile(spec.path).size();
  const ImageId in_files = files->AddImage(spec), in_names = embedded->AddImage(spec);
  size_t compared = 0;
  for (uint64_t offset = 0; offset < size; ++offset) {
    const Naming naming = files->Name(in_files, FileOffset{offset});
    if (naming.functions.empty() && naming.unnamed_size == 0) continue;
    ASSERT_EQ(embedded->Name(in_names, FileOffset{offset}).address, naming.address)
        << "at " << offset;
    EXPECT_NE(naming.address, ElfAddress{offset});
    ++compared;
  }
  EXPECT_NE(compared, 0u);
}

TEST(KeptNamesTest, FilesAnswerForAddressesThatWereNotCollected) {
  const auto keeping = KeepingFiles();
  keeping->Name(keeping->AddImage(Fixture("pie")), FileOffset{0x1000});
  const auto embedded = FromNames(keeping->Take());
  embedded->Name(embedded->AddImage(Fixture("pie")), FileOffset{0x1000});
  EXPECT_EQ(NoFiles::asked_, "");
  embedded->Name(embedded->AddImage(Fixture("pie")), FileOffset{0x1001});
  embedded->Name(embedded->AddImage({.path = "/bin/other"}), FileOffset{7});
  EXPECT_EQ(NoFiles::asked_, TestFile("pie") + " 4097\n/bin/other 7\n");
}

TEST(KeptNamesTest, CutShortAreWhatWasCollectedBefore) {
  int left = 2;
  const auto keeping = Keeping(CreateFileFacts({}), [&] { return left-- > 0; });
  const ImageId image = keeping->AddImage(Fixture("pie"));
  for (uint64_t offset = 0; offset < 5; ++offset) keeping->Name(image, FileOffset{offset});
  const NameFacts names = keeping->Take();
  EXPECT_FALSE(names.is_complete);
  ASSERT_EQ(names.images.size(), 1u);
  EXPECT_EQ(names.images[0].addresses.size(), 2u);
}

// A source that names every address "f" and has code at addresses 100 to 199.
class HundredBytes final : public FakeFiles {
 public:
  AddressFacts FindAt(ImageId, ElfAddress address) override {
    return Named("f", address.value, address.value);
  }
  CodeBytes CodeAt(ImageId, ElfAddress address, uint64_t size) override {
    if (address.value < 100 || address.value >= 200) return {Reason::kNoSymbol, {}};
    const auto rest = std::span<const std::byte>(code_).subspan(address.value - 100);
    return {Reason::kNamed, rest.first(std::min<size_t>(size, rest.size())),
            FileOffset{address.value + 5000}, 62};
  }

 private:
  const std::vector<std::byte> code_ = std::vector<std::byte>(100);
};

// Formats pieces as "address @offset +size", one per line.
std::string PiecesOf(const NameFacts& names) {
  std::string text;
  for (const NameFacts::Image& image : names.images) {
    for (const NameFacts::Piece& piece : image.pieces) {
      text += std::to_string(piece.address.value) + " @" + std::to_string(piece.place.value) +
              " +" + std::to_string(piece.bytes.size()) + "\n";
    }
  }
  return text;
}

TEST(KeptCodeTest, IsKeptOncePerPlaceAsFarAsTheFileHasIt) {
  const auto keeping = Keeping(std::make_unique<HundredBytes>());
  const ImageId image = keeping->AddImage({.path = "/bin/a"});
  for (const uint64_t size : {4, 20, 8}) keeping->CodeAt(image, {150}, size);
  keeping->CodeAt(image, {110}, 10);
  keeping->CodeAt(image, {190}, 50);
  keeping->CodeAt(image, {300}, 50);
  EXPECT_EQ(PiecesOf(keeping->Take()), "110 @5110 +10\n150 @5150 +20\n190 @5190 +10\n");
}

TEST(KeptCodeTest, IsFoundFromAnyOfItsBytesOn) {
  const auto keeping = Keeping(std::make_unique<HundredBytes>());
  const ImageSpec spec = {.path = "/bin/a"};
  keeping->CodeAt(keeping->AddImage(spec), {110}, 10);
  const auto embedded = FromCode(keeping->Take());
  std::string told;
  for (const uint64_t address : {109, 110, 117, 120}) {
    const CodeBytes code = embedded->CodeAt(embedded->AddImage(spec), {address}, 8);
    told += std::to_string(code.bytes.size()) + " @" + std::to_string(code.place.value) + "\n";
  }
  EXPECT_EQ(told, "0 @0\n8 @5110\n3 @5117\n0 @0\n");
}

TEST(KeptCodeTest, CutShortHasAllNamesOfTheCodeThatItHas) {
  int left = 1;
  const auto keeping = Keeping(std::make_unique<HundredBytes>(), [&] { return left-- > 0; });
  const ImageId image = keeping->AddImage({.path = "/bin/a"});
  for (const uint64_t function : {110, 150}) {
    if (keeping->CodeAt(image, {function}, 3).bytes.empty()) continue;
    for (int i = 0; i < 3; ++i) keeping->NameAt(image, {function + i});
  }
  const NameFacts code = keeping->Take();
  EXPECT_FALSE(code.is_complete);
  EXPECT_EQ(PiecesOf(code), "110 @5110 +3\n");
  EXPECT_EQ(code.images[0].instructions.size(), 3u);
}

// Processes below 10 share one file; each other process has its own.
class Containers final : public FakeFiles {
 public:
  ImageId AddImage(const ImageSpec& spec) override {
    const uint32_t root = spec.pid < 10 ? 0 : spec.pid;
    for (uint32_t i = 0; i < roots_.size(); ++i) {
      if (roots_[i] == root) return ImageId{i};
    }
    roots_.push_back(root);
    names_.push_back("in_root_" + std::to_string(root));
    return FakeFiles::AddImage(spec);
  }
  AddressFacts Find(ImageId id, CodePlace) override {
    return Named(names_[static_cast<size_t>(id)], 0, 0);
  }

 private:
  std::vector<uint32_t> roots_;
  std::deque<std::string> names_;
};

TEST(KeptNamesTest, TellFilesOfOnePathApartByTheProcessesThatSawThem) {
  const auto keeping = Keeping(std::make_unique<Containers>());
  const std::vector<uint32_t> pids = {1, 20, 2, 30, 3};
  for (const uint32_t pid : pids) {
    keeping->Name(keeping->AddImage({.path = "/bin/a", .pid = pid}), FileOffset{0});
  }
  const auto embedded = FromNames(keeping->Take());
  std::string told;
  for (const uint32_t pid : pids) {
    const ImageId image = embedded->AddImage({.path = "/bin/a", .pid = pid});
    told += std::to_string(static_cast<uint32_t>(image)) + " ";
    told += std::string(embedded->Name(image, FileOffset{0}).functions[0].name) + "\n";
  }
  EXPECT_EQ(told, "0 in_root_0\n1 in_root_20\n0 in_root_0\n2 in_root_30\n0 in_root_0\n");
}

// A dump with two functions; later the second one is at the first one's address.
class Dump final : public FakeFiles {
 public:
  AddressFacts Find(ImageId, CodePlace place) override {
    AddressFacts facts =
        Named(place.value < 200 ? "first" : "second", place.value / 100 * 100, place.value);
    facts.at = {.file = "a.js", .line = 7};
    return facts;
  }
  absl::StatusOr<std::span<const JitCode>> JitCodes(ImageId) override { return codes_; }

 private:
  const std::vector<JitCode> codes_ = {{.time = 1, .start = {0x7000}, .size = 50, .offset = {100}},
                                       {.time = 2, .start = {0x7000}, .size = 50, .offset = {200}},
                                       {.time = 3, .start = {0x8000}, .size = 50, .offset = {300}}};
};

TEST(KeptNamesTest, HaveTheCodeOfADumpThatWasHit) {
  const ImageSpec spec = {.kind = ImageKind::kJitDump, .path = "/tmp/jit-5.dump", .pid = 5};
  const auto keeping = Keeping(std::make_unique<Dump>());
  const ImageId image = keeping->AddImage(spec);
  ASSERT_TRUE(keeping->JitCodes(image).ok());
  for (const uint64_t offset : {210, 149}) keeping->Name(image, FileOffset{offset});
  const auto embedded = FromNames(keeping->Take(), {.inlines = false});
  const ImageId again = embedded->AddImage(spec);
  const auto codes = embedded->JitCodes(again);
  ASSERT_TRUE(codes.ok());
  std::string told;
  for (const JitCode& code : *codes) {
    told += std::to_string(code.time) + " ";
    told +=
        Told(embedded->Name(again, FileOffset{code.offset.value + (code.time == 1 ? 49 : 10)})) +
        "\n";
  }
  EXPECT_EQ(told, "1 0 +49 first 100/0 a.js:7\n2 0 +10 second 200/0 a.js:7\n");
}

// Returns the name of an address for which the recording and files have different facts.
std::string WithFiles(FilesName files_name, const std::string& recorded, ImageSpec spec) {
  NameFacts names;
  NameFacts::Image& image = names.images.emplace_back();
  image.kind = spec.kind;
  image.path = names.strings.Intern(spec.path);
  image.build_id = spec.build_id;
  if (recorded.empty()) {
    image.addresses = {{.at = FileOffset{0}, .reason = Reason::kNoImageFile}};
  } else {
    image.symbols = {{.name = names.strings.Intern(recorded)}};
    image.addresses = {{.at = FileOffset{0}, .symbol = 0}};
  }
  NameStore store({.files = std::make_unique<Containers>(),
                   .recorded = std::move(names),
                   .files_name = files_name},
                  {});
  const Naming naming = store.Name(store.AddImage(spec), FileOffset{0});
  return naming.functions.empty() ? "" : std::string(naming.functions[0].name);
}

TEST(KeptNamesTest, WhatIsKnownOfCodeWithoutASymbolStaysWhenTheFileIsGone) {
  NameFacts names;
  NameFacts::Image& image = names.images.emplace_back();
  image.path = names.strings.Intern("/bin/a");
  image.build_id.resize(20);
  image.symbols = {{.start = {0x100}, .size = 0x80}};
  image.addresses = {
      {.at = FileOffset{0x123}, .distance = 0x23, .symbol = 0, .reason = Reason::kNoSymbol}};
  NoFiles::asked_.clear();
  NameStore store({.files = std::make_unique<NoFiles>(),
                   .recorded = std::move(names),
                   .files_name = FilesName::kFirst},
                  {});
  const ImageId id = store.AddImage({.path = "/bin/a", .build_id = std::vector<std::byte>(20)});
  EXPECT_EQ(Told(store.Name(id, FileOffset{0x123})), "4 +35 unnamed 256/128");
  EXPECT_NE(NoFiles::asked_, "");
}

TEST(KeptNamesTest, FilesHaveTheSayThatTheyAreGiven) {
  const ImageSpec known = {.path = "/bin/a", .build_id = std::vector<std::byte>(20)};
  const ImageSpec unknown = {.path = "/bin/a"};
  EXPECT_EQ(WithFiles(FilesName::kOthers, "recorded", known), "recorded");
  EXPECT_EQ(WithFiles(FilesName::kOthers, "", known), "");
  EXPECT_EQ(WithFiles(FilesName::kUnnamed, "recorded", known), "recorded");
  EXPECT_EQ(WithFiles(FilesName::kUnnamed, "", known), "in_root_0");
  EXPECT_EQ(WithFiles(FilesName::kFirst, "recorded", known), "in_root_0");
  EXPECT_EQ(WithFiles(FilesName::kFirst, "recorded", unknown), "recorded");
  EXPECT_EQ(WithFiles(FilesName::kFirst, "", unknown), "in_root_0");
}

}  // namespace
}  // namespace profiler::symbolize
