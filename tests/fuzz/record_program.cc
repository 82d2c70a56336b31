#include "tests/fuzz/record_program.h"

#include <iterator>
#include <string_view>
#include <utility>

#include "src/base/byte_reader.h"
#include "src/format/perf_data/testing/recording_builder.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/codec.h"
#include "src/format/perf_event/records.h"
#include "src/format/perf_event/testing/record_builder.h"

namespace profiler::fuzz {
namespace {

using namespace perf_event;  // NOLINT: the names of forty bits and twenty records

constexpr uint64_t kUsual = kSampleIdentifier | kSampleIp | kSampleTid | kSampleTime | kSampleCpu |
                            kSamplePeriod | kSampleCallchain;
constexpr uint64_t kSampleTypes[] = {
    kUsual,
    kUsual,
    kSampleIp | kSampleTid | kSampleTime,
    kSampleIp | kSampleTid,
    kUsual | kSampleCgroup | kSampleRaw | kSampleAddr,
    kUsual | kSampleBranchStack | kSampleWeight | kSampleDataSrc | kSampleTransaction,
    kUsual | kSampleRegsUser | kSampleStackUser,
    kUsual | kSampleRegsIntr | kSamplePhysAddr | kSampleDataPageSize | kSampleCodePageSize,
    kUsual | kSampleRead,
    kSampleAll & ~(kSampleRead | kSampleWeightStruct),
};
// Names that the kernel and recorders give to mappings without a file, and names of missing files.
constexpr const char* kNames[] = {"/bin/a",
                                  "/bin/b",
                                  "/bin/a (deleted)",
                                  "[vdso]",
                                  "//anon",
                                  "[heap]",
                                  "/memfd:x",
                                  "",
                                  "/tmp/jit-7.dump",
                                  "[uprobes]",
                                  "[kernel.kallsyms]_text",
                                  "[kernel.kallsyms]_stext",
                                  "[module]",
                                  "/lib/modules/6.1/m.ko",
                                  "[unknown]"};
constexpr uint64_t kLengths[] = {kPage,     2 * kPage, 4 * kPage,  16 * kPage,  1,
                                 kPage / 2, 0,         1ull << 62, ~uint64_t{0}};
constexpr uint16_t kModes[] = {kMiscUser,       kMiscUser,        kMiscUser,
                               kMiscKernel,     kMiscKernel,      kMiscCpumodeUnknown,
                               kMiscHypervisor, kMiscGuestKernel, kMiscGuestUser};
constexpr uint64_t kMarkers[] = {kContextUser,         kContextKernel,      kContextHypervisor,
                                 kContextGuest,        kContextGuestKernel, kContextGuestUser,
                                 kContextUserDeferred, kContextMax,         ~uint64_t{0}};
constexpr size_t kMostWords = 32;

class Maker {
 public:
  Maker(Choices& choices, std::span<const std::string> files)
      : choices_(choices), files_(files), attr_(MakeAttr()), layout_(attr_) {}

  RecordProgram Make(size_t most_records) {
    for (size_t i = 0; i < most_records && !choices_.ended(); ++i) {
      MoveOn();
      AddOne();
    }
    program_.events = {{attr_, "cpu-clock", {1, 2}}};
    // Adds a second event with the same layout and with other ids.
    if (choices_.Yes()) program_.events.push_back({attr_, "page-faults", {3}});
    return std::move(program_);
  }

 private:
  Attr MakeAttr() {
    Attr attr = SampleAttr(choices_.OneOf(kSampleTypes));
    attr.sample_period = 1 + choices_.Below(3);
    if ((attr.sample_type & kSampleRead) != 0) {
      attr.read_format = choices_.Below(kFormatLost * 2);
      if (choices_.Yes()) attr.read_format |= kFormatGroup | kFormatId;
    }
    if ((attr.sample_type & kSampleRegsUser) != 0) attr.sample_regs_user = 0xff0fff;
    if ((attr.sample_type & kSampleRegsIntr) != 0) attr.sample_regs_intr = 0xff;
    if ((attr.sample_type & kSampleStackUser) != 0) attr.sample_stack_user = kMostWords * 8;
    if (choices_.Below(8) == 1) attr.type = kTypeTracepoint;
    return attr;
  }

