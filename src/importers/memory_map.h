// Parses the mappings at the end of a legacy profile: /proc/PID/maps, or the shorter lines of
// gperftools.
//
//   00400000-00fcb000 r-xp 00000000 00:00 21306940    /bin/server
//   00400000-00fcb000: $source/server                 with an earlier line "source=/bin"

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/importers/profile_maker.h"

namespace profiler::importers {

class MemoryMap {
 public:
  // Parses the lines. Skips lines that are not executable mappings.
  explicit MemoryMap(std::string_view text);

  // Makes a frame at `address`, in the image that is mapped there.
  profile::FrameId Frame(uint64_t address, std::span<const FunctionLine> functions,
                         ProfileMaker& maker) const;

  // Returns the program: the name of the first image, or "[unknown]".
  std::string_view program() const;

 private:
  struct Mapping {
    uint64_t start = 0, limit = 0, offset = 0;
    std::string path;
  };

  void AddLine(std::string_view line);
  std::string WithAttributes(std::string_view path) const;

  std::vector<Mapping> mappings_;                                // sorted by start
  std::vector<std::pair<std::string, std::string>> attributes_;  // "$source" and its value
};

}  // namespace profiler::importers
