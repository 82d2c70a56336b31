// Machine code as text, one instruction at a time: by Zydis on x86, by Capstone on others. (Zydis
// knows AVX-512, which Debian's Capstone does not, and glibc's string functions are made of it.)

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "src/base/status.h"

namespace profiler::annotate {

// Of x86: "mov %rsp, %rbp" or "mov rbp, rsp". Other machines have one syntax.
enum class Syntax : uint8_t { kAtt, kIntel };

struct Instruction {
  uint32_t size = 0;  // bytes; never 0
  std::string text;
  bool valid = true;               // else `text` is "(bad)" and decoding goes on behind it
  std::optional<uint64_t> target;  // where it jumps to or calls, where it says so itself
  std::optional<uint64_t> data;    // what it reads or writes at a distance from itself
};

// Not thread-safe. Any bytes are safe to decode.
class Disassembler {
 public:
  // `machine` is an EM_… number with the marks of symbolize/code_machine.h: x86, ARM, AArch64,
  // PowerPC, s390x, MIPS or SPARC. kUnimplemented for others.
  static absl::StatusOr<std::unique_ptr<Disassembler>> Create(uint16_t machine, Syntax syntax);
  virtual ~Disassembler() = default;

  // The instruction at the beginning of `code`, which is not empty and stands at `address`.
  virtual Instruction Decode(std::span<const std::byte> code, uint64_t address) = 0;
};

}  // namespace profiler::annotate
