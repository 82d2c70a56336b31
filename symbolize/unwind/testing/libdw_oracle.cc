#include "symbolize/unwind/testing/libdw_oracle.h"

#include <dwarf.h>
#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

namespace profiler::symbolize {

LibdwOracle::LibdwOracle(const std::string& path, bool debug_frame, Architecture architecture)
    : architecture_(architecture), debug_frame_(debug_frame) {
  elf_version(EV_CURRENT);
  fd_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd_ < 0) return;
  elf_ = elf_begin(fd_, ELF_C_READ_MMAP, nullptr);
  if (elf_ == nullptr) return;
  if (debug_frame) {
    dwarf_ = dwarf_begin_elf(elf_, DWARF_C_READ, nullptr);
    cfi_ = dwarf_ == nullptr ? nullptr : dwarf_getcfi(dwarf_);
  } else {
    cfi_ = dwarf_getcfi_elf(elf_);
  }
}

LibdwOracle::~LibdwOracle() {
  if (!debug_frame_ && cfi_ != nullptr) dwarf_cfi_end(cfi_);
  if (dwarf_ != nullptr) dwarf_end(dwarf_);
  if (elf_ != nullptr) elf_end(elf_);
  if (fd_ >= 0) close(fd_);
}

size_t LibdwOracle::CountFunctions() const {
  const std::string_view wanted = debug_frame_ ? ".debug_frame" : ".eh_frame";
  size_t names = 0;
  if (elf_getshdrstrndx(elf_, &names) != 0) return 0;
  size_t count = 0;
  for (Elf_Scn* scn = elf_nextscn(elf_, nullptr); scn != nullptr; scn = elf_nextscn(elf_, scn)) {
    GElf_Shdr header;
    gelf_getshdr(scn, &header);
    const char* name = elf_strptr(elf_, names, header.sh_name);
    if (name == nullptr || name != wanted) continue;
    Elf_Data* data = elf_getdata(scn, nullptr);
    GElf_Ehdr ehdr;
    gelf_getehdr(elf_, &ehdr);
    Dwarf_Off next = 0;
    Dwarf_CFI_Entry entry;
    for (Dwarf_Off offset = 0;
         dwarf_next_cfi(ehdr.e_ident, data, !debug_frame_, offset, &next, &entry) == 0;
         offset = next) {
      if (!dwarf_cfi_cie_p(&entry)) ++count;
    }
  }
  return count;
}

