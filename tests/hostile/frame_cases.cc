// Programs whose stacks or call frame information lead nowhere, or would take for ever to unwind.

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "symbolize/unwind/testing/cfi_builder.h"
#include "tests/hostile/compressed.h"
#include "tests/hostile/hostile_elf.h"
#include "tests/hostile/scene.h"

namespace profiler::tests {
namespace {

using symbolize::ByteBuilder;
using symbolize::CieSpec;
using symbolize::EhFrameBuilder;
using symbolize::FdeSpec;

constexpr uint64_t kGigabyte = uint64_t{1} << 30;
// Longest call chain that the recorder takes.
constexpr uint32_t kDeep = 8000;

void SpinIn(Scene& scene, const HostileElf& elf, const std::string& name = "evil.so") {
  const std::string path = scene.File(name);
  elf.Write(path);
  scene.GiveAway(path);
  scene.attackers().SpinIn(path);
}

// Returns a file with call frame information. Frames of Descend have the rules `descend`, and the
// frame of Enter ends the stack.
HostileElf ElfWith(const ByteBuilder& descend, const CieSpec& cie = {}) {
  HostileElf elf;
  EhFrameBuilder frames(elf.next_offset(), cie);
  frames.Add({kCode, kEnterSize, {0x07, 16}}).Add({kDescend, kEnd - kDescend, descend});
  elf.Add({.name = ".eh_frame", .bytes = frames.section().bytes(), .flags = SHF_ALLOC});
  elf.Add({.name = ".eh_frame_hdr",
           .bytes = frames.Header(elf.next_offset()).bytes(),
           .flags = SHF_ALLOC});
  elf.AddSymbols();
  return elf;
}

// Defines the CFA by an expression that the profiler's own tables cannot hold.
ByteBuilder CfaExpression(const ByteBuilder& expression) {
  return ByteBuilder{0x0f}.Block(expression);
}

// Returns an expression for rsp + 8 that takes `steps` steps.
ByteBuilder LongExpression(int steps) {
  ByteBuilder expression{0x77, 8};
  for (int i = 0; i < steps; ++i) expression.U8(0x30).U8(0x22);
  return expression;
}

auto With(const ByteBuilder& descend, uint32_t depth = kDeep) {
  return [=](Scene& scene) { SpinIn(scene, ElfWith(descend).Depth(depth).Stairs()); };
}

ByteBuilder Repeated(int op, size_t times, const ByteBuilder& end = {}) {
  ByteBuilder code;
  for (size_t i = 0; i < times; ++i) code.U8(op);
  return code.Bytes(end);
}

// Returns an attack by a file whose .eh_frame consists of the bytes `frames`.
auto WithSection(ByteBuilder frames) {
  return [frames = std::move(frames)](Scene& scene) {
    HostileElf elf;
    elf.Add({.name = ".eh_frame", .bytes = frames.bytes(), .flags = SHF_ALLOC});
    SpinIn(scene, elf.AddSymbols().Depth(100));
  };
}

ByteBuilder EntriesThatAreTheirOwnParents() {
  ByteBuilder frames;
  for (uint32_t i = 0; i < 100'000; ++i) {
    // The second number is the distance to the CIE. A distance of 4 leads to this entry itself; the
    // other two distances lead into the entry or out of the section.
    frames.U32(28).U32(i % 3 == 0 ? 4 : i % 3 == 1 ? 0xfffffff0 : 0x10000000);
    frames.U64(kCode).U64(0x1000).U64(0);
  }
  return frames;
}

ByteBuilder EntriesOfAllLengths() {
  ByteBuilder frames;
  frames.U32(0xffffffff).U64(~uint64_t{0}).U32(0xffffffff).U64(8).U64(0).U32(0xfffffff0);
  return frames;
}

void MillionsOfFunctions(Scene& scene) {
  HostileElf elf;
  EhFrameBuilder frames(elf.next_offset(), {});
  for (uint64_t i = 0; i < 1'000'000; ++i) frames.Add({kEnd - i % 0x1000, i % 7, {}});
  elf.Add({.name = ".eh_frame", .bytes = frames.section().bytes(), .flags = SHF_ALLOC});
  SpinIn(scene, elf.AddSymbols().Depth(100));
}

void AnIndexThatIsNotSorted(Scene& scene) {
  HostileElf elf;
  EhFrameBuilder frames(elf.next_offset(), {});
  for (uint64_t i = 0; i < 500'000; ++i) frames.Add({kEnd - i % 0x1000, 0x1000, {0x0a, 0x0b}});
  elf.Add({.name = ".eh_frame", .bytes = frames.section().bytes(), .flags = SHF_ALLOC});
  elf.Add({.name = ".eh_frame_hdr",
           .bytes = frames.Header(elf.next_offset()).bytes(),
           .flags = SHF_ALLOC});
  SpinIn(scene, elf.AddSymbols().Depth(100));
}

void AnIndexOfGigabytes(Scene& scene) {
  HostileElf elf;
  elf.AddFrames();
  ByteBuilder header{1, 0x1b, 0x03, 0x3b};
  header.U32(0).U32(0x3fffffff);
  elf.Add({.name = ".eh_frame_hdr",
           .bytes = header.bytes(),
           .hole = 8 * kGigabyte,
           .flags = SHF_ALLOC});
  SpinIn(scene, elf.Lying([](auto&, auto& sections) { sections[2].sh_name = 0; }).Depth(100));
}

// Starts a process that maps a file under many names, and runs each mapping from `entry` on. Each
// name is a separate image.
void SpinInLinks(Scene& scene, const HostileElf& elf, int links, uint64_t entry = kDescend) {
  const std::string path = scene.File("evil.so");
  elf.Write(path);
  scene.GiveAway(path);
  const std::vector<std::string> names = Scene::Links(path, links);
  scene.attackers().Start([&](const auto& ready) {
    std::vector<void*> codes;
    for (const std::string& name : names) {
      codes.push_back(MapCode(name));
      if (codes.back() == nullptr) _exit(126);
    }
    ready();
    SpinInTurns(codes, entry);
  });
}

// Maps files with sixty functions, each with the longest possible program of call frame
// information. The first sample in a file has to run all of these programs.
void ManyImagesOfLongPrograms(Scene& scene) {
  constexpr uint64_t kFunctions = 60, kStep = 0x40;
  constexpr size_t kInstructions = 260'000;
  HostileElf elf;
  EhFrameBuilder frames(elf.next_offset(), {});
  frames.Add({kCode, kEnterSize, {0x07, 16}});
  frames.Add({kDescend, kStairs - kDescend, {}});
  const ByteBuilder program = Repeated(0x00, kInstructions);
  for (uint64_t i = 0; i < kFunctions; ++i) frames.Add({kStairs + i * kStep, kStep, program});
  elf.Add({.name = ".eh_frame", .bytes = frames.section().bytes(), .flags = SHF_ALLOC});
  elf.Add({.name = ".eh_frame_hdr",
           .bytes = frames.Header(elf.next_offset()).bytes(),
           .flags = SHF_ALLOC});
  elf.AddSymbols().Stairs();
  SpinInLinks(scene, elf, 40, kStairs);
}

// Maps files with an index of eight million functions.
void ManyImagesOfManyFunctions(Scene& scene) {
  HostileElf elf;
  elf.AddFrames();
  constexpr uint32_t kFunctions = 8'000'000;
  ByteBuilder header{1, 0x1b, 0x03, 0x3b};
  header.U32(0).U32(kFunctions);
  for (uint32_t i = 0; i < kFunctions; ++i) header.U32(i).U32(7);
  elf.Add({.name = ".eh_frame_hdr", .bytes = header.bytes(), .flags = SHF_ALLOC});
  // Removes the name of the valid index, so that the false index is used.
  elf.Lying([](auto&, auto& sections) { sections[2].sh_name = 0; });
  SpinInLinks(scene, elf.AddSymbols(), 40);
}

// Maps files with a million functions and no index, so that each file's section is read completely.
void ManyImagesWithoutIndex(Scene& scene) {
  HostileElf elf;
  EhFrameBuilder frames(elf.next_offset(), {});
  for (uint64_t i = 0; i < 1'000'000; ++i) frames.Add({kEnd - i % 0x1000, 1, {}});
  elf.Add({.name = ".eh_frame", .bytes = frames.section().bytes(), .flags = SHF_ALLOC});
  SpinInLinks(scene, elf.AddSymbols(), 40);
}

// Maps files with a compressed section that is small in the file and large in memory.
void ManyImagesOfBombs(Scene& scene) {
  HostileElf elf;
  elf.Add({.name = ".debug_frame",
           .bytes = ZlibSection(size_t{18} << 20, size_t{18} << 20),
           .flags = SHF_COMPRESSED});
  SpinInLinks(scene, elf.AddSymbols(), 40);
}

// Maps files with compressed debug data (.gnu_debugdata): an ELF file of zeros, small in the file
// and large in memory.
void ManyImagesOfDebugData(Scene& scene) {
  std::string inner =
      HostileElf().Add({.name = ".debug_frame", .bytes = std::vector<std::byte>(100)}).Bytes();
  inner.resize(size_t{60} << 20);
  HostileElf elf;
  elf.Add({.name = ".gnu_debugdata", .bytes = Xz(BytesOf(inner))});
  SpinInLinks(scene, elf.AddSymbols(), 40);
}

// ---- stacks

// Spins with the stack pointer at `stack`.
[[noreturn]] void SpinWithStackAt(uint64_t stack) {
  asm volatile("mov %0, %%rsp\n1: jmp 1b" : : "r"(stack));
  __builtin_unreachable();
}

auto WithStackAt(std::function<uint64_t()> where) {
  return [where = std::move(where)](Scene& scene) {
    scene.attackers().Start([&](const auto& ready) {
      const uint64_t stack = where();
      ready();
      SpinWithStackAt(stack);
    });
  };
}

uint64_t Map(uint64_t size, int protection) {
  void* const start =
      mmap(nullptr, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) _exit(126);
  return reinterpret_cast<uint64_t>(start);
}

// Fills stacks with copies of one return address, which leads to the spinning code.
void StacksOfOneReturnAddress(Scene& scene) {
  const std::string path = scene.File("evil.so");
  ElfWith({}).Write(path);
  scene.GiveAway(path);
  scene.attackers().Start([&](const auto& ready) {
    const auto code = reinterpret_cast<uint64_t>(MapCode(path)) + (kSpin - kCode);
    constexpr uint64_t kSize = uint64_t{64} << 20;
    const uint64_t stack = Map(kSize, PROT_READ | PROT_WRITE);
    for (uint64_t at = 0; at < kSize; at += 8)
      std::memcpy(reinterpret_cast<void*>(stack + at), &code, 8);
    ready();
    asm volatile("mov %0, %%rsp\n mov $-1, %%rdi\n jmp *%1" : : "r"(stack + 64), "r"(code));
  });
}

// Sets frame pointers that point to themselves.
void FramePointersInACircle(Scene& scene) {
  scene.attackers().Start([&](const auto& ready) {
    void* const code = CodeInMemory();
    const uint64_t spin = reinterpret_cast<uint64_t>(code) + (kSpin - kCode);
    const uint64_t stack = Map(0x10000, PROT_READ | PROT_WRITE) + 0x8000;
    const uint64_t frame[] = {stack, spin};
    std::memcpy(reinterpret_cast<void*>(stack), frame, sizeof(frame));
    ready();
    asm volatile("mov %0, %%rsp\n mov %0, %%rbp\n mov $-1, %%rdi\n jmp *%1"
                 :
                 : "r"(stack), "r"(spin));
  });
}

volatile sig_atomic_t handlers_left = 0;

void HandleDeeper(int) {
  handlers_left = handlers_left - 1;
  if (handlers_left > 0) raise(SIGUSR1);
  Spin();
}

void HandlersOnOtherStacks(Scene& scene) {
  scene.attackers().Start([&](const auto& ready) {
    constexpr size_t kSize = size_t{32} << 20;
    stack_t stack{};
    stack.ss_sp = reinterpret_cast<void*>(Map(kSize, PROT_READ | PROT_WRITE));
    stack.ss_size = kSize;
    struct sigaction action {};
    action.sa_handler = HandleDeeper;
    action.sa_flags = SA_ONSTACK | SA_NODEFER;
    if (sigaltstack(&stack, nullptr) != 0 || sigaction(SIGUSR1, &action, nullptr) != 0) _exit(126);
    handlers_left = 2000;
    ready();
    raise(SIGUSR1);
  });
}

// Fills a megabyte of stack with pointers to it. The program in the kernel that reads large stacks
// hands out such words.
[[gnu::noinline]] void SpinOnPointers(const auto& ready) {
  volatile uintptr_t words[(1 << 20) / sizeof(uintptr_t)];
  for (auto& word : words) word = reinterpret_cast<uintptr_t>(&word);
  ready();
  Spin();
}

}  // namespace

std::vector<LiveCase> FrameCases() {
  using enum Runs;
  return {
      {"AStackOfPointers", kAlways,
       [](Scene& scene) {
         for (int i = 0; i < 2; ++i) {
           scene.attackers().Start([](const auto& ready) { SpinOnPointers(ready); });
         }
       }},
      {"LongProgramsOfManyFrames", kAlways,
       With(Repeated(0x00, 40'000, CfaExpression(LongExpression(1))))},
      {"ProgramsOfStatesRemembered", kWithAll, With(Repeated(0x0a, 65'000))},
      {"ProgramsOfStatesRestored", kWithAll,
       With(Repeated(0x0b, 65'000, CfaExpression(LongExpression(1))))},
      {"ExpressionsInACircle", kWithAll, With(CfaExpression({0x77, 8, 0x2f, 0xfd, 0xff}))},
      {"LongExpressionsOfManyFrames", kWithAll, With(CfaExpression(LongExpression(30'000)))},
      {"LongExpressionsOfAllRegisters", kWithAll,
       [](Scene& scene) {
         ByteBuilder program;
         for (int i = 0; i < 16; ++i) {
           if (i != 7) program.U8(0x16).U8(i).Block(LongExpression(2'000));
         }
         SpinIn(scene, ElfWith(program).Depth(kDeep).Stairs());
       }},
      {"FramesThatAreTheirOwnCallers", kWithAll,
       // The return address is the frame's own address. The caller's stack pointer is one byte
       // higher.
       With(CfaExpression({0x77, 1}).Bytes(ByteBuilder{0x16, 16}.Block({0x80, 0})))},
      {"FramesWhoseStackGoesRound", kWithAll,
       // The caller's stack pointer is the frame's stack pointer with one bit flipped.
       With(CfaExpression({0x77, 0, 0x38, 0x27}).Bytes(ByteBuilder{0x16, 16}.Block({0x80, 0})))},
      {"FramesInMemoryThatIsFarAway", kWithAll,
       // Each frame is a page above its callee's frame, far beyond the copied stack.
       With(CfaExpression(ByteBuilder{0x77}.Sleb(4096))
                .Bytes(ByteBuilder{0x16, 16}.Block({0x80, 0})))},
      {"AugmentationsOfNonsense", kWithAll,
       [](Scene& scene) {
         SpinIn(scene, ElfWith({}, {.augmentation = "zPLRSBG\x7f\x01??zzz"}), "evil-1.so");
         SpinIn(scene, ElfWith({}, {.augmentation = "eh"}), "evil-2.so");
         SpinIn(scene, ElfWith({}, {.augmentation = std::string(100'000, 'P')}), "evil-3.so");
         SpinIn(scene,
                ElfWith({}, {.version = 4,
                             .code_alignment = ~uint64_t{0},
                             .data_alignment = INT64_MIN,
                             .return_address = 255}),
                "evil-4.so");
       }},
      {"EntriesThatAreTheirOwnParents", kWithAll, WithSection(EntriesThatAreTheirOwnParents())},
      {"EntriesOfAllLengths", kWithAll, WithSection(EntriesOfAllLengths())},
      {"MillionsOfFunctions", kWithAll, MillionsOfFunctions},
      {"AnIndexThatIsNotSorted", kWithAll, AnIndexThatIsNotSorted},
      {"AnIndexOfGigabytes", kWithAll, AnIndexOfGigabytes},
      {"FramesOfGigabytes", kWithAll,
       [](Scene& scene) {
         HostileElf elf;
         elf.Add({.name = ".eh_frame", .hole = 4 * kGigabyte, .flags = SHF_ALLOC});
         elf.Add({.name = ".debug_frame", .hole = 4 * kGigabyte});
         SpinIn(scene, elf.AddSymbols());
       }},
      {"FramesThatAreABomb", kWithAll,
       [](Scene& scene) {
         HostileElf elf;
         elf.Add({.name = ".debug_frame",
                  .bytes = ZlibSection(kGigabyte / 4, kGigabyte / 4),
                  .flags = SHF_COMPRESSED});
         SpinIn(scene, elf.AddSymbols());
       }},
      {"ManyImagesOfLongPrograms", kWithAll, ManyImagesOfLongPrograms},
      {"ManyImagesOfManyFunctions", kWithAll, ManyImagesOfManyFunctions},
      {"ManyImagesWithoutIndex", kWithAll, ManyImagesWithoutIndex},
      {"ManyImagesOfBombs", kWithAll, ManyImagesOfBombs},
      {"ManyImagesOfDebugData", kWithAll, ManyImagesOfDebugData},
      {"StacksOfOneReturnAddress", kWithAll, StacksOfOneReturnAddress},
      {"FramePointersInACircle", kWithAll, FramePointersInACircle},
      {"HandlersOnOtherStacks", kWithAll, HandlersOnOtherStacks},
      {"AStackAtNought", kWithAll, WithStackAt([] { return uint64_t{0}; })},
      {"AStackAtTheEndOfMemory", kWithAll, WithStackAt([] { return ~uint64_t{7}; })},
      {"AStackThatCannotBeRead", kWithAll,
       WithStackAt([] { return Map(uint64_t{1} << 40, PROT_NONE) + 4096; })},
      {"AStackOfATerabyte", kWithAll,
       WithStackAt([] { return Map(uint64_t{1} << 40, PROT_READ | PROT_WRITE) + 4096; })},
  };
}

}  // namespace profiler::tests
