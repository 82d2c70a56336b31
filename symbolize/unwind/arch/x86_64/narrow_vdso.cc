#include "symbolize/unwind/arch/x86_64/narrow_vdso.h"

#if defined(__x86_64__)

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <span>
#include <string>

#include "src/base/unique_fd.h"

namespace profiler::symbolize {
namespace {

constexpr long kMapVdsoOf32Bit = 0x2002;  // ARCH_MAP_VDSO_32 of arch_prctl(2), <asm/prctl.h>
constexpr uintptr_t kAskedFor = 0x10000000;
constexpr size_t kPage = 4096;
constexpr size_t kMostPages = 64;       // data pages of the kernel before the image
constexpr size_t kMostBytes = 1 << 16;  // a pipe takes this many bytes before they are read

struct Range {
  void* start = nullptr;
  size_t size = 0;
};

// Returns the mappings of our own vdso and its data. The child unmaps them before it maps the other
// vdso, because a process can have only one.
std::vector<Range> MappingsOfVdso() {
  std::vector<Range> mappings;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("[vdso]") == std::string::npos && line.find("[vvar") == std::string::npos) {
      continue;
    }
    uintptr_t start = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx", &start, &end) != 2) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel tells it as a number.
    mappings.push_back({reinterpret_cast<void*>(start), end - start});
  }
  return mappings;
}

// Runs in the child. The child may only make system calls: other threads of the parent may have
// held locks when the child was made, and these locks stay locked in the child.
[[noreturn]] void MapAndWrite(std::span<const Range> own, int to) {
  for (const Range& range : own) munmap(range.start, range.size);
  const long size = syscall(SYS_arch_prctl, kMapVdsoOf32Bit, kAskedFor);
  // The image follows some data pages, some of which are unreadable.
  for (size_t i = 0; size > 0 && i < kMostPages; ++i) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    auto* const page = reinterpret_cast<std::byte*>(kAskedFor + i * kPage);
    std::array<char, SELFMAG> magic{};
    const iovec local{magic.data(), magic.size()}, remote{page, magic.size()};
    const bool is_read = process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == SELFMAG;
    if (!is_read || std::memcmp(magic.data(), ELFMAG, SELFMAG) != 0) continue;
    const bool is_written =
        size <= static_cast<long>(kMostBytes) && write(to, page, static_cast<size_t>(size)) == size;
    _exit(is_written ? 0 : 1);
  }
  _exit(1);
}

}  // namespace

std::vector<std::byte> ReadNarrowVdso() {
  const std::vector<Range> own = MappingsOfVdso();
  std::array<int, 2> ends = {-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  const UniqueFd from(ends[0]);
  UniqueFd to(ends[1]);
  // Sets no exit signal, so that other code of this process that waits for children does not see
  // this child.
  const long child = syscall(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr);
  if (child == 0) MapAndWrite(own, to.get());
  to.Reset();
  if (child < 0) return {};
  std::vector<std::byte> bytes(kMostBytes);
  size_t size = 0;
  for (ssize_t count = 1; count > 0; size += static_cast<size_t>(std::max<ssize_t>(count, 0))) {
    count = read(from.get(), bytes.data() + size, bytes.size() - size);
  }
  while (waitpid(static_cast<pid_t>(child), nullptr, __WALL) < 0 && errno == EINTR) {
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace profiler::symbolize

#else

namespace profiler::symbolize {

std::vector<std::byte> ReadNarrowVdso() { return {}; }

}  // namespace profiler::symbolize

#endif
