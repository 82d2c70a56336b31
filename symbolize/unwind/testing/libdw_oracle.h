// Evaluates rules with libdw, on made-up registers and memory, to compare results in tests.

#pragma once

#include <elfutils/libdw.h>
#include <libelf.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "symbolize/unwind/registers.h"

namespace profiler::symbolize {

// The result of one step to the caller.
struct OracleStep {
  bool thread_start = false;
  bool signal_frame = false;
  RegisterSet caller;  // the caller's registers; only some are known
  uint64_t row_start = 0, row_end = 0;
};

// One ELF file in libdw.
class LibdwOracle {
 public:
  using Memory = std::function<uint64_t(uint64_t address)>;

  // Reads .eh_frame of the file `path`, or .debug_frame if `debug_frame` is true.
  LibdwOracle(const std::string& path, bool debug_frame, Architecture architecture);
  ~LibdwOracle();
  LibdwOracle(const LibdwOracle&) = delete;
  LibdwOracle& operator=(const LibdwOracle&) = delete;

  bool ok() const { return cfi_ != nullptr; }
  // Returns the number of FDEs.
  size_t CountFunctions() const;
  // Steps to the caller. Empty if libdw has no rule, or if the step needs an unknown value.
  std::optional<OracleStep> Step(uint64_t address, const RegisterSet& registers,
                                 const Memory& memory) const;

 private:
  struct Value {
    uint64_t value;
    bool is_location;
  };
  std::optional<Value> Evaluate(const Dwarf_Op* ops, size_t count, std::optional<uint64_t> cfa,
                                const RegisterSet& registers, const Memory& memory) const;

  Architecture architecture_;
  int fd_ = -1;
  Elf* elf_ = nullptr;
  Dwarf* dwarf_ = nullptr;
  Dwarf_CFI* cfi_ = nullptr;
  bool debug_frame_;
};

}  // namespace profiler::symbolize
