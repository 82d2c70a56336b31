#include "src/profile/profile_builder.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/data_source.h"
#include "src/format/perf_event/off_cpu_events.h"
#include "src/format/perf_event/records.h"
#include "src/machine/sideband/sideband.h"
#include "src/profile/branch_chain.h"
#include "src/profile/branch_table.h"
#include "src/profile/broken_chains.h"
#include "src/profile/chain_batch.h"
#include "src/profile/chain_resolver.h"
#include "src/profile/counting_thread.h"
#include "src/profile/frame_namer.h"
#include "src/profile/image_table.h"
#include "src/profile/jit_codes.h"
#include "src/profile/missing_samples.h"
#include "src/profile/process_lives.h"
#include "src/profile/running_threads.h"
#include "src/profile/samples.h"
#include "src/profile/stack_counter.h"
#include "src/profile/thread_table.h"
#include "src/profile/user_unwinder.h"
#include "symbolize/address_space.h"
#include "symbolize/symbols/kernel_symbols.h"

namespace profiler::profile {
namespace {

using perf_event::RawRecord;
using perf_event::RecordLayout;
using perf_event::U64Array;

constexpr std::string_view kOtherNamespace = "[other pid namespace]";

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

}  // namespace

class ProfileBuilder::Impl final : private sideband::SidebandUser {
 public:
  Impl(symbolize::Symbolizer& symbolizer, BuilderOptions options)
      : options_(std::move(options)),
        keeps_parallelism_(options_.dimensions[static_cast<size_t>(Dimension::kParallelism)]),
        keeps_order_(options_.keep_order && options_.keep_rows),
        symbolizer_(symbolizer),
        lives_(symbolizer, options_.clock),
        images_(profile_, symbolizer, lives_),
        threads_(profile_, !options_.keep_thread),
        chains_(profile_, images_, spaces_, options_.keep_addresses, out_),
        user_unwinder_(symbolizer, spaces_, options_.architecture, options_.files),
        namer_(profile_, images_.in_symbolizer(), symbolizer, options_.keep_addresses),
        counter_(profile_, {.dimensions = options_.dimensions,
                            .keep_rows = options_.keep_rows,
                            .keep_order = keeps_order_}),
        branches_(profile_),
        counting_(counter_) {
    profile_.slices = options_.slices;
    profile_.quanta.length = options_.time_quantum;
  }

  EventId AddEvent(std::string_view name, const perf_event::Attr& attr,
                   std::span<const uint64_t> ids);
  void AddBuildId(std::string_view filename, std::span<const std::byte> build_id);
  void Add(RawRecord record, uint32_t event, uint64_t time);
  const Profile& profile() {
    CountBatch();
    CountAll();
    return profile_;
  }
  bool IsOfRecordsAlone() const;
  UnnamedProfile Unnamed();
  Profile Finish();
  FrameId FrameAt(uint32_t pid, uint64_t address);
  ThreadId ThreadOf(uint32_t pid, uint32_t tid) { return threads_.Find(pid, tid); }
  void Name(std::span<const FrameId> frames) { namer_.Name(frames); }

 private:
  // Decodes a record and passes it to `use`. Counts records that cannot be decoded.
  template <class Record, class Use>
  void Decoded(RawRecord raw, const RecordLayout& layout, Use use) {
    Record record;
    if (Decode(raw, layout, &record)) {
      use(record);
    } else {
      ++profile_.losses.undecodable;
    }
  }

  void AddOther(RawRecord record, const RecordLayout& layout);

  symbolize::Mapping UserMapping(const perf_event::Mmap2& mmap,
                                 symbolize::ImageKind kind) override {
    if (kind == symbolize::ImageKind::kJit && time_ == 0) {
      if (const symbolize::Mapping* inherited = InheritedCode(mmap)) return *inherited;
    }
    if (Keeps(Dimension::kData)) {
      data_spaces_.Process(mmap.pid).Unmap(RuntimeAddress{mmap.addr}, mmap.len);
    }
    return images_.UserMapping(mmap, kind, time_);
  }
  void MappedData(const perf_event::Mmap2& mmap, symbolize::ImageKind kind) override {
    if (!Keeps(Dimension::kData)) return;
    if (kind == symbolize::ImageKind::kJit) kind = symbolize::ImageKind::kAnonymous;
    data_spaces_.Process(mmap.pid).Map(images_.UserMapping(mmap, kind, time_));
  }
  const symbolize::Mapping* InheritedCode(const perf_event::Mmap2& mmap);
  bool IsJitDump(const perf_event::Mmap2& mmap) override;
  void FoundJitDump(const perf_event::Mmap2& mmap) override;
  void MappedMemory(const perf_event::Mmap2& mmap) override {
    jit_codes_.Cover(mmap.pid, mmap.addr, mmap.len, spaces_);
  }
  void FoundKernelCode(const perf_event::Mmap2& mmap) override;
  void FoundKernelSymbol(const perf_event::Ksymbol& symbol) override;
  void Named(const perf_event::Comm& comm, bool by_exec) override;
  void Forked(const perf_event::Task& task) override {
    if (task.pid == task.tid) lives_.Forked(task.pid, time_);
    if (task.pid == task.tid && time_ == 0) parents_[task.pid] = task.ppid;
    if (Keeps(Dimension::kData) && time_ != 0) data_spaces_.Fork(task.ppid, task.pid);
    threads_.Fork(task.ppid, task.ptid, task.pid, task.tid);
  }
  void Ended(const perf_event::Task& task) override { lives_.ThreadEnded(task.pid, time_); }

