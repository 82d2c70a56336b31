#include "src/machine/target/control_watch.h"

#include <boost/asio/error.hpp>
#include <utility>

namespace profiler::target {

using boost::asio::posix::stream_descriptor;
using boost::system::error_code;

ControlWatch::ControlWatch(boost::asio::io_context& io, Control& control,
                           std::function<bool(Control::Command)> obey)
    : control_(control), obey_(std::move(obey)), descriptor_(io) {}

// control_ owns the descriptor and closes it.
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
    // A descriptor that cannot be waited for, for example /dev/null, already has all its commands.
    for (const Control::Command command : control_.Take()) {
      if (!obey_(command)) return;
    }
    if (!failed && !control_.is_over()) Await();
  });
}

}  // namespace profiler::target
