// Builds profiles for tests from stacks written as text.

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "src/profile/profile.h"

namespace profiler::exports {

class ProfileForTest {
 public:
  struct Function {
    std::string name;  // empty: code without a symbol
    std::string image = "app";
    symbolize::ImageKind kind = symbolize::ImageKind::kUser;
    profile::Mode mode = profile::Mode::kUser;
    std::vector<std::string> inlined = {};  // functions inlined into it, the outermost first
  };

  ProfileForTest() { AddEvent("cpu-clock"); }

  profile::EventId AddEvent(std::string_view name);

  // Adds samples. `stack` lists functions from root to leaf, separated by spaces. A name refers to
  // the function that Define() added; otherwise it is a function in "app".
  ProfileForTest& Add(std::string_view comm, std::string_view stack, uint64_t count = 1,
                      uint64_t period = 0, profile::EventId event = {});

  // Adds samples of a stack with one frame per element.
  ProfileForTest& AddFrames(std::string_view comm, const std::vector<Function>& stack,
                            uint64_t count = 1, uint64_t period = 0, profile::EventId event = {});

  // Adds all following rows to thread `tid` and to time slice `slice`. The profile has `slices`
  // slices of 10 ms each. Before the first call, all threads have the same tid, and there are no
  // times.
  ProfileForTest& In(uint32_t tid, uint32_t slice, uint32_t slices);

  // Sets the times of all rows in nanoseconds, in the order in which rows were added.
  ProfileForTest& SetTimes(const std::vector<uint64_t>& times);

  ProfileForTest& Define(std::string_view alias, Function function);

  profile::Profile& profile() { return profile_; }
  const profile::Profile& profile() const { return profile_; }

 private:
  profile::ThreadId ThreadOf(std::string_view comm);
  profile::ImageId ImageOf(const Function& function);
  profile::SymbolId SymbolOf(std::string_view name, profile::ImageId image);
  profile::FrameId FrameOf(const Function& function);

  profile::Profile profile_;
  uint32_t tid_ = 100, slice_ = 0;
  std::map<std::string, Function, std::less<>> functions_;
  std::map<std::pair<std::string, uint32_t>, profile::ThreadId> threads_;
  std::map<std::string, profile::ImageId, std::less<>> images_;
  std::map<std::pair<std::string, profile::ImageId>, profile::SymbolId> symbols_;
  std::map<std::tuple<std::string, profile::ImageId, std::vector<std::string>, profile::Mode>,
           profile::FrameId>
      frames_;
  std::map<std::pair<profile::StackId, profile::FrameId>, profile::StackId> stacks_;
};

}  // namespace profiler::exports
