#include "symbolize/names/name_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/byte_reader.h"
#include "src/base/mapped_file.h"
#include "src/base/own_directory.h"
#include "src/base/regular_file.h"
#include "src/base/text.h"
#include "src/base/unique_fd.h"
#include "src/base/unlink_on_signal.h"
#include "symbolize/names/facts_builder.h"
#include "symbolize/names/names_codec.h"
#include "symbolize/names/stored_facts.h"

namespace profiler::symbolize {
namespace {

namespace fs = std::filesystem;

// Increment the number if the layout changes, and if any address gets a different name.
constexpr std::string_view kMagic = "PROFNAM3";
constexpr size_t kHeaderSize = kMagic.size() + sizeof(uint32_t);
// Shorter build-ids are made by hand and may be reused.
constexpr size_t kShortestBuildId = 8;
// If adding addresses to a file would exceed this number, only the addresses of this run are kept.
constexpr size_t kMostAddresses = 1'000'000;
constexpr std::string_view kTemporaryPrefix = "profiler-", kTemporarySuffix = ".tmp";

uint32_t ChecksumOf(std::string_view content) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()));
}

std::string WithHeader(std::string_view content) {
  const uint32_t checksum = ChecksumOf(content);
  std::string file(kMagic);
  file.append(reinterpret_cast<const char*>(&checksum), sizeof(checksum));
  return file.append(content);
}

// Returns the content of an undamaged file.
std::optional<std::string_view> WithoutHeader(std::string_view file) {
  if (!file.starts_with(kMagic) || file.size() < kHeaderSize) return std::nullopt;
  uint32_t checksum = 0;
  std::memcpy(&checksum, file.data() + kMagic.size(), sizeof(checksum));
  file.remove_prefix(kHeaderSize);
  if (ChecksumOf(file) != checksum) return std::nullopt;
  return file;
}

// Returns true if the directory, or its nearest existing parent, is ours. Nothing is written into
// directories of other users.
bool IsOurs(fs::path directory) {
  struct stat status = {};
  while (stat(directory.c_str(), &status) != 0) {
    if (errno != ENOENT || !directory.has_relative_path()) return false;
    directory = directory.parent_path();
  }
  return status.st_uid == geteuid();
}

bool IsNamed(const NameFacts::Image& image, const NameFacts::Address& address) {
  return address.reason == Reason::kNamed && address.symbol < image.symbols.size();
}

std::string FileNameOf(const ImageSpec& image, const TrustedFile& file) {
  return absl::StrCat(HexOf(image.build_id), "-", file.owner, "-", file.size);
}

bool ConsumeDigits(std::string_view& text, std::string_view digits) {
  const size_t size = std::min(text.find_first_not_of(digits), text.size());
  text.remove_prefix(size);
  return size != 0;
}

// Returns true for names of cache files: BUILD-ID-OWNER-SIZE, BUILD-ID (earlier versions), and
// temporary files of runs that were killed.
bool IsOwnFileName(std::string_view name) {
  if (name.starts_with(kTemporaryPrefix)) return name.ends_with(kTemporarySuffix);
  constexpr std::string_view kDecimal = "0123456789", kHexadecimal = "0123456789abcdef";
  const size_t size = name.size();
  if (!ConsumeDigits(name, kHexadecimal)) return false;
  if (size - name.size() < 2 * kShortestBuildId) return false;
  if (name.empty()) return true;
  for (int i = 0; i < 2; ++i) {
    if (!name.starts_with('-')) return false;
    name.remove_prefix(1);
    if (!ConsumeDigits(name, kDecimal)) return false;
  }
  return name.empty();
}

bool IsOlder(const timespec& a, const timespec& b) {
  return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

bool IsWorthKeeping(const NameFacts& facts) {
  if (facts.images.size() != 1) return false;
  const NameFacts::Image& image = facts.images.front();
  return image.has_debug_info && std::ranges::any_of(image.addresses, [&](const auto& address) {
           return IsNamed(image, address);
         });
}

// Adds the `addresses` for which `is_kept` is true.
void AddTo(NameFactsBuilder& builder, ImageId id, const NameFacts& facts,
           const NameFacts::Image& image, auto is_kept) {
  StoredImage stored(facts, image);
  for (const NameFacts::Address& address : image.addresses) {
    if (is_kept(address)) builder.AddAddress(id, address.at, *stored.Find(address.at));
  }
}

}  // namespace

std::string NameCache::UsersDirectory(bool lines) {
  const char* home = std::getenv("HOME");
  const char* cache = std::getenv("XDG_CACHE_HOME");
  fs::path directory;
  if (cache != nullptr && cache[0] == '/') {
    directory = cache;
  } else if (home != nullptr && home[0] == '/') {
    directory = fs::path(home) / ".cache";
  } else {
    return "";
  }
  directory /= lines ? "profiler/names" : "profiler/functions";
  return IsOurs(directory) ? directory.string() : "";
}

