#include "src/machine/target/cgroup.h"

#include "gtest/gtest.h"
#include "src/machine/procfs/testing/fake_tree.h"

namespace profiler::target {
namespace {

constexpr char kTwo[] =
    "42 36 0:37 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 none rw\n";
constexpr char kMemory[] = "43 36 0:38 / /sys/fs/cgroup/memory rw - cgroup none rw,memory\n";
constexpr char kOne[] = "44 36 0:39 / /sys/fs/cgroup/perf rw - cgroup none rw,cpuset,perf_event\n";

TEST(CgroupTest, TheHierarchyIsThatWithPerfEventsOrVersionTwo) {
  EXPECT_EQ(CgroupMountPoint(std::string(kMemory) + kTwo), "/sys/fs/cgroup/unified");
  EXPECT_EQ(CgroupMountPoint(std::string(kTwo) + kMemory + kOne), "/sys/fs/cgroup/perf");
  EXPECT_EQ(CgroupMountPoint(kMemory), "");
  EXPECT_EQ(CgroupMountPoint("cut - "), "");
}

TEST(CgroupTest, ACgroupIsAFolderBelowIt) {
  procfs::FakeTree tree;
  tree.Write("cgroup/web/cgroup.procs", "");
  tree.Write("proc/self/mountinfo",
             "42 36 0:37 / " + tree.path("cgroup") + " rw - cgroup2 none rw\n");
  EXPECT_TRUE(OpenCgroup(tree.roots(), "/").ok());
  EXPECT_TRUE(OpenCgroup(tree.roots(), "web").ok());
  const auto cgroups = OpenCgroups(tree.roots(), {"web", ""}, /*system_wide=*/true);
  ASSERT_TRUE(cgroups.ok()) << cgroups.status();
  EXPECT_TRUE(cgroups->front().valid());
  EXPECT_FALSE(cgroups->back().valid());
  EXPECT_TRUE(absl::IsInvalidArgument(OpenCgroups(tree.roots(), {"web"}, false).status()));
  EXPECT_TRUE(OpenCgroups(tree.roots(), {""}, false).ok());
  EXPECT_TRUE(absl::IsNotFound(OpenCgroup(tree.roots(), "none").status()));
}

TEST(CgroupTest, AllAreListedByTheirNumbersAndPaths) {
  procfs::FakeTree tree;
  EXPECT_TRUE(ListCgroups(tree.roots()).empty());
  tree.Write("cgroup/web/front/cgroup.procs", "");
  tree.Write("proc/self/mountinfo",
             "42 36 0:37 / " + tree.path("cgroup") + " rw - cgroup2 none rw\n");
  std::string paths;
  for (const CgroupPath& cgroup : ListCgroups(tree.roots())) {
    EXPECT_NE(cgroup.id, 0u);
    paths += cgroup.path + " ";
  }
  EXPECT_EQ(paths, "/ /web /web/front ");
}

}  // namespace
}  // namespace profiler::target
