#include "src/http/page_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace profiler::serve {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

TEST(AnswerTo, ThePageIsAtTheTokenAlone) {
  const auto answer = [](std::string_view target) {
    return AnswerTo({"GET", target, "127.0.0.1:80"}, "abc", 80);
  };
  EXPECT_EQ(answer("/abc/"), Answer::kPage);
  for (const std::string_view wrong : {"/", "/abc", "/abd/", "/abc/x", "/ABC/", "//abc/", ""}) {
    EXPECT_EQ(answer(wrong), Answer::kNotFound) << wrong;
  }
}

TEST(AnswerTo, ANameThatIsNotThisMachinesIsRefusedWhateverTheToken) {
  for (const std::string_view host :
       {"evil.example:80", "127.0.0.1", "127.0.0.1:81", "", "127.0.0.1:80.evil.example"}) {
    EXPECT_EQ(AnswerTo({"GET", "/abc/", host}, "abc", 80), Answer::kWrongHost) << host;
  }
  EXPECT_EQ(AnswerTo({"GET", "/abc/", "localhost:80"}, "abc", 80), Answer::kPage);
}

TEST(AnswerTo, NothingCanBeSent) {
  EXPECT_EQ(AnswerTo({"HEAD", "/abc/", "localhost:80"}, "abc", 80), Answer::kPageHead);
  EXPECT_EQ(AnswerTo({"POST", "/abc/", "localhost:80"}, "abc", 80), Answer::kNotSupported);
}

// A server that runs on a thread of its own until the test ends.
class PageServerTest : public testing::Test {
 protected:
  void SetUp() override {
    auto server = PageServer::Listen(context_, "<p>page</p>", 0);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    thread_ = std::thread([this] { context_.run(); });
    const std::vector<std::string> parts =
        absl::StrSplit(server_->address(), absl::ByAnyChar(":/"));
    ASSERT_TRUE(absl::SimpleAtoi(parts[4], &port_)) << server_->address();
    token_ = parts[5];
  }
  void TearDown() override {
    context_.stop();
    if (thread_.joinable()) thread_.join();
  }

  // Sends these bytes and returns the whole answer.
  std::string Send(const std::string& bytes) const {
    boost::asio::io_context context;
    boost::asio::ip::tcp::socket socket(context);
    socket.connect({boost::asio::ip::address_v4::loopback(), static_cast<uint16_t>(port_)});
    std::string answer;
    boost::system::error_code end;
    // Writing may fail: the server does not wait for the rest once it has read enough.
    boost::asio::write(socket, boost::asio::buffer(bytes), end);
    boost::asio::read(socket, boost::asio::dynamic_buffer(answer), end);
    return answer;
  }
  std::string Get(const std::string& target) const {
    return Send(absl::StrCat("GET ", target, " HTTP/1.1\r\nHost: 127.0.0.1:", port_, "\r\n\r\n"));
  }

  boost::asio::io_context context_;
  std::unique_ptr<PageServer> server_;
  std::thread thread_;
  int port_ = 0;
  std::string token_;
};

TEST_F(PageServerTest, ABrowserGetsThePageAndIsToldToLoadNothingElse) {
  const std::string answer = Get(absl::StrCat("/", token_, "/"));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Length: 11\r\n"));
  EXPECT_THAT(answer, HasSubstr("default-src 'none'"));
  EXPECT_THAT(answer, HasSubstr("Cache-Control: no-store\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\n<p>page</p>"));
}

TEST_F(PageServerTest, WithoutTheTokenThereIsNothing) {
  EXPECT_THAT(Get("/"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Get("/"), testing::Not(HasSubstr("page")));
  EXPECT_EQ(token_.size(), 32u);
}

TEST_F(PageServerTest, WhatIsNoRequestEndsTheConnectionAndNothingElse) {
  EXPECT_EQ(Send("\x16\x03\x01 hello\r\n\r\n"), "");
  EXPECT_EQ(Send("GET / HTTP/1.1\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n"), "");
  EXPECT_THAT(Get(absl::StrCat("/", token_, "/")), StartsWith("HTTP/1.1 200 "));
}

TEST_F(PageServerTest, WhoConnectsAndSaysNothingMakesRoom) {
  boost::asio::io_context context;
  std::vector<boost::asio::ip::tcp::socket> idle;
  for (int i = 0; i < 100; ++i) {
    idle.emplace_back(context).connect(
        {boost::asio::ip::address_v4::loopback(), static_cast<uint16_t>(port_)});
  }
  EXPECT_THAT(Get(absl::StrCat("/", token_, "/")), StartsWith("HTTP/1.1 200 "));
  char byte = 0;
  boost::system::error_code end;
  boost::asio::read(idle.front(), boost::asio::buffer(&byte, 1), end);
  EXPECT_EQ(end, boost::asio::error::eof) << "the oldest is closed";
}

TEST_F(PageServerTest, APortThatIsTakenIsNamed) {
  boost::asio::io_context context;
  const auto second = PageServer::Listen(context, "", static_cast<uint16_t>(port_));
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(std::string(second.status().message()),
              HasSubstr(absl::StrCat("127.0.0.1:", port_, ": cannot listen there")));
}

}  // namespace
}  // namespace profiler::serve
