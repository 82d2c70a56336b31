#include "src/fleet/agent/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/machine/procfs/proc_file.h"

namespace profiler::agent {
namespace {

UniqueFd ConnectTo(const std::string& socket_name) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  if (socket_name.empty() || socket_name.size() >= sizeof(address.sun_path)) return UniqueFd();
  std::memcpy(address.sun_path, socket_name.data(), socket_name.size());
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_name.size());
  UniqueFd fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd.valid() || connect(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0) {
    return UniqueFd();
  }
  return fd;
}

std::string FromEnvironment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

ServiceManager::ServiceManager(const std::string& socket) : fd_(ConnectTo(socket)) {}

ServiceManager ServiceManager::OfEnvironment() {
  const std::string socket = FromEnvironment("NOTIFY_SOCKET");
  unsetenv("NOTIFY_SOCKET");
  return ServiceManager(socket);
}

void ServiceManager::Status(std::string_view text) const {
  std::string line = "STATUS=";
  AppendPrintable(text, line);
  Send(line);
}

void ServiceManager::Reloading() const {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  constexpr int64_t kMillion = 1'000'000, kThousand = 1000;
  Send(absl::StrCat("RELOADING=1\nMONOTONIC_USEC=",
                    now.tv_sec * kMillion + now.tv_nsec / kThousand));
}

void ServiceManager::Send(std::string_view message) const {
  if (fd_.valid()) (void)send(fd_.get(), message.data(), message.size(), MSG_NOSIGNAL);
}

std::optional<std::chrono::milliseconds> WatchdogInterval() {
  const auto microseconds = procfs::ParseNumber<int64_t>(FromEnvironment("WATCHDOG_USEC"));
  const std::string pid = FromEnvironment("WATCHDOG_PID");
  if (!microseconds || *microseconds <= 0) return std::nullopt;
  if (!pid.empty() && pid != absl::StrCat(getpid())) return std::nullopt;
  constexpr int64_t kHalfOfAThousand = 2000;
  return std::chrono::milliseconds(*microseconds / kHalfOfAThousand);
}

}  // namespace profiler::agent
