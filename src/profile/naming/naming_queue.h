// Names the complete files of a recording while recording goes on in the next file.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "src/format/perf_data/write/writer.h"
#include "src/profile/naming/collect_names.h"

namespace profiler::naming {

// A queue with its own thread, which has a lower priority and blocks all signals. All calls except
// unnamed() must come from one other thread.
class NamingQueue {
 public:
  NamingQueue(Embedding embedding, NamingOptions options)
      : embedding_(embedding), options_(std::move(options)) {}
  NamingQueue(const NamingQueue&) = delete;
  NamingQueue& operator=(const NamingQueue&) = delete;
  // Leaves the waiting files without names.
  ~NamingQueue();

  struct File {
    std::string path;
    uint64_t samples = 0;
    std::unique_ptr<perf_data::Writer> writer;
  };
  // Adds a file. Its descriptor stays open until the file is named. If too many files wait, leaves
  // this file without names. Returns at once.
  void Add(File file);

  // Returns the number of files that wait for names, including the one that is being named.
  // Any thread may call it.
  size_t unnamed();

  // Waits until all files are named. If `progress` returns false, leaves waiting files without
  // names; the current file keeps the names found so far. Call it once, last.
  void Finish(const NamingProgress& progress);

  // Returns lines for the user about files without names. Call it after Finish.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  void Start();
  void Run();
  void Name(const File& file);

  const Embedding embedding_;
  const NamingOptions options_;
  std::thread thread_;
  std::atomic<bool> cut_short_ = false;
  size_t refused_ = 0;  // used only by Add's thread

  std::mutex mutex_;
  std::condition_variable changed_;
  // mutex_ guards all members below.
  std::deque<File> waiting_;
  bool is_closed_ = false;  // True if no more files will come.
  size_t added_ = 0, done_ = 0;
  std::vector<std::string> warnings_;
};

// Lowers the priority of this process for the rest of its life, so that it can name files beside
// other work.
void LowerPriority();

}  // namespace profiler::naming
