#include "src/format/perf_data/read/byte_source.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "src/base/mapped_file.h"
#include "src/base/unique_fd.h"

namespace profiler::perf_data {
namespace {

// Returns how many pages of the mapped file are in memory.
size_t ResidentPages(std::span<const std::byte> mapped) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((mapped.size() + page - 1) / page);
  EXPECT_EQ(mincore(const_cast<std::byte*>(mapped.data()), mapped.size(), pages.data()), 0);
  return static_cast<size_t>(
      std::count_if(pages.begin(), pages.end(), [](unsigned char flags) { return flags & 1; }));
}

TEST(MappedSourceTest, APayloadIsPassedOverWithoutBeingReadIn) {
  constexpr uint64_t kHole = 256 << 20, kFront = 4096;
  const std::string path = testing::TempDir() + "/sparse";
  const UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600));
  ASSERT_EQ(ftruncate(fd.get(), kFront + kHole + kFront), 0);
  const auto file = MappedFile::FromFd(fd.get(), path);
  ASSERT_TRUE(file.ok()) << file.status();
  MappedSource source(file->bytes(), 0, file->bytes().size());
  source.Peek(kFront);
  source.Advance(kFront);
  const std::span<const std::byte> payload = source.TakePayload(kHole);
  EXPECT_EQ(payload.size(), kHole);
  EXPECT_EQ(payload.data(), file->bytes().data() + kFront);
  EXPECT_EQ(source.Peek(kFront).size(), kFront);
  EXPECT_LT(ResidentPages(file->bytes()), size_t{16384});
  EXPECT_TRUE(source.TakePayload(kHole).empty());  // fewer bytes are left
  EXPECT_EQ(source.offset(), kFront + kHole);
  unlink(path.c_str());
}

}  // namespace
}  // namespace profiler::perf_data
