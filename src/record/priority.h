// The recorder goes before those that it records: on a machine whose every CPU has hundreds of
// busy threads it would otherwise wait for seconds to attach to them, and then for its rings to
// overflow.

#pragma once

namespace profiler::record {

// Gives this process the highest priority among ordinary ones, where it has the right to
// (CAP_SYS_NICE) and nobody has set another for it; children start with the normal one. Undone when
// it goes. One at a time; one thread.
class RaisedPriority {
 public:
  RaisedPriority();
  ~RaisedPriority();
  RaisedPriority(const RaisedPriority&) = delete;
  RaisedPriority& operator=(const RaisedPriority&) = delete;

 private:
  bool raised_ = false;
};

}  // namespace profiler::record
