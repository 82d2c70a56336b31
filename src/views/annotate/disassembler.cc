#include "src/views/annotate/disassembler.h"

#include <Zydis/Zydis.h>
#include <capstone/capstone.h>
#include <elf.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/views/annotate/x86_spelling.h"
#include "symbolize/code_machine.h"

namespace profiler::annotate {
namespace {

class ZydisDisassembler : public Disassembler {
 public:
  ZydisDisassembler(bool is_64_bit, Syntax syntax)
      : spelling_(syntax == Syntax::kAtt ? ZYDIS_FORMATTER_STYLE_ATT
                                         : ZYDIS_FORMATTER_STYLE_INTEL) {
    ZydisDecoderInit(&decoder_,
                     is_64_bit ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
                     is_64_bit ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
  }

  Instruction Decode(std::span<const std::byte> code, uint64_t address) override {
    ZydisDecodedInstruction decoded;
    std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;
    std::array<char, 256> text;
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder_, code.data(), code.size(), &decoded,
                                             operands.data())) ||
        !spelling_.Format(decoded, operands.data(), address, text.data(), text.size())) {
      return {.size = 1, .text = "(bad)", .valid = false};
    }
    Instruction instruction{.size = decoded.length, .text = text.data()};
    for (size_t i = 0; i < decoded.operand_count_visible; ++i) {
      const ZydisDecodedOperand& operand = operands[i];
      const bool jumps =
          operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operand.imm.is_relative != ZYAN_FALSE;
      const bool reads =
          operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.base == ZYDIS_REGISTER_RIP;
      ZyanU64 absolute = 0;
      if ((!jumps && !reads) ||
          !ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&decoded, &operand, address, &absolute))) {
        continue;
      }
      (jumps ? instruction.target : instruction.data) = absolute;
    }
    return instruction;
  }

 private:
  ZydisDecoder decoder_;
  const X86Spelling spelling_;
};

// How Capstone decodes the code of a machine.
struct CapstoneMode {
  uint16_t machine;  // with the marks of symbolize/code_machine.h
  cs_arch architecture;
  int mode;        // values of cs_mode, combined with |
  uint32_t width;  // bytes of the shortest instruction
};
constexpr CapstoneMode kCapstoneModes[] = {
    {EM_AARCH64, CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, 4},
    {EM_ARM, CS_ARCH_ARM, CS_MODE_ARM, 4},
    {EM_ARM | symbolize::kThumbCode, CS_ARCH_ARM, CS_MODE_THUMB, 2},
    {EM_PPC64, CS_ARCH_PPC, CS_MODE_64, 4},
    {EM_PPC64 | symbolize::kBigEndianCode, CS_ARCH_PPC, CS_MODE_64 | CS_MODE_BIG_ENDIAN, 4},
    {EM_PPC | symbolize::kBigEndianCode, CS_ARCH_PPC, CS_MODE_32 | CS_MODE_BIG_ENDIAN, 4},
    {EM_S390, CS_ARCH_SYSZ, CS_MODE_BIG_ENDIAN, 2},
    {EM_MIPS, CS_ARCH_MIPS, CS_MODE_MIPS32, 4},
    {EM_MIPS | symbolize::kBigEndianCode, CS_ARCH_MIPS, CS_MODE_MIPS32 | CS_MODE_BIG_ENDIAN, 4},
    {EM_MIPS | symbolize::k64BitCode, CS_ARCH_MIPS, CS_MODE_MIPS64, 4},
    {EM_MIPS | symbolize::k64BitCode | symbolize::kBigEndianCode, CS_ARCH_MIPS,
     CS_MODE_MIPS64 | CS_MODE_BIG_ENDIAN, 4},
    {EM_SPARC, CS_ARCH_SPARC, CS_MODE_BIG_ENDIAN, 4},
    {EM_SPARC32PLUS, CS_ARCH_SPARC, CS_MODE_BIG_ENDIAN | CS_MODE_V9, 4},
    {EM_SPARCV9, CS_ARCH_SPARC, CS_MODE_BIG_ENDIAN | CS_MODE_V9, 4},
};

