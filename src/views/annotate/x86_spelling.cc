#include "src/views/annotate/x86_spelling.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>

namespace profiler::annotate {
namespace {

// Appends to a Zydis buffer of fixed size, whose characters are a vector that ends with a NUL. Does
// this itself, because Zycore's functions would have to be linked in, and Debian has no static
// Zycore.
ZyanStatus AppendText(ZyanVector& characters, std::string_view text) {
  if (text.size() > characters.capacity - characters.size) {
    return ZYAN_STATUS_INSUFFICIENT_BUFFER_SIZE;
  }
  char* const end = static_cast<char*>(characters.data) + characters.size - 1;
  *std::copy(text.begin(), text.end(), end) = '\0';
  characters.size += text.size();
  return ZYAN_STATUS_SUCCESS;
}

ZyanStatus Append(ZydisFormatterBuffer* buffer, ZydisTokenType token, std::string_view text) {
  ZYAN_CHECK(ZydisFormatterBufferAppend(buffer, token));
  ZyanString* string = nullptr;
  ZYAN_CHECK(ZydisFormatterBufferGetString(buffer, &string));
  return AppendText(string->vector, text);
}

ZyanStatus RemoveLastCharacter(ZydisFormatterBuffer* buffer) {
  ZyanString* string = nullptr;
  ZYAN_CHECK(ZydisFormatterBufferGetString(buffer, &string));
  ZyanVector& characters = string->vector;
  if (characters.size < 2) return ZYAN_STATUS_INVALID_OPERATION;
  static_cast<char*>(characters.data)[--characters.size - 1] = '\0';
  return ZYAN_STATUS_SUCCESS;
}

std::span<const ZydisDecodedOperand> VisibleOperands(const ZydisFormatterContext& context) {
  return {context.operands, context.instruction->operand_count_visible};
}

const ZydisDecodedOperand* MemoryOperand(const ZydisFormatterContext& context) {
  for (const ZydisDecodedOperand& operand : VisibleOperands(context)) {
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) return &operand;
  }
  return nullptr;
}

// ---- mnemonics

struct Spelling {
  std::string_view zydis, gnu;
};

// Condition codes of jcc, setcc and cmovcc.
constexpr std::array<Spelling, 6> kConditions = {
    {{"z", "e"}, {"nz", "ne"}, {"nb", "ae"}, {"nbe", "a"}, {"nl", "ge"}, {"nle", "g"}}};

// Conversions between widths. Their AT&T names contain the widths of both operands.
constexpr std::array<Spelling, 6> kConversions = {{{"cbw", "cbtw"},
                                                   {"cwde", "cwtl"},
                                                   {"cdqe", "cltq"},
                                                   {"cwd", "cwtd"},
                                                   {"cdq", "cltd"},
                                                   {"cqo", "cqto"}}};

// AT&T assemblers have always swapped the names of these instructions if the result goes to a
// register other than the top of the stack.
constexpr std::array<Spelling, 8> kReversed = {{{"fsub", "fsubr"},
                                                {"fsubr", "fsub"},
                                                {"fdiv", "fdivr"},
                                                {"fdivr", "fdiv"},
                                                {"fsubp", "fsubrp"},
                                                {"fsubrp", "fsubp"},
                                                {"fdivp", "fdivrp"},
                                                {"fdivrp", "fdivp"}}};

template <size_t N>
std::string_view GnuOf(const std::array<Spelling, N>& spellings, std::string_view name) {
  const auto* const it = std::find_if(spellings.begin(), spellings.end(),
                                      [name](const Spelling& s) { return s.zydis == name; });
  return it == spellings.end() ? name : it->gnu;
}

bool HasCondition(ZydisInstructionCategory category) {
  return category == ZYDIS_CATEGORY_COND_BR || category == ZYDIS_CATEGORY_CMOV ||
         category == ZYDIS_CATEGORY_SETCC;
}

std::string WithGnuCondition(std::string_view mnemonic) {
  for (const std::string_view front : {"cmov", "set", "j"}) {
    if (!mnemonic.starts_with(front)) continue;
    return std::string(front) + std::string(GnuOf(kConditions, mnemonic.substr(front.size())));
  }
  return std::string(mnemonic);
}

char WidthSuffix(uint16_t bits) {
  switch (bits) {
    case 8:
      return 'b';
    case 16:
      return 'w';
    case 32:
      return 'l';
    case 64:
      return 'q';
    default:
      return '\0';
  }
}

void AppendSuffix(char suffix, std::string* mnemonic) {
  if (suffix != '\0') *mnemonic += suffix;
}

bool IsRegister(const ZydisDecodedOperand& operand) {
  return operand.type == ZYDIS_OPERAND_TYPE_REGISTER;
}

// Returns the suffix of an x87 memory operand, for a float or an integer.
std::string_view FpuSuffix(const ZydisDecodedOperand& memory) {
  const bool integer = memory.element_type == ZYDIS_ELEMENT_TYPE_INT;
  switch (memory.size) {
    case 16:
      return integer ? "s" : "";
    case 32:
      return integer ? "l" : "s";
    case 64:
      return integer ? "ll" : "l";
    case 80:
      return memory.element_type == ZYDIS_ELEMENT_TYPE_FLOAT80 ? "t" : "";
    default:
      return "";
  }
}

// True if no register operand determines the width of the memory operand.
bool NeedsWidth(const ZydisFormatterContext& context) {
  const std::span<const ZydisDecodedOperand> operands = VisibleOperands(context);
  const bool has_register = std::any_of(operands.begin(), operands.end(), IsRegister);
  switch (context.instruction->meta.category) {
    case ZYDIS_CATEGORY_BINARY:
    case ZYDIS_CATEGORY_BITBYTE:
    case ZYDIS_CATEGORY_DATAXFER:
    case ZYDIS_CATEGORY_LOGICAL:
      return !has_register;
    case ZYDIS_CATEGORY_CONVERT:  // cvtsi2sd
      return MemoryOperand(context)->element_type == ZYDIS_ELEMENT_TYPE_INT &&
             MemoryOperand(context)->size <= 64;
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_WIDENOP:
    case ZYDIS_CATEGORY_SHIFT:  // by an immediate or %cl
    case ZYDIS_CATEGORY_ROTATE:
      return true;
    default:
      return false;
  }
}

std::string AttMnemonic(const ZydisFormatterContext& context, std::string mnemonic) {
  const ZydisDecodedInstruction& instruction = *context.instruction;
  switch (instruction.mnemonic) {
    case ZYDIS_MNEMONIC_MOVZX:
    case ZYDIS_MNEMONIC_MOVSX:
    case ZYDIS_MNEMONIC_MOVSXD:
      mnemonic.resize(4);  // movz, movs
      AppendSuffix(WidthSuffix(context.operands[1].size), &mnemonic);
      AppendSuffix(WidthSuffix(context.operands[0].size), &mnemonic);
      return mnemonic;
    default:
      break;
  }
  if (instruction.meta.category == ZYDIS_CATEGORY_STRINGOP && mnemonic.ends_with('d')) {
    mnemonic.back() = 'l';
    return mnemonic;
  }
  const ZydisDecodedOperand* const memory = MemoryOperand(context);
  if (memory == nullptr) {
    const bool reversed = instruction.meta.category == ZYDIS_CATEGORY_X87_ALU &&
                          (instruction.opcode == 0xdc || instruction.opcode == 0xde);
    return std::string(reversed ? GnuOf(kReversed, mnemonic) : GnuOf(kConversions, mnemonic));
  }
  if (instruction.meta.category == ZYDIS_CATEGORY_X87_ALU) {
    mnemonic += FpuSuffix(*memory);
  } else if (NeedsWidth(context)) {
    AppendSuffix(WidthSuffix(memory->size), &mnemonic);
  }
  return mnemonic;
}

// True for a `mov` whose immediate or address has eight bytes.
bool IsMovabs(const ZydisDecodedInstruction& instruction) {
  return instruction.mnemonic == ZYDIS_MNEMONIC_MOV &&
         (instruction.raw.imm[0].size == 64 || instruction.raw.disp.size == 64);
}

// True for the 16-bit form of 0x90: two bytes that do nothing.
bool IsXchgOfAx(const ZydisDecodedInstruction& instruction) {
  return instruction.mnemonic == ZYDIS_MNEMONIC_NOP && instruction.opcode == 0x90 &&
         (instruction.attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE) != 0;
}

std::string_view CastTo(uint16_t bits) {
  switch (bits) {
    case 8:
      return "BYTE PTR ";
    case 16:
      return "WORD PTR ";
    case 32:
      return "DWORD PTR ";
    case 64:
      return "QWORD PTR ";
    case 80:
      return "TBYTE PTR ";
    case 128:
      return "XMMWORD PTR ";
    case 256:
      return "YMMWORD PTR ";
    case 512:
      return "ZMMWORD PTR ";
    default:
      return "";
  }
}

// Returns the name of a prefix that has no effect, as in padding between functions; empty for
// other bytes.
std::string_view IdlePrefix(uint8_t byte) {
  switch (byte) {
    case 0x26:
      return "es ";
    case 0x2e:
      return "cs ";
    case 0x36:
      return "ss ";
    case 0x3e:
      return "ds ";
    case 0x66:
      return "data16 ";
    default:
      return "";
  }
}

// True if the code contains a displacement of 0, which Zydis omits. Some registers require it, and
// padding uses it for its length.
bool HasEncodedZero(const ZydisFormatterContext& context) {
  const ZydisDecodedOperandMem& memory = context.operand->mem;
  return context.instruction->raw.disp.size != 0 && memory.disp.value == 0 &&
         memory.base != ZYDIS_REGISTER_RIP &&
         (memory.base != ZYDIS_REGISTER_NONE || memory.index != ZYDIS_REGISTER_NONE);
}

}  // namespace

