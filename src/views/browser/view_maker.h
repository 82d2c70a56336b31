// Makes views on a second thread while the user looks at the screen, so that the next key finds its
// view.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "src/profile/profile.h"
#include "src/views/browser/table_view.h"

namespace profiler::browser {

// A table, for the event, the sort keys and the zooms of `key`.
struct View {
  std::string key, symbol_part;
  std::vector<std::vector<profile::EventId>> tables;
  // Shared with a chore that prepares its call graphs.
  std::shared_ptr<TableView> table;
};

// Use it from one thread. Its functions do not wait for the second thread, unless they say so.
class ViewMaker {
 public:
  // A view that the next key may want, and the function that makes it on the second thread.
  struct Wish {
    std::string key;
    std::function<View()> make;
  };
  // A step of other work. Returns true if it shall be repeated.
  using Chore = std::function<bool()>;

  ViewMaker() = default;
  ViewMaker(const ViewMaker&) = delete;
  // Waits for the view that is being made.
  ~ViewMaker();

  // Replaces all wishes, the most probable first; the chore precedes them and may be empty. Views
  // of former wishes are dropped, unless they are wished again.
  void Want(Chore chore, std::vector<Wish> wishes);
  // Returns the view of that key. Waits for it if it is being made. Returns nothing if it was not
  // begun; then it is not wished any more.
  std::optional<View> Take(const std::string& key);

 private:
  void Run();

  std::mutex mutex_;
  std::condition_variable changed_;
  // mutex_ guards the members below.
  uint64_t wanted_ = 0;  // number of calls of Want
  Chore chore_;
  std::deque<Wish> waiting_;
  std::vector<std::string> keys_;  // of all wishes
  std::string making_;             // key of the view that is being made; empty: none
  std::vector<View> made_;
  bool is_over_ = false;
  std::thread thread_;  // begins with the first wish
};

}  // namespace profiler::browser
