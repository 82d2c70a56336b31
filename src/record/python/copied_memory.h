// Shows the memory of a process with the copies of objects that the kernel made at a sample
// (src/record/bpf/python_stack.h) in place of what is there now. So names can be read after the
// process has freed the objects, and after it has ended.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "src/record/bpf/python_stack.h"
#include "symbolize/process_memory.h"

namespace profiler::record::python {

// The frame whose code object a record has copied.
struct CopiedCode {
  uint32_t generation = 0;
  uint64_t code = 0, globals = 0, print = 0;
};

// Returns true if a record of the kernel is a PythonCopy.
bool IsCopy(std::span<const std::byte> record);

// Memory with copies. Not thread-safe.
class CopiedMemory final : public symbolize::ProcessMemory {
 public:
  // `now` is the present memory, and must outlive this object.
  explicit CopiedMemory(symbolize::ProcessMemory& now) : now_(now) {}

  // Takes the pieces of a record, which must stay valid until Clear. Returns nothing if the record
  // is no PythonCopy. Pieces that do not lie in the record are left out.
  std::optional<CopiedCode> Take(std::span<const std::byte> record);
  void Clear() { record_ = {}; }

  // Reads from the piece that contains all of the bytes, else from the present memory.
  bool Read(uint64_t address, std::span<std::byte> bytes) override;
  uint64_t Now() override { return now_.Now(); }

 private:
  symbolize::ProcessMemory& now_;
  std::span<const std::byte> record_;
  PythonPiece pieces_[kPythonPieces] = {};
};

}  // namespace profiler::record::python
