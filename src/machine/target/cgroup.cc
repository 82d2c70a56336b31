#include "src/machine/target/cgroup.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "src/base/mount_info.h"
#include "src/base/text.h"

namespace profiler::target {

std::string CgroupMountPoint(std::string_view mountinfo) {
  std::string of_version_1, of_version_2;
  ForEachMount(mountinfo, [&](const Mount& mount) {
    if (mount.type == "cgroup2" && of_version_2.empty()) of_version_2 = mount.point;
    const bool counts =
        mount.type == "cgroup" &&
        absl::c_linear_search(absl::StrSplit(View(mount.options), ','), "perf_event");
    if (counts) of_version_1 = mount.point;
    return !counts;
  });
  return of_version_1.empty() ? of_version_2 : of_version_1;
}

absl::StatusOr<UniqueFd> OpenCgroup(const procfs::Roots& roots, const std::string& name) {
  std::string mountinfo;
  PROFILER_RETURN_IF_ERROR(procfs::ReadFile(roots.proc + "/self/mountinfo", &mountinfo));
  const std::string point = CgroupMountPoint(mountinfo);
  if (point.empty()) {
    return absl::NotFoundError(
        "cgroups: no hierarchy that counts perf events is mounted; run `sudo mount -t cgroup2 none "
        "/sys/fs/cgroup`");
  }
  const std::string path = absl::StrCat(point, "/", name);
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.valid()) return fd;
  if (errno == ENOENT) {
    return absl::NotFoundError(absl::StrCat("there is no cgroup '", name, "' in ", point));
  }
  return ErrnoStatus(errno, path);
}

absl::StatusOr<std::vector<UniqueFd>> OpenCgroups(const procfs::Roots& roots,
                                                  const std::vector<std::string>& names,
                                                  bool system_wide) {
  std::vector<UniqueFd> cgroups;
  for (const std::string& name : names) {
    cgroups.emplace_back();
    if (name.empty()) continue;
    if (!system_wide) {
      return absl::InvalidArgumentError(
          "-G needs -a, because the kernel counts cgroups on whole CPUs");
    }
    PROFILER_ASSIGN_OR_RETURN(cgroups.back(), OpenCgroup(roots, name));
  }
  return cgroups;
}

// The number of a cgroup is the inode number of its folder (cgroup_id in include/linux/cgroup.h,
// Linux 6.18).
std::vector<CgroupPath> ListCgroups(const procfs::Roots& roots) {
  std::vector<CgroupPath> cgroups;
  std::string mountinfo;
  if (!procfs::ReadFile(roots.proc + "/self/mountinfo", &mountinfo).ok()) return cgroups;
  const std::string point = CgroupMountPoint(mountinfo);
  struct stat status;
  if (point.empty() || stat(point.c_str(), &status) != 0) return cgroups;
  cgroups.push_back({status.st_ino, "/"});
  std::error_code failed;  // folders that vanish meanwhile are left out
  for (std::filesystem::recursive_directory_iterator folder(point, failed), end;
       !failed && folder != end && cgroups.size() < kMostCgroups; folder.increment(failed)) {
    std::error_code gone;
    if (!folder->is_directory(gone) || folder->is_symlink(gone)) continue;
    const std::string path = folder->path().string();
    if (stat(path.c_str(), &status) == 0) {
      cgroups.push_back({status.st_ino, path.substr(point.size())});
    }
  }
  return cgroups;
}

}  // namespace profiler::target
