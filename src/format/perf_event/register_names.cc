#include "src/format/perf_event/register_names.h"

#include <sys/utsname.h>

#include "symbolize/unwind/arch/register_names.h"

namespace profiler::perf_event {
namespace {

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

// Machines whose recordings are read, but whose programs are not unwound (symbolize/unwind/arch).
struct Machine {
  std::string_view beginning;  // of its name
  Architecture names;
};
constexpr Machine kMachines[] = {
    {"arm", kArm}, {"riscv", kRiscv}, {"ppc", kPowerpc}, {"powerpc", kPowerpc}, {"s390", kS390}};

}  // namespace

Architecture ArchitectureOf(std::string_view machine) {
  if (const auto* const known = symbolize::RegisterNamesOf(machine)) return known->names;
  for (const Machine& known : kMachines) {
    if (machine.starts_with(known.beginning)) return known.names;
  }
  return {};
}

Architecture NativeArchitecture() {
  utsname names;
  return uname(&names) == 0 ? ArchitectureOf(names.machine) : Architecture();
}

std::string_view RegisterName(Architecture architecture, int bit) {
  const bool is_known = bit >= 0 && static_cast<size_t>(bit) < architecture.size();
  return is_known && !architecture[bit].empty() ? architecture[bit] : "unknown";
}

}  // namespace profiler::perf_event
