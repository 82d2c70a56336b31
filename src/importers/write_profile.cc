#include "src/importers/write_profile.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_data/write/writer.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/attr.h"
#include "src/format/perf_event/codec.h"
#include "src/format/perf_event/event_name.h"
#include "src/format/perf_event/records.h"
#include "src/importers/code_layout.h"
#include "src/importers/layout_names.h"
#include "symbolize/names/names_codec.h"

namespace profiler::importers {
namespace {

using perf_event::Attr;
using profile::Dimension;
using profile::Profile;
using profile::Row;
using profile::StackId;

// Limit for frames of a chain; perf_data/FORMAT.md explains it.
constexpr size_t kMostFrames = 8000;
constexpr size_t kLongestComm = 1000;
constexpr size_t kBytesAtOnce = size_t{1} << 20;
constexpr uint32_t kKernelPid = UINT32_MAX;
constexpr uint32_t kReadAndExecute = 5;  // PROT_READ | PROT_EXEC
constexpr uint32_t kPrivate = 2;         // MAP_PRIVATE
// Approximate size of a sample's record without its call chain.
constexpr uint64_t kBytesOfSample = 64;

Attr AttrOf(const Profile& profile, size_t index, bool has_times, bool has_cpus) {
  using namespace perf_event;  // NOLINT: the names of many bits
  const profile::Event& event = profile.events[index];
  const std::string_view name = profile.text(event.name);
  // An event with the name of a kernel event gets the type of that kernel event. For other events
  // only the name is known.
  Attr attr = FindKnownEvent(name.substr(0, name.find(':')))
                  .value_or(Attr{.type = kTypeRaw, .config = index});
  // For an event with a frequency, the sampling period is unknown.
  attr.sample_period = event.frequency ? 0 : 1;
  attr.sample_type = kSampleIdentifier | kSampleIp | kSampleTid | kSamplePeriod;
  if (has_times) attr.sample_type |= kSampleTime;
  if (has_cpus) attr.sample_type |= kSampleCpu;
  if (event.callchains) attr.sample_type |= kSampleCallchain;
  attr.flags = kAttrMmap | kAttrMmap2 | kAttrComm | kAttrSampleIdAll;
  if (event.frequency) attr.flags |= kAttrFreq;
  // This flag says that user callers are exact.
  if (event.callchains) attr.flags |= kAttrExcludeCallchainUser;
  return attr;
}

// The order of the samples to write, and whether each row is one sample.
struct SampleOrder {
  std::vector<uint32_t> rows;  // row of each sample
  bool rows_are_samples = false;
};

class ProfileWriter {
 public:
  ProfileWriter(const Profile& profile, const WriteProfileOptions& options)
      : profile_(profile),
        options_(options),
        layout_(LayOut(profile)),
        has_times_(!profile.column(Dimension::kTime).empty()),
        has_cpus_(!profile.column(Dimension::kCpu).empty()) {}

  absl::StatusOr<WrittenProfile> Write(const std::string& path) {
    PROFILER_RETURN_IF_ERROR(Open(path));
    FindSamples();
    FindMostFrames();
    AddThreads();
    AddMappings();
    for (size_t i = 0; i < order_.rows.size(); ++i) {
      if (writer_->bytes_written() + bytes_.size() > options_.most_recorded) {
        left_out_ = order_.rows.size() - i;
        order_.rows.resize(i);
        break;
      }
      PROFILER_RETURN_IF_ERROR(AddSample(i));
    }
    AddLosses();
    PROFILER_RETURN_IF_ERROR(Flush());
    return Finish();
  }

 private:
  absl::Status Open(const std::string& path) {
    std::vector<perf_data::EventToWrite> events;
    for (size_t i = 0; i < profile_.events.size(); ++i) {
      events.push_back({AttrOf(profile_, i, has_times_, has_cpus_),
                        std::string(profile_.text(profile_.events[i].name)),
                        {i + 1}});
      layouts_.emplace_back(events.back().attr);
    }
    PROFILER_ASSIGN_OR_RETURN(writer_, perf_data::Writer::Create(path, std::move(events), 0));
    return absl::OkStatus();
  }

  uint64_t TimeOf(uint32_t row) const {
    if (!has_times_) return 0;
    const uint32_t quantum = profile_.column(Dimension::kTime)[row];
    const std::vector<uint64_t>& begins = profile_.quanta.begins;
    return quantum < begins.size() ? begins[quantum] : 0;
  }

