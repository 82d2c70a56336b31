// Fuzzes mappings, forks, execs and exits in any order, with samples among them. Compares each
// address's mapping with a second, simple account of the mappings, and a profile's sums with the
// samples that were written.

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/base/unique_fd.h"
#include "src/format/perf_data/read/recording.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/codec.h"
#include "src/machine/sideband/sideband.h"
#include "src/profile/profile_builder.h"
#include "src/profile/profile_codec.h"
#include "src/profile/testing/fake_symbolizer.h"
#include "symbolize/address_space.h"
#include "tests/fuzz/choices.h"
#include "tests/fuzz/compiled_programs.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/joint_recording.h"
#include "tests/fuzz/record_program.h"
#include "tests/fuzz/recording_files.h"
#include "tests/fuzz/scratch_directory.h"

namespace profiler::fuzz {
namespace {

using perf_data::Recording;
using perf_data::TimedRecord;
using symbolize::Mapping;

// --- the mapping of an address -------------------------------------------------------------------

// A simple account of each process's mappings, in order of arrival. If several mappings contain an
// address, the last of them is valid at that address.
class Account {
 public:
  struct Place {
    std::string image;
    uint64_t at = 0;
    bool operator==(const Place&) const = default;
  };

  void Map(uint32_t pid, const Mapping& mapping, std::string image) {
    processes_[pid].push_back({mapping, std::move(image), true});
  }
  void Unmap(uint32_t pid, uint64_t start, uint64_t size) {
    processes_[pid].push_back({{.start = {start}, .size = size}, "", false});
  }
  void Exec(uint32_t pid) { processes_[pid].clear(); }
  void Fork(uint32_t parent, uint32_t child) {
    if (parent != child) processes_[child] = processes_[parent];
  }
  std::optional<Place> Find(uint32_t pid, uint64_t address) const {
    const auto process = processes_.find(pid);
    if (process == processes_.end()) return std::nullopt;
    const std::vector<Told>& told = process->second;
    const auto last = std::find_if(told.rbegin(), told.rend(), [address](const Told& one) {
      const uint64_t start = one.mapping.start.value;
      return address >= start && address - start < one.mapping.size;
    });
    if (last == told.rend() || !last->is_code) return std::nullopt;
    return Place{last->image, last->mapping.place.value + (address - last->mapping.start.value)};
  }

 private:
  struct Told {
    Mapping mapping;
    std::string image;
    bool is_code;
  };
  std::map<uint32_t, std::vector<Told>> processes_;
};

// A feeder of the same records to a tracker (Sideband) and to an Account. It compares the two.
class Tracked final : private sideband::SidebandUser {
 public:
  void Take(const TimedRecord& timed, const perf_event::RecordLayout& layout) {
    if (sideband_.Take(timed.record, layout) != sideband::Sideband::Result::kTaken) return;
    KeepAccount(timed.record, layout);
    constexpr int kOften = 16;  // compares after every 16th record, to save time
    if (++taken_ % kOften == 0) Compare(changed_);
  }
  void CompareAll() {
    for (const uint32_t pid : kProcesses) Compare(pid);
  }
  const Account& account() const { return account_; }

 private:
  Mapping UserMapping(const perf_event::Mmap2& mmap, symbolize::ImageKind kind) override {
    Mapping mapping{{mmap.addr}, mmap.len, RuntimeAddress{mmap.addr}, ImageOf(mmap.filename)};
    if (kind == symbolize::ImageKind::kUser) mapping.place = FileOffset{mmap.pgoff};
    if (kind == symbolize::ImageKind::kVdso) mapping.place = FileOffset{0};
    account_.Map(mmap.pid, mapping, std::string(mmap.filename));
    changed_ = mmap.pid;
    return mapping;
  }

  symbolize::ImageId ImageOf(std::string_view name) {
    const auto number = static_cast<uint32_t>(images_.size());
    const auto [image, is_new] = images_.try_emplace(std::string(name), number);
    if (is_new) names_.push_back(image->first);
    return symbolize::ImageId(image->second);
  }

