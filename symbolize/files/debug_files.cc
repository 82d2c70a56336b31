#include "symbolize/files/debug_files.h"

#include <lzma.h>
#include <zlib.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/file_id.h"
#include "symbolize/dwarf/sections.h"
#include "symbolize/symbols/elf_symbols.h"

namespace profiler::symbolize {
namespace {

// Computes the CRC of .gnu_debuglink.
uint32_t Crc32(std::span<const std::byte> bytes) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

bool HasSymbolsOrDebugInfo(const ElfImage& elf) {
  const ElfSection* frames = elf.FindSection(".debug_frame");
  return HasSymtab(elf) || dwarf::HasDebugInfo(elf) ||
         (frames != nullptr && !frames->contents.empty());
}

struct Candidate {
  std::string path;
  bool is_named_by_image = false;
};

// Returns the candidate if it is a debug file of `image`.
std::optional<ImageFile> TryDebugFile(const ImageFile& image, const Candidate& candidate,
                                      const std::optional<DebugLink>& link,
                                      const std::string& process_root) {
  const std::string& path = candidate.path;
  absl::StatusOr<ImageFile> file = OpenElf(path, process_root);
  if (!file.ok() || !HasSymbolsOrDebugInfo(file->elf) || IsSameFile(path, image.path)) {
    return std::nullopt;
  }
  if (candidate.is_named_by_image && !file->file.IsOfUserOrRoot()) return std::nullopt;
  const auto id = image.elf.build_id();
  const bool belongs = id.empty() ? link && Crc32(file->file.bytes()) == link->crc
                                  : SameBuildId(id, file->elf.build_id());
  if (!belongs) return std::nullopt;
  return *std::move(file);
}

// Returns the debug directories, first those in the image's own file system.
std::vector<std::string> DebugDirectories(const ImageFile& image,
                                          const SymbolizerOptions& options) {
  std::vector<std::string> directories;
  if (const std::string root = ProcessRootOf(image, options); !root.empty()) {
    for (const std::string& directory : options.debug_directories) {
      directories.push_back(root + directory);
    }
  }
  directories.insert(directories.end(), options.debug_directories.begin(),
                     options.debug_directories.end());
  return directories;
}

// Images of other users may name any file, so their links are ignored.
bool MayName(const ImageFile& image, const std::optional<DebugLink>& link) {
  return link && image.file.IsOfUserOrRoot() && image.path.find('/') != std::string::npos;
}

std::vector<Candidate> CandidatesFor(const ImageFile& image, const std::optional<DebugLink>& link,
                                     const SymbolizerOptions& options) {
  std::vector<Candidate> candidates;
  const std::vector<std::string> directories = DebugDirectories(image, options);
  const auto id = image.elf.build_id();
  if (id.size() > 1) {
    for (const std::string& directory : directories) {
      candidates.push_back({BuildIdPath(directory, id) + ".debug"});
    }
    for (const std::string& cache : options.build_id_caches) {
      candidates.push_back({BuildIdPath(cache, id) + "/debug"});
      candidates.push_back({BuildIdPath(cache, id) + "/elf"});
    }
  }
  if (MayName(image, link)) {
    const std::string beside = image.path.substr(0, image.path.rfind('/'));
    const std::string name(link->file);
    candidates.push_back({beside + "/" + name, true});
    candidates.push_back({beside + "/.debug/" + name, true});
    const bool in_root = beside.starts_with(image.root);
    for (const std::string& directory : directories) {
      candidates.push_back(
          {directory + beside.substr(in_root ? image.root.size() : 0) + "/" + name, true});
    }
  }
  if (options.fetched != nullptr) {
    candidates.push_back({options.fetched->Find(FileKind::kDebugInfo, id)});
  }
  return candidates;
}

// Largest ratio of the uncompressed size to the compressed size.
constexpr size_t kMostExpansion = 256;

std::optional<std::vector<std::byte>> Unxz(std::span<const std::byte> packed) {
  constexpr size_t kLeastRoom = size_t{1} << 20;
  constexpr uint64_t kMostMemory = uint64_t{128} << 20;
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&stream, kMostMemory, 0) != LZMA_OK) return std::nullopt;
  const size_t most = std::min(kMostMiniBytes, packed.size() * kMostExpansion + kLeastRoom);
  std::vector<std::byte> plain;
  stream.next_in = reinterpret_cast<const uint8_t*>(packed.data());
  stream.avail_in = packed.size();
  lzma_ret result = LZMA_OK;
  while (result == LZMA_OK && plain.size() < most) {
    const size_t done = plain.size();
    plain.resize(std::min(most, std::max(2 * done, 4 * packed.size() + 4096)));
    stream.next_out = reinterpret_cast<uint8_t*>(plain.data() + done);
    stream.avail_out = plain.size() - done;
    result = lzma_code(&stream, LZMA_FINISH);
    plain.resize(plain.size() - stream.avail_out);
    if (stream.avail_out != 0) break;
  }
  lzma_end(&stream);
  if (result != LZMA_STREAM_END) return std::nullopt;
  return plain;
}

}  // namespace

std::optional<ImageFile> OpenDebugFile(const ImageFile& image, const SymbolizerOptions& options) {
  const std::optional<DebugLink> link = ReadDebugLink(image.elf);
  const std::string process_root = ProcessRootOf(image, options);
  for (const Candidate& candidate : CandidatesFor(image, link, options)) {
    if (auto file = TryDebugFile(image, candidate, link, process_root)) return file;
  }
  return std::nullopt;
}

std::optional<ImageFile> UnpackMiniDebugInfo(const ImageFile& image) {
  const ElfSection* section = image.elf.FindSection(".gnu_debugdata");
  if (section == nullptr || section->contents.empty()) return std::nullopt;
  std::optional<std::vector<std::byte>> plain = Unxz(section->contents);
  if (!plain) return std::nullopt;
  ImageFile mini;
  mini.path = image.path;
  mini.bytes = *std::move(plain);
  absl::StatusOr<ElfImage> elf = ElfImage::Parse(mini.bytes);
  if (!elf.ok() || !HasSymtab(*elf)) return std::nullopt;
  mini.elf = *std::move(elf);
  return mini;
}

}  // namespace profiler::symbolize
