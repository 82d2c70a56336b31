// Tests that facts are the same, whether read in this process or in a confined one.

#include "symbolize/confined/confined_facts.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "src/base/byte_reader.h"
#include "src/base/text.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/files/file_facts.h"
#include "symbolize/image_file.h"
#include "symbolize/testing/test_files.h"

namespace profiler::symbolize {
namespace {

std::string Text(const AddressFacts::Function& function) {
  return absl::StrCat(View(function.name), "@", function.start.value, "+", function.size,
                      function.in_symbol_table ? "" : " of debug information");
}

std::string Text(const AddressFacts::Line& line) {
  return absl::StrCat(View(line.file), ":", line.line, ":", line.column);
}

std::string Text(const AddressFacts& facts) {
  std::string text = absl::StrCat(static_cast<int>(facts.reason));
  if (facts.address) absl::StrAppend(&text, " at ", facts.address->value);
  if (facts.function) absl::StrAppend(&text, " in ", Text(*facts.function));
  if (facts.neighbour) absl::StrAppend(&text, " behind ", Text(*facts.neighbour));
  for (const auto& inlined : facts.inlined) {
    absl::StrAppend(&text, " inlined ", View(inlined.name), " ", Text(inlined.at));
  }
  return absl::StrCat(text, " ", Text(facts.at), facts.has_debug_info ? " known" : "");
}

class ConfinedFactsTest : public testing::Test {
 protected:
  ConfinedFactsTest() : directory_(TestDirectory()) {
    options_.jit_map_directory = directory_;
    options_.build_id_caches = {};
    files_ = CreateFileFacts(options_);
    confined_ = CreateConfinedFacts(
        options_, {.required = true,
                   .warn = [this](std::string_view line) { warnings_.emplace_back(line); }});
  }

  static std::vector<CodePlace> EveryPlaceIn(const std::string& path) {
    std::vector<CodePlace> places;
    for (uint64_t at = 0; at < std::filesystem::file_size(path); at += 3) {
      places.emplace_back(FileOffset{at});
    }
    return places;
  }

  // Returns the number of places at which the two sources differ.
  size_t Differences(const ImageSpec& spec, const std::vector<CodePlace>& places, bool announce) {
    const ImageId of_files = files_->AddImage(spec);
    const ImageId of_confined = confined_->AddImage(spec);
    if (announce) confined_->WillFind(of_confined, places);
    return static_cast<size_t>(std::ranges::count_if(places, [&](CodePlace place) {
      return Text(files_->Find(of_files, place)) != Text(confined_->Find(of_confined, place));
    }));
  }

