// Runs a command of the profiler many times, and each time injects a fault into another system call
// that touches the command's files. The walk ends after a run in which no call was left to fail, so
// it covers every call.

#pragma once

#include <cstring>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/faults/syscall_tracer.h"

namespace profiler::tests {

struct FaultToTry {
  const char* name;
  Fault fault;  // Fault::at is not set
};
void PrintTo(const FaultToTry& fault, std::ostream* out);

// Returns every kind of fault. Use: INSTANTIATE_TEST_SUITE_P(All, Suite, EachFault(), FaultName).
::testing::internal::ParamGenerator<FaultToTry> EachFault();
std::string FaultName(const ::testing::TestParamInfo<FaultToTry>& info);

// Returns the file's bytes; empty if the file does not exist.
std::string Contents(const std::string& path);
void Write(const std::string& path, const std::string& bytes);
// Expects that the file has one of the `permitted` contents. Prints none of them, because they are
// too long.
void ExpectWhole(const std::string& path, const std::vector<std::string>& permitted);
// Returns the lines of standard error, except notes ("[ … ]").
std::vector<std::string> ErrorLines(const Traced& traced);
std::vector<std::string> NamesIn(const std::string& directory);

// A fixture that tests commands under faults. It runs one program at a time. Its tests are skipped
// if programs cannot be traced.
class FaultWalk : public ::testing::TestWithParam<FaultToTry> {
 protected:
  FaultWalk();
  ~FaultWalk() override;
  void SetUp() override;

  // Returns a path in the directory `files_`. The tracer counts system calls on this directory and
  // on the home directory beside it, which contains the cache.
  std::string File(const std::string& name) const { return files_ + "/" + name; }

  // Makes a recording with samples of a C library function, and returns its bytes. Each call makes
  // a different recording.
  std::string MakeRecording(const std::string& name);

  Traced Profiler(std::vector<std::string> arguments, const Fault& fault = {}) const;

  // Runs the command with the fault at call 1, at call 2, and so on. Before each run `prepare`
  // makes the files; after the run `check` looks at the result. The last run has no fault.
  void Walk(const std::vector<std::string>& arguments, const std::function<void()>& prepare,
            const std::function<void(const Traced&)>& check);

  // ---- conditions for `check` of Walk()

  bool IsKilled(const Traced& traced) const;
  // True if a call failed with an error other than EINTR. (The command retries after EINTR.)
  bool IsRefused(const Traced& traced) const;
  // True if the spoilt call concerns the cache, which the command can do without.
  bool IsOfCache(const Traced& traced) const;
  // True if all calls after the spoilt call fail, too.
  bool GoesOn(const Traced& traced) const;
  std::string Cause() const { return std::strerror(GetParam().fault.error); }
  // Expects exit code 1 and exactly one error line, which contains Cause().
  void ExpectRefusal(const Traced& traced) const;
  // Expects exit code 0 and no error line.
  void ExpectSuccess(const Traced& traced) const;

  const std::string folder_, work_, files_;
  bool has_hard_links_ = true;

 private:
  void ExpectNoTemporaryFile() const;

  int made_ = 0;
};

}  // namespace profiler::tests
