// Passes on the commands of --control as they come, while an io_context runs.

#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <string_view>

#include "src/base/status.h"
#include "src/machine/target/control.h"

namespace profiler::target {

// The message to the user for Control::Command::kUnknown.
inline constexpr std::string_view kUnknownCommand =
    "--control: a line that is no command: enable, disable, stop and ping are";

// A watch of the commands. Use it only in the thread that runs the io_context.
class ControlWatch {
 public:
  // `io` and `control` must outlive this object. Calls `obey` with each command until it returns
  // false. `obey` must acknowledge the commands.
  ControlWatch(boost::asio::io_context& io, Control& control,
               std::function<bool(Control::Command)> obey);
  ControlWatch(const ControlWatch&) = delete;
  ControlWatch& operator=(const ControlWatch&) = delete;
  // Stops the calls.
  ~ControlWatch();

  // Begins to watch. Errors: those of epoll_ctl(2).
  absl::Status Start();

 private:
  void Await();

  Control& control_;
  const std::function<bool(Control::Command)> obey_;
  boost::asio::posix::stream_descriptor descriptor_;
};

}  // namespace profiler::target
