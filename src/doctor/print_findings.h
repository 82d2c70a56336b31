// Prints findings for people, as commands to paste, and as JSON.

#pragma once

#include <span>
#include <string>

#include "src/doctor/finding.h"

namespace profiler::doctor {

// Returns a paragraph for each group. Lines are at most `columns` wide, except for words that are
// longer. Names may contain control characters, which the terminal's writer escapes; newlines are
// replaced here.
std::string FindingsText(std::span<const FindingGroup> groups, size_t columns);

// Returns the commands of all remedies, each below comments with its reason and its risk. Every
// command stands once. The second and further remedies of a finding are comments, too.
std::string CommandsText(std::span<const FindingGroup> groups);

// Returns a JSON document: {"groups": [{"title", "findings": [{"id", "name", "state", "text",
// "remedies": [{"text", "command", "risk"}]}]}]}.
std::string FindingsJson(std::span<const FindingGroup> groups);

}  // namespace profiler::doctor
