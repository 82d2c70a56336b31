// Reports how much of a recording has names, and remedies for code without names.

#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "src/profile/profile.h"

namespace profiler::report {

// Returns a line for the top of an event's rows. It has the weights of interrupted instructions
// that have a symbol, only the start of their function, or no name:
//
//   # Names: 65.25% by symbol, 33.86% by function start only, 0.89% without (see --unresolved)
//
// Empty if all interrupted instructions have a symbol.
std::string NamesLine(const profile::Profile& profile, profile::EventId event);

// Returns how to get names for an image whose file has too few symbols, as a phrase that begins with
// a verb. `path` is the image's file, `build_id` may be empty.
using SymbolsRemedy =
    std::function<std::string(std::string_view path, std::span<const std::byte> build_id)>;

// Returns the text of `report --unresolved`. For each event, it lists the images that have
// addresses without a symbol in samples or call chains, the heaviest image first. Each image has
// the reason, a remedy and its heaviest addresses. If every address has a symbol, the text says so.
std::string FormatUnresolved(const profile::Profile& profile, const SymbolsRemedy& remedy);

}  // namespace profiler::report
