#include "src/cli/version.h"

#include <elfutils/version.h>
#include <zlib.h>
#include <zstd.h>

#include <boost/version.hpp>
#include <nlohmann/json.hpp>
#include <string_view>

#include "absl/base/config.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "src/base/text.h"
#include "src/cli/usage/command_line.h"
#include "symbolize/unwind/arch/architecture.h"

// Defined in build_stamp.cc.
extern const char profiler_build_commit[];

namespace profiler::cli {
namespace {

#if defined(__clang__)
constexpr char kCompiler[] = "Clang " __clang_version__;
#else
constexpr char kCompiler[] = "GCC " __VERSION__;
#endif

// Returns elfutils' version: 188 is 0.188.
std::string ElfutilsVersion() { return absl::StrCat("0.", _ELFUTILS_VERSION); }

}  // namespace

std::string VersionText() {
  std::string text = absl::StrCat(kVersion, "\n");
  const std::string_view commit = profiler_build_commit;
  if (!commit.empty() && commit != "0")
    absl::StrAppend(&text, "commit ", profiler_build_commit, "\n");
  absl::StrAppend(&text, "built for ", View(symbolize::kNativeArchitecture->name), " by ",
                  kCompiler, "\n");
  absl::StrAppend(&text, "with Abseil ", ABSL_LTS_RELEASE_VERSION, ", Boost ",
                  absl::StrReplaceAll(BOOST_LIB_VERSION, {{"_", "."}}), ", elfutils ",
                  ElfutilsVersion(), ", CLI11 ", View(usage::ParserVersion()), ", nlohmann-json ",
                  NLOHMANN_JSON_VERSION_MAJOR, ".", NLOHMANN_JSON_VERSION_MINOR, ".",
                  NLOHMANN_JSON_VERSION_PATCH, ", zlib ", ZLIB_VERSION, ", zstd ",
                  ZSTD_VERSION_STRING);
  return text;
}

}  // namespace profiler::cli
