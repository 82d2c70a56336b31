// Builds small profiles by hand, for tests of their readers.
//
//   HandmadeProfile b;
//   b.Sample("worker", {"main@app", "parse@app", "read@libc.so.6"}, 3);
//   const Profile& profile = b.profile();
//
// A frame is written as
//   name@image         a named function, at the symbol's start
//   name+0x10@image    a named function, 16 bytes behind the symbol's start
//   inner<outer@image  `inner` inlined into `outer`; more of them: innermost first
//   0x1234@image       an address without a name; 0x1234 is its runtime address
//   0x1234             an address at which nothing is mapped
//   [cut: reason]      instead of the outermost callers: the chain is cut
//
// Chains are written from the outermost caller to the interrupted function. Images whose
// names start with '[k' belong to the kernel. Symbols get addresses in order of appearance: 0x1000,
// 0x2000, …

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "src/profile/profile.h"

namespace profiler::profile {

// A builder of a profile.
class HandmadeProfile {
 public:
  HandmadeProfile();

  // Set the event (added if it is new), thread, CPU, time in ns, and number of running threads of
  // all following samples.
  HandmadeProfile& Event(std::string_view name);
  HandmadeProfile& Thread(uint32_t pid, uint32_t tid);
  HandmadeProfile& Cpu(uint32_t cpu);
  HandmadeProfile& Time(uint64_t ns);
  HandmadeProfile& Parallelism(uint32_t threads);
  // Makes the profile keep the order of all later samples, as if one CPU had taken them.
  HandmadeProfile& InOrder();

  // Lets each following sample stand for `weight` samples, because others are missing in gaps of
  // `gap` samples. Only with InOrder().
  HandmadeProfile& StandingFor(float weight, float gap);

  // Adds `count` samples of `period` each.
  HandmadeProfile& Sample(std::string_view comm, const std::vector<std::string>& chain,
                          uint64_t count = 1, uint64_t period = 1'000'000);

  // Adds a branch that was taken `count` times, from a sample with a branch stack.
  HandmadeProfile& Branch(std::string_view comm, const std::string& from, const std::string& to,
                          uint64_t count = 1, uint16_t cycles = 0,
                          profile::BranchOutcome outcome = profile::BranchOutcome::kPredicted);

  // Sets runtime address minus file offset of the following frames; 0 at first.
  HandmadeProfile& LoadedAt(uint64_t bias);

  // Sets image address minus file offset of the following frames; 0 at first.
  HandmadeProfile& LinkedAt(uint64_t bias);

  profile::Profile& profile() { return profile_; }
  // Returns a row of the profile as one sample.
  profile::SampleRow sample(size_t row) const {
    return {profile_.rows[row], profile_.CpuOf(row), profile_.ParallelismOf(row), times_[row],
            true};
  }

 private:
  void NameThreads(const profile::Thread& named);
  profile::ImageId Image(std::string_view name);
  profile::SymbolId Symbol(std::string_view name, profile::ImageId image);
  profile::FrameId Frame(const std::string& text);
  profile::ThreadId ThreadNamed(std::string_view comm);

  profile::Profile profile_;
  profile::EventId event_{};
  uint32_t pid_ = 100, tid_ = 100, cpu_ = 0;
  uint32_t parallelism_ = 1;
  bool in_order_ = false;
  float weight_ = 1, gap_ = 0;
  uint64_t time_ = 0, bias_ = 0, link_bias_ = 0;
  std::vector<uint64_t> times_;  // indexed by row
  std::map<std::string, profile::ImageId, std::less<>> images_;
  std::map<std::pair<std::string, profile::ImageId>, profile::SymbolId> symbols_;
  std::map<std::string, profile::FrameId> frames_;
  std::map<std::tuple<uint32_t, uint32_t, std::string>, profile::ThreadId> threads_;
  std::map<std::pair<profile::StackId, profile::FrameId>, profile::StackId> stacks_;
};

}  // namespace profiler::profile
