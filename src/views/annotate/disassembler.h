// Prints machine code, one instruction at a time: with Zydis on x86, with Capstone on other
// machines. (glibc's string functions use AVX-512, which Zydis decodes and Debian's Capstone does
// not.)

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "src/base/status.h"

namespace profiler::annotate {

// Syntax of x86. kAtt: "mov %rsp, %rbp". kIntel: "mov rbp, rsp". Other machines have one syntax.
enum class Syntax : uint8_t { kAtt, kIntel };

struct Instruction {
  uint32_t size = 0;  // bytes; never 0
  std::string text;
  bool valid = true;               // false if not decoded; then `text` is "(bad)"
  std::optional<uint64_t> target;  // address of a direct jump or call
  std::optional<uint64_t> data;    // address of data, if relative to the instruction
};

// A disassembler for one machine. Any bytes are safe to decode. Not thread-safe.
class Disassembler {
 public:
  // Makes a disassembler. `machine` is an EM_… number with the marks of symbolize/code_machine.h:
  // x86, ARM (32 or 64 bits), PowerPC, s390x, MIPS or SPARC. Returns kUnimplemented for others.
  static absl::StatusOr<std::unique_ptr<Disassembler>> Create(uint16_t machine, Syntax syntax);
  virtual ~Disassembler() = default;

  // Decodes the first instruction of `code`, which must not be empty and lies at `address`.
  virtual Instruction Decode(std::span<const std::byte> code, uint64_t address) = 0;
};

}  // namespace profiler::annotate
