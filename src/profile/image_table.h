// What is behind a mapping: which image for the symbolizer, which DSO for the profile, and where in
// the image it begins.
//
//   filename of the record              image        DSO name (as perf shows it)
//   of a user mapping (user_image.h):
//     a file                            kUser        its base name
//     the vdso                          kVdso        [vdso]
//     memory that JITs fill             kJit         /tmp/perf-PID.map
//     …/jit-PID.dump                    kJitDump     jit-PID.dump
//     other memory                      kAnonymous   as it stands
//   [kernel.kallsyms]_text              kKernel      [kernel.kallsyms]
//   /lib/modules/…/ext4.ko, [ext4]      kModule      [ext4]
//   of a KSYMBOL                        kBpf         the symbol's name
//
// Private to this package. Source of the names: map__new() and dso__set_basename() in
// tools/perf/util/, Linux 6.1, but for those of JITs, which perf's report calls "[JIT] tid PID" and
// its script as we do.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "src/base/fair_budget.h"
#include "src/perf_event/records.h"
#include "src/profile/process_lives.h"
#include "src/profile/profile.h"
#include "symbolize/address_space.h"
#include "symbolize/symbolizer.h"

namespace profiler::profile {

// Not thread-safe. What it is made with must outlive it; the profile's DSOs are made here alone.
class ImageTable {
 public:
  ImageTable(Profile& profile, symbolize::Symbolizer& symbolizer, ProcessLives& lives);

  // The build-id of every image of this name whose mappings bring none of their own. The first one
  // given for a name counts.
  void AddBuildId(std::string_view filename, std::span<const std::byte> build_id);

  bool HasBuildId(std::string_view filename) const { return build_ids_.contains(filename); }

  // What MMAP, MMAP2 and KSYMBOL map. `time` is that of the record (process_lives.h).
  symbolize::Mapping UserMapping(const perf_event::Mmap2& mmap, symbolize::ImageKind kind,
                                 uint64_t time);
  // That of process `pid`: its code is mapped elsewhere (jit_codes.h). `mapped_at` is
  // ImageSpec's.
  symbolize::ImageId JitDump(std::string_view filename, uint32_t pid, uint64_t time,
                             uint64_t mapped_at);
  symbolize::Mapping KernelMapping(const perf_event::Mmap2& mmap);
  symbolize::Mapping BpfMapping(const perf_event::Ksymbol& symbol);
  // The kernel, wherever it is: the upper half of the address space.
  symbolize::Mapping WholeKernel();

  DsoId DsoOf(symbolize::ImageId image) const;
  // Where nothing was mapped.
  DsoId unknown_dso() const { return DsoId{0}; }
  // By DSO: its image. That of the unknown DSO means nothing.
  const std::vector<symbolize::ImageId>& images() const { return images_; }

 private:
  // What tells files of one path apart: a build-id, else device and inode.
  struct FileIdentity {
    std::span<const std::byte> build_id;
    uint32_t maj = 0, min = 0;
    uint64_t ino = 0;
    RuntimeAddress start{};  // of a module
    uint64_t mapped_at = 0;  // of a dump; it identifies nothing
  };
  // Kind, path, build-id, device and inode, process, start.
  using Key = std::tuple<symbolize::ImageKind, std::string, std::string, uint32_t, uint32_t,
                         uint64_t, uint32_t, uint64_t>;

  symbolize::ImageId Intern(symbolize::ImageKind kind, std::string_view path,
                            const FileIdentity& identity, uint32_t pid);
  symbolize::ImageId Add(const symbolize::ImageSpec& spec);
  // The one image of all that there is no room for.
  symbolize::ImageId TooMany(uint32_t pid);

  Profile& profile_;
  symbolize::Symbolizer& symbolizer_;
  ProcessLives& lives_;
  std::map<std::string, std::vector<std::byte>, std::less<>> build_ids_;
  std::map<Key, symbolize::ImageId> ids_;
  FairBudget budget_;  // of processes: a program may map ever new files, each under a name of 4 KB
  std::optional<symbolize::ImageId> too_many_;
  std::vector<DsoId> dsos_;                 // by ImageId
  std::vector<symbolize::ImageId> images_;  // by DsoId
};

}  // namespace profiler::profile
