#include "src/machine/image_ids/mapped_files.h"

#include <sys/stat.h>

#include "absl/strings/str_cat.h"
#include "src/base/clock.h"
#include "src/base/regular_file.h"
#include "src/base/text.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/records.h"
#include "src/machine/image_ids/htlhash.h"

namespace profiler::image_ids {

using perf_event::RawRecord;
using perf_event::RecordLayout;

void MappedFiles::Add(RawRecord record, const RecordLayout& layout) {
  if (record.type() != perf_event::kRecordMmap2) return;
  perf_event::Mmap2 mapping;
  if (!perf_event::Decode(record, layout, &mapping) || !mapping.build_id.empty()) return;
  Add(mapping.filename, mapping.ino);
}

void MappedFiles::Add(std::string_view path, uint64_t inode) {
  if (inode == 0 || !path.starts_with('/') || path.starts_with("//")) return;
  if (inodes_.size() >= kMostFiles && !inodes_.contains(View(path))) return;
  const auto [known, is_new] = inodes_.try_emplace(View(path), inode);
  if (!is_new && known->second != inode) known->second = kSeveral;
}

std::string MappedFiles::HtlhashOf(std::string_view path, uint32_t pid, int64_t end) const {
  const auto known = inodes_.find(View(path));
  if (known == inodes_.end() || known->second == kSeveral) return {};
  for (const std::string& root : {std::string(), absl::StrCat("/proc/", pid, "/root")}) {
    const auto file = OpenRegularFile(absl::StrCat(root, View(path)), root);
    struct stat facts;
    if (!file.ok() || fstat(file->get(), &facts) != 0 || facts.st_ino != known->second) continue;
    if (Nanoseconds(facts.st_ctim) > end) continue;
    return HtlhashOfFd(file->get());
  }
  return {};
}

}  // namespace profiler::image_ids