  // Finds the largest number of frames per chain with which all samples fit.
  void FindMostFrames() {
    const auto fits = [&](uint64_t frames) {
      uint64_t bytes = 0;
      for (const uint32_t row : order_.rows) {
        const uint64_t depth = profile_[profile_.rows[row].stack].depth;
        // A marker precedes each piece of another mode.
        bytes += kBytesOfSample + sizeof(uint64_t) * std::min(depth, frames);
        if (bytes > options_.most_recorded) return false;
      }
      return true;
    };
    if (fits(most_frames_)) return;
    size_t least = 1;
    while (least < most_frames_) {
      const size_t middle = (least + most_frames_ + 1) / 2;
      if (fits(middle)) {
        least = middle;
      } else {
        most_frames_ = middle - 1;
      }
    }
  }

  void FindSamples() {
    const uint64_t most_bytes = std::min(options_.most_bytes, options_.most_recorded);
    uint64_t samples = 0, bytes = 0;
    for (const Row& row : profile_.rows) {
      samples += std::min(row.count, options_.most_samples + 1);
      const uint64_t each = kBytesOfSample + sizeof(uint64_t) * profile_[row.stack].depth;
      bytes += std::min(row.count, options_.most_samples + 1) * each;
      if (samples > options_.most_samples || bytes > most_bytes) break;
    }
    order_.rows_are_samples = samples > options_.most_samples || bytes > most_bytes;
    for (uint32_t i = 0; i < profile_.rows.size(); ++i) {
      const Row& row = profile_.rows[i];
      if (row.count == 0 && row.period == 0) continue;
      const uint64_t count = order_.rows_are_samples ? 1 : std::max<uint64_t>(row.count, 1);
      order_.rows.insert(order_.rows.end(), count, i);
    }
    parts_written_.resize(order_.rows_are_samples ? 0 : profile_.rows.size());
    // The samples of one row may belong anywhere among other samples of the same time.
    const bool has_counts =
        std::ranges::any_of(profile_.rows, [](const Row& row) { return row.count > 1; });
    if (!has_times_ || has_counts) MixWithinThreads();
    if (!has_times_) return;
    std::stable_sort(order_.rows.begin(), order_.rows.end(),
                     [&](uint32_t a, uint32_t b) { return TimeOf(a) < TimeOf(b); });
  }

  void MixWithinThreads() {
    std::mt19937_64 random;  // NOLINT: the order has to be the same each time
    std::shuffle(order_.rows.begin(), order_.rows.end(), random);
    std::stable_sort(order_.rows.begin(), order_.rows.end(), [&](uint32_t a, uint32_t b) {
      return profile_.rows[a].thread < profile_.rows[b].thread;
    });
  }

  perf_event::SampleId IdAt(uint32_t pid, uint32_t tid, uint64_t time) const {
    return {.pid = pid, .tid = tid, .time = time, .id = 1, .cpu = profile::kNoCpu};
  }

  uint64_t FirstTime() const { return order_.rows.empty() ? 0 : TimeOf(order_.rows.front()); }

  template <class Record>
  void Add(uint32_t type, uint16_t misc, const Record& record, size_t event = 0) {
    if (!Encode(type, misc, layouts_[event], record, &bytes_)) ++too_long_;
  }

  // Names each thread at the beginning of the recording, with the first name that the thread had.
  void AddThreads() {
    for (uint32_t i = 0; i < profile_.threads.size(); ++i) {
      const profile::Thread& thread = profile_.threads[i];
      if (!comm_of_.contains(thread.tid)) NameThread(profile::ThreadId{i}, FirstTime());
    }
  }

  void NameThread(profile::ThreadId id, uint64_t time) {
    const profile::Thread& thread = profile_[id];
    comm_of_[thread.tid] = {thread.pid, thread.comm};
    Add(perf_event::kRecordComm, perf_event::kMiscUser,
        perf_event::Comm{.pid = thread.pid,
                         .tid = thread.tid,
                         .comm = profile_.text(thread.comm).substr(0, kLongestComm),
                         .sample_id = IdAt(thread.pid, thread.tid, time)});
  }