  const std::string directory_;
  SymbolizerOptions options_;
  std::unique_ptr<FactSource> files_;
  std::unique_ptr<FactSource> confined_;
  std::vector<std::string> warnings_;
};

TEST_F(ConfinedFactsTest, AreThoseOfFiles) {
  for (const char* const program :
       {"pie", "nopie", "shared", "stripped", "split", "mini", "inlined"}) {
    const std::string path = TestFile(program);
    ASSERT_TRUE(std::filesystem::exists(path));
    SCOPED_TRACE(path);
    EXPECT_EQ(Differences({.path = path}, EveryPlaceIn(path), /*announce=*/true), 0U);
    EXPECT_EQ(Differences({.path = path}, {FileOffset{4096}, FileOffset{1}}, false), 0U);
  }
  EXPECT_EQ(warnings_, std::vector<std::string>{});
}

TEST_F(ConfinedFactsTest, AreThoseOfFilesWhereTheImageIsElsewhereOrNowhere) {
  const std::vector<std::byte> build_id = {std::byte{0xab}, std::byte{0xcd}, std::byte{0xef}};
  options_.build_id_caches = {directory_};
  files_ = CreateFileFacts(options_);
  confined_ = CreateConfinedFacts(options_, {.required = true, .warn = {}});
  const std::string cached = BuildIdPath(directory_, build_id);
  std::filesystem::create_directories(cached);
  std::filesystem::copy_file(TestFile("pie"), cached + "/elf");
  const std::string nowhere = directory_ + "/nowhere";
  const auto pid = static_cast<uint32_t>(getpid());
  for (const std::string& path : {nowhere, nowhere + " (deleted)", std::string(), directory_,
                                  TestFile("pie"), TestFile("pie") + " (deleted)"}) {
    for (const uint32_t process : {uint32_t{0}, pid}) {
      for (const std::vector<std::byte>& id : {std::vector<std::byte>(), build_id}) {
        SCOPED_TRACE(absl::StrCat(path, " of ", process, id.empty() ? "" : " with a build-id"));
        const ImageSpec spec{.path = path, .build_id = id, .pid = process};
        EXPECT_EQ(Differences(spec, {FileOffset{4096}, FileOffset{1}}, true), 0U);
        const ImageId image = confined_->AddImage(spec), same = files_->AddImage(spec);
        EXPECT_EQ(Text(confined_->FindAt(image, {4096})), Text(files_->FindAt(same, {4096})));
      }
    }
  }
}

TEST_F(ConfinedFactsTest, AreThoseOfFilesThatWereKeptOpen) {
  const auto open_shared = [](const std::string& path, int flags) {
    return std::make_shared<const UniqueFd>(open(path.c_str(), flags | O_CLOEXEC));
  };
  const auto kept = std::make_shared<KeptFiles>();
  // A program in another root directory, with its debug file beside it.
  const std::string program = directory_ + "/root/bin/program";
  std::filesystem::create_directories(directory_ + "/root/bin/.debug");
  std::filesystem::copy_file(TestFile("split"), program);
  const auto stripped = OpenElf(program);
  ASSERT_TRUE(stripped.ok());
  const std::optional<DebugLink> link = ReadDebugLink(stripped->elf);
  ASSERT_TRUE(link.has_value());
  std::filesystem::copy_file(TestFile(link->file),
                             directory_ + "/root/bin/.debug/" + std::string(link->file));
  const auto id = stripped->elf.build_id();
  const ImageSpec spec{.path = "/bin/program", .build_id = {id.begin(), id.end()}};
  kept->Add(spec.path, spec.build_id, {}, open_shared(program, O_RDONLY),
            open_shared(directory_ + "/root", O_PATH | O_DIRECTORY));
  std::filesystem::remove(program);
  options_.kept = kept;
  files_ = CreateFileFacts(options_);
  confined_ = CreateConfinedFacts(options_, {.required = true, .warn = {}});
  const std::vector<CodePlace> places = EveryPlaceIn(TestFile("split"));
  EXPECT_EQ(Differences(spec, places, /*announce=*/true), 0U);
  const ImageId image = confined_->AddImage(spec);
  EXPECT_TRUE(std::ranges::any_of(places, [&](CodePlace place) {
    const auto facts = confined_->Find(image, place);
    return facts.function && facts.function->name == "marked_code";
  }));
}

TEST_F(ConfinedFactsTest, HaveNamesLinesAndInlinedCalls) {
  const std::string path = TestFile("inlined");
  const ImageId image = confined_->AddImage({.path = path});
  const std::vector<CodePlace> places = EveryPlaceIn(path);
  confined_->WillFind(image, places);
  size_t named = 0, inlined = 0, lines = 0;
  for (const CodePlace place : places) {
    const AddressFacts facts = confined_->Find(image, place);
    named += facts.reason == Reason::kNamed ? 1 : 0;
    inlined += facts.inlined.empty() ? 0 : 1;
    lines += facts.at.line != 0 ? 1 : 0;
  }
  EXPECT_GT(named, 0U);
  EXPECT_GT(inlined, 0U);
  EXPECT_GT(lines, 0U);
}

TEST_F(ConfinedFactsTest, AreThoseOfMapsOfJitsToo) {
  const auto pid = static_cast<uint32_t>(getpid());
  WriteFile(absl::StrCat(directory_, "/perf-", pid, ".map"), "1000 100 first\n1100 80 second\n");
  const ImageSpec spec{.kind = ImageKind::kJit, .path = "//anon", .pid = pid};
  EXPECT_EQ(Differences(spec, {RuntimeAddress{0x1010}, RuntimeAddress{0x1110}}, true), 0U);
  const AddressFacts facts = confined_->Find(confined_->AddImage(spec), RuntimeAddress{0x1110});
  ASSERT_TRUE(facts.function);
  EXPECT_EQ(facts.function->name, "second");
}

TEST_F(ConfinedFactsTest, AreNotThoseOfAnotherProcessWithTheNumber) {
  const auto pid = static_cast<uint32_t>(getpid());
  WriteFile(absl::StrCat(directory_, "/perf-", pid, ".map"), "1000 100 first\n");
  const ImageSpec spec{.kind = ImageKind::kJit, .path = "//anon", .pid = pid};
  confined_->SetLife(pid, {.seen = 1, .over = 1, .has_ended = true});
  const ImageId image = confined_->AddImage(spec);
  EXPECT_EQ(confined_->Find(image, RuntimeAddress{0x1010}).reason, Reason::kNoImageFile);
}

TEST_F(ConfinedFactsTest, KnowWhatIsMissing) {
  const auto text = [](FactSource& facts, const ImageSpec& spec) -> std::string {
    const auto missing = facts.MissingFilesOf(facts.AddImage(spec));
    if (!missing) return "nothing";
    return absl::StrCat(missing->path, missing->executable ? " executable" : "",
                        missing->debug_info ? " debuginfo " : " ", HexOf(missing->build_id));
  };
  for (const char* const program : {"pie", "stripped", "split", "inlined", "none"}) {
    for (const char* const build_id : {"", "0123456789"}) {
      ImageSpec spec{.path = TestFile(program)};
      const auto bytes = BytesOfText(build_id);
      spec.build_id.assign(bytes.begin(), bytes.end());
      EXPECT_EQ(text(*confined_, spec), text(*files_, spec)) << program;
    }
  }
  EXPECT_NE(text(*confined_, {.path = TestFile("stripped")}), "nothing");
  EXPECT_EQ(text(*confined_, {.path = TestFile("inlined")}), "nothing");
}

TEST_F(ConfinedFactsTest, HaveTheKernelsAnnouncedFunctions) {
  confined_->AddKernelSymbol(RuntimeAddress{0x5000}, 16, "bpf_prog_one");
  const ImageSpec spec{.kind = ImageKind::kBpf, .path = "bpf_prog_one"};
  const AddressFacts facts = confined_->Find(confined_->AddImage(spec), RuntimeAddress{0x5001});
  ASSERT_TRUE(facts.function);
  EXPECT_EQ(facts.function->name, "bpf_prog_one");
}

TEST_F(ConfinedFactsTest, AnswerInAnyOrderWhateverWasAnnounced) {
  const std::string path = TestFile("pie");
  const ImageId image = confined_->AddImage({.path = path});
  const ImageId same = files_->AddImage({.path = path});
  const std::vector<CodePlace> announced = {FileOffset{4000}, FileOffset{4100}, FileOffset{4200}};
  confined_->WillFind(image, announced);
  for (const uint64_t at : {4200, 4100, 4000, 4300, 4200}) {
    EXPECT_EQ(Text(confined_->Find(image, FileOffset{at})),
              Text(files_->Find(same, FileOffset{at})));
  }
}

TEST_F(ConfinedFactsTest, GiveCodeAsFilesDo) {
  const std::string path = TestFile("pie");
  const uint64_t at = 4096;
  const CodeBytes expected = files_->CodeAt(files_->AddImage({.path = path}), {at}, 64);
  const CodeBytes code = confined_->CodeAt(confined_->AddImage({.path = path}), {at}, 64);
  EXPECT_EQ(code.reason, expected.reason);
  EXPECT_EQ(code.machine, expected.machine);
  EXPECT_EQ(code.place, expected.place);
  EXPECT_TRUE(std::ranges::equal(code.bytes, expected.bytes));
}

TEST_F(ConfinedFactsTest, TrustOnlyWhatWasGivenToTheProcessThatReadsTrustedFiles) {
  const std::string path = directory_ + "/program";
  WriteFile(path, ReadFile(TestFile("pie")));
  const auto own = confined_->TrustedFileOf(confined_->AddImage({.path = path}));
  ASSERT_TRUE(own);
  EXPECT_EQ(own->owner, geteuid());
  EXPECT_EQ(own->size, std::filesystem::file_size(path));

  constexpr uid_t kNobody = 65534;
  const std::string others = directory_ + "/others";
  WriteFile(others, ReadFile(TestFile("pie")));
  if (chown(others.c_str(), kNobody, kNobody) != 0) {
    GTEST_SKIP() << "only root can give files to another user";
  }
  EXPECT_FALSE(confined_->TrustedFileOf(confined_->AddImage({.path = others})));
  EXPECT_EQ(Differences({.path = others}, EveryPlaceIn(others), true), 0U);
  EXPECT_EQ(warnings_, std::vector<std::string>{});
}

}  // namespace
}  // namespace profiler::symbolize
