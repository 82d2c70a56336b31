#include "symbolize/unwind/arch/register_names.h"

#include "symbolize/unwind/arch/x86/register_names.h"

namespace profiler::symbolize {

constinit const RegisterNames kI386RegisterNames = {
    .belongs_to =
        [](std::string_view machine) {
          // i386, i586, i686 …
          return machine.size() == 4 && machine.front() == 'i' && machine.ends_with("86");
        },
    .names = x86::kRegisterNames,
};

}  // namespace profiler::symbolize
