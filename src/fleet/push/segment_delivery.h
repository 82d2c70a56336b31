// Delivers the segments of a directory to one destination, each at least once, in their order:
//
//   pending ──▶ batch ──▶ journal ──▶ Sender::Send ──▶ delivered    journal, next batch
//                 ▲      "flight …"       │
//                 │                       ├──▶ try again   the same batch, after a while
//                 └── each half of it ◀───┴──▶ refused     a single segment is skipped and reported
//
// The journal records a batch before it is sent. So if the process is killed, its successor sends
// exactly the same batch again, and a server that detects repeated batches counts nothing twice. It
// is no error if a segment disappears meanwhile; the other segments of its batch become a batch.
//
// Each failure in a row doubles the wait, up to a limit. Waits are shortened at random, so that a
// thousand machines do not return at the same moment after a server's outage. If a server says when
// to try again, the batch waits at least until then. Several refused segments in a row also cause
// waits, because then the fault is probably the server's and not the segments'.
//
// The functions here do not sleep and change no segments. The Listener tells the owner of the spool
// which segments are delivered and which segments a server refuses.

#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/status.h"
#include "src/fleet/push/journal.h"
#include "src/fleet/push/sender.h"
#include "src/fleet/segments/segment_directory.h"
#include "src/fleet/segments/window.h"

namespace profiler::fleet {

class SegmentDelivery {
 public:
  using Duration = std::chrono::nanoseconds;

  // The environment of a delivery, which tests replace.
  struct World {
    std::function<Duration()> now;       // a monotonic clock
    std::function<UnixTime()> unix_now;  // used only for Counters::last_success
    std::function<double()> random;      // in [0, 1)
  };
  static World RealWorld();

  struct Options {
    Duration least_wait = std::chrono::seconds(1);
    Duration most_wait = std::chrono::minutes(5);
    // Limit of a wait that a server asks for.
    Duration most_asked_wait = std::chrono::hours(1);
    // Limit of the size of a batch's files, in bytes. In memory, its segments take a
    // dozen times as much.
    uint64_t most_bytes = uint64_t{1} << 20;
    // Longest time that a segment waits for further segments, so that batches reach the size that
    // the server prefers. A full batch does not wait.
    Duration linger{0};
  };

  // Callbacks of Step, on its thread.
  class Listener {
   public:
    virtual ~Listener() = default;
    // The segment is delivered.
    virtual void OnDelivered(const SegmentFile& /*file*/) {}
    // The segment will not be sent, because the server refuses it or it is damaged.
    virtual void OnSkipped(const SegmentFile& /*file*/, std::string_view /*reason*/) {}
    // A batch has failed for the `failures`-th time in a row, and waits for `wait`.
    virtual void OnFailure(std::string_view /*reason*/, uint64_t /*failures*/, Duration /*wait*/) {}
    // Segments are delivered, and the server made a remark.
    virtual void OnRemark(std::string_view /*remark*/) {}
  };

  struct Counters {
    uint64_t segments = 0, samples = 0, rows = 0, batches = 0;  // were delivered
    uint64_t attempts = 0;
    uint64_t failures = 0;      // attempts whose batch has to be sent again
    uint64_t refused = 0;       // segments that the server will never take
    uint64_t damaged = 0;       // segments that cannot be read
    uint64_t gone = 0;          // segments that were removed before they could be sent
    UnixTime last_success = 0;  // 0: never
  };

  // The result of one step.
  struct Progress {
    enum class Kind {
      kWorked,  // there may be more to do at once
      // Nothing can be sent now; `wait` is set if segments wait until a batch is full.
      kIdle,
      kWaits,  // nothing to do until `wait` is over
    };
    Kind kind = Kind::kIdle;
    Duration wait{0};
  };

  // Opens a delivery. All arguments must outlive it. `destination` determines the journal. Errors:
  // those of PushJournal::Open and SegmentDirectory::List.
  static absl::StatusOr<std::unique_ptr<SegmentDelivery>> Open(const SegmentDirectory& directory,
                                                               const std::string& destination,
                                                               Sender& sender, Listener& listener,
                                                               const Options& options,
                                                               World world = RealWorld());

  // Sends at most one batch, and blocks until it is answered. Errors: those of the journal and of
  // listing the directory. After an error nothing is lost, and the step can be repeated.
  absl::StatusOr<Progress> Step();

  // Returns the number of unsent segments that Step has seen. Call it on Step's thread.
  size_t pending() const;
  // Returns the number of failures in a row.
  uint64_t failures_in_row() const { return failures_in_row_; }
  // Thread-safe.
  Counters counters() const;

 private:
  // A segment that is being sent.
  struct Item {
    SegmentFile file;
    uint64_t rows = 0, samples = 0;
  };
  using Files = std::vector<SegmentFile>;

  SegmentDelivery(const SegmentDirectory& directory, Sender& sender, Listener& listener,
                  const Options& options, World world, PushJournal journal);

  // Choosing a batch:
  absl::Status Look();
  void Take(const Files& files);
  Files NextFiles(bool* is_full) const;
  absl::Status Load(const Files& files);
  absl::StatusOr<Progress> Fill();
  // Handling its outcome:
  absl::Status Attempt();
  absl::Status Delivered(const Delivery& delivery);
  absl::Status Refused(const Delivery& delivery);
  absl::Status Skip(const SegmentFile& file, const std::string& reason);
  void Failed(const Delivery& delivery);
  Duration BackOff(uint64_t failures) const;
  void Clear();

  template <class Change>
  void Count(Change change) {
    const std::lock_guard lock(mutex_);
    change(counters_);
  }

  const SegmentDirectory& directory_;
  Sender& sender_;
  Listener& listener_;
  const Options options_;
  const World world_;
  PushJournal journal_;

  std::deque<SegmentFile> pending_;  // sorted by name
  // Time at which pending_ became non-empty, or at which the last batch was taken from it.
  Duration pending_since_{0};
  UnixTime newest_ = INT64_MIN;  // the latest begin of all segments seen
  std::optional<Duration> looked_at_all_;
  std::vector<Files> parts_;  // parts of refused batches; the last one is sent next
  // The batch in flight. is_begun_ is true if the journal contains the batch.
  std::vector<Item> batch_;
  std::vector<Window> windows_;
  bool is_begun_ = false;
  Duration not_before_{0};
  uint64_t failures_in_row_ = 0, refusals_in_row_ = 0;

  mutable std::mutex mutex_;
  Counters counters_;
};

}  // namespace profiler::fleet
