#include "src/record/file_roots.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/living_thread.h"
#include "src/base/raised_capabilities.h"
#include "src/base/regular_file.h"
#include "src/base/unique_fd.h"

namespace profiler::record {
namespace {

// Returns a detached copy of the mounts at the directory and below; invalid if no copy may be made.
// Mounts that the process makes or removes later do not change the copy.
UniqueFd CopyOfMounts(int directory) {
  constexpr unsigned kCopy = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH;
  UniqueFd copy(static_cast<int>(syscall(SYS_open_tree, directory, "", kCopy)));
  if (!copy.valid()) return {};
  mount_attr attr = {};
  attr.propagation = MS_PRIVATE;
  const bool is_private = syscall(SYS_mount_setattr, copy.get(), "", AT_EMPTY_PATH | AT_RECURSIVE,
                                  &attr, sizeof(attr)) == 0;
  return is_private ? std::move(copy) : UniqueFd();
}

}  // namespace

FileRoots::FileRoots(const procfs::Roots& roots)
    : proc_(roots.proc), own_(KeyOf(absl::StrCat(proc_, "/self"))) {}

std::optional<FileRoots::Key> FileRoots::KeyOf(const std::string& process) const {
  const RaisedCapabilities raised(kToReadProcesses);
  const std::optional<FileId> directory = FileIdOf(process + "/root");
  if (!directory) return std::nullopt;
  const std::optional<FileId> mounts = FileIdOf(process + "/ns/mnt");
  return Key{*directory, mounts ? mounts->inode : 0};
}

FileRoots::Found FileRoots::Of(uint32_t pid) {
  const std::string process = absl::StrCat(proc_, "/", LivingThreadOf(proc_, pid));
  const std::optional<Key> key = KeyOf(process);
  if (!key || !own_ || key == own_) return {};
  const auto known = std::find(keys_.begin(), keys_.end(), *key);
  if (known != keys_.end()) {
    const auto at = recent_.begin() + (known - keys_.begin());
    std::rotate(recent_.begin(), at, at + 1);
    std::rotate(keys_.begin(), known, known + 1);
    return {recent_.front()};
  }
  symbolize::SharedFd directory = Open(process, *key);
  if (directory == nullptr) return {};
  keys_.insert(keys_.begin(), *key);
  recent_.insert(recent_.begin(), directory);
  return {std::move(directory), true};
}

symbolize::SharedFd FileRoots::Open(const std::string& process, const Key& key) {
  struct stat owner;
  if (recent_.size() >= kMost || stat(process.c_str(), &owner) != 0) return nullptr;
  if (!IsUserOrRoot(owner.st_uid) && !budget_.Take(owner.st_uid, 1)) return nullptr;
  UniqueFd directory;
  {
    const RaisedCapabilities raised(kToReadProcesses);
    directory = UniqueFd(open((process + "/root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  // By now, another process may have the pid, or the process may have another root directory.
  const std::optional<FileId> opened = FileIdOf(directory.get());
  if (opened != key.directory || KeyOf(process) != key) return nullptr;
  if (UniqueFd copy = CopyOfMounts(directory.get()); copy.valid()) directory = std::move(copy);
  return std::make_shared<const UniqueFd>(std::move(directory));
}

}  // namespace profiler::record
