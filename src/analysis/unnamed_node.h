// Finds Node.js processes whose JavaScript functions have no names.
//
// Node.js releases whose heap is not read while recording (docs/names.md) write the names of their
// functions to a map or dump, if the user asks for it.

#pragma once

#include <optional>
#include <string>

#include "src/profile/profile.h"

namespace profiler::analysis {

struct UnnamedNode {
  double part = 0;  // part of the event in or below unnamed code, from 0 to 1
};

// Looks at Node.js processes in which no generated code has a name. Returns the event's part in
// their generated code, for the event with the largest part. Returns nothing if that is less than a
// fiftieth, or if samples have no call chains. Recognises Node.js by the names of its files. Linear
// in the stacks and rows.
std::optional<UnnamedNode> FindUnnamedNode(const profile::Profile& profile);

// MissingText says which names are missing; RemedyText says how to get them. Each returns a clause
// of a sentence.
std::string MissingText(const UnnamedNode& node);
std::string RemedyText(const UnnamedNode& node);

}  // namespace profiler::analysis
