// Puts names into the complete files of a recording while it goes on in the next one.

#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "src/naming/collect_names.h"
#include "src/record/options.h"

namespace profiler::cli {

// Names on a thread of its own, which gives way to others and gets no signals. All calls come from
// one other thread.
class NamingQueue {
 public:
  NamingQueue(naming::Embedding embedding, naming::NamingOptions options)
      : embedding_(embedding), options_(std::move(options)) {}
  NamingQueue(const NamingQueue&) = delete;
  NamingQueue& operator=(const NamingQueue&) = delete;
  // Files that still wait stay without names.
  ~NamingQueue();

  // One more file, which holds a descriptor until it is named. When too many wait it stays without
  // names. Returns at once.
  void Add(record::CompleteFile file);

  // Waits until all have their names. As soon as `progress` says false, those that wait stay
  // without, and that which is read keeps those found so far. Once, last.
  void Finish(const naming::NamingProgress& progress);

  // Lines for the user about files without names. After Finish.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  void Start();
  void Run();
  void Name(const record::CompleteFile& file);

  const naming::Embedding embedding_;
  const naming::NamingOptions options_;
  std::thread thread_;
  std::atomic<bool> cut_short_ = false;
  size_t added_ = 0;    // by Add's thread alone
  size_t refused_ = 0;  // likewise

  std::mutex mutex_;
  std::condition_variable changed_;
  // Under mutex_.
  std::deque<record::CompleteFile> waiting_;
  bool is_closed_ = false;  // no more will come
  size_t done_ = 0;
  std::vector<std::string> warnings_;
};

}  // namespace profiler::cli
