// Converts questions to statements that all supported servers understand.
//
// Each shard first adds up samples by stack_hash. Then the queried server looks up the names. If
// the shards looked up names, they would send a name with each sample. Sub-queries have names, and
// a sum never has the name of its column, because newer servers would confuse the two.

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

// Returns a statement for the event of any one selected sample. Its answer has no row if there is
// no sample. Its cost is negligible.
std::string AnyEventStatement(const Selection& selection);

// Name for the function of a stack that is missing in `stacks`.
inline constexpr std::string_view kUnknownFunction = "[unknown]";

}  // namespace profiler::fleet::clickhouse
