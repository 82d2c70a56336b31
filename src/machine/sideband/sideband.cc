#include "src/machine/sideband/sideband.h"

#include "src/format/perf_event/abi.h"
#include "src/machine/sideband/user_image.h"

namespace profiler::sideband {
namespace {

using perf_event::RawRecord;
using perf_event::RecordLayout;

// Decodes a record and passes it to `use`.
template <class Record, class Use>
Sideband::Result Decoded(RawRecord raw, const RecordLayout& layout, Use use) {
  Record record;
  if (!Decode(raw, layout, &record)) return Sideband::Result::kTooShort;
  use(record);
  return Sideband::Result::kTaken;
}

}  // namespace

Sideband::Result Sideband::Take(RawRecord record, const RecordLayout& layout) {
  const uint16_t misc = record.misc();
  switch (record.type()) {
    case perf_event::kRecordMmap:
      // An MMAP has fewer fields than an MMAP2.
      return Decoded<perf_event::Mmap>(record, layout, [&](const perf_event::Mmap& mmap) {
        Map(misc, {.pid = mmap.pid,
                   .tid = mmap.tid,
                   .addr = mmap.addr,
                   .len = mmap.len,
                   .pgoff = mmap.pgoff,
                   .filename = mmap.filename});
      });
    case perf_event::kRecordMmap2:
      return Decoded<perf_event::Mmap2>(record, layout,
                                        [&](const perf_event::Mmap2& mmap) { Map(misc, mmap); });
    case perf_event::kRecordComm:
      return Decoded<perf_event::Comm>(record, layout, [&](const perf_event::Comm& comm) {
        const bool by_exec = (misc & perf_event::kMiscCommExec) != 0;
        if (by_exec) {
          spaces_.Exec(comm.pid);
          programs_.erase(comm.pid);
        }
        user_.Named(comm, by_exec);
      });
    case perf_event::kRecordFork:
      return Decoded<perf_event::Task>(record, layout, [&](const perf_event::Task& task) {
        // Recorders set this bit in the records that they synthesize for running processes. MMAP2
        // records of all mappings follow.
        const bool made_up = (misc & perf_event::kMiscForkExec) != 0;
        if (!made_up) Fork(task);
        user_.Forked(task);
      });
    case perf_event::kRecordExit:
      // The mappings stay, because samples from before the exit may still come. A later fork or
      // exec with the same pid drops them.
      return Decoded<perf_event::Task>(record, layout,
                                       [&](const perf_event::Task& task) { user_.Ended(task); });
    case perf_event::kRecordKsymbol:
      return Decoded<perf_event::Ksymbol>(record, layout, [&](const perf_event::Ksymbol& symbol) {
        user_.FoundKernelSymbol(symbol);
      });
    default:
      return Result::kOther;
  }
}

void Sideband::Fork(const perf_event::Task& task) {
  spaces_.Fork(task.ppid, task.pid);
  if (task.ppid == task.pid) return;  // a new thread, which has no program of its own
  const auto parent = programs_.find(task.ppid);
  if (parent == programs_.end()) {
    programs_.erase(task.pid);
  } else {
    const symbolize::ImageId program = parent->second;
    programs_[task.pid] = program;
  }
}

void Sideband::Map(uint16_t misc, const perf_event::Mmap2& recorded) {
  switch (misc & perf_event::kMiscCpumodeMask) {
    case perf_event::kMiscKernel:
      return user_.FoundKernelCode(recorded);
    case perf_event::kMiscHypervisor:
    case perf_event::kMiscGuestKernel:
    case perf_event::kMiscGuestUser:
      return;  // no view looks up addresses of guests or hypervisors
    default:
      break;
  }
  perf_event::Mmap2 mmap = recorded;
  mmap.filename = NameOfUserImage(recorded.filename, recorded.addr);
  const symbolize::ImageKind kind = KindOfUserImage(mmap.filename, !mmap.build_id.empty());
  if (kind == symbolize::ImageKind::kJitDump) return user_.FoundJitDump(mmap);
  symbolize::AddressSpace& process = spaces_.Process(mmap.pid);
  const bool is_data = (misc & perf_event::kMiscMmapData) != 0;
  if (kind == symbolize::ImageKind::kUser && !is_data && user_.IsJitDump(mmap)) {
    return user_.FoundJitDump(mmap);
  }
  if (is_data) {
    process.Unmap(RuntimeAddress{mmap.addr}, mmap.len);  // code that was mapped there is gone
    user_.MappedData(mmap, kind);
    return;
  }
  const bool is_memory =
      kind == symbolize::ImageKind::kJit || kind == symbolize::ImageKind::kAnonymous;
  if (is_memory && IsWithinProgram(mmap, process)) return;
  const symbolize::Mapping mapping = user_.UserMapping(mmap, kind);
  if (kind == symbolize::ImageKind::kUser) programs_.try_emplace(mmap.pid, mapping.image);
  process.Map(mapping);
  if (is_memory) user_.MappedMemory(mmap);
}

bool Sideband::IsWithinProgram(const perf_event::Mmap2& mmap,
                               const symbolize::AddressSpace& process) const {
  const auto program = programs_.find(mmap.pid);
  const bool is_sound = mmap.len != 0 && mmap.addr + (mmap.len - 1) >= mmap.addr;
  if (program == programs_.end() || !is_sound) return false;
  for (uint64_t done = 0; done < mmap.len;) {
    const symbolize::Mapping* const mapping = process.Find({mmap.addr + done});
    if (mapping == nullptr || mapping->image != program->second) return false;
    done = mapping->start.value + mapping->size - mmap.addr;
  }
  return true;
}

}  // namespace profiler::sideband