  bool IsOfOtherNamespace(const perf_event::Comm& comm);
  void SetKernelReference(std::string_view symbol, RuntimeAddress address);
  void AddKernelSymbol(RuntimeAddress start, uint64_t size, std::string_view name);
  void PlaceKernel();
  bool IsBpf(const symbolize::Mapping* mapping) const;
  bool IsWholeKernel(const symbolize::Mapping& mapping) const;

  void CountSample(const TakenSample& taken);
  UserUnwinder::Chain ChainOf(const TakenSample& taken, bool has_stack);
  std::span<const SampleRow> RowsOf(const TakenSample& taken, const SampleShare& share,
                                    uint32_t cpu);
  bool Keeps(Dimension dimension) const {
    return options_.dimensions[static_cast<size_t>(dimension)];
  }
  bool KeepsBranches(const RecordLayout& layout) const {
    if ((layout.sample_type & perf_event::kSampleBranchStack) == 0) return false;
    return options_.keep_branches && (options_.keep_call_branches || !HasCallStack(layout));
  }
  StringId CgroupOf(uint64_t id) const;
  StringId TraceOf(const perf_event::Sample& sample, uint32_t cpu);
  uint32_t AccessOf(const TakenSample& taken);
  uint32_t DataOf(const TakenSample& taken);
  uint64_t PeriodOf(const TakenSample& taken, const SampleShare& share) const;
  void CountBranches(const perf_event::Sample& sample, EventId event);
  FrameId ResolveAddress(uint32_t pid, uint64_t address,
                         const symbolize::AddressSpace* space = nullptr);
  void CountBatch(const perf_event::Sample* whole = nullptr);
  std::span<const ResolvedChain> ResolveBatch();
  void PassOut();
  void TakenOut() {
    out_.Clear();
    chains_.TakenOut();
  }
  void CountAll();
  void CountRest();
  const symbolize::AddressSpace* SpaceBeforeExec(const perf_event::Sample& sample);

