// Creates fake /proc and /sys trees, for tests.

#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "src/machine/procfs/proc_file.h"

namespace profiler::procfs {

// A temporary directory for the current test; the destructor removes it.
class FakeTree {
 public:
  FakeTree()
      : root_(std::filesystem::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(root_);
  }
  ~FakeTree() { std::filesystem::remove_all(root_); }

  Roots roots() const { return {(root_ / "proc").string(), (root_ / "sys").string()}; }
  std::string path(std::string_view file) const { return (root_ / file).string(); }

  // Writes a file such as "proc/7/comm".
  FakeTree& Write(std::string_view file, std::string_view text) {
    const std::filesystem::path path = root_ / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return *this;
  }
  FakeTree& Link(std::string_view file, std::string_view to) {
    const std::filesystem::path path = root_ / file;
    std::filesystem::create_directories(path.parent_path());
    std::filesystem::remove(path);
    std::filesystem::create_symlink(to, path);
    return *this;
  }
  FakeTree& Thread(int pid, int tid, std::string_view comm) {
    return Write("proc/" + std::to_string(pid) + "/task/" + std::to_string(tid) + "/comm",
                 std::string(comm) + "\n");
  }
  // Sets the state of a thread as ps(1) shows it: 'Z' for a thread that has ended.
  FakeTree& State(int pid, int tid, char state) {
    const std::string stat = std::to_string(tid) + " (a) b) " + state + " 1 1";
    Write("proc/" + std::to_string(tid) + "/stat", stat);
    return Write("proc/" + std::to_string(pid) + "/task/" + std::to_string(tid) + "/stat", stat);
  }
  // Adds a process with its first thread.
  FakeTree& Process(int pid, int parent, std::string_view comm, std::string_view maps) {
    const std::string directory = "proc/" + std::to_string(pid);
    Write(directory + "/status",
          "Name:\tx\nTgid:\t" + std::to_string(pid) + "\nPPid:\t" + std::to_string(parent) + "\n");
    Write(directory + "/maps", maps);
    return Thread(pid, pid, comm);
  }

 private:
  std::filesystem::path root_;
};

}  // namespace profiler::procfs
