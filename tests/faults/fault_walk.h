// Runs a command of the profiler once for each system call that touches its files, and injects a
// fault into another call in each run. The walk is complete, not a sample: it ends with the run in
// which no call is left to fail.

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
  Fault fault;  // without Fault::at
};
void PrintTo(const FaultToTry& fault, std::ostream* out);

// Returns every kind of fault, for INSTANTIATE_TEST_SUITE_P(All, Suite, EachFault(), FaultName).
::testing::internal::ParamGenerator<FaultToTry> EachFault();
std::string FaultName(const ::testing::TestParamInfo<FaultToTry>& info);

std::string Contents(const std::string& path);  // empty if there is no such file
void Write(const std::string& path, const std::string& bytes);
// Expects that the file has one of these contents, without printing them: they are too long.
void ExpectWhole(const std::string& path, const std::vector<std::string>& permitted);
// Returns the lines of standard error, except notes ("[ … ]").
std::vector<std::string> ErrorLines(const Traced& traced);
std::vector<std::string> NamesIn(const std::string& directory);

// A test of commands under faults; one program runs at a time. Skipped if nothing can be traced.
class FaultWalk : public ::testing::TestWithParam<FaultToTry> {
 protected:
  FaultWalk();
  ~FaultWalk() override;
  void SetUp() override;

  // Returns a path in the directory of files. Calls on that directory are counted, and also calls
  // on the home directory beside it, which has the cache.
  std::string File(const std::string& name) const { return files_ + "/" + name; }

  // Makes a recording with samples of a C library function, and returns its bytes. Each call makes
  // a different one.
  std::string MakeRecording(const std::string& name);

  Traced Profiler(std::vector<std::string> arguments, const Fault& fault = {}) const;

  // Repeats with the fault at call 1, 2, …: `prepare` makes the files, the command runs, and
  // `check` looks at the result. The last run has no fault.
  void Walk(const std::vector<std::string>& arguments, const std::function<void()>& prepare,
            const std::function<void(const Traced&)>& check);

  // ---- for `check`

  bool IsKilled(const Traced& traced) const;
  // True if a call failed with an error that is not to be retried (not EINTR).
  bool IsRefused(const Traced& traced) const;
  // True if the spoilt call concerns the cache, which the command can do without.
  bool IsOfCache(const Traced& traced) const;
  // True if all calls after the spoilt one fail, too.
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
