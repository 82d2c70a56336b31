#include "src/record/python/join.h"

#include <algorithm>

namespace profiler::record::python {
namespace {

using symbolize::UnwoundFrame;

constexpr size_t kNoRun = SIZE_MAX;

class Joiner {
 public:
  Joiner(const symbolize::UnwoundChain& chain, const symbolize::RegisterSet& registers,
         const Loops& loops, const Stack* stack)
      : chain_(chain),
        frames_(chain.frames.data(), chain.frames.size()),
        registers_(registers),
        loops_(loops),
        stack_(stack) {}

  Joined Result(uint64_t unknown, std::vector<uint64_t>* out) {
    runs_.assign(frames_.size(), kNoRun);
    is_loop_.assign(frames_.size(), false);
    for (size_t i = 0; i < frames_.size(); ++i) {
      is_loop_[i] = loops_.HasLoop(frames_[i].instruction());
    }
    if (stack_ != nullptr && Runs() != 0) {
      is_consistent_ = stack_->has_places ? MatchPlaces() : MatchByCount();
    }
    return Write(unknown, out);
  }

 private:
  size_t Runs() const { return stack_->runs.size(); }
  bool IsLeafLoop() const { return !is_loop_.empty() && is_loop_.front(); }

  // Returns true if a register has the address of the newest frame.
  bool HasRegisterOfHead() const {
    for (unsigned number = 0; number < symbolize::kRegisters; ++number) {
      if (registers_.Knows(number) && registers_.Get(number) == stack_->head) return true;
    }
    return false;
  }

  // Returns false if the newest frame may be a remnant of an earlier call.
  bool IsCertain() const {
    if (!stack_->may_be_remnant || !IsLeafLoop()) return true;
    return !loops_.IsAtEntry(frames_.front().address) || HasRegisterOfHead();
  }

  // A run belongs to the C frame that contains its place.
  bool MatchPlaces() {
    for (size_t i = 0; i < frames_.size() && used_ < Runs(); ++i) {
      const std::optional<uint64_t>& place = stack_->runs[used_].place;
      if (!place) {
        // The walk was cut in this run. It is the run of the next loop, unless that has just begun.
        if (!is_loop_[i]) continue;
        if (i == 0 && !HasRegisterOfHead()) return false;
        runs_[i] = used_++;
        return true;
      }
      if (*place < frames_[i].stack_pointer) return false;  // no frame contains the place
      const bool is_last = i + 1 == frames_.size();
      if (is_last ? !is_loop_[i] || chain_.whole() : *place >= frames_[i + 1].stack_pointer)
        continue;
      const bool may_be_loop =
          is_loop_[i] || (!loops_.AllKnown() && loops_.IsInImage(frames_[i].instruction()));
      if (!may_be_loop) return false;
      if (i != 0 || IsCertain()) runs_[i] = used_;
      ++used_;
    }
    return used_ == Runs() || !chain_.whole();
  }

  // The number of calls of the loop tells which run is whose.
  bool MatchByCount() {
    if (!loops_.AllKnown()) return false;
    const size_t loops = static_cast<size_t>(std::ranges::count(is_loop_, true));
    const size_t runs = Runs();
    const bool is_walk_whole = stack_->runs.back().is_whole;
    size_t without = 0;  // 1 if the innermost loop has just begun or ended
    if (chain_.whole() && is_walk_whole) {
      without = loops == runs + 1 ? 1 : 0;
      if (loops != runs + without) return false;
    } else {
      if (chain_.whole() ? loops < runs : is_walk_whole && loops > runs) return false;
      if (IsLeafLoop() && !HasRegisterOfHead()) return false;
    }
    for (size_t i = 0; i < frames_.size() && used_ < runs; ++i) {
      if (!is_loop_[i]) continue;
      if (without != 0) {
        --without;
      } else {
        runs_[i] = used_++;
      }
    }
    return true;
  }

  void AppendRun(size_t run, std::vector<uint64_t>* out) const {
    const auto& [begin, end, place, is_whole] = stack_->runs[run];
    out->insert(out->end(), stack_->frames.begin() + static_cast<ptrdiff_t>(begin),
                stack_->frames.begin() + static_cast<ptrdiff_t>(end));
  }

  Joined Write(uint64_t unknown, std::vector<uint64_t>* out) const {
    Joined joined;
    size_t matched = 0, unmatched = 0;
    bool is_inside = false;  // True if another loop is nearer to the leaf.
    for (size_t i = 0; i < frames_.size(); ++i) {
      if (runs_[i] != kNoRun) {
        AppendRun(runs_[i], out);
        // A loop that has just ended its function stays as it is.
        const Run& run = stack_->runs[runs_[i]];
        if (run.begin == run.end) out->push_back(frames_[i].instruction().value);
        if (i == 0) joined.is_leaf_python = run.begin != run.end;
        ++matched;
        if (!run.is_whole) {
          out->push_back(unknown);
          ++unmatched;
        }
      } else if (is_loop_[i] && i != 0 && (is_inside || !is_consistent_)) {
        out->push_back(unknown);
        ++unmatched;
      } else {
        out->push_back(frames_[i].instruction().value);
      }
      is_inside = is_inside || is_loop_[i] || runs_[i] != kNoRun;
    }
    // The C stack was cut, but the walk went on: its frames are true callers.
    if (is_consistent_ && unmatched == 0 && !chain_.whole()) {
      for (size_t run = used_; run < Runs(); ++run) {
        AppendRun(run, out);
        ++matched;
        if (stack_->runs[run].is_whole) continue;
        out->push_back(unknown);
        ++unmatched;
      }
    }
    if (matched != 0) {
      joined.quality = unmatched == 0 ? Joined::Quality::kWhole : Joined::Quality::kPartly;
    } else if (unmatched != 0) {
      joined.quality = Joined::Quality::kUnknown;
    }
    return joined;
  }

  const symbolize::UnwoundChain& chain_;
  std::span<const UnwoundFrame> frames_;
  const symbolize::RegisterSet& registers_;
  const Loops& loops_;
  const Stack* const stack_;
  std::vector<size_t> runs_;  // [i]: the run of frames_[i]
  std::vector<bool> is_loop_;
  size_t used_ = 0;             // runs that have a C frame
  bool is_consistent_ = false;  // True if no run contradicts the C stack.
};

}  // namespace

Joined Join(const symbolize::UnwoundChain& chain, const symbolize::RegisterSet& registers,
            const Loops& loops, const Stack* stack, uint64_t unknown, std::vector<uint64_t>* out) {
  return Joiner(chain, registers, loops, stack).Result(unknown, out);
}

}  // namespace profiler::record::python
