#include "src/cli/fleet/push_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <filesystem>
#include <fstream>
#include <string>

namespace profiler::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string Ask(uint16_t port) {
  boost::asio::io_context context;
  boost::asio::ip::tcp::socket socket(context);
  socket.connect({boost::asio::ip::address_v4::loopback(), port});
  const std::string question = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
  std::string answer;
  boost::system::error_code end;
  boost::asio::write(socket, boost::asio::buffer(question), end);
  boost::asio::read(socket, boost::asio::dynamic_buffer(answer), end);
  return answer;
}

class PushMetricsTest : public testing::Test {
 protected:
  PushMetricsTest()
      : spool_(testing::TempDir() + "/" +
               testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::create_directories(spool_);
  }

  void Write(const std::string& text) const { std::ofstream(spool_ + "/metrics.prom") << text; }

  const std::string spool_;
};

TEST_F(PushMetricsTest, ServesTheFiguresOfTheAgentAndThenItsOwn) {
  std::vector<agent::AgentMetrics::Pushed> pushed = {{.destination = "otlp+http://a", .gone = 2}};
  const auto metrics = PushMetrics::Start({.port = 0}, spool_, [&] { return pushed; });
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  EXPECT_THAT(Ask((*metrics)->port()), StartsWith("HTTP/1.1 200 OK\r\n"));
  Write("profiler_agent_samples_total 7\n");
  EXPECT_THAT(
      Ask((*metrics)->port()),
      HasSubstr("\r\n\r\nprofiler_agent_samples_total 7\n# HELP profiler_agent_pushed_segments"));
  EXPECT_THAT(Ask((*metrics)->port()),
              HasSubstr("profiler_agent_gone_segments_total{destination=\"otlp+http://a\"} 2\n"));
}

TEST_F(PushMetricsTest, ReadsAMegabyteOfTheAgentsFileAtMost) {
  Write(std::string(3 << 20, 'x'));
  EXPECT_EQ(MetricsOfAgent(spool_).size(), size_t{1} << 20);
  std::filesystem::remove(spool_ + "/metrics.prom");
  std::filesystem::create_symlink("/dev/zero", spool_ + "/metrics.prom");
  EXPECT_EQ(MetricsOfAgent(spool_), "");
}

}  // namespace
}  // namespace profiler::cli
