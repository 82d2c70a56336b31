#include "src/views/json/document.h"

#include <string_view>

#include "src/base/json_escape.h"

namespace profiler::json {
namespace {

constexpr int kVersion = 1;

}  // namespace

Value Document(std::string_view view) {
  return {{"format", "profiler"}, {"version", kVersion}, {"view", view}};
}

std::string Text(const Value& document) {
  return EscapeControls(document.dump(1, ' ', false, Value::error_handler_t::replace)) + "\n";
}

std::string Line(const Value& document) {
  return EscapeControls(document.dump(-1, ' ', false, Value::error_handler_t::replace)) + "\n";
}

}  // namespace profiler::json
