// Node.js that ran, and whose JavaScript no stack names.
//
// Releases whose heap is not read while recording (docs/names.md) name their functions in a map or
// dump, if they are asked to.

#pragma once

#include <optional>
#include <string>

#include "src/profile/profile.h"

namespace profiler::query {

struct UnnamedNode {
  double part = 0;  // of the event, from 0 to 1, that ran in or below its code without names
};

// In the processes of Node.js in which no generated code has a name, as long as their generated
// code has at least a fiftieth of the event; of the event in which it is most. Nothing where
// samples have no call chains. Node.js is known by the names of its files. Linear in the stacks and
// rows.
std::optional<UnnamedNode> FindUnnamedNode(const profile::Profile& profile);

// Return two clauses of a sentence: which names are missing, and how to get them.
std::string MissingText(const UnnamedNode& node);
std::string RemedyText(const UnnamedNode& node);

}  // namespace profiler::query
