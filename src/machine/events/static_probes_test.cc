#include "src/machine/events/static_probes.h"

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "src/format/perf_event/attr.h"
#include "src/machine/events/find_events.h"
#include "src/machine/events/list_events.h"
#include "src/machine/events/testing/static_probe.h"
#include "src/machine/procfs/testing/fake_tree.h"

extern "C" {
[[gnu::used, gnu::section(".probes")]] uint16_t profiler_test_semaphore = 0;
[[gnu::used, gnu::noinline]] void FunctionWithStaticProbes() {
  STATIC_PROBE("0", "shop", "sold", "-4@%edi");
  STATIC_PROBE("profiler_test_semaphore", "shop", "bought", "");
  STATIC_PROBE("0", "shop", "sold", "-4@%edi");
  STATIC_PROBE_AT(".4byte 0", "0", "shop", "not_a_nop", "");
}
}

namespace profiler::events {
namespace {

class StaticProbesTest : public testing::Test {
 protected:
  StaticProbesTest() {
    tree_.Write("sys/bus/event_source/devices/uprobe/type", "8\n");
    Format("ref_ctr_offset", "config:32-63\n");
  }
  void Format(const std::string& term, const std::string& bits) {
    tree_.Write("sys/bus/event_source/devices/uprobe/format/" + term, bits);
  }

  // Returns the names of the events, one per line, or the error.
  std::string Found(const std::string& text) {
    const auto found = FindEvents(tree_.roots(), text, search_);
    if (!found.ok()) return std::string(found.status().message());
    std::vector<std::string> names;
    for (const FoundEvent& event : *found) names.push_back(event.name);
    return absl::StrJoin(names, "\n");
  }

  const std::string self_ = std::filesystem::read_symlink("/proc/self/exe").string();
  procfs::FakeTree tree_;
  ProbeSearch search_;
};

TEST_F(StaticProbesTest, EachPlaceOfAProbeIsAnEvent) {
  EXPECT_EQ(Found(self_ + ":%shop:bought:u"), self_ + ":%shop:bought:u");
  EXPECT_EQ(Found(self_ + ":%shop:sold:u"), "shop:sold:u\nshop:sold_1:u");
  EXPECT_EQ(Found(self_ + ":%sdt_shop:*"), "shop:sold\nshop:bought\nshop:sold_1");
  const auto found = FindEvents(tree_.roots(), self_ + ":%shop:sold");
  ASSERT_TRUE(found.ok()) << found.status();
  const perf_event::Attr &first = (*found)[0].attr, &second = (*found)[1].attr;
  EXPECT_EQ(reinterpret_cast<const char*>(first.config1), self_);
  EXPECT_EQ(first.type, 8u);
  EXPECT_EQ(first.config, 0u);
  EXPECT_GT(second.config2, first.config2);
  EXPECT_EQ((*found)[0].terms.inherit, false);
}

TEST_F(StaticProbesTest, TheKernelGetsTheSemaphore) {
  const auto found = FindEvents(tree_.roots(), self_ + ":%shop:bought");
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_NE(found->front().attr.config >> 32, 0u);
  EXPECT_EQ(found->front().attr.config & UINT32_MAX, 0u);
  std::filesystem::remove_all(tree_.path("sys/bus/event_source/devices/uprobe/format"));
  EXPECT_EQ(Found(self_ + ":%shop:bought"),
            self_ + ":%shop:bought: the probe waits for a semaphore, which needs Linux 4.20");
  EXPECT_EQ(Found(self_ + ":%shop:sold"), "shop:sold\nshop:sold_1");
}

TEST_F(StaticProbesTest, AProbeThatIsMissingOrNoNopIsRefused) {
  for (const char* name : {"not_a_nop", "stolen"}) {
    EXPECT_EQ(Found(absl::StrCat(self_, ":%shop:", name)),
              absl::StrCat(self_, " has no static probe shop:", name, "; `profiler list ", self_,
                           "` shows its probes"));
  }
  EXPECT_EQ(Found("/no/such:%shop:sold"), "/no/such: No such file or directory");
  EXPECT_EQ(Found("sdt_shop:sold"),
            "no program or library that runs or is installed has a static probe sdt_shop:sold; "
            "name the file: -e PATH:%sdt_shop:sold");
}

TEST_F(StaticProbesTest, RunningProgramsDirectoriesAndTheRecordedProgramAreSearched) {
  const auto maps = [&](const std::string& path, uint64_t inode) {
    return absl::StrCat("7f0000000000-7f0000001000 r-xp 00000000 fe:00 ", inode, " ", path, "\n");
  };
  struct stat file;
  ASSERT_EQ(stat(self_.c_str(), &file), 0);
  tree_.Write("proc/7/maps", maps(self_, file.st_ino + 1));
  EXPECT_NE(Found("%shop:bought"), "%shop:bought") << "another file is mapped";
  tree_.Write("proc/7/maps", maps(self_, file.st_ino));
  for (const char* text : {"%shop:bought", "shop:bought", "sdt_shop:bought:u"}) {
    EXPECT_EQ(Found(text), text);
  }
  tree_.Write("proc/7/maps", "");
  tree_.Write("lib/text", "no program");
  std::filesystem::copy_file(self_, tree_.path("lib/libshop.so"));
  search_.directories = {tree_.path("lib"), "/no/such/directory"};
  EXPECT_EQ(Found("%shop:bought"), "%shop:bought");
  // Two files have the probe, but only one is recorded.
  std::filesystem::copy_file(self_, tree_.path("lib/libshop.so.2"));
  const std::string directory = std::filesystem::canonical(tree_.path("lib")).string();
  EXPECT_EQ(Found("%shop:bought"),
            directory + "/libshop.so:%shop:bought\n" + directory + "/libshop.so.2:%shop:bought");
  search_.program = self_;
  EXPECT_EQ(Found("%shop:bought"), "%shop:bought");
}

TEST_F(StaticProbesTest, AListHasEachProbeOnce) {
  const auto places = ReadStaticProbes(self_);
  ASSERT_TRUE(places.ok()) << places.status();
  std::string text;
  for (const ListedEvent& event : ListStaticProbes(*places)) {
    absl::StrAppend(&text, event.name, " [", event.kind, "] ", event.description, "\n");
  }
  EXPECT_EQ(text, self_ + ":%shop:bought [static probe] \n" + self_ +
                      ":%shop:sold [static probe] arguments -4@%edi\n");
}

}  // namespace
}  // namespace profiler::events
