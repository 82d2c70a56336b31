// Opens files by untrusted names without waiting for their file systems.
//
// open(2), stat(2) and readlink(2) wait for the file system of each directory on the path. A FUSE
// file system answers when its user likes, a network file system when its server does. No signal
// ends that wait, not even SIGKILL. So a reader process (reader_pool.h) makes the calls and sends
// the open file. If it has not answered after 200 ms, it is abandoned.
//
// After a path kept a reader waiting, all paths on the same mount are refused; if the mount is "/",
// only paths below the same directory. If the path was below /proc/PID, all paths of that process
// are refused. The paths of all processes of the same user are then refused, too, except for root
// and the user of this program. After kMostFilesAbandoned abandoned readers, only files in the
// system's own directories are opened.
//
// Usage: AccessFilesThrough(&files) (src/base/file_access.h).

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "src/base/file_access.h"
#include "src/machine/reader/reader_pool.h"

namespace profiler::reader {

enum class Question : uint8_t;  // private to the implementation

inline constexpr size_t kMostFilesAbandoned = 4;

struct PatientFilesOptions {
  std::string proc = "/proc";
  std::chrono::nanoseconds deadline = std::chrono::milliseconds(200);
  // Answers the questions in the reader process, for tests. Null: the reader asks the file system.
  FileAccess* files = nullptr;
};

// A FileAccess through reader processes. Thread-safe. A round trip costs 10 to 20 µs of CPU besides
// the calls. For each call, the reader raises the same capabilities as the calling thread has
// raised.
class PatientFiles final : public FileAccess {
 public:
  explicit PatientFiles(PatientFilesOptions options = {}) : options_(std::move(options)) {}
  // After the destructor, files are opened in this process.
  ~PatientFiles() override;

  // Forks the processes. Without this call, the first question forks them. After a fork, the first
  // question in the child process forks new ones. If forking fails, all questions fail.
  void Start() override;

  // Fails with the errors of the free functions, and with kDeadlineExceeded if the file system did
  // not answer in time, now or in an earlier call.
  absl::StatusOr<UniqueFd> OpenRegularFile(const std::string& path,
                                           const std::string& root) override;
  std::optional<FileId> FileIdOf(const std::string& path) override;
  // A link that the kernel makes in /proc/PID is read in this process.
  std::string LinkAt(const std::string& path) override;
  std::vector<std::string> NamesIn(const std::string& directory) override;
  absl::Status ReadStart(const std::string& path, size_t most, std::string* text) override;

  std::vector<std::string> TakeNotes() override;
  std::chrono::nanoseconds CpuTime() override;

 private:
  struct Reply {
    std::string text;
    UniqueFd file;
  };
  // Returns the reply; an error if there is none.
  absl::StatusOr<Reply> Ask(Question question, const std::string& path,
                            const std::string& root = {}, uint64_t most = 0);
  absl::Status Standing(const std::string& path) const;
  void CountWait(const std::string& path);
  ReaderPool& StartedPool();

  const PatientFilesOptions options_;
  std::mutex mutex_;
  std::unique_ptr<ReaderPool> pool_;
  std::vector<std::string> waits_;  // paths below these are refused
  std::set<uint32_t> users_;        // paths below these users' processes are refused
  size_t noted_ = 0;                // number of waits_ that notes have mentioned
  bool has_noted_start_ = false;
};

}  // namespace profiler::reader
