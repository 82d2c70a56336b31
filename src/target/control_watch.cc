#include "src/target/control_watch.h"

#include <boost/asio/error.hpp>
#include <utility>

namespace profiler::target {

using boost::asio::posix::stream_descriptor;
using boost::system::error_code;

ControlWatch::ControlWatch(boost::asio::io_context& io, Control& control,
                           std::function<bool(Control::Command)> obey)
    : control_(control), obey_(std::move(obey)), descriptor_(io) {}

// The descriptor is the control's own, which closes it.
ControlWatch::~ControlWatch() {
  if (descriptor_.is_open()) descriptor_.release();
}

absl::Status ControlWatch::Start() {
  error_code error;
  descriptor_.assign(control_.fd(), error);
  if (error) return ErrnoStatus(error.value(), "--control");
  Await();
  return absl::OkStatus();
}

void ControlWatch::Await() {
  descriptor_.async_wait(stream_descriptor::wait_read, [this](const error_code& failed) {
    if (failed == boost::asio::error::operation_aborted) return;
    // What cannot be waited for, as /dev/null, has by now all that it will ever say.
    for (const Control::Command command : control_.Take()) {
      if (!obey_(command)) return;
    }
    if (!failed && !control_.is_over()) Await();
  });
}

}  // namespace profiler::target
