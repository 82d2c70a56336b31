// The steps of the last chain of each stack. Most frames of a thread are still there when it is
// sampled next, and their step to the caller is the same again:
//
//   sample n      leaf  a ─▶ b ─▶ c ─▶ main ─▶ _start
//   sample n + 1  leaf  d ─▶ e ─────▶ c ─▶ main ─▶ _start
//                                     └── known from here on
//
// Where on the stack a step finds the caller depends on where it starts (pc, stack pointer, frame
// pointer) and on what is mapped. So where these are the same again no rule is looked up: two words
// of the stack are read, and nothing is guessed.
//
// What it gains is measured in rule_cache.h.
//
// Private to this package.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "src/base/huge_vector.h"

namespace profiler::symbolize {

// From a frame whose address is a return address to its caller, which is another such frame.
struct KnownStep {
  uint64_t pc = 0, sp = 0, fp = 0;
  uint64_t return_slot = 0;  // where the caller's pc lies on the stack
  uint64_t frame_slot = 0;   // where its frame pointer does; 0: it is that of the frame
  uint64_t caller_sp = 0;
};

// Not thread-safe. Allocates while chains get longer than any before. Memory: 48 bytes a step of
// kStacks chains of at most kMostSteps.
class KnownSteps {
 public:
  // A chain begins with the stack pointer `sp`; `space` is what UnwindSpace::Identity() says.
  void Start(uint64_t space, uint64_t sp) {
    fresh_.clear();
    in_run_ = false;
    if (space == 0) {
      stack_ = nullptr;
      return;
    }
    const uint64_t region = sp >> kRegionLog2;
    stack_ = &stacks_[(region ^ space * kSpread >> kSpreadShift) % kStacks];
    if (stack_->space != space || stack_->region != region) {
      stack_->space = space;
      stack_->region = region;
      stack_->steps.clear();
    }
    left_ = stack_->steps.size();
  }

  // The step of the last chain from this frame, if it had one. To be asked on the way out.
  const KnownStep* Find(uint64_t pc, uint64_t sp, uint64_t fp) {
    if (stack_ == nullptr) return nullptr;
    const HugeVector<KnownStep>& steps = stack_->steps;
    while (left_ != 0 && steps[left_ - 1].sp < sp) {
      EndRun();
      --left_;
    }
    if (left_ == 0) return nullptr;
    const KnownStep& step = steps[left_ - 1];
    return step.sp == sp && step.pc == pc && step.fp == fp ? &step : nullptr;
  }
  // What Find gave is the same again.
  void Repeat() {
    if (!in_run_) run_ = left_;
    in_run_ = true;
    --left_;
  }

  // A step that was taken anew.
  void Add(const KnownStep& step) {
    if (stack_ == nullptr) return;
    EndRun();
    fresh_.push_back(step);
  }

  // The chain ends: it is the last one now.
  void Finish() {
    if (stack_ == nullptr || (fresh_.empty() && !in_run_)) return;
    HugeVector<KnownStep>& steps = stack_->steps;
    steps.resize(in_run_ ? run_ : 0);
    for (size_t i = fresh_.size(); i-- > 0 && steps.size() < kMostSteps;) {
      steps.push_back(fresh_[i]);
    }
  }

 private:
  static constexpr size_t kStacks = 32;
  static constexpr size_t kMostSteps = 1024;   // the outermost ones
  static constexpr unsigned kRegionLog2 = 23;  // of a stack: what threads have by default
  static constexpr uint64_t kSpread = 0x9e3779b97f4a7c15;
  static constexpr unsigned kSpreadShift = 59;

  struct Stack {
    uint64_t space = 0, region = 0;
    HugeVector<KnownStep> steps;  // the outermost first, so that what stays stands in front
  };

  // The steps that were repeated are not followed by all those that stood in front of them.
  void EndRun() {
    if (!in_run_) return;
    for (size_t i = run_; i-- > left_;) fresh_.push_back(stack_->steps[i]);
    in_run_ = false;
  }

  std::array<Stack, kStacks> stacks_;
  Stack* stack_ = nullptr;  // of the chain at hand; null: nothing is kept of it
  size_t left_ = 0;         // steps of the last chain that are further out, in front of the list
  bool in_run_ = false;     // the last steps were all repeated: those from run_ − 1 to left_
  size_t run_ = 0;
  HugeVector<KnownStep> fresh_;  // on the way out
};

}  // namespace profiler::symbolize
