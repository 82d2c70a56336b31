#include "symbolize/kept_files.h"

#include <sys/stat.h>

#include "absl/strings/str_cat.h"
#include "src/base/byte_reader.h"
#include "src/base/clock.h"

namespace profiler::symbolize {
namespace {

std::string NameOf(const SharedFd& fd) {
  return fd == nullptr ? std::string() : absl::StrCat("/proc/self/fd/", fd->get());
}

absl::string_view Key(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

KeptFiles::Version KeptFiles::VersionOf(int fd) {
  struct stat file;
  if (fstat(fd, &file) != 0) return {};
  return {file.st_ino, file.st_size, Nanoseconds(file.st_mtim)};
}

void KeptFiles::Add(std::string_view path, std::span<const std::byte> build_id,
                    const Version& version, SharedFd file, SharedFd root) {
  const std::lock_guard lock(mutex_);
  if (!build_id.empty()) {
    by_build_id_.try_emplace(Key(TextOf(build_id)),
                             Entry{version, std::move(file), std::move(root)});
    return;
  }
  const auto [known, is_new] =
      by_path_.try_emplace(Key(path), Entry{version, std::move(file), std::move(root)});
  if (!is_new && known->second.version != version) known->second.is_one_of_several = true;
}

std::optional<KeptFiles::File> KeptFiles::Find(std::string_view path,
                                               std::span<const std::byte> build_id) const {
  const std::lock_guard lock(mutex_);
  const auto& entries = build_id.empty() ? by_path_ : by_build_id_;
  const auto found = entries.find(Key(build_id.empty() ? path : TextOf(build_id)));
  if (found == entries.end()) return std::nullopt;
  const Entry& entry = found->second;
  if (entry.file == nullptr || entry.is_one_of_several) return std::nullopt;
  return File{NameOf(entry.file), NameOf(entry.root)};
}

bool KeptFiles::HasSeveral(std::string_view path) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_path_.find(Key(path));
  return found != by_path_.end() && found->second.is_one_of_several;
}

void KeptFiles::AddMap(uint32_t pid, SharedFd file) {
  const std::lock_guard lock(mutex_);
  // Leaves out size and time, because the process appends to its map.
  const Version version{.inode = VersionOf(file->get()).inode};
  const auto [known, is_new] = maps_.try_emplace(pid, Entry{version, std::move(file), nullptr});
  if (!is_new && known->second.version != version) known->second.is_one_of_several = true;
}

std::string KeptFiles::FindMap(uint32_t pid) const {
  const std::lock_guard lock(mutex_);
  const auto found = maps_.find(pid);
  if (found == maps_.end() || found->second.is_one_of_several) return {};
  return NameOf(found->second.file);
}

size_t KeptFiles::size() const {
  const std::lock_guard lock(mutex_);
  return by_build_id_.size() + by_path_.size();
}

}  // namespace profiler::symbolize
