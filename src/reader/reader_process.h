// Processes that read, and the one that forks them.
//
//   program ──socket──▶ forker ──fork──▶ reader, reader, …
//
// The forker is forked while the program is small. It never reads another process's memory, so it
// can always be ended and waited for. Readers cannot: one that waits for a page in another user's
// hands stays after SIGKILL until the page comes. So a reader has no descriptor, terminal or
// working directory of the program, only memory that it shares with it.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "src/reader/exchange.h"

namespace profiler::reader {

// Reads memory of a process as process_vm_readv(2) does. Returns the number of bytes, or a negative
// errno.
using ReadFunction = int64_t (*)(uint32_t pid, std::span<const RemotePiece> pieces,
                                 std::span<std::byte> into);
int64_t ReadMemory(uint32_t pid, std::span<const RemotePiece> pieces, std::span<std::byte> into);

// Orders of the program to the forker, a byte each. If the program ends, so do forker and readers.
inline constexpr uint8_t kFork = 0;      // and the exchange's index: fork its reader
inline constexpr uint8_t kKill = 0x40;   // and the exchange's index: its reader is abandoned
inline constexpr uint8_t kEnd = 0x80;    // end all other readers, which are idle, and yourself
inline constexpr uint8_t kIndex = 0x3f;  // mask

// The forker's life. Called in a forked child; calls nothing that may not be called there in a
// program with threads.
[[noreturn]] void RunForker(int socket, Priority& priority, std::span<Exchange> exchanges,
                            ReadFunction read);

// futex(2) on memory that processes share.
void WakeWaiter(std::atomic<uint32_t>& word);
// Waits while `word` has that value. With `deadline`, a time of CLOCK_MONOTONIC in ns, until then.
void WaitWhile(std::atomic<uint32_t>& word, uint32_t value, const uint64_t* deadline);

}  // namespace profiler::reader
