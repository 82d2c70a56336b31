#include "src/views/report/function_buckets.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace profiler::report {

FunctionBuckets::FunctionBuckets(const profile::Profile& profile, const FunctionTable& functions,
                                 const HistOptions& options)
    : profile_(profile), functions_(functions), kind_(KindOf(functions, options)) {
  if (kind_ == Kind::kPositions) {
    AddPositions(options);
  } else {
    Grow();
  }
}

FunctionBuckets::Kind FunctionBuckets::KindOf(const FunctionTable& functions,
                                              const HistOptions& options) {
  const bool by_symbol = options.SortsBy(SortKey::kSymbol), by_dso = options.SortsBy(SortKey::kDso);
  if (functions.positions() != nullptr) return Kind::kPositions;
  if (by_symbol && by_dso) return Kind::kEach;
  return by_symbol ? Kind::kSymbols : by_dso ? Kind::kImages : Kind::kOne;
}

uint32_t FunctionBuckets::BucketOf(FunctionId id) {
  const Function& function = functions_[id];
  if (kind_ == Kind::kImages) return static_cast<uint32_t>(profile_[function.image].name);
  if (kind_ != Kind::kSymbols) return 0;
  const std::tuple key(function.name, function.mode, function.inlined);
  return function.named() ? named_.try_emplace(key, id).first->second
                          : unnamed_.try_emplace(function.address, id).first->second;
}

void FunctionBuckets::Grow() {
  if (!any()) return;
  buckets_.reserve(functions_.size());
  for (auto id = static_cast<FunctionId>(buckets_.size()); id < functions_.size(); ++id) {
    buckets_.push_back(BucketOf(id));
    end_ = std::max(end_, buckets_.back() + 1);
  }
}

// Some sort keys are finer than a function (srcline, srcfile, symoff).
void FunctionBuckets::AddPositions(const HistOptions& options) {
  std::map<std::vector<uint32_t>, uint32_t> known;
  for (FunctionId id = 0; id < functions_.size(); ++id) {
    std::vector<uint32_t> key;
    for (const SortKey sort : options.sort) {
      if (sort == SortKey::kSymbol) key.push_back(functions_[id].chain_key);
      if (sort == SortKey::kDso) {
        key.push_back(static_cast<uint32_t>(profile_[functions_[id].image].name));
      }
      if (functions_.positions()->Has(sort)) {
        key.push_back(functions_.positions()->TextId(functions_.PositionOf(id), sort));
      }
    }
    buckets_.push_back(known.try_emplace(std::move(key), id).first->second);
    end_ = std::max(end_, buckets_.back() + 1);
  }
}

}  // namespace profiler::report
