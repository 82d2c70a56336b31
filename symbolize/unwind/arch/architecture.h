// The table of architectures: registers, calls, frames, signals and linkage tables of each one.
//
// Code outside this folder asks the table, `architecture->has_link_register`, and does not compare
// architectures. Exceptions are tables of programs that exist for one architecture only, such as
// those of Go and the Java VM.
//
// A new architecture is a folder with a file that defines `kNameTraits`, and a line in list.h.
// Functions that are null are parts that an architecture does without: its programs are unwound by
// call frame information and by frame pointers, but not by their instructions.
//
// Sources: System V ABI for AMD64, figure 3.36; System V ABI for Intel386, 1.1, table 2.14; DWARF
// for the Arm 64-bit architecture, 4.1; arch/*/include/uapi/asm/perf_regs.h, Linux 6.18.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "src/base/address.h"
#include "symbolize/unwind/arch/list.h"

namespace profiler::symbolize {

struct ArchitectureTraits;
struct DecodedInstruction;
struct ElfSection;
struct FrameState;
struct ReturnPath;
class ElfImage;

// A reference to the properties of one architecture: a pointer to a constant that lives as long as
// the program.
class Architecture {
 public:
  constexpr explicit Architecture(const ArchitectureTraits& traits) : traits_(&traits) {}
  constexpr const ArchitectureTraits* operator->() const { return traits_; }
  bool operator==(const Architecture&) const = default;

  // Architecture::kX86_64 and so on, for code that exists for one architecture only.
#define PROFILER_DECLARE(name) static const Architecture k##name;
  PROFILER_ARCHITECTURES(PROFILER_DECLARE)
#undef PROFILER_DECLARE

 private:
  const ArchitectureTraits* traits_;
};

// Architecture for which this program is compiled. Its folder defines this.
extern const Architecture kNativeArchitecture;

// Returns all architectures of list.h, in the order of the list.
std::span<const Architecture> Architectures();

// Returns the architecture of an ELF file with this machine (EM_…) and class. Empty if its programs
// cannot be unwound, for example x86-64 with 4-byte pointers (x32).
std::optional<Architecture> ArchitectureOfElf(uint16_t machine, bool is_64_bit);

// Returns the architecture of a machine by its name in uname(2). Empty if there is none.
std::optional<Architecture> ArchitectureOfMachine(std::string_view machine);

// Largest number of registers that unwinding follows; numbers are those of DWARF.
inline constexpr unsigned kRegisters = 33;
// Stands for a register that is not followed, in lists of registers.
inline constexpr uint8_t kNoRegister = 255;

// DWARF numbers of registers that unwinding uses.
struct RegisterNumbers {
  // If DWARF has no number for pc, any number may stand for it that CFI does not use.
  uint8_t pc, sp, fp;
  // Column of the return address in CIEs: the number of pc or of the link register.
  uint8_t return_address;
  // The registers that pass an exception to the function that catches it
  // (__builtin_eh_return_data_regno).
  std::array<uint8_t, 2> exception;
};

// Code that returns from a signal handler to the kernel, and the registers of the interrupted
// function on the stack, one word each.
struct SignalReturn {
  std::span<const uint8_t> code;
  std::span<const uint8_t> distances;  // bytes of `code` that pc may be beyond its start
  uint64_t offset = 0;                 // bytes from sp to the first register
  std::span<const uint8_t> order;      // DWARF numbers, or kNoRegister
};

// Effects of code on the link register and the stack pointer, on any path through the code. A
// function's caller is found through these registers. The effects of all instructions from a
// function's start to the interrupted one show whether the function has made a call, saved its
// return address, or used the stack.
struct LinkUse {
  bool keeps_link = true;   // true if no instruction writes or saves the link register
  bool keeps_stack = true;  // true if no instruction writes the stack pointer
};

// Code at the start of .plt to which all its entries lead, and that pushes words.
struct LinkageHeader {
  uint64_t offset = 0, size = 0;  // bytes of the code after the push, from the start of .plt
  int32_t cfa_offset = 0;         // CFA − sp in this code; the return address is below the CFA
};

// A stub of a linkage table: `jmp *slot`.
struct LinkageStub {
  uint64_t start = 0;  // address
  uint64_t size = 0;   // bytes
  uint64_t slot = 0;   // address of its GOT slot; 0: unknown
};

inline constexpr size_t kLongestCall = 8;
inline constexpr size_t kBareFrameCode = 32;
inline constexpr size_t kJumpStub = 16;

struct ArchitectureTraits {
  // ── Names ────────────────────────────────────────────────────────────────────────────────────
  std::string_view name;     // as people write it
  std::string_view machine;  // name in uname(2); empty: programs of it run on another machine only
  uint16_t elf_machine = 0;  // EM_… of <elf.h>
  bool is_64_bit = true;     // class of ELF files
  // Architecture of 32-bit programs on the same machine; null: they cannot be unwound.
  const ArchitectureTraits* narrow = nullptr;
  // Returns the vdso of 32-bit programs on this machine, and bytes after it; empty if the kernel
  // provides none. Takes a millisecond. Null: the architecture has none.
  std::vector<std::byte> (*read_narrow_vdso)() = nullptr;