bool NameCache::MayKeep(const ImageSpec& image) const {
  return !directory_.empty() && image.kind == ImageKind::kUser &&
         image.build_id.size() >= kShortestBuildId;
}

std::optional<NameFacts> NameCache::Read(const ImageSpec& image, const TrustedFile& file) const {
  if (!MayKeep(image)) return std::nullopt;
  const auto directory = OpenOwnDirectory(directory_, IfMissing::kFail);
  return directory.ok() ? ReadIn(directory->get(), image, file) : std::nullopt;
}

std::optional<NameFacts> NameCache::ReadIn(int directory, const ImageSpec& spec,
                                           const TrustedFile& file) const {
  const std::string name = FileNameOf(spec, file);
  const auto fd = OpenRegularFileIn(directory, name);
  if (!fd.ok()) return std::nullopt;
  const auto mapped = MappedFile::FromFd(fd->get(), directory_ + "/" + name);
  if (!mapped.ok() || mapped->owner() != geteuid()) return std::nullopt;
  const auto content = WithoutHeader(TextOf(mapped->bytes()));
  if (!content) return std::nullopt;
  std::optional<NameFacts> facts = DecodeNames(*content);
  if (!facts || facts->images.size() != 1) return std::nullopt;
  NameFacts::Image& image = facts->images.front();
  const bool is_its = image.kind == spec.kind && image.pid == 0 && image.build_id == spec.build_id;
  if (!is_its) return std::nullopt;
  image.path = facts->strings.Intern(spec.path);
  futimens(fd->get(), nullptr);  // sets the time of last use to now
  return facts;
}

void NameCache::Add(const std::vector<Found>& found) const {
  const auto is_kept = [this](const Found& one) {
    return MayKeep(one.image) && IsWorthKeeping(one.facts);
  };
  if (std::ranges::none_of(found, is_kept)) return;
  const auto directory = OpenOwnDirectory(directory_, IfMissing::kMake);
  if (!directory.ok()) return;
  for (const Found& one : found) {
    if (is_kept(one)) AddIn(directory->get(), one);
  }
  MakeRoom(directory->get());
}

// Adds to the file's current content, because another run may have changed it meanwhile.
void NameCache::AddIn(int directory, const Found& found) const {
  const NameFacts::Image& image = found.facts.images.front();
  const auto is_named = [&](const NameFacts::Address& a) { return IsNamed(image, a); };
  const auto named = static_cast<size_t>(std::ranges::count_if(image.addresses, is_named));
  constexpr ImageId kOnly{};
  NameFactsBuilder merged;
  merged.AddImage(kOnly, found.image);
  AddTo(merged, kOnly, found.facts, image, is_named);
  const auto known = ReadIn(directory, found.image, found.file);
  if (known && known->images[0].addresses.size() + named <= kMostAddresses) {
    AddTo(merged, kOnly, *known, known->images[0], [](const auto&) { return true; });
  }
  Write(directory, FileNameOf(found.image, found.file),
        EncodeNames(merged.Take(/*has_lines=*/true, /*is_complete=*/true)));
}

// If `name` is a link, renameat replaces the link itself. The checksum detects a file damaged by a
// power cut.
void NameCache::Write(int directory, const std::string& name, std::string_view content) const {
  static std::atomic<unsigned> number = 0;
  const std::string temporary = absl::StrCat(View(kTemporaryPrefix), getpid(), "-",
                                             number.fetch_add(1), View(kTemporarySuffix));
  const UnlinkOnSignal unlink_on_signal(directory_ + "/" + temporary);
  const UniqueFd fd(openat(directory, temporary.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd.valid()) return;
  const std::string bytes = WithHeader(content);
  const bool is_written = write(fd.get(), bytes.data(), bytes.size()) == std::ssize(bytes) &&
                          renameat(directory, temporary.c_str(), directory, name.c_str()) == 0;
  if (!is_written) unlinkat(directory, temporary.c_str(), 0);
}

void NameCache::MakeRoom(int directory) const {
  struct Kept {
    timespec used;
    uint64_t size;
    std::string name;
  };
  std::vector<Kept> files;
  uint64_t total = 0;
  UniqueFd entries_fd(openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(fdopendir(entries_fd.get()), closedir);
  if (entries == nullptr) return;
  entries_fd.Release();
  while (const dirent* entry = readdir(entries.get())) {
    struct stat status;
    if (!IsOwnFileName(entry->d_name) ||
        fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(status.st_mode)) {
      continue;
    }
    const auto size = static_cast<uint64_t>(status.st_size);
    files.push_back({status.st_mtim, size, entry->d_name});
    total += size;
  }
  if (total <= most_bytes_) return;
  std::ranges::sort(files, IsOlder, &Kept::used);
  for (const Kept& file : files) {
    if (total <= most_bytes_) return;
    unlinkat(directory, file.name.c_str(), 0);
    total -= file.size;
  }
}

}  // namespace profiler::symbolize
