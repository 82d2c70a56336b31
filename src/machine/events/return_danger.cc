#include "src/machine/events/return_danger.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "src/base/byte_reader.h"
#include "src/base/text.h"

namespace profiler::events {
namespace {

using symbolize::ElfImage;
using symbolize::ElfSection;

// Calls `see` with each name in .dynstr: libraries, imports and exports. The linker may store a
// name only as the end of a longer name, so `see` may get only the longer name.
template <class See>
void ForEachDynamicName(const ElfImage& elf, See see) {
  const ElfSection* const names = elf.FindSection(".dynstr");
  if (names == nullptr) return;
  std::string_view text = TextOf(names->contents);
  while (!text.empty()) {
    const size_t end = std::min(text.find('\0'), text.size());
    see(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
}

bool IsOfGo(const ElfImage& elf) {
  constexpr std::array kSections = {".go.buildinfo", ".gopclntab", ".note.go.buildid"};
  return std::ranges::any_of(kSections,
                             [&](const char* name) { return elf.FindSection(name) != nullptr; });
}

bool IsOfC(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  constexpr std::array kNames = {"libc.so",  "libc-2.",    "libm.so",  "libm-2.",
                                 "ld-linux", "libpthread", "ld-musl-", "libc.musl-"};
  return std::ranges::any_of(kNames, [&](const char* start) { return name.starts_with(start); });
}

// Functions of the C library without leading underscores. Their callbacks may throw.
constexpr std::array<std::string_view, 38> kOfC = {"bsearch",
                                                   "call_once",
                                                   "clone",
                                                   "clone3",
                                                   "dl_iterate_phdr",
                                                   "exit",
                                                   "ftw",
                                                   "ftw64",
                                                   "getcontext",
                                                   "glob",
                                                   "glob64",
                                                   "lfind",
                                                   "libc_main",
                                                   "longjmp",
                                                   "longjmp_chk",
                                                   "lsearch",
                                                   "makecontext",
                                                   "nftw",
                                                   "nftw64",
                                                   "pthread_cancel",
                                                   "pthread_exit",
                                                   "pthread_once",
                                                   "pthread_testcancel",
                                                   "qsort",
                                                   "qsort_r",
                                                   "scandir",
                                                   "scandir64",
                                                   "setcontext",
                                                   "setjmp",
                                                   "siglongjmp",
                                                   "sigsetjmp",
                                                   "start_thread",
                                                   "swapcontext",
                                                   "tdelete",
                                                   "tdestroy",
                                                   "tfind",
                                                   "tsearch",
                                                   "twalk"};
constexpr std::array<std::string_view, 5> kMoreOfC = {"twalk_r", "vfork", "libc_start_main",
                                                      "libc_start_call_main", "libc_vfork"};

std::string_view WithoutUnderscores(std::string_view name) {
  return name.substr(std::min(name.find_first_not_of('_'), name.size()));
}

bool LeavesOtherwise(std::string_view function) {
  const std::string_view name = WithoutUnderscores(function);
  return std::ranges::find(kOfC, name) != kOfC.end() ||
         std::ranges::find(kMoreOfC, name) != kMoreOfC.end();
}

// True for a name that shows that the image throws or catches exceptions.
bool IsOfExceptions(std::string_view name) {
  constexpr std::array kStarts = {
      "libstdc++.so", "libc++.so",    "libc++abi.so",   "__gxx_personality",
      "__cxa_throw",  "__cxa_begin_", "_Unwind_Resume", "_Unwind_RaiseException"};
  return std::ranges::any_of(kStarts, [&](const char* start) { return name.starts_with(start); });
}

bool IsJump(std::string_view name) {
  return name.ends_with("longjmp") || name.ends_with("longjmp_chk") || name == "swapcontext" ||
         name == "setcontext" || name == "pthread_exit" || name == "pthread_cancel";
}

}  // namespace

std::string DangerAtReturn(const ElfImage& elf, const Probe& probe) {
  if (probe.offset != 0) {
    return "the kernel finds the return address only at a function's first instruction, and the "
           "probe is elsewhere";
  }
  if (IsOfGo(elf)) {
    return "it is a Go program, and Go's runtime reads return addresses when a stack grows or "
           "garbage is collected";
  }
  if (IsOfC(probe.path)) {
    if (!LeavesOtherwise(probe.symbol)) return "";
    return "this function calls back into code that may throw exceptions, or it does not return "
           "exactly once";
  }
  std::string_view exceptions, jump;
  ForEachDynamicName(elf, [&](std::string_view name) {
    if (IsOfExceptions(name)) exceptions = name;
    if (IsJump(name)) jump = name;
  });
  if (elf.FindSection(".gcc_except_table") != nullptr || !exceptions.empty()) {
    return "it has exception handlers (C++, Rust), and an exception that unwinds through the "
           "function finds the kernel's address instead of the caller's";
  }
  if (!jump.empty()) {
    return absl::StrCat("it uses ", View(jump), ", which may leave the function without a return");
  }
  return "";
}

}  // namespace profiler::events
