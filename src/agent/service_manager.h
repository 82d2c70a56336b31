// Tells systemd, or whoever started this process, how it goes: lines in a datagram to the socket
// that $NOTIFY_SOCKET names. Source: sd_notify(3).

#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "src/base/unique_fd.h"

namespace profiler::agent {

// Where nobody waits for it, nothing is said. Messages that cannot be delivered are lost: it is no
// reason to stop. Thread-safe.
class ServiceManager {
 public:
  // `socket`: a path, or a name of Linux' abstract namespace with '@' in front; empty: nobody.
  explicit ServiceManager(const std::string& socket);
  // By $NOTIFY_SOCKET, which is removed, so that no child speaks for us.
  static ServiceManager OfEnvironment();

  void Ready() const { Send("READY=1"); }
  void Stopping() const { Send("STOPPING=1"); }
  void StillAlive() const { Send("WATCHDOG=1"); }
  // One line, shown by `systemctl status`.
  void Status(std::string_view text) const;
  // Around what SIGHUP asks for.
  void Reloading() const;

  bool is_there() const { return fd_.valid(); }

 private:
  void Send(std::string_view message) const;

  UniqueFd fd_;  // connected; invalid: nobody listens
};

// How often StillAlive is due, half of what $WATCHDOG_USEC says; nothing where nobody asks for it,
// or asks another process ($WATCHDOG_PID).
std::optional<std::chrono::milliseconds> WatchdogInterval();

}  // namespace profiler::agent
