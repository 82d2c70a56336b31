// Chooses one event if several were recorded and the user names none. Values of different events
// are never added up, because their units differ: nanoseconds for clocks, cycles for "cycles".

#pragma once

#include <span>
#include <string>

#include "src/fleet/query/source.h"

namespace profiler::fleet {

// Chooses an event from sums whose only key is the event; there must be at least one sum. Prefers
// the time event with the largest value. If there is no time event, prefers the event with the most
// samples, because values of different units cannot be compared. Of equal events, prefers the first
// by name. Off-CPU time is the last resort, because every thread that waits has some. Thread-safe.
const Sum& ChooseEvent(std::span<const Sum> events);

// Returns a line for the user that names the chosen event and the others.
std::string NoteOfChoice(std::span<const Sum> events, const Sum& chosen);

// True if the question groups by event.
bool TellsEventsApart(const SumsQuestion& question);

}  // namespace profiler::fleet
