#include "symbolize/unwind/arch/register_names.h"

#include <array>

namespace profiler::symbolize {
namespace {

constexpr std::array<std::string_view, 47> kNames = {
    "x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "x8",  "x9",  "x10", "x11",
    "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",
    "x24", "x25", "x26", "x27", "x28", "x29", "lr",  "sp",  "pc",  "",    "",    "",
    "",    "",    "",    "",    "",    "",    "",    "",    "",    "",    "vg"};

}  // namespace

constinit const RegisterNames kAArch64RegisterNames = {
    .belongs_to =
        [](std::string_view machine) {
          return machine.starts_with("aarch64") || machine == "arm64";
        },
    .names = kNames,
};

}  // namespace profiler::symbolize
