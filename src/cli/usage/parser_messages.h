// Turns the errors of CLI11 into messages for users.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class ParseError;
class Validator;
}  // namespace CLI

namespace profiler::usage {

// Returns the message of an error, as a sentence that names the option as it is typed.
std::string MessageOf(const CLI::ParseError& error);

// Returns a check with the same result and help text as `check`. Its message says that the value is
// not `expected`, such as "a number from 1 to 9"; `known` are the words among which the message
// looks for a similar one.
CLI::Validator Explained(const CLI::Validator& check, const std::string& expected,
                         const std::vector<std::string>& known = {});

}  // namespace profiler::usage
