// Maps each mapping to its image in the symbolizer and in the profile, and to its beginning in the
// image.
//
//   filename of the record              kind         name in the profile (as perf shows it)
//   of a user mapping (user_image.h):
//     a file                            kUser        its base name
//     the vdso                          kVdso        [vdso]
//     memory that JITs fill             kJit         /tmp/perf-PID.map
//     …/jit-PID.dump                    kJitDump     jit-PID.dump
//     …/[python]/jit-PID.dump           kJitDump     [python]
//     other memory                      kAnonymous   the filename
//   [kernel.kallsyms]_text              kKernel      [kernel.kallsyms]
//   /lib/modules/…/ext4.ko, [ext4]      kModule      [ext4]
//   of a KSYMBOL                        kBpf         the symbol's name
//
// Private to this package. Source of the names: map__new() and dso__set_basename() in
// tools/perf/util/, Linux 6.1, except the names of JITs: perf's report calls them "[JIT] tid PID",
// its script uses the name above.

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
#include "src/format/perf_event/records.h"
#include "src/profile/process_lives.h"
#include "src/profile/profile.h"
#include "symbolize/address_space.h"
#include "symbolize/symbolizer.h"

namespace profiler::profile {

// The images. Not thread-safe. The constructor's arguments must outlive it, and only this table may
// add images to the profile.
class ImageTable {
 public:
  ImageTable(Profile& profile, symbolize::Images& numbers, ProcessLives& lives);

  // Sets the build-id for mappings with this name that have none. Only the first build-id for a
  // name counts.
  void AddBuildId(std::string_view filename, std::span<const std::byte> build_id);

  bool HasBuildId(std::string_view filename) const { return build_ids_.contains(filename); }

  // Return the mapping of an MMAP2 or KSYMBOL record. `time` is the record's time
  // (process_lives.h).
  symbolize::Mapping UserMapping(const perf_event::Mmap2& mmap, symbolize::ImageKind kind,
                                 uint64_t time);
  // Returns the image of process `pid`'s dump. jit_codes.h maps the dump's code. `mapped_at`
  // becomes ImageSpec::mapped_at.
  symbolize::ImageId JitDump(std::string_view filename, uint32_t pid, uint64_t time,
                             uint64_t mapped_at);
  symbolize::Mapping KernelMapping(const perf_event::Mmap2& mmap);
  symbolize::Mapping BpfMapping(const perf_event::Ksymbol& symbol);
  // Returns the mapping of the kernel at unknown addresses: the upper half of the address space.
  symbolize::Mapping WholeKernel();

  // Returns the profile's id of the symbolizer's image.
  ImageId InProfile(symbolize::ImageId image) const;
  // Returns the image of addresses at which nothing is mapped.
  ImageId unknown_image() const { return ImageId{0}; }
  // Returns the symbolizer's ids of the profile's images. The entry of the unknown image is
  // meaningless.
  const std::vector<symbolize::ImageId>& in_symbolizer() const { return in_symbolizer_; }

 private:
  // The facts that distinguish files with the same path: build-id, else device and inode.
  struct FileIdentity {
    std::span<const std::byte> build_id;
    uint32_t maj = 0, min = 0;
    uint64_t ino = 0;
    RuntimeAddress start{};  // address of a module; else 0
    uint64_t mapped_at = 0;  // ImageSpec::mapped_at of a dump; not part of the identity
  };
  // Kind, path, build-id, device (major, minor), inode, process and start of an image.
  using Key = std::tuple<symbolize::ImageKind, std::string, std::string, uint32_t, uint32_t,
                         uint64_t, uint32_t, uint64_t>;

  symbolize::ImageId Intern(symbolize::ImageKind kind, std::string_view path,
                            const FileIdentity& identity, uint32_t pid);
  symbolize::ImageId Add(const symbolize::ImageSpec& spec);
  // Returns the image that stands for all images beyond the budget.
  symbolize::ImageId TooMany(uint32_t pid);

  Profile& profile_;
  symbolize::Images& numbers_;
  ProcessLives& lives_;
  std::map<std::string, std::vector<std::byte>, std::less<>> build_ids_;
  std::map<Key, symbolize::ImageId> ids_;
  // The memory for images, with a fair part for each process, because a program may map any number
  // of files, each under a name of 4 KB.
  FairBudget budget_;
  std::optional<symbolize::ImageId> too_many_;
  std::vector<ImageId> in_profile_;                // [n]: id of the symbolizer's image n
  std::vector<symbolize::ImageId> in_symbolizer_;  // [n]: the symbolizer's id of image n
};

}  // namespace profiler::profile
