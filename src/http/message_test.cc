#include "src/http/message.h"

#include <string>

#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace profiler::http {
namespace {

TEST(CheckRequest, RefusesWhatIsNoUrlOfHttp) {
  for (const char* url : {"http://h", "https://h:8443/a?b=c", "http://[::1]:80/"}) {
    EXPECT_TRUE(CheckRequest({.url = url}).ok()) << url;
  }
  for (const char* url : {"", "h", "ftp://h/", "file:///etc/passwd", "http://", "http:///path",
                          "http://h/a b", "http://h/\r\nX: y", "http://user:secret@h/"}) {
    const absl::Status status = CheckRequest({.url = url});
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << url;
    EXPECT_EQ(std::string(status.message()).find("secret"), std::string::npos);
  }
  EXPECT_TRUE(CheckRequest({.url = "http://h/a@b?c@d"}).ok());
}

TEST(CheckRequest, RefusesHeadersThatWouldBeMoreThanOneLine) {
  EXPECT_TRUE(CheckRequest({.url = "http://h", .headers = {{"X-A", "b c"}}}).ok());
  EXPECT_FALSE(CheckRequest({.url = "http://h", .headers = {{"X-A", "b\r\nc: d"}}}).ok());
  EXPECT_FALSE(CheckRequest({.url = "http://h", .headers = {{"@file", "b"}}}).ok());
  EXPECT_FALSE(CheckRequest({.method = "GET /", .url = "http://h"}).ok());
}

TEST(HeaderLines, NameNoTypeThatNobodyGave) {
  const auto lines = [](const Request& request) {
    return absl::StrJoin(HeaderLines(request, "Authorization: Bearer t"), "|");
  };
  EXPECT_EQ(lines({.headers = {{"Content-Type", "text/plain"}, {"Empty", ""}}}),
            "Content-Type: text/plain|Empty;|Authorization: Bearer t");
  EXPECT_EQ(lines({}), "Content-Type:|Authorization: Bearer t");
}

TEST(HeaderReader, KeepsTheLastAnswersHeaders) {
  HeaderReader reader;
  for (const char* line : {"HTTP/1.1 100 Continue\r\n", "X: 1\r\n", "\r\n", "HTTP/2 429 \r\n",
                           "Retry-After:  5 \r\n", "nonsense\r\n", "\r\n"}) {
    EXPECT_TRUE(reader.Add(line));
  }
  const Response response = reader.Take();
  EXPECT_EQ(response.status, 429);
  EXPECT_EQ(response.headers.size(), 1u);
  EXPECT_EQ(response.Header("retry-after"), "5");
  EXPECT_EQ(response.Header("x"), "");
}

TEST(HeaderReader, TakesNoMoreThanALimit) {
  HeaderReader reader;
  const std::string line = "X: " + std::string(1000, 'x');
  int taken = 0;
  while (taken < 1000 && reader.Add(line)) ++taken;
  EXPECT_EQ(taken, 261);
  for (const char* odd : {"HTTP/", "HTTP/1.1", ""}) EXPECT_TRUE(HeaderReader().Add(odd)) << odd;
}

}  // namespace
}  // namespace profiler::http
