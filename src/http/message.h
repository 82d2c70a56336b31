// Converts requests to lines of text, and lines of text to answers, for both clients.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/http/http_client.h"

namespace profiler::http {

// Limit of an answer's headers, all together, in bytes.
inline constexpr size_t kMostHeaderBytes = 256 << 10;

// Checks that the request can be sent: its URL is http or https without a user, and no field
// contains a line break, which could inject another header. Error: kInvalidArgument.
absl::Status CheckRequest(const Request& request);

// Returns the headers to send as "Name: value", with `authorization` last unless it is empty. A
// line "Name:" without a value makes curl omit its own header of that name.
std::vector<std::string> HeaderLines(const Request& request, const std::string& authorization);

// True if the method has a body, even an empty one.
bool HasBody(const Request& request);

// A reader of the lines that precede an answer's body:
//
//   HTTP/1.1 100 Continue       each status line starts over: earlier lines were an interim answer
//
//   HTTP/1.1 200 OK
//   Retry-After: 5
//
class HeaderReader {
 public:
  // Returns false if the headers are longer than kMostHeaderBytes.
  bool Add(std::string_view line);
  // Returns the status and the headers read so far; the body is empty.
  Response Take() { return std::move(response_); }

 private:
  Response response_;
  size_t bytes_ = 0;
};

}  // namespace profiler::http
