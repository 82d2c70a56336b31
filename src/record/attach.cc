#include "src/record/attach.h"

#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "ringbuf/record_cursor.h"
#include "src/format/perf_event/abi.h"
#include "src/machine/procfs/tasks.h"

namespace profiler::record {
namespace {

class Attacher {
 public:
  Attacher(const procfs::Roots& roots, ringbuf::EventSet& events, bool inherit)
      : roots_(roots), events_(events), inherit_(inherit) {}

  absl::Status AttachProcess(pid_t pid) {
    bool first_scan = true;
    while (true) {
      const absl::StatusOr<std::vector<pid_t>> tids = procfs::ThreadIds(roots_, pid);
      if (!tids.ok()) {
        // If the process has ended meanwhile, its records are in the rings.
        if (!first_scan && absl::IsNotFound(tids.status())) return absl::OkStatus();
        return absl::IsNotFound(tids.status()) ? NoSuchProcess(pid) : tids.status();
      }
      if (!first_scan && inherit_) NoteForks();
      bool found_new = false;
      for (const pid_t tid : *tids) {
        if (known_.contains(tid)) continue;
        found_new = true;
        PROFILER_RETURN_IF_ERROR(AttachOnce(tid));
      }
      if (!found_new) return absl::OkStatus();
      first_scan = false;
    }
  }

  absl::Status AttachOnce(pid_t tid) {
    if (!known_.insert(tid).second) return absl::OkStatus();
    const absl::Status added = events_.AddThread(tid);
    return ErrnoOf(added) == ESRCH ? absl::OkStatus() : added;
  }

  // Attaches the descendants of `trees` that did not inherit the events, until a scan finds no new
  // descendant.
  absl::StatusOr<std::vector<pid_t>> AttachTrees(const std::vector<pid_t>& trees) {
    std::vector<pid_t> attached;
    for (bool found_new = !trees.empty(); found_new;) {
      found_new = false;
      if (inherit_) NoteForks();
      PROFILER_ASSIGN_OR_RETURN(const std::vector<pid_t> pids,
                                target::DescendantsOf(roots_, trees));
      for (const pid_t pid : pids) {
        if (known_.contains(pid)) continue;
        const absl::Status status = AttachProcess(pid);
        if (absl::IsNotFound(status)) continue;
        PROFILER_RETURN_IF_ERROR(status);
        attached.push_back(pid);
        found_new = true;
      }
    }
    return attached;
  }

  static absl::Status NoSuchProcess(pid_t pid) {
    return ErrnoStatus(ESRCH, absl::StrCat("process ", pid));
  }

 private:
  // Notes the threads that inherited their events.
  void NoteForks() {
    for (const ringbuf::EventSet::Ring& ring : events_.rings()) {
      ringbuf::RecordCursor cursor(ring.memory->view().Peek(), *bounce_);
      while (const auto record = cursor.Next()) {
        if (record->type() != perf_event::kRecordFork) continue;
        // struct { u32 pid, ppid, tid, ptid; u64 time; }
        uint32_t tid = 0;
        constexpr size_t kTidOffset = 8;
        if (record->body().size() < kTidOffset + sizeof(tid)) continue;
        std::memcpy(&tid, record->body().data() + kTidOffset, sizeof(tid));
        known_.insert(static_cast<pid_t>(tid));
      }
    }
  }

  const procfs::Roots& roots_;
  ringbuf::EventSet& events_;
  const bool inherit_;
  absl::flat_hash_set<pid_t> known_;
  std::unique_ptr<ringbuf::BounceBuffer> bounce_ = std::make_unique<ringbuf::BounceBuffer>();
};

}  // namespace

absl::StatusOr<std::vector<pid_t>> AttachThreads(const procfs::Roots& roots,
                                                 const target::Targets& targets, bool inherit,
                                                 ringbuf::EventSet& events) {
  Attacher attacher(roots, events, inherit);
  for (const pid_t pid : targets.pids) {
    const absl::Status attached = attacher.AttachProcess(pid);
    if (absl::IsNotFound(attached) && targets.pids_may_be_gone) continue;
    PROFILER_RETURN_IF_ERROR(attached);
  }
  for (const pid_t tid : targets.tids) PROFILER_RETURN_IF_ERROR(attacher.AttachOnce(tid));
  PROFILER_ASSIGN_OR_RETURN(std::vector<pid_t> of_trees, attacher.AttachTrees(targets.trees));
  if (!events.events().empty()) return of_trees;
  if (!targets.pids.empty()) return Attacher::NoSuchProcess(targets.pids.front());
  return ErrnoStatus(ESRCH, absl::StrCat("thread ", targets.tids.empty() ? 0 : targets.tids[0]));
}

}  // namespace profiler::record
