#include "symbolize/unwind/arch/register_names.h"

#include "symbolize/unwind/arch/x86/register_names.h"

namespace profiler::symbolize {

constinit const RegisterNames kX86_64RegisterNames = {
    .belongs_to = [](std::string_view machine) { return machine == "x86_64"; },
    .names = x86::kRegisterNames,
};

}  // namespace profiler::symbolize
