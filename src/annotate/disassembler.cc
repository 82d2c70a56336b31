#include "src/annotate/disassembler.h"

#include <Zydis/Zydis.h>
#include <capstone/capstone.h>
#include <elf.h>

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/annotate/x86_spelling.h"

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

class CapstoneDisassembler : public Disassembler {
 public:
  static absl::StatusOr<std::unique_ptr<Disassembler>> Create() {
    std::unique_ptr<CapstoneDisassembler> made(new CapstoneDisassembler());
    if (cs_open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, &made->handle_) != CS_ERR_OK) {
      return absl::UnimplementedError("Capstone was built without AArch64");
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
      return {.size = static_cast<uint32_t>(std::min<size_t>(code.size(), kWidth)),
              .text = "(bad)",
              .valid = false};
    }
    Instruction instruction{.size = instruction_->size, .text = instruction_->mnemonic};
    if (instruction_->op_str[0] != '\0')
      absl::StrAppend(&instruction.text, " ", instruction_->op_str);
    const cs_arm64& operands = instruction_->detail->arm64;
    if (IsBranch(instruction_->id) && operands.op_count > 0) {
      const cs_arm64_op& last = operands.operands[operands.op_count - 1];
      if (last.type == ARM64_OP_IMM) instruction.target = static_cast<uint64_t>(last.imm);
    }
    return instruction;
  }

 private:
  static constexpr size_t kWidth = 4;  // bytes per instruction

  CapstoneDisassembler() = default;
  static bool IsBranch(unsigned id) {
    return id == ARM64_INS_B || id == ARM64_INS_BL || id == ARM64_INS_CBZ || id == ARM64_INS_CBNZ ||
           id == ARM64_INS_TBZ || id == ARM64_INS_TBNZ;
  }

  csh handle_ = 0;
  cs_insn* instruction_ = nullptr;
};

std::string NameOfMachine(uint16_t machine) {
  switch (machine) {
    case EM_ARM:
      return "32-bit ARM";
    case EM_RISCV:
      return "RISC-V";
    case EM_PPC64:
      return "PowerPC";
    case EM_S390:
      return "s390x";
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
    case EM_AARCH64:
      return CapstoneDisassembler::Create();
    default:
      return absl::UnimplementedError(
          absl::StrCat("instructions of ", NameOfMachine(machine),
                       " cannot be shown, only those of x86 and AArch64: use objdump -d"));
  }
}

}  // namespace profiler::annotate
