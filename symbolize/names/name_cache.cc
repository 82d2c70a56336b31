#include "symbolize/names/name_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/atomic_file.h"
#include "src/base/byte_reader.h"
#include "src/base/mapped_file.h"
#include "src/base/text.h"
#include "symbolize/names/facts_builder.h"
#include "symbolize/names/names_codec.h"
#include "symbolize/names/stored_facts.h"

namespace profiler::symbolize {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "PROFNAM1";
constexpr size_t kHeaderSize = kMagic.size() + sizeof(uint32_t);
// Shorter ones are made by hand.
constexpr size_t kShortestBuildId = 8;
// A new file starts with what was looked up last, where both together would be more than this.
constexpr size_t kMostAddresses = 1'000'000;

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

// The content of a sound file.
std::optional<std::string_view> WithoutHeader(std::string_view file) {
  if (!file.starts_with(kMagic) || file.size() < kHeaderSize) return std::nullopt;
  uint32_t checksum = 0;
  std::memcpy(&checksum, file.data() + kMagic.size(), sizeof(checksum));
  file.remove_prefix(kHeaderSize);
  if (ChecksumOf(file) != checksum) return std::nullopt;
  return file;
}

// Where the directory is to be made, or is, somebody else's files are not ours to add to.
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

ImageSpec SpecOf(const NameFacts& facts, const NameFacts::Image& image) {
  return {.kind = image.kind,
          .path = std::string(facts.strings[image.path]),
          .build_id = image.build_id,
          .pid = image.pid};
}

// Adds those of `addresses` for which `is_kept`.
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

std::string NameCache::PathOf(std::span<const std::byte> build_id) const {
  return absl::StrCat(directory_, "/", HexOf(build_id));
}

bool NameCache::MayKeep(const ImageSpec& image) const {
  return !directory_.empty() && image.kind == ImageKind::kUser &&
         image.build_id.size() >= kShortestBuildId;
}

std::optional<NameFacts> NameCache::Read(const ImageSpec& spec) {
  if (!MayKeep(spec)) return std::nullopt;
  const std::string file_path = PathOf(spec.build_id);
  const auto file = MappedFile::Open(file_path);
  if (!file.ok()) return std::nullopt;
  const auto content = WithoutHeader(TextOf(file->bytes()));
  if (!content) return std::nullopt;
  std::optional<NameFacts> facts = DecodeNames(*content);
  if (!facts || facts->images.size() != 1) return std::nullopt;
  NameFacts::Image& image = facts->images.front();
  const bool is_its = image.kind == spec.kind && image.pid == 0 && image.build_id == spec.build_id;
  if (!is_its) return std::nullopt;
  image.path = facts->strings.Intern(spec.path);
  utimensat(AT_FDCWD, file_path.c_str(), nullptr, 0);  // it was used now
  return facts;
}

// Another run may have added to a file since this one read it, so it is read again.
void NameCache::Add(const NameFacts& facts) {
  bool has_added = false;
  for (const NameFacts::Image& image : facts.images) {
    const auto is_named = [&](const NameFacts::Address& a) { return IsNamed(image, a); };
    const auto named = static_cast<size_t>(std::ranges::count_if(image.addresses, is_named));
    const ImageSpec spec = SpecOf(facts, image);
    if (!MayKeep(spec) || image.pid != 0 || !image.has_debug_info || named == 0) continue;
    constexpr ImageId kOnly{};
    NameFactsBuilder merged;
    merged.AddImage(kOnly, spec);
    AddTo(merged, kOnly, facts, image, is_named);
    const auto known = Read(spec);
    if (known && known->images[0].addresses.size() + named <= kMostAddresses) {
      AddTo(merged, kOnly, *known, known->images[0], [](const auto&) { return true; });
    }
    Write(PathOf(spec.build_id),
          EncodeNames(merged.Take(/*has_lines=*/true, /*is_complete=*/true)));
    has_added = true;
  }
  if (has_added) MakeRoom();
}

void NameCache::Write(const std::string& path, std::string_view content) const {
  std::error_code error;
  fs::create_directories(directory_, error);
  auto file = AtomicFile::Create(path);
  const std::string bytes = WithHeader(content);
  if (!file.ok() || write(file->fd(), bytes.data(), bytes.size()) != std::ssize(bytes)) return;
  // After a power cut the checksum tells.
  (void)file->Commit({.sync = false});
}

void NameCache::MakeRoom() const {
  struct Kept {
    fs::file_time_type used;
    uint64_t size;
    fs::path path;
  };
  std::vector<Kept> files;
  uint64_t total = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory_, error)) {
    const uint64_t size = entry.file_size(error);
    if (error) continue;
    const auto used = entry.last_write_time(error);
    if (error) continue;
    files.push_back({used, size, entry.path()});
    total += size;
  }
  if (total <= most_bytes_) return;
  std::sort(files.begin(), files.end(),
            [](const Kept& a, const Kept& b) { return a.used < b.used; });
  for (const Kept& file : files) {
    if (total <= most_bytes_) return;
    fs::remove(file.path, error);
    total -= file.size;
  }
}

}  // namespace profiler::symbolize
