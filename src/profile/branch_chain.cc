#include "src/profile/branch_chain.h"

#include <cstddef>
#include <span>

#include "src/format/perf_event/abi.h"

namespace profiler::profile {

using perf_event::U64Array;

std::optional<U64Array> BranchChain::ChainOf(const perf_event::Sample& sample,
                                             const perf_event::RecordLayout& layout) {
  if (!HasCallStack(layout)) return std::nullopt;
  const U64Array chain = sample.callchain;
  const size_t user = perf_event::WithoutUserPart(chain).size();
  if (user == chain.size() || chain[user] != perf_event::kContextUser) return std::nullopt;
  constexpr size_t kWords = 3;  // from, to, flags
  const U64Array words(sample.branches);

  chain_.clear();
  for (size_t i = 0; i <= user; ++i) chain_.push_back(chain[i]);
  if (user == 0) {
    chain_.push_back(sample.ip);
  } else if (user + 1 < chain.size()) {
    chain_.push_back(chain[user + 1]);
  } else if (words.size() >= kWords) {
    chain_.push_back(words[1]);
  }
  for (size_t i = 0; i + kWords <= words.size(); i += kWords) chain_.push_back(words[i]);
  return U64Array(std::as_bytes(std::span(chain_)));
}

}  // namespace profiler::profile
