// An address: a source of a fleet's windows and a selection in one word, which every view accepts.
//
//   /var/lib/profiler?since=1h&service=web
//   clickhouse+http://host:8123/db?since=1d&where=release!=1.2&host~db*
//
// The source precedes the question mark. After it come terms, separated by '&': conditions, the
// interval, and options for the connection to a server (user-file=FILE, token-file, ca-file,
// cert-file, key-file, and proxy=URL). %XX is the byte with that hexadecimal number.

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/status.h"
#include "src/fleet/segments/selection.h"

namespace profiler::fleet {

struct Address {
  std::string source;  // a directory, or a server's URL
  Selection selection;
  bool tells_times_apart = false;  // True for "times=1": keep the windows' begins apart.
  // Options of the connection: "user-file" and its value.
  std::vector<std::pair<std::string, std::string>> server;
};

// Parses an address. Its terms replace the times in `selection` and add conditions to it. Returns
// kInvalidArgument, which names the malformed part, for a malformed address.
absl::StatusOr<Address> ParseAddress(std::string_view text, UnixTime now, Selection selection = {});

// Adds "since=1h", "until=…" or a condition to the selection. Returns kInvalidArgument, which says
// what is wrong, for a malformed term.
absl::Status AddTerm(std::string_view term, UnixTime now, Selection* selection);

// Returns "service=web", in the form that ParseCondition reads.
std::string TextOf(const Condition& condition);
// Returns "2026-11-26T08:00:00Z to …, service=web", for display.
std::string TextOf(const Selection& selection);

}  // namespace profiler::fleet
