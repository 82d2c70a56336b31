// How the kernel's records are laid out, written once each for reading, writing, measuring and
// byte-swapping (record_io.h). Above each: its body as in include/uapi/linux/perf_event.h, Linux
// 7.2. All but SAMPLE end in a sample_id (sample_fields.h) where attr.sample_id_all is set.
//
// Private to this package: include codec.h.

#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "src/perf_event/codec.h"
#include "src/perf_event/record_io.h"
#include "src/perf_event/records.h"
#include "src/perf_event/sample_fields.h"

namespace profiler::perf_event {

template <class R, class Record>
concept IsA = std::same_as<std::remove_const_t<R>, Record>;

// The end of every record but SAMPLE. Found from the record's end: a newer kernel may have put
// fields of its own in front.
template <class Io, class R>
void Trailer(Io& io, const RecordLayout& layout, R& record) {
  if (!layout.sample_id_all) return;
  io.SkipTo(layout.trailer_size);
  SampleIdFields(io, layout, record.sample_id);
}

// MMAP        u32 pid, tid; u64 addr, len, pgoff; char filename[]
template <class Io, IsA<Mmap> R>
void Fields(Io& io, const RecordLayout& layout, R& mmap) {
  io.Value(mmap.pid);
  io.Value(mmap.tid);
  io.Value(mmap.addr);
  io.Value(mmap.len);
  io.Value(mmap.pgoff);
  io.Text(mmap.filename, layout.trailer_size);
  Trailer(io, layout, mmap);
}

// What identifies the file of an MMAP2, 24 bytes either way
//
//   misc without MMAP_BUILD_ID      with it
//   u32 maj, min                    u8  build_id_size
//   u64 ino                         u8  reserved; u16 reserved
//   u64 ino_generation              u8  build_id[20]
template <class Io, class R>
void MappedFileFields(Io& io, R& mmap) {
  constexpr size_t kMaxBuildId = 20;
  if (!(io.misc() & kMiscMmapBuildId)) {
    io.Value(mmap.maj);
    io.Value(mmap.min);
    io.Value(mmap.ino);
    io.Value(mmap.ino_generation);
    return;
  }
  std::byte prefix[4] = {std::byte(std::min(mmap.build_id.size(), kMaxBuildId))};
  std::span<const std::byte> prefix_bytes(prefix), build_id = mmap.build_id;
  io.Bytes(sizeof(prefix), prefix_bytes);
  io.Bytes(kMaxBuildId, build_id);
  if constexpr (Io::kReads) {
    const size_t size = prefix_bytes.empty() ? 0 : std::to_integer<size_t>(prefix_bytes[0]);
    mmap.build_id = build_id.first(std::min(size, build_id.size()));
  }
}

// MMAP2       u32 pid, tid; u64 addr, len, pgoff; file (above); u32 prot, flags; char filename[]
template <class Io, IsA<Mmap2> R>
void Fields(Io& io, const RecordLayout& layout, R& mmap) {
  io.Value(mmap.pid);
  io.Value(mmap.tid);
  io.Value(mmap.addr);
  io.Value(mmap.len);
  io.Value(mmap.pgoff);
  MappedFileFields(io, mmap);
  io.Value(mmap.prot);
  io.Value(mmap.flags);
  io.Text(mmap.filename, layout.trailer_size);
  Trailer(io, layout, mmap);
}

// LOST        u64 id, lost
template <class Io, IsA<Lost> R>
void Fields(Io& io, const RecordLayout& layout, R& lost) {
  io.Value(lost.id);
  io.Value(lost.lost);
  Trailer(io, layout, lost);
}

// COMM        u32 pid, tid; char comm[]
template <class Io, IsA<Comm> R>
void Fields(Io& io, const RecordLayout& layout, R& comm) {
  io.Value(comm.pid);
  io.Value(comm.tid);
  io.Text(comm.comm, layout.trailer_size);
  Trailer(io, layout, comm);
}

// FORK, EXIT  u32 pid, ppid, tid, ptid; u64 time
template <class Io, IsA<Task> R>
void Fields(Io& io, const RecordLayout& layout, R& task) {
  io.Value(task.pid);
  io.Value(task.ppid);
  io.Value(task.tid);
  io.Value(task.ptid);
  io.Value(task.time);
  Trailer(io, layout, task);
}

// THROTTLE, UNTHROTTLE   u64 time, id, stream_id
template <class Io, IsA<Throttle> R>
void Fields(Io& io, const RecordLayout& layout, R& throttle) {
  io.Value(throttle.time);
  io.Value(throttle.id);
  io.Value(throttle.stream_id);
  Trailer(io, layout, throttle);
}

// READ        u32 pid, tid; struct read_format values
template <class Io, IsA<Read> R>
void Fields(Io& io, const RecordLayout& layout, R& read) {
  io.Value(read.pid);
  io.Value(read.tid);
  ReadFormatFields(io, layout.read_format, read.values);
  Trailer(io, layout, read);
}

// SAMPLE      sample_fields.h; no trailer
template <class Io, IsA<Sample> R>
void Fields(Io& io, const RecordLayout& layout, R& sample) {
  SampleFields(io, layout, sample);
}

// AUX         u64 aux_offset, aux_size, flags
template <class Io, IsA<Aux> R>
void Fields(Io& io, const RecordLayout& layout, R& aux) {
  io.Value(aux.aux_offset);
  io.Value(aux.aux_size);
  io.Value(aux.flags);
  Trailer(io, layout, aux);
}

// ITRACE_START   u32 pid, tid
template <class Io, IsA<ItraceStart> R>
void Fields(Io& io, const RecordLayout& layout, R& start) {
  io.Value(start.pid);
  io.Value(start.tid);
  Trailer(io, layout, start);
}

// LOST_SAMPLES   u64 lost
template <class Io, IsA<LostSamples> R>
void Fields(Io& io, const RecordLayout& layout, R& lost) {
  io.Value(lost.lost);
  Trailer(io, layout, lost);
}

// SWITCH      nothing of its own
template <class Io, IsA<Switch> R>
void Fields(Io& io, const RecordLayout& layout, R& record) {
  Trailer(io, layout, record);
}

// SWITCH_CPU_WIDE   u32 next_prev_pid, next_prev_tid
template <class Io, IsA<SwitchCpuWide> R>
void Fields(Io& io, const RecordLayout& layout, R& record) {
  io.Value(record.next_prev_pid);
  io.Value(record.next_prev_tid);
  Trailer(io, layout, record);
}

// NAMESPACES  u32 pid, tid; u64 nr; { u64 dev, inode } [nr]
template <class Io, IsA<Namespaces> R>
void Fields(Io& io, const RecordLayout& layout, R& namespaces) {
  io.Value(namespaces.pid);
  io.Value(namespaces.tid);
  const uint64_t nr = io.Count(uint64_t{namespaces.links.size() / 2});
  io.Words(SaturatingProduct(nr, 2), namespaces.links);
  Trailer(io, layout, namespaces);
}

// KSYMBOL     u64 addr; u32 len; u16 ksym_type, flags; char name[]
template <class Io, IsA<Ksymbol> R>
void Fields(Io& io, const RecordLayout& layout, R& symbol) {
  io.Value(symbol.addr);
  io.Value(symbol.len);
  io.Value(symbol.ksym_type);
  io.Value(symbol.flags);
  io.Text(symbol.name, layout.trailer_size);
  Trailer(io, layout, symbol);
}

// BPF_EVENT   u16 type, flags; u32 id; u8 tag[8]
template <class Io, IsA<BpfEvent> R>
void Fields(Io& io, const RecordLayout& layout, R& event) {
  io.Value(event.event_type);
  io.Value(event.flags);
  io.Value(event.id);
  std::span<const std::byte> tag = BytesOf(event.tag);
  io.Bytes(sizeof(event.tag), tag);
  if constexpr (Io::kReads) {
    if (tag.size() == sizeof(event.tag)) std::memcpy(&event.tag, tag.data(), tag.size());
  }
  Trailer(io, layout, event);
}

// CGROUP      u64 id; char path[]
template <class Io, IsA<Cgroup> R>
void Fields(Io& io, const RecordLayout& layout, R& cgroup) {
  io.Value(cgroup.id);
  io.Text(cgroup.path, layout.trailer_size);
  Trailer(io, layout, cgroup);
}

// TEXT_POKE   u64 addr; u16 old_len, new_len; u8 bytes[old_len + new_len], padded with them to 8
template <class Io, IsA<TextPoke> R>
void Fields(Io& io, const RecordLayout& layout, R& poke) {
  io.Value(poke.addr);
  io.Value(poke.old_len);
  io.Value(poke.new_len);
  io.Padded(uint64_t{poke.old_len} + poke.new_len, poke.bytes, layout.trailer_size);
  Trailer(io, layout, poke);
}

// AUX_OUTPUT_HW_ID   u64 hw_id
template <class Io, IsA<AuxOutputHwId> R>
void Fields(Io& io, const RecordLayout& layout, R& record) {
  io.Value(record.hw_id);
  Trailer(io, layout, record);
}

// CALLCHAIN_DEFERRED   u64 cookie; u64 nr; u64 ips[nr]
template <class Io, IsA<CallchainDeferred> R>
void Fields(Io& io, const RecordLayout& layout, R& deferred) {
  io.Value(deferred.cookie);
  io.Words(io.Count(uint64_t{deferred.callchain.size()}), deferred.callchain);
  Trailer(io, layout, deferred);
}

}  // namespace profiler::perf_event
