// Stacks made shorter, before a view counts them:
//
//   main ─ parse ─ read ─ copy      ForgetCallees("parse")   main ─ parse
//                                   ForgetCallers("parse")   parse ─ read ─ copy
//   main ─ 0x1234 ─ read            HideUnresolved           main ─ read
//
// Each is linear in the profile's stacks and rows. Rows keep their number and order, but for those
// that HideUnresolved drops.

#pragma once

#include "src/profile/profile.h"
#include "src/query/name_pattern.h"

namespace profiler::query {

// What such a function called counts as its own: a sample is of the outermost one on its stack.
void ForgetCallees(const NamePattern& pattern, profile::Profile& profile);

// Nothing stands above such a function: a stack begins with the innermost one on it.
void ForgetCallers(const NamePattern& pattern, profile::Profile& profile);

// Drops the samples that interrupted code without a symbol, and leaves out callers without one.
void HideUnresolved(profile::Profile& profile);

}  // namespace profiler::query