  // Adds to each process the mappings that its samples hit. Adds mappings of the kernel only once.
  void AddMappings() {
    absl::flat_hash_set<std::pair<uint32_t, uint32_t>> walked;  // pairs of process and stack
    absl::flat_hash_set<std::pair<uint32_t, uint32_t>> hit;     // pairs of process and mapping
    const auto hits = [&](uint32_t pid, profile::FrameId id) {
      const PlacedCode& code = layout_.frames[static_cast<uint32_t>(id)];
      if (code.mapping != PlacedCode::kNone)
        hit.insert({code.in_kernel ? kKernelPid : pid, code.mapping});
    };
    for (const Row& row : profile_.rows) {
      const uint32_t pid = profile_[row.thread].pid;
      hits(pid, row.self);
      for (StackId at = row.stack; at != profile::kNoStack; at = profile_[at].parent) {
        if (!walked.insert({pid, static_cast<uint32_t>(at)}).second) break;
        hits(pid, profile_[at].frame);
      }
    }
    const bool has_kernel_code = std::any_of(layout_.frames.begin(), layout_.frames.end(),
                                             [](const PlacedCode& code) { return code.in_kernel; });
    if (has_kernel_code) AddKernelMapping();
    std::vector<std::pair<uint32_t, uint32_t>> mapped(hit.begin(), hit.end());
    std::sort(mapped.begin(), mapped.end());
    for (const auto& [pid, mapping] : mapped) AddMapping(pid, layout_.mappings[mapping]);
  }

  // Adds a mapping of one byte that belongs to the kernel. Without any kernel mapping, readers
  // would assign all code without an image to the kernel.
  void AddKernelMapping() {
    constexpr uint64_t kNobodysCode = kMovedKernelCode - 1;
    perf_event::Mmap2 record{.pid = kKernelPid, .addr = kNobodysCode, .len = 1};
    record.prot = kReadAndExecute;
    record.filename = "[kernel.kallsyms]";
    record.sample_id = IdAt(kKernelPid, 0, FirstTime());
    Add(perf_event::kRecordMmap2, perf_event::kMiscKernel, record);
  }

  void AddMapping(uint32_t pid, const WrittenMapping& mapping) {
    const WrittenImage& image = layout_.images[mapping.image];
    const uint32_t tid = image.in_kernel ? 0 : pid;
    // Offset 0 in the kernel's record means that the address of _text is unknown.
    const bool is_kernel = image.spec.kind == symbolize::ImageKind::kKernel;
    perf_event::Mmap2 record{.pid = pid, .tid = tid};
    record.addr = mapping.start.value;
    record.len = mapping.size;
    record.pgoff = is_kernel ? 0 : mapping.page_offset;
    record.build_id = image.spec.build_id;
    record.prot = kReadAndExecute;
    record.flags = kPrivate;
    record.filename = image.filename;
    record.sample_id = IdAt(pid, tid, FirstTime());
    uint16_t misc = image.in_kernel ? perf_event::kMiscKernel : perf_event::kMiscUser;
    if (!record.build_id.empty()) misc |= perf_event::kMiscMmapBuildId;
    Add(perf_event::kRecordMmap2, misc, record);
  }

  absl::Status AddSample(size_t index) {
    const uint32_t number = order_.rows[index];
    const Row& row = profile_.rows[number];
    const profile::Thread& thread = profile_[row.thread];
    const auto named = comm_of_.find(thread.tid);
    if (named->second != std::pair(thread.pid, thread.comm)) {
      NameThread(row.thread, TimeOf(number));
    }
    MakeChain(row);
    const PlacedCode& self = layout_.frames[static_cast<uint32_t>(row.self)];
    const auto event = static_cast<size_t>(row.event);
    perf_event::Sample sample{.ip = self.address.value, .pid = thread.pid, .tid = thread.tid};
    sample.time = TimeOf(number);
    sample.id = event + 1;
    sample.cpu = profile_.CpuOf(number);
    sample.period = NextPeriod(number);
    sample.callchain = perf_event::U64Array(std::as_bytes(std::span(chain_)));
    Add(perf_event::kRecordSample, self.in_kernel ? perf_event::kMiscKernel : perf_event::kMiscUser,
        sample, event);
    return bytes_.size() < kBytesAtOnce ? absl::OkStatus() : Flush();
  }

  // Returns the period of a row's next sample. All samples of a row have equal periods, except that
  // the first one also gets the remainder.
  uint64_t NextPeriod(uint32_t number) {
    const Row& row = profile_.rows[number];
    if (order_.rows_are_samples || row.count <= 1) return row.period;
    const bool is_first = std::exchange(parts_written_[number], 1) == 0;
    return row.period / row.count + (is_first ? row.period % row.count : 0);
  }

