// Writes the flame graph of a small made-up profile to standard output, for tests in a browser.
// Names contain all kinds of special characters. Arguments: inverted, reverse, large (almost as
// many boxes as are ever drawn).

#include <cstdio>
#include <string>
#include <string_view>

#include "src/views/flamegraph/flame_graph.h"
#include "src/views/flamegraph/testing/profile_for_test.h"

namespace {

// Adds 10 functions with 100 branches each, which are 29 levels deep.
void AddManyStacks(profiler::exports::ProfileForTest& test) {
  for (int function = 0; function < 10; ++function) {
    for (int branch = 0; branch < 100; ++branch) {
      const std::string last = "_" + std::to_string(function) + "_" + std::to_string(branch);
      std::string stack = "clone start_thread function" + std::to_string(function);
      for (int level = 0; level < 29; ++level) stack += " level" + std::to_string(level) + last;
      test.Add("large", stack, 50);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  using profiler::exports::ProfileForTest;
  using profiler::profile::Mode;
  using profiler::symbolize::ImageKind;
  ProfileForTest test;
  const auto kernel = [&](const char* name) {
    test.Define(name, {.name = name,
                       .image = "[kernel.kallsyms]",
                       .kind = ImageKind::kKernel,
                       .mode = Mode::kKernel});
  };
  for (const char* name : {"entry_SYSCALL_64", "do_syscall_64", "ksys_read", "vfs_read",
                           "copy_page_to_iter", "asm_exc_page_fault", "handle_mm_fault"}) {
    kernel(name);
  }
  test.Define("map",
              {.name = "std::map<std::string, int, std::less<void> >::find(std::string_view) const",
               .image = "/usr/bin/server",
               .inlined = {"std::_Rb_tree<std::string>::_M_lower_bound", "operator<"}});
  test.Define("evil", {.name = "evil<&>\"'];]]></script>\n\xff"});
  test.Define("unnamed", {.name = "", .image = "/usr/lib/libstripped.so.6"});
  test.Define("jit", {.name = "LazyCompile:~handleRequest app.js:17",
                      .image = "perf-17.map",
                      .kind = ImageKind::kJit});
  test.Add("server", "_start main ServeForever HandleRequest ParseHeaders map", 400);
  test.Add("server", "_start main ServeForever HandleRequest ParseHeaders", 90);
  test.Add("server", "_start main ServeForever HandleRequest Compress deflate longest_match", 620);
  test.Add("server", "_start main ServeForever HandleRequest Compress deflate", 80);
  test.Add("server", "_start main ServeForever HandleRequest evil", 70);
  test.Add("server", "_start main ServeForever unnamed", 120);
  test.Add("server",
           "_start main ServeForever read entry_SYSCALL_64 do_syscall_64 ksys_read vfs_read "
           "copy_page_to_iter",
           310);
  test.Add("server", "_start main ReadConfig asm_exc_page_fault handle_mm_fault", 60);
  test.Add("node", "_start main uv_run jit unnamed", 190);
  test.Add("node", "_start main uv_run jit read entry_SYSCALL_64 do_syscall_64", 85);
  for (int i = 0; i < 200; ++i) {
    test.Add("worker", "clone start_thread Work step" + std::to_string(i), 1 + i % 3);
  }
  test.profile().losses.lost_samples = 12;
  profiler::exports::FlameGraphOptions options;
  options.title = "A made-up server <&> its worker";
  for (int i = 1; i < argc; ++i) {
    options.inverted |= std::string_view(argv[i]) == "inverted";
    options.reverse |= std::string_view(argv[i]) == "reverse";
    if (std::string_view(argv[i]) == "large") AddManyStacks(test);
  }
  const std::string svg = profiler::exports::FlameGraphSvg(test.profile(), options);
  return std::fwrite(svg.data(), 1, svg.size(), stdout) == svg.size() ? 0 : 1;
}
