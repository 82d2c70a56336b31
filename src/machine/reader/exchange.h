// Memory that the program shares with one of its reader processes: one request and its answer.
//
//   program                         reader
//   request, asked = n, wake  ───▶  waits for `asked`
//   waits for `answered`      ◀───  answer, answered = n, wake
//
// Both sides wait by futex(2). A round trip costs 5 µs of CPU besides the work.
//
// Private to this package.

#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace profiler::reader {

// The most pieces of a request for memory, below IOV_MAX of process_vm_readv(2).
inline constexpr size_t kMostPieces = 512;
// The most bytes of memory in an answer. The copied stack of a waiting thread is not larger.
inline constexpr size_t kMostBytes = size_t{1} << 20;
// The most bytes of any request or answer. The names of all mappings of a process take 2 MB at
// most.
inline constexpr size_t kDataBytes = size_t{4} << 20;

struct RemotePiece {
  uint64_t address = 0;
  uint64_t size = 0;
};

// One request and its answer.
struct Exchange {
  std::atomic<uint32_t> asked;     // number of the last request
  std::atomic<uint32_t> answered;  // number of the last answer
  std::atomic<pid_t> process;      // the reader; 0: not forked yet; -1: abandoned, or fork failed
  // The request for memory:
  uint32_t pid;
  uint32_t pieces_count;
  std::array<RemotePiece, kMostPieces> pieces;
  int64_t result;  // the answer: number of bytes in `data`, or a negative errno
  // Size of a file request in `data`; the answer's bytes replace the request.
  uint64_t request_bytes;
  alignas(4096) std::array<std::byte, kDataBytes> data;
};

// Priority of the thread that waits for the readers. The readers adopt it.
struct Priority {
  std::atomic<uint32_t> version;
  std::atomic<int> policy;  // SCHED_*, without flags
  std::atomic<int> real_time;
  std::atomic<int> nice;
};

}  // namespace profiler::reader