X86Spelling::X86Spelling(ZydisFormatterStyle style) : att_(style == ZYDIS_FORMATTER_STYLE_ATT) {
  ZydisFormatterInit(&formatter_, style);
  const auto set = [this](ZydisFormatterProperty property, ZyanUPointer value) {
    ZydisFormatterSetProperty(&formatter_, property, value);
  };
  set(ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_PADDING_DISABLED);
  set(ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED);
  set(ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED);
  set(ZYDIS_FORMATTER_PROP_IMM_SIGNEDNESS, ZYDIS_SIGNEDNESS_UNSIGNED);
  set(ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
  set(ZYDIS_FORMATTER_PROP_FORCE_RELATIVE_RIPREL, ZYAN_TRUE);

  const auto replace = [this](ZydisFormatterFunction which, auto by) {
    const void* callback = reinterpret_cast<const void*>(by);
    ZydisFormatterSetHook(&formatter_, which, &callback);
    return reinterpret_cast<decltype(by)>(const_cast<void*>(callback));
  };
  prefixes_ = replace(ZYDIS_FORMATTER_FUNC_PRINT_PREFIXES, &PrintPrefixes);
  segment_ = replace(ZYDIS_FORMATTER_FUNC_PRINT_SEGMENT, &PrintSegment);
  memory_ = replace(ZYDIS_FORMATTER_FUNC_FORMAT_OPERAND_MEM, &FormatMemory);
  register_ = replace(ZYDIS_FORMATTER_FUNC_PRINT_REGISTER, &PrintRegister);
  if (!att_) replace(ZYDIS_FORMATTER_FUNC_PRINT_TYPECAST, &PrintTypecast);
  replace(ZYDIS_FORMATTER_FUNC_PRINT_MNEMONIC, &PrintMnemonic);
  replace(ZYDIS_FORMATTER_FUNC_PRE_OPERAND, &PreOperand);
}

bool X86Spelling::Format(const ZydisDecodedInstruction& instruction,
                         const ZydisDecodedOperand* operands, uint64_t address, char* text,
                         size_t size) const {
  return ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter_, &instruction, operands,
                                                      instruction.operand_count_visible, text, size,
                                                      address, const_cast<X86Spelling*>(this)));
}

