// Shortens stacks before a view counts them:
//
//   main ─ parse ─ read ─ copy      ForgetCallees("parse")   main ─ parse
//                                   ForgetCallers("parse")   parse ─ read ─ copy
//   main ─ 0x1234 ─ read            HideUnresolved           main ─ read
//
// Each function is linear in the profile's stacks and rows. Rows keep their number and order,
// except rows that HideUnresolved drops.

#pragma once

#include "src/analysis/name_pattern.h"
#include "src/profile/profile.h"

namespace profiler::analysis {

// Counts callees of a matching function as the function itself. If a stack has several matching
// functions, the outermost one counts.
void ForgetCallees(const NamePattern& pattern, profile::Profile& profile);

// Removes the callers of a matching function. If a stack has several matching functions, it begins
// with the innermost one.
void ForgetCallers(const NamePattern& pattern, profile::Profile& profile);

// Drops samples that interrupted code without a symbol, and removes callers without a symbol.
void HideUnresolved(profile::Profile& profile);

}  // namespace profiler::analysis