  // Makes the chain of a row, leaf first, with a marker in front of each piece of one mode.
  void MakeChain(const Row& row) {
    chain_.clear();
    if (!profile_[row.event].callchains) return;
    std::optional<bool> in_kernel;
    size_t frames = 0;
    for (StackId at = row.stack; at != profile::kNoStack; at = profile_[at].parent) {
      if (++frames > most_frames_) {
        ++cut_chains_;
        break;
      }
      const PlacedCode& code = layout_.frames[static_cast<uint32_t>(profile_[at].frame)];
      const bool is_caller = in_kernel == code.in_kernel;
      if (!is_caller) {
        chain_.push_back(code.in_kernel ? perf_event::kContextKernel : perf_event::kContextUser);
      }
      // Readers take the addresses of callers in the kernel for return addresses, one byte after
      // the look-up.
      chain_.push_back(code.address.value + (is_caller && code.in_kernel ? 1 : 0));
      in_kernel = code.in_kernel;
    }
  }

  void AddLosses() {
    const profile::Losses& losses = profile_.losses;
    const uint64_t time = order_.rows.empty() ? 0 : TimeOf(order_.rows.back());
    if (losses.lost_records != 0) {
      Add(perf_event::kRecordLost, 0,
          perf_event::Lost{.id = 1, .lost = losses.lost_records, .sample_id = IdAt(0, 0, time)});
    }
    if (losses.lost_samples != 0) {
      Add(perf_event::kRecordLostSamples, 0,
          perf_event::LostSamples{.lost = losses.lost_samples, .sample_id = IdAt(0, 0, time)});
    }
  }

  absl::Status Flush() {
    const std::span<const std::byte> piece = bytes_;
    PROFILER_RETURN_IF_ERROR(writer_->Append({&piece, 1}));
    bytes_.clear();
    return absl::OkStatus();
  }

  absl::StatusOr<WrittenProfile> Finish() {
    perf_data::Features features = options_.features;
    features.other[perf_data::kFeatureNames] = symbolize::EncodeNames(NamesOf(profile_, layout_));
    if (has_times_ && !order_.rows.empty()) {
      features.sample_time = {FirstTime(), TimeOf(order_.rows.back())};
    }
    PROFILER_RETURN_IF_ERROR(writer_->Finish(features));
    if (options_.sums) {
      if (const std::optional<std::string> sums = options_.sums()) {
        PROFILER_RETURN_IF_ERROR(writer_->AppendSection(perf_data::kFeatureSums, *sums));
      }
    }
    WrittenProfile written{.samples = order_.rows.size(),
                           .bytes = writer_->bytes_written(),
                           .rows_are_samples = order_.rows_are_samples};
    const auto is_of_several = [](const Row& row) { return row.count > 1; };
    if (order_.rows_are_samples && std::ranges::any_of(profile_.rows, is_of_several)) {
      written.warnings.push_back(
          absl::StrCat("its samples are too many to be written one by one: each of ",
                       order_.rows.size(), " rows is one sample, with the period of all"));
    }
    if (cut_chains_ != 0) {
      written.warnings.push_back(absl::StrCat(cut_chains_, " call chains have more than ",
                                              most_frames_, " frames: the outermost are missing"));
    }
    if (left_out_ != 0) {
      written.warnings.push_back(
          absl::StrCat(left_out_,
                       " samples are left out, because "
                       "they expand to too many records for a file of this size"));
    }
    if (too_long_ != 0) {
      written.warnings.push_back(absl::StrCat(too_long_, " records are too long and left out"));
    }
    return written;
  }

  const Profile& profile_;
  const WriteProfileOptions& options_;
  const CodeLayout layout_;
  const bool has_times_, has_cpus_;
  std::unique_ptr<perf_data::Writer> writer_;
  std::vector<perf_event::RecordLayout> layouts_;  // one for each event
  SampleOrder order_;
  std::vector<uint8_t> parts_written_;  // one for each row: 1 if its first sample is written
  std::map<uint32_t, std::pair<uint32_t, StringId>> comm_of_;  // keyed by tid: present pid and name
  std::vector<std::byte> bytes_;                               // records that are not written yet
  std::vector<uint64_t> chain_;
  size_t most_frames_ = kMostFrames;
  uint64_t cut_chains_ = 0, too_long_ = 0, left_out_ = 0;
};

}  // namespace

uint64_t MostRecordedOf(uint64_t input) {
  constexpr uint64_t kAlways = uint64_t{256} << 20, kMost = uint64_t{4} << 30, kTimes = 64;
  return std::clamp(input > kMost / kTimes ? kMost : input * kTimes, kAlways, kMost);
}

absl::StatusOr<WrittenProfile> WriteProfile(const Profile& profile, const std::string& path,
                                            const WriteProfileOptions& options) {
  return ProfileWriter(profile, options).Write(path);
}

}  // namespace profiler::importers
