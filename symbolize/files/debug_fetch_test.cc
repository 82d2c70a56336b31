#include "symbolize/files/debug_fetch.h"

#include <future>
#include <map>
#include <mutex>
#include <thread>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/files/file_facts.h"
#include "symbolize/names/testing/create_symbolizer.h"
#include "symbolize/testing/test_files.h"

namespace profiler::symbolize {
namespace {

using std::chrono::milliseconds;

std::vector<std::byte> BuildIdOf(const std::string& file) {
  const auto bytes = Bytes(ReadFile(file));
  const auto id = ElfImage::Parse(bytes)->build_id();
  return {id.begin(), id.end()};
}

std::string HexOf(std::span<const std::byte> bytes) {
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

std::string KindText(FileKind kind) {
  return kind == FileKind::kExecutable ? "executable" : "debuginfo";
}

std::string ProblemText(const FetchProblem& problem) {
  static const std::map<FetchProblem::Kind, std::string> kNames = {
      {FetchProblem::Kind::kSkipped, "skipped"},
      {FetchProblem::Kind::kOutOfTime, "out of time"},
      {FetchProblem::Kind::kOutOfBytes, "out of bytes"},
      {FetchProblem::Kind::kWrongFile, "wrong file"},
      {FetchProblem::Kind::kFailed, "failed"}};
  return absl::StrCat(problem.path, ": ", kNames.at(problem.kind),
                      problem.detail.empty() ? "" : ": ", problem.detail);
}

// A source whose answers a test defines per file.
class FakeSource : public DebugFileSource {
 public:
  using Answer = std::function<absl::StatusOr<SourcedFile>(const KeepGoing&)>;

  void On(FileKind kind, std::span<const std::byte> build_id, Answer answer) {
    answers_[Name(kind, build_id)] = std::move(answer);
  }
  void Serve(FileKind kind, std::span<const std::byte> build_id, std::string path) {
    On(kind, build_id, [path](const KeepGoing&) -> absl::StatusOr<SourcedFile> {
      return SourcedFile{path, "http://server/" + path.substr(path.rfind('/') + 1)};
    });
  }

  absl::StatusOr<SourcedFile> Fetch(FileKind kind, std::span<const std::byte> build_id,
                                    const KeepGoing& keep_going) override {
    const std::string name = Name(kind, build_id);
    {
      const std::lock_guard lock(mutex_);
      asked_.push_back(name);
    }
    const auto it = answers_.find(name);
    if (it == answers_.end()) return absl::NotFoundError("");
    return it->second(keep_going);
  }
  void Forget(FileKind kind, std::span<const std::byte> build_id) override {
    const std::lock_guard lock(mutex_);
    forgotten_.push_back(Name(kind, build_id));
  }

  std::vector<std::string> asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  std::vector<std::string> forgotten() {
    const std::lock_guard lock(mutex_);
    return forgotten_;
  }
  static std::string Name(FileKind kind, std::span<const std::byte> build_id) {
    return KindText(kind) + " " + HexOf(build_id);
  }

 private:
  std::map<std::string, Answer> answers_;
  std::mutex mutex_;
  std::vector<std::string> asked_;
  std::vector<std::string> forgotten_;
};

absl::StatusOr<SourcedFile> Hang(const KeepGoing& keep_going) {
  while (keep_going(0, 0)) std::this_thread::yield();
  return absl::CancelledError("");
}

class DebugFetchTest : public testing::Test {
 protected:
  DebugFetchTest() : directory_(TestDirectory()), source_(std::make_shared<FakeSource>()) {
    options_.proc_path = directory_ + "/proc";
    options_.debug_directories = {directory_ + "/debug"};
    limits_.at_once = 1;
  }

  std::string Copy(std::string_view fixture, const std::string& to) {
    const std::string path = directory_ + "/" + to;
    WriteFile(path, ReadFile(TestFile(fixture)));
    return path;
  }

  std::optional<MissingFiles> MissingFilesOf(const ImageSpec& spec) const {
    const auto facts = CreateFileFacts(options_);
    return facts->MissingFilesOf(facts->AddImage(spec));
  }
  // Formats the kinds of missing files: "executable debuginfo".
  std::string MissingText(const ImageSpec& spec) {
    const auto missing = MissingFilesOf(spec);
    if (!missing) return "nothing";
    return absl::StrCat(missing->executable ? "executable " : "",
                        missing->debug_info ? "debuginfo" : "");
  }

  // Returns an image without debug information, with a unique build-id.
  MissingFiles Stripped(const std::string& path) {
    return {.path = path, .build_id = Bytes(path), .debug_info = true};
  }

  FetchOutcome Fetch(std::vector<MissingFiles> missing, FetchMonitor monitor = nullptr) {
    return FetchFiles(source_, std::move(missing), options_.debug_directories, limits_, monitor);
  }
  std::string Problems(const FetchOutcome& outcome) {
    return absl::StrJoin(outcome.problems, "\n", [](std::string* out, const FetchProblem& p) {
      out->append(ProblemText(p));
    });
  }

  const std::string directory_;
  const std::shared_ptr<FakeSource> source_;
  SymbolizerOptions options_;
  FetchLimits limits_;
};

TEST_F(DebugFetchTest, AnImageWithDebugInformationMissesNothing) {
  EXPECT_EQ(MissingText({.path = Copy("inlined", "inlined")}), "nothing");
}

TEST_F(DebugFetchTest, AStrippedImageMissesItsDebugInformationUnlessThatLiesBesideIt) {
  const std::string path = Copy("inlined_stripped", "inlined");
  EXPECT_EQ(MissingText({.path = path}), "debuginfo");
  Copy("inlined.debug", "inlined.debug");
  EXPECT_EQ(MissingText({.path = path}), "nothing");
}

TEST_F(DebugFetchTest, SymbolsSufficeWhereNoInlinedCallsAreAskedFor) {
  const std::string path = Copy("inlined_stripped", "inlined");
  options_.inlines = false;
  EXPECT_EQ(MissingText({.path = path}), "nothing");
  EXPECT_EQ(MissingText({.path = Copy("stripped", "stripped")}), "debuginfo");
}

TEST_F(DebugFetchTest, AnImageThatIsGoneOrReplacedMissesAllIfItsBuildIdIsKnown) {
  const auto build_id = BuildIdOf(TestFile("inlined"));
  EXPECT_EQ(MissingText({.path = directory_ + "/gone", .build_id = build_id}),
            "executable debuginfo");
  EXPECT_EQ(MissingText({.path = directory_ + "/gone"}), "nothing");
  EXPECT_EQ(MissingText({.path = Copy("pie", "replaced"), .build_id = build_id}),
            "executable debuginfo");
}

TEST_F(DebugFetchTest, NothingIsMissedOfWhatIsNoFile) {
  const auto build_id = BuildIdOf(TestFile("inlined"));
  EXPECT_EQ(
      MissingText({.kind = ImageKind::kKernel, .path = "[kernel.kallsyms]", .build_id = build_id}),
      "nothing");
  WriteFile(directory_ + "/text", "#!/bin/sh\n");
  EXPECT_EQ(MissingText({.path = directory_ + "/text", .build_id = build_id}), "nothing");
}

TEST_F(DebugFetchTest, WhatWasFetchedNamesTheCodeOfAnImageThatIsGone) {
  const auto build_id = BuildIdOf(TestFile("inlined"));
  const ImageSpec spec{.path = directory_ + "/gone", .build_id = build_id};
  source_->Serve(FileKind::kExecutable, build_id, Copy("inlined_stripped", "cache/executable"));
  source_->Serve(FileKind::kDebugInfo, build_id, Copy("inlined.debug", "cache/debuginfo"));
  FetchOutcome outcome = Fetch({*MissingFilesOf(spec)});
  EXPECT_EQ(Problems(outcome), "");

  options_.fetched = std::make_shared<FetchedFiles>(outcome.files);
  const auto symbolizer = CreateSymbolizer(options_);
  const uint64_t code = ReadFile(TestFile("inlined_stripped")).find("<innermost>");
  std::vector<std::string> names;
  for (const auto& function :
       symbolizer->Name(symbolizer->AddImage(spec), FileOffset{code}).functions) {
    names.emplace_back(function.name);
  }
  EXPECT_EQ(absl::StrJoin(names, " "), "innermost middle outermost");
}

TEST_F(DebugFetchTest, AnExecutableWithDebugInformationIsAllThatIsAskedFor) {
  const auto build_id = BuildIdOf(TestFile("inlined"));
  source_->Serve(FileKind::kExecutable, build_id, TestFile("inlined"));
  const FetchOutcome outcome =
      Fetch({{.path = "gone", .build_id = build_id, .executable = true, .debug_info = true}});
  EXPECT_EQ(outcome.files.Find(FileKind::kExecutable, build_id), TestFile("inlined"));
  EXPECT_EQ(absl::StrJoin(source_->asked(), ", "), "executable " + HexOf(build_id));
}

TEST_F(DebugFetchTest, TheAlternateFileOfDebugInformationIsFetchedToo) {
  const auto build_id = BuildIdOf(TestFile("inlined"));
  source_->Serve(FileKind::kDebugInfo, build_id, TestFile("inlined_alternate.debug"));
  Fetch({{.path = "inlined", .build_id = build_id, .debug_info = true}});
  EXPECT_EQ(absl::StrJoin(source_->asked(), ", "),
            absl::StrCat("debuginfo ", HexOf(build_id), ", debuginfo 616c7465726e617465"));
}

TEST_F(DebugFetchTest, AFileThatNoServerHasIsNoProblem) {
  const FetchOutcome outcome = Fetch({Stripped("libc.so")});
  EXPECT_EQ(outcome.files.size(), 0u);
  EXPECT_EQ(Problems(outcome), "");
}

TEST_F(DebugFetchTest, AnotherFileThanTheOneAskedForIsRefusedForgottenAndNamed) {
  const MissingFiles missing = Stripped("libc.so");
  source_->Serve(FileKind::kDebugInfo, missing.build_id, TestFile("inlined.debug"));
  const FetchOutcome outcome = Fetch({missing});
  EXPECT_EQ(outcome.files.size(), 0u);
  EXPECT_EQ(Problems(outcome), "libc.so: wrong file: http://server/inlined.debug has build-id " +
                                   HexOf(BuildIdOf(TestFile("inlined"))));
  EXPECT_EQ(absl::StrJoin(source_->forgotten(), ", "),
            FakeSource::Name(FileKind::kDebugInfo, missing.build_id));
}

TEST_F(DebugFetchTest, AFileThatIsCutIsRefused) {
  const auto build_id = BuildIdOf(TestFile("inlined"));
  const std::string whole = ReadFile(TestFile("inlined.debug"));
  WriteFile(directory_ + "/cut", whole.substr(0, whole.size() / 2));
  source_->Serve(FileKind::kDebugInfo, build_id, directory_ + "/cut");
  const FetchOutcome outcome =
      Fetch({{.path = "inlined", .build_id = build_id, .debug_info = true}});
  EXPECT_EQ(outcome.files.size(), 0u);
  ASSERT_EQ(outcome.problems.size(), 1u);
  EXPECT_EQ(outcome.problems[0].kind, FetchProblem::Kind::kWrongFile);
  EXPECT_EQ(source_->forgotten().size(), 1u);
}

TEST_F(DebugFetchTest, AFailureIsToldWithItsReasonAndTheOthersGoOn) {
  const MissingFiles broken = Stripped("libbroken.so");
  source_->On(FileKind::kDebugInfo, broken.build_id,
              [](const KeepGoing&) { return absl::UnavailableError("it rains"); });
  const auto build_id = BuildIdOf(TestFile("inlined"));
  source_->Serve(FileKind::kDebugInfo, build_id, TestFile("inlined.debug"));
  const FetchOutcome outcome =
      Fetch({broken, {.path = "inlined", .build_id = build_id, .debug_info = true}});
  EXPECT_EQ(Problems(outcome), "libbroken.so: failed: it rains");
  EXPECT_EQ(outcome.files.Find(FileKind::kDebugInfo, build_id), TestFile("inlined.debug"));
}

TEST_F(DebugFetchTest, AServerThatHangsCostsTheTimeLimitAndNotWhatOthersSent) {
  const MissingFiles hangs = Stripped("libhangs.so");
  source_->On(FileKind::kDebugInfo, hangs.build_id, Hang);
  const auto build_id = BuildIdOf(TestFile("inlined"));
  source_->Serve(FileKind::kDebugInfo, build_id, TestFile("inlined.debug"));
  limits_.at_once = 2;
  limits_.time = milliseconds(100);
  const FetchOutcome outcome =
      Fetch({hangs, {.path = "inlined", .build_id = build_id, .debug_info = true}});
  EXPECT_EQ(Problems(outcome), "libhangs.so: out of time");
  EXPECT_EQ(outcome.files.size(), 1u);
}

TEST_F(DebugFetchTest, ImagesWhoseTurnNeverCameAreOutOfTimeToo) {
  const MissingFiles hangs = Stripped("libhangs.so");
  source_->On(FileKind::kDebugInfo, hangs.build_id, Hang);
  limits_.time = milliseconds(20);
  EXPECT_EQ(Problems(Fetch({hangs, Stripped("liblater.so")})),
            "libhangs.so: out of time\nliblater.so: out of time");
}

TEST_F(DebugFetchTest, ASourceThatNeverLooksUpIsLeftBehind) {
  const MissingFiles deaf = Stripped("libdeaf.so");
  std::promise<void> test_is_over;
  std::promise<void> source_is_over;
  source_->On(FileKind::kDebugInfo, deaf.build_id,
              [&](const KeepGoing&) -> absl::StatusOr<SourcedFile> {
                test_is_over.get_future().wait();
                source_is_over.set_value();
                return absl::CancelledError("");
              });
  limits_.time = milliseconds(20);
  EXPECT_EQ(Problems(Fetch({deaf})), "libdeaf.so: out of time");
  test_is_over.set_value();
  source_is_over.get_future().wait();
}

TEST_F(DebugFetchTest, TheMonitorSkipsOneImageAndTheNextOneComes) {
  const MissingFiles hangs = Stripped("libhangs.so");
  source_->On(FileKind::kDebugInfo, hangs.build_id, Hang);
  const auto build_id = BuildIdOf(TestFile("inlined"));
  source_->Serve(FileKind::kDebugInfo, build_id, TestFile("inlined.debug"));
  const FetchOutcome outcome =
      Fetch({hangs, {.path = "inlined", .build_id = build_id, .debug_info = true}},
            [](const FetchProgress& progress) { return progress.path == "libhangs.so"; });
  EXPECT_EQ(Problems(outcome), "libhangs.so: skipped");
  EXPECT_EQ(outcome.files.size(), 1u);
}

TEST_F(DebugFetchTest, ProgressHasTheBytesOfTheImageThatIsWaitedFor) {
  const MissingFiles slow = Stripped("libslow.so");
  std::promise<void> seen;
  source_->On(FileKind::kDebugInfo, slow.build_id,
              [&](const KeepGoing& keep_going) -> absl::StatusOr<SourcedFile> {
                keep_going(100, 300);
                seen.get_future().wait();
                return absl::NotFoundError("");
              });
  std::string shown;
  Fetch({slow}, [&](const FetchProgress& p) {
    if (shown.empty() && p.its_received != 0) {
      shown = absl::StrCat(p.path, " ", p.its_received, "/", p.its_size, " of ", p.received, ", ",
                           p.done, "/", p.images);
      seen.set_value();
    }
    return false;
  });
  EXPECT_EQ(shown, "libslow.so 100/300 of 100, 0/1");
}

TEST_F(DebugFetchTest, AFileThatWouldExceedTheByteLimitIsGivenUpWhenItsSizeIsKnown) {
  const MissingFiles large = Stripped("liblarge.so");
  bool went_on = true;
  source_->On(FileKind::kDebugInfo, large.build_id, [&](const KeepGoing& keep_going) {
    went_on = keep_going(10, 1001);
    return absl::CancelledError("");
  });
  limits_.bytes = 1000;
  EXPECT_EQ(Problems(Fetch({large})), "liblarge.so: out of bytes");
  EXPECT_FALSE(went_on);
}

TEST_F(DebugFetchTest, TheByteLimitIsForAllFilesTogether) {
  const auto build_id = BuildIdOf(TestFile("inlined"));
  const uint64_t size = ReadFile(TestFile("inlined.debug")).size();
  source_->On(FileKind::kDebugInfo, build_id,
              [=](const KeepGoing& keep_going) -> absl::StatusOr<SourcedFile> {
                if (!keep_going(size, size)) return absl::CancelledError("");
                return SourcedFile{TestFile("inlined.debug"), "http://server/"};
              });
  const MissingFiles second = Stripped("libsecond.so");
  source_->On(FileKind::kDebugInfo, second.build_id, [](const KeepGoing& keep_going) {
    return keep_going(0, 400) ? absl::NotFoundError("") : absl::CancelledError("");
  });
  limits_.bytes = size + 300;
  const FetchOutcome outcome =
      Fetch({{.path = "inlined", .build_id = build_id, .debug_info = true}, second});
  EXPECT_EQ(Problems(outcome), "libsecond.so: out of bytes");
  EXPECT_EQ(outcome.files.size(), 1u);
}

TEST_F(DebugFetchTest, AFileThatCameBeforeItsProgressWasToldCountsAsWell) {
  const auto build_id = BuildIdOf(TestFile("inlined"));
  source_->On(FileKind::kDebugInfo, build_id, [](const KeepGoing&) -> absl::StatusOr<SourcedFile> {
    return SourcedFile{TestFile("inlined.debug"), "http://server/"};
  });
  limits_.bytes = 1000;
  const FetchOutcome outcome =
      Fetch({{.path = "inlined", .build_id = build_id, .debug_info = true}});
  EXPECT_EQ(Problems(outcome), "inlined: out of bytes");
  EXPECT_EQ(outcome.files.size(), 0u);
}

}  // namespace
}  // namespace profiler::symbolize
