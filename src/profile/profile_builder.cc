#include "src/profile/profile_builder.h"

#include <time.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/perf_event/abi.h"
#include "src/perf_event/records.h"
#include "src/profile/broken_chains.h"
#include "src/profile/chain_resolver.h"
#include "src/profile/deferred_samples.h"
#include "src/profile/frame_namer.h"
#include "src/profile/image_shares.h"
#include "src/profile/image_table.h"
#include "src/profile/jit_codes.h"
#include "src/profile/row_table.h"
#include "src/profile/sum_samples.h"
#include "src/profile/thread_table.h"
#include "src/profile/user_unwinder.h"
#include "symbolize/address_space.h"

namespace profiler::profile {
namespace {

using perf_event::RawRecord;
using perf_event::RecordLayout;
using perf_event::U64Array;

Mode ModeOf(uint16_t misc) {
  switch (misc & perf_event::kMiscCpumodeMask) {
    case perf_event::kMiscKernel:
      return Mode::kKernel;
    case perf_event::kMiscUser:
      return Mode::kUser;
    case perf_event::kMiscHypervisor:
      return Mode::kHypervisor;
    case perf_event::kMiscGuestKernel:
      return Mode::kGuestKernel;
    case perf_event::kMiscGuestUser:
      return Mode::kGuestUser;
    default:
      return Mode::kUnknown;
  }
}

// An MMAP says less than an MMAP2.
perf_event::Mmap2 Widened(const perf_event::Mmap& mmap) {
  return {.pid = mmap.pid,
          .tid = mmap.tid,
          .addr = mmap.addr,
          .len = mmap.len,
          .pgoff = mmap.pgoff,
          .filename = mmap.filename};
}

}  // namespace

class ProfileBuilder::Impl {
 public:
  Impl(symbolize::Symbolizer& symbolizer, BuilderOptions options)
      : options_(std::move(options)),
        symbolizer_(symbolizer),
        images_(profile_, symbolizer),
        threads_(profile_, !options_.keep_thread),
        chains_(profile_, images_, spaces_, options_.max_stack, options_.keep_addresses),
        user_unwinder_(symbolizer, spaces_, options_.architecture, options_.files),
        namer_(profile_, images_, symbolizer),
        rows_(profile_, options_.keep_cpu) {}

  EventId AddEvent(std::string_view name, const perf_event::Attr& attr);
  void AddBuildId(std::string_view filename, std::span<const std::byte> build_id);
  void Add(RawRecord record, uint32_t event, uint64_t time);
  const Profile& profile() {
    CountBatch();
    return profile_;
  }
  std::vector<ImageShare> ImageShares();
  bool TakesSums() const;
  std::optional<SampleSums> Sums();
  bool AddSums(SampleSums sums);
  Profile Finish();
  FrameId FrameAt(uint32_t pid, uint64_t address);
  ThreadId ThreadOf(uint32_t pid, uint32_t tid) { return threads_.Find(pid, tid); }

 private:
  struct EventLayout {
    RecordLayout layout;
    uint64_t period;  // of a sample that does not say
    bool monotonic;   // times are of CLOCK_MONOTONIC
  };

  // Decodes a record and hands it on, or counts that it could not be.
  template <class Record, class Use>
  void Decoded(RawRecord raw, const RecordLayout& layout, Use use) {
    Record record;
    if (Decode(raw, layout, &record)) {
      use(record);
    } else {
      ++profile_.losses.undecodable;
    }
  }

  void AddSideband(RawRecord record, const EventLayout& event);
  void AddMapping(uint16_t misc, const perf_event::Mmap2& mmap, bool monotonic);
  void AddJitDump(const perf_event::Mmap2& mmap, bool monotonic);
  void AddKernelMapping(const perf_event::Mmap2& mmap);
  void SetKernelReference(std::string_view symbol, RuntimeAddress address);
  void AddKernelSymbol(RuntimeAddress start, uint64_t size, std::string_view name);
  void PlaceKernel();
  bool IsBpf(const symbolize::Mapping* mapping) const;
  void AddComm(uint16_t misc, const perf_event::Comm& comm);
  void AddFork(uint16_t misc, const perf_event::Task& task);
  void AddKsymbol(const perf_event::Ksymbol& symbol);

