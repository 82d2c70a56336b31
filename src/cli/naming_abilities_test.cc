#include "src/cli/naming_abilities.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace profiler::cli {
namespace {

std::string TextOf(const naming::NamingHere& here) {
  std::string text;
  for (const record::Ability& ability : NamingAbilities(here)) {
    absl::StrAppend(&text, ability.name, ability.works ? ": yes" : ": no",
                    ability.text.empty() ? "" : ", ", ability.text, "\n");
  }
  return text;
}

TEST(NamingAbilitiesTest, WhatIsThereIsSaid) {
  EXPECT_EQ(TextOf({.has_landlock = true, .servers = "https://debuginfod.debian.net"}),
            "sandbox: yes\n"
            "debuginfod: yes, https://debuginfod.debian.net\n");
}

TEST(NamingAbilitiesTest, AndWhatIsMissing) {
  EXPECT_EQ(TextOf({}),
            "sandbox: yes, only by a seccomp filter, because the kernel has no "
            "Landlock\ndebuginfod: no, $DEBUGINFOD_URLS names no server\n");
  EXPECT_EQ(TextOf({.confinement = absl::UnimplementedError("the kernel has no filters"),
                    .servers = "https://debuginfod.debian.net",
                    .fetching = absl::UnimplementedError("no debuginfod-find")}),
            "sandbox: no, the kernel has no filters: without a sandbox, names are read from files "
            "only with --no-sandbox\ndebuginfod: no, no debuginfod-find\n");
}

}  // namespace
}  // namespace profiler::cli
