// Hands on the commands of --control as they come, while an io_context runs.

#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <string_view>

#include "src/base/status.h"
#include "src/target/control.h"

namespace profiler::target {

// What to tell the user of Control::Command::kUnknown.
inline constexpr std::string_view kUnknownCommand =
    "--control: a line that is no command: enable, disable, stop and ping are";

// One thread: that of the io_context.
class ControlWatch {
 public:
  // Both must outlive it. Calls `obey` with each command, until that says false; to acknowledge
  // them is its task.
  ControlWatch(boost::asio::io_context& io, Control& control,
               std::function<bool(Control::Command)> obey);
  ControlWatch(const ControlWatch&) = delete;
  ControlWatch& operator=(const ControlWatch&) = delete;
  // No further calls.
  ~ControlWatch();

  // Errors: those of epoll_ctl(2).
  absl::Status Start();

 private:
  void Await();

  Control& control_;
  const std::function<bool(Control::Command)> obey_;
  boost::asio::posix::stream_descriptor descriptor_;
};

}  // namespace profiler::target
