// Quotes texts and names for statements. They may contain any characters.

#pragma once

#include <string>
#include <string_view>

namespace profiler::fleet::clickhouse {

// Returns 'text', with quotes, backslashes and control characters escaped.
std::string Quoted(std::string_view text);
// Returns `name`, for a database, a table or a cluster.
std::string QuotedName(std::string_view name);
// Returns '%a\\_b%', an operand of LIKE, for a pattern in which only '*' is special.
std::string QuotedPattern(std::string_view pattern);

}  // namespace profiler::fleet::clickhouse