  const BuilderOptions options_;
  const bool keeps_parallelism_;
  const bool keeps_order_;
  symbolize::Symbolizer& symbolizer_;
  Profile profile_;
  sideband::Sideband sideband_{*this};
  symbolize::AddressSpaces& spaces_ = sideband_.spaces();
  ProcessLives lives_;
  ImageTable images_;
  JitCodes jit_codes_;
  ThreadTable threads_;
  absl::flat_hash_map<uint64_t, StringId> cgroups_;  // path of each cgroup, keyed by its id
  absl::flat_hash_set<uint64_t> trace_functions_;  // addresses that are in Profile::trace_functions
  symbolize::AddressSpaces data_spaces_;  // mappings without code; kept with Dimension::kData
  // Indices in Profile::accesses. Keyed by data_src, by raw weight, and by a bool that is true for
  // PERF_SAMPLE_WEIGHT_STRUCT.
  absl::flat_hash_map<std::tuple<uint64_t, uint64_t, bool>, uint32_t> accesses_;
  // Indices in Profile::data. Keyed by address, physical address, page size and frame.
  absl::flat_hash_map<std::tuple<uint64_t, uint64_t, uint64_t, FrameId>, uint32_t> data_;
  ChainBatch out_;  // samples and chains for counter_
  ChainResolver chains_;
  UserUnwinder user_unwinder_;
  BranchChain branch_chain_;
  FrameNamer namer_;
  Samples samples_;
  RunningThreads running_;                    // used if parallelism is kept
  MissingSamples missing_{options_.samples};  // used if the order is kept
  StackCounter counter_;
  BranchTable branches_;
  std::vector<bool> is_off_cpu_;     // indexed by event
  std::vector<bool> is_tracepoint_;  // indexed by event
  std::array<SampleRow, 2> rows_of_share_;
  std::vector<SampleRow> batch_;  // rows of the samples added to chains_
  size_t ordered_ = 0;            // size of Profile::order, once all samples are counted
  std::vector<SampleRow> shown_;  // rows of the last batch, while a view reads them
  // True if the file is a dump; keyed by path, for files that may be dumps.
  absl::flat_hash_map<std::string, bool> is_jit_dump_;
  // Keyed by pid: the parent of a process that ran before the recording.
  absl::flat_hash_map<uint32_t, uint32_t> parents_;
  // An empty space, for processes outside the pid namespace.
  const symbolize::AddressSpace nowhere_;
  bool has_other_namespace_ = false;  // True if processes without a pid were recorded.
  bool kernel_is_placed_ = false;
  uint32_t access_ = 0, data_of_sample_ = 0;  // values of the present sample, if they are kept
  uint32_t event_ = 0;                        // event of the present record
  uint64_t time_ = 0;                         // time of the present record
  CountingThread counting_;                   // ends before the objects above; used with threads
};

EventId ProfileBuilder::Impl::AddEvent(std::string_view name, const perf_event::Attr& attr,
                                       std::span<const uint64_t> ids) {
  samples_.AddEvent(name, attr, ids);
  missing_.AddEvent(attr);
  is_off_cpu_.push_back(IsOffCpuEvent(name));
  is_tracepoint_.push_back(attr.type == perf_event::kTypeTracepoint);
  profile_.events.push_back({.name = profile_.strings.Intern(name),
                             .frequency = attr.has(perf_event::kAttrFreq),
                             .callchains = (attr.sample_type & perf_event::kSampleCallchain) != 0,
                             .branch_stacks = KeepsBranches(samples_.events().back().layout)});
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
  if (event >= samples_.events().size()) {
    ++profile_.losses.undecodable;
    return;
  }
  if (time >= jit_codes_.next()) [[unlikely]] {
    CountBatch();
    branches_.ForgetFrames();
    jit_codes_.PlaceUntil(time, spaces_);
  }
  if (record.type() == perf_event::kRecordSample) {
    lives_.Sampled(time);
    if (!options_.samples.HasTime(time) && !samples_.DependOnFormerOnes()) return;
    const bool decoded = samples_.Take(record, event, time,
                                       [this](const TakenSample& sample) { CountSample(sample); });
    if (!decoded) ++profile_.losses.undecodable;
  } else {
    CountBatch();
    branches_.ForgetFrames();
    event_ = event;
    time_ = time;
    const RecordLayout& layout = samples_.events()[event].layout;
    if (keeps_parallelism_) running_.Take(record, layout);
    if (options_.keep_order) {
      missing_.Take(record, EventId(event), layout, time, ordered_);
    }
    AddOther(record, layout);
  }
}

void ProfileBuilder::Impl::AddOther(RawRecord record, const RecordLayout& layout) {
  Losses& losses = profile_.losses;
  switch (record.type()) {
    case perf_event::kRecordCallchainDeferred:
      return Decoded<perf_event::CallchainDeferred>(record, layout, [&](const auto& deferred) {
        samples_.Complete(deferred, [this](const TakenSample& sample) { CountSample(sample); });
      });
    case perf_event::kRecordLost:
      return Decoded<perf_event::Lost>(record, layout, [&](const auto& lost) {
        ++losses.lost_events;
        losses.lost_records += lost.lost;
      });
    case perf_event::kRecordLostSamples:
      return Decoded<perf_event::LostSamples>(
          record, layout, [&](const auto& lost) { losses.lost_samples += lost.lost; });
    case perf_event::kRecordCgroup:
      return Decoded<perf_event::Cgroup>(record, layout, [&](const auto& cgroup) {
        cgroups_[cgroup.id] = profile_.strings.Intern(cgroup.path);
      });
    case perf_event::kRecordThrottle:
      ++losses.throttled;
      return;
    default:
      break;
  }
  const bool is_known = record.type() != 0 && record.type() <= perf_event::kRecordCallchainDeferred;
  if (!is_known) ++losses.unknown_records;
  if (sideband_.Take(record, layout) == sideband::Sideband::Result::kTooShort) {
    ++losses.undecodable;
  }
}

// Maps the code in a dump. If the recording's clock differs from the dump's, the last code at each
// address counts.
void ProfileBuilder::Impl::FoundJitDump(const perf_event::Mmap2& mmap) {
  const bool is_monotonic = samples_.events()[event_].is_monotonic;
  const symbolize::ImageId image =
      images_.JitDump(mmap.filename, mmap.pid, time_, is_monotonic ? time_ : 0);
  const auto codes = symbolizer_.JitCodes(image);
  if (!codes.ok()) {
    const absl::string_view why = codes.status().message();
    profile_.losses.warnings.push_back(
        absl::StrCat("the code in the JIT's dump has no names: ", why));
    return;
  }
  jit_codes_.Add(mmap.pid, image, *codes);
  if (!is_monotonic) jit_codes_.PlaceUntil(JitCodes::kNever, spaces_);
}

// Returns the parent's mapping if a process that ran before the recording inherited this code from
// its parent, else null. The records of the process do not show that. But inherited code lies at
// the same address in the parent, and both run the same program. The code's names are in the
// parent's map.
const symbolize::Mapping* ProfileBuilder::Impl::InheritedCode(const perf_event::Mmap2& mmap) {
  const auto parent = parents_.find(mmap.pid);
  if (parent == parents_.end() || parent->second == 0) return nullptr;
  const symbolize::AddressSpace& theirs = spaces_.Process(parent->second);
  const symbolize::Mapping* const code = theirs.Find(RuntimeAddress{mmap.addr});
  const bool is_same = code != nullptr && code->start.value == mmap.addr &&
                       code->size == mmap.len &&
                       symbolizer_.image(code->image).kind == symbolize::ImageKind::kJit;
  const auto& mappings = spaces_.Process(mmap.pid).mappings();
  if (!is_same || mappings.empty() || theirs.mappings().empty()) return nullptr;
  const symbolize::Mapping& program = *mappings.begin();
  const symbolize::Mapping& their_program = *theirs.mappings().begin();
  const bool is_forked =
      program.start == their_program.start && program.image == their_program.image;
  return is_forked ? code : nullptr;
}

// Recognises dumps. JITs that follow the specification name them jit-PID.dump; others use any name,
// and map one page.
bool ProfileBuilder::Impl::IsJitDump(const perf_event::Mmap2& mmap) {
  constexpr uint64_t kLongest = 64 << 10;
  constexpr uint64_t kPage = 4096;
  const std::string_view name = mmap.filename;
  const bool may_be = mmap.pgoff == 0 && mmap.len <= kLongest && mmap.build_id.empty() &&
                      mmap.addr % kPage == 0 && name.starts_with('/') &&
                      name.find(".so") == std::string_view::npos;
  // Limits the candidates, because each is opened and its name is kept.
  constexpr size_t kMost = 1024;
  if (!may_be || images_.HasBuildId(name)) return false;
  if (is_jit_dump_.size() == kMost && !is_jit_dump_.contains(View(name))) return false;
  const auto [known, is_new] = is_jit_dump_.try_emplace(std::string(name), false);
  if (is_new) {
    symbolize::ImageSpec spec{.kind = symbolize::ImageKind::kJitDump,
                              .path = std::string(name),
                              .pid = lives_.OfProgram(mmap.pid, time_)};
    if (samples_.events()[event_].is_monotonic) spec.mapped_at = time_;
    known->second = symbolizer_.JitCodes(symbolizer_.AddImage(spec)).ok();
  }
  return known->second;
}

void ProfileBuilder::Impl::FoundKernelCode(const perf_event::Mmap2& mmap) {
  // If the kernel hides its addresses, perf writes modules that begin at 0 and cover everything.
  if (mmap.addr == 0 && !symbolize::IsKernelItself(mmap.filename)) return;
  kernel_is_placed_ = true;
  // For [kernel.kallsyms]_text, pgoff is the address of _text. By that address, the recorded
  // addresses can be converted if the kernel is loaded elsewhere now.
  const size_t end = mmap.filename.find(']');
  if (symbolize::IsKernelItself(mmap.filename) && end < mmap.filename.size() - 1 &&
      mmap.pgoff != 0) {
    SetKernelReference(mmap.filename.substr(end + 1), RuntimeAddress{mmap.pgoff});
  }
  spaces_.Kernel().Map(images_.KernelMapping(mmap));
}

void ProfileBuilder::Impl::SetKernelReference(std::string_view symbol, RuntimeAddress address) {
  profile_.kernel.reference = profile_.strings.Intern(symbol);
  profile_.kernel.reference_address = address;
  symbolizer_.SetKernelReference(symbol, address);
}

void ProfileBuilder::Impl::AddKernelSymbol(RuntimeAddress start, uint64_t size,
                                           std::string_view name) {
  profile_.kernel.symbols.push_back({start, size, profile_.strings.Intern(name)});
  symbolizer_.AddKernelSymbol(start, size, name);
}

// Maps the kernel to all addresses that are not known to belong to anything else. A recording
// without kernel mappings (an unprivileged one) has kernel addresses too.
void ProfileBuilder::Impl::PlaceKernel() {
  kernel_is_placed_ = true;
  symbolize::AddressSpace& kernel = spaces_.Kernel();
  const std::vector<symbolize::Mapping> known(kernel.mappings().begin(), kernel.mappings().end());
  kernel.Map(images_.WholeKernel());
  for (const symbolize::Mapping& mapping : known) kernel.Map(mapping);
}

void ProfileBuilder::Impl::Named(const perf_event::Comm& comm, bool by_exec) {
  if (by_exec) {
    jit_codes_.Forget(comm.pid);
    if (Keeps(Dimension::kData)) data_spaces_.Process(comm.pid).Clear();
    lives_.Executed(comm.pid, time_);
  }
  threads_.Rename(comm.pid, comm.tid, IsOfOtherNamespace(comm) ? kOtherNamespace : comm.comm);
}

// True if the COMM record is of a process outside the recorder's pid namespace. Such processes have
// pid 0 in the recording, like idle threads. But idle threads never execute or rename themselves.
bool ProfileBuilder::Impl::IsOfOtherNamespace(const perf_event::Comm& comm) {
  const bool is_other = comm.pid == 0 && comm.tid == 0 && !comm.comm.starts_with("swapper");
  if (!is_other || has_other_namespace_) return is_other;
  has_other_namespace_ = true;
  profile_.losses.warnings.push_back(absl::StrCat(
      "the recording was made inside a pid namespace (a container): processes outside have no "
      "number there and are shown as ",
      View(kOtherNamespace),
      ", idle CPUs among them; record outside, or with the host's pid namespace"));
  return true;
}

void ProfileBuilder::Impl::FoundKernelSymbol(const perf_event::Ksymbol& symbol) {
  constexpr uint16_t kUnregister = 1;
  symbolize::AddressSpace& kernel = spaces_.Kernel();
  const symbolize::Mapping* mapping = kernel.Find(RuntimeAddress{symbol.addr});
  if ((symbol.flags & kUnregister) != 0) {
    if (IsBpf(mapping)) kernel.Unmap(RuntimeAddress{symbol.addr}, symbol.len);
    return;
  }
  AddKernelSymbol(RuntimeAddress{symbol.addr}, symbol.len, symbol.name);
  // Within the text of the kernel or a module, a KSYMBOL is only an additional symbol.
  if (mapping == nullptr || IsBpf(mapping) || IsWholeKernel(*mapping)) {
    kernel.Map(images_.BpfMapping(symbol));
  }
}

bool ProfileBuilder::Impl::IsBpf(const symbolize::Mapping* mapping) const {
  return mapping != nullptr && symbolizer_.image(mapping->image).kind == symbolize::ImageKind::kBpf;
}

// True if the end of the kernel's text is unknown.
bool ProfileBuilder::Impl::IsWholeKernel(const symbolize::Mapping& mapping) const {
  return mapping.start.value + mapping.size == 0 &&
         symbolizer_.image(mapping.image).kind == symbolize::ImageKind::kKernel;
}

void ProfileBuilder::Impl::CountSample(const TakenSample& taken) {
  const perf_event::Sample& sample = taken.sample;
  const bool has_cpu = (taken.layout.sample_type & perf_event::kSampleCpu) != 0;
  const uint32_t cpu = has_cpu ? sample.cpu : kNoCpu;
  if (!options_.samples.HasTime(taken.time) || !options_.samples.HasCpu(cpu)) {
    // The sample is not selected. But losses are counted for the whole recording, and corrupt
    // chains are losses.
    const U64Array chain = branch_chain_.ChainOf(sample, taken.layout).value_or(sample.callchain);
    if (ChainResolver::IsCorrupt(chain)) ++profile_.losses.corrupt_chains;
    return;
  }
  if (!kernel_is_placed_) PlaceKernel();
  const symbolize::AddressSpace* before_exec = nullptr;
  if (spaces_.IsExecuting(sample.pid)) [[unlikely]]
    before_exec = SpaceBeforeExec(sample);
  if (has_other_namespace_ && sample.pid == 0) [[unlikely]]
    before_exec = &nowhere_;
  if (before_exec != nullptr) CountBatch();
  const UserUnwinder::Chain chain = ChainOf(taken, /*has_stack=*/before_exec == nullptr);
  if (options_.keep_order) {
    const ThreadId thread = threads_.Find(sample.pid, sample.tid);
    missing_.AddRecord(StreamOf(cpu, thread), has_cpu ? std::nullopt : std::optional(sample.tid));
  }
  const bool whole = options_.whole_samples;
  access_ = Keeps(Dimension::kAccess) ? AccessOf(taken) : 0;
  data_of_sample_ = Keeps(Dimension::kData) ? DataOf(taken) : 0;
  for (const SampleShare& share : taken.shares) {
    Event& event = profile_.events[static_cast<uint32_t>(share.event)];
    const auto period = static_cast<double>(PeriodOf(taken, share));
    event.samples += 1;
    event.period += PeriodOf(taken, share);
    event.squared_periods += period * period;
    for (const SampleRow& row : RowsOf(taken, share, cpu)) {
      batch_.push_back(row);
      chains_.Add({.pid = sample.pid,
                   .mode = ModeOf(sample.misc),
                   .ip = sample.ip,
                   .callchain = chain.entries,
                   .exact_user = chain.is_unwound || options_.exact_user_chains,
                   .user_space = before_exec});
      if (chains_.full() || before_exec != nullptr) CountBatch(whole ? &sample : nullptr);
    }
  }
  if (whole) CountBatch(&sample);
  for (const SampleShare& share : taken.shares) {
    if (profile_[share.event].branch_stacks) CountBranches(sample, share.event);
  }
}

UserUnwinder::Chain ProfileBuilder::Impl::ChainOf(const TakenSample& taken, bool has_stack) {
  const perf_event::Sample& sample = taken.sample;
  UserUnwinder::Chain chain{sample.callchain};
  if (options_.keep_callers) {
    chain = user_unwinder_.ChainOf(sample, taken.layout.user_stack_bytes, has_stack);
  }
  if (!chain.is_unwound) {
    const auto calls = branch_chain_.ChainOf(sample, taken.layout);
    if (calls) chain = {*calls, /*is_unwound=*/true};
  }
  if (options_.keep_callers) return chain;
  if (!ChainResolver::IsCorrupt(chain.entries)) {
    return {ChainResolver::LeafOf(chain.entries), chain.is_unwound};
  }
  ++profile_.losses.corrupt_chains;
  return {};
}

// Returns the rows of a share, without a stack. It is one row, or two for a time off the CPU if
// Dimension::kParallelism is kept.
std::span<const SampleRow> ProfileBuilder::Impl::RowsOf(const TakenSample& taken,
                                                        const SampleShare& share, uint32_t cpu) {
  SampleRow& row = rows_of_share_[0];
  row = {{.event = share.event,
          .thread = threads_.Find(taken.sample.pid, taken.sample.tid),
          .count = 1,
          .period = PeriodOf(taken, share)}};
  row.cpu = cpu;
  row.time = taken.time;
  row.access = access_;
  row.data = data_of_sample_;
  if (Keeps(Dimension::kCgroup)) row.cgroup = CgroupOf(taken.sample.cgroup);
  if (Keeps(Dimension::kTrace) && is_tracepoint_[static_cast<uint32_t>(share.event)]) {
    row.trace = TraceOf(taken.sample, taken.sample.cpu);
  }
  if (!keeps_parallelism_) return {&row, 1};
  if (!is_off_cpu_[static_cast<uint32_t>(share.event)]) {
    running_.SampledRunning(taken.sample.tid, taken.time);
    row.parallelism = running_.parallelism();
    return {&row, 1};
  }
  const uint64_t begin = taken.time - std::min(taken.time, share.period);
  const uint64_t idle = std::min(running_.ShareOfIdleTime(begin, taken.time), share.period);
  SampleRow& rest = rows_of_share_[1] = row;
  row.parallelism = kNoneRan;
  row.period = idle;
  rest.parallelism = kOthersRan;
  rest.count = 0;
  rest.period = share.period - idle;
  return rows_of_share_;
}

StringId ProfileBuilder::Impl::CgroupOf(uint64_t id) const {
  const auto found = cgroups_.find(id);
  return found == cgroups_.end() ? StringId::kEmpty : found->second;
}

StringId ProfileBuilder::Impl::TraceOf(const perf_event::Sample& sample, uint32_t cpu) {
  if (!options_.describe_tracepoint || sample.raw.empty()) return StringId::kEmpty;
  std::string text;
  std::vector<uint64_t> functions;
  options_.describe_tracepoint(sample.raw, cpu, &text, &functions);
  for (const uint64_t address : functions) {
    if (perf_event::IsContext(address) || !trace_functions_.insert(address).second) continue;
    CountBatch();
    profile_.trace_functions.push_back({address, ResolveAddress(/*pid=*/0, address)});
  }
  return profile_.strings.Intern(text);
}

uint64_t ProfileBuilder::Impl::PeriodOf(const TakenSample& taken, const SampleShare& share) const {
  if (!options_.weigh_accesses) return share.period;
  const uint64_t weight = perf_event::CostOf(taken.layout.sample_type, taken.sample.weight).weight;
  return std::max<uint64_t>(weight, 1);
}

uint32_t ProfileBuilder::Impl::AccessOf(const TakenSample& taken) {
  const uint64_t type = taken.layout.sample_type;
  const bool has_source = (type & perf_event::kSampleDataSrc) != 0;
  const uint64_t data_src = has_source ? taken.sample.data_src : perf_event::kNoDataSource;
  const bool is_split = (type & perf_event::kSampleWeightStruct) != 0;
  const auto [known, is_new] = accesses_.try_emplace(
      std::tuple(data_src, taken.sample.weight, is_split), profile_.accesses.size());
  if (!is_new) return known->second;
  const perf_event::DataSourceTexts texts = perf_event::DescribeAccess(data_src);
  const perf_event::AccessCost cost = perf_event::CostOf(type, taken.sample.weight);
  profile_.accesses.push_back({.level = profile_.strings.Intern(texts.level),
                               .snoop = profile_.strings.Intern(texts.snoop),
                               .tlb = profile_.strings.Intern(texts.tlb),
                               .locked = profile_.strings.Intern(texts.locked),
                               .blocked = profile_.strings.Intern(texts.blocked),
                               .weight = cost.weight,
                               .instruction_latency = cost.instruction_latency,
                               .retire_latency = cost.retire_latency});
  return known->second;
}

uint32_t ProfileBuilder::Impl::DataOf(const TakenSample& taken) {
  const perf_event::Sample& sample = taken.sample;
  DataPlace place{
      .address = sample.addr, .physical = sample.phys_addr, .page_size = sample.data_page_size};
  const bool has_address = (taken.layout.sample_type & perf_event::kSampleAddr) != 0;
  if (has_address && !perf_event::IsContext(sample.addr)) {
    CountBatch();
    const RuntimeAddress address{sample.addr};
    const symbolize::AddressSpace& data = data_spaces_.Process(sample.pid);
    const bool is_data = spaces_.Process(sample.pid).Find(address) == nullptr;
    place.frame = ResolveAddress(sample.pid, sample.addr, is_data ? &data : nullptr);
  }
  const auto [known, is_new] =
      data_.try_emplace(std::tuple(place.address, place.physical, place.page_size, place.frame),
                        profile_.data.size());
  if (is_new) profile_.data.push_back(place);
  return known->second;
}

void ProfileBuilder::Impl::CountBranches(const perf_event::Sample& sample, EventId event) {
  CountBatch();
  branches_.Add(event, threads_.Find(sample.pid, sample.tid), sample.pid, sample.branches,
                [&](uint64_t address) { return ResolveAddress(sample.pid, address); });
}

// Returns the frame of an address at which no sample was taken, in the mappings of the process or
// in `space`. Call it only between batches.
FrameId ProfileBuilder::Impl::ResolveAddress(uint32_t pid, uint64_t address,
                                             const symbolize::AddressSpace* space) {
  chains_.Add({.pid = pid,
               .mode = address >> 63 != 0 ? Mode::kKernel : Mode::kUser,
               .ip = address,
               .callchain = {},
               .user_space = space});
  return ResolveBatch().front().self;
}

// Returns the address space of the former program, if the sample's process is executing another
// one; null if the sample belongs to the new program.
const symbolize::AddressSpace* ProfileBuilder::Impl::SpaceBeforeExec(
    const perf_event::Sample& sample) {
  const symbolize::AddressSpace& space = spaces_.DuringExec(
      sample.pid, ModeOf(sample.misc) == Mode::kUser, user_unwinder_.UserIpOf(sample));
  return &space == &spaces_.Process(sample.pid) ? nullptr : &space;
}

// Resolves the batch. If the resolver will forget all chains, passes on the samples that refer to
// them first.
std::span<const ResolvedChain> ProfileBuilder::Impl::ResolveBatch() {
  if (out_.full() || chains_.WillForget()) PassOut();
  return chains_.ResolveBatch();
}

// Resolves the samples of the batch, and passes them to on_samples. If `whole` is not null, the
// samples are its shares. Call it before an address space changes.
void ProfileBuilder::Impl::CountBatch(const perf_event::Sample* whole) {
  if (batch_.empty()) return;
  const std::span<const ResolvedChain> resolved = ResolveBatch();
  for (size_t i = 0; i < batch_.size(); ++i) {
    SampleRow& row = batch_[i];
    row.self = resolved[i].self;
    row.has_chain = resolved[i].has_chain;
    out_.samples.push_back(row);
    out_.chain_of.push_back(resolved[i].number);
    if (keeps_order_ && row.count != 0) {
      missing_.AddSample(row.event, StreamOf(row.cpu, row.thread), row.time, ordered_++);
    }
  }
  batch_.clear();
  if (!options_.on_samples) return;
  counter_.Take(out_);
  if (options_.name_frames) namer_.NameNewFrames();
  // The view may ask for the frame of another address; that must not show these samples again.
  shown_.swap(out_.samples);
  TakenOut();
  options_.on_samples(profile_, shown_, whole);
  shown_.clear();
}

// Passes on the resolved samples and the new chains, to be counted.
void ProfileBuilder::Impl::PassOut() {
  if (out_.empty()) return;
  if (options_.threads > 1 && !options_.on_samples) {
    counting_.Pass(out_);
  } else {
    counter_.Take(out_);
  }
  TakenOut();
}

// Counts all samples that were resolved.
void ProfileBuilder::Impl::CountAll() {
  PassOut();
  counting_.Wait();
}

FrameId ProfileBuilder::Impl::FrameAt(uint32_t pid, uint64_t address) {
  if (perf_event::IsContext(address)) return kNoFrame;
  CountBatch();
  if (!kernel_is_placed_) PlaceKernel();
  const FrameId frame = ResolveAddress(pid, address);
  if (options_.name_frames) namer_.NameNewFrames();
  return frame;
}

bool ProfileBuilder::Impl::IsOfRecordsAlone() const {
  const auto events = samples_.events();
  return !options_.keep_callers ||
         std::none_of(events.begin(), events.end(), [](const Samples::Event& event) {
           return (event.layout.sample_type & perf_event::kSampleStackUser) != 0;
         });
}

// Counts the remaining samples. Incomplete call chains stay incomplete.
void ProfileBuilder::Impl::CountRest() {
  samples_.GiveUpWaiting([this](const TakenSample& sample) { CountSample(sample); });
  CountBatch();
  CountAll();
  if (options_.keep_order) missing_.Weigh(profile_);
  const std::vector<ThreadId> same = threads_.Settle();
  if (!same.empty()) {
    counter_.PutThreads(same);
    branches_.PutThreads(same);
  }
  profile_.chains = user_unwinder_.Quality();
}

// Names the frames that no view has seen yet.
Profile ProfileBuilder::Impl::Finish() {
  CountRest();
  if (options_.name_frames || options_.keep_rows) namer_.NameNewFrames();
  CountBrokenChains(&profile_);
  return std::move(profile_);
}

UnnamedProfile ProfileBuilder::Impl::Unnamed() {
  CountRest();
  return {std::move(profile_), images_.in_symbolizer()};
}

ProfileBuilder::ProfileBuilder(symbolize::Symbolizer& symbolizer, BuilderOptions options)
    : impl_(std::make_unique<Impl>(symbolizer, std::move(options))) {}
ProfileBuilder::~ProfileBuilder() = default;
ProfileBuilder::ProfileBuilder(ProfileBuilder&&) noexcept = default;
ProfileBuilder& ProfileBuilder::operator=(ProfileBuilder&&) noexcept = default;

EventId ProfileBuilder::AddEvent(std::string_view name, const perf_event::Attr& attr,
                                 std::span<const uint64_t> ids) {
  return impl_->AddEvent(name, attr, ids);
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
void ProfileBuilder::Name(std::span<const FrameId> frames) { impl_->Name(frames); }
bool ProfileBuilder::IsOfRecordsAlone() const { return impl_->IsOfRecordsAlone(); }
const Profile& ProfileBuilder::profile() const { return impl_->profile(); }
UnnamedProfile ProfileBuilder::Unnamed() && { return impl_->Unnamed(); }
Profile ProfileBuilder::Finish() && { return impl_->Finish(); }

}  // namespace profiler::profile
