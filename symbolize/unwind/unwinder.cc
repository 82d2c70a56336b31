#include "symbolize/unwind/unwinder.h"

#include "symbolize/unwind/known_steps.h"
#include "symbolize/unwind/rule_cache.h"
#include "symbolize/unwind/unwind_walk.h"

namespace profiler::symbolize {

std::string_view ChainEndName(ChainEnd end) {
  switch (end) {
    case ChainEnd::kThreadStart:
      return "thread start";
    case ChainEnd::kNoImage:
      return "no image";
    case ChainEnd::kNoCfi:
      return "no call frame information";
    case ChainEnd::kStackSwitch:
      return "stack switch";
    case ChainEnd::kStackTooShort:
      return "stack too short";
    case ChainEnd::kCopiedShort:
      return "stack copied short";
    case ChainEnd::kBadRegister:
      return "bad register";
    case ChainEnd::kNoProgress:
      return "no progress";
    case ChainEnd::kTooDeep:
      return "too deep";
    case ChainEnd::kBadReturnAddress:
      return "bad return address";
    case ChainEnd::kFileChanged:
      return "file changed";
    case ChainEnd::kTooLongCfi:
      return "call frame information too long";
    case ChainEnd::kNoStack:
      return "no user stack";
    case ChainEnd::kNoReturnAddress:
      return "no return address";
  }
  return "unknown";
}

Unwinder::Unwinder(const StackSwitches* switches)
    : switches_(switches),
      rules_(std::make_unique<RuleCache>()),
      known_(std::make_unique<KnownSteps>()) {}
Unwinder::Unwinder(Unwinder&&) noexcept = default;
Unwinder& Unwinder::operator=(Unwinder&&) noexcept = default;
Unwinder::~Unwinder() = default;

void Unwinder::Unwind(const RegisterSet& registers, StackBytes stack, UnwindSpace& space,
                      const UnwindLimits& limits, UnwoundChain* chain, bool pc_is_return_address) {
  UnwindWalk({*rules_, *known_}, switches_, space, stack, limits, ++chains_, registers,
             pc_is_return_address, *chain)
      .Run();
}

}  // namespace profiler::symbolize
