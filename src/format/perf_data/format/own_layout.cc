#include "src/format/perf_data/format/own_layout.h"

#include "src/format/perf_data/format/field_io.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_event/abi.h"

namespace profiler::perf_data {
namespace {

using perf_event::Hex;

constexpr OwnField U16(perf_event::FieldName name) { return {name, OwnField::kNumber, 2}; }
constexpr OwnField U32(perf_event::FieldName name) { return {name, OwnField::kNumber, 4}; }
constexpr OwnField U64(perf_event::FieldName name) { return {name, OwnField::kNumber, 8}; }
constexpr OwnField U8(perf_event::FieldName name) { return {name, OwnField::kNumber, 1}; }
constexpr OwnField Text(perf_event::FieldName name, uint16_t size = 0) {
  return {name, OwnField::kText, size};
}
constexpr OwnField Bytes(perf_event::FieldName name, uint16_t size = 0) {
  return {name, OwnField::kBytes, size};
}
constexpr OwnField Opaque(perf_event::FieldName name) { return {name, OwnField::kOpaque, 0}; }

constexpr OwnField kEventType[] = {U64(Hex("event_id")), Text("name")};
constexpr OwnField kTracingData[] = {U32("size")};
constexpr OwnField kBuildId[] = {U32("pid"), Bytes("build_id", kBuildIdMax), U8("size"),
                                 Bytes("reserved", 3), Text("filename")};
constexpr OwnField kNr[] = {U64("nr")};
constexpr OwnField kIdIndexEntry[] = {U64(Hex("id")), U64("idx"), U64("cpu"), U64("tid")};
constexpr OwnField kIdIndexGuest[] = {U64("machine_pid"), U64("vcpu")};
constexpr OwnField kAuxtraceInfo[] = {U32("type"), U32("reserved")};
constexpr OwnField kAuxtraceInfoEntry[] = {U64(Hex("priv"))};
constexpr OwnField kAuxtrace[] = {U64(Hex("size")), U64(Hex("offset")), U64(Hex("reference")),
                                  U32("idx"),       U32("tid"),         U32("cpu"),
                                  U32("reserved")};
constexpr OwnField kAuxtraceError[] = {U32("type"), U32("code"), U32("cpu"),    U32("pid"),
                                       U32("tid"),  U32("fmt"),  U64(Hex("ip"))};
constexpr OwnField kErrorMessage[] = {Text("msg")};
constexpr OwnField kErrorTimeAndMessage[] = {U64("time"), Text("msg")};
constexpr OwnField kErrorOfGuest[] = {U64("time"), Text("msg", 64), U32("machine_pid"),
                                      U32("vcpu")};
constexpr OwnField kThread[] = {U64("pid"), Text("comm", 16)};
constexpr OwnField kMapType[] = {U16("type")};
constexpr OwnField kMapCpus[] = {U16("type"), U16("nr")};
constexpr OwnField kMapCpu[] = {U16("cpu")};
constexpr OwnField kMapMask32[] = {U16("type"), U16("nr"), U16("long_size")};
constexpr OwnField kMapWord32[] = {U32(Hex("mask"))};
constexpr OwnField kMapMask64[] = {U16("type"), U16("nr"), U16("long_size"), Bytes("pad", 4)};
constexpr OwnField kMapWord64[] = {U64(Hex("mask"))};
constexpr OwnField kMapRange[] = {U16("type"), U8("any_cpu"), U8("pad"), U16("start_cpu"),
                                  U16("end_cpu")};
constexpr OwnField kStatTerm[] = {U64("tag"), U64("val")};
constexpr OwnField kStat[] = {U64(Hex("id")), U32("cpu"), U32("thread"),
                              U64("val"),     U64("ena"), U64("run")};
constexpr OwnField kStatRound[] = {U64("type"), U64("time")};
constexpr OwnField kUpdate[] = {U64("type"), U64(Hex("id"))};
constexpr OwnField kUpdateText[] = {Text("text")};
constexpr OwnField kUpdateScale[] = {U64(Hex("scale"))};  // the bits of a double
constexpr OwnField kTimeConv[] = {U64("time_shift"),         U64("time_mult"),
                                  U64(Hex("time_zero")),     U64(Hex("time_cycles")),
                                  U64(Hex("time_mask")),     U8("cap_user_time_zero"),
                                  U8("cap_user_time_short"), Bytes("reserved", 6)};
constexpr OwnField kFeature[] = {U64("feat_id"), Bytes("data")};
constexpr OwnField kCompressed[] = {Opaque("data")};
constexpr OwnField kCompressed2[] = {U64("data_size"), Opaque("data")};
constexpr OwnField kBpfMetadata[] = {Text("prog_name", 512), U64("nr_entries")};
constexpr OwnField kBpfMetadataEntry[] = {Text("key", 64), Text("value", 256)};
constexpr OwnField kSchedstatCpu[] = {U64("timestamp"),   U32("cpu"),          U16("version"),
                                      Bytes("pad", 2),    U32("yld_count"),    U32("array_exp"),
                                      U32("sched_count"), U32("sched_goidle"), U32("ttwu_count"),
                                      U32("ttwu_local"),  U64("rq_cpu_time"),  U64("run_delay"),
                                      U64("pcount")};
constexpr OwnField kSchedstatDomain[] = {U64("timestamp"), U32("cpu"), U16("version"),
                                         U16("domain")};
constexpr OwnField kSchedstatCount[] = {U32("count")};  // the version decides what it counts

constexpr OwnLayout kLayouts[] = {
    {perf_event::kRecordHeaderEventType, kEventType},
    {perf_event::kRecordHeaderTracingData, kTracingData},
    {perf_event::kRecordHeaderBuildId, kBuildId},
    {perf_event::kRecordIdIndex, kNr, OwnLayout::kCounted, kIdIndexEntry},
    {perf_event::kRecordAuxtraceInfo, kAuxtraceInfo, OwnLayout::kToTheEnd, kAuxtraceInfoEntry},
    {perf_event::kRecordAuxtrace, kAuxtrace},
    {perf_event::kRecordAuxtraceError, kAuxtraceError},
    {perf_event::kRecordThreadMap, kNr, OwnLayout::kCounted, kThread},
    {perf_event::kRecordStatConfig, kNr, OwnLayout::kCounted, kStatTerm},
    {perf_event::kRecordStat, kStat},
    {perf_event::kRecordStatRound, kStatRound},
    {perf_event::kRecordEventUpdate, kUpdate},
    {perf_event::kRecordTimeConv, kTimeConv},
    {perf_event::kRecordHeaderFeature, kFeature},
    {perf_event::kRecordCompressed, kCompressed},
    {perf_event::kRecordCompressed2, kCompressed2},
    {perf_event::kRecordBpfMetadata, kBpfMetadata, OwnLayout::kCounted, kBpfMetadataEntry,
     "nr_entries"},
    {perf_event::kRecordSchedstatCpu, kSchedstatCpu},
    {perf_event::kRecordSchedstatDomain, kSchedstatDomain, OwnLayout::kToTheEnd, kSchedstatCount},
};

// The second parts of records; the first part of a record selects one of them.
constexpr OwnLayout kIdIndexGuests{.entries = OwnLayout::kToTheEnd, .entry = kIdIndexGuest};
constexpr OwnLayout kCpuMapOfUnknownType{.head = kMapType};
constexpr OwnLayout kCpuMapList{.head = kMapCpus, .entries = OwnLayout::kCounted, .entry = kMapCpu};
constexpr OwnLayout kCpuMap32{
    .head = kMapMask32, .entries = OwnLayout::kCounted, .entry = kMapWord32};
constexpr OwnLayout kCpuMap64{
    .head = kMapMask64, .entries = OwnLayout::kCounted, .entry = kMapWord64};
constexpr OwnLayout kCpuMapRange{.head = kMapRange};
constexpr OwnLayout kUpdateOfText{.head = kUpdateText};
constexpr OwnLayout kUpdateOfScale{.head = kUpdateScale};
constexpr OwnLayout kErrorFormat0{.head = kErrorMessage};
constexpr OwnLayout kErrorFormat1{.head = kErrorTimeAndMessage};
constexpr OwnLayout kErrorFormat2{.head = kErrorOfGuest};

template <class T>
T At(std::span<const std::byte> body, size_t offset, bool swapped) {
  if (offset > body.size()) return 0;
  return FieldReader(body.subspan(offset), swapped).Read<T>();
}

const OwnLayout* CpuMapLayout(std::span<const std::byte> body, bool swapped) {
  switch (At<uint16_t>(body, 0, swapped)) {
    case 0:
      return &kCpuMapList;
    case 1:
      return At<uint16_t>(body, 4, swapped) == 8 ? &kCpuMap64 : &kCpuMap32;
    case 2:
      return &kCpuMapRange;
    default:
      return &kCpuMapOfUnknownType;
  }
}

const OwnLayout* UpdateLayout(std::span<const std::byte> body, bool swapped) {
  switch (At<uint64_t>(body, 0, swapped)) {
    case kEventUpdateUnit:
    case kEventUpdateName:
      return &kUpdateOfText;
    case kEventUpdateScale:
      return &kUpdateOfScale;
    case kEventUpdateCpus:
      return CpuMapLayout(body.subspan(std::min<size_t>(body.size(), 16)), swapped);
    default:
      return nullptr;
  }
}

const OwnLayout* ErrorLayout(std::span<const std::byte> body, bool swapped) {
  switch (At<uint32_t>(body, 20, swapped)) {
    case 0:
      return &kErrorFormat0;
    case 1:
      return &kErrorFormat1;
    default:
      return &kErrorFormat2;
  }
}

}  // namespace

OwnParts OwnPartsOf(uint32_t type, std::span<const std::byte> body, bool swapped) {
  if (type == perf_event::kRecordCpuMap) return {CpuMapLayout(body, swapped), nullptr};
  for (const OwnLayout& layout : kLayouts) {
    if (layout.type != type) continue;
    switch (type) {
      case perf_event::kRecordIdIndex:
        return {&layout, &kIdIndexGuests};
      case perf_event::kRecordEventUpdate:
        return {&layout, UpdateLayout(body, swapped)};
      case perf_event::kRecordAuxtraceError:
        return {&layout, ErrorLayout(body, swapped)};
      default:
        return {&layout, nullptr};
    }
  }
  return {};
}

}  // namespace profiler::perf_data
