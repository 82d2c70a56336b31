#include "symbolize/name_cache.h"

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
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "src/base/atomic_file.h"
#include "src/base/byte_reader.h"
#include "src/base/mapped_file.h"
#include "symbolize/name_collector.h"

namespace profiler::symbolize {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "PROFNAM1";
constexpr size_t kHeaderSize = kMagic.size() + sizeof(uint32_t);
// Shorter ones are made by hand.
constexpr size_t kShortestBuildId = 8;
// A new file starts with what was looked up last, where both together would be more than this.
constexpr size_t kMostAddresses = 1'000'000;

constexpr EmbeddedOptions kAsTheLinkerHasIt = {.demangle = false};

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

bool IsNamed(const EmbeddedNames::Image& image, const EmbeddedNames::Address& address) {
  return address.reason == static_cast<uint8_t>(Reason::kNamed) &&
         address.symbol < image.symbols.size();
}

std::vector<uint64_t> OffsetsWorthKeeping(const EmbeddedNames::Image& image) {
  std::vector<uint64_t> offsets;
  const bool is_told_apart = image.build_id.size() >= kShortestBuildId && image.pid == 0;
  if (image.kind != static_cast<uint8_t>(ImageKind::kUser) || !is_told_apart) return offsets;
  if (!image.has_debug_info) return offsets;
  for (const EmbeddedNames::Address& address : image.addresses) {
    if (IsNamed(image, address)) offsets.push_back(address.offset);
  }
  return offsets;
}

// Collects what files say, for the cache.
class KeepingCollector final : public NameCollector {
 public:
  // Both must outlive it.
  KeepingCollector(Symbolizer& files, NameCache& cache) : NameCollector(files), cache_(cache) {}
  ~KeepingCollector() override { cache_.Add(Take(/*has_lines=*/true)); }

 private:
  NameCache& cache_;
};

// Has each image named by what is kept of it, else by files:
//
//   image A ──▶ EmbeddedSymbolizer (kept of A) ──▶ KeepingCollector ──┐
//   image B ──▶ EmbeddedSymbolizer (kept of B) ──▶ KeepingCollector ──┼──▶ files
//   others  ─────────────────────────────────────▶ KeepingCollector ──┘
//
// Images go by the ids that they have in files. What is kept of one is read when it is first asked
// about: most that are mapped never are.
class CachedSymbolizer final : public Symbolizer {
 public:
  CachedSymbolizer(std::unique_ptr<Symbolizer> files, NameCache cache, EmbeddedOptions naming)
      : cache_(std::move(cache)), naming_(naming), files_(std::move(files)), others_(Collector()) {
    naming_.files = EmbeddedOptions::Files::kForOthers;
  }

  ImageId AddImage(const ImageSpec& spec) override { return others_->AddImage(spec); }
  const ImageSpec& image(ImageId id) const override { return files_->image(id); }
  Naming Name(ImageId id, FileOffset offset) override {
    const Source& source = SourceOf(id);
    return source.symbolizer->Name(source.id, offset);
  }
  Naming NameAt(ImageId id, ElfAddress address) override { return files_->NameAt(id, address); }
  absl::StatusOr<std::span<const JitCode>> JitCodes(ImageId dump) override {
    return others_->JitCodes(dump);
  }
  CodeBytes CodeAt(ImageId id, ElfAddress address, uint64_t size) override {
    return files_->CodeAt(id, address, size);
  }
  void SetKernelReference(std::string_view symbol, RuntimeAddress address) override {
    files_->SetKernelReference(symbol, address);
  }
  void AddKernelSymbol(RuntimeAddress start, uint64_t size, std::string_view name) override {
    files_->AddKernelSymbol(start, size, name);
  }

 private:
  // Who names an image, and its id there.
  struct Source {
    Symbolizer* symbolizer = nullptr;  // null: not asked yet
    ImageId id{};
  };

  std::unique_ptr<Symbolizer> Collector() {
    return std::make_unique<KeepingCollector>(*files_, cache_);
  }

