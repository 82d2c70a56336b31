// objects HOW DEPTH CHANGES_EVERY_NS SECONDS: alpha and beta call the same recursive function at
// the same stack position, alpha three times as often. HOW: `virtual` calls through two classes in
// turn, `function` calls through std::function, `exception` throws through all frames, `threads`
// runs two threads.

#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>

#include "clocked.h"

struct Done {};

struct Work {
  enum class How { kVirtual, kFunction, kException } how;
  int depth;
  long ns;
};

class Step {
 public:
  virtual ~Step() = default;
  virtual void Descend(int left, const Work& work) = 0;
};

class Even;
class Odd;
Step& even();
Step& odd();

class Even : public Step {
 public:
  ALONE void Descend(int left, const Work& work) override {
    volatile char frame[kPad];
    frame[0] = frame[kPad - 1] = static_cast<char>(left);
    if (left == 0) {
      leaf(work.ns);
    } else {
      odd().Descend(left - 1, work);
    }
    frame[0] = 1;
  }
};

class Odd : public Step {
 public:
  ALONE void Descend(int left, const Work& work) override {
    volatile char frame[kPad];
    frame[0] = frame[kPad - 1] = static_cast<char>(left);
    if (left == 0) {
      leaf(work.ns);
    } else {
      even().Descend(left - 1, work);
    }
    frame[0] = 2;
  }
};

// Hides the object's class from the compiler.
ALONE Step& even() {
  static Even step;
  return step;
}
ALONE Step& odd() {
  static Odd step;
  return step;
}

using Next = std::function<void(int)>;

ALONE void deep(int left, const Next& next) {
  volatile char frame[kPad];
  frame[0] = frame[kPad - 1] = static_cast<char>(left);
  next(left);
  frame[0] = 1;
}

ALONE void deep_by_function(const Work& work) {
  Next next;
  next = [&](int left) {
    if (left == 0) {
      leaf(work.ns);
    } else {
      deep(left - 1, next);
    }
  };
  deep(work.depth - 1, next);
  STAY;
}

ALONE void deep_to_throw(int left, long ns) {
  volatile char frame[kPad];
  frame[0] = frame[kPad - 1] = static_cast<char>(left);
  if (left == 0) {
    leaf(ns);
    throw Done();
  }
  deep_to_throw(left - 1, ns);
  frame[0] = 1;
}

ALONE void once(const Work& work) {
  switch (work.how) {
    case Work::How::kVirtual:
      even().Descend(work.depth - 1, work);
      break;
    case Work::How::kFunction:
      deep_by_function(work);
      break;
    case Work::How::kException:
      try {
        deep_to_throw(work.depth - 1, work.ns);
      } catch (const Done&) {
        STAY;
      }
      break;
  }
  STAY;
}

ALONE void alpha(int calls, const Work& work) {
  for (int i = 0; i < calls; i++) once(work);
  STAY;
}

ALONE void beta(int calls, const Work& work) {
  for (int i = 0; i < calls; i++) once(work);
  STAY;
}

ALONE void run(Work work, long changes, double seconds) {
  const long end = cpu_now() + static_cast<long>(seconds * 1e9);
  do {
    work.ns = next_length(changes);
    alpha(3, work);
    beta(1, work);
  } while (cpu_now() < end);
}

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  Work work{Work::How::kVirtual, std::atoi(argv[2]), 0};
  if (std::strcmp(argv[1], "function") == 0) work.how = Work::How::kFunction;
  if (std::strcmp(argv[1], "exception") == 0) work.how = Work::How::kException;
  const long changes = std::atol(argv[3]);
  const double seconds = std::atof(argv[4]);
  calibrate();
  wait_for_recorder();
  if (std::strcmp(argv[1], "threads") != 0) {
    run(work, changes, seconds);
    return 0;
  }
  std::array<std::thread, 2> threads;
  for (std::thread& thread : threads) thread = std::thread(run, work, changes, seconds / 2);
  for (std::thread& thread : threads) thread.join();
}
