// Converts questions to statements that all supported servers understand.
//
// Samples are first added up by stack_hash, on each shard. Then the queried server looks up the
// names. If shards looked up names first, they would send a name with each sample. Sub-queries have
// names, and sums are not named like their columns, because newer servers would confuse them.

#pragma once

#include <string>

#include "src/fleet/query/source.h"

namespace profiler::fleet::clickhouse {

// Three statements, with the columns of their answers. The statements have no FORMAT at their ends.
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

// Returns a statement for the columns keys, [function,] samples, value.
std::string StatementOf(const SumsQuestion& question);

// Returns a statement for the event of any one selected sample; no row without samples. Its cost is
// negligible.
std::string AnyEventStatement(const Selection& selection);

// Name for the function of a stack that is missing in `stacks`.
inline constexpr std::string_view kUnknownFunction = "[unknown]";

}  // namespace profiler::fleet::clickhouse
