// The signals that a failed write(2) would send: SIGPIPE where nobody reads, SIGXFSZ beyond the
// limit on a file's size. Ignored, they leave EPIPE and EFBIG, of which a person can be told, with
// what was written up to then kept.

#pragma once

namespace profiler {

// Ignores them in this process. Once, when it starts.
void IgnoreWriteSignals();

// Gives them back the effect that they had before, for the program that a child is about to
// execute: it would inherit that they are ignored. Between fork(2) and exec(2): async-signal-safe.
void RestoreWriteSignals();

}  // namespace profiler
