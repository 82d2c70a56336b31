#include "src/terminal/descriptions.h"

#include <utility>

namespace profiler::terminal {
namespace {

constexpr std::pair<std::string_view, std::string_view> kDescriptions[] = {
#include "src/terminal/descriptions.inc"
};

}  // namespace

std::string_view DescriptionOf(std::string_view terminal) {
  for (const auto& [name, description] : kDescriptions) {
    if (name == terminal) return description;
  }
  return {};
}

}  // namespace profiler::terminal
