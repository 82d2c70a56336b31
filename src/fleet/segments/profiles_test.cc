#include <array>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "src/base/text.h"
#include "src/fleet/segments/profile_of_windows.h"
#include "src/fleet/segments/testing/window_text.h"
#include "src/fleet/segments/window_of_profile.h"
#include "src/importers/profile_maker.h"

namespace profiler::fleet {
namespace {

using importers::FunctionLine;
using importers::ProfileMaker;

ProcessFacts Nothing(uint32_t, std::string_view) { return {}; }

TEST(WindowOf, KeepsNamesAndSumsUpWhatOnlyAddressesToldApart) {
  ProfileMaker maker;
  const auto event = maker.Event("cpu-clock");
  const auto image = maker.Image(symbolize::ImageKind::kUser, "/usr/bin/app");
  const std::array<FunctionLine, 1> main = {{{.name = "main"}}};
  // `read` is inlined into `parse`.
  const std::array<FunctionLine, 2> inlined = {{{.name = "read"}, {.name = "parse"}}};
  for (const uint32_t tid : {10u, 11u}) {
    const auto thread = maker.Thread(10, tid, "worker");
    const auto root =
        maker.Stack(profile::kNoStack,
                    maker.Frame({.functions = main, .image = image, .address = 0x1000 + tid}));
    const auto leaf =
        maker.Stack(root, maker.Frame({.functions = inlined, .image = image, .address = 0x2000}));
    maker.Add({.event = event, .thread = thread, .stack = leaf, .count = 2, .period = 20});
  }
  const Window window =
      WindowOf(std::move(maker).Finish(), [](uint32_t pid, std::string_view name) {
        return ProcessFacts{.service = absl::StrCat(View(name), "-", pid),
                            .container = {},
                            .pod = {},
                            .build_id = "ab"};
      });
  EXPECT_EQ(RowsAsText(window), "cpu-clock worker-10 worker ab | main<app> parse<app> read 4 40\n");
}

TEST(WindowOf, CallsCodeWithoutANameByItsImageAndCodeOfAJitByThat) {
  ProfileMaker maker;
  const auto event = maker.Event("cpu-clock");
  const auto thread = maker.Thread(10, 10, "app");
  const std::array<FunctionLine, 1> hot = {{{.name = "hot"}}};
  const auto library = maker.Image(symbolize::ImageKind::kUser, "/usr/lib/libx.so");
  const auto jit = maker.Image(symbolize::ImageKind::kJit, "/tmp/perf-10.map", {}, 10);
  const auto root = maker.Stack(profile::kNoStack,
                                maker.Frame({.functions = {}, .image = library, .address = 0x10}));
  const auto leaf =
      maker.Stack(root, maker.Frame({.functions = hot, .image = jit, .address = 0x20}));
  maker.Add({.event = event, .thread = thread, .stack = leaf});
  EXPECT_EQ(RowsAsText(WindowOf(std::move(maker).Finish(), Nothing)),
            "cpu-clock app | [libx.so]<libx.so> hot<[JIT]> 1 1\n");
}

TEST(WindowOf, HasTheTypeOfEachFrameAndTheBuildIdOfEachImage) {
  ProfileMaker maker;
  const auto event = maker.Event("cpu-clock");
  const auto thread = maker.Thread(10, 10, "node");
  const std::array<std::byte, 2> build_id = {std::byte{0xab}, std::byte{0x12}};
  const std::array<FunctionLine, 1> main = {{{.name = "main"}}}, work = {{{.name = "JS:work"}}},
                                    read = {{{.name = "read"}}};
  const auto node = maker.Image(symbolize::ImageKind::kUser, "/usr/bin/node", build_id);
  const auto jit = maker.Image(symbolize::ImageKind::kJit, "/tmp/perf-10.map", {}, 10);
  const auto library = maker.Image(symbolize::ImageKind::kUser, "/lib/x.so");
  profile::StackId stack = profile::kNoStack;
  stack = maker.Stack(stack, maker.Frame({.functions = main, .image = node, .address = 0x10}));
  stack = maker.Stack(stack, maker.Frame({.functions = work, .image = jit, .address = 0x20}));
  stack = maker.Stack(stack, maker.Frame({.functions = read, .image = library, .address = 0x30}));
  maker.Add({.event = event, .thread = thread, .stack = stack});
  const profile::Profile profile = std::move(maker).Finish();
  const Window window = WindowOf(profile, Nothing, [&](const profile::Image& image) {
    return absl::StrCat("hash of ", View(profile.text(image.long_name)));
  });
  std::string text;
  for (const Frame& frame : window.frames) {
    for (const StringId part : {frame.function, frame.image, frame.type, frame.build_id}) {
      absl::StrAppend(&text, View(window.strings[part]), "|");
    }
  }
  EXPECT_EQ(text,
            "main|node|native|gnu:ab12|JS:work|[JIT]|v8js||"
            "read|x.so|native|htlhash:hash of /lib/x.so|");
}

TEST(ProfileOf, HasTheSamplesOfAllWindowsUnderTheNamesOfTheirServices) {
  Window first = WebAndDatabase().Finish();
  Window second = WebAndDatabase().Finish();
  second.begin = first.begin + 10'000'000'000;
  std::vector<Window> windows;
  windows.push_back(std::move(first));
  windows.push_back(std::move(second));
  const profile::Profile profile = ProfileOf(windows);
  EXPECT_EQ(profile.events.size(), 1u);
  EXPECT_EQ(profile.events.front().samples, 12u);
  EXPECT_EQ(profile.events.front().period, 1200u);
  EXPECT_EQ(profile.quanta.begins.size(), 2u);
  EXPECT_EQ(RowsAsText(WindowOf(profile, Nothing)),
            "cpu-clock db/postgres | main<postgres> do_syscall_64<[kernel.kallsyms]> 2 200\n"
            "cpu-clock web/nginx | main<nginx> inline<[unknown]> parse<nginx> 4 400\n"
            "cpu-clock web/nginx | main<nginx> poll<libc.so.6> 6 600\n");
}

}  // namespace
}  // namespace profiler::fleet
