// A libFuzzer program for all targets: `fuzzer --target=NAME [libFuzzer's flags] CORPUS…`. Run
// `fuzzer --target=NAME --write_seeds=DIRECTORY` to make a first corpus.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "tests/fuzz/fuzz_target.h"

namespace profiler::fuzz {
namespace {

const FuzzTarget* target = nullptr;

[[noreturn]] void Usage() {
  std::fprintf(stderr, "--target=NAME, one of:\n");
  for (const FuzzTarget& known : Targets()) {
    std::fprintf(stderr, "  %-12s %s\n", std::string(known.name).c_str(),
                 std::string(known.what).c_str());
  }
  std::exit(2);
}

[[noreturn]] void WriteSeeds(const std::string& directory) {
  size_t number = 0;
  for (const Bytes& seed : target->seeds()) {
    std::ofstream out(directory + "/" + std::string(target->name) + "." + std::to_string(number++),
                      std::ios::binary);
    out.write(reinterpret_cast<const char*>(seed.data()),
              static_cast<std::streamsize>(seed.size()));
  }
  std::exit(0);
}

}  // namespace
}  // namespace profiler::fuzz

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  using namespace profiler::fuzz;  // NOLINT: the entry points have to be in no namespace
  constexpr std::string_view kTarget = "--target=", kWriteSeeds = "--write_seeds=";
  std::string seed_directory;
  for (int i = 1; i < *argc; ++i) {
    const std::string_view argument = (*argv)[i];
    if (argument.starts_with(kTarget)) target = FindTarget(argument.substr(kTarget.size()));
    if (argument.starts_with(kWriteSeeds)) seed_directory = argument.substr(kWriteSeeds.size());
  }
  if (target == nullptr) Usage();
  if (!seed_directory.empty()) WriteSeeds(seed_directory);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  profiler::fuzz::target->run({reinterpret_cast<const std::byte*>(data), size});
  return 0;
}
