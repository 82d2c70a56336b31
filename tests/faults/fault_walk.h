// A command of the profiler, run as often as it makes system calls that touch its files: each run
// has a fault at another one of them. Nothing is sampled: the walk ends with the run that has no
// further call.

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
  Fault fault;  // without its place
};
void PrintTo(const FaultToTry& fault, std::ostream* out);

// Everything that befalls a call: INSTANTIATE_TEST_SUITE_P(All, Suite, EachFault(), FaultName).
::testing::internal::ParamGenerator<FaultToTry> EachFault();
std::string FaultName(const ::testing::TestParamInfo<FaultToTry>& info);

std::string Contents(const std::string& path);  // empty where there is no such file
void Write(const std::string& path, const std::string& bytes);
// The file has one of these contents, which are too many bytes to be shown.
void ExpectWhole(const std::string& path, const std::vector<std::string>& permitted);
// The lines that are no notes, as "[ … ]" is.
std::vector<std::string> ErrorLines(const Traced& traced);
std::vector<std::string> NamesIn(const std::string& directory);

// One program at a time. Skips where nothing can be traced.
class FaultWalk : public ::testing::TestWithParam<FaultToTry> {
 protected:
  FaultWalk();
  ~FaultWalk() override;
  void SetUp() override;

  // In the directory of which all calls are counted. The home directory, with the cache, is beside
  // it and is counted as well.
  std::string File(const std::string& name) const { return files_ + "/" + name; }

  // Each is another one, with samples of a function of the C library.
  std::string MakeRecording(const std::string& name);

  Traced Profiler(std::vector<std::string> arguments, const Fault& fault = {}) const;

  // For each call: `prepare` makes the files, the command is run, and `check` looks at what is
  // there then. The last run has no fault.
  void Walk(const std::vector<std::string>& arguments, const std::function<void()>& prepare,
            const std::function<void(const Traced&)>& check);

  // ---- for `check`

  bool IsKilled(const Traced& traced) const;
  // A call has failed, and is not to be made again.
  bool IsRefused(const Traced& traced) const;
  // The spoilt call is of the cache, which nobody needs.
  bool IsOfCache(const Traced& traced) const;
  // Nothing works any more after the spoilt call.
  bool GoesOn(const Traced& traced) const;
  std::string Cause() const { return std::strerror(GetParam().fault.error); }
  // It ended with code 1 and said one line, which has the cause.
  void ExpectRefusal(const Traced& traced) const;
  // It has said nothing.
  void ExpectSuccess(const Traced& traced) const;

  const std::string folder_, work_, files_;
  bool has_hard_links_ = true;

 private:
  void ExpectNoTemporaryFile() const;

  int made_ = 0;
};

}  // namespace profiler::tests