  uint64_t Address() {
    const uint64_t page = choices_.Below(kPages * 8);
    return choices_.OneOf(kLowestAddresses) + page / 8 * kPage + page % 8;
  }
  std::string_view Name() {
    const size_t at = choices_.Below(std::size(kNames) + files_.size());
    return at < files_.size() ? std::string_view(files_[at]) : kNames[at - files_.size()];
  }
  uint32_t Process() { return choices_.OneOf(kProcesses); }
  SampleId Id() const { return {.pid = pid_, .tid = tid_, .time = time_, .id = id_, .cpu = cpu_}; }
  // Returns random words, for use as a call chain or as a stack. They are valid until the next call
  // of Words().
  U64Array Words(size_t size, bool with_markers) {
    words_.clear();
    for (size_t i = 0; i < size; ++i) {
      words_.push_back(with_markers && choices_.Below(6) == 1 ? choices_.OneOf(kMarkers)
                                                              : Address());
    }
    return U64Array(std::as_bytes(std::span(words_)));
  }

  // Moves to the next record, which is mostly of the same thread and a little later.
  void MoveOn() {
    const uint8_t how = choices_.Byte();
    if (how % 4 == 1) pid_ = tid_ = Process();
    if (how % 4 == 2) tid_ = pid_ + static_cast<uint32_t>(choices_.Below(3));
    time_ += how / 4 % 16;
    if (how / 64 == 1) time_ -= std::min<uint64_t>(time_, choices_.Byte());
    if (how / 64 == 2) cpu_ = static_cast<uint32_t>(choices_.Below(4));
    if (how / 64 == 3) id_ = choices_.Below(5);
  }

  template <class Record>
  void Add(uint32_t type, uint16_t misc, const Record& record) {
    Require(Encode(type, misc, layout_, record, &program_.records), "a record can be written");
  }

  void AddMapping() {
    const uint8_t form = choices_.Byte();
    uint16_t misc = choices_.OneOf(kModes);
    if (form % 8 == 1) misc |= kMiscMmapData;
    Mmap2 mmap = {.pid = pid_, .tid = tid_, .addr = Address(), .prot = 5};
    mmap.addr -= mmap.addr % 8;
    last_mapped_ = mmap.addr;
    mmap.len = choices_.OneOf(kLengths);
    mmap.pgoff = choices_.Below(4) * kPage;
    mmap.filename = Name();
    mmap.sample_id = Id();
    if (form % 8 == 2) mmap.ino = choices_.Below(3);
    if (form % 8 == 3) mmap.pid = Process();
    if (form % 8 == 4) {
      misc |= kMiscMmapBuildId;
      mmap.build_id = BytesOfText("twenty bytes of an id").first(choices_.Below(21));
    }
    if (form % 8 != 5) return Add(kRecordMmap2, misc, mmap);
    Add(kRecordMmap, misc,
        Mmap{mmap.pid, mmap.tid, mmap.addr, mmap.len, mmap.pgoff, mmap.filename, Id()});
  }

  void AddTask(uint32_t type) {
    const uint16_t misc = choices_.Below(8) == 1 ? kMiscForkExec : 0;
    Task task = {.pid = pid_, .ppid = pid_, .tid = tid_, .ptid = tid_, .time = time_};
    if (type == kRecordFork) {
      task.pid = choices_.Yes() ? Process() : pid_;
      task.tid = task.pid + static_cast<uint32_t>(choices_.Below(3));
    }
    task.sample_id = Id();
    Add(type, misc, task);
  }

  void AddSample() {
    ++program_.samples;
    Sample sample = {.ip = Address(), .pid = pid_, .tid = tid_, .time = time_, .id = id_};
    if (choices_.Yes()) sample.ip = last_mapped_ + choices_.Below(0x400);
    sample.cpu = cpu_;
    sample.period = choices_.Below(4);
    const U64Array words = Words(choices_.Below(kMostWords), /*with_markers=*/true);
    sample.callchain = words;
    // The fields below are also made from the words of the call chain.
    sample.addr = words.empty() ? 0 : words[0];
    sample.cgroup = choices_.Below(3);
    sample.raw = words.bytes().first(words.bytes().size() / 2);
    sample.branches = words.bytes().first(words.size() / 3 * 24);
    sample.user_stack = words.bytes();
    sample.user_stack_size = kMostWords * 8;
    constexpr size_t kInstructionPointer = 8;  // the register's number in perf on x86
    registers_.assign(24, words.empty() ? 0 : words[words.size() - 1]);
    registers_[kInstructionPointer] = sample.ip;
    const std::span<const std::byte> registers = std::as_bytes(std::span(registers_));
    const uint64_t abi = choices_.Below(3);
    sample.user_regs = {abi, attr_.sample_regs_user, registers.first(20 * 8)};
    sample.intr_regs = {abi, attr_.sample_regs_intr, registers.first(8 * 8)};
    if ((attr_.sample_type & kSampleRead) != 0) SetCounters(sample);
    Add(kRecordSample, choices_.OneOf(kModes), sample);
  }

