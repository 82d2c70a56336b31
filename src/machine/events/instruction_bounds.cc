#include "src/machine/events/instruction_bounds.h"

#include <Zydis/Zydis.h>
#include <elf.h>

#include <cstddef>
#include <span>

#include "absl/strings/str_cat.h"

namespace profiler::events {
namespace {

constexpr uint64_t kLongestFunction = uint64_t{16} << 20;

}  // namespace

absl::Status CheckBeginsInstruction(const symbolize::ElfImage& elf, ElfAddress function,
                                    uint64_t offset) {
  const bool is_64_bit = elf.machine() == EM_X86_64;
  if (offset == 0 || (!is_64_bit && elf.machine() != EM_386)) return absl::OkStatus();
  if (offset > kLongestFunction) {
    return absl::InvalidArgumentError(
        absl::StrCat("+0x", absl::Hex(offset), " is too far from the function's start"));
  }
  // The bytes at `offset` must also be a valid instruction.
  const std::span<const std::byte> code =
      elf.BytesAt(function, offset + ZYDIS_MAX_INSTRUCTION_LENGTH);
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder,
                   is_64_bit ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LONG_COMPAT_32,
                   is_64_bit ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
  for (uint64_t at = 0; at <= offset;) {
    ZydisDecodedInstruction instruction;
    const bool is_sound = at < code.size() &&
                          ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(
                              &decoder, nullptr, code.data() + at, code.size() - at, &instruction));
    if (!is_sound) {
      return absl::InvalidArgumentError(absl::StrCat("there is no instruction at +0x",
                                                     absl::Hex(at), ", so the code up to +0x",
                                                     absl::Hex(offset), " cannot be decoded"));
    }
    if (at == offset) break;
    const uint64_t next = at + instruction.length;
    if (next > offset) {
      return absl::InvalidArgumentError(
          absl::StrCat("+0x", absl::Hex(offset),
                       " is inside an instruction, which a probe there would change; "
                       "it begins at +0x",
                       absl::Hex(at), ", and the next one at +0x", absl::Hex(next)));
    }
    at = next;
  }
  return absl::OkStatus();
}

}  // namespace profiler::events