// Evaluates the operations that occur in call frame information; rejects all others.
std::optional<LibdwOracle::Value> LibdwOracle::Evaluate(const Dwarf_Op* ops, size_t count,
                                                        std::optional<uint64_t> cfa,
                                                        const RegisterSet& registers,
                                                        const Memory& memory) const {
  std::vector<uint64_t> stack;
  const auto pop = [&stack] {
    const uint64_t value = stack.empty() ? 0 : stack.back();
    if (!stack.empty()) stack.pop_back();
    return value;
  };
  for (size_t i = 0; i < count; ++i) {
    const Dwarf_Op& op = ops[i];
    if (op.atom >= DW_OP_breg0 && op.atom <= DW_OP_breg31) {
      if (!registers.Knows(op.atom - DW_OP_breg0)) return std::nullopt;
      stack.push_back(registers.Get(op.atom - DW_OP_breg0) + op.number);
      continue;
    }
    if (op.atom >= DW_OP_reg0 && op.atom <= DW_OP_reg31) {
      if (!registers.Knows(op.atom - DW_OP_reg0)) return std::nullopt;
      return Value{registers.Get(op.atom - DW_OP_reg0), false};
    }
    if (op.atom >= DW_OP_lit0 && op.atom <= DW_OP_lit31) {
      stack.push_back(op.atom - DW_OP_lit0);
      continue;
    }
    switch (op.atom) {
      case DW_OP_regx:
        if (!registers.Knows(static_cast<unsigned>(op.number))) return std::nullopt;
        return Value{registers.Get(static_cast<unsigned>(op.number)), false};
      case DW_OP_bregx:
        if (!registers.Knows(static_cast<unsigned>(op.number))) return std::nullopt;
        stack.push_back(registers.Get(static_cast<unsigned>(op.number)) + op.number2);
        break;
      case DW_OP_call_frame_cfa:
        if (!cfa) return std::nullopt;
        stack.push_back(*cfa);
        break;
      case DW_OP_plus_uconst:
        stack.push_back(pop() + op.number);
        break;
      case DW_OP_const1u:
      case DW_OP_const1s:
      case DW_OP_const2u:
      case DW_OP_const2s:
      case DW_OP_const4u:
      case DW_OP_const4s:
      case DW_OP_constu:
      case DW_OP_consts:
        stack.push_back(op.number);
        break;
      case DW_OP_deref:
        stack.push_back(memory(pop()));
        break;
      case DW_OP_and: {
        const uint64_t right = pop();
        stack.push_back(pop() & right);
        break;
      }
      case DW_OP_plus: {
        const uint64_t right = pop();
        stack.push_back(pop() + right);
        break;
      }
      case DW_OP_minus: {
        const uint64_t right = pop();
        stack.push_back(pop() - right);
        break;
      }
      case DW_OP_mul: {
        const uint64_t right = pop();
        stack.push_back(pop() * right);
        break;
      }
      case DW_OP_shl: {
        const uint64_t right = pop();
        stack.push_back(pop() << right);
        break;
      }
      case DW_OP_ge: {
        const auto right = static_cast<int64_t>(pop());
        stack.push_back(static_cast<int64_t>(pop()) >= right ? 1 : 0);
        break;
      }
      case DW_OP_stack_value:
        return Value{pop(), false};
      default:
        return std::nullopt;
    }
  }
  if (stack.empty()) return std::nullopt;
  return Value{stack.back(), true};
}

std::optional<OracleStep> LibdwOracle::Step(uint64_t address, const RegisterSet& registers,
                                            const Memory& memory) const {
  Dwarf_Frame* raw = nullptr;
  if (dwarf_cfi_addrframe(cfi_, address, &raw) != 0) return std::nullopt;
  const std::unique_ptr<Dwarf_Frame, decltype(&std::free)> frame(raw, std::free);
  OracleStep step{.caller = RegisterSet(architecture_)};
  Dwarf_Addr start = 0;
  Dwarf_Addr end = 0;
  const int return_address = dwarf_frame_info(raw, &start, &end, &step.signal_frame);
  step.row_start = start;
  step.row_end = end;
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  if (dwarf_frame_cfa(raw, &ops, &count) != 0 || count == 0) return std::nullopt;
  const std::optional<Value> cfa = Evaluate(ops, count, std::nullopt, registers, memory);
  if (!cfa) return std::nullopt;
  const RegisterNumbers numbers = NumbersOf(architecture_);
  step.caller.Set(numbers.sp, cfa->value);
  for (unsigned i = 0; i < kRegisters; ++i) {
    if (i == numbers.pc && i != numbers.return_address) continue;  // DWARF has no such number
    Dwarf_Op room[3];
    if (dwarf_frame_register(raw, static_cast<int>(i), room, &ops, &count) != 0) continue;
    const bool is_return_address = static_cast<int>(i) == return_address;
    if (count == 0 && ops == room) {  // undefined
      if (is_return_address) step.thread_start = true;
      continue;
    }
    std::optional<uint64_t> value;
    if (count == 0) {
      if (registers.Knows(i)) value = registers.Get(i);  // same value
      if (i == numbers.sp) value = cfa->value;
    } else if (const auto found = Evaluate(ops, count, cfa->value, registers, memory)) {
      value = found->is_location ? memory(found->value) : found->value;
    }
    if (!value) continue;
    step.caller.Set(i, *value);
    if (is_return_address) step.caller.Set(numbers.pc, *value);
  }
  return step;
}

}  // namespace profiler::symbolize
