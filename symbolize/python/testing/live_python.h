// Runs a Python program that stops itself, so that tests can read its memory at leisure.

#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/base/unique_fd.h"
#include "symbolize/process_memory.h"
#include "symbolize/python/python_process.h"

namespace profiler::symbolize::python {

// The memory of a process of this user.
class LiveMemory final : public ProcessMemory {
 public:
  explicit LiveMemory(pid_t pid) : pid_(pid) {}
  bool Read(uint64_t address, std::span<std::byte> bytes) override;

 private:
  const pid_t pid_;
};

class LivePython {
 public:
  // Runs `program` with the interpreter until it stops itself by SIGSTOP. Fails the test if it ends
  // instead.
  LivePython(const std::string& interpreter, const std::string& program);
  ~LivePython();
  LivePython(const LivePython&) = delete;

  LiveMemory& memory() { return memory_; }
  // Returns the text that the program wrote to its standard output.
  const std::string& output() const { return output_; }
  const std::optional<PythonImage>& image() const { return image_; }
  absl::StatusOr<Interpreter> Recognise() {
    if (!image_) return absl::NotFoundError("no image has CPython");
    return python::Recognise(*image_, bias_, memory_);
  }
  void Kill();

 private:
  void FindImage();

  UniqueFd file_;  // the program's standard output
  pid_t pid_;
  std::string output_;
  LiveMemory memory_;
  std::optional<PythonImage> image_;
  uint64_t bias_ = 0;
};

// Returns the interpreters to test: those in the environment's PROFILER_PYTHONS, separated by
// spaces, and python3 if it is installed.
std::vector<std::string> PythonsToTest();

}  // namespace profiler::symbolize::python
