// A temporary directory that is removed at a normal end of the process.

#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include <filesystem>
#include <span>
#include <string>

#include "src/base/unique_fd.h"
#include "tests/fuzz/fuzz_target.h"

namespace profiler::fuzz {

class ScratchDirectory {
 public:
  ScratchDirectory() {
    path_ = (std::filesystem::temp_directory_path() / "fuzz.XXXXXX").string();
    Require(mkdtemp(path_.data()) != nullptr, "there is room for a directory");
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string PathOf(const std::string& name) const { return path_ + "/" + name; }

  // Writes a file, and makes its missing directories.
  void Write(const std::string& name, std::span<const std::byte> content) const {
    const std::string path = PathOf(name);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    const UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    const ssize_t written = write(fd.get(), content.data(), content.size());
    Require(written == static_cast<ssize_t>(content.size()), "a file is written");
  }
  void Remove(const std::string& name) const { unlink(PathOf(name).c_str()); }

 private:
  std::string path_;
};

}  // namespace profiler::fuzz