class CapstoneDisassembler : public Disassembler {
 public:
  static absl::StatusOr<std::unique_ptr<Disassembler>> Create(const CapstoneMode& mode) {
    std::unique_ptr<CapstoneDisassembler> made(new CapstoneDisassembler(mode));
    if (cs_open(mode.architecture, static_cast<cs_mode>(mode.mode), &made->handle_) != CS_ERR_OK) {
      return absl::UnimplementedError("Capstone was built without this machine: use objdump -d");
    }
    cs_option(made->handle_, CS_OPT_DETAIL, CS_OPT_ON);
    made->instruction_ = cs_malloc(made->handle_);
    if (made->instruction_ == nullptr) return absl::ResourceExhaustedError("Capstone: no memory");
    return made;
  }
  ~CapstoneDisassembler() override {
    if (instruction_ != nullptr) cs_free(instruction_, 1);
    if (handle_ != 0) cs_close(&handle_);
  }

  Instruction Decode(std::span<const std::byte> code, uint64_t address) override {
    const auto* bytes = reinterpret_cast<const uint8_t*>(code.data());
    size_t size = code.size();
    if (!cs_disasm_iter(handle_, &bytes, &size, &address, instruction_)) {
      return {.size = static_cast<uint32_t>(std::min<size_t>(code.size(), mode_.width)),
              .text = "(bad)",
              .valid = false};
    }
    Instruction instruction{.size = instruction_->size, .text = instruction_->mnemonic};
    if (instruction_->op_str[0] != '\0')
      absl::StrAppend(&instruction.text, " ", instruction_->op_str);
    instruction.target = Target();
    return instruction;
  }

 private:
  explicit CapstoneDisassembler(const CapstoneMode& mode) : mode_(mode) {}

  static bool IsArm64Branch(unsigned id) {
    return id == ARM64_INS_B || id == ARM64_INS_BL || id == ARM64_INS_CBZ || id == ARM64_INS_CBNZ ||
           id == ARM64_INS_TBZ || id == ARM64_INS_TBNZ;
  }

  // Returns the target of a direct jump or call: its last operand.
  std::optional<uint64_t> Target() const {
    const cs_detail& detail = *instruction_->detail;
    switch (mode_.architecture) {
      case CS_ARCH_ARM64:
        if (!IsArm64Branch(instruction_->id)) return std::nullopt;
        return LastImmediate(detail.arm64.operands, detail.arm64.op_count, ARM64_OP_IMM);
      case CS_ARCH_ARM: {
        if (!Jumps()) return std::nullopt;
        const auto target = LastImmediate(detail.arm.operands, detail.arm.op_count, ARM_OP_IMM);
        return target ? std::optional<uint64_t>(static_cast<uint32_t>(*target)) : std::nullopt;
      }
      default:
        return std::nullopt;
    }
  }

  bool Jumps() const {
    return cs_insn_group(handle_, instruction_, CS_GRP_JUMP) ||
           cs_insn_group(handle_, instruction_, CS_GRP_CALL);
  }

  template <class Operand, class Type>
  static std::optional<uint64_t> LastImmediate(const Operand* operands, size_t count, Type type) {
    if (count == 0 || operands[count - 1].type != type) return std::nullopt;
    return static_cast<uint64_t>(operands[count - 1].imm);
  }

  const CapstoneMode mode_;
  csh handle_ = 0;
  cs_insn* instruction_ = nullptr;
};

std::string NameOfMachine(uint16_t machine) {
  switch (machine) {
    case EM_LOONGARCH:
      return "LoongArch";
    default:
      return absl::StrCat("machine ", machine, " of <elf.h>");
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Disassembler>> Disassembler::Create(uint16_t machine,
                                                                   Syntax syntax) {
  switch (machine) {
    case EM_X86_64:
    case EM_386:
      return std::make_unique<ZydisDisassembler>(machine == EM_X86_64, syntax);
    default:
      break;
  }
  for (const CapstoneMode& mode : kCapstoneModes) {
    if (mode.machine == machine) return CapstoneDisassembler::Create(mode);
  }
  const uint16_t elf_machine = symbolize::ElfMachineOf(machine);
  if (elf_machine == EM_RISCV) {
    return absl::UnimplementedError(
        "instructions of RISC-V cannot be shown: Capstone 4 does not decode them. Install "
        "binutils-riscv64-linux-gnu and run riscv64-linux-gnu-objdump -d on the image");
  }
  return absl::UnimplementedError(absl::StrCat(
      "instructions of ", NameOfMachine(elf_machine),
      " cannot be shown: Capstone 4 does not decode them. Run objdump -d of that machine"));
}

}  // namespace profiler::annotate
