#include "src/fleet/push/segment_delivery.h"

#include <algorithm>
#include <random>
#include <utility>

#include "absl/container/flat_hash_set.h"

namespace profiler::fleet {
namespace {

using Progress = SegmentDelivery::Progress;

constexpr size_t kMostSegments = 256;  // limit of a batch
constexpr double kShortest = 0.5;      // waits are shortened at random, at most to this part
constexpr double kLateByChance = 0.1;  // part of a server's wait that is added at random
// Directories contain tens of thousands of segments. Look() usually lists only segments that are at
// most kLate older than the newest one. Every kLookAtAll it lists all segments, because a clock may
// have been set back.
constexpr UnixTime kLate = UnixTime{3600} * 1'000'000'000;
constexpr SegmentDelivery::Duration kLookAtAll = std::chrono::minutes(10);

absl::flat_hash_set<std::string> NamesOf(const std::vector<SegmentFile>& files) {
  absl::flat_hash_set<std::string> names;
  names.reserve(files.size());
  for (const SegmentFile& file : files) names.insert(file.name);
  return names;
}

bool ComesBefore(const SegmentFile& a, const SegmentFile& b) { return a.name < b.name; }

}  // namespace

SegmentDelivery::World SegmentDelivery::RealWorld() {
  auto generator = std::make_shared<std::mt19937_64>(std::random_device()());
  return {
      .now = [] { return Duration(std::chrono::steady_clock::now().time_since_epoch()); },
      .unix_now =
          [] {
            return UnixTime{
                std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch())
                    .count()};
          },
      .random = [generator] { return std::uniform_real_distribution<double>(0, 1)(*generator); }};
}

SegmentDelivery::SegmentDelivery(const SegmentDirectory& directory, Sender& sender,
                                 Listener& listener, const Options& options, World world,
                                 PushJournal journal)
    : directory_(directory),
      sender_(sender),
      listener_(listener),
      options_(options),
      world_(std::move(world)),
      journal_(std::move(journal)) {}

absl::StatusOr<std::unique_ptr<SegmentDelivery>> SegmentDelivery::Open(
    const SegmentDirectory& directory, const std::string& destination, Sender& sender,
    Listener& listener, const Options& options, World world) {
  PROFILER_ASSIGN_OR_RETURN(const Files files, directory.List(INT64_MIN, INT64_MAX));
  PROFILER_ASSIGN_OR_RETURN(PushJournal journal,
                            PushJournal::Open(directory.path(), destination, NamesOf(files)));
  std::unique_ptr<SegmentDelivery> delivery(new SegmentDelivery(
      directory, sender, listener, options, std::move(world), std::move(journal)));
  delivery->Take(files);
  return delivery;
}

// Takes the segments that were listed when the journal was opened. For segments that an earlier
// process delivered, calls OnDelivered again, so that the spool learns that they are delivered.
void SegmentDelivery::Take(const Files& files) {
  const auto& flight = journal_.in_flight();
  Files again;
  for (const SegmentFile& file : files) {
    if (std::ranges::find(flight, file.name) != flight.end()) {
      again.push_back(file);
    } else if (!journal_.IsDone(file.name)) {
      pending_.push_back(file);
    } else if (!journal_.IsSkipped(file.name)) {
      listener_.OnDelivered(file);
    }
    newest_ = std::max(newest_, file.begin);
  }
  Count([&](Counters& counters) { counters.gone += flight.size() - again.size(); });
  if (!again.empty()) parts_.push_back(std::move(again));
  looked_at_all_ = pending_since_ = world_.now();
}

size_t SegmentDelivery::pending() const {
  size_t segments = pending_.size() + batch_.size();
  for (const Files& part : parts_) segments += part.size();
  return segments;
}

SegmentDelivery::Counters SegmentDelivery::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

absl::StatusOr<Progress> SegmentDelivery::Step() {
  const Duration now = world_.now();
  if (now < not_before_) return Progress{Progress::Kind::kWaits, not_before_ - now};
  if (batch_.empty()) {
    PROFILER_ASSIGN_OR_RETURN(const Progress filled, Fill());
    if (batch_.empty()) return filled;
  }
  PROFILER_RETURN_IF_ERROR(Attempt());
  return Progress{Progress::Kind::kWorked};
}

// Finds segments that were added to the directory.
absl::Status SegmentDelivery::Look() {
  const Duration now = world_.now();
  const bool at_all = now - *looked_at_all_ >= kLookAtAll;
  const UnixTime since = at_all || newest_ < INT64_MIN + kLate ? INT64_MIN : newest_ - kLate;
  PROFILER_ASSIGN_OR_RETURN(const Files files, directory_.List(since, INT64_MAX));
  if (at_all) {
    journal_.KeepOnly(NamesOf(files));
    looked_at_all_ = now;
  }
  const auto known = NamesOf(Files(pending_.begin(), pending_.end()));
  if (pending_.empty()) pending_since_ = now;
  for (const SegmentFile& file : files) {
    newest_ = std::max(newest_, file.begin);
    if (!journal_.IsDone(file.name) && !known.contains(file.name)) pending_.push_back(file);
  }
  std::ranges::sort(pending_, ComesBefore);
  return absl::OkStatus();
}

// Returns the first pending segments, up to a full batch.
SegmentDelivery::Files SegmentDelivery::NextFiles(bool* is_full) const {
  Files files;
  uint64_t rows = 0, bytes = 0;
  *is_full = true;
  for (const SegmentFile& file : pending_) {
    const auto head = directory_.ReadHead(file);
    rows += head.ok() ? head->rows : 0;
    bytes += file.bytes;
    const bool fits = rows <= sender_.RowsOfBatch() && bytes <= options_.most_bytes;
    if (!files.empty() && (!fits || files.size() == kMostSegments)) return files;
    files.push_back(file);
  }
  *is_full = rows >= sender_.RowsOfBatch() || bytes >= options_.most_bytes;
  return files;
}

