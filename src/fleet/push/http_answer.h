// What a server's answer means for a batch, where its format says nothing else.
//
//   2xx               delivered
//   400, 413, 422     refused: the server has read it, and will say so again
//   all else          try again: also 3xx, 401, 403 and 404, for these say that the destination is
//                     wrong, or not ready, and not the batch
//
// Source: RFC 9110, sections 10.2.3 (Retry-After) and 15.

#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "src/base/status.h"
#include "src/fleet/push/sender.h"
#include "src/http/http_client.h"

namespace profiler::fleet {

// Pure.
Delivery DeliveryOf(const absl::StatusOr<http::Response>& answer);

// "HTTP 400: the first line of the body", as one line that can be shown.
std::string AnswerText(const http::Response& response);

// Retry-After: seconds, or a date. Nothing where it is neither; 0 for a date that has passed.
std::optional<std::chrono::seconds> RetryAfter(std::string_view header,
                                               std::chrono::system_clock::time_point now);

}  // namespace profiler::fleet
