// Caches the steps of the last chain of each stack. When a thread is sampled again, most of its
// frames are still there, with the same steps to their callers:
//
//   sample n      leaf  a ─▶ b ─▶ c ─▶ main ─▶ _start
//   sample n + 1  leaf  d ─▶ e ─────▶ c ─▶ main ─▶ _start
//                                     └── cached from here on
//
// The slots from which a step reads the caller depend only on pc, stack pointer and frame pointer,
// and on the mappings. If these are unchanged, no rule is looked up: two words are read from the
// stack, and nothing is guessed.
//
// rule_cache.h has measurements.
//
// Private to this package.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "src/base/huge_vector.h"

namespace profiler::symbolize {

// A step from a frame to its caller. The frame's pc is a return address.
struct KnownStep {
  uint64_t pc = 0, sp = 0, fp = 0;
  uint64_t return_slot = 0;  // stack address of the caller's pc
  // Stack address of the caller's frame pointer; 0: the caller has the same `fp` as the frame.
  uint64_t frame_slot = 0;
  uint64_t caller_sp = 0;
};

// The cache. Allocates only if a chain is longer than all chains before. Memory: 48 bytes per step,
// for kStacks chains of at most kMostSteps steps each. Not thread-safe.
class KnownSteps {
 public:
  // Begins a chain at stack pointer `sp`. `space` is UnwindSpace::Identity().
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

  // Returns the step from this frame in the last chain; null if the last chain did not have the
  // frame. Call Find for the frames of a chain in order, from the leaf outwards.
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
  // Reports that the step returned by Find was used.
  void Repeat() {
    if (!in_run_) run_ = left_;
    in_run_ = true;
    --left_;
  }

  // Adds a step that is not from the cache.
  void Add(const KnownStep& step) {
    if (stack_ == nullptr) return;
    EndRun();
    fresh_.push_back(step);
  }

  // Ends the chain. Its steps replace the steps of the last chain.
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
  static constexpr size_t kMostSteps = 1024;   // of a longer chain, only the outermost steps stay
  static constexpr unsigned kRegionLog2 = 23;  // log2 of the default stack size of threads
  static constexpr uint64_t kSpread = 0x9e3779b97f4a7c15;
  static constexpr unsigned kSpreadShift = 59;

  struct Stack {
    uint64_t space = 0, region = 0;
    HugeVector<KnownStep> steps;  // outermost first, so that repeated steps stay in place
  };

  // Ends a run of repeated steps whose outer neighbours were not repeated. Copies the run to
  // fresh_.
  void EndRun() {
    if (!in_run_) return;
    for (size_t i = run_; i-- > left_;) fresh_.push_back(stack_->steps[i]);
    in_run_ = false;
  }

  std::array<Stack, kStacks> stacks_;
  Stack* stack_ = nullptr;  // stack of the current chain; null: its steps are not cached
  // Number of the last chain's steps that are further out than the current frame: steps [0, left_).
  size_t left_ = 0;
  bool in_run_ = false;  // true if the chain has just repeated steps [left_, run_)
  size_t run_ = 0;
  HugeVector<KnownStep> fresh_;  // steps of the current chain, from the leaf outwards
};

}  // namespace profiler::symbolize
