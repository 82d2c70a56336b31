// Measures the cost per frame on real stacks, from a perf.data file of `perf record --call-graph
// dwarf`, for example of g++.
//
//   perf record -F 2000 --call-graph dwarf,16384 -o gpp.data g++ -O2 -c some.cc
//   UNWIND_RECORDING=gpp.data bazel run -c opt //symbolize/unwind:unwind_benchmark
//
// Parses the records by hand, because this package does not know perf.data. Attributes may have IP,
// TID, TIME, CALLCHAIN, PERIOD, REGS_USER and STACK_USER.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "src/base/byte_reader.h"
#include "src/base/mapped_file.h"
#include "symbolize/address_space.h"
#include "symbolize/unwind/unwind_images.h"

namespace profiler::symbolize {
namespace {

// perf_event.h: bits of sample_type, in the order of their fields.
constexpr uint64_t kIp = 1, kTid = 2, kTime = 4, kAddr = 8, kId = 64, kCpu = 128, kPeriod = 256,
                   kStreamId = 512, kIdentifier = 1 << 16, kCallchain = 32, kRegs = 1 << 12,
                   kStack = 1 << 13;

struct RawSample {
  uint32_t pid = 0;
  AddressSpace addresses;
  RegisterSet registers;
  std::span<const std::byte> stack;
};

class Recording {
 public:
  static Recording& Get() {
    static Recording& recording = *new Recording();
    return recording;
  }

  const std::vector<RawSample>& samples() const { return samples_; }
  UnwindImages NewImages() {
    return UnwindImages(
        [this](ImageId image, uint32_t, const Mapping&) -> std::optional<UnwindImageFiles> {
          OpenedImage opened = OpenImage({.path = paths_[static_cast<size_t>(image)]}, {});
          if (!opened.file) return std::nullopt;
          return UnwindImageFiles{*std::move(opened.file), std::nullopt};
        });
  }

 private:
  Recording() {
    const char* path = std::getenv("UNWIND_RECORDING");
    if (path == nullptr) return;
    auto file = MappedFile::Open(path);
    if (!file.ok()) return;
    file_ = *std::move(file);
    Read();
  }

  uint64_t Word(uint64_t offset) const {
    uint64_t word = 0;
    std::memcpy(&word, file_.bytes().data() + offset, sizeof(word));
    return word;
  }

  void Read() {
    const uint64_t attrs = Word(24);
    const uint64_t data = Word(40);
    const uint64_t data_size = Word(48);
    sample_type_ = Word(attrs + 24);
    mask_ = Word(attrs + 80);
    for (uint64_t at = data; at < data + data_size;) {
      struct {
        uint32_t type;
        uint16_t misc, size;
      } header;
      std::memcpy(&header, file_.bytes().data() + at, sizeof(header));
      if (header.size < sizeof(header)) return;
      ByteReader reader(file_.bytes().subspan(at + 8, header.size - 8));
      if (header.type == 10) ReadMap(reader);
      if (header.type == 3 && (header.misc & 1 << 13) != 0)
        spaces_[reader.Read<uint32_t>()].Clear();
      if (header.type == 7) ReadFork(reader);
      if (header.type == 9) ReadSample(reader);
      at += header.size;
    }
  }

  void ReadMap(ByteReader reader) {
    const auto pid = reader.Read<uint32_t>();
    reader.Skip(4);
    const auto start = reader.Read<uint64_t>();
    const auto size = reader.Read<uint64_t>();
    const auto offset = reader.Read<uint64_t>();
    reader.Skip(32);
    const std::string path(reader.ReadCString());
    const auto [it, is_new] = ids_.try_emplace(path, ImageId(static_cast<uint32_t>(paths_.size())));
    if (is_new) paths_.push_back(path);
    spaces_[pid].Map({{start}, size, FileOffset{offset}, it->second});
  }

  void ReadFork(ByteReader reader) {
    const auto pid = reader.Read<uint32_t>();
    const auto parent = reader.Read<uint32_t>();
    if (pid != parent) spaces_[pid] = spaces_[parent];
  }

  void ReadSample(ByteReader reader) {
    RawSample sample;
    for (const uint64_t bit : {kIdentifier, kIp}) {
      if ((sample_type_ & bit) != 0) reader.Skip(8);
    }
    if ((sample_type_ & kTid) != 0) {
      sample.pid = reader.Read<uint32_t>();
      reader.Skip(4);
    }
    for (const uint64_t bit : {kTime, kAddr, kId, kStreamId, kCpu, kPeriod}) {
      if ((sample_type_ & bit) != 0) reader.Skip(8);
    }
    if ((sample_type_ & kCallchain) != 0) reader.Skip(reader.Read<uint64_t>() * 8);
    if ((sample_type_ & kRegs) == 0 || (sample_type_ & kStack) == 0) return;
    const auto abi = reader.Read<uint64_t>();
    if (abi == 0) return;
    const auto values = reader.ReadBytes(static_cast<size_t>(__builtin_popcountll(mask_)) * 8);
    const auto registers = RegisterSet::FromPerf(kNativeArchitecture, abi, mask_, values);
    const auto size = reader.Read<uint64_t>();
    const auto stack = reader.ReadBytes(size);
    const auto used = reader.Read<uint64_t>();
    if (!reader.ok() || !registers || used > size) return;
    sample.registers = *registers;
    sample.stack = stack.first(used);
    sample.addresses = spaces_[sample.pid];
    samples_.push_back(std::move(sample));
  }

