#include "src/views/interchange/thread_rows.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "src/views/interchange/code_table.h"

namespace profiler::exports {

using profile::EventId;
using profile::Profile;
using profile::Row;
using profile::Thread;

namespace {

std::string NameOf(const Profile& profile, const Thread& thread) {
  const bool has_last = thread.last_comm != StringId::kEmpty;
  return ValidUtf8(profile.text(has_last ? thread.last_comm : thread.comm));
}

std::string ProcessNameOf(const Profile& profile, const Thread& thread) {
  const std::string_view name = profile.text(thread.process_comm);
  return name.empty() ? NameOf(profile, thread) : ValidUtf8(name);
}

}  // namespace

std::vector<ThreadRows> RowsByThread(const Profile& profile, EventId event) {
  // Key: pid, false for the main thread, tid.
  std::map<std::tuple<uint32_t, bool, uint32_t>, ThreadRows> threads;
  std::vector<ThreadRows*> by_thread(profile.threads.size());
  for (uint32_t i = 0; i < profile.rows.size(); ++i) {
    const Row& row = profile.rows[i];
    if (row.event != event) continue;
    ThreadRows*& rows = by_thread[static_cast<uint32_t>(row.thread)];
    if (rows == nullptr) {
      const Thread& thread = profile[row.thread];
      rows = &threads[{thread.pid, thread.tid != thread.pid, thread.tid}];
      *rows = {.pid = thread.pid,
               .tid = thread.tid,
               .name = NameOf(profile, thread),
               .process_name = ProcessNameOf(profile, thread),
               .rows = std::move(rows->rows)};
    }
    rows->rows.push_back(i);
  }
  std::vector<ThreadRows> result;
  result.reserve(threads.size());
  for (auto& [key, rows] : threads) {
    std::stable_sort(rows.rows.begin(), rows.rows.end(), [&](uint32_t a, uint32_t b) {
      return TimeOf(profile, a) < TimeOf(profile, b);
    });
    result.push_back(std::move(rows));
  }
  return result;
}

bool HasTimes(const Profile& profile) {
  return !profile.column(profile::Dimension::kTime).empty() &&
         std::any_of(profile.quanta.begins.begin(), profile.quanta.begins.end(),
                     [](uint64_t time) { return time != 0; });
}

std::vector<EventId> EventsWithRows(const Profile& profile) {
  std::vector<bool> has(profile.events.size());
  for (const Row& row : profile.rows) has[static_cast<uint32_t>(row.event)] = true;
  std::vector<EventId> events;
  for (uint32_t i = 0; i < has.size(); ++i) {
    if (has[i]) events.push_back(EventId{i});
  }
  return events;
}

}  // namespace profiler::exports
