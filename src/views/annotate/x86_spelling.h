// Spells x86 instructions as the GNU tools do: readers know objdump's `jg` and `nopw
// 0x0(%rax,%rax,1)`; Zydis prints `jnle` and `nop %ax, (%rax,%rax,1)`.

#pragma once

#include <Zydis/Zydis.h>

namespace profiler::annotate {

// A Zydis formatter with some of its functions replaced. Not copyable, because these functions hold
// its address.
class X86Spelling {
 public:
  // ZYDIS_FORMATTER_STYLE_ATT or ZYDIS_FORMATTER_STYLE_INTEL.
  explicit X86Spelling(ZydisFormatterStyle style);
  X86Spelling(const X86Spelling&) = delete;
  X86Spelling& operator=(const X86Spelling&) = delete;

  // Writes `text` with a NUL at its end. Returns false if it does not fit into `size` bytes.
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
  // Zydis's own functions, for the cases that are not replaced.
  ZydisFormatterFunc prefixes_ = nullptr, segment_ = nullptr, memory_ = nullptr;
  ZydisFormatterRegisterFunc register_ = nullptr;
};

}  // namespace profiler::annotate
