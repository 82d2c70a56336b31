// What is behind a switch of stacks: where an unwound chain ends in a function that went on on
// another stack (ChainEnd::kStackSwitch), which was not copied.
//
// The kernel has followed frame pointers across when it took the sample, as Go keeps them:
//
//   unwound    pc … work.func1  systemstack
//   kernel     pc … ········ ,  systemstack,  ·····,  main,  goexit
//                                             └ called before it goes on in main
//
// C keeps none. Then the other stack is read afterwards, if it is still as it was. A goroutine that
// calls C again and again does so from the same place of its stack, so what was found once behind a
// call is known for the next ones, on whichever thread they are:
//
//   behind    goexit → main → work → stub → cgocall  ⇢  asmcgocall → C function
//   known by                                 └ its frame's address      └ its start
//
// It is seen as well where the goroutine itself was sampled in cgocall, before C is called, after
// it, or while C calls Go: each C function has a stub of its own, whose code tells which one it is.
// Other goroutines that have begun in the same function, as far out on their stacks, have come the
// same way.
//
// The same goes for the segments of a stack that was split (-fsplit-stack), but what was read of
// one later is not held against what was called.
//
// The kernel's chain lacks who called the function that switches. Where that cannot be seen in its
// caller's code, which may call by an address, it is who has called with the same function before.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/perf_event/records.h"
#include "symbolize/unwind/switching_call.h"
#include "symbolize/unwind/unwinder.h"

namespace profiler::record {

// One thread. Memory is bounded: when the chains known have a million frames, all are dropped.
class StackSwitches {
 public:
  // Tells of a chain that ends with a switch, before all else is asked of it.
  void Meet(uint32_t pid, const symbolize::UnwoundChain& chain, symbolize::UnwindSpace& space);

  // What is outside of `chain`, as a call chain lists it, leaf first. `callchain` is the kernel's,
  // and `frame_pointer` that of the interrupted function. Empty where it does not lead to the start
  // of a thread, or to somebody of whom it is not known who called. Valid until the next call.
  std::span<const uint64_t> FollowKernel(uint32_t pid, const symbolize::UnwoundChain& chain,
                                         const perf_event::U64Array& callchain,
                                         uint64_t frame_pointer, symbolize::UnwindSpace& space);

  // What is outside of a chain, as a call chain lists it, leaf first.
  struct Outer {
    std::span<const uint64_t> callers;
    bool guessed = false;  // one of them was found by its frame pointer
  };
  // `outer` goes out to the thread's start.
  void Remember(uint32_t pid, const symbolize::UnwoundChain& chain, Outer outer,
                symbolize::UnwindSpace& space);
  // Whether `callers` may have called what `chain` has outermost before the switch: not those of
  // another function of C, that are found when the stack is read later.
  bool MayHaveCalled(uint32_t pid, std::span<const symbolize::UnwoundFrame> callers,
                     const symbolize::UnwoundChain& chain, symbolize::UnwindSpace& space);
  // Whether a goroutine of the process has called C.
  bool CallsC(uint32_t pid) const;
  // `frames` are a whole chain's, leaf first, of such a process: some may be about to call C. Reads
  // variables of it.
  void Observe(uint32_t pid, std::span<const symbolize::UnwoundFrame> frames,
               symbolize::UnwindSpace& space);
  // What was remembered of the same place or of one like it. Nothing where nothing was, where it
  // was reached in several ways, or where the stack is by now, as `space` can read it, that of a
  // goroutine which began elsewhere. Valid until the next call of another function.
  std::optional<Outer> Find(uint32_t pid, const symbolize::UnwoundChain& chain,
                            symbolize::UnwindSpace& space) const;
  // The first function of the goroutine whose stack that is, as `space` can read it, if nothing but
  // that is outside of `chain`. Valid until the next call.
  std::optional<Outer> ReadStart(const symbolize::UnwoundChain& chain,
                                 symbolize::UnwindSpace& space);
  // The process ended, or runs another program.
  void Forget(uint32_t pid);

 private:
  // What the function that switches has called, and the frame pointer of the other stack.
  using Place = std::pair<uint64_t, uint64_t>;
  // How far out of the frame pointer a goroutine's stack has the return addresses into its first
  // function and into what that returns to; 0: nobody knows.
  struct Start {
    uint64_t function = 0, outermost = 0;
    bool operator==(const Start&) const = default;
  };
  struct Behind {
    std::vector<uint64_t> callers;  // leaf first
    bool guessed = false;
    Start start;
    bool is_ambiguous = false;  // there were several
  };
  struct Process {
    absl::flat_hash_map<Place, Behind> at;
    // By what the function that switches has called.
    absl::flat_hash_map<uint64_t, std::vector<Behind>> of;
    // Who called the function that switches, by what that has called; 0: several.
    absl::flat_hash_map<uint64_t, uint64_t> first_callers;
    // By where their stubs go on when they return.
    absl::flat_hash_map<uint64_t, symbolize::CalledC> functions;
    // cgocall, and the instruction in it that calls C; 0: that was not met.
    std::optional<uint64_t> caller;
    uint64_t call = 0;
    // Where the function that switches for it goes on, and how far that one's frame pointer is from
    // cgocall's.
    uint64_t switching = 0, frame = 0;
  };

  static constexpr size_t kMostFrames = 1 << 20;
  // To one function of C, from different depths of stacks.
  static constexpr size_t kMostWays = 16;

  uint64_t FirstCaller(uint32_t pid, const symbolize::UnwoundChain& chain,
                       RuntimeAddress return_address, symbolize::UnwindSpace& space) const;
  // That of the frame of who has called the function that switches.
  static uint64_t FramePointer(const Process& process, const symbolize::UnwoundChain& chain);
  void RememberAt(Process& process, Place place, Outer outer, symbolize::UnwindSpace& space);
  // Makes `known` what was found last.
  void Update(Behind& known, Outer outer, Start start, symbolize::UnwindSpace& space);
  // What a stub calls that goes on there; null: nobody knows.
  const symbolize::CalledC* FunctionOfStub(Process& process, RuntimeAddress return_address,
                                           symbolize::UnwindSpace& space);
  static Start FindStart(std::span<const uint64_t> callers, symbolize::UnwindSpace& space);
  // Whether the stack has a goroutine that began as `behind` did, by now.
  static bool BeginsAs(const Behind& behind, uint64_t frame_pointer, symbolize::UnwindSpace& space);

  absl::flat_hash_map<uint32_t, Process> processes_;
  size_t frames_ = 0;  // of all
  std::vector<uint64_t> followed_, observed_, start_;
};

}  // namespace profiler::record
