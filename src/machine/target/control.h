// Implements --control: another program steers a recording or count by lines that it writes to a
// descriptor or FIFO.
//
//   enable, disable, stop, ping   one per line
//   snapshot                      write a file, with record --flight; otherwise only acknowledged
//   ack                           the answer to each line, if there is a place for answers
//
// Source: evlist__ctlfd_process in tools/perf/util/evlist.c, and the answers of perf 7.2.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/base/unique_fd.h"

namespace profiler::target {

// The descriptors or FIFOs of commands and answers.
struct ControlPlaces {
  int fd = -1, answer_fd = -1;    // descriptors of this process
  std::string fifo, answer_fifo;  // paths of FIFOs, used if fd is -1
};

// Parses "fd:CTL[,ACK]" or "fifo:CTL[,ACK]". Error: kInvalidArgument for other text.
absl::StatusOr<ControlPlaces> ParseControl(const std::string& text);

// A source of commands, for one thread.
class Control {
 public:
  enum class Command { kEnable, kDisable, kStop, kPing, kSnapshot, kUnknown };

  // Opens the descriptors or FIFOs. Errors: those of fcntl(2) and open(2).
  static absl::StatusOr<std::unique_ptr<Control>> Open(const ControlPlaces& places);

  int fd() const { return fd_.get(); }  // readable when a command is available; non-blocking
  // Returns all commands that came since the last call. Afterwards is_over() is true if no more
  // commands can come.
  std::vector<Command> Take();
  bool is_over() const { return is_over_; }
  // Tells the other program that one command is done. Ignores errors, because perhaps
  // nobody reads the answers.
  void Acknowledge();

 private:
  Control() = default;

  UniqueFd fd_, answer_fd_;
  std::string rest_;  // beginning of an incomplete line
  bool is_over_ = false;
};

}  // namespace profiler::target
