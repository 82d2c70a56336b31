// Which event is meant where several were recorded and none is named. Values of a clock are
// nanoseconds and those of "cycles" are cycles: they are never added up.

#pragma once

#include <span>
#include <string>

#include "src/fleet/query/source.h"

namespace profiler::fleet {

// Of sums whose only key is the event, one at least: of events that are times the one with the most
// value; where none is a time, the one with the most samples, as values of different units do not
// compare. Of equal ones the first by name. Times off the CPU, of which each thread that waits has
// some, only where there is nothing else. Thread-safe.
const Sum& ChooseEvent(std::span<const Sum> events);

// What was chosen, and what was left out: a line for a person.
std::string NoteOfChoice(std::span<const Sum> events, const Sum& chosen);

// Whether the question keeps events apart by itself.
bool TellsEventsApart(const SumsQuestion& question);

}  // namespace profiler::fleet
