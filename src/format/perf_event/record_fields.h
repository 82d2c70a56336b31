// The layouts of the kernel's records, each written once for reading, writing, measuring and
// byte-swapping (record_io.h). The comment of each layout is the body as in
// include/uapi/linux/perf_event.h, Linux 7.2. If attr.sample_id_all is set, all records except
// SAMPLE end in a sample_id (sample_fields.h).
//
// Private to this package: include codec.h.

#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "src/format/perf_event/codec.h"
#include "src/format/perf_event/record_io.h"
#include "src/format/perf_event/records.h"
#include "src/format/perf_event/sample_fields.h"

namespace profiler::perf_event {

template <class R, class Record>
concept IsA = std::same_as<std::remove_const_t<R>, Record>;

// The end of every record except SAMPLE. It is located from the record's end, because a newer
// kernel may have added fields before it.
template <class Io, class R>
void Trailer(Io& io, const RecordLayout& layout, R& record) {
  if (!layout.sample_id_all) return;
  io.SkipTo(layout.trailer_size);
  SampleIdFields(io, layout, record.sample_id);
}

// MMAP        u32 pid, tid; u64 addr, len, pgoff; char filename[]
template <class Io, IsA<Mmap> R>
void Fields(Io& io, const RecordLayout& layout, R& mmap) {
  io.Value("pid", mmap.pid);
  io.Value("tid", mmap.tid);
  io.Value(Hex("addr"), mmap.addr);
  io.Value(Hex("len"), mmap.len);
  io.Value(Hex("pgoff"), mmap.pgoff);
  io.Text("filename", mmap.filename, layout.trailer_size);
  Trailer(io, layout, mmap);
}

// The 24 bytes of an MMAP2 that identify its file:
//
//   misc without MMAP_BUILD_ID      with it
//   u32 maj, min                    u8  build_id_size
//   u64 ino                         u8  reserved; u16 reserved
//   u64 ino_generation              u8  build_id[20]
template <class Io, class R>
void MappedFileFields(Io& io, R& mmap) {
  constexpr size_t kMaxBuildId = 20;
  if (!(io.misc() & kMiscMmapBuildId)) {
    io.Value("maj", mmap.maj);
    io.Value("min", mmap.min);
    io.Value("ino", mmap.ino);
    io.Value("ino_generation", mmap.ino_generation);
    return;
  }
  std::byte prefix[4] = {std::byte(std::min(mmap.build_id.size(), kMaxBuildId))};
  std::span<const std::byte> prefix_bytes(prefix), build_id = mmap.build_id;
  io.Bytes("build_id_size", sizeof(prefix), prefix_bytes);
  io.Bytes("build_id", kMaxBuildId, build_id);
  if constexpr (Io::kReads) {
    const size_t size = prefix_bytes.empty() ? 0 : std::to_integer<size_t>(prefix_bytes[0]);
    mmap.build_id = build_id.first(std::min(size, build_id.size()));
  }
}

// True for an MMAP2 of Linux 3.12 to 3.15, which has no prot and flags: the name is in their place.
// A name begins with '/' or '['; the first and the last byte of a prot are at most 7. Both bytes
// are checked, so that invalid data gives the same result in either byte order.
template <class Io>
bool LacksProtection(const Io& io) {
  const auto begins_name = [](uint8_t byte) { return byte == '/' || byte == '['; };
  return begins_name(io.PeekByte(0)) || begins_name(io.PeekByte(sizeof(Mmap2::prot) - 1));
}

// MMAP2       u32 pid, tid; u64 addr, len, pgoff; file (above); u32 prot, flags; char filename[]
template <class Io, IsA<Mmap2> R>
void Fields(Io& io, const RecordLayout& layout, R& mmap) {
  io.Value("pid", mmap.pid);
  io.Value("tid", mmap.tid);
  io.Value(Hex("addr"), mmap.addr);
  io.Value(Hex("len"), mmap.len);
  io.Value(Hex("pgoff"), mmap.pgoff);
  MappedFileFields(io, mmap);
  if (!LacksProtection(io)) {
    io.Value({"prot", Shown::kProtection}, mmap.prot);
    io.Value(Hex("flags"), mmap.flags);
  }
  io.Text("filename", mmap.filename, layout.trailer_size);
  Trailer(io, layout, mmap);
}

// LOST        u64 id, lost
template <class Io, IsA<Lost> R>
void Fields(Io& io, const RecordLayout& layout, R& lost) {
  io.Value(Hex("id"), lost.id);
  io.Value("lost", lost.lost);
  Trailer(io, layout, lost);
}

// COMM        u32 pid, tid; char comm[]
template <class Io, IsA<Comm> R>
void Fields(Io& io, const RecordLayout& layout, R& comm) {
  io.Value("pid", comm.pid);
  io.Value("tid", comm.tid);
  io.Text("comm", comm.comm, layout.trailer_size);
  Trailer(io, layout, comm);
}

// FORK, EXIT  u32 pid, ppid, tid, ptid; u64 time
template <class Io, IsA<Task> R>
void Fields(Io& io, const RecordLayout& layout, R& task) {
  io.Value("pid", task.pid);
  io.Value("ppid", task.ppid);
  io.Value("tid", task.tid);
  io.Value("ptid", task.ptid);
  io.Value("time", task.time);
  Trailer(io, layout, task);
}

// THROTTLE, UNTHROTTLE   u64 time, id, stream_id
template <class Io, IsA<Throttle> R>
void Fields(Io& io, const RecordLayout& layout, R& throttle) {
  io.Value("time", throttle.time);
  io.Value(Hex("id"), throttle.id);
  io.Value(Hex("stream_id"), throttle.stream_id);
  Trailer(io, layout, throttle);
}

// READ        u32 pid, tid; struct read_format values
template <class Io, IsA<Read> R>
void Fields(Io& io, const RecordLayout& layout, R& read) {
  io.Value("pid", read.pid);
  io.Value("tid", read.tid);
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
  io.Value(Hex("aux_offset"), aux.aux_offset);
  io.Value(Hex("aux_size"), aux.aux_size);
  io.Value(Hex("flags"), aux.flags);
  Trailer(io, layout, aux);
}

// ITRACE_START   u32 pid, tid
template <class Io, IsA<ItraceStart> R>
void Fields(Io& io, const RecordLayout& layout, R& start) {
  io.Value("pid", start.pid);
  io.Value("tid", start.tid);
  Trailer(io, layout, start);
}

// LOST_SAMPLES   u64 lost
template <class Io, IsA<LostSamples> R>
void Fields(Io& io, const RecordLayout& layout, R& lost) {
  io.Value("lost", lost.lost);
  Trailer(io, layout, lost);
}

// SWITCH      no fields of its own
template <class Io, IsA<Switch> R>
void Fields(Io& io, const RecordLayout& layout, R& record) {
  Trailer(io, layout, record);
}

// SWITCH_CPU_WIDE   u32 next_prev_pid, next_prev_tid
template <class Io, IsA<SwitchCpuWide> R>
void Fields(Io& io, const RecordLayout& layout, R& record) {
  io.Value("next_prev_pid", record.next_prev_pid);
  io.Value("next_prev_tid", record.next_prev_tid);
  Trailer(io, layout, record);
}

// NAMESPACES  u32 pid, tid; u64 nr; { u64 dev, inode } [nr]
template <class Io, IsA<Namespaces> R>
void Fields(Io& io, const RecordLayout& layout, R& namespaces) {
  io.Value("pid", namespaces.pid);
  io.Value("tid", namespaces.tid);
  const uint64_t nr = io.Count("nr_namespaces", uint64_t{namespaces.links.size() / 2});
  io.Words({"link_info", Shown::kNamespaces}, SaturatingProduct(nr, 2), namespaces.links);
  Trailer(io, layout, namespaces);
}

// KSYMBOL     u64 addr; u32 len; u16 ksym_type, flags; char name[]
template <class Io, IsA<Ksymbol> R>
void Fields(Io& io, const RecordLayout& layout, R& symbol) {
  io.Value(Hex("addr"), symbol.addr);
  io.Value(Hex("len"), symbol.len);
  io.Value("ksym_type", symbol.ksym_type);
  io.Value(Hex("flags"), symbol.flags);
  io.Text("name", symbol.name, layout.trailer_size);
  Trailer(io, layout, symbol);
}

// BPF_EVENT   u16 type, flags; u32 id; u8 tag[8]
template <class Io, IsA<BpfEvent> R>
void Fields(Io& io, const RecordLayout& layout, R& event) {
  io.Value("event_type", event.event_type);
  io.Value(Hex("flags"), event.flags);
  io.Value("id", event.id);
  std::span<const std::byte> tag = BytesOf(event.tag);
  io.Bytes("tag", sizeof(event.tag), tag);
  if constexpr (Io::kReads) {
    if (tag.size() == sizeof(event.tag)) std::memcpy(&event.tag, tag.data(), tag.size());
  }
  Trailer(io, layout, event);
}

// CGROUP      u64 id; char path[]
template <class Io, IsA<Cgroup> R>
void Fields(Io& io, const RecordLayout& layout, R& cgroup) {
  io.Value("id", cgroup.id);
  io.Text("path", cgroup.path, layout.trailer_size);
  Trailer(io, layout, cgroup);
}

// TEXT_POKE   u64 addr; u16 old_len, new_len; u8 bytes[old_len + new_len], padded to 8 bytes
template <class Io, IsA<TextPoke> R>
void Fields(Io& io, const RecordLayout& layout, R& poke) {
  io.Value(Hex("addr"), poke.addr);
  io.Value("old_len", poke.old_len);
  io.Value("new_len", poke.new_len);
  io.Padded("bytes", uint64_t{poke.old_len} + poke.new_len, poke.bytes, layout.trailer_size);
  Trailer(io, layout, poke);
}

// AUX_OUTPUT_HW_ID   u64 hw_id
template <class Io, IsA<AuxOutputHwId> R>
void Fields(Io& io, const RecordLayout& layout, R& record) {
  io.Value(Hex("hw_id"), record.hw_id);
  Trailer(io, layout, record);
}

// CALLCHAIN_DEFERRED   u64 cookie; u64 nr; u64 ips[nr]
template <class Io, IsA<CallchainDeferred> R>
void Fields(Io& io, const RecordLayout& layout, R& deferred) {
  io.Value(Hex("cookie"), deferred.cookie);
  io.Words({"ips", Shown::kCallchain}, io.Count("nr", uint64_t{deferred.callchain.size()}),
           deferred.callchain);
  Trailer(io, layout, deferred);
}

}  // namespace profiler::perf_event