// Begins a batch from a part of a refused batch, or from pending segments. Leaves the batch empty
// if there are no segments.
absl::StatusOr<Progress> SegmentDelivery::Fill() {
  constexpr Progress kDid = {Progress::Kind::kWorked};
  if (!parts_.empty()) {
    PROFILER_RETURN_IF_ERROR(Load(parts_.back()));
    parts_.pop_back();
    return kDid;
  }
  bool is_full = false;
  Files files = NextFiles(&is_full);
  if (!is_full && (files.empty() || options_.linger > Duration(0))) {
    PROFILER_RETURN_IF_ERROR(Look());
    files = NextFiles(&is_full);
  }
  if (files.empty()) return Progress{Progress::Kind::kIdle};
  const Duration waited = world_.now() - pending_since_;
  if (!is_full && waited < options_.linger) {
    return Progress{Progress::Kind::kIdle, options_.linger - waited};
  }
  PROFILER_RETURN_IF_ERROR(Load(files));
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<ptrdiff_t>(files.size()));
  pending_since_ = world_.now();
  return kDid;
}

// Reads the segments into the batch, which stays empty if there is an error.
absl::Status SegmentDelivery::Load(const Files& files) {
  absl::Status status;
  for (const SegmentFile& file : files) {
    auto window = directory_.Read(file);
    if (window.ok()) {
      batch_.push_back({file, window->rows.size(), SamplesOf(*window)});
      windows_.push_back(*std::move(window));
    } else if (absl::IsNotFound(window.status())) {
      Count([](Counters& counters) { ++counters.gone; });
    } else if (absl::IsDataLoss(window.status())) {
      Count([](Counters& counters) { ++counters.damaged; });
      status.Update(Skip(file, std::string(window.status().message())));
    } else {
      status.Update(window.status());
    }
  }
  if (!status.ok()) Clear();
  return status;
}

void SegmentDelivery::Clear() {
  batch_.clear();
  windows_.clear();
  is_begun_ = false;
}

absl::Status SegmentDelivery::Attempt() {
  if (!is_begun_) {
    std::vector<std::string> names;
    for (const Item& item : batch_) names.push_back(item.file.name);
    PROFILER_RETURN_IF_ERROR(journal_.Begin(names));
    is_begun_ = true;
  }
  const Delivery delivery = sender_.Send(windows_);
  Count([](Counters& counters) { ++counters.attempts; });
  switch (delivery.outcome) {
    case Delivery::Outcome::kDelivered:
      return Delivered(delivery);
    case Delivery::Outcome::kRefused:
      return Refused(delivery);
    case Delivery::Outcome::kTryAgain:
      break;
  }
  Failed(delivery);
  return absl::OkStatus();
}

absl::Status SegmentDelivery::Delivered(const Delivery& delivery) {
  failures_in_row_ = refusals_in_row_ = 0;
  Count([&](Counters& counters) {
    for (const Item& item : batch_) {
      counters.samples += item.samples;
      counters.rows += item.rows;
    }
    counters.segments += batch_.size();
    ++counters.batches;
    counters.last_success = world_.unix_now();
  });
  const absl::Status written = journal_.Done();
  if (!delivery.reason.empty()) listener_.OnRemark(delivery.reason);
  for (const Item& item : batch_) listener_.OnDelivered(item.file);
  Clear();
  return written;
}

// Handles a refused batch. The server has read the batch, so the fault is in a segment. Halving the
// batch finds this segment.
absl::Status SegmentDelivery::Refused(const Delivery& delivery) {
  failures_in_row_ = 0;
  if (batch_.size() > 1) {
    Files first, second;
    for (size_t i = 0; i < batch_.size(); ++i) {
      (i < batch_.size() / 2 ? first : second).push_back(batch_[i].file);
    }
    parts_.push_back(std::move(second));
    parts_.push_back(std::move(first));
    Clear();
    return absl::OkStatus();
  }
  const SegmentFile file = batch_.front().file;
  Clear();
  Count([](Counters& counters) { ++counters.refused; });
  if (refusals_in_row_ > 0) not_before_ = world_.now() + BackOff(refusals_in_row_);
  ++refusals_in_row_;
  return Skip(file, delivery.reason);
}

absl::Status SegmentDelivery::Skip(const SegmentFile& file, const std::string& reason) {
  listener_.OnSkipped(file, reason);
  return journal_.Skip(file.name, reason);
}

void SegmentDelivery::Failed(const Delivery& delivery) {
  ++failures_in_row_;
  Count([](Counters& counters) { ++counters.failures; });
  Duration wait = BackOff(failures_in_row_);
  if (delivery.wait) {
    const Duration asked = std::min<Duration>(*delivery.wait, options_.most_asked_wait);
    const double late = kLateByChance * world_.random() * static_cast<double>(asked.count());
    wait = std::max(wait, asked + Duration(static_cast<int64_t>(late)));
  }
  not_before_ = world_.now() + wait;
  listener_.OnFailure(delivery.reason, failures_in_row_, wait);
}

SegmentDelivery::Duration SegmentDelivery::BackOff(uint64_t failures) const {
  constexpr uint64_t kMostDoublings = 30;
  Duration wait = options_.least_wait;
  for (uint64_t i = 1; i < std::min(failures, kMostDoublings) && wait < options_.most_wait; ++i) {
    wait *= 2;
  }
  wait = std::min(wait, options_.most_wait);
  const double part = kShortest + (1 - kShortest) * world_.random();
  return Duration(static_cast<int64_t>(part * static_cast<double>(wait.count())));
}

}  // namespace profiler::fleet
