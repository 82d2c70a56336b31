// --control: another program steers a recording or a count by lines that it writes to a descriptor
// or FIFO.
//
//   enable, disable, stop, ping      one a line
//   snapshot                         of AUX areas, of which nothing is recorded: only answered
//   ack                              what each is answered, where there is somebody to answer
//
// Source: evlist__ctlfd_process in tools/perf/util/evlist.c, as perf 7.2 answers.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/base/unique_fd.h"

namespace profiler::target {

// Where commands come from and answers go to.
struct ControlPlaces {
  int fd = -1, answer_fd = -1;    // of this process
  std::string fifo, answer_fifo;  // else these
};

// "fd:CTL[,ACK]" or "fifo:CTL[,ACK]". kInvalidArgument for anything else.
absl::StatusOr<ControlPlaces> ParseControl(const std::string& text);

// One thread.
class Control {
 public:
  enum class Command { kEnable, kDisable, kStop, kPing, kSnapshot, kUnknown };

  // Errors: those of fcntl(2) and open(2).
  static absl::StatusOr<std::unique_ptr<Control>> Open(const ControlPlaces& places);

  int fd() const { return fd_.get(); }  // readable when there is a command; non-blocking
  // All that were written so far. `is_over` when nobody is going to write any more.
  std::vector<Command> Take();
  bool is_over() const { return is_over_; }
  // Tells the other side that one command is done. That nobody reads is no error.
  void Acknowledge();

 private:
  Control() = default;

  UniqueFd fd_, answer_fd_;
  std::string rest_;  // of a line
  bool is_over_ = false;
};

}  // namespace profiler::target
