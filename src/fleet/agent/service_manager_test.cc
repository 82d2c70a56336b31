#include "src/fleet/agent/service_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"

namespace profiler::agent {
namespace {

using testing::MatchesRegex;
using testing::Optional;

// Changes to the directory for test files, because a socket address is too short for its full path.
std::string SocketName(std::string_view name) {
  if (chdir(testing::TempDir().c_str()) != 0) std::abort();
  return absl::StrCat(View(name), "-", getpid());
}

// A listening socket like systemd's.
class Listener {
 public:
  explicit Listener(const std::string& name) : fd_(socket(AF_UNIX, SOCK_DGRAM, 0)) {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name[0] == '@') address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    unlink(name.c_str());
    if (bind(fd_.get(), reinterpret_cast<sockaddr*>(&address), size) != 0) std::abort();
  }
  std::string Next() {
    std::array<char, 256> text;
    const ssize_t size = recv(fd_.get(), text.data(), text.size(), MSG_DONTWAIT);
    return size < 0 ? "nothing" : std::string(text.data(), static_cast<size_t>(size));
  }

 private:
  UniqueFd fd_;
};

TEST(ServiceManager, SaysHowItGoesInDatagrams) {
  const std::string path = SocketName("notify");
  Listener listener(path);
  const ServiceManager manager(path);
  manager.Ready();
  EXPECT_EQ(listener.Next(), "READY=1");
  manager.Status("49 Hz\nREADY=1");
  EXPECT_EQ(listener.Next(), "STATUS=49 Hz?READY=1");
  manager.StillAlive();
  EXPECT_EQ(listener.Next(), "WATCHDOG=1");
  manager.Reloading();
  EXPECT_THAT(listener.Next(), MatchesRegex("RELOADING=1\nMONOTONIC_USEC=[0-9]+"));
  manager.Stopping();
  EXPECT_EQ(listener.Next(), "STOPPING=1");
}

TEST(ServiceManager, KnowsNamesThatAreNoFiles) {
  const std::string name = absl::StrCat("@profiler-test-", getpid());
  Listener listener(name);
  ServiceManager(name).Ready();
  EXPECT_EQ(listener.Next(), "READY=1");
}

TEST(ServiceManager, IsQuietWhereNobodyListens) {
  for (const std::string& name : {std::string(), std::string("/nowhere"), std::string(200, 'x')}) {
    const ServiceManager manager(name);
    EXPECT_FALSE(manager.is_there());
    manager.Ready();
  }
}

TEST(ServiceManager, TakesItsSocketOutOfTheEnvironment) {
  const std::string path = SocketName("notify-env");
  Listener listener(path);
  setenv("NOTIFY_SOCKET", path.c_str(), 1);
  ServiceManager::OfEnvironment().Ready();
  EXPECT_EQ(listener.Next(), "READY=1");
  EXPECT_EQ(std::getenv("NOTIFY_SOCKET"), nullptr);
}

TEST(WatchdogInterval, IsHalfOfWhatIsAskedForAndForUsAlone) {
  unsetenv("WATCHDOG_USEC");
  unsetenv("WATCHDOG_PID");
  EXPECT_EQ(WatchdogInterval(), std::nullopt);
  setenv("WATCHDOG_USEC", "30000000", 1);
  EXPECT_THAT(WatchdogInterval(), Optional(std::chrono::milliseconds(15'000)));
  setenv("WATCHDOG_PID", absl::StrCat(getpid()).c_str(), 1);
  EXPECT_THAT(WatchdogInterval(), Optional(std::chrono::milliseconds(15'000)));
  setenv("WATCHDOG_PID", "1", 1);
  EXPECT_EQ(WatchdogInterval(), std::nullopt);
  setenv("WATCHDOG_PID", "", 1);
  setenv("WATCHDOG_USEC", "soon", 1);
  EXPECT_EQ(WatchdogInterval(), std::nullopt);
}

}  // namespace
}  // namespace profiler::agent
