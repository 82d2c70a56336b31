#include "src/fleet/push/journal.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace profiler::fleet {
namespace {

namespace fs = std::filesystem;
using Existing = absl::flat_hash_set<std::string>;

class PushJournalTest : public testing::Test {
 protected:
  PushJournalTest() {
    fs::remove_all(directory_);
    fs::create_directories(directory_);
  }
  absl::StatusOr<PushJournal> TryOpen() const {
    return PushJournal::Open(directory_, "otlp+http://h:1", existing_);
  }
  PushJournal Open() const {
    auto journal = TryOpen();
    EXPECT_TRUE(journal.ok()) << journal.status();
    return *std::move(journal);
  }
  std::string Path() const {
    for (const auto& entry : fs::directory_iterator(directory_)) {
      if (entry.path().extension() == ".journal") return entry.path();
    }
    return "";
  }
  static std::string Flight(const PushJournal& journal) {
    return absl::StrJoin(journal.in_flight(), " ");
  }

  const std::string directory_ = testing::TempDir() + "/journal";
  Existing existing_ = {"a", "b", "c", "d"};
};

TEST_F(PushJournalTest, KnowsAgainWhatItWasTold) {
  {
    PushJournal journal = Open();
    const std::vector<std::string> first = {"a", "b"}, second = {"d"};
    ASSERT_TRUE(journal.Begin(first).ok());
    ASSERT_TRUE(journal.Done().ok());
    ASSERT_TRUE(journal.Skip("c", "not\nwanted").ok());
    ASSERT_TRUE(journal.Begin(second).ok());
  }
  for (int i = 0; i < 2; ++i) {  // first as written, then as rewritten
    const PushJournal journal = Open();
    EXPECT_TRUE(journal.IsDone("a") && journal.IsDone("b") && journal.IsDone("c"));
    EXPECT_FALSE(journal.IsDone("d"));
    EXPECT_EQ(journal.skipped().at("c"), "not?wanted");
    EXPECT_EQ(Flight(journal), "d");
  }
}

TEST_F(PushJournalTest, ForgetsSegmentsThatHaveGone) {
  {
    PushJournal journal = Open();
    const std::vector<std::string> names = {"a", "b"};
    ASSERT_TRUE(journal.Begin(names).ok());
    ASSERT_TRUE(journal.Done().ok());
  }
  existing_ = {"b"};
  { Open(); }
  existing_ = {"a", "b"};
  const PushJournal journal = Open();
  EXPECT_FALSE(journal.IsDone("a"));
  EXPECT_TRUE(journal.IsDone("b"));
}

// A power failure may cut the file off anywhere. The remaining file must be the journal of an
// earlier moment.
TEST_F(PushJournalTest, IsSoundWhereverItIsCutOff) {
  {
    PushJournal journal = Open();
    const std::vector<std::string> first = {"a"}, second = {"b", "c"};
    ASSERT_TRUE(journal.Begin(first).ok());
    ASSERT_TRUE(journal.Done().ok());
    ASSERT_TRUE(journal.Begin(second).ok());
    ASSERT_TRUE(journal.Done().ok());
  }
  std::ifstream file(Path(), std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(file)), {});
  const size_t heading = whole.find('\n') + 1;
  std::string states;
  for (size_t size = heading; size <= whole.size(); ++size) {
    std::ofstream(Path(), std::ios::binary) << whole.substr(0, size);
    const PushJournal journal = Open();
    const std::string state =
        absl::StrCat(Flight(journal), ";", journal.IsDone("a"), journal.IsDone("b"), " ");
    if (!states.ends_with(state)) states += state;
  }
  EXPECT_EQ(states, ";00 a;00 ;10 b c;10 ;11 ");
}

TEST_F(PushJournalTest, TellsAForeignFile) {
  { Open(); }
  for (const char* text : {"hello\n", "profiler push 1 otlp+http://h:1\n", "\n"}) {
    std::ofstream(Path()) << text;
    const auto journal = TryOpen();
    EXPECT_EQ(journal.status().code(), absl::StatusCode::kDataLoss) << text;
  }
}

TEST_F(PushJournalTest, DoesNotGrowForEver) {
  PushJournal journal = Open();
  const std::vector<std::string> names = {"a", std::string(10'000, 'x')};
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(journal.Begin(names).ok());
    ASSERT_TRUE(journal.Done().ok());
    journal.KeepOnly(existing_);
  }
  EXPECT_LT(fs::file_size(Path()), 2'000'000u);
  EXPECT_TRUE(journal.IsDone("a"));
}

}  // namespace
}  // namespace profiler::fleet
