#include "src/fleet/agent/metrics_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"

namespace profiler::agent {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

std::string Parsed(std::string_view text) {
  const auto address = ParseListenAddress(text);
  return address.ok() ? absl::StrCat(address->host, " ", address->port) : "wrong";
}

TEST(ParseListenAddress, TakesAddressesAndNoNames) {
  EXPECT_EQ(Parsed("127.0.0.1:9099"), "127.0.0.1 9099");
  EXPECT_EQ(Parsed("[::1]:80"), "::1 80");
  EXPECT_EQ(Parsed(":0"), "127.0.0.1 0");
  for (const char* wrong : {"9099", "", "localhost:80", "127.0.0.1:", "127.0.0.1:70000", "a:b"}) {
    EXPECT_EQ(Parsed(wrong), "wrong") << wrong;
  }
}

TEST(ParseListenAddress, SaysWhichAreForOthers) {
  EXPECT_FALSE(IsForOthers({.host = "127.0.0.1"}));
  EXPECT_FALSE(IsForOthers({.host = "::1"}));
  EXPECT_TRUE(IsForOthers({.host = "0.0.0.0"}));
  EXPECT_TRUE(IsForOthers({.host = "10.0.0.7"}));
}

// A server that runs on a thread of its own until the test ends.
class MetricsServerTest : public testing::Test {
 protected:
  void SetUp() override {
    auto server = MetricsServer::Listen(context_, {.port = 0}, [] { return "figures\n"; });
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    thread_ = std::thread([this] { context_.run(); });
  }
  void TearDown() override {
    context_.stop();
    if (thread_.joinable()) thread_.join();
  }

  // Sends these bytes and returns the whole answer.
  std::string Send(const std::string& bytes) const {
    boost::asio::io_context context;
    boost::asio::ip::tcp::socket socket(context);
    socket.connect({boost::asio::ip::address_v4::loopback(), server_->port()});
    std::string answer;
    boost::system::error_code end;
    boost::asio::write(socket, boost::asio::buffer(bytes), end);
    boost::asio::read(socket, boost::asio::dynamic_buffer(answer), end);
    return answer;
  }
  std::string Ask(const std::string& what, const std::string& host = "localhost") const {
    return Send(absl::StrCat(what, " HTTP/1.1\r\nHost: ", host, "\r\n\r\n"));
  }

  boost::asio::io_context context_;
  std::unique_ptr<MetricsServer> server_;
  std::thread thread_;
};

TEST_F(MetricsServerTest, ACollectorGetsTheFigures) {
  const std::string answer = Ask("GET /metrics");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\nfigures\n"));
  EXPECT_THAT(Ask("GET /metrics?x=1", "127.0.0.1:9099"), EndsWith("figures\n"));
  EXPECT_THAT(Ask("HEAD /metrics"), HasSubstr("Content-Length: 8\r\n"));
}

TEST_F(MetricsServerTest, NothingElseIsAnswered) {
  EXPECT_THAT(Ask("GET /"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Ask("POST /metrics"), StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(Ask("GET /metrics", "evil.example"), StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(Ask("GET /metrics", ""), StartsWith("HTTP/1.1 403 "));
  EXPECT_EQ(Send("\x16\x03\x01 hello\r\n\r\n"), "");
  EXPECT_EQ(Send("GET /metrics HTTP/1.1\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n"), "");
  EXPECT_THAT(Ask("GET /metrics"), EndsWith("figures\n"));
}

TEST_F(MetricsServerTest, APortThatIsTakenIsNamed) {
  boost::asio::io_context context;
  const auto second = MetricsServer::Listen(context, {.port = server_->port()}, [] { return ""; });
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(
      std::string(second.status().message()),
      HasSubstr(absl::StrCat("--metrics 127.0.0.1:", server_->port(), ": cannot listen there")));
}

}  // namespace
}  // namespace profiler::agent