  // Sets the sample's counters: those of one event, or those of a group of two events.
  void SetCounters(Sample& sample) {
    const uint64_t format = attr_.read_format;
    counters_.clear();
    const bool group = (format & kFormatGroup) != 0;
    if (group) counters_.push_back(2);
    const auto times = [&] {
      if ((format & kFormatTotalTimeEnabled) != 0) counters_.push_back(10);
      if ((format & kFormatTotalTimeRunning) != 0) counters_.push_back(choices_.Below(12));
    };
    if (group) times();
    for (int i = 0; i < (group ? 2 : 1); ++i) {
      counters_.push_back(count_ += choices_.Below(3));
      if (!group) times();
      if ((format & kFormatId) != 0) counters_.push_back(choices_.Below(5));
      if ((format & kFormatLost) != 0) counters_.push_back(0);
    }
    sample.read = U64Array(std::as_bytes(std::span(counters_)));
  }

  void AddOfTheKernel() {
    switch (choices_.Below(4)) {
      case 0:
        return Add(kRecordKsymbol, 0,
                   Ksymbol{.addr = Address(),
                           .len = static_cast<uint32_t>(choices_.OneOf(kLengths)),
                           .ksym_type = static_cast<uint16_t>(choices_.Below(3)),
                           .flags = static_cast<uint16_t>(choices_.Below(2)),
                           .name = Name(),
                           .sample_id = Id()});
      case 1:
        return Add(kRecordBpfEvent, 0,
                   BpfEvent{.event_type = static_cast<uint16_t>(choices_.Below(3)),
                            .id = choices_.Byte(),
                            .sample_id = Id()});
      case 2: {
        const std::span<const std::byte> code = BytesOfText("before after");
        return Add(kRecordTextPoke, 0, TextPoke{Address(), 6, 6, code, Id()});
      }
      default:
        return Add(kRecordCgroup, 0, Cgroup{choices_.Below(3), Name(), Id()});
    }
  }

  void AddOfTheRing() {
    switch (choices_.Below(7)) {
      case 0:
        return Add(kRecordLost, 0, Lost{id_, choices_.OneOf(kLengths), Id()});
      case 1:
        return Add(kRecordLostSamples, 0, LostSamples{choices_.OneOf(kLengths), Id()});
      case 2:
        return Add(kRecordThrottle, 0, Throttle{time_, id_, 0, Id()});
      case 3:
        return Add(kRecordUnthrottle, 0, Throttle{time_, id_, 0, Id()});
      case 4:
        return Add(kRecordSwitch, choices_.Yes() ? kMiscSwitchOut : 0, Switch{Id()});
      case 5:
        return Add(kRecordSwitchCpuWide, choices_.Yes() ? kMiscSwitchOut : 0,
                   SwitchCpuWide{Process(), Process(), Id()});
      default:
        return perf_data::AddRecord(kRecordFinishedRound, "", &program_.records);
    }
  }

  void AddOne() {
    switch (choices_.Below(12)) {
      case 0:
      case 1:
      case 2:
        return AddMapping();
      case 3:
        return Add(kRecordComm, choices_.Yes() ? kMiscCommExec : 0, Comm{pid_, tid_, Name(), Id()});
      case 4:
        return AddTask(kRecordFork);
      case 5:
        return AddTask(kRecordExit);
      case 6:
        return AddOfTheKernel();
      case 7:
        return AddOfTheRing();
      case 8: {
        const U64Array links = Words(choices_.Below(8) * 2, false);
        return Add(kRecordNamespaces, 0, Namespaces{pid_, tid_, links, Id()});
      }
      case 9: {
        const U64Array chain = Words(choices_.Below(8), true);
        return Add(kRecordCallchainDeferred, 0,
                   CallchainDeferred{chain.empty() ? 0 : chain[0], chain, Id()});
      }
      default:
        return AddSample();
    }
  }

  Choices& choices_;
  const std::span<const std::string> files_;
  const Attr attr_;
  const RecordLayout layout_;
  RecordProgram program_;
  std::vector<uint64_t> words_, registers_, counters_;
  uint64_t time_ = 100, id_ = 1, count_ = 0, last_mapped_ = 0;
  uint32_t pid_ = 7, tid_ = 7, cpu_ = 0;
};

}  // namespace

RecordProgram MakeRecords(Choices& choices, std::span<const std::string> files,
                          size_t most_records) {
  return Maker(choices, files).Make(most_records);
}

}  // namespace profiler::fuzz
