#include "src/machine/sideband/user_image.h"

#include <algorithm>
#include <initializer_list>

#include "src/format/perf_event/code_memory.h"
#include "symbolize/vdso.h"

namespace profiler::sideband {
namespace {

using symbolize::ImageKind;

bool StartsWithAnyOf(std::string_view text, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [text](std::string_view prefix) { return text.starts_with(prefix); });
}

bool IsJitDump(std::string_view filename) {
  filename.remove_prefix(filename.rfind('/') + 1);
  constexpr std::string_view kPrefix = "jit-", kSuffix = ".dump";
  if (!filename.starts_with(kPrefix) || !filename.ends_with(kSuffix)) return false;
  filename.remove_prefix(kPrefix.size());
  filename.remove_suffix(std::min(kSuffix.size(), filename.size()));
  return !filename.empty() && filename.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::string_view NameOfUserImage(std::string_view filename, uint64_t address) {
  constexpr uint64_t kEndOf32Bit = uint64_t{1} << 32;
  const bool is_of_32_bit = filename == "[vdso]" && address < kEndOf32Bit;
  return is_of_32_bit ? symbolize::kVdsoOf32Bit : filename;
}

ImageKind KindOfUserImage(std::string_view filename, bool has_build_id) {
  // Imported profiles have this name for code without a known image; all processes share one image.
  if (filename == "[unknown]") return ImageKind::kUser;
  if (IsJitDump(filename)) return ImageKind::kJitDump;
  if (perf_event::IsCodeMemory(filename)) return ImageKind::kJit;
  if (StartsWithAnyOf(filename, {"[vdso]", "[vdso32]", "[vdsox32]"})) return ImageKind::kVdso;
  // JIT compilers fill such memory, too, but their code has no build-id.
  if (has_build_id && filename.starts_with("/memfd:")) return ImageKind::kUser;
  return StartsWithAnyOf(filename, {"[", "/memfd:", "/[aio]"}) ? ImageKind::kAnonymous
                                                               : ImageKind::kUser;
}

}  // namespace profiler::sideband
