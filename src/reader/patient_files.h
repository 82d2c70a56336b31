// Opens files by names that others have chosen without waiting for their file systems.
//
// open(2), stat(2) and readlink(2) wait for the file system of each directory on the way. One that
// is FUSE answers when its user likes, one on a network when the server does, and no signal ends
// that wait, SIGKILL included. So a reader process (reader_pool.h) makes the calls and sends the
// open file. If it has not answered after 200 ms, it is abandoned.
//
// A directory that kept a reader waiting is not asked about again. After kMostFilesAbandoned of
// them only files of the system's own directories are opened.
//
// Used as AccessFilesThrough(&files) (src/base/file_access.h).

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
#include "src/reader/reader_pool.h"

namespace profiler::reader {

enum class Question : uint8_t;  // private to the implementation

inline constexpr size_t kMostFilesAbandoned = 4;

struct PatientFilesOptions {
  std::string proc = "/proc";
  std::chrono::nanoseconds deadline = std::chrono::milliseconds(200);
  // Answers in the reader process. Null: the file system. For tests.
  FileAccess* files = nullptr;
};

// Thread-safe. A round trip costs 10 to 20 µs of CPU beside the calls. Capabilities that the
// calling thread has raised are in force for the calls too.
class PatientFiles final : public FileAccess {
 public:
  explicit PatientFiles(PatientFilesOptions options = {}) : options_(std::move(options)) {}
  // Files are opened in this process from then on.
  ~PatientFiles() override;

  // Forks the processes; the first question does so otherwise, also in a process that was forked
  // since. If that fails, so do all questions.
  void Start() override;

  // Errors besides those of the free functions: kDeadlineExceeded if the file system did not answer
  // in time, now or before.
  absl::StatusOr<UniqueFd> OpenRegularFile(const std::string& path,
                                           const std::string& root) override;
  std::optional<FileId> FileIdOf(const std::string& path) override;
  // A link that the kernel itself makes in /proc/PID is read in this process.
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
  // An error if there is no answer.
  absl::StatusOr<Reply> Ask(Question question, const std::string& path,
                            const std::string& root = {}, uint64_t most = 0);
  absl::Status Standing(const std::string& path) const;
  void CountWait(const std::string& path);
  ReaderPool& StartedPool();

  const PatientFilesOptions options_;
  std::mutex mutex_;
  std::unique_ptr<ReaderPool> pool_;
  std::vector<std::string> waits_;  // paths below which nothing is asked about any more
  std::set<uint32_t> users_;        // whose processes are not asked about any more
  size_t noted_ = 0;                // how many of them were in notes
  bool has_noted_start_ = false;
};

}  // namespace profiler::reader
