#include "src/profile/process_lives.h"

#include <algorithm>

namespace profiler::profile {

using symbolize::ProcessKey;
using symbolize::ProcessLife;

namespace {

// Longest time in ns from the recorder's first look at the clock to its last look at /proc.
constexpr int64_t kToBegin = 1'000'000'000;

uint32_t Next(uint32_t life) { return std::min(life + 1, symbolize::kMostLives - 1); }

}  // namespace

int64_t ProcessLives::RealTime(uint64_t time) const {
  if (time == 0) return clock_.began ? *clock_.began + kToBegin : ProcessLife::kUnknown;
  if (!clock_.to_real_time) return ProcessLife::kUnknown;
  // Damaged records may have any time.
  constexpr auto kMostTime = static_cast<uint64_t>(ProcessLife::kUnknown / 2);
  return static_cast<int64_t>(std::min(time, kMostTime)) + *clock_.to_real_time;
}

int64_t ProcessLives::SeenAt(uint64_t time) const {
  const int64_t real_time = RealTime(time);
  return real_time != ProcessLife::kUnknown ? real_time
                                            : clock_.ended.value_or(ProcessLife::kUnknown);
}

uint32_t ProcessLives::Use(uint32_t process, int64_t began, uint64_t time) {
  const auto [entry, is_new] = lives_.try_emplace(process);
  if (!is_new) return process;
  entry->second = {.began = began, .seen = SeenAt(time)};
  if (time == 0) unseen_.push_back(process);
  facts_.SetLife(process, entry->second);
  return process;
}

uint32_t ProcessLives::OfProcess(uint32_t pid, uint64_t time) {
  const auto known = processes_.find(pid);
  const Process process = known == processes_.end() ? Process() : known->second;
  return Use(ProcessKey(pid, process.first), process.began, time);
}

uint32_t ProcessLives::OfProgram(uint32_t pid, uint64_t time) {
  const auto known = processes_.find(pid);
  const Process process = known == processes_.end() ? Process() : known->second;
  return Use(ProcessKey(pid, process.now), process.program_began, time);
}

template <class Change>
void ProcessLives::Update(uint32_t process, Change change) {
  const auto life = lives_.find(process);
  if (life == lives_.end()) return;
  change(life->second);
  facts_.SetLife(process, life->second);
}

void ProcessLives::SeeAll(uint64_t time) {
  for (const uint32_t process : unseen_) {
    Update(process, [&](ProcessLife& life) { life.seen = SeenAt(time); });
  }
  unseen_.clear();
}

void ProcessLives::Forked(uint32_t pid, uint64_t time) {
  if (time == 0) return;
  Process& process = processes_[pid];
  Update(ProcessKey(pid, process.first), [](ProcessLife& life) { life.has_ended = true; });
  Update(ProcessKey(pid, process.now), [](ProcessLife& life) { life.has_ended = true; });
  const bool has_images = lives_.contains(ProcessKey(pid, process.first)) ||
                          lives_.contains(ProcessKey(pid, process.now));
  if (has_images) process.now = Next(process.now);
  process.first = process.now;
  process.began = process.program_began = RealTime(time);
}

void ProcessLives::Executed(uint32_t pid, uint64_t time) {
  if (time == 0) return;
  Process& process = processes_[pid];
  process.program_began = RealTime(time);
  if (!lives_.contains(ProcessKey(pid, process.now))) return;
  Update(ProcessKey(pid, process.now), [&](ProcessLife& life) {
    life.is_replaced = true;
    life.over = RealTime(time);
  });
  process.now = Next(process.now);
}

void ProcessLives::ThreadEnded(uint32_t pid, uint64_t time) {
  const auto known = processes_.find(pid);
  const Process process = known == processes_.end() ? Process() : known->second;
  const auto end = [&](ProcessLife& life) {
    life.has_ended = true;
    if (!life.is_replaced) life.over = RealTime(time);
  };
  Update(ProcessKey(pid, process.first), end);
  if (process.now != process.first) Update(ProcessKey(pid, process.now), end);
}

}  // namespace profiler::profile
