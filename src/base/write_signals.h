// Ignores the signals of a failed write(2): SIGPIPE if the reader is gone, SIGXFSZ beyond the limit
// on file size. write(2) then fails with EPIPE or EFBIG, which can be reported, and the file keeps
// what was written before.

#pragma once

namespace profiler {

// Ignores these signals in this process. Call it once, at the start.
void IgnoreWriteSignals();

// Restores the former effect of these signals. A program that is executed while they are ignored
// would ignore them, too. Async-signal-safe: call it between fork(2) and exec(2).
void RestoreWriteSignals();

}  // namespace profiler
