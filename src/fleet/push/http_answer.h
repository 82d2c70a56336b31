// Interprets HTTP statuses for senders whose protocol does not define other meanings:
//
//   2xx               delivered
//   400, 413, 422     refused: the server has read the batch, and would refuse it again
//   any other         try again; also 3xx, 401, 403 and 404, which mean that the destination is
//                     wrong or not ready, not that the batch is bad
//
// Source: RFC 9110, sections 10.2.3 (Retry-After) and 15.

#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "src/base/status.h"
#include "src/fleet/push/sender.h"
#include "src/http/http_client.h"

namespace profiler::fleet {

// Bytes of an answer that a sender reads at most.
inline constexpr size_t kMostAnswer = 1 << 20;

// Returns the outcome of a request, from its answer or error.
Delivery DeliveryOf(const absl::StatusOr<http::Response>& answer);

// Returns "HTTP 400: the first line of the body" as one printable line.
std::string AnswerText(const http::Response& response);

// Parses Retry-After, which is seconds or a date; none if it is malformed, 0 for a date in the
// past.
std::optional<std::chrono::seconds> RetryAfter(std::string_view header,
                                               std::chrono::system_clock::time_point now);

}  // namespace profiler::fleet
