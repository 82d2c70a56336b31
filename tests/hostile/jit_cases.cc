// Maps and dumps of JITs that have false contents, or that are not regular files.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "src/base/unique_fd.h"
#include "symbolize/symbols/testing/jit_dump_builder.h"
#include "tests/hostile/hostile_elf.h"
#include "tests/hostile/scene.h"

namespace profiler::tests {
namespace {

using symbolize::JitDumpBuilder;

std::string MapPath(pid_t pid) { return "/tmp/perf-" + std::to_string(pid) + ".map"; }

// Returns an attack by a process with code in memory. `put` writes the process's JIT map; its
// arguments are the map's path and the code's address.
auto Map(std::function<void(const std::string& path, uint64_t code)> put) {
  return [put = std::move(put)](Scene& scene) {
    scene.attackers().Start([&](const auto& ready) {
      void* const code = CodeInMemory();
      put(MapPath(getpid()), reinterpret_cast<uint64_t>(code));
      ready();
      SpinAt(code);
    });
  };
}

auto MapOf(std::string text) {
  return Map([text = std::move(text)](const std::string& path, uint64_t) { WriteAs(path, text); });
}

std::string Line(uint64_t start, uint64_t size, const std::string& name) {
  char numbers[64];
  snprintf(numbers, sizeof(numbers), "%llx %llx ", static_cast<unsigned long long>(start),
           static_cast<unsigned long long>(size));
  return numbers + name + "\n";
}

void SparseMap(const std::string& path, uint64_t code) {
  WriteAs(path, Line(code, 0x1000, "evil_jit"));
  if (truncate(path.c_str(), off_t{1} << 30) != 0) _exit(126);
}

void DenseMap(const std::string& path, uint64_t code) {
  std::ofstream out(path, std::ios::binary);
  std::string piece;
  for (uint64_t i = 0; piece.size() < (size_t{1} << 20); ++i) {
    piece += Line(code + i % 0x1000, 0x10, "evil_jit_" + std::to_string(i));
  }
  for (int i = 0; i < 400; ++i) out << piece;
}

void MapWithoutEnds(const std::string& path, uint64_t code) {
  std::string text = Line(code, 0x1000, "evil_jit");
  text.pop_back();
  WriteAs(path, text + std::string(size_t{200} << 20, 'e'));
}

void MapOfOverlaps(const std::string& path, uint64_t code) {
  std::string text;
  for (uint64_t i = 0; i < 500'000; ++i) {
    text += Line(code - 500'000 + i, 1'000'000 - 2 * i, "evil");
  }
  WriteAs(path, text);
}

std::string ExtremeMap() {
  const uint64_t most = ~uint64_t{0};
  return Line(most, 1, "evil") + Line(most, most, "evil") + Line(0, most, "evil") +
         Line(1, 0, "evil") + Line(0, 0, "evil") + "ffffffffffffffffffff fffffffffffffffff evil\n" +
         "-1 -1 evil\nzz zz\n\n   \n0x10 0x20 evil\n" + std::string("10 10 e\0vil\n", 12);
}

// An attacker writes the victim's JIT map. The map's names must not be used.
void AMapOfSomebodyElse(Scene& scene) {
  const std::string path = MapPath(scene.victim());
  scene.attackers().Start(
      [&](const auto&) { WriteAs(path, Line(0, uint64_t{1} << 48, "evil_jit")); });
}

void LinkedMap(Scene& scene, const std::string& target) {
  Map([&](const std::string& path, uint64_t) {
    if (symlink(target.c_str(), path.c_str()) != 0) _exit(126);
  })(scene);
}

// ---- dumps

// Starts a process that runs code in memory. It writes the bytes `dump` to a file and maps that
// file as code, which announces a JIT dump to the profiler.
void SpinWithDump(Scene& scene, const std::string& dump, bool grows = false) {
  scene.attackers().Start([&](const auto& ready) {
    const std::string path = scene.File("jit-" + std::to_string(getpid()) + ".dump");
    WriteAs(path, dump);
    const UniqueFd file(open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC));
    if (mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file.get(), 0) == MAP_FAILED) {
      _exit(126);
    }
    if (grows && fork() == 0) {
      // Lets the dump grow by at most 256 MiB.
      const std::string more(size_t{1} << 20, '\1');
      for (int i = 0; i < 256; ++i) {
        if (write(file.get(), more.data(), more.size()) < 0) _exit(0);
        usleep(2'000);
      }
      _exit(0);
    }
    void* const code = CodeInMemory();
    ready();
    SpinAt(code);
  });
}

auto Dump(std::string bytes) {
  return [bytes = std::move(bytes)](Scene& scene) { SpinWithDump(scene, bytes); };
}

std::string DumpOfManyCodes() {
  JitDumpBuilder dump;
  for (uint64_t i = 0; i < 500'000; ++i)
    dump.Load(i, 0x1000 + i, i, "evil_jit", std::string(64, '\x90'));
  return dump.bytes();
}

std::string DumpOfMoves() {
  JitDumpBuilder dump;
  dump.Load(1, 0x1000, 1, "evil_jit", std::string(64, '\x90'));
  for (uint64_t i = 0; i < 500'000; ++i) dump.Move(i, 0x1000 + i, 1 << 20, 1);
  return dump.bytes();
}

// Returns the body of a JIT_CODE_LOAD record: pid, tid, vma, address, `size` as the code's size,
// index, then `name_and_code`.
std::string LoadOfSize(uint64_t size, const std::string& name_and_code) {
  std::string body(8, '\0');
  for (const uint64_t field : {uint64_t{0x1000}, uint64_t{0x1000}, size, uint64_t{1}}) {
    body.append(reinterpret_cast<const char*>(&field), sizeof(field));
  }
  return body + name_and_code;
}

}  // namespace

std::vector<LiveCase> JitCases() {
  using enum Runs;
  return {
      {"AMapOfAGigabyteOfHoles", kWithAll, Map(SparseMap)},
      {"AMapOfMillionsOfLines", kWithAll, Map(DenseMap)},
      {"AMapOfOneLine", kWithAll, Map(MapWithoutEnds)},
      {"AMapOfOverlaps", kWithAll, Map(MapOfOverlaps)},
      {"AMapOfExtremes", kWithAll, MapOf(ExtremeMap())},
      {"AMapOfControlCharacters", kWithAll, Map([](const std::string& path, uint64_t code) {
         WriteAs(path, Line(code, 0x1000, "evil\033[2J\r\b\177\xff"));
       })},
      {"AMapThatIsAFifo", kAlways,
       [](Scene& scene) {
         const pid_t pid = scene.attackers().Start([&](const auto& ready) {
           void* const code = CodeInMemory();
           mkfifo(MapPath(getpid()).c_str(), 0666);
           ready();
           SpinAt(code);
         });
         scene.ForbidToOpen(MapPath(pid));
       }},
      {"AMapThatIsALinkToAFifo", kWithAll,
       [](Scene& scene) { LinkedMap(scene, scene.MakeFifo("fifo")); }},
      {"AMapThatIsALinkToADevice", kWithAll,
       [](Scene& scene) { LinkedMap(scene, scene.MakeDevice("device")); }},
      {"AMapThatIsALinkToPasswords", kWithAll,
       [](Scene& scene) { LinkedMap(scene, "/etc/shadow"); },
       [](Scene&, const std::string& report) {
         EXPECT_THAT(report, testing::Not(testing::HasSubstr("root:")));
       }},
      {"AMapOfSomebodyElse", kAlways, AMapOfSomebodyElse},
      {"ADumpWhoseRecordsLie", kWithAll,
       Dump(JitDumpBuilder().bytes() + std::string(16, '\0') + std::string(4, '\xff') +
            std::string(1000, '\0'))},
      {"ADumpWhoseNameHasNoEnd", kWithAll,
       Dump(JitDumpBuilder().Record(0, 1, LoadOfSize(4, std::string(1'000'000, 'e'))).bytes())},
      {"ADumpOfCodeOfGigabytes", kWithAll,
       Dump(JitDumpBuilder()
                .Record(0, 1, LoadOfSize(uint64_t{1} << 32, std::string("evil\0code", 9)))
                .Record(0, 1, LoadOfSize(~uint64_t{0}, std::string("evil\0code", 9)))
                .bytes())},
      {"ADumpThatIsCut", kWithAll,
       [](Scene& scene) {
         const std::string bytes = JitDumpBuilder().Load(1, 0x1000, 1, "evil", "code").bytes();
         for (const size_t size : {size_t{1}, size_t{39}, size_t{41}, bytes.size() - 1}) {
           SpinWithDump(scene, bytes.substr(0, size));
         }
       }},
      {"ADumpOfManyCodes", kWithAll, Dump(DumpOfManyCodes())},
      {"ADumpOfManyMoves", kWithAll, Dump(DumpOfMoves())},
      {"ADumpThatGrows", kWithAll,
       [](Scene& scene) {
         SpinWithDump(scene, JitDumpBuilder().Load(1, 0x1000, 1, "evil", "code").bytes(), true);
       }},
      {"ADumpOfHoles", kWithAll,
       [](Scene& scene) {
         scene.attackers().Start([&](const auto& ready) {
           const std::string path = scene.File("jit-" + std::to_string(getpid()) + ".dump");
           WriteAs(path, JitDumpBuilder().bytes());
           if (truncate(path.c_str(), off_t{8} << 30) != 0) _exit(126);
           if (MapCode(path) == nullptr) _exit(126);
           ready();
           SpinAt(CodeInMemory());
         });
       }},
  };
}

}  // namespace profiler::tests
