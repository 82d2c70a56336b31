// Texts and names in statements: whatever they have in them, they stay what they are.

#pragma once

#include <string>
#include <string_view>

namespace profiler::fleet::clickhouse {

// 'text': quotes, backslashes and controls are escaped.
std::string Quoted(std::string_view text);
// `name`, of a database, a table or a cluster.
std::string QuotedName(std::string_view name);
// '%a\\_b%': what LIKE compares with, of a pattern in which '*' alone stands for any characters.
std::string QuotedPattern(std::string_view pattern);

}  // namespace profiler::fleet::clickhouse
