#include "src/views/browser/view_maker.h"

#include <algorithm>
#include <utility>

namespace profiler::browser {

ViewMaker::~ViewMaker() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ViewMaker::Want(Chore chore, std::vector<Wish> wishes) {
  const std::lock_guard lock(mutex_);
  ++wanted_;
  chore_ = std::move(chore);
  keys_.clear();
  for (const Wish& wish : wishes) keys_.push_back(wish.key);
  std::erase_if(made_, [this](const View& view) {
    return std::find(keys_.begin(), keys_.end(), view.key) == keys_.end();
  });
  waiting_.clear();
  for (Wish& wish : wishes) {
    const bool is_made = std::any_of(made_.begin(), made_.end(),
                                     [&](const View& view) { return view.key == wish.key; });
    if (!is_made && wish.key != making_) waiting_.push_back(std::move(wish));
  }
  if (!thread_.joinable()) thread_ = std::thread([this] { Run(); });
  changed_.notify_all();
}

std::optional<View> ViewMaker::Take(const std::string& key) {
  std::unique_lock lock(mutex_);
  std::erase_if(waiting_, [&](const Wish& wish) { return wish.key == key; });
  changed_.wait(lock, [&] { return making_ != key; });
  const auto made =
      std::find_if(made_.begin(), made_.end(), [&](const View& view) { return view.key == key; });
  if (made == made_.end()) return std::nullopt;
  View view = std::move(*made);
  made_.erase(made);
  return view;
}

void ViewMaker::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return is_over_ || chore_ || !waiting_.empty(); });
    if (is_over_) return;
    if (chore_) {
      const Chore chore = chore_;
      const uint64_t wanted = wanted_;
      lock.unlock();
      const bool is_repeated = chore();
      lock.lock();
      if (!is_repeated && wanted == wanted_) chore_ = nullptr;
      continue;
    }
    const Wish wish = std::move(waiting_.front());
    waiting_.pop_front();
    making_ = wish.key;
    lock.unlock();
    View view = wish.make();
    lock.lock();
    making_.clear();
    const bool is_wanted = std::find(keys_.begin(), keys_.end(), view.key) != keys_.end();
    if (is_wanted) made_.push_back(std::move(view));
    changed_.notify_all();
  }
}

}  // namespace profiler::browser
