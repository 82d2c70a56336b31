#include "src/analysis/frame_types.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/profile/testing/handmade_profile.h"

namespace profiler::analysis {
namespace {

using symbolize::ImageKind;

// Returns "name type" for each frame, in the order of the stacks. The images "jit" and "[python]"
// have a JIT's code.
std::string TypesOf(profile::HandmadeProfile& builder) {
  profile::Profile& profile = builder.profile();
  for (profile::Image& image : profile.images) {
    const bool is_python = profile.text(image.name) == "[python]";
    if (profile.text(image.name) != "jit" && !is_python) continue;
    image.kind = is_python ? ImageKind::kJitDump : ImageKind::kJit;
    image.pid = profile.threads.front().pid;
  }
  const std::vector<FrameType> types = FrameTypesOf(profile);
  std::string text;
  for (uint32_t i = 0; i < profile.frames.size(); ++i) {
    const auto lines = profile.LinesOf(profile.frames[i]);
    const std::string_view name = NameOf(types[i]);
    text += (lines.empty() ? "?" : std::string(profile.text(profile[lines.back().symbol].name))) +
            " " + (name.empty() ? "-" : std::string(name)) + "\n";
  }
  return text;
}

std::string TypesIn(const std::vector<std::string>& chain) {
  profile::HandmadeProfile builder;
  builder.Sample("app", chain);
  return TypesOf(builder);
}

TEST(FrameTypes, OfJavaScriptAreV8sAndThoseOfNodeItselfNative) {
  EXPECT_EQ(TypesIn({"main@node", "JS:*work /app.js:1:2@jit", "RegExp:a+@jit", "0x10@jit",
                     "read@libc.so.6", "vfs_read@[kernel.kallsyms]"}),
            "main native\nJS:*work /app.js:1:2 v8js\nRegExp:a+ v8js\n? v8js\nread native\nvfs_read "
            "kernel\n");
}

TEST(FrameTypes, OfAJitAreThoseOfTheOnlyMachineInTheProcess) {
  EXPECT_EQ(TypesIn({"start_thread@libc.so.6", "JavaMain@libjvm.so", "Interpreter@jit",
                     "int App.work(int)@jit"}),
            "start_thread native\nJavaMain native\nInterpreter jvm\nint App.work(int) jvm\n");
  EXPECT_EQ(TypesIn({"main@beam.smp", "lists:map/2@jit"}), "main native\nlists:map/2 beam\n");
}

TEST(FrameTypes, OfAJitThatNobodyKnowsAreUnknown) {
  EXPECT_EQ(TypesIn({"main@app", "made@jit", "0x10@jit", "0x1234"}),
            "main native\nmade -\n? -\n? -\n");
  // With two machines in one process, the owner of the code is unknown.
  EXPECT_EQ(TypesIn({"main@libjvm.so", "Run@libcoreclr.so", "work@jit"}),
            "main native\nRun native\nwork -\n");
}

TEST(FrameTypes, OfPythonAreItsTrampolines) {
  EXPECT_EQ(TypesIn({"main@python3.12", "py::work:/app.py@jit", "numba_made@jit"}),
            "main native\npy::work:/app.py cpython\nnumba_made -\n");
}

TEST(FrameTypes, OfPythonAreTheFunctionsThatTheRecorderFound) {
  EXPECT_EQ(TypesIn({"main@python3.12", "__main__.work@[python]"}),
            "main native\n__main__.work cpython\n");
}

TEST(FrameTypes, OfGoAreKnownByTheFormOfTheirNames) {
  EXPECT_EQ(TypesIn({"runtime.goexit@app", "main.(*T).work@app", "example.com/x.F[...]@app",
                     "work.isra.0@app", "work@app", "read@libc.so.6"}),
            "runtime.goexit go\nmain.(*T).work go\nexample.com/x.F[...] go\nwork.isra.0 native\n"
            "work native\nread native\n");
  EXPECT_EQ(TypesIn({"main.work@app"}), "main.work native\n");
}

TEST(FrameTypes, OfRustAreKnownByTheFormOfTheirNames) {
  EXPECT_EQ(TypesIn({"main@app", "std::rt::lang_start::{{closure}}@app", "app::work@app",
                     "std::sort(int*, int*)@app"}),
            "main native\nstd::rt::lang_start::{{closure}} rust\napp::work rust\nstd::sort(int*, "
            "int*) native\n");
  EXPECT_EQ(TypesIn({"app::work@app"}), "app::work native\n");
}

TEST(FrameTypes, OfTheFrameThatSaysWhyAChainIsCutAreUnknown) {
  EXPECT_EQ(TypesIn({"[cut: stack too short]", "main@app"}),
            "[cut: stack too short] -\nmain native\n");
}

TEST(FrameTypes, FollowTheSourceFilesWhereTheseAreKnown) {
  profile::HandmadeProfile builder;
  builder.Sample("app", {"a@app", "b@app", "c::d@app", "e@jit"});
  profile::Profile& profile = builder.profile();
  const auto set_file = [&](uint32_t frame, std::string_view file) {
    profile.lines[profile.frames[frame].first_line].file = profile.strings.Intern(file);
  };
  set_file(0, "/src/a.rs");
  set_file(1, "/src/b.go");
  set_file(2, "/src/c.cc");
  set_file(3, "/src/App.java");
  EXPECT_EQ(TypesOf(builder), "a rust\nb go\nc::d native\ne jvm\n");
}

}  // namespace
}  // namespace profiler::analysis
