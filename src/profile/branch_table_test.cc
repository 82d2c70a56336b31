#include "src/profile/branch_table.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace profiler::profile {
namespace {

constexpr uint64_t kMispredicted = 1, kPredicted = 2;

class BranchTableTest : public testing::Test {
 protected:
  // Adds a sample of process 7 with these words as its branch stack.
  void Add(ThreadId thread, const std::vector<uint64_t>& words) {
    table_.Add(EventId{0}, thread, 7, std::as_bytes(std::span(words)), [&](uint64_t address) {
      ++look_ups_;
      return FrameId{static_cast<uint32_t>(address)};
    });
  }

  // Returns "thread from>to cycles outcome*count" for each row.
  std::string Rows() const {
    std::string text;
    for (const BranchRow& row : profile_.branches) {
      absl::StrAppend(&text, text.empty() ? "" : ", ", static_cast<uint32_t>(row.thread), " ",
                      static_cast<uint32_t>(row.from), ">", static_cast<uint32_t>(row.to), " ",
                      row.cycles, " ", std::string(1, "PM?"[static_cast<size_t>(row.outcome)]), "*",
                      row.count);
    }
    return text;
  }

  Profile profile_;
  BranchTable table_{profile_};
  int look_ups_ = 0;
};

TEST_F(BranchTableTest, CountsEqualBranchesInOneRow) {
  Add(ThreadId{1}, {10, 20, kPredicted | 5 << 4, 30, 40, kMispredicted});
  Add(ThreadId{1}, {10, 20, kPredicted | 5 << 4});
  EXPECT_EQ(Rows(), "1 10>20 5 P*2, 1 30>40 0 M*1");
}

TEST_F(BranchTableTest, LooksAnAddressUpOnceUntilMappingsChange) {
  Add(ThreadId{1}, {10, 20, kPredicted, 20, 10, kPredicted});
  EXPECT_EQ(look_ups_, 2);
  table_.ForgetFrames();
  Add(ThreadId{1}, {10, 20, kPredicted});
  EXPECT_EQ(look_ups_, 4);
}

TEST_F(BranchTableTest, JoinsTheRowsOfThreadsThatAreTheSame) {
  Add(ThreadId{0}, {10, 20, kPredicted});
  Add(ThreadId{1}, {10, 20, kPredicted});
  const std::vector<ThreadId> same = {ThreadId{1}, ThreadId{1}};
  table_.PutThreads(same);
  EXPECT_EQ(Rows(), "1 10>20 0 P*2");
}

TEST_F(BranchTableTest, PassesOverAnEntryThatIsCut) {
  Add(ThreadId{1}, {10, 20});
  EXPECT_EQ(Rows(), "");
}

}  // namespace
}  // namespace profiler::profile
