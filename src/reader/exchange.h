// Memory that the program and one of its reader processes share: one request and its answer.
//
//   program                         reader
//   request, asked = n, wake  ───▶  waits for `asked`
//   waits for `answered`      ◀───  data, result, answered = n, wake
//
// Both sides wait by futex(2): a round trip costs 5 µs of CPU beside the read.
//
// Private to this package.

#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace profiler::reader {

// Pieces of a request: at most IOV_MAX of process_vm_readv(2).
inline constexpr size_t kMostPieces = 512;
// Bytes of an answer. The stack of a waiting thread has as many at most.
inline constexpr size_t kMostBytes = size_t{1} << 20;

struct RemotePiece {
  uint64_t address = 0;
  uint64_t size = 0;
};

struct Exchange {
  std::atomic<uint32_t> asked;     // number of the last request
  std::atomic<uint32_t> answered;  // number of the last answer
  std::atomic<pid_t> process;      // the reader; 0: not there yet
  uint32_t pid;                    // whose memory is asked for
  uint32_t pieces_count;
  std::array<RemotePiece, kMostPieces> pieces;
  int64_t result;  // bytes of `data` that were read, or a negative errno
  alignas(4096) std::array<std::byte, kMostBytes> data;
};

// Priority of the thread that waits for the readers, for them to take over.
struct Priority {
  std::atomic<uint32_t> version;
  std::atomic<int> policy;  // SCHED_*, without flags
  std::atomic<int> real_time;
  std::atomic<int> nice;
};

// Each reader has an exchange of its own: one that was abandoned may still write into its own.
template <size_t kCount>
struct SharedArea {
  Priority priority;
  std::array<Exchange, kCount> exchanges;
};

}  // namespace profiler::reader
