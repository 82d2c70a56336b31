#include "src/machine/packages/debug_symbols.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"

namespace profiler::packages {
namespace {

// A machine in a directory.
class DebugSymbolsTest : public testing::Test {
 protected:
  DebugSymbolsTest() {
    const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
    root_ = std::string(std::getenv("TEST_TMPDIR")) + "/" + test->name();
  }

  void Put(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void PutDebian() const {
    Put("/etc/os-release", "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\n");
    Put("/var/lib/dpkg/info/other.list", "/.\n/usr\n/usr/sbin/server-tool\n");
    Put("/var/lib/dpkg/info/server-core:amd64.list", "/.\n/usr/sbin\n/usr/sbin/server\n");
  }
  std::string Remedy(const std::string& path, bool has_build_id = true,
                     const std::string& servers = "") const {
    return DebugSymbols(root_, servers).RemedyFor(path, has_build_id);
  }

  static constexpr char kOfPackage[] =
      "install the debug symbols of package server-core (Debian GNU/Linux 12 (bookworm))";
  std::string root_;
};

TEST_F(DebugSymbolsTest, NamesThePackageThatInstalledTheFileAndTheServerOfTheDistribution) {
  PutDebian();
  EXPECT_EQ(Remedy("/usr/sbin/server"),
            std::string(kOfPackage) +
                ", or set DEBUGINFOD_URLS=https://debuginfod.debian.net (sends the build-ids of "
                "such images there)");
}

TEST_F(DebugSymbolsTest, NamesNoServerWithoutABuildIdOrIfTheUserHasChosenOne) {
  PutDebian();
  EXPECT_EQ(Remedy("/usr/sbin/server", /*has_build_id=*/false), kOfPackage);
  EXPECT_EQ(Remedy("/usr/sbin/server", true, "https://debug.example"), kOfPackage);
}

TEST_F(DebugSymbolsTest, PrefersTheServerThatThisMachineIsSetUpFor) {
  PutDebian();
  Put("/etc/debuginfod/company.urls", "https://debug.example https://second.example\n");
  EXPECT_EQ(Remedy("/usr/sbin/server"),
            std::string(kOfPackage) +
                ", or set DEBUGINFOD_URLS=https://debug.example (sends the build-ids of such "
                "images there)");
}

TEST_F(DebugSymbolsTest, FindsAPathOnEitherSideOfAMergedUsr) {
  PutDebian();
  Put("/var/lib/dpkg/info/x.list", "/.\n/usr/lib/libx.so\n/bin/y\n");
  EXPECT_EQ(Remedy("/lib/libx.so", false).find("install the debug symbols of package x ("), 0u);
  EXPECT_EQ(Remedy("/usr/bin/y", false).find("install the debug symbols of package x ("), 0u);
}

TEST_F(DebugSymbolsTest, AFileOfNoPackageWasBuiltHere) {
  PutDebian();
  EXPECT_EQ(Remedy("/opt/mine"), "build it unstripped, because no package installed it");
}

TEST_F(DebugSymbolsTest, SaysNothingThatItDoesNotFind) {
  EXPECT_EQ(Remedy("/usr/sbin/server"), kBuildUnstripped);
  PutDebian();
  Put("/etc/os-release", "ID=unheard-of\n");
  EXPECT_EQ(Remedy("/usr/sbin/server"), "install the debug symbols of package server-core");
}

}  // namespace
}  // namespace profiler::packages
