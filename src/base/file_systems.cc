#include "src/base/file_systems.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <mutex>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "src/base/mount_info.h"
#include "src/base/raised_capabilities.h"
#include "src/base/regular_file.h"

namespace profiler {
namespace {

// Magic numbers are from <linux/magic.h> and from the sources of each file system.

constexpr uint32_t kFuse = 0x65735546;

// File systems that hold programs but may have no block device.
constexpr auto kOfPrograms = std::to_array<uint32_t>({
    0x01021994,  // tmpfs, also memfd_create(2), POSIX shared memory and devtmpfs
    0x858458f6,  // ramfs
    0x958458f6,  // hugetlbfs
    0x794c7630,  // overlay
    0x9123683e,  // btrfs
    0xca451a4e,  // bcachefs
    0x2fc12fc1,  // zfs
    0x00006969,  // nfs
    0xff534d42,  // cifs
    0xfe534d42,  // smb2
    0x0000517b,  // smb
    0x01021997,  // 9p
    kFuse,       // and virtiofs
    0x00c36400,  // ceph
    0x0bd00bd0,  // lustre
    0x47504653,  // gpfs
    0x5346414f,  // afs
    0x6b414653,  // kafs
    0x73757245,  // coda
    0x19830326,  // beegfs
    0xaad7aaea,  // panfs
    0xbacbacbc,  // vmhgfs
    0x786f4256,  // vboxsf
    0x7c7c6673,  // prl_fs
    0x61756673,  // aufs
    0x6a656a62,  // shiftfs
    0x0000f15f,  // ecryptfs
    0x24051905,  // ubifs
    0x000072b6,  // jffs2
    0x73717368,  // squashfs
    0xe0f5e1e2,  // erofs
    0x28cd3d45,  // cramfs
    0x00007275,  // romfs
    0x0000ef53,  // ext2, ext3 and ext4
    0x58465342,  // xfs
    0xf2f52010,  // f2fs
    0x00009660,  // iso9660
    0x15013346,  // udf
    0x00004d44,  // vfat
    0x2011bab0,  // exfat
    0x5346544e,  // ntfs
    0x7366746e,  // ntfs3
    0x00003434,  // nilfs
    0x52654973,  // reiserfs
    0x3153464a,  // jfs
    0x01161970,  // gfs2
    0x7461636f,  // ocfs2
});

constexpr auto kPseudo = std::to_array<uint32_t>({
    0x00009fa0,  // proc
    0x62656572,  // sysfs
    0x74726163,  // tracefs
    0x64626720,  // debugfs
    0x0027e0eb,  // cgroup
    0x63677270,  // cgroup2
    0x62656570,  // configfs
    0x00001cd1,  // devpts
    0x73636673,  // securityfs
    0xf97cff8c,  // selinuxfs
    0x43415d53,  // smackfs
    0x5a3c69f0,  // apparmorfs
    0x6165676c,  // pstore
    0xcafe4a11,  // bpf
    0x42494e4d,  // binfmt_misc
    0x19800202,  // mqueue
    0x65735543,  // fusectl
    0xde5e81e4,  // efivarfs
    0x07655821,  // resctrl
    0x00000187,  // autofs
    0x67596969,  // rpc_pipefs
    0x6e667364,  // nfsd
    0xabba1974,  // xenfs
    0x6c6f6f70,  // binder
    0x0a647361,  // functionfs
    0xaee71ee7,  // gadgetfs
    0x76a9f425,  // ocfs2_dlmfs
    0x687a1974,  // s390_hypfs
    0x66726f67,  // ibmasmfs
    0x23c9b64e,  // spufs
    0x00009fa1,  // openpromfs
    0x00009fa2,  // usbfs
    0x6e736673,  // nsfs
    0x09041934,  // anon_inodefs
    0x50495045,  // pipefs
    0x534f434b,  // sockfs
    0x62646576,  // bdev
    0x50494446,  // pidfs
    0x444d4142,  // dmabuf
    0x454d444d,  // devmem
    0x5345434d,  // secretmem
});

struct Choices {
  std::mutex mutex;
  std::set<std::string, std::less<>> trusted;
  std::set<std::string> told;
  std::function<void(std::string_view)> warn;
};

// The object is never destroyed, because threads that open files may outlive main().
Choices& TheChoices() {
  static auto* const choices = new Choices;
  return *choices;
}

// Returns the id of the file's mount.
std::string MountOf(int fd) {
  std::ifstream info(absl::StrCat("/proc/self/fdinfo/", fd));
  for (std::string line; std::getline(info, line);) {
    constexpr std::string_view kMount = "mnt_id:";
    if (!line.starts_with(kMount)) continue;
    const size_t number = line.find_first_not_of(" \t", kMount.size());
    return number == std::string::npos ? "" : line.substr(number);
  }
  return {};
}

std::string TextOf(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns "/proc/12" for a path below it; empty for any other path.
std::string ProcessIn(const std::string& path) {
  constexpr std::string_view kProc = "/proc/";
  if (!path.starts_with(kProc)) return {};
  const size_t end = path.find_first_not_of("0123456789", kProc.size());
  const bool is_process = end != std::string::npos && end > kProc.size() && path[end] == '/';
  return is_process ? path.substr(0, end) : std::string();
}

// Returns facts about the mount that holds the file. Looks for the mount in this mount namespace,
// then in the namespace of the process in `path`. Empty if it is in neither of them. User ids of
// another namespace may mean other users, so fuse_user is not set for a mount found there.
MountFacts MountFactsOf(int fd, const std::string& path) {
  const std::string number = MountOf(fd);
  if (number.empty()) return {};
  if (const auto ours = FindMount(TextOf("/proc/self/mountinfo"), number)) return *ours;
  const std::string process = ProcessIn(path);
  if (process.empty()) return {};
  MountFacts its = FindMount(TextOf(process + "/mountinfo"), number).value_or(MountFacts());
  its.fuse_user.reset();
  return its;
}

std::string HexOf(uint64_t magic) { return absl::StrCat("0x", absl::Hex(magic)); }

// Returns OK if the user trusts the file system. `why` is the beginning of the message, to which
// the option that trusts it is appended.
absl::Status CheckChosen(uint64_t magic, const std::string& type, const std::string& why) {
  const std::string number = HexOf(magic);
  const std::string& name = type.empty() ? number : type;
  Choices& choices = TheChoices();
  const std::lock_guard lock(choices.mutex);
  if (choices.trusted.contains(number) || choices.trusted.contains(name)) return absl::OkStatus();
  const std::string message = absl::StrCat(why, ", pass --trust-fs ", name);
  if (choices.warn && choices.told.insert(name).second) choices.warn(message);
  return absl::PermissionDeniedError(message);
}

// Returns one spelling for all spellings of a number, such as "0X0BD00BD0" and "0xbd00bd0". Returns
// other names unchanged.
std::string SpelledAlike(std::string_view name) {
  uint64_t magic = 0;
  const bool is_number = (name.starts_with("0x") || name.starts_with("0X")) &&
                         absl::SimpleHexAtoi(std::string(name), &magic);
  return is_number ? HexOf(magic) : std::string(name);
}

}  // namespace

FileSystemKind KindOfFileSystem(uint64_t magic, dev_t device) {
  // Some architectures extend the sign of f_type.
  const auto number = static_cast<uint32_t>(magic);
  if (std::ranges::find(kPseudo, number) != kPseudo.end()) return FileSystemKind::kPseudo;
  // The kernel gives file systems without a device numbers whose major is 0.
  if (major(device) != 0) return FileSystemKind::kOfPrograms;
  const bool is_listed = std::ranges::find(kOfPrograms, number) != kOfPrograms.end();
  return is_listed ? FileSystemKind::kOfPrograms : FileSystemKind::kUnknown;
}

std::optional<MountFacts> FindMount(std::string_view mountinfo, std::string_view number) {
  std::optional<MountFacts> facts;
  ForEachMount(mountinfo, [&](const Mount& mount) {
    if (mount.id != number) return true;
    facts = {.type = std::string(mount.type), .fuse_user = {}};
    constexpr std::string_view kUser = ",user_id=";
    const size_t user = mount.options.find(kUser);
    uid_t id = 0;
    if (user != mount.options.npos) {
      std::string value(mount.options.substr(user + kUser.size()));
      if (absl::SimpleAtoi(value.substr(0, value.find(',')), &id)) facts->fuse_user = id;
    }
    return false;
  });
  return facts;
}

absl::Status CheckTrusted(uint64_t magic, const std::string& type, const std::string& path) {
  const std::string number = HexOf(magic);
  return CheckChosen(magic, type,
                     absl::StrCat(path, " was not opened: it lies on an unknown file system, ",
                                  type.empty() ? number : absl::StrCat(type, " (", number, ")"),
                                  "; if it holds programs"));
}

namespace {

absl::Status CheckFuse(const MountFacts& mount, const std::string& path) {
  const bool is_privileged = geteuid() == 0 || RaisedCapabilities::Any();
  if (mount.fuse_user ? IsUserOrRoot(*mount.fuse_user) : !is_privileged) return absl::OkStatus();
  const std::string user =
      mount.fuse_user ? absl::StrCat("user ", *mount.fuse_user) : "an unknown user";
  return CheckChosen(kFuse, mount.type,
                     absl::StrCat(path, " was not opened: it lies on a FUSE file system of ", user,
                                  ", who decides when a read of it ends; if you trust this user"));
}

}  // namespace

absl::Status CheckHoldsPrograms(int fd, const std::string& path) {
  struct statfs system;
  struct stat status;
  if (fstatfs(fd, &system) != 0 || fstat(fd, &status) != 0) return ErrnoStatus(errno, path);
  const auto magic = static_cast<uint32_t>(system.f_type);
  switch (KindOfFileSystem(magic, status.st_dev)) {
    case FileSystemKind::kOfPrograms:
      if (magic == kFuse) return CheckFuse(MountFactsOf(fd, path), path);
      return absl::OkStatus();
    case FileSystemKind::kPseudo:
      return absl::PermissionDeniedError(
          absl::StrCat(path, " was not opened: files of the kernel's own file systems (",
                       HexOf(magic), ") are not programs"));
    case FileSystemKind::kUnknown:
      break;
  }
  return CheckTrusted(magic, MountFactsOf(fd, path).type, path);
}

void TrustFileSystem(std::string_view name) {
  Choices& choices = TheChoices();
  const std::lock_guard lock(choices.mutex);
  choices.trusted.insert(SpelledAlike(name));
}

void WarnOfUnknownFileSystems(std::function<void(std::string_view line)> warn) {
  Choices& choices = TheChoices();
  const std::lock_guard lock(choices.mutex);
  choices.warn = std::move(warn);
}

void WarnOfUnknownFileSystem(std::string_view line) {
  Choices& choices = TheChoices();
  const std::lock_guard lock(choices.mutex);
  if (choices.warn) choices.warn(line);
}

}  // namespace profiler
