// What is asked, in one word, as every view takes it:
//
//   /var/lib/profiler?since=1h&service=web
//   clickhouse+http://host:8123/db?since=1d&where=release!=1.2&host~db*
//
// In front of the question mark stands who is asked. Behind it stand conditions, the stretch of
// time, and files that say who asks (user-file=FILE, token-file, ca-file, cert-file, key-file, and
// proxy=URL), with '&' between them; %XX is the byte of that number.

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/status.h"
#include "src/fleet/selection.h"

namespace profiler::fleet {

struct Address {
  std::string source;  // a directory, or a server's URL
  Selection selection;
  bool tells_times_apart = false;  // "times=1"
  // What is said of the way to the server: "user-file", and its value.
  std::vector<std::pair<std::string, std::string>> server;
};

// `selection` is what holds where the text says nothing of it. kInvalidArgument says what cannot be
// read.
absl::StatusOr<Address> ParseAddress(std::string_view text, UnixTime now, Selection selection = {});

// Adds "since=1h", "until=…" or a condition to the selection. kInvalidArgument as above.
absl::Status AddTerm(std::string_view term, UnixTime now, Selection* selection);

// "service=web", as ParseCondition reads it.
std::string TextOf(const Condition& condition);
// "2026-11-26T08:00:00Z to …, service=web": for a person.
std::string TextOf(const Selection& selection);

}  // namespace profiler::fleet
