// Brings the segments of a directory to one destination, each at least once, in their order:
//
//   pending ──▶ batch ──▶ journal ──▶ Sender::Send ──▶ delivered    journal, next batch
//                 ▲      "flight …"       │
//                 │                       ├──▶ try again   the same batch, after a while
//                 └── each half of it ◀───┴──▶ refused     a single segment is skipped, and said
//
// What is in flight is written down first, so that whoever was killed sends the very same batch
// again, and a server that tells batches apart counts nothing twice. A segment that has gone
// meanwhile is no error; of a batch in flight, the rest is a batch of its own then.
//
// Waiting is doubled with each failure in a row, up to a limit, and each is shorter by chance, so
// that a thousand machines do not come back at once when a server does. A server that says when it
// wants to be asked again is asked no sooner. Segments that are refused one after the other make
// it wait as well: then it is the server that is wrong more often than the segments.
//
// Nothing here sleeps, and it changes no segment: whoever owns the spool is told (Listener) which
// may go and which a server will not take.

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
#include "src/fleet/segment_directory.h"
#include "src/fleet/window.h"

namespace profiler::fleet {

class SegmentDelivery {
 public:
  using Duration = std::chrono::nanoseconds;

  // The world around it, which a test makes itself.
  struct World {
    std::function<Duration()> now;       // of a clock that nobody sets
    std::function<UnixTime()> unix_now;  // for Counters::last_success alone
    std::function<double()> random;      // in [0, 1)
  };
  static World RealWorld();

  struct Options {
    Duration least_wait = std::chrono::seconds(1);
    Duration most_wait = std::chrono::minutes(5);
    // What a server asks for is not waited for longer than this.
    Duration most_asked_wait = std::chrono::hours(1);
    // Of the files of a batch, which take a dozen times as much memory.
    uint64_t most_bytes = uint64_t{1} << 20;
    // How long a segment may wait for others, so that batches are as large as the server likes
    // them. A batch that is full does not wait.
    Duration linger{0};
  };

  // Called in Step, on its thread.
  class Listener {
   public:
    virtual ~Listener() = default;
    // The server has it.
    virtual void OnDelivered(const SegmentFile& /*file*/) {}
    // It will not be sent: the server will not take it, or it is damaged.
    virtual void OnSkipped(const SegmentFile& /*file*/, std::string_view /*reason*/) {}
    // A batch has to wait; `failures` of them in a row.
    virtual void OnFailure(std::string_view /*reason*/, uint64_t /*failures*/, Duration /*wait*/) {}
    // Segments are delivered, with a remark of the server.
    virtual void OnRemark(std::string_view /*remark*/) {}
  };

  struct Counters {
    uint64_t segments = 0, samples = 0, rows = 0, batches = 0;  // delivered
    uint64_t attempts = 0;
    uint64_t failures = 0;      // attempts after which the same has to be sent again
    uint64_t refused = 0;       // segments that the server will never take
    uint64_t damaged = 0;       // segments that cannot be read
    uint64_t gone = 0;          // segments that were dropped before they could be sent
    UnixTime last_success = 0;  // 0: never
  };

  // What one step came to.
  struct Progress {
    enum class Kind {
      kWorked,  // there may be more to do at once
      kIdle,    // all has been sent; `wait` if segments wait for others
      kWaits,   // until `wait` is over
    };
    Kind kind = Kind::kIdle;
    Duration wait{0};
  };

  // All must live as long as it. `destination` names the journal. Errors: those of
  // PushJournal::Open and SegmentDirectory::List.
  static absl::StatusOr<std::unique_ptr<SegmentDelivery>> Open(const SegmentDirectory& directory,
                                                               const std::string& destination,
                                                               Sender& sender, Listener& listener,
                                                               const Options& options,
                                                               World world = RealWorld());

  // Sends one batch at most, and blocks as long as that takes. Errors: those of the journal and of
  // listing the directory; nothing is lost then, and the step can be tried again.
  absl::StatusOr<Progress> Step();

  // How many segments are not sent yet, as far as it has looked. From the thread of Step.
  size_t pending() const;
  // Failures in a row.
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

  // What a batch is made of.
  absl::Status Look();
  void Take(const Files& files);
  Files NextFiles(bool* is_full) const;
  absl::Status Load(const Files& files);
  absl::StatusOr<Progress> Fill();
  // What becomes of it.
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

  std::deque<SegmentFile> pending_;  // by name
  Duration pending_since_{0};        // that there are some
  UnixTime newest_ = INT64_MIN;      // of all that were seen
  std::optional<Duration> looked_at_all_;
  std::vector<Files> parts_;  // of a batch that was refused, the next one last
  // That is being sent, and whether the journal says so.
  std::vector<Item> batch_;
  std::vector<Window> windows_;
  bool is_begun_ = false;
  Duration not_before_{0};
  uint64_t failures_in_row_ = 0, refusals_in_row_ = 0;

  mutable std::mutex mutex_;
  Counters counters_;
};

}  // namespace profiler::fleet
