#include "src/http/message.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "src/base/shown_url.h"
#include "src/base/text.h"

namespace profiler::http {
namespace {

bool IsVisible(char c) { return c > ' ' && c < '\x7f'; }
bool IsOfName(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-'; }

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && absl::ascii_isspace(static_cast<unsigned char>(text.back()))) {
    text.remove_suffix(1);
  }
  return text;
}

absl::Status CheckUrl(std::string_view url) {
  std::string_view rest = url;
  if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else if (rest.starts_with("https://")) {
    rest.remove_prefix(8);
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat(ShownUrl(url), ": must begin with http:// or https://"));
  }
  const std::string_view server = rest.substr(0, rest.find_first_of("/?#"));
  if (server.find('@') != server.npos) {
    return absl::InvalidArgumentError(
        "a user and a password do not belong into a URL; put them into a file");
  }
  if (server.empty() || !std::ranges::all_of(url, IsVisible)) {
    return absl::InvalidArgumentError(absl::StrCat(ShownUrl(url), ": is no URL"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckRequest(const Request& request) {
  PROFILER_RETURN_IF_ERROR(CheckUrl(request.url));
  bool is_sound = !request.method.empty() && std::ranges::all_of(request.method, [](char c) {
    return absl::ascii_isupper(static_cast<unsigned char>(c));
  });
  for (const auto& [name, value] : request.headers) {
    is_sound = is_sound && !name.empty() && std::ranges::all_of(name, IsOfName) &&
               std::ranges::none_of(value, [](char c) { return c == '\n' || c == '\r' || c == 0; });
  }
  if (is_sound) return absl::OkStatus();
  return absl::InvalidArgumentError("a request with an invalid method or header");
}

std::vector<std::string> HeaderLines(const Request& request, const std::string& authorization) {
  std::vector<std::string> lines;
  bool has_type = false;
  for (const auto& [name, value] : request.headers) {
    has_type = has_type || absl::AsciiStrToLower(name) == "content-type";
    // In libcurl, "Name;" sends a header with an empty value.
    lines.push_back(value.empty() ? name + ";" : absl::StrCat(name, ": ", value));
  }
  if (!has_type) lines.push_back("Content-Type:");  // otherwise curl declares the body a form
  if (!authorization.empty()) lines.push_back(authorization);
  return lines;
}

bool HasBody(const Request& request) {
  return request.method == "POST" || request.method == "PUT" || !request.body.empty();
}

bool HeaderReader::Add(std::string_view line) {
  bytes_ += line.size();
  if (bytes_ > kMostHeaderBytes) return false;
  if (line.starts_with("HTTP/")) {
    response_ = Response();
    line.remove_prefix(std::min(line.find(' '), line.size() - 1) + 1);
    std::from_chars(line.data(), line.data() + line.size(), response_.status);
    return true;
  }
  const size_t colon = line.find(':');
  if (colon == line.npos) return true;  // the empty line, or a malformed one
  response_.headers.emplace_back(absl::AsciiStrToLower(View(line.substr(0, colon))),
                                 Trimmed(line.substr(colon + 1)));
  return true;
}

}  // namespace profiler::http
