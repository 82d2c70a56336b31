#include "src/record/code_dumps.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ringbuf/record_cursor.h"
#include "src/base/byte_reader.h"
#include "src/base/unique_fd.h"
#include "src/format/perf_event/testing/record_builder.h"
#include "symbolize/symbols/jit_dump.h"

namespace profiler::record {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

const perf_event::Attr kAttr = perf_event::SampleAttr(
    perf_event::kSampleIp | perf_event::kSampleTid | perf_event::kSampleTime);

class CodeDumpsTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = testing::TempDir() + "/dumps-XXXXXX";
    ASSERT_NE(mkdtemp(directory_.data()), nullptr);
    setenv("TMPDIR", directory_.c_str(), 1);
    dumps_.emplace(layout_);
  }
  void TearDown() override {
    dumps_.reset();
    EXPECT_TRUE(fs::is_empty(directory_)) << "a dump was left";
    fs::remove_all(directory_);
    unsetenv("TMPDIR");
  }

  void Add(const std::string& name, uint64_t start, bool is_bytecode = false,
           const std::string& image = {}) {
    const std::string bytes = "code of " + name;
    dumps_->Of(7, 1).Add({.start = {start},
                          .bytes = BytesOfText(bytes),
                          .is_bytecode = is_bytecode,
                          .name = name,
                          .image = image});
  }
  // Returns the mappings that precede the next sample: address, size and name.
  std::vector<std::string> Mappings() {
    std::vector<std::byte> bytes;
    dumps_->TakeRecords(&bytes);
    std::vector<std::string> mappings;
    ringbuf::RingBytes ring;
    ring.spans[0] = bytes;
    ringbuf::BounceBuffer bounce;
    ringbuf::RecordCursor cursor(ring, bounce);
    while (const auto record = cursor.Next()) {
      perf_event::Mmap2 mmap;
      EXPECT_TRUE(Decode(*record, layout_, &mmap));
      mappings.push_back(absl::StrCat(absl::Hex(mmap.addr), "+", absl::Hex(mmap.len), " at ",
                                      mmap.sample_id.time, " ", std::string(mmap.filename)));
    }
    return mappings;
  }
  // Returns the contents of the dump in the folder `inside`: times, addresses, sizes and names.
  std::string Dump(const std::string& inside) {
    dumps_->Flush();
    for (const auto& entry : fs::recursive_directory_iterator(directory_)) {
      if (!entry.path().string().ends_with("/" + inside + "/jit-7.dump")) continue;
      const UniqueFd file(open(entry.path().c_str(), O_RDONLY | O_CLOEXEC));
      const auto dump = symbolize::JitDump::Read(file.get(), entry.path());
      if (!dump.ok()) return std::string(dump.status().message());
      std::string text = absl::StrCat("machine ", dump->machine());
      for (const symbolize::JitCode& code : dump->codes()) {
        absl::StrAppend(&text, ", ", code.time, " ", absl::Hex(code.start.value), "+", code.size,
                        " ", std::string(dump->Find(code.offset)->name));
      }
      return text;
    }
    return "no dump";
  }

  const perf_event::RecordLayout layout_{kAttr};
  std::string directory_;
  std::optional<CodeDumps> dumps_;
};

TEST_F(CodeDumpsTest, WhatIsMetIsInADumpFromThenOn) {
  dumps_->SetTime(100);
  Add("f", 0x5000);
  dumps_->SetTime(200);
  Add("g", 0x5000);
  EXPECT_THAT(Mappings(),
              ElementsAre(MatchesRegex("1000\\+1000 at 99 .*/profiler-.*/1/jit-7.dump")));
  EXPECT_THAT(Dump("1"), MatchesRegex("machine [0-9]+, 100 5000\\+9 f, 200 5000\\+9 g"));
  EXPECT_THAT(Mappings(), IsEmpty());
}

TEST_F(CodeDumpsTest, TheSameAgainTakesItsPlaceAgainAndNoRoom) {
  dumps_->SetTime(100);
  Add("f", 0x5000);
  const uint64_t before = dumps_->Of(7, 1).Generation();
  dumps_->Mapped(7);
  EXPECT_NE(dumps_->Of(7, 1).Generation(), before);
  dumps_->SetTime(200);
  Add("f", 0x5000);
  EXPECT_THAT(Dump("1"), MatchesRegex("machine [0-9]+, 100 5000\\+9 f, 200 5000\\+9 f"));
}

TEST_F(CodeDumpsTest, BytecodesAreInADumpOfTheirOwnAndTheirPagesAreMapped) {
  dumps_->SetTime(100);
  Add("f", 0x5ffc, true);
  Add("g", 0x5010, true);
  EXPECT_THAT(Mappings(), ElementsAre(MatchesRegex("2000\\+1000 at 99 .*/1/jit-7.dump"),
                                      "5000+1000 at 99 //anon", "6000+1000 at 99 //anon"));
  EXPECT_EQ(Dump("1"), "machine 0, 100 5ffc+9 f, 100 5010+9 g");
}

TEST_F(CodeDumpsTest, BytecodesWithAnImageNameAreInADumpInAFolderOfThatName) {
  dumps_->SetTime(100);
  Add("f", 0x5000, true, "[python]");
  Add("g", 0x6000, true);
  EXPECT_THAT(
      Mappings(),
      ElementsAre(MatchesRegex("3000\\+1000 at 99 .*/1/\\[python\\]/jit-7.dump"),
                  "5000+1000 at 99 //anon", MatchesRegex("2000\\+1000 at 99 .*/2/jit-7.dump"),
                  "6000+1000 at 99 //anon"));
  EXPECT_EQ(Dump("1/[python]"), "machine 0, 100 5000+9 f");
  EXPECT_EQ(Dump("2"), "machine 0, 100 6000+9 g");
}

TEST_F(CodeDumpsTest, CompiledCodeOfAProcessThatSaysWhatItIsIsLeftToThat) {
  dumps_->Of(7, 1);
  dumps_->LeaveCompiled(7);
  Add("f", 0x5000);
  EXPECT_THAT(Mappings(), IsEmpty());
  Add("g", 0x6000, true);
  EXPECT_EQ(Dump("1"), "machine 0, 0 6000+9 g");
}

TEST_F(CodeDumpsTest, TheNextProgramOfAProcessHasADumpOfItsOwn) {
  dumps_->SetTime(100);
  Add("f", 0x5000);
  dumps_->Forget(7);
  dumps_->SetTime(200);
  Add("g", 0x5000);
  EXPECT_THAT(Dump("1"), MatchesRegex("machine [0-9]+, 100 5000\\+9 f"));
  EXPECT_THAT(Dump("2"), MatchesRegex("machine [0-9]+, 200 5000\\+9 g"));
}

TEST_F(CodeDumpsTest, OnlyTheUserMayReadThem) {
  Add("f", 0x5000);
  for (const auto& entry : fs::recursive_directory_iterator(directory_)) {
    EXPECT_EQ(entry.status().permissions() & (fs::perms::group_all | fs::perms::others_all),
              fs::perms::none)
        << entry.path();
  }
}

TEST_F(CodeDumpsTest, WhereNoneCanBeMadeThereAreNone) {
  setenv("TMPDIR", "/nowhere", 1);
  Add("f", 0x5000);
  EXPECT_THAT(Mappings(), IsEmpty());
}

}  // namespace
}  // namespace profiler::record
