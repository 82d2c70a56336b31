#include "src/http/http_client.h"

namespace profiler::http {

std::string_view Response::Header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

}  // namespace profiler::http
