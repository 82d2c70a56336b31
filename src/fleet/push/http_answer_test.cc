#include "src/fleet/push/http_answer.h"

#include <chrono>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace profiler::fleet {
namespace {

using std::chrono::seconds;
using std::chrono::system_clock;

std::string Text(const absl::StatusOr<http::Response>& answer) {
  const Delivery delivery = DeliveryOf(answer);
  constexpr const char* kOutcomes[] = {"delivered", "try again", "refused"};
  return absl::StrCat(kOutcomes[static_cast<int>(delivery.outcome)], "|", delivery.reason, "|",
                      delivery.wait ? delivery.wait->count() : -1);
}

TEST(DeliveryOf, TellsWhatIsRefusedFromWhatIsToBeSentAgain) {
  EXPECT_EQ(Text(http::Response{.status = 200}), "delivered||-1");
  EXPECT_EQ(Text(http::Response{.status = 204}), "delivered||-1");
  for (const int status : {400, 413, 422}) {
    EXPECT_EQ(Text(http::Response{.status = status, .body = "no\nmore"}),
              absl::StrCat("refused|HTTP ", status, ": no|-1"));
  }
  for (const int status : {301, 307, 401, 403, 404, 408, 500, 502, 503}) {
    EXPECT_EQ(Text(http::Response{.status = status}),
              absl::StrCat("try again|HTTP ", status, "|-1"));
  }
  EXPECT_EQ(Text(http::Response{.status = 429, .headers = {{"retry-after", "7"}}, .body = "slow"}),
            "try again|HTTP 429: slow|7");
  EXPECT_EQ(Text(absl::UnavailableError("nobody there")), "try again|nobody there|-1");
}

TEST(AnswerText, ShowsOneLineAndNothingThatIsNoText) {
  EXPECT_EQ(AnswerText({.status = 500, .body = std::string(1000, 'x')}).size(), 210u);
  EXPECT_EQ(AnswerText({.status = 500, .body = "\x08\x01"}), "HTTP 500");
  EXPECT_EQ(AnswerText({.status = 500, .body = "größer\nals"}), "HTTP 500: größer");
  EXPECT_EQ(AnswerText({.status = 500, .body = "a\x7f"}), "HTTP 500");
}

TEST(RetryAfter, IsANumberOrADate) {
  const auto now = system_clock::from_time_t(1'764'115'200);  // 2025-11-26T00:00:00Z
  EXPECT_EQ(RetryAfter("120", now), seconds(120));
  EXPECT_EQ(RetryAfter("0", now), seconds(0));
  EXPECT_EQ(RetryAfter("Wed, 26 Nov 2025 00:01:30 GMT", now), seconds(90));
  EXPECT_EQ(RetryAfter("Wed, 26 Nov 2025 00:00:00 GMT", now + seconds(5)), seconds(0));
  for (const char* text : {"", "-5", "soon", "1.5"}) EXPECT_EQ(RetryAfter(text, now), std::nullopt);
}

}  // namespace
}  // namespace profiler::fleet
