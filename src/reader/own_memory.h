// Reads the memory of a process whose user is ours, in this process.
//
// A read in a reader process costs 10 to 20 µs of CPU more (readers.h), and tables of virtual
// machines take a thousand reads a second. A process that may send us SIGSTOP gains nothing by a
// page that never comes, so its memory is read directly. It is one that this program could read
// without CAP_SYS_PTRACE and whose process namespace is ours. The kernel itself checks the users at
// each read: the capability is not effective meanwhile.

#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "src/reader/readers.h"

namespace profiler::reader {

class OwnMemory {
 public:
  OwnMemory(std::string proc, uint32_t pid) : proc_(std::move(proc)), pid_(pid) {}

  // Reads as Readers::Read does, at most kMostPieces. Returns -EPERM if the process is not one of
  // ours, and then each time. Takes 3 µs more than process_vm_readv(2) if CAP_SYS_PTRACE is
  // effective.
  int64_t Read(std::span<const Piece> pieces);

 private:
  enum class Owner : uint8_t { kUnknown, kOurs, kOther };

  const std::string proc_;
  const uint32_t pid_;
  Owner owner_ = Owner::kUnknown;
};

}  // namespace profiler::reader
