#include "src/base/shown_url.h"

#include <algorithm>

namespace profiler {
namespace {

constexpr std::string_view kSchemeEnd = "://";

bool IsPort(std::string_view text) {
  return text.size() <= 5 && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// Returns where the host begins. A password may contain '/', '?' or '#', which normally end the
// server part. Then the text after the first colon is not a port, and the last '@' ends the
// password.
size_t HostIn(std::string_view rest) {
  const std::string_view server = rest.substr(0, rest.find_first_of("/?#"));
  size_t at = server.rfind('@');
  const size_t colon = server.find(':');
  const bool is_cut = at == server.npos && colon != server.npos && !server.starts_with('[') &&
                      !IsPort(server.substr(colon + 1));
  if (is_cut) at = rest.rfind('@');
  return at == rest.npos ? 0 : at + 1;
}

bool EndsWord(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '"' || c == '\'' || c == '\0';
}

}  // namespace

std::string ShownUrl(std::string_view url) {
  const size_t scheme = url.find(kSchemeEnd);
  const size_t begin = scheme == url.npos ? 0 : scheme + kSchemeEnd.size();
  std::string_view rest = url.substr(begin);
  rest.remove_prefix(HostIn(rest));
  rest = rest.substr(0, rest.find_first_of("?#"));
  return std::string(url.substr(0, begin)).append(rest);
}

std::string WithShownUrls(std::string_view text) {
  std::string shown;
  while (true) {
    const size_t scheme = text.find(kSchemeEnd);
    if (scheme == text.npos) return shown.append(text);
    const size_t begin = scheme + kSchemeEnd.size();
    const auto* const end = std::find_if(text.begin() + begin, text.end(), EndsWord);
    const auto size = static_cast<size_t>(end - (text.begin() + scheme));
    shown.append(text.substr(0, scheme)).append(ShownUrl(text.substr(scheme, size)));
    text.remove_prefix(scheme + size);
  }
}

}  // namespace profiler