  // Updates the account for records that do not make UserMapping() be called.
  void KeepAccount(perf_event::RawRecord record, const perf_event::RecordLayout& layout) {
    if (record.type() == perf_event::kRecordComm) {
      perf_event::Comm comm;
      Require(Decode(record, layout, &comm), "a record that was taken is whole");
      if ((record.misc() & perf_event::kMiscCommExec) != 0) account_.Exec(changed_ = comm.pid);
    } else if (record.type() == perf_event::kRecordFork) {
      perf_event::Task task;
      Require(Decode(record, layout, &task), "a record that was taken is whole");
      changed_ = task.pid;
      if ((record.misc() & perf_event::kMiscForkExec) == 0) account_.Fork(task.ppid, task.pid);
    } else if (record.type() == perf_event::kRecordMmap2) {
      perf_event::Mmap2 mmap;
      Require(Decode(record, layout, &mmap), "a record that was taken is whole");
      TakeDataAway(record.misc(), mmap);
    } else if (record.type() == perf_event::kRecordMmap) {
      perf_event::Mmap mmap;
      Require(Decode(record, layout, &mmap), "a record that was taken is whole");
      TakeDataAway(
          record.misc(),
          {.pid = mmap.pid, .addr = mmap.addr, .len = mmap.len, .filename = mmap.filename});
    }
  }
  void TakeDataAway(uint16_t misc, const perf_event::Mmap2& mmap) {
    const uint16_t mode = misc & perf_event::kMiscCpumodeMask;
    if (mode != perf_event::kMiscUser && mode != perf_event::kMiscCpumodeUnknown) return;
    if ((misc & perf_event::kMiscMmapData) == 0 || mmap.filename.ends_with("/jit-7.dump")) return;
    account_.Unmap(mmap.pid, mmap.addr, mmap.len);
    changed_ = mmap.pid;
  }

  void Compare(uint32_t pid) {
    const symbolize::AddressSpace& space = sideband_.spaces().Process(pid);
    uint64_t end = 0;
    for (const Mapping& mapping : space.mappings()) {
      Require(mapping.size > 0 && mapping.start.value >= end, "mappings lie side by side");
      end = mapping.start.value + (mapping.size - 1);
    }
    for (const uint64_t lowest : kLowestAddresses) {
      for (uint64_t page = 0; page <= kPages; ++page) {
        for (const uint64_t offset : {-1, 0, 1}) CompareAt(pid, lowest + page * kPage + offset);
      }
    }
  }

  void CompareAt(uint32_t pid, uint64_t address) {
    const Mapping* const found = sideband_.spaces().Process(pid).Find(RuntimeAddress{address});
    const std::optional<Account::Place> told = account_.Find(pid, address);
    Require((found != nullptr) == told.has_value(), "what was mapped last is found");
    if (found == nullptr) return;
    const uint64_t distance = address - found->start.value;
    Require(address >= found->start.value && distance < found->size,
            "an address lies in the mapping that it is found in");
    const Account::Place place = {names_[static_cast<uint32_t>(found->image)],
                                  found->place.value + distance};
    Require(place == *told, "an address has the image and the place that were mapped last");
  }

  sideband::Sideband sideband_{*this};
  Account account_;
  std::map<std::string, uint32_t> images_;
  std::vector<std::string> names_;
  uint32_t changed_ = 0;
  int taken_ = 0;
};

// --- profiles ----------------------------------------------------------------------------------

constexpr profile::DimensionSet kDimensions = {true, true, true, true, true, true};

// The profile of a recording's records, with names that need no files.
struct Built {
  explicit Built(profile::DimensionSet dimensions)
      : builder(symbolizer, {.dimensions = dimensions,
                             .slices = profile::TimeSlices::Of(0, 1000, 4),
                             .keep_branches = true,
                             .keep_order = true}) {}

