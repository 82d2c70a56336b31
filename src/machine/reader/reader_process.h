// Runs the reader processes and the process that forks them.
//
//   program ──socket──▶ forker ──fork──▶ reader, reader, …
//
// The forker is forked while the program is small. It never reads other users' files or memory, so
// it can always be ended and waited for. A reader cannot: if it waits for a page or a file system
// that another user controls, it survives SIGKILL until that user lets it go. So a reader keeps no
// descriptor, terminal or working directory of the program. It has only the shared memory and, if
// it opens files, the socket to send them.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "src/machine/reader/exchange.h"

namespace profiler::reader {

// Returns the set with one capability, a CAP_* of <linux/capability.h>.
constexpr uint64_t Capability(int number) { return uint64_t{1} << number; }

// The work of a reader.
struct Service {
  // Answers the request of an exchange. `channel` is the socket to the program, or -1.
  std::function<void(Exchange&, int channel)> answer;
  // Capabilities that readers keep if they run as root, one bit each.
  uint64_t capabilities = 0;
  bool sends_files = false;
};

// Orders that the program sends to the forker, as messages of one byte. When the program ends, the
// forker and the readers end, too.
inline constexpr uint8_t kFork = 0;      // kFork | index: fork the reader of that exchange
inline constexpr uint8_t kKill = 0x40;   // kKill | index: abandon the reader of that exchange
inline constexpr uint8_t kEnd = 0x80;    // end the idle readers and the forker
inline constexpr uint8_t kIndex = 0x3f;  // bits of the index in kFork and kKill orders

// Runs the forker, in a forked child.
[[noreturn]] void RunForker(int socket, Priority& priority, std::span<Exchange> exchanges,
                            const Service& service);

// Wakes a waiter by futex(2), in memory that processes share.
void WakeWaiter(std::atomic<uint32_t>& word);
// Waits while `word` has that value, at most until `deadline` (CLOCK_MONOTONIC in ns) unless that
// is null.
void WaitWhile(std::atomic<uint32_t>& word, uint32_t value, const uint64_t* deadline);

}  // namespace profiler::reader
