// Questions as statements, which the oldest server and the newest one understand alike.
//
// What is asked of stacks is first added up by stack_hash, by each shard for itself, and only then
// are names looked up, by the server that is asked: a shard that looked up names first would have
// to send a name for each sample. Sub-queries have names, and sums are not called as their columns
// are, for newer servers would take one for the other.

#pragma once

#include <string>

#include "src/fleet/query/source.h"

namespace profiler::fleet::clickhouse {

// What the rows of an answer have: see each. Without a FORMAT at their ends.
struct StacksStatements {
  // [host,] [ts, nanosecond,] event, service, program, container, pod, build_id, stack_hash,
  // samples, value
  std::string rows;
  // stack_hash, frames, images
  std::string stacks;
  // [ts, nanosecond,] host, label_keys, label_values, frequency, cpus, version,
  // begin (UInt64, nanoseconds), end (the same), lost_samples, chains, cut_chains
  std::string windows;
};
StacksStatements StatementsOf(const StacksQuestion& question);

// keys, [function,] samples, value
std::string StatementOf(const SumsQuestion& question);

// The event of one of the samples; of none, no row. Costs next to nothing.
std::string AnyEventStatement(const Selection& selection);

// The function of a stack that nobody has sent.
inline constexpr std::string_view kUnknownFunction = "[unknown]";

}  // namespace profiler::fleet::clickhouse
