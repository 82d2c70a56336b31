// Instructions of x86 spelled as the GNU tools spell them: people know objdump's `jg` and
// `nopw 0x0(%rax,%rax,1)`, where Zydis has `jnle` and `nop %ax, (%rax,%rax,1)`.

#pragma once

#include <Zydis/Zydis.h>

namespace profiler::annotate {

// Zydis's formatter with some of its functions replaced. Not copyable: those find their place here.
class X86Spelling {
 public:
  // ZYDIS_FORMATTER_STYLE_ATT or ZYDIS_FORMATTER_STYLE_INTEL.
  explicit X86Spelling(ZydisFormatterStyle style);
  X86Spelling(const X86Spelling&) = delete;
  X86Spelling& operator=(const X86Spelling&) = delete;

  // False where it does not fit into `size` bytes, which end with a NUL.
  bool Format(const ZydisDecodedInstruction& instruction, const ZydisDecodedOperand* operands,
              uint64_t address, char* text, size_t size) const;

 private:
  static ZyanStatus PrintPrefixes(const ZydisFormatter* formatter, ZydisFormatterBuffer* buffer,
                                  ZydisFormatterContext* context);
  static ZyanStatus PrintMnemonic(const ZydisFormatter* formatter, ZydisFormatterBuffer* buffer,
                                  ZydisFormatterContext* context);
  static ZyanStatus PreOperand(const ZydisFormatter* formatter, ZydisFormatterBuffer* buffer,
                               ZydisFormatterContext* context);
  static ZyanStatus PrintSegment(const ZydisFormatter* formatter, ZydisFormatterBuffer* buffer,
                                 ZydisFormatterContext* context);
  static ZyanStatus FormatMemory(const ZydisFormatter* formatter, ZydisFormatterBuffer* buffer,
                                 ZydisFormatterContext* context);
  static ZyanStatus PrintTypecast(const ZydisFormatter* formatter, ZydisFormatterBuffer* buffer,
                                  ZydisFormatterContext* context);
  static ZyanStatus PrintRegister(const ZydisFormatter* formatter, ZydisFormatterBuffer* buffer,
                                  ZydisFormatterContext* context, ZydisRegister reg);

  ZydisFormatter formatter_;
  bool att_;
  // What Zydis has for them.
  ZydisFormatterFunc prefixes_ = nullptr, segment_ = nullptr, memory_ = nullptr;
  ZydisFormatterRegisterFunc register_ = nullptr;
};

}  // namespace profiler::annotate