  const Source& SourceOf(ImageId id) {
    const auto index = static_cast<size_t>(id);
    if (index >= sources_.size()) sources_.resize(index + 1);
    Source& source = sources_[index];
    if (source.symbolizer != nullptr) return source;
    source = {others_.get(), id};
    const ImageSpec& spec = files_->image(id);
    if (spec.kind != ImageKind::kUser) return source;
    auto names = cache_.Read(spec.build_id, spec.path);
    if (!names) return source;
    Symbolizer* const kept =
        kept_.emplace_back(CreateEmbeddedSymbolizer(*std::move(names), Collector(), naming_)).get();
    return source = {kept, kept->AddImage(spec)};
  }

  NameCache cache_;
  EmbeddedOptions naming_;
  const std::unique_ptr<Symbolizer> files_;
  const std::unique_ptr<Symbolizer> others_;
  std::vector<std::unique_ptr<Symbolizer>> kept_;
  std::vector<Source> sources_;  // by ImageId
};

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

NameCache::NameCache(std::string directory, Codec codec, uint64_t most_bytes)
    : directory_(std::move(directory)), codec_(std::move(codec)), most_bytes_(most_bytes) {}

std::string NameCache::PathOf(std::span<const std::byte> build_id) const {
  const std::string_view bytes = TextOf(build_id);
  return absl::StrCat(directory_, "/",
                      absl::BytesToHexString(absl::string_view(bytes.data(), bytes.size())));
}

std::optional<EmbeddedNames> NameCache::Read(std::span<const std::byte> build_id,
                                             std::string_view path) {
  if (directory_.empty() || build_id.size() < kShortestBuildId) return std::nullopt;
  const std::string file_path = PathOf(build_id);
  const auto file = MappedFile::Open(file_path);
  if (!file.ok()) return std::nullopt;
  const auto content = WithoutHeader(TextOf(file->bytes()));
  if (!content) return std::nullopt;
  std::optional<EmbeddedNames> names = codec_.decode(*content);
  if (!names || names->images.size() != 1) return std::nullopt;
  EmbeddedNames::Image& image = names->images.front();
  const bool is_its = image.kind == static_cast<uint8_t>(ImageKind::kUser) && image.pid == 0 &&
                      std::ranges::equal(image.build_id, build_id);
  if (!is_its) return std::nullopt;
  image.path = names->strings.Intern(path);
  utimensat(AT_FDCWD, file_path.c_str(), nullptr, 0);  // it was used now
  return names;
}

// Collects once more, from what is kept and what is new.
void NameCache::Add(EmbeddedNames names) {
  if (directory_.empty()) return;
  struct Addition {
    ImageSpec image;
    std::vector<uint64_t> offsets;
  };
  std::vector<Addition> additions;
  for (const EmbeddedNames::Image& image : names.images) {
    std::vector<uint64_t> offsets = OffsetsWorthKeeping(image);
    if (offsets.empty()) continue;
    ImageSpec spec = {.path = std::string(names.strings[image.path]), .build_id = image.build_id};
    additions.push_back({std::move(spec), std::move(offsets)});
  }
  if (additions.empty()) return;

  auto source = Symbolizer::Create({});  // never asked
  source = CreateEmbeddedSymbolizer(std::move(names), std::move(source), kAsTheLinkerHasIt);
  for (Addition& addition : additions) {
    auto known = Read(addition.image.build_id, addition.image.path);
    if (!known) continue;
    const auto& addresses = known->images.front().addresses;
    if (addresses.size() + addition.offsets.size() > kMostAddresses) continue;
    for (const auto& address : addresses) addition.offsets.push_back(address.offset);
    source = CreateEmbeddedSymbolizer(*std::move(known), std::move(source), kAsTheLinkerHasIt);
  }
  for (const Addition& addition : additions) {
    NameCollector collector(*source);
    const ImageId id = collector.AddImage(addition.image);
    for (const uint64_t offset : addition.offsets) collector.Name(id, {offset});
    Write(PathOf(addition.image.build_id), codec_.encode(collector.Take(/*has_lines=*/true)));
  }
  MakeRoom();
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

std::unique_ptr<Symbolizer> CreateCachedSymbolizer(std::unique_ptr<Symbolizer> files,
                                                   NameCache cache, const EmbeddedOptions& naming) {
  return std::make_unique<CachedSymbolizer>(std::move(files), std::move(cache), naming);
}

}  // namespace profiler::symbolize