  MappedFile file_;
  uint64_t sample_type_ = 0;
  uint64_t mask_ = 0;
  std::map<uint32_t, AddressSpace> spaces_;
  std::map<std::string, ImageId> ids_;
  std::vector<std::string> paths_;
  std::vector<RawSample> samples_;
};

// A new unwinder with its images.
class Engine {
 public:
  explicit Engine(Recording& recording)
      : recording_(recording), images_(recording.NewImages()), space_(images_) {}

  // Unwinds a sample. Returns the number of its frames.
  size_t Unwind(const RawSample& sample, std::span<const std::byte> stack) {
    space_.Enter(sample.pid, sample.addresses);
    unwinder_.Unwind(sample.registers, {sample.registers.sp(), stack}, space_, {.max_frames = 1000},
                     &chain_);
    return chain_.frames.size();
  }
  size_t UnwindAll(size_t limit = ~size_t{0}) {
    size_t frames = 0;
    for (const RawSample& sample : recording_.samples()) {
      if (limit-- == 0) break;
      frames += Unwind(sample, sample.stack);
    }
    return frames;
  }
  size_t memory_used() const { return images_.memory_used(); }

 private:
  Recording& recording_;
  UnwindImages images_;
  MappedSpace space_;
  Unwinder unwinder_{nullptr};
  UnwoundChain chain_;
};

void CountFrames(benchmark::State& state, size_t frames) {
  state.counters["time_per_frame"] = benchmark::Counter(
      static_cast<double>(frames), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// Measures chains whose functions are already compiled and cached.
void BM_Warm(benchmark::State& state) {
  Recording& recording = Recording::Get();
  if (recording.samples().empty())
    return state.SkipWithError("UNWIND_RECORDING names no recording");
  Engine engine(recording);
  engine.UnwindAll();
  size_t frames = 0;
  for (auto _ : state) frames += engine.UnwindAll();
  CountFrames(state, frames);
  state.counters["frames_per_sample"] = static_cast<double>(frames) /
                                        static_cast<double>(state.iterations()) /
                                        static_cast<double>(recording.samples().size());
  state.counters["table_KiB"] = static_cast<double>(engine.memory_used() >> 10);
}
BENCHMARK(BM_Warm)->Unit(benchmark::kMillisecond);

// Unwinds stacks that were just written, as the recorder gets them from the kernel. Some samples at
// a time are copied (not measured) and then unwound. BM_Warm reads memory that was not used for a
// long time, as a report does.
void BM_WarmFromRing(benchmark::State& state) {
  constexpr size_t kAtOnce = 64;
  Recording& recording = Recording::Get();
  if (recording.samples().empty())
    return state.SkipWithError("UNWIND_RECORDING names no recording");
  Engine engine(recording);
  engine.UnwindAll();
  const std::span<const RawSample> samples = recording.samples();
  std::vector<std::byte> ring;
  size_t frames = 0;
  for (auto _ : state) {
    std::chrono::nanoseconds spent{0};
    for (size_t first = 0; first < samples.size(); first += kAtOnce) {
      const auto some = samples.subspan(first, std::min(kAtOnce, samples.size() - first));
      ring.clear();
      for (const RawSample& sample : some) {
        ring.insert(ring.end(), sample.stack.begin(), sample.stack.end());
      }
      const auto began = std::chrono::steady_clock::now();
      size_t at = 0;
      for (const RawSample& sample : some) {
        frames += engine.Unwind(sample, std::span(ring).subspan(at, sample.stack.size()));
        at += sample.stack.size();
      }
      spent += std::chrono::steady_clock::now() - began;
    }
    state.SetIterationTime(std::chrono::duration<double>(spent).count());
  }
  CountFrames(state, frames);
}
BENCHMARK(BM_WarmFromRing)->Unit(benchmark::kMillisecond)->UseManualTime();

// Measures chains with new tables and empty caches. The images' files are in the page cache.
void BM_Fresh(benchmark::State& state) {
  Recording& recording = Recording::Get();
  if (recording.samples().empty())
    return state.SkipWithError("UNWIND_RECORDING names no recording");
  for (auto _ : state) Engine(recording).UnwindAll(static_cast<size_t>(state.range(0)));
}
BENCHMARK(BM_Fresh)->Arg(1)->Arg(1000)->Arg(1 << 30)->Unit(benchmark::kMillisecond);

// Opens a large image and finds its first rule. The image is node; set UNWIND_IMAGE to the path of
// another image.
void BM_FirstRule(benchmark::State& state) {
  const char* path = std::getenv("UNWIND_IMAGE");
  for (auto _ : state) {
    OpenedImage opened = OpenImage({.path = path == nullptr ? "/usr/bin/node" : path}, {});
    if (!opened.file) return state.SkipWithError("no such image");
    const auto table = CfiTable::Create(opened.file->elf);
    benchmark::DoNotOptimize((*table)->Find((*table)->entry()));
  }
}
BENCHMARK(BM_FirstRule)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace profiler::symbolize
