#include "src/fleet/push/http_answer.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "src/base/text.h"

namespace profiler::fleet {
namespace {

constexpr size_t kLongestExcerpt = 200;
constexpr int kBadRequest = 400, kTooLarge = 413, kUnprocessable = 422;

bool IsRefusal(int status) {
  return status == kBadRequest || status == kTooLarge || status == kUnprocessable;
}

}  // namespace

std::optional<std::chrono::seconds> RetryAfter(std::string_view header,
                                               std::chrono::system_clock::time_point now) {
  constexpr int64_t kLongest = 366 * 86'400;
  int64_t seconds = 0;
  if (absl::SimpleAtoi(View(header), &seconds)) {
    if (seconds < 0) return std::nullopt;
    return std::chrono::seconds(std::min(seconds, kLongest));
  }
  absl::Time date;
  std::string error;
  if (!absl::ParseTime("%a, %d %b %Y %H:%M:%S GMT", View(header), &date, &error)) {
    return std::nullopt;
  }
  seconds = absl::ToInt64Seconds(date - absl::FromChrono(now));
  return std::chrono::seconds(std::clamp<int64_t>(seconds, 0, kLongest));
}

std::string AnswerText(const http::Response& response) {
  std::string text = absl::StrCat("HTTP ", response.status);
  const std::string_view line = std::string_view(response.body)
                                    .substr(0, response.body.find('\n'))
                                    .substr(0, kLongestExcerpt);
  const bool is_text = std::ranges::none_of(line, absl::ascii_iscntrl);
  if (line.empty() || !is_text) return text;
  text += ": ";
  AppendPrintable(line, text);
  return text;
}

Delivery DeliveryOf(const absl::StatusOr<http::Response>& answer) {
  using Outcome = Delivery::Outcome;
  if (!answer.ok()) {
    return {.outcome = Outcome::kTryAgain, .reason = std::string(answer.status().message())};
  }
  if (answer->status >= 200 && answer->status < 300) return {};
  if (IsRefusal(answer->status)) {
    return {.outcome = Outcome::kRefused, .reason = AnswerText(*answer)};
  }
  return {.outcome = Outcome::kTryAgain,
          .reason = AnswerText(*answer),
          .wait = RetryAfter(answer->Header("retry-after"), std::chrono::system_clock::now())};
}

}  // namespace profiler::fleet
