// Measures naming: opening an image, looking up addresses, reading the kernel's symbols.
//
//   bazel run -c opt //symbolize/names:symbolize_benchmark -- --benchmark_filter=Open
//
// PROFILER_BENCHMARK_IMAGE names the ELF file (default: this system's libc).

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "benchmark/benchmark.h"
#include "src/base/mapped_file.h"
#include "symbolize/address_space.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/names/testing/create_symbolizer.h"
#include "symbolize/symbolizer.h"
#include "symbolize/symbols/demangle.h"
#include "symbolize/symbols/elf_symbols.h"
#include "symbolize/symbols/kernel_symbols.h"
#include "symbolize/symbols/text_file.h"

namespace profiler::symbolize {
namespace {

std::string ImagePath() {
  const char* path = std::getenv("PROFILER_BENCHMARK_IMAGE");
  return path != nullptr ? path : "/lib/x86_64-linux-gnu/libc.so.6";
}

// Returns random offsets in the code of the image.
std::vector<FileOffset> CodeOffsets(size_t count) {
  std::vector<FileOffset> offsets;
  const auto file = MappedFile::Open(ImagePath());
  if (!file.ok()) return offsets;
  const auto image = ElfImage::Parse(file->bytes());
  if (!image.ok()) return offsets;
  const ElfSection* text = image->FindSection(".text");
  if (text == nullptr) return offsets;
  std::mt19937_64 random(1);
  for (size_t i = 0; i < count; ++i) {
    offsets.push_back({text->offset.value + random() % text->size});
  }
  return offsets;
}

void OpenImageSymbols(benchmark::State& state) {
  const auto file = MappedFile::Open(ImagePath());
  if (!file.ok()) return state.SkipWithError("no such image");
  size_t symbols = 0;
  for (auto _ : state) {
    const auto image = ElfImage::Parse(file->bytes());
    symbols = ReadElfSymbols(*image, *image).symbols().size();
  }
  state.counters["symbols"] = static_cast<double>(symbols);
}
BENCHMARK(OpenImageSymbols)->Unit(benchmark::kMillisecond);

// Opens the image and names 20,000 distinct addresses, including demangling, and inlined calls and
// lines if there is debug information. Comparable with llvm-symbolizer.
void NameAddressesCold(benchmark::State& state) {
  const std::vector<FileOffset> offsets = CodeOffsets(20000);
  ImageSpec spec;
  spec.path = ImagePath();
  for (auto _ : state) {
    const auto symbolizer = CreateSymbolizer({});
    const ImageId image = symbolizer->AddImage(spec);
    for (FileOffset offset : offsets) benchmark::DoNotOptimize(symbolizer->Name(image, offset));
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * offsets.size()));
}
BENCHMARK(NameAddressesCold)->Unit(benchmark::kMillisecond);

void NameAddressesWarm(benchmark::State& state) {
  const std::vector<FileOffset> offsets = CodeOffsets(20000);
  ImageSpec spec;
  spec.path = ImagePath();
  const auto symbolizer = CreateSymbolizer({});
  const ImageId image = symbolizer->AddImage(spec);
  for (auto _ : state) {
    for (FileOffset offset : offsets) benchmark::DoNotOptimize(symbolizer->Name(image, offset));
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * offsets.size()));
}
BENCHMARK(NameAddressesWarm)->Unit(benchmark::kMillisecond);

void ReadKallsyms(benchmark::State& state) {
  constexpr size_t kLimit = size_t{256} << 20;
  for (auto _ : state) benchmark::DoNotOptimize(ReadTextFile("/proc/kallsyms", kLimit));
}
BENCHMARK(ReadKallsyms)->Unit(benchmark::kMillisecond);

void ParseKallsyms(benchmark::State& state) {
  constexpr size_t kLimit = size_t{256} << 20;
  const auto text = ReadTextFile("/proc/kallsyms", kLimit);
  if (!text.ok()) return state.SkipWithError("no kallsyms");
  for (auto _ : state) benchmark::DoNotOptimize(KernelSymbols::Parse(*text));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text->size()));
}
BENCHMARK(ParseKallsyms)->Unit(benchmark::kMillisecond);

void DemangleName(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(Demangle(
        "_ZNSt8_Rb_treeIiSt4pairIKiSsESt10_Select1stIS2_ESt4lessIiESaIS2_EE8_M_eraseEPSt13_"
        "Rb_tree_nodeIS2_E"));
  }
}
BENCHMARK(DemangleName);

// Forks a child that execs and maps a few images, like a compiler driver.
void ForkAndExec(benchmark::State& state) {
  AddressSpaces spaces;
  for (uint64_t i = 0; i < 100; ++i) {
    spaces.Process(1).Map(
        {{i * 0x10000}, 0x8000, FileOffset{0}, ImageId(static_cast<uint32_t>(i))});
  }
  uint32_t pid = 2;
  for (auto _ : state) {
    spaces.Fork(1, pid);
    spaces.Exec(pid);
    for (uint64_t i = 0; i < 6; ++i) {
      spaces.Process(pid).Map(
          {{i * 0x10000}, 0x8000, FileOffset{0}, ImageId(static_cast<uint32_t>(i))});
    }
    pid = 2 + (pid - 1) % 32768;
  }
}
BENCHMARK(ForkAndExec);

}  // namespace
}  // namespace profiler::symbolize
