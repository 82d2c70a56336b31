// The threads of whose stacks the kernel copies too little with a sample. Such a thread is recognised
// when its first chain is cut for that reason. From then on, the program in the kernel reads its stack
// at each sample (src/record/bpf/stack_words.bpf.c).
//
//   chain, cut: stack too short ──▶ StackFollower::Follow: the kernel reads it from now on
//   records before a sample ──▶ DeliveredStack ──▶ StackBytes::rest
//   whole chain ──▶ end of the stack: nothing is read beyond it from now on
//
// Programs and threads with smaller stacks cost nothing.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/container/flat_hash_map.h"
#include "src/record/bpf/stack_record.h"
#include "symbolize/address_space.h"
#include "symbolize/unwind/stack_words.h"
#include "symbolize/unwind/unwinder.h"

namespace profiler::record {

// The part of the kernel that reads stacks.
class StackFollower {
 public:
  virtual ~StackFollower() = default;
  // Reads the stack of the thread at each of its samples from now on, or in another way than before.
  // Returns false if that is not possible here.
  virtual bool Follow(uint32_t tid, const FollowedThread& thread) = 0;
  virtual void Leave(uint32_t tid) = 0;
};

// The stack of the next sample of a ring, from the records before it.
class DeliveredStack {
 public:
  // Returns true if a record of the programs in the kernel is one of a stack.
  static bool IsRecord(std::span<const std::byte> record);

  // Takes such a record. A record that is malformed, or does not continue the one before, removes
  // all.
  void Take(uint32_t tid, std::span<const std::byte> record);
  void Clear() { is_begun_ = is_complete_ = false; }

  // Returns the words for a sample of that thread with that stack pointer; null if there are none.
  const symbolize::StackWords* Of(uint32_t tid, uint64_t sp) const {
    return is_complete_ && tid == tid_ && sp == sp_ ? &words_ : nullptr;
  }
  // The state of the last record.
  StackRecordState state() const { return state_; }

 private:
  bool Add(std::span<const std::byte> record);

  uint32_t tid_ = 0;
  uint64_t sp_ = 0;
  bool is_begun_ = false;     // True if a record that goes on was taken.
  bool is_complete_ = false;  // True if the last record was taken.
  StackRecordState state_ = kStackGoesOn;
  symbolize::StackWords words_;
};

// All such threads. Use it from one thread.
class DeepThreads {
 public:
  // Sets who reads stacks, before any sample. Null: nobody.
  void SetFollower(StackFollower* follower) { follower_ = follower; }

  // A sample's chain, as it was unwound.
  struct Unwound {
    uint32_t tid = 0;
    uint64_t time = 0;
    const symbolize::UnwoundChain& chain;
    // The delivered stack; null if nothing was delivered.
    const DeliveredStack* delivered = nullptr;
    const symbolize::StackWords* words = nullptr;  // its words
    // True if the stack may be larger than the bytes that the kernel copied, and has words of 8
    // bytes.
    bool may_have_rest = false;
    // Number of bytes that the kernel copied. 0 if it stopped early, at memory that it could not
    // read.
    uint64_t copied = 0;
    // The mappings of the process.
    const symbolize::AddressSpace& space;
  };
  void Take(const Unwound& sample);

  // Forgets a thread that has ended.
  void Ended(uint32_t tid);

 private:
  struct Thread {
    bool is_followed = false;
    uint64_t mappings = 0;  // AddressSpace::generation of the ranges of code
    uint64_t seen = 0;      // time of the last sample
    uint64_t pause = 0;     // time until which the thread is not followed
    FollowedThread entry{.end = UINT64_MAX, .skip = UINT64_MAX};
  };

  void TakeCut(const Unwound& sample);
  void Follow(const Unwound& sample, Thread& thread);
  void Leave(uint32_t tid, Thread& thread);
  void MakeRoom(uint64_t time);

  StackFollower* follower_ = nullptr;
  absl::flat_hash_map<uint32_t, Thread> threads_;
};

// Sets the ranges of code of an entry: all executable mappings, with small gaps between them.
void SetCodeRanges(const symbolize::AddressSpace& space, FollowedThread* entry);

}  // namespace profiler::record
