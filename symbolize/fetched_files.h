// Paths of files that were fetched by build-id (debuginfod); image_file.h looks for images there.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace profiler::symbolize {

enum class FileKind : uint8_t {
  kExecutable,  // the program or library that ran
  kDebugInfo,   // its separate debug information, or dwz's alternate file
};

// A map from kind and build-id of a file to its path. Not thread-safe.
class FetchedFiles {
 public:
  void Add(FileKind kind, std::span<const std::byte> build_id, std::string path) {
    paths_[Key(kind, {build_id.begin(), build_id.end()})] = std::move(path);
  }
  // Returns the path, or an empty string if that file was not fetched.
  std::string Find(FileKind kind, std::span<const std::byte> build_id) const {
    const auto it = paths_.find(Key(kind, {build_id.begin(), build_id.end()}));
    return it == paths_.end() ? std::string() : it->second;
  }
  void Merge(FetchedFiles& other) { paths_.merge(other.paths_); }
  size_t size() const { return paths_.size(); }

 private:
  using Key = std::pair<FileKind, std::vector<std::byte>>;
  std::map<Key, std::string> paths_;
};

}  // namespace profiler::symbolize