  void AddSample(RawRecord record, uint32_t event, uint64_t time);
  void CountSample(uint16_t misc, const perf_event::Sample& sample, uint32_t event, uint64_t time);
  SampleRow CountBatch();
  void CountRest();
  const symbolize::AddressSpace* SpaceBeforeExec(uint16_t misc, const perf_event::Sample& sample);
  void ShowSample(const perf_event::Sample& sample, EventId event);
  void AddDeferred(const perf_event::CallchainDeferred& deferred);
  // `user`: the part of the call chain that they waited for; empty where it never came.
  void CountDeferred(const std::vector<DeferredSample>& samples, U64Array user);

  const BuilderOptions options_;
  symbolize::Symbolizer& symbolizer_;
  Profile profile_;
  symbolize::AddressSpaces spaces_;
  ImageTable images_;
  JitCodes jit_codes_;
  ThreadTable threads_;
  ChainResolver chains_;
  UserUnwinder user_unwinder_;
  FrameNamer namer_;
  DeferredSamples deferred_;
  std::vector<EventLayout> events_;
  RowTable rows_;
  perf_event::Sample decoded_;    // the one at hand: Decode clears it, so that nobody else has to
  std::vector<SampleRow> batch_;  // of the samples that chains_ has taken on
  SampleSums sums_;               // what of them is in no profile: all that is said of the kernel
  bool kernel_is_placed_ = false;
};

EventId ProfileBuilder::Impl::AddEvent(std::string_view name, const perf_event::Attr& attr) {
  // perf takes the field for the period whatever it is; so does its report.
  const bool monotonic = attr.has(perf_event::kAttrUseClockid) && attr.clockid == CLOCK_MONOTONIC;
  events_.push_back({RecordLayout(attr), attr.sample_period, monotonic});
  profile_.events.push_back({.name = profile_.strings.Intern(name),
                             .frequency = attr.has(perf_event::kAttrFreq),
                             .callchains = (attr.sample_type & perf_event::kSampleCallchain) != 0});
  return EventId(static_cast<uint32_t>(profile_.events.size() - 1));
}

void ProfileBuilder::Impl::AddBuildId(std::string_view filename,
                                      std::span<const std::byte> build_id) {
  images_.AddBuildId(filename, build_id);
}

void ProfileBuilder::Impl::Add(RawRecord record, uint32_t event, uint64_t time) {
  if (record.type() >= perf_event::kRecordUserFirst) {
    if (record.type() > perf_event::kRecordCompressed2) ++profile_.losses.unknown_records;
    return;
  }
  if (event >= events_.size()) {
    ++profile_.losses.undecodable;
    return;
  }
  if (time >= jit_codes_.next()) [[unlikely]] {
    CountBatch();
    jit_codes_.PlaceUntil(time, spaces_);
  }
  if (record.type() == perf_event::kRecordSample) {
    AddSample(record, event, time);
  } else {
    CountBatch();
    AddSideband(record, events_[event]);
  }
}

void ProfileBuilder::Impl::AddSideband(RawRecord record, const EventLayout& event) {
  const RecordLayout& layout = event.layout;
  const uint16_t misc = record.misc();
  Losses& losses = profile_.losses;
  switch (record.type()) {
    case perf_event::kRecordMmap:
      return Decoded<perf_event::Mmap>(record, layout, [&](const auto& mmap) {
        AddMapping(misc, Widened(mmap), event.monotonic);
      });
    case perf_event::kRecordMmap2:
      return Decoded<perf_event::Mmap2>(
          record, layout, [&](const auto& mmap) { AddMapping(misc, mmap, event.monotonic); });
    case perf_event::kRecordComm:
      return Decoded<perf_event::Comm>(record, layout,
                                       [&](const auto& comm) { AddComm(misc, comm); });
    case perf_event::kRecordFork:
      return Decoded<perf_event::Task>(record, layout,
                                       [&](const auto& task) { AddFork(misc, task); });
    case perf_event::kRecordExit:
      return Decoded<perf_event::Task>(record, layout, [&](const auto& task) {
        if (task.pid == task.tid) spaces_.Exit(task.pid);
      });
    case perf_event::kRecordKsymbol:
      return Decoded<perf_event::Ksymbol>(record, layout,
                                          [&](const auto& symbol) { AddKsymbol(symbol); });
    case perf_event::kRecordCallchainDeferred:
      return Decoded<perf_event::CallchainDeferred>(
          record, layout, [&](const auto& deferred) { AddDeferred(deferred); });
    case perf_event::kRecordLost:
      return Decoded<perf_event::Lost>(record, layout, [&](const auto& lost) {
        ++losses.lost_events;
        losses.lost_records += lost.lost;
      });
    case perf_event::kRecordLostSamples:
      return Decoded<perf_event::LostSamples>(
          record, layout, [&](const auto& lost) { losses.lost_samples += lost.lost; });
    case perf_event::kRecordThrottle:
      ++losses.throttled;
      return;
    default:
      if (record.type() == 0 || record.type() > perf_event::kRecordCallchainDeferred) {
        ++losses.unknown_records;
      }
  }
}

void ProfileBuilder::Impl::AddMapping(uint16_t misc, const perf_event::Mmap2& mmap,
                                      bool monotonic) {
  switch (ModeOf(misc)) {
    case Mode::kUser:
    case Mode::kUnknown:
      break;
    case Mode::kKernel:
      return AddKernelMapping(mmap);
    default:
      return;  // of a guest, whose addresses are not looked up
  }
  if (IsJitDump(mmap.filename)) return AddJitDump(mmap, monotonic);
  symbolize::AddressSpace& process = spaces_.Process(mmap.pid);
  if ((misc & perf_event::kMiscMmapData) != 0) {
    process.Unmap(RuntimeAddress{mmap.addr}, mmap.len);  // whatever code was there is gone
  } else {
    process.Map(images_.UserMapping(mmap));
  }
}

// Where the recording has another clock than the dump, the code that lay last at an address counts.
void ProfileBuilder::Impl::AddJitDump(const perf_event::Mmap2& mmap, bool monotonic) {
  const symbolize::ImageId image = images_.JitDump(mmap.filename, mmap.pid);
  const auto codes = symbolizer_.JitCodes(image);
  if (!codes.ok()) {
    const absl::string_view why = codes.status().message();
    profile_.losses.warnings.push_back(
        absl::StrCat("the code in the JIT's dump has no names: ", why));
    return;
  }
  jit_codes_.Add(mmap.pid, image, *codes);
  if (!monotonic) jit_codes_.PlaceUntil(JitCodes::kNever, spaces_);
}

void ProfileBuilder::Impl::AddKernelMapping(const perf_event::Mmap2& mmap) {
  kernel_is_placed_ = true;
  // [kernel.kallsyms]_text: pgoff says where _text was, so that a kernel that has moved since can
  // be followed.
  constexpr std::string_view kKernel = "[kernel.kallsyms]";
  if (mmap.filename.starts_with(kKernel) && mmap.filename.size() > kKernel.size() &&
      mmap.pgoff != 0) {
    SetKernelReference(mmap.filename.substr(kKernel.size()), RuntimeAddress{mmap.pgoff});
  }
  spaces_.Kernel().Map(images_.KernelMapping(mmap));
}

void ProfileBuilder::Impl::SetKernelReference(std::string_view symbol, RuntimeAddress address) {
  sums_.kernel_reference = sums_.strings.Intern(symbol);
  sums_.kernel_reference_address = address.value;
  symbolizer_.SetKernelReference(symbol, address);
}

void ProfileBuilder::Impl::AddKernelSymbol(RuntimeAddress start, uint64_t size,
                                           std::string_view name) {
  sums_.kernel_symbols.push_back({start.value, size, sums_.strings.Intern(name)});
  symbolizer_.AddKernelSymbol(start, size, name);
}

// A recording without kernel mappings (an unprivileged one) has kernel addresses all the same.
// Whatever is not known to be something else is the kernel's.
void ProfileBuilder::Impl::PlaceKernel() {
  kernel_is_placed_ = true;
  symbolize::AddressSpace& kernel = spaces_.Kernel();
  const std::vector<symbolize::Mapping> known(kernel.mappings().begin(), kernel.mappings().end());
  kernel.Map(images_.WholeKernel());
  for (const symbolize::Mapping& mapping : known) kernel.Map(mapping);
}

void ProfileBuilder::Impl::AddComm(uint16_t misc, const perf_event::Comm& comm) {
  if ((misc & perf_event::kMiscCommExec) != 0) {
    spaces_.Exec(comm.pid);
    jit_codes_.Forget(comm.pid);
  }
  threads_.Rename(comm.pid, comm.tid, comm.comm);
}

void ProfileBuilder::Impl::AddFork(uint16_t misc, const perf_event::Task& task) {
  threads_.Fork(task.ppid, task.ptid, task.pid, task.tid);
  // perf marks those that it makes up for what already runs: each process's mappings follow.
  const bool made_up = (misc & perf_event::kMiscForkExec) != 0;
  if (task.pid != task.ppid && !made_up) spaces_.Fork(task.ppid, task.pid);
}

void ProfileBuilder::Impl::AddKsymbol(const perf_event::Ksymbol& symbol) {
  constexpr uint16_t kUnregister = 1;
  symbolize::AddressSpace& kernel = spaces_.Kernel();
  const symbolize::Mapping* mapping = kernel.Find(RuntimeAddress{symbol.addr});
  if ((symbol.flags & kUnregister) != 0) {
    if (IsBpf(mapping)) kernel.Unmap(RuntimeAddress{symbol.addr}, symbol.len);
    return;
  }
  AddKernelSymbol(RuntimeAddress{symbol.addr}, symbol.len, symbol.name);
  // Inside of the kernel's or a module's text it is only one more symbol there.
  if (mapping == nullptr || IsBpf(mapping)) kernel.Map(images_.BpfMapping(symbol));
}

bool ProfileBuilder::Impl::IsBpf(const symbolize::Mapping* mapping) const {
  return mapping != nullptr && symbolizer_.image(mapping->image).kind == symbolize::ImageKind::kBpf;
}

void ProfileBuilder::Impl::AddSample(RawRecord record, uint32_t event, uint64_t time) {
  perf_event::Sample& sample = decoded_;
  if (!Decode(record, events_[event].layout, &sample)) {
    ++profile_.losses.undecodable;
    return;
  }
  uint64_t cookie;
  if (DeferredSamples::Waits(sample.callchain, &cookie)) [[unlikely]] {
    const auto given_up = deferred_.Add(
        sample.tid, cookie, {CopyInOnePiece(record, events_[event].layout), event, time});
    CountDeferred(given_up, {});
    return;
  }
  CountSample(record.misc(), sample, event, time);
}

void ProfileBuilder::Impl::CountSample(uint16_t misc, const perf_event::Sample& sample,
                                       uint32_t event, uint64_t time) {
  const EventLayout& layout = events_[event];
  const bool has_period = (layout.layout.sample_type & perf_event::kSamplePeriod) != 0;
  const uint64_t period = has_period ? sample.period : layout.period;
  const bool has_cpu = (layout.layout.sample_type & perf_event::kSampleCpu) != 0;
  profile_.events[event].samples += 1;
  profile_.events[event].period += period;

  if (!kernel_is_placed_) PlaceKernel();
  const symbolize::AddressSpace* before_exec = nullptr;
  if (spaces_.IsExecuting(sample.pid)) [[unlikely]]
    before_exec = SpaceBeforeExec(misc, sample);
  if (before_exec != nullptr) CountBatch();
  batch_.push_back({{.event = EventId(event),
                     .thread = threads_.Find(sample.pid, sample.tid),
                     .count = 1,
                     .period = period},
                    has_cpu ? sample.cpu : kNoCpu,
                    time});
  const UserUnwinder::Chain chain = user_unwinder_.ChainOf(sample, layout.layout.user_stack_bytes,
                                                           /*has_stack=*/before_exec == nullptr);
  chains_.Add({.pid = sample.pid,
               .mode = ModeOf(misc),
               .ip = sample.ip,
               .callchain = chain.entries,
               .exact_user = chain.is_unwound || options_.exact_user_chains,
               .user_space = before_exec});
  if (options_.on_sample) {
    ShowSample(sample, EventId(event));
  } else if (chains_.full() || before_exec != nullptr) {
    CountBatch();
  }
}

// Where the user part of a sample is, of a process that executes another program; null for one that
// is of that program.
const symbolize::AddressSpace* ProfileBuilder::Impl::SpaceBeforeExec(
    uint16_t misc, const perf_event::Sample& sample) {
  const symbolize::AddressSpace& space =
      spaces_.DuringExec(sample.pid, ModeOf(misc) == Mode::kUser, user_unwinder_.UserIpOf(sample));
  return &space == &spaces_.Process(sample.pid) ? nullptr : &space;
}

// The one sample of the batch.
void ProfileBuilder::Impl::ShowSample(const perf_event::Sample& sample, EventId event) {
  const SampleRow row = CountBatch();
  namer_.NameNewFrames();
  options_.on_sample(profile_, row, sample, event);
}

// Brings the samples of the batch into the profile, all of them one step at a time; returns the
// last of them. Must come before whatever changes an address space.
SampleRow ProfileBuilder::Impl::CountBatch() {
  const std::span<const ResolvedStack> resolved = chains_.ResolveBatch();
  for (size_t i = 0; i < batch_.size(); ++i) {
    SampleRow& row = batch_[i];
    row.self = resolved[i].self;
    row.stack = resolved[i].stack;
    row.has_chain = resolved[i].has_chain;
    if (options_.keep_rows) rows_.Prefetch(row, *resolved[i].row);
  }
  for (size_t i = 0; i < batch_.size(); ++i) {
    if (options_.keep_rows) rows_.Add(batch_[i], resolved[i].row);
  }
  const SampleRow last = batch_.empty() ? SampleRow{} : batch_.back();
  batch_.clear();
  return last;
}

void ProfileBuilder::Impl::AddDeferred(const perf_event::CallchainDeferred& deferred) {
  CountDeferred(deferred_.Take(deferred.sample_id.tid, deferred.cookie), deferred.callchain);
}

void ProfileBuilder::Impl::CountDeferred(const std::vector<DeferredSample>& samples,
                                         U64Array user) {
  for (const DeferredSample& waited : samples) {
    const RawRecord record(waited.bytes);
    perf_event::Sample sample;
    if (!Decode(record, events_[waited.event].layout, &sample)) continue;  // it was decoded before
    const std::vector<uint64_t> joined = DeferredSamples::Join(sample.callchain, user);
    sample.callchain = U64Array(std::as_bytes(std::span(joined)));
    CountSample(record.misc(), sample, waited.event, waited.time);
  }
}

FrameId ProfileBuilder::Impl::FrameAt(uint32_t pid, uint64_t address) {
  if (address >= perf_event::kContextMax) return kNoFrame;
  CountBatch();
  if (!kernel_is_placed_) PlaceKernel();
  chains_.Add({.pid = pid,
               .mode = address >> 63 != 0 ? Mode::kKernel : Mode::kUser,
               .ip = address,
               .callchain = {}});
  const FrameId frame = chains_.ResolveBatch().front().self;
  namer_.NameNewFrames();
  return frame;
}

std::vector<ProfileBuilder::ImageShare> ProfileBuilder::Impl::ImageShares() {
  const std::vector<double> shares = SharesOfDsos(profile());
  std::vector<ImageShare> images;
  for (uint32_t i = 1; i < shares.size(); ++i)
    images.push_back({images_.ImageOf(DsoId{i}), shares[i]});
  return images;
}

bool ProfileBuilder::Impl::TakesSums() const {
  const bool unwinds = std::any_of(events_.begin(), events_.end(), [](const EventLayout& event) {
    return (event.layout.sample_type & perf_event::kSampleStackUser) != 0;
  });
  return options_.keep_rows && !options_.keep_cpu && !options_.keep_thread &&
         !options_.keep_addresses && options_.max_stack == UINT32_MAX && !options_.on_sample &&
         !unwinds;
}

std::optional<SampleSums> ProfileBuilder::Impl::Sums() {
  CountRest();
  if (!TakesSums() || !profile_.losses.warnings.empty()) return std::nullopt;
  SumUp(profile_, images_, symbolizer_, &sums_);
  return std::exchange(sums_, {});
}

bool ProfileBuilder::Impl::AddSums(SampleSums sums) {
  if (!TakesSums() || !AreOf(sums, events_.size())) return false;
  if (sums.kernel_reference != StringId::kEmpty) {
    SetKernelReference(sums.strings[sums.kernel_reference],
                       RuntimeAddress{sums.kernel_reference_address});
  }
  for (const SampleSums::KernelSymbol& symbol : sums.kernel_symbols) {
    AddKernelSymbol(RuntimeAddress{symbol.start}, symbol.size, sums.strings[symbol.name]);
  }
  profile::AddSums(std::move(sums), images_, profile_);
  return true;
}

// Samples whose call chains are not whole yet will not get more of them.
void ProfileBuilder::Impl::CountRest() {
  CountDeferred(deferred_.TakeAll(), {});
  CountBatch();
  const std::vector<ThreadId> same = threads_.Settle();
  if (!same.empty()) rows_.PutThreads(same);
}

Profile ProfileBuilder::Impl::Finish() {
  CountRest();
  namer_.NameNewFrames();
  profile_.chains = user_unwinder_.Quality();
  CountBrokenChains(&profile_);
  return std::move(profile_);
}

ProfileBuilder::ProfileBuilder(symbolize::Symbolizer& symbolizer, BuilderOptions options)
    : impl_(std::make_unique<Impl>(symbolizer, std::move(options))) {}
ProfileBuilder::~ProfileBuilder() = default;
ProfileBuilder::ProfileBuilder(ProfileBuilder&&) noexcept = default;
ProfileBuilder& ProfileBuilder::operator=(ProfileBuilder&&) noexcept = default;

EventId ProfileBuilder::AddEvent(std::string_view name, const perf_event::Attr& attr) {
  return impl_->AddEvent(name, attr);
}
void ProfileBuilder::AddBuildId(std::string_view filename, std::span<const std::byte> build_id) {
  impl_->AddBuildId(filename, build_id);
}
void ProfileBuilder::Add(RawRecord record, uint32_t event, uint64_t time) {
  impl_->Add(record, event, time);
}
FrameId ProfileBuilder::FrameAt(uint32_t pid, uint64_t address) {
  return impl_->FrameAt(pid, address);
}
ThreadId ProfileBuilder::ThreadOf(uint32_t pid, uint32_t tid) { return impl_->ThreadOf(pid, tid); }
std::vector<ProfileBuilder::ImageShare> ProfileBuilder::ImageShares() {
  return impl_->ImageShares();
}
bool ProfileBuilder::TakesSums() const { return impl_->TakesSums(); }
std::optional<SampleSums> ProfileBuilder::Sums() { return impl_->Sums(); }
bool ProfileBuilder::AddSums(SampleSums sums) { return impl_->AddSums(std::move(sums)); }
const Profile& ProfileBuilder::profile() const { return impl_->profile(); }
Profile ProfileBuilder::Finish() && { return impl_->Finish(); }

}  // namespace profiler::profile