  void Read(Recording& recording) {
    const absl::Status status =
        recording.ForEach(Recording::Order::kTime, [&](const TimedRecord& timed) {
          AddEvents(recording);
          samples += timed.record.type() == perf_event::kRecordSample;
          builder.Add(timed.record, timed.event, timed.time);
        });
    AddEvents(recording);  // needed if the recording has no records
    Require(status.ok(), "what was written whole is read whole");
  }

  // Adds events that the recording has announced since the last call.
  void AddEvents(const Recording& recording) {
    for (; known_events < recording.events().size(); ++known_events) {
      const perf_data::EventDescription& event = recording.events()[known_events];
      builder.AddEvent(event.name, event.attr, event.ids);
    }
  }

  profile::FakeSymbolizer symbolizer;
  profile::ProfileBuilder builder;
  size_t known_events = 0;
  uint64_t samples = 0;
};

std::unique_ptr<Recording> Open(const std::string& path) {
  auto recording = Recording::Open(path);
  Require(recording.ok(), "what was written whole can be read");
  return *std::move(recording);
}

Bytes Stored(Recording& recording) {
  Built built({true, true});
  built.Read(recording);
  profile::Profile profile = std::move(built.builder).Unnamed().profile;
  return ToBytes(EncodeProfile(profile, 1));
}

Bytes StoredOfFile(std::span<const std::byte> bytes) {
  MemoryFile file;
  file.Fill(bytes);
  return Stored(*Open(file.path()));
}

Bytes StoredOfPipe(std::span<const std::byte> bytes) {
  const UniqueFd pipe = FilledPipe(bytes);
  return Stored(*Open(PathOf(pipe.get())));
}

void CheckTables(const profile::Profile& profile) {
  for (uint32_t i = 0; i < profile.stacks.size(); ++i) {
    const profile::StackNode& node = profile.stacks[i];
    const bool is_root = node.parent == profile::kNoStack;
    Require(is_root || static_cast<uint32_t>(node.parent) < i, "a caller stands before its callee");
    Require(node.depth == (is_root ? 1 : profile[node.parent].depth + 1), "a stack has its depth");
    Require(static_cast<uint32_t>(node.frame) < profile.frames.size(), "a stack has its frames");
  }
  for (const profile::Frame& frame : profile.frames) {
    Require(static_cast<uint32_t>(frame.image) < profile.images.size(), "a frame has its image");
    Require(frame.first_line + size_t{frame.line_count} <= profile.lines.size(),
            "a frame has its lines");
  }
}

// Requires that the profile has every sample. If samples have no counters of other events, each
// sample is in exactly one row.
void CheckTotals(const RecordProgram& program, const Built& built,
                 const profile::Profile& profile) {
  Require(built.samples == program.samples, "every sample is read");
  std::vector<uint64_t> samples(profile.events.size()), periods(profile.events.size());
  for (const profile::Row& row : profile.rows) {
    Require(row.stack != profile::kNoStack, "a row has a stack");
    samples[static_cast<uint32_t>(row.event)] += row.count;
    periods[static_cast<uint32_t>(row.event)] += row.period;
  }
  uint64_t of_events = 0, of_rows = 0;
  for (size_t i = 0; i < profile.events.size(); ++i) {
    Require(periods[i] == profile.events[i].period, "an event has the periods of its rows");
    Require(samples[i] == profile.events[i].samples, "an event has the samples of its rows");
    of_events += profile.events[i].samples;
    of_rows += samples[i];
  }
  const bool reads = (program.events.front().attr.sample_type & perf_event::kSampleRead) != 0;
  Require(reads || of_rows == program.samples, "every sample is in a row");
  Require(profile.order.size() == of_events, "every sample has its place in the order");
  Require(profile.losses.undecodable == 0, "every record is whole");
}

// Compares the profile's addresses with the account.
void CheckPlaces(const Account& account, profile::ProfileBuilder& builder) {
  for (const uint32_t pid : kProcesses) {
    for (const uint64_t lowest : {kLowestAddresses[0], kLowestAddresses[1]}) {
      for (uint64_t page = 0; page < kPages; ++page) {
        const uint64_t address = lowest + page * kPage + 1;
        const profile::FrameId id = builder.FrameAt(pid, address);
        const profile::Profile& profile = builder.profile();
        const profile::Frame& frame = profile[id];
        const std::optional<Account::Place> told = account.Find(pid, address);
        const bool is_known = profile[frame.image].kind != symbolize::ImageKind::kUnknown;
        Require(is_known == told.has_value(), "a frame has an image where something is mapped");
        if (!is_known) continue;
        Require(frame.place.value == told->at, "a frame is where its image was mapped");
        const bool is_file = profile[frame.image].kind == symbolize::ImageKind::kUser;
        Require(!is_file || profile.text(profile[frame.image].long_name) == told->image,
                "a frame is in the image that was mapped");
      }
    }
  }
}

// Returns existing images, so that stacks can be unwound through them.
const std::vector<std::string>& ImageFiles() {
  static const ScratchDirectory directory;
  static const auto& files = *[] {
    auto* const paths = new std::vector<std::string>();
    for (const Bytes& program : CompiledPrograms()) {
      const std::string name = "image" + std::to_string(paths->size());
      directory.Write(name, program);
      paths->push_back(directory.PathOf(name));
    }
    return paths;
  }();
  return files;
}

// --- the target --------------------------------------------------------------------------------

void ReadSideband(std::span<const std::byte> input) {
  constexpr size_t kMostRecords = 200;
  Choices choices(input);
  const uint8_t law = choices.Byte() % 64;  // the one check to make; checks are slow
  const RecordProgram program = MakeRecords(choices, ImageFiles(), kMostRecords);
  const Bytes bytes = FileOf(program, {}, /*swapped=*/false);
  static MemoryFile& file = *new MemoryFile();
  file.Fill(bytes);
  const std::unique_ptr<Recording> recording = Open(file.path());
  Tracked tracked;
  (void)recording->ForEach(Recording::Order::kTime, [&](const TimedRecord& timed) {
    tracked.Take(timed, recording->events()[timed.event].layout);
  });
  tracked.CompareAll();
  if (law == 1) Require(Stored(*recording) == StoredOfFile(bytes), "a file has one profile");
  if (law == 2) {
    const Bytes stream = StreamOf(program, {}, /*swapped=*/false);
    constexpr size_t kPipeSize = 64 << 10;
    if (stream.size() > kPipeSize) return;
    const Bytes stored = StoredOfPipe(stream);
    Require(stored == StoredOfFile(stream), "a stream has one profile, in a pipe and in a file");
    Require(stored == Stored(*recording), "a stream has the profile that a file has");
  }
  if (law == 3) {
    const Bytes foreign = FileOf(program, {}, /*swapped=*/true);
    Require(Stored(*recording) == StoredOfFile(foreign), "either byte order has one profile");
  }
  if (law == 4 || law == 5) {
    Built built(law == 4 ? kDimensions : profile::DimensionSet{});
    built.Read(*recording);
    if (law == 5) CheckPlaces(tracked.account(), built.builder);
    const profile::Profile profile = std::move(built.builder).Finish();
    CheckTables(profile);
    CheckTotals(program, built, profile);
  }
}

std::vector<Bytes> SidebandSeeds() {
  constexpr int kWithStacks = 6;  // makes MakeRecords() add stacks to samples
  std::vector<Bytes> seeds = ProgramsByChance(24, 800);
  for (size_t i = 0; i < seeds.size(); ++i) {
    seeds[i][0] = static_cast<std::byte>(i % 6);
    if (i % 2 == 0) seeds[i][1] = std::byte{kWithStacks};
  }
  return seeds;
}

}  // namespace

FuzzTarget SidebandTarget() {
  FuzzTarget target = {"sideband", "mappings, forks, execs and samples", ReadSideband,
                       SidebandSeeds};
  target.is_slow = true;
  return target;
}

}  // namespace profiler::fuzz
