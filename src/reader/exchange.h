// Memory that the program and one of its reader processes share: one request and its answer.
//
//   program                         reader
//   request, asked = n, wake  ───▶  waits for `asked`
//   waits for `answered`      ◀───  answer, answered = n, wake
//
// Both sides wait by futex(2): a round trip costs 5 µs of CPU beside the work.
//
// Private to this package.

#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace profiler::reader {

// Pieces of a request for memory: at most IOV_MAX of process_vm_readv(2).
inline constexpr size_t kMostPieces = 512;
// Bytes of an answer with memory. The stack of a waiting thread has as many at most.
inline constexpr size_t kMostBytes = size_t{1} << 20;
// Bytes of any request or answer: the names of all mappings that a process may have take 2 MB.
inline constexpr size_t kDataBytes = size_t{4} << 20;

struct RemotePiece {
  uint64_t address = 0;
  uint64_t size = 0;
};

struct Exchange {
  std::atomic<uint32_t> asked;     // number of the last request
  std::atomic<uint32_t> answered;  // number of the last answer
  std::atomic<pid_t> process;      // the reader; 0: not there yet; -1: abandoned, or never there
  // A request for memory.
  uint32_t pid;
  uint32_t pieces_count;
  std::array<RemotePiece, kMostPieces> pieces;
  int64_t result;  // of the answer: bytes of `data`, or a negative errno
  // Bytes of `data` that are a request for a file; its answer's bytes stand there afterwards.
  uint64_t request_bytes;
  alignas(4096) std::array<std::byte, kDataBytes> data;
};

// Priority of the thread that waits for the readers, for them to take over.
struct Priority {
  std::atomic<uint32_t> version;
  std::atomic<int> policy;  // SCHED_*, without flags
  std::atomic<int> real_time;
  std::atomic<int> nice;
};

}  // namespace profiler::reader