  // ── Registers ────────────────────────────────────────────────────────────────────────────────
  uint64_t word_size = 8;  // bytes of an address and of a pushed word: 4 or 8
  RegisterNumbers numbers{};
  // Bit n is set if a callee must preserve register n. If call frame information has no rule for a
  // register, a preserved register still has its value, and any other register is lost.
  uint64_t callee_saved = 0;
  // Significant bits of an instruction address. Other bits are tags or a signature.
  uint64_t address_mask = ~uint64_t{0};
  // Numbers of bits that user addresses may have, in the order to try them, if the kernel's
  // configuration decides how long signatures are. Empty: address_mask is enough.
  std::span<const uint8_t> address_widths = {};

  // Numbers of registers in samples: [bit of PERF_REG_*] is a DWARF number or kNoRegister.
  std::span<const uint8_t> perf_order = {};
  // Bits of the registers to record: all general registers and pc.
  uint64_t perf_registers = 0;
  // Bits of the registers that say how long vectors are. The kernel refuses them before Linux 6.1,
  // on a CPU without such vectors, and for events that no CPU counts.
  uint64_t perf_vector_registers = 0;
  // DWARF number, and bit of PERF_REG_*, of the vector length. It belongs to the thread and not to
  // a frame.
  uint8_t vector_granule = kNoRegister;
  // Returns the vector length of this thread, in the unit of `vector_granule`; 0: none.
  uint64_t (*own_vector_granule)() = nullptr;

  // Bytes of every instruction; 0: instructions have different sizes.
  size_t instruction_size = 0;

  // ── Calls ────────────────────────────────────────────────────────────────────────────────────
  // True if calls put the return address into a register. Otherwise they push it.
  bool has_link_register = false;
  // The instruction of system calls, and the registers of its arguments that are worth knowing.
  std::span<const uint8_t> system_call = {};
  std::span<const uint8_t> system_call_arguments = {};
  uint8_t system_call_result = 0;  // DWARF number
  std::span<const SignalReturn> signal_returns = {};

  // Returns true if `code` ends with a call. If instructions cannot be decoded backwards, true only
  // means that the last bytes look like one. Null: any bytes may be a call.
  bool (*ends_in_call)(std::span<const uint8_t, kLongestCall> code) = nullptr;
  // Returns the target of the direct call in front of `return_address`, with which `code` ends.
  // Empty for a call through a register or memory, and for other code.
  std::optional<uint64_t> (*target_of_call)(std::span<const uint8_t, kLongestCall> code,
                                            uint64_t return_address) = nullptr;
  // Returns true if `code`, the target of a call, is a stub that jumps to an address in memory.
  // Null: the instructions are followed instead.
  bool (*is_jump_stub)(std::span<const uint8_t, kJumpStub> code) = nullptr;
  // Returns the uses of the link register. Null: there is none.
  LinkUse (*link_use)(std::span<const uint8_t> code) = nullptr;
  // Implements ReturnPathOf (bare_frame.h).
  std::optional<ReturnPath> (*return_path)(std::span<const uint8_t, kBareFrameCode> code,
                                           bool is_interrupted) = nullptr;