ZyanStatus X86Spelling::PrintPrefixes(const ZydisFormatter* formatter, ZydisFormatterBuffer* buffer,
                                      ZydisFormatterContext* context) {
  const auto& self = *static_cast<const X86Spelling*>(context->user_data);
  ZYAN_CHECK(self.prefixes_(formatter, buffer, context));
  const auto& raw = context->instruction->raw;
  for (const auto& prefix : std::span(raw.prefixes, raw.prefix_count)) {
    const std::string_view name = IdlePrefix(prefix.value);
    if (prefix.type == ZYDIS_PREFIX_TYPE_IGNORED && !name.empty()) {
      ZYAN_CHECK(Append(buffer, ZYDIS_TOKEN_PREFIX, name));
    }
  }
  return ZYAN_STATUS_SUCCESS;
}

ZyanStatus X86Spelling::PrintMnemonic(const ZydisFormatter*, ZydisFormatterBuffer* buffer,
                                      ZydisFormatterContext* context) {
  const auto& self = *static_cast<const X86Spelling*>(context->user_data);
  const ZydisDecodedInstruction& instruction = *context->instruction;
  if (IsXchgOfAx(instruction)) {
    return Append(buffer, ZYDIS_TOKEN_MNEMONIC, self.att_ ? "xchg %ax, %ax" : "xchg ax, ax");
  }
  std::string mnemonic = ZydisMnemonicGetString(instruction.mnemonic);
  if (HasCondition(instruction.meta.category)) mnemonic = WithGnuCondition(mnemonic);
  if (IsMovabs(instruction)) {
    mnemonic = "movabs";
  } else if (self.att_) {
    mnemonic = AttMnemonic(*context, std::move(mnemonic));
  }
  return Append(buffer, ZYDIS_TOKEN_MNEMONIC, mnemonic);
}

