#include "src/machine/procfs/memory_map.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include "src/base/mapped_device.h"
#include "src/machine/procfs/proc_file.h"

namespace profiler::procfs {
namespace {

constexpr std::string_view kEscapedNewline = "\\012";

}  // namespace

bool IsMappedFile(int file, uint32_t maj, uint32_t min, uint64_t ino) {
  struct stat status;
  return fstat(file, &status) == 0 &&
         IsFileOfMapping(status.st_dev, status.st_ino, HidesDevice(file), maj, min, ino);
}

std::optional<MemoryMap> ParseMapsLine(std::string_view line) {
  TextScanner scanner(line);
  const auto start = ParseNumber<uint64_t>(scanner.Until('-'), 16);
  const auto end = ParseNumber<uint64_t>(scanner.Word(), 16);
  const std::string_view permissions = scanner.Word();
  const auto pgoff = ParseNumber<uint64_t>(scanner.Word(), 16);
  TextScanner device(scanner.Word());
  const auto maj = ParseNumber<uint32_t>(device.Until(':'), 16);
  const auto min = ParseNumber<uint32_t>(device.rest(), 16);
  const auto ino = ParseNumber<uint64_t>(scanner.Word());
  if (!start || !end || *end < *start || permissions.size() != 4 || !pgoff || !maj || !min ||
      !ino) {
    return std::nullopt;
  }
  MemoryMap map;
  map.start = *start;
  map.end = *end;
  map.pgoff = *pgoff;
  if (permissions[0] == 'r') map.prot |= PROT_READ;
  if (permissions[1] == 'w') map.prot |= PROT_WRITE;
  if (permissions[2] == 'x') map.prot |= PROT_EXEC;
  map.flags = permissions[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
  map.maj = *maj;
  map.min = *min;
  map.ino = *ino;
  map.name = scanner.rest();
  return map;
}

std::string RecordName(const MemoryMap& map) {
  if (map.name.empty()) return "//anon";
  std::string name(map.name);
  for (size_t at = name.find(kEscapedNewline); at != std::string::npos;
       at = name.find(kEscapedNewline, at + 1)) {
    name.replace(at, kEscapedNewline.size(), "\n");
  }
  return name;
}

}  // namespace profiler::procfs
