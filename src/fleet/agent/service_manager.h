// Status messages to systemd or another service manager: datagrams to the socket in $NOTIFY_SOCKET.
// Source: sd_notify(3).

#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "src/base/unique_fd.h"

namespace profiler::agent {

// A connection to the service manager. If there is no service manager, all calls do nothing.
// Messages that cannot be delivered are dropped, because they are no reason to stop. Thread-safe.
class ServiceManager {
 public:
  // `socket` is a path, or a name in Linux' abstract namespace after '@'; empty: no service
  // manager.
  explicit ServiceManager(const std::string& socket);
  // Connects to $NOTIFY_SOCKET and removes the variable, so that no child process reports in the
  // agent's name.
  static ServiceManager OfEnvironment();

  void Ready() const { Send("READY=1"); }
  void Stopping() const { Send("STOPPING=1"); }
  void StillAlive() const { Send("WATCHDOG=1"); }
  // Sends one line, which `systemctl status` shows.
  void Status(std::string_view text) const;
  // Announces a reload on SIGHUP; call Ready when it is done.
  void Reloading() const;

  bool is_there() const { return fd_.valid(); }

 private:
  void Send(std::string_view message) const;

  UniqueFd fd_;  // connected; invalid: no service manager
};

// Returns the interval at which StillAlive is due: half of $WATCHDOG_USEC. Returns nothing if there
// is no watchdog, or if the watchdog watches another process ($WATCHDOG_PID).
std::optional<std::chrono::milliseconds> WatchdogInterval();

}  // namespace profiler::agent