// Marks indirect jump and call targets with '*', as AT&T does.
ZyanStatus X86Spelling::PreOperand(const ZydisFormatter*, ZydisFormatterBuffer* buffer,
                                   ZydisFormatterContext* context) {
  const auto& self = *static_cast<const X86Spelling*>(context->user_data);
  const ZydisMnemonic mnemonic = context->instruction->mnemonic;
  if (mnemonic == ZYDIS_MNEMONIC_NOP && IsRegister(*context->operand)) {
    return ZYDIS_STATUS_SKIP_TOKEN;  // the opcode encodes a register without using it
  }
  const bool jumps = mnemonic == ZYDIS_MNEMONIC_CALL || mnemonic == ZYDIS_MNEMONIC_JMP;
  const ZydisOperandType type = context->operand->type;
  const bool indirect = type == ZYDIS_OPERAND_TYPE_REGISTER || type == ZYDIS_OPERAND_TYPE_MEMORY;
  if (!self.att_ || !jumps || !indirect) return ZYAN_STATUS_SUCCESS;
  return Append(buffer, ZYDIS_TOKEN_DELIMITER, "*");
}

// Adds the displacement in AT&T syntax: %fs:0x0(%rax).
ZyanStatus X86Spelling::PrintSegment(const ZydisFormatter* formatter, ZydisFormatterBuffer* buffer,
                                     ZydisFormatterContext* context) {
  const auto& self = *static_cast<const X86Spelling*>(context->user_data);
  ZYAN_CHECK(self.segment_(formatter, buffer, context));
  if (!self.att_ || !HasEncodedZero(*context)) return ZYAN_STATUS_SUCCESS;
  return Append(buffer, ZYDIS_TOKEN_DISPLACEMENT, "0x0");
}

// Adds the displacement in Intel syntax: fs:[rax+0x0].
ZyanStatus X86Spelling::FormatMemory(const ZydisFormatter* formatter, ZydisFormatterBuffer* buffer,
                                     ZydisFormatterContext* context) {
  const auto& self = *static_cast<const X86Spelling*>(context->user_data);
  ZYAN_CHECK(self.memory_(formatter, buffer, context));
  if (self.att_ || !HasEncodedZero(*context)) return ZYAN_STATUS_SUCCESS;
  ZYAN_CHECK(RemoveLastCharacter(buffer));
  return Append(buffer, ZYDIS_TOKEN_DISPLACEMENT, "+0x0]");
}

// Prints the width of every memory access in Intel syntax.
ZyanStatus X86Spelling::PrintTypecast(const ZydisFormatter*, ZydisFormatterBuffer* buffer,
                                      ZydisFormatterContext* context) {
  const ZydisDecodedOperand& operand = *context->operand;
  const std::string_view cast = CastTo(operand.size);
  if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || operand.mem.type == ZYDIS_MEMOP_TYPE_AGEN ||
      cast.empty()) {
    return ZYAN_STATUS_SUCCESS;
  }
  return Append(buffer, ZYDIS_TOKEN_TYPECAST, cast);
}

ZyanStatus X86Spelling::PrintRegister(const ZydisFormatter* formatter, ZydisFormatterBuffer* buffer,
                                      ZydisFormatterContext* context, ZydisRegister reg) {
  const auto& self = *static_cast<const X86Spelling*>(context->user_data);
  if (reg < ZYDIS_REGISTER_ST0 || reg > ZYDIS_REGISTER_ST7) {
    return self.register_(formatter, buffer, context, reg);
  }
  // Prints the top of the stack as "st(0)" only if the instruction could name another register.
  const bool is_fixed = context->operand->encoding == ZYDIS_OPERAND_ENCODING_NONE;
  const std::string name = is_fixed ? "st" : "st(" + std::to_string(reg - ZYDIS_REGISTER_ST0) + ")";
  return Append(buffer, ZYDIS_TOKEN_REGISTER, self.att_ ? "%" + name : name);
}

}  // namespace profiler::annotate