  // ── Instructions, for functions without call frame information ───────────────────────────────
  // Decodes the first instruction of `code`, which is not empty. Returns false if it is invalid.
  bool (*decode)(std::span<const std::byte> code, ElfAddress address,
                 DecodedInstruction* instruction) = nullptr;
  // Changes `state` from the one before the instruction to the one after it.
  void (*apply)(const DecodedInstruction& instruction, FrameState* state) = nullptr;
  // Calls `add` for each address that the instructions of `code` call or load. `offset_table` is
  // GlobalOffsetTable (function_starts.h).
  using AddTarget = absl::FunctionRef<void(ElfAddress target, ElfAddress from, bool is_called)>;
  void (*find_targets)(std::span<const std::byte> code, ElfAddress address, uint64_t offset_table,
                       AddTarget add) = nullptr;
  // Returns true if the function `code` may call an address inside itself.
  bool (*may_call_itself)(std::span<const std::byte> code) = nullptr;

  uint64_t function_alignment = 16;  // bytes to which compilers align functions
  // True if aligned code, or a prologue behind a function's end, begins a function.
  bool alignment_shows_functions = true;
  // True if code that passes arguments pushes registers, as the start of a function does.
  bool pushes_arguments = false;

  // ── Call frame information ───────────────────────────────────────────────────────────────────
  // True if DW_CFA_AARCH64_negate_ra_state and its variant occur.
  bool signs_return_addresses = false;
  // True if registers that were described relative to the stack pointer stay where they are if the
  // stack pointer moves (FrameRules::told_at).
  bool slots_outlast_stack_pointer = false;
  // True if compilers describe frames by the stack pointer even if there is a frame pointer, and if
  // information made only for exceptions may leave out prologues.
  bool describes_by_stack_pointer = false;

  // ── Linkage tables and symbols ───────────────────────────────────────────────────────────────
  uint32_t irelative = 0;  // type of the relocation that an IFUNC fills
  std::vector<LinkageStub> (*linkage_stubs)(const ElfImage& image) = nullptr;
  std::optional<LinkageHeader> (*linkage_header)(std::span<const std::byte> plt) = nullptr;
  // True if assemblers mark code and data by symbols such as `$x`.
  bool has_mapping_symbols = false;
};

// Constants of list.h. Each folder defines its own.
#define PROFILER_DECLARE(name)                     \
  extern const ArchitectureTraits k##name##Traits; \
  inline constexpr Architecture Architecture::k##name{k##name##Traits};
PROFILER_ARCHITECTURES(PROFILER_DECLARE)
#undef PROFILER_DECLARE

// Returns true if calls put the return address into a register. Otherwise they push it.
inline bool HasLinkRegister(Architecture architecture) { return architecture->has_link_register; }

// Returns the size of addresses and pushed words in bytes.
inline uint64_t WordSize(Architecture architecture) { return architecture->word_size; }

inline const RegisterNumbers& NumbersOf(Architecture architecture) { return architecture->numbers; }

// Returns true if a callee must preserve the register (ArchitectureTraits::callee_saved).
inline bool IsCalleeSaved(Architecture architecture, unsigned number) {
  return number < kRegisters && (architecture->callee_saved >> number & 1) != 0;
}

// Wraps a number to the size of a word.
inline uint64_t WithinWord(Architecture architecture, uint64_t value) {
  return WordSize(architecture) == 4 ? value & 0xffffffff : value;
}

// Returns the mask of an instruction address's significant bits.
inline uint64_t AddressMask(Architecture architecture) { return architecture->address_mask; }

}  // namespace profiler::symbolize
