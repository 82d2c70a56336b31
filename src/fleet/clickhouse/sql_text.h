// Quotes texts and names for statements. They may contain any characters.

#pragma once

#include <string>
#include <string_view>

namespace profiler::fleet::clickhouse {

// Returns the text in quotes: 'text'. Escapes quotes, backslashes and control characters in it.
std::string Quoted(std::string_view text);
// Returns the name of a database, a table or a cluster in backquotes: `name`.
std::string QuotedName(std::string_view name);
// Converts a pattern, in which only '*' is special, to an operand of LIKE: *a_b* becomes '%a\\_b%'.
std::string QuotedPattern(std::string_view pattern);

}  // namespace profiler::fleet::clickhouse
