// Reports how processes end, with the exit code or the signal, by the kernel's process connector
// (drivers/connector/cn_proc.c, Linux 6.18).
//
// The connector needs the first user and pid namespace, and before Linux 6.6 CAP_NET_ADMIN.
// Elsewhere the kernel accepts the request, and never answers.

#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "src/base/status.h"
#include "src/base/unique_fd.h"

namespace profiler::record {

// How a process has ended.
struct ProcessEnd {
  pid_t pid = 0;
  int code = 0;    // exit code, if `signal` is 0
  int signal = 0;  // signal that ended the process; 0: it exited
};

// The reports. Use it from the thread of the io_context. Costs some microseconds for each fork and
// end of a process of the machine.
class ProcessEnds {
 public:
  // `io` must outlive this object.
  explicit ProcessEnds(boost::asio::io_context& io) : descriptor_(io) {}
  ~ProcessEnds();

  // Calls `on_end` for these processes and those that they start from now on; for all processes if
  // `pids` is empty. Leaves out processes that this program has started, except those of `pids`.
  // Waits until the kernel confirms. Errors: those of socket(2) and bind(2); ETIMEDOUT if the
  // kernel does not confirm, because it lacks the connector, or sends nothing to containers.
  absl::Status Watch(const std::vector<pid_t>& pids, std::function<void(const ProcessEnd&)> on_end);

  // Takes the messages that have come, without waiting. Call it before the recording ends.
  void TakePending();
  // Takes one message of the kernel; for tests.
  void Take(std::span<const std::byte> message);

 private:
  void Await();
  absl::Status AwaitConfirmation(uint32_t number);
  std::span<const std::byte> Receive(std::span<std::byte> message);

  UniqueFd socket_;
  boost::asio::posix::stream_descriptor descriptor_;
  std::function<void(const ProcessEnd&)> on_end_;
  bool watches_all_ = false;
  absl::flat_hash_set<pid_t> watched_;
};

}  // namespace profiler::record
