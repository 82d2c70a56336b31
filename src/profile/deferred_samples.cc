#include "src/profile/deferred_samples.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "src/perf_event/abi.h"

namespace profiler::profile {

using perf_event::U64Array;

bool DeferredSamples::Waits(U64Array callchain, uint64_t* cookie) {
  const size_t size = callchain.size();
  if (size < 2 || callchain[size - 2] != perf_event::kContextUserDeferred) return false;
  *cookie = callchain[size - 1];
  return true;
}

std::vector<uint64_t> DeferredSamples::Join(U64Array callchain, U64Array user) {
  std::vector<uint64_t> joined;
  joined.reserve(callchain.size() + user.size());
  for (size_t i = 0; i + 2 < callchain.size(); ++i) joined.push_back(callchain[i]);
  if (user.empty() || user[0] < perf_event::kContextMax) {
    joined.push_back(perf_event::kContextUser);
  }
  for (size_t i = 0; i < user.size(); ++i) joined.push_back(user[i]);
  return joined;
}

std::vector<DeferredSample> DeferredSamples::Add(uint32_t tid, uint64_t cookie,
                                                 DeferredSample sample) {
  Waiting& waiting = waiting_[tid];
  std::vector<DeferredSample> given_up;
  if (waiting.cookie != cookie) given_up.swap(waiting.samples);
  waiting.cookie = cookie;
  waiting.samples.push_back(std::move(sample));
  return given_up;
}

std::vector<DeferredSample> DeferredSamples::Take(uint32_t tid, uint64_t cookie) {
  const auto it = waiting_.find(tid);
  if (it == waiting_.end() || it->second.cookie != cookie) return {};
  std::vector<DeferredSample> samples = std::move(it->second.samples);
  waiting_.erase(it);
  return samples;
}

std::vector<DeferredSample> DeferredSamples::TakeAll() {
  std::vector<DeferredSample> samples;
  for (auto& [tid, waiting] : waiting_) {
    std::move(waiting.samples.begin(), waiting.samples.end(), std::back_inserter(samples));
  }
  waiting_.clear();
  std::sort(samples.begin(), samples.end(),
            [](const auto& a, const auto& b) { return a.time < b.time; });
  return samples;
}

}  // namespace profiler::profile
