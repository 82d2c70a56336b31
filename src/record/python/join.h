// Joins the Python frames of a thread with its C stack.
//
//   C stack, leaf first          Python frames, the newest first        joined
//   memmove                                                             memmove
//   _PyEval_EvalFrameDefault ◀── key, at one C call of the loop         key
//   list_sort                                                           list_sort
//   _PyEval_EvalFrameDefault ◀── sort_all, main, <module>               sort_all
//   main                                                                main
//   __libc_start_main                                                   <module>
//                                                                       main …
//
// Each C call of the evaluation loop runs the Python frames up to the next entry. So the calls of
// the loop and these runs of frames agree, from the leaf outwards. From 3.11 on, each run also has a
// place: an address in the C frame of its call. A run belongs to the C frame that contains the
// place. Before 3.11, runs are counted.
//
// The join shows no caller that it cannot prove. A call of the loop whose Python frames are not
// certain becomes a mark, `unknown`. The innermost loop may have no frames yet, or not any more; it
// stays as it is. While a loop runs a frame, a register has the frame's address, which decides the
// doubtful cases at the leaf.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "symbolize/unwind/unwinder.h"

namespace profiler::record::python {

// The frames that one C call of the evaluation loop runs.
struct Run {
  size_t begin = 0, end = 0;      // indices in Stack::frames; may be empty
  std::optional<uint64_t> place;  // address in the C frame of the call
  bool is_whole = false;          // false: the walk ended before the entry of this call
};

// The Python frames of one sample.
struct Stack {
  std::vector<uint64_t> frames;  // addresses to list, the newest first
  std::vector<Run> runs;         // from the leaf outwards
  bool has_places = false;       // true if every whole run has a place
  // True if a loop that begins makes a variable the place of its newest frame before it gives the
  // variable a value (3.11, 3.12). The first run may then be a remnant of an earlier call.
  bool may_be_remnant = false;
  uint64_t head = 0;  // address of the newest frame

  void Clear() {
    frames.clear();
    runs.clear();
    has_places = may_be_remnant = false;
    head = 0;
  }
};

// Says which frames of a C stack are calls of the evaluation loop.
class Loops {
 public:
  virtual ~Loops() = default;
  // Returns true if `address` is in the evaluation loop.
  virtual bool HasLoop(RuntimeAddress address) const = 0;
  // Returns true if `address`, which is in the loop, is near its beginning.
  virtual bool IsAtEntry(RuntimeAddress address) const = 0;
  // Returns true if all code of the loop is known. If not, code of the same image may belong to it.
  virtual bool AllKnown() const = 0;
  // Returns true if `address` is in the image of the interpreter.
  virtual bool IsInImage(RuntimeAddress address) const = 0;
};

// The result of a join.
struct Joined {
  enum class Quality : uint8_t {
    kNone,     // no evaluation loop on the stack, or only one at the leaf without frames yet
    kWhole,    // every call of the loop has its frames
    kPartly,   // some calls have marks
    kUnknown,  // all calls have marks
  };
  Quality quality = Quality::kNone;
  bool is_leaf_python = false;  // True if the first entry is a Python frame.
};

// Joins. Appends the joined chain to `out`: addresses to list, leaf first, without a mark of the
// chain's end. `unknown` is the address to list for calls of the loop whose frames are not certain.
// `stack` null: the walk wrote nothing.
Joined Join(const symbolize::UnwoundChain& chain, const symbolize::RegisterSet& registers,
            const Loops& loops, const Stack* stack, uint64_t unknown, std::vector<uint64_t>* out);

}  // namespace profiler::record::python
