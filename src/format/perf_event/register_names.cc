#include "src/format/perf_event/register_names.h"

#include <sys/utsname.h>

#include <span>

namespace profiler::perf_event {
namespace {

constexpr std::string_view kX86[] = {"AX", "BX",    "CX",  "DX",  "SI",  "DI",  "BP",  "SP",
                                     "IP", "FLAGS", "CS",  "SS",  "DS",  "ES",  "FS",  "GS",
                                     "R8", "R9",    "R10", "R11", "R12", "R13", "R14", "R15"};
// Each vector register has two bits, because its 128 bits are two words.
constexpr int kX86FirstVector = 32;
constexpr std::string_view kX86Vectors[] = {"XMM0",  "XMM1",  "XMM2",  "XMM3", "XMM4",  "XMM5",
                                            "XMM6",  "XMM7",  "XMM8",  "XMM9", "XMM10", "XMM11",
                                            "XMM12", "XMM13", "XMM14", "XMM15"};

constexpr std::string_view kArm64[] = {
    "x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "x8",  "x9",  "x10",
    "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",
    "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "lr",  "sp",  "pc"};
constexpr int kArm64VectorGranule = 46;

constexpr std::string_view kArm[] = {"r0", "r1", "r2",  "r3", "r4", "r5", "r6", "r7",
                                     "r8", "r9", "r10", "fp", "ip", "sp", "lr", "pc"};

constexpr std::string_view kRiscv[] = {"pc", "ra", "sp",  "gp",  "tp", "t0", "t1", "t2",
                                       "s0", "s1", "a0",  "a1",  "a2", "a3", "a4", "a5",
                                       "a6", "a7", "s2",  "s3",  "s4", "s5", "s6", "s7",
                                       "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};

constexpr std::string_view kPowerpc[] = {
    "r0",   "r1",  "r2",  "r3",    "r4",   "r5",  "r6",    "r7",   "r8",   "r9",  "r10",     "r11",
    "r12",  "r13", "r14", "r15",   "r16",  "r17", "r18",   "r19",  "r20",  "r21", "r22",     "r23",
    "r24",  "r25", "r26", "r27",   "r28",  "r29", "r30",   "r31",  "nip",  "msr", "orig_r3", "ctr",
    "link", "xer", "ccr", "softe", "trap", "dar", "dsisr", "sier", "mmcra"};

constexpr std::string_view kS390[] = {
    "R0",  "R1",  "R2",   "R3",   "R4",   "R5",   "R6",   "R7",   "R8",   "R9",  "R10", "R11",
    "R12", "R13", "R14",  "R15",  "FP0",  "FP1",  "FP2",  "FP3",  "FP4",  "FP5", "FP6", "FP7",
    "FP8", "FP9", "FP10", "FP11", "FP12", "FP13", "FP14", "FP15", "MASK", "PC"};

std::span<const std::string_view> NamesOf(Architecture architecture) {
  switch (architecture) {
    case Architecture::kX86:
      return kX86;
    case Architecture::kArm64:
      return kArm64;
    case Architecture::kArm:
      return kArm;
    case Architecture::kRiscv:
      return kRiscv;
    case Architecture::kPowerpc:
      return kPowerpc;
    case Architecture::kS390:
      return kS390;
    case Architecture::kUnknown:
      break;
  }
  return {};
}

}  // namespace

Architecture ArchitectureOf(std::string_view machine) {
  const bool x86_32 = machine.size() == 4 && machine.front() == 'i' && machine.ends_with("86");
  if (machine == "x86_64" || x86_32) return Architecture::kX86;
  if (machine.starts_with("aarch64") || machine == "arm64") return Architecture::kArm64;
  if (machine.starts_with("arm")) return Architecture::kArm;
  if (machine.starts_with("riscv")) return Architecture::kRiscv;
  if (machine.starts_with("ppc") || machine.starts_with("powerpc")) return Architecture::kPowerpc;
  if (machine.starts_with("s390")) return Architecture::kS390;
  return Architecture::kUnknown;
}

Architecture NativeArchitecture() {
  utsname names;
  return uname(&names) == 0 ? ArchitectureOf(names.machine) : Architecture::kUnknown;
}

std::string_view RegisterName(Architecture architecture, int bit) {
  const std::span<const std::string_view> names = NamesOf(architecture);
  if (bit >= 0 && static_cast<size_t>(bit) < names.size()) return names[bit];
  if (architecture == Architecture::kX86 && bit >= kX86FirstVector && bit < 64) {
    return kX86Vectors[(bit - kX86FirstVector) / 2];
  }
  if (architecture == Architecture::kArm64 && bit == kArm64VectorGranule) return "vg";
  return "unknown";
}

}  // namespace profiler::perf_event
