#include "symbolize/confined/file_rules.h"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/byte_reader.h"
#include "src/base/file_access.h"
#include "src/base/regular_file.h"
#include "symbolize/confined/facts_protocol.h"

namespace profiler::symbolize {
namespace {

bool IsDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Returns true if `text` consists of `prefix`, digits and `suffix`.
bool IsNumbered(std::string_view text, std::string_view prefix, std::string_view suffix) {
  if (!text.starts_with(prefix) || !text.ends_with(suffix)) return false;
  if (text.size() < prefix.size() + suffix.size()) return false;
  return IsDigits(text.substr(prefix.size(), text.size() - prefix.size() - suffix.size()));
}

// Returns true for "…/perf-12.map", also if the file was deleted.
bool IsPerfMap(std::string_view path) {
  constexpr std::string_view kDeleted = " (deleted)";
  if (path.ends_with(kDeleted)) path.remove_suffix(kDeleted.size());
  return IsNumbered(path.substr(path.rfind('/') + 1), "perf-", ".map");
}

// Returns true for an ELF file that is no core dump. Core dumps contain memory of a process.
bool IsElfOfCode(std::span<const std::byte> start) {
  if (start.size() < EI_NIDENT + sizeof(uint16_t)) return false;
  if (std::memcmp(start.data(), ELFMAG, SELFMAG) != 0) return false;
  const bool is_big_endian = start[EI_DATA] == std::byte{ELFDATA2MSB};
  const auto low = std::to_integer<int>(start[EI_NIDENT + (is_big_endian ? 1 : 0)]);
  const auto high = std::to_integer<int>(start[EI_NIDENT + (is_big_endian ? 0 : 1)]);
  return (high << 8 | low) != ET_CORE;
}

bool IsJitDump(std::span<const std::byte> start) {
  const std::string_view text = TextOf(start);
  return text.starts_with("DTiJ") || text.starts_with("JiTD");
}

// Libraries may be mapped from a zip archive (symbolize/elf/embedded_elf.h).
bool IsZip(std::span<const std::byte> start) { return TextOf(start).starts_with("PK\3\4"); }

// Returns the kept root directory of a path below it, "/proc/self/fd/12"; else empty.
std::string KeptRootIn(const std::string& path) {
  constexpr std::string_view kDescriptors = "/proc/self/fd/";
  if (!path.starts_with(kDescriptors)) return {};
  const size_t end = path.find('/', kDescriptors.size());
  return end == std::string::npos ? std::string() : path.substr(0, end);
}

// Returns the root directory of a path: that of a process, "/proc/12/root", or a kept one; empty:
// ours.
std::string RootIn(const std::string& path, const std::string& proc) {
  if (std::string kept = KeptRootIn(path); !kept.empty()) return kept;
  if (!path.starts_with(proc + "/")) return {};
  const size_t end = path.find('/', proc.size() + 1);
  if (end == std::string::npos) return {};
  constexpr std::string_view kRoot = "/root/";
  const std::string_view pid =
      std::string_view(path).substr(proc.size() + 1, end - proc.size() - 1);
  if (!IsDigits(pid) || std::string_view(path).substr(end, kRoot.size()) != kRoot) return {};
  return path.substr(0, end + kRoot.size() - 1);
}

absl::Status NoFileOfNames(const std::string& path) {
  return absl::PermissionDeniedError(absl::StrCat(path, ": no file that names come from"));
}

// Returns true if OpenRegularFile may return the file to the confined process.
bool HasNames(const UniqueFd& file) {
  std::array<std::byte, EI_NIDENT + sizeof(uint16_t)> start;
  const ssize_t size = pread(file.get(), start.data(), start.size(), 0);
  const auto bytes = std::span(start).first(size < 0 ? 0 : static_cast<size_t>(size));
  if (IsElfOfCode(bytes) || IsJitDump(bytes) || IsZip(bytes)) return true;
  return IsPerfMap(LinkAt(absl::StrCat("/proc/self/fd/", file.get())));
}

// Returns the part after "/proc/12/" or "/proc/self/"; empty for other paths.
std::string_view NameOfProcess(std::string_view path, const std::string& proc) {
  if (!path.starts_with(proc) || path.substr(proc.size(), 1) != "/") return {};
  path.remove_prefix(proc.size() + 1);
  const size_t end = std::min(path.find('/'), path.size());
  const std::string_view process = path.substr(0, end);
  if (!IsDigits(process) && process != "self") return {};
  return path.substr(std::min(end + 1, path.size()));
}

// Compares names literally, so paths with ".." and paths below a process's root do not match.
bool IsLinkOfProcess(std::string_view path, const std::string& proc) {
  constexpr std::string_view kMapFiles = "map_files/";
  const std::string_view name = NameOfProcess(path, proc);
  if (name == "exe" || name == "ns/mnt") return true;
  return name.starts_with(kMapFiles) &&
         name.find_first_not_of("0123456789abcdef-", kMapFiles.size()) == std::string_view::npos;
}

bool IsDirectoryOfProcess(std::string_view path, const std::string& proc) {
  const std::string_view name = NameOfProcess(path, proc);
  return name == "task" || name == "map_files";
}

Message Reply(ContentWriter content, UniqueFd fd = {}) {
  return {MessageKind::kOpened, std::move(content).Take(), std::move(fd)};
}

}  // namespace

absl::StatusOr<Message> FileRules::Answer(const Message& question) {
  ByteReader from(BytesOfText(question.content));
  const std::string path(ReadText(from));
  ContentWriter to;
  switch (question.kind) {
    case MessageKind::kOpen: {
      const std::string root(ReadText(from));
      if (!from.ok()) break;
      absl::StatusOr<UniqueFd> file = Open(path, root);
      PutStatus(file.status(), to);
      return Reply(std::move(to), file.ok() ? *std::move(file) : UniqueFd());
    }
    case MessageKind::kOpenOwn: {
      if (!from.ok()) break;
      absl::StatusOr<UniqueFd> file = OpenOfKernel(path);
      PutStatus(file.status(), to);
      return Reply(std::move(to), file.ok() ? *std::move(file) : UniqueFd());
    }
    case MessageKind::kFileId: {
      if (!from.ok()) break;
      const std::optional<FileId> id = FileIdOf(path);
      to.Put(static_cast<uint8_t>(id.has_value()));
      to.Put(id ? uint64_t{id->device} : 0).Put(id ? uint64_t{id->inode} : 0);
      return Reply(std::move(to));
    }
    case MessageKind::kLink:
      if (!from.ok()) break;
      to.PutText(IsLinkOfProcess(path, options_.proc_path) ? LinkAt(path) : "");
      return Reply(std::move(to));
    case MessageKind::kNames: {
      if (!from.ok()) break;
      std::vector<std::string> names;
      if (IsDirectoryOfProcess(path, options_.proc_path)) names = NamesIn(path);
      to.Put(static_cast<uint32_t>(names.size()));
      for (const std::string& name : names) to.PutText(name);
      return Reply(std::move(to));
    }
    default:
      break;
  }
  return absl::DataLossError("no question");
}

absl::StatusOr<UniqueFd> FileRules::Open(const std::string& path, const std::string& root) {
  // A path in a process's root is always resolved below that root, whatever `root` says.
  const std::string its_root = RootIn(path, options_.proc_path);
  PROFILER_ASSIGN_OR_RETURN(UniqueFd file,
                            OpenRegularFile(path, its_root.empty() ? root : its_root));
  if (!HasNames(file)) return NoFileOfNames(path);
  struct stat status;
  if (fstat(file.get(), &status) != 0) return ErrnoStatus(errno, path);
  if (owners_ == Owners::kUserAndRoot && !IsUserOrRoot(status.st_uid)) {
    has_refused_owner_ = true;
    return absl::PermissionDeniedError(absl::StrCat(path, ": another user's"));
  }
  Count(path, status);
  return file;
}

absl::StatusOr<UniqueFd> FileRules::OpenOfKernel(const std::string& path) {
  if (!IsOfKernel(path)) return NoFileOfNames(path);
  PROFILER_ASSIGN_OR_RETURN(UniqueFd file, OpenOwnFile(path));
  struct stat status;
  if (fstat(file.get(), &status) != 0) return ErrnoStatus(errno, path);
  if (IsCachedKallsyms(path) && !IsUserOrRoot(status.st_uid)) return NoFileOfNames(path);
  Count(path, status);
  return file;
}

// Returns true for a symbol list that perf keeps in the user's cache.
bool FileRules::IsCachedKallsyms(std::string_view path) const {
  constexpr std::string_view kName = "/kallsyms";
  constexpr std::string_view kDigits = "0123456789abcdef/";
  if (!path.ends_with(kName)) return false;
  for (const std::string& cache : options_.build_id_caches) {
    for (const std::string_view below : {"/[kernel.kallsyms]/", "/.build-id/"}) {
      const std::string directory = cache + std::string(below);
      if (!path.starts_with(directory)) continue;
      path.remove_prefix(directory.size());
      path.remove_suffix(kName.size());
      return path.find_first_not_of(kDigits) == std::string_view::npos;
    }
  }
  return false;
}

void FileRules::Count(const std::string& path, const struct stat& status) {
  constexpr uint64_t kBlock = 512;  // unit of st_blocks, see stat(2)
  const uint64_t size = static_cast<uint64_t>(status.st_size);
  bytes_given_ += std::min(size, static_cast<uint64_t>(status.st_blocks) * kBlock);
  given_[path] = {status.st_uid, size};
}

// Returns true for the kernel's files about itself and about processes. Checking names is safe
// here: only the kernel, or the user who passed --symfs, can create links in these directories.
bool FileRules::IsOfKernel(const std::string& path) const {
  const std::string_view text = path;
  if (path == options_.kallsyms_path || path == options_.sys_path + "/kernel/notes" ||
      path == options_.proc_path + "/sys/kernel/osrelease" || IsCachedKallsyms(path)) {
    return true;
  }
  const std::string modules = options_.sys_path + "/module/";
  constexpr std::string_view kNotes = "/notes/.note.gnu.build-id";
  if (text.starts_with(modules) && text.ends_with(kNotes)) {
    const std::string_view module =
        text.substr(modules.size(), text.size() - modules.size() - kNotes.size());
    return module.find('/') == std::string_view::npos && module != ".." && module != ".";
  }
  const std::string processes = options_.proc_path + "/";
  return IsNumbered(text, processes, "/status") || IsNumbered(text, processes, "/stat");
}

std::optional<TrustedFile> FileRules::GivenAt(const std::string& path) const {
  const auto given = given_.find(path);
  return given == given_.end() ? std::nullopt : std::optional(given->second);
}

}  // namespace profiler::symbolize
