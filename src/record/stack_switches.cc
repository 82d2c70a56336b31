#include "src/record/stack_switches.h"

#include <algorithm>
#include <optional>

#include "symbolize/unwind/switching_call.h"

namespace profiler::record {
namespace {

using perf_event::U64Array;
using symbolize::UnwoundChain;
using symbolize::UnwoundFrame;

// Without its marker: the interrupted instruction, and return addresses.
U64Array UserPart(const U64Array& callchain) {
  const size_t before =
      std::min(perf_event::WithoutUserPart(callchain).size() + 1, callchain.size());
  return U64Array(callchain.bytes().subspan(before * sizeof(uint64_t)));
}

// Where the kernel's chain goes on with what the frame pointer of the last frame leads to; 0:
// nowhere.
size_t FindOuter(const UnwoundChain& chain, const U64Array& kernel, uint64_t frame_pointer) {
  // The first entry is the interrupted instruction, whatever the frame pointer is.
  if (chain.registers.fp() == frame_pointer) return 1;
  for (size_t i = 1; i < kernel.size(); ++i) {
    if (kernel[i] == chain.frames.back().address.value) return i + 1;
  }
  return 0;
}

constexpr uint64_t kWord = sizeof(uint64_t);

uint64_t StartOf(symbolize::UnwindSpace& space, uint64_t instruction) {
  const auto function = symbolize::FunctionOf(space, {instruction});
  return function ? function->value : instruction;
}

// Of what the function that switches has called.
uint64_t CalledOnThread(const UnwoundChain& chain, symbolize::UnwindSpace& space) {
  const size_t count = chain.frames.size();
  return StartOf(space, chain.frames[count < 2 ? 0 : count - 2].instruction().value);
}

// Whether all calls are in the same functions, if not at the same places in them.
bool HaveSameFunctions(std::span<const uint64_t> a, std::span<const uint64_t> b,
                       symbolize::UnwindSpace& space) {
  return std::ranges::equal(a, b, [&](uint64_t x, uint64_t y) {
    return x == y || StartOf(space, x) == StartOf(space, y);
  });
}

std::optional<uint64_t> ReadWord(symbolize::UnwindSpace& space, uint64_t address) {
  uint64_t word = 0;
  if (!space.ReadMemory(address, std::as_writable_bytes(std::span(&word, 1)))) return std::nullopt;
  return word;
}

}  // namespace

std::span<const uint64_t> StackSwitches::FollowKernel(uint32_t pid, const UnwoundChain& chain,
                                                      const U64Array& callchain,
                                                      uint64_t frame_pointer,
                                                      symbolize::UnwindSpace& space) {
  followed_.clear();
  const U64Array kernel = UserPart(callchain);
  const size_t outer = FindOuter(chain, kernel, frame_pointer);
  if (outer == 0 || outer >= kernel.size()) return {};
  const RuntimeAddress last{kernel[kernel.size() - 1]};
  if (!symbolize::IsInOutermostFunction(space, last)) return {};
  const auto behind =
      symbolize::FindBehindSwitch(space, chain.frames.back().address, {kernel[outer]});
  if (behind && behind->caller) {
    followed_.push_back(behind->caller->value - 1);
  } else if (!behind) {
    const uint64_t caller = FirstCaller(pid, chain, {kernel[outer]}, space);
    if (caller == 0) return {};
    followed_.push_back(caller);
  }
  symbolize::MappedCode code;
  for (size_t i = outer; i < kernel.size(); ++i) {
    const RuntimeAddress call{kernel[i] - 1};
    if (!code.Holds(call) && !space.FindCode(call, &code)) return {};
    followed_.push_back(call.value);
  }
  return followed_;
}

// Who was called before `return_address`, which does not show it, and has called the function that
// switches; 0: nobody knows.
uint64_t StackSwitches::FirstCaller(uint32_t pid, const UnwoundChain& chain,
                                    RuntimeAddress return_address,
                                    symbolize::UnwindSpace& space) const {
  if (symbolize::CalledBefore(space, return_address)) return 0;
  const auto process = processes_.find(pid);
  if (process == processes_.end()) return 0;
  const auto& callers = process->second.first_callers;
  const auto caller = callers.find(CalledOnThread(chain, space));
  return caller == callers.end() ? 0 : caller->second;
}

void StackSwitches::Remember(uint32_t pid, const UnwoundChain& chain, Outer outer,
                             symbolize::UnwindSpace& space) {
  if (outer.callers.empty()) return;
  if (frames_ > kMostFrames) {
    processes_.clear();
    frames_ = 0;
  }
  Process& process = processes_[pid];
  const uint64_t function = CalledOnThread(chain, space);
  RememberAt(process, {function, FramePointer(process, chain)}, outer, space);
  const auto [caller, is_new] = process.first_callers.try_emplace(function, outer.callers[0]);
  frames_ += is_new ? 1 : 0;
  if (!is_new && caller->second != 0 &&
      !HaveSameFunctions({&caller->second, 1}, outer.callers.first(1), space)) {
    caller->second = 0;
  }
}

void StackSwitches::Meet(uint32_t pid, const UnwoundChain& chain, symbolize::UnwindSpace& space) {
  Process& process = processes_[pid];
  const RuntimeAddress switching = chain.frames.back().address;
  if (process.caller || !symbolize::KeepsGoroutine(space, switching)) return;
  process.caller = 0;
  if (const auto call = symbolize::FindCallOfC(space, switching)) {
    process.call = call->value - 1;
    process.caller = StartOf(space, process.call);
    process.switching = switching.value;
    process.frame = symbolize::FrameOfCallOfC(space, switching, {process.call});
  }
}

bool StackSwitches::CallsC(uint32_t pid) const {
  const auto process = processes_.find(pid);
  return process != processes_.end() && process->second.caller.value_or(0) != 0;
}

const symbolize::CalledC* StackSwitches::FunctionOfStub(Process& process,
                                                        RuntimeAddress return_address,
                                                        symbolize::UnwindSpace& space) {
  const auto known = process.functions.find(return_address.value);
  if (known != process.functions.end()) return &known->second;
  const auto called = symbolize::FindCalledC(space, return_address);
  if (!called) return nullptr;
  ++frames_;
  return &(process.functions[return_address.value] = *called);
}

bool StackSwitches::MayHaveCalled(uint32_t pid, std::span<const UnwoundFrame> callers,
                                  const UnwoundChain& chain, symbolize::UnwindSpace& space) {
  if (!CallsC(pid) || callers.size() < 2) return true;
  Process& process = processes_[pid];
  const RuntimeAddress function{CalledOnThread(chain, space)};
  const auto calls = [function](const symbolize::CalledC& stub) {
    return stub.function == function || stub.jumps_to == function;
  };
  const auto has_stub = [&] {
    return std::ranges::any_of(process.functions, [&](const auto& f) { return calls(f.second); });
  };
  if (StartOf(space, callers[0].instruction().value) != *process.caller) return !has_stub();
  const symbolize::CalledC* const called = FunctionOfStub(process, callers[1].address, space);
  // What it jumps to may have jumped on.
  return called == nullptr || calls(*called) || !has_stub();
}

uint64_t StackSwitches::FramePointer(const Process& process, const UnwoundChain& chain) {
  const bool calls_c = chain.frames.back().address.value == process.switching;
  return chain.registers.fp() + (calls_c ? process.frame : 0);
}

void StackSwitches::RememberAt(Process& process, Place place, Outer outer,
                               symbolize::UnwindSpace& space) {
  Behind& known = process.at[place];
  if (std::ranges::equal(known.callers, outer.callers)) return;
  const Start start = FindStart(outer.callers, space);
  Update(known, outer, start, space);
  if (start == Start()) return;
  std::vector<Behind>& ways = process.of[place.first];
  const auto way = std::ranges::find(ways, start, &Behind::start);
  if (way != ways.end()) return Update(*way, outer, start, space);
  if (ways.size() == kMostWays) {
    frames_ -= ways.front().callers.size();
    ways.erase(ways.begin());
  }
  Update(ways.emplace_back(), outer, start, space);
}

void StackSwitches::Update(Behind& known, Outer outer, Start start, symbolize::UnwindSpace& space) {
  if (!known.callers.empty() && !HaveSameFunctions(known.callers, outer.callers, space)) {
    known.is_ambiguous = true;
  }
  frames_ += outer.callers.size();
  frames_ -= known.callers.size();
  known.callers.assign(outer.callers.begin(), outer.callers.end());
  known.guessed = outer.guessed;
  known.start = start;
}

// The first one of `callers` has the frame to which the frame pointer points.
StackSwitches::Start StackSwitches::FindStart(std::span<const uint64_t> callers,
                                              symbolize::UnwindSpace& space) {
  if (callers.size() < 3) return {};
  uint64_t out = 2 * kWord;
  Start start;
  symbolize::MappedCode code;
  for (const uint64_t caller : callers.first(callers.size() - 1).subspan(1)) {
    start.function = out - kWord;
    if (!code.Holds({caller}) && !space.FindCode({caller}, &code)) return {};
    if (code.cfi == nullptr) return {};
    const symbolize::UnwindRule rule = code.cfi->Find({caller - code.bias});
    if (rule.kind != symbolize::UnwindRule::kFromStackPointer || rule.cfa_offset <= 0) return {};
    out += static_cast<uint64_t>(rule.cfa_offset);
  }
  start.outermost = out - kWord;
  return start;
}

bool StackSwitches::BeginsAs(const Behind& behind, uint64_t frame_pointer,
                             symbolize::UnwindSpace& space) {
  if (behind.start == Start()) return false;
  const auto function = ReadWord(space, frame_pointer + behind.start.function);
  const auto outermost = ReadWord(space, frame_pointer + behind.start.outermost);
  const size_t last = behind.callers.size() - 1;
  return function && outermost && *outermost - 1 == behind.callers[last] &&
         StartOf(space, *function - 1) == StartOf(space, behind.callers[last - 1]);
}

void StackSwitches::Observe(uint32_t pid, std::span<const UnwoundFrame> frames,
                            symbolize::UnwindSpace& space) {
  if (!CallsC(pid)) return;
  Process& process = processes_[pid];
  // cgocall is much shorter.
  constexpr uint64_t kMostSize = 4096;
  for (size_t i = 0; i + 1 < frames.size(); ++i) {
    const uint64_t instruction = frames[i].instruction().value;
    if (instruction - *process.caller > kMostSize) continue;
    if (StartOf(space, instruction) != *process.caller) continue;
    const symbolize::CalledC* const called = FunctionOfStub(process, frames[i + 1].address, space);
    if (called == nullptr) continue;
    observed_.assign(1, process.call);
    bool guessed = false;
    for (const UnwoundFrame& caller : frames.subspan(i + 1)) {
      observed_.push_back(caller.instruction().value);
      guessed = guessed || caller.origin == symbolize::FrameOrigin::kGuess;
    }
    const uint64_t frame_pointer = frames[i + 1].stack_pointer - 2 * kWord;
    RememberAt(process, {called->function.value, frame_pointer}, {observed_, guessed}, space);
    if (!called->jumps_to) continue;
    RememberAt(process, {called->jumps_to->value, frame_pointer}, {observed_, guessed}, space);
  }
}

std::optional<StackSwitches::Outer> StackSwitches::Find(uint32_t pid, const UnwoundChain& chain,
                                                        symbolize::UnwindSpace& space) const {
  const auto process = processes_.find(pid);
  if (process == processes_.end()) return std::nullopt;
  const uint64_t function = CalledOnThread(chain, space);
  const uint64_t fp = FramePointer(process->second, chain);
  if (const auto at = process->second.at.find({function, fp}); at != process->second.at.end()) {
    const Behind& behind = at->second;
    const bool can_be_seen =
        behind.start != Start() && ReadWord(space, fp + behind.start.outermost);
    if (behind.is_ambiguous || (can_be_seen && !BeginsAs(behind, fp, space))) return std::nullopt;
    return Outer{behind.callers, behind.guessed};
  }
  const auto of = process->second.of.find(function);
  if (of == process->second.of.end()) return std::nullopt;
  const auto way = std::ranges::find_if(
      of->second, [&](const Behind& behind) { return BeginsAs(behind, fp, space); });
  if (way == of->second.end() || way->is_ambiguous) return std::nullopt;
  return Outer{way->callers, way->guessed};
}

std::optional<StackSwitches::Outer> StackSwitches::ReadStart(const UnwoundChain& chain,
                                                             symbolize::UnwindSpace& space) {
  const auto first =
      symbolize::FindFirstFunction(space, chain.frames.back().address, chain.registers.fp());
  if (!first) return std::nullopt;
  start_ = {first->caller.value - 1, first->outermost.value - 1};
  return Outer{start_, /*guessed=*/true};
}

void StackSwitches::Forget(uint32_t pid) {
  const auto process = processes_.find(pid);
  if (process == processes_.end()) return;
  for (const auto& [place, behind] : process->second.at) frames_ -= behind.callers.size();
  for (const auto& [function, ways] : process->second.of) {
    for (const Behind& behind : ways) frames_ -= behind.callers.size();
  }
  frames_ -= process->second.first_callers.size() + process->second.functions.size();
  processes_.erase(process);
}

}  // namespace profiler::record
