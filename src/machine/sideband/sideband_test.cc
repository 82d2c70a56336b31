#include "src/machine/sideband/sideband.h"

#include <map>
#include <string>

#include "gtest/gtest.h"
#include "src/format/perf_event/attr.h"
#include "src/format/perf_event/testing/record_builder.h"

namespace profiler::sideband {
namespace {

using perf_event::RecordBuilder;
using symbolize::ImageId;

constexpr uint32_t kPid = 7, kChild = 8;

// A fixture that identifies images by the names of their mappings.
class SidebandTest : public testing::Test, private SidebandUser {
 protected:
  void Take(const RecordBuilder& records) {
    for (const perf_event::RawRecord record : records.records()) {
      EXPECT_EQ(sideband_.Take(record, perf_event::RecordLayout(attr_)), Sideband::Result::kTaken);
    }
  }
  std::string At(uint64_t address, uint32_t pid = kPid) {
    const symbolize::Mapping* const mapping = sideband_.spaces().Process(pid).Find({address});
    return mapping == nullptr ? "" : names_[mapping->image];
  }
  RecordBuilder Records() { return std::move(RecordBuilder(attr_).By(kPid, kPid)); }

 private:
  symbolize::Mapping UserMapping(const perf_event::Mmap2& mmap, symbolize::ImageKind) override {
    const std::string name(mmap.filename);
    const auto [known, is_new] = ids_.try_emplace(name, ImageId(ids_.size()));
    names_[known->second] = name;
    return {RuntimeAddress{mmap.addr}, mmap.len, FileOffset{mmap.pgoff}, known->second};
  }

  const perf_event::Attr attr_ = perf_event::SampleAttr(perf_event::kSampleIp);
  std::map<std::string, ImageId> ids_;
  std::map<ImageId, std::string> names_;
  Sideband sideband_{*this};
};

TEST_F(SidebandTest, MemoryInThePlaceOfAProgramsTextIsItsText) {
  Take(Records()
           .Comm("program", /*exec=*/true)
           .Mmap2(0x10000, 0x8000, 0, "/bin/program")
           .Mmap2(0x80000, 0x8000, 0, "/lib/library.so")
           .Mmap2(0x12000, 0x2000, 0, "//anon"));
  EXPECT_EQ(At(0x12000), "/bin/program");
}

TEST_F(SidebandTest, SoItIsInPieces) {
  Take(Records()
           .Mmap2(0x10000, 0x8000, 0, "/bin/program")
           .Mmap2(0x12000, 0x1000, 0x2000, "/bin/program")
           .Mmap2(0x11000, 0x3000, 0, "/anon_hugepage (deleted)"));
  EXPECT_EQ(At(0x11000), "/bin/program");
  EXPECT_EQ(At(0x13fff), "/bin/program");
}

TEST_F(SidebandTest, MemoryInThePlaceOfALibraryIsMemory) {
  Take(Records()
           .Mmap2(0x10000, 0x8000, 0, "/bin/program")
           .Mmap2(0x80000, 0x8000, 0, "/lib/library.so")
           .Mmap2(0x82000, 0x2000, 0, "//anon"));
  EXPECT_EQ(At(0x82000), "//anon");
}

TEST_F(SidebandTest, MemoryThatReachesBeyondTheProgramIsMemory) {
  Take(Records().Mmap2(0x10000, 0x8000, 0, "/bin/program").Mmap2(0x17000, 0x2000, 0, "//anon"));
  EXPECT_EQ(At(0x17000), "//anon");
  Take(Records().Mmap2(0x10000, UINT64_MAX, 0, "//anon"));
  EXPECT_EQ(At(0x10000), "//anon");
}

TEST_F(SidebandTest, AnotherFileInThePlaceOfTheProgramIsThatFile) {
  Take(Records()
           .Mmap2(0x10000, 0x8000, 0, "/bin/program")
           .Mmap2(0x12000, 0x2000, 0, "/lib/library.so"));
  EXPECT_EQ(At(0x12000), "/lib/library.so");
}

TEST_F(SidebandTest, AChildHasItsParentsProgramUntilItExecutesAnother) {
  Take(Records().Mmap2(0x10000, 0x8000, 0, "/bin/program").Fork(kChild, kChild));
  Take(Records().By(kChild, kChild).Mmap2(0x12000, 0x1000, 0, "//anon"));
  EXPECT_EQ(At(0x12000, kChild), "/bin/program");
  Take(Records()
           .By(kChild, kChild)
           .Comm("other", /*exec=*/true)
           .Mmap2(0x40000, 0x8000, 0, "/bin/other")
           .Mmap2(0x10000, 0x8000, 0, "/lib/library.so")
           .Mmap2(0x12000, 0x1000, 0, "//anon")
           .Mmap2(0x42000, 0x1000, 0, "//anon"));
  EXPECT_EQ(At(0x12000, kChild), "//anon");
  EXPECT_EQ(At(0x42000, kChild), "/bin/other");
}

TEST_F(SidebandTest, TheVdsoOfAProgramWithThirtyTwoBitsIsAnotherImage) {
  Take(Records()
           .Mmap2(0xf7eee000, 0x2000, 0, "[vdso]")
           .By(kChild, kChild)
           .Mmap2(0x7ffff7fc5000, 0x2000, 0, "[vdso]"));
  EXPECT_EQ(At(0xf7eee000), "[vdso32]");
  EXPECT_EQ(At(0x7ffff7fc5000, kChild), "[vdso]");
}

}  // namespace
}  // namespace profiler::sideband
