#include "src/views/summary/own_code.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "src/analysis/interpreters.h"

namespace profiler::summary {
namespace {

using profile::Image;
using profile::Profile;
using symbolize::ImageKind;

// Names of the runtime libraries of C and C++ up to the version. Musl's C library is also its
// dynamic linker.
constexpr std::array<std::string_view, 12> kRuntimeLibraries = {
    "libc.so",  "libc-2.",      "libm.so",     "libm-2.",  "libpthread", "librt.so",
    "libdl.so", "libstdc++.so", "libgcc_s.so", "ld-linux", "ld-musl",    "libc.musl"};

bool HasRuntimeName(std::string_view base_name) {
  return std::ranges::any_of(kRuntimeLibraries, [base_name](std::string_view library) {
    return base_name.starts_with(library);
  });
}

// True for code of files and of JITs, except the vdso, which the kernel maps.
bool IsInUserSpace(const Image& image) {
  return image.kind == ImageKind::kUser || image.kind == ImageKind::kJit ||
         image.kind == ImageKind::kJitDump;
}

}  // namespace

OwnCode::OwnCode(const Profile& profile, profile::EventId event)
    : profile_(profile), is_own_(profile.images.size()) {
  std::vector<bool> is_interpreter(profile.images.size());
  for (size_t i = 0; i < profile.images.size(); ++i) {
    const Image& image = profile.images[i];
    const std::string_view name = profile.text(image.name);
    if (!IsInUserSpace(image) || HasRuntimeName(name)) continue;
    // The launcher of Java's VM is in a library of its own.
    is_interpreter[i] = image.kind == ImageKind::kUser &&
                        (analysis::IsInterpreter(name) || name.starts_with("libjli.so"));
    is_own_[i] = !is_interpreter[i];
  }
  std::vector<bool> is_seen(profile.stacks.size());
  for (const profile::Row& row : profile.rows) {
    if (row.event != event) continue;
    for (profile::StackId at = row.stack; at != profile::kNoStack; at = profile[at].parent) {
      if (is_seen[static_cast<uint32_t>(at)]) break;
      is_seen[static_cast<uint32_t>(at)] = true;
      if (Has(profile[at].frame)) return;
    }
  }
  is_own_ = is_interpreter;
}

bool IsStartCode(std::string_view function) {
  constexpr std::array<std::string_view, 9> kStarts = {
      "_start",
      "__libc_start",
      "runtime.goexit",
      "runtime.main",
      "start_thread",
      "clone3",
      "std::rt::lang_start",
      "std::sys::backtrace::__rust_begin_short_backtrace",
      "__clone"};
  return std::ranges::any_of(
      kStarts, [function](std::string_view start) { return function.starts_with(start); });
}

}  // namespace profiler::summary
