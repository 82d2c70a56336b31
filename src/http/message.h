// Requests and answers as lines: what the two clients have in common.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/http/http_client.h"

namespace profiler::http {

// Of headers, all together, in bytes.
inline constexpr size_t kMostHeaderBytes = 256 << 10;

// Whether it can be sent: its URL is one of http or https without a user, and nothing in it could
// be taken for another line. kInvalidArgument.
absl::Status CheckRequest(const Request& request);

// "Name: value" of all headers to be sent, `authorization` last where there is one. A header
// "Name:" has it left out.
std::vector<std::string> HeaderLines(const Request& request, const std::string& authorization);

// Whether the method has a body, even if that is empty.
bool HasBody(const Request& request);

// Takes the lines before an answer's body, as they come:
//
//   HTTP/1.1 100 Continue       each status line begins anew: what was before it was not the answer
//
//   HTTP/1.1 200 OK
//   Retry-After: 5
//
class HeaderReader {
 public:
  // False where there are too many.
  bool Add(std::string_view line);
  // The status and headers so far; body empty.
  Response Take() { return std::move(response_); }

 private:
  Response response_;
  size_t bytes_ = 0;
};

}  // namespace profiler::http
