// Processes that read, and the one that forks them.
//
//   program ──socket──▶ forker ──fork──▶ reader, reader, …
//
// The forker is forked while the program is small. It never reads what belongs to others, so it can
// always be ended and waited for. Readers cannot: one that waits for a page or a file system in
// another user's hands stays after SIGKILL until that user lets it go. So a reader has no
// descriptor, terminal or working directory of the program, only memory that it shares with it, and
// if it opens files the socket that it sends them by.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "src/reader/exchange.h"

namespace profiler::reader {

// A set of one of CAP_* (<linux/capability.h>).
constexpr uint64_t Capability(int number) { return uint64_t{1} << number; }

// The work of a reader.
struct Service {
  // Answers the request of an exchange. `channel` is the socket to the program, or -1.
  std::function<void(Exchange&, int channel)> answer;
  // Capabilities that a reader of root keeps, a bit each.
  uint64_t capabilities = 0;
  bool sends_files = false;
};

// Orders of the program to the forker, a message of a byte each. If the program ends, so do forker
// and readers.
inline constexpr uint8_t kFork = 0;      // and the exchange's index: fork its reader
inline constexpr uint8_t kKill = 0x40;   // and the exchange's index: its reader is abandoned
inline constexpr uint8_t kEnd = 0x80;    // end all other readers, which are idle, and yourself
inline constexpr uint8_t kIndex = 0x3f;  // mask

// The forker's life, in a forked child.
[[noreturn]] void RunForker(int socket, Priority& priority, std::span<Exchange> exchanges,
                            const Service& service);

// futex(2) on memory that processes share.
void WakeWaiter(std::atomic<uint32_t>& word);
// Waits while `word` has that value. With `deadline`, a time of CLOCK_MONOTONIC in ns, until then.
void WaitWhile(std::atomic<uint32_t>& word, uint32_t value, const uint64_t* deadline);

}  // namespace profiler::reader
