// Computes ids of files without a build-id that a recording's processes had mapped, if the files
// are unchanged.
//
//   MappedFiles files;
//   for (record : recording) files.Add(record, layout);
//   files.HtlhashOf("/usr/bin/app", pid, end_of_recording);
//
// A mapping record contains the inode of a file that has no build-id. A file is unchanged if it
// still has that inode and was not modified after the end of the recording.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "src/format/perf_event/codec.h"

namespace profiler::image_ids {

// The mapped files, keyed by path. Not thread-safe. Takes memory for each distinct path, at most
// kMostFiles.
class MappedFiles {
 public:
  static constexpr size_t kMostFiles = 65'536;

  // Adds the file of an MMAP2 record; ignores other records.
  void Add(perf_event::RawRecord record, const perf_event::RecordLayout& layout);
  void Add(std::string_view path, uint64_t inode);

  // Returns the htlhash of the file that was mapped under this path. Looks below our root
  // directory, then below that of process `pid`. `end` is the end of the recording in nanoseconds
  // since 1970. Empty if the file is not the mapped one, was modified after `end`, or if different
  // files were mapped under this path.
  std::string HtlhashOf(std::string_view path, uint32_t pid, int64_t end) const;

 private:
  static constexpr uint64_t kSeveral = 0;

  // Inode of the file that was mapped under each path; kSeveral if there were different files.
  absl::flat_hash_map<std::string, uint64_t> inodes_;
};

}  // namespace profiler::image_ids
