#include "src/perf_data/format/features_codec.h"

#include <algorithm>
#include <cstring>

#include "src/perf_data/format/field_io.h"
#include "src/perf_data/format/file_header.h"
#include "src/perf_data/format/perf_data_format.h"

namespace profiler::perf_data {
namespace {

constexpr uint32_t kClockDataVersion = 1;

bool DecodeString(FieldReader& reader, std::string* out) {
  *out = reader.String();
  return reader.ok();
}

bool DecodeStringList(FieldReader& reader, std::vector<std::string>* out) {
  const uint32_t count = reader.U32();
  for (uint32_t i = 0; i < count && reader.ok(); ++i) {
    std::string text = reader.String();
    if (reader.ok()) out->push_back(std::move(text));
  }
  return reader.ok();
}

bool DecodeNrcpus(FieldReader& reader, std::optional<CpuCount>* out) {
  CpuCount count;
  count.available = reader.U32();
  count.online = reader.U32();
  if (reader.ok()) *out = count;
  return reader.ok();
}

bool DecodeU64(FieldReader& reader, std::optional<uint64_t>* out) {
  const uint64_t value = reader.U64();
  if (reader.ok()) *out = value;
  return reader.ok();
}

bool DecodeSampleTime(FieldReader& reader, std::optional<SampleTime>* out) {
  SampleTime time;
  time.first = reader.U64();
  time.last = reader.U64();
  if (reader.ok()) *out = time;
  return reader.ok();
}

// struct { u32 version; u32 clockid; u64 wall_clock_ns; u64 clockid_time_ns; }
bool DecodeClockData(FieldReader& reader, std::optional<ClockData>* out) {
  const uint32_t version = reader.U32();
  ClockData data;
  data.clockid = reader.U32();
  data.wall_clock_ns = reader.U64();
  data.clockid_time_ns = reader.U64();
  if (!reader.ok() || version != kClockDataVersion) return false;
  *out = data;
  return true;
}

// A row of build_id_event, each as long as its header says.
bool DecodeBuildIds(std::span<const std::byte> section, bool swapped,
                    std::vector<BuildIdEntry>* out) {
  while (!section.empty()) {
    FieldReader header(section, swapped);
    header.U32();
    header.Read<uint16_t>();
    const uint16_t size = header.Read<uint16_t>();
    BuildIdEntry entry;
    if (!header.ok() || size > section.size()) return false;
    if (!DecodeBuildId(section.first(size), swapped, &entry)) return false;
    out->push_back(std::move(entry));
    section = section.subspan(size);
  }
  return true;
}

void EncodeBuildId(const BuildIdEntry& entry, FieldWriter& writer) {
  const size_t id_size = std::min(entry.build_id.size(), kBuildIdMax);
  const size_t size = kBuildIdFixedSize + FieldWriter::PaddedName(entry.filename);
  if (size > UINT16_MAX) return;  // no path is that long
  writer.U32(0);
  writer.Write<uint16_t>(entry.misc | kMiscBuildIdSize);
  writer.Write<uint16_t>(static_cast<uint16_t>(size));
  writer.Write<int32_t>(entry.pid);
  writer.Text(TextOf(std::span(entry.build_id).first(id_size)));
  writer.Zeroes(kBuildIdMax - id_size);
  writer.U32(static_cast<uint32_t>(id_size));
  writer.Text(entry.filename);
  writer.Zeroes(size - kBuildIdFixedSize - entry.filename.size());
}

}  // namespace

bool DecodeBuildId(std::span<const std::byte> record, bool swapped, BuildIdEntry* out) {
  FieldReader reader(record, swapped);
  reader.U32();  // the record's type; 0 inside of the section
  const uint16_t misc = reader.Read<uint16_t>();
  reader.Read<uint16_t>();
  out->pid = reader.Read<int32_t>();
  const std::span<const std::byte> id = reader.Bytes(kBuildIdField);
  if (!reader.ok()) return false;
  size_t id_size = kBuildIdMax;
  if ((misc & kMiscBuildIdSize) != 0) {
    id_size = std::min<size_t>(kBuildIdMax, static_cast<uint8_t>(id[kBuildIdMax]));
  }
  out->misc = misc & ~kMiscBuildIdSize;
  out->build_id.assign(id.begin(), id.begin() + static_cast<ptrdiff_t>(id_size));
  const std::string_view name = TextOf(reader.Bytes(reader.remaining()));
  out->filename = name.substr(0, name.find('\0'));
  return true;
}

bool DecodeFeature(int bit, std::span<const std::byte> section, bool swapped, Features* features) {
  FieldReader reader(section, swapped);
  switch (bit) {
    case kFeatureBuildId:
      return DecodeBuildIds(section, swapped, &features->build_ids);
    case kFeatureHostname:
      return DecodeString(reader, &features->hostname);
    case kFeatureOsrelease:
      return DecodeString(reader, &features->osrelease);
    case kFeatureVersion:
      return DecodeString(reader, &features->version);
    case kFeatureArch:
      return DecodeString(reader, &features->arch);
    case kFeatureNrcpus:
      return DecodeNrcpus(reader, &features->nrcpus);
    case kFeatureCpudesc:
      return DecodeString(reader, &features->cpudesc);
    case kFeatureCpuid:
      return DecodeString(reader, &features->cpuid);
    case kFeatureTotalMem:
      return DecodeU64(reader, &features->total_mem_kb);
    case kFeatureCmdline:
      return DecodeStringList(reader, &features->cmdline);
    case kFeatureSampleTime:
      return DecodeSampleTime(reader, &features->sample_time);
    case kFeatureClockid:
      return DecodeU64(reader, &features->clockid_resolution_ns);
    case kFeatureClockData:
      return DecodeClockData(reader, &features->clock_data);
    default:
      features->other[bit] = TextOf(section);
      features->other_swapped = swapped;
      return true;
  }
}

std::map<int, std::string> EncodeFeatures(const Features& features) {
  std::map<int, std::string> sections = features.other;
  const auto text = [&sections](int bit, const std::string& value) {
    if (value.empty()) return;
    FieldWriter(&sections[bit]).String(value);
  };
  for (const BuildIdEntry& entry : features.build_ids) {
    FieldWriter writer(&sections[kFeatureBuildId]);
    EncodeBuildId(entry, writer);
  }
  text(kFeatureHostname, features.hostname);
  text(kFeatureOsrelease, features.osrelease);
  text(kFeatureVersion, features.version);
  text(kFeatureArch, features.arch);
  if (features.nrcpus) {
    FieldWriter writer(&sections[kFeatureNrcpus]);
    writer.U32(features.nrcpus->available);
    writer.U32(features.nrcpus->online);
  }
  text(kFeatureCpudesc, features.cpudesc);
  text(kFeatureCpuid, features.cpuid);
  if (features.total_mem_kb) {
    FieldWriter(&sections[kFeatureTotalMem]).U64(*features.total_mem_kb);
  }
  if (!features.cmdline.empty()) {
    FieldWriter writer(&sections[kFeatureCmdline]);
    writer.U32(static_cast<uint32_t>(features.cmdline.size()));
    for (const std::string& argument : features.cmdline) writer.String(argument);
  }
  if (features.sample_time) {
    FieldWriter writer(&sections[kFeatureSampleTime]);
    writer.U64(features.sample_time->first);
    writer.U64(features.sample_time->last);
  }
  if (features.clockid_resolution_ns) {
    FieldWriter(&sections[kFeatureClockid]).U64(*features.clockid_resolution_ns);
  }
  if (features.clock_data) {
    FieldWriter writer(&sections[kFeatureClockData]);
    writer.U32(kClockDataVersion);
    writer.U32(features.clock_data->clockid);
    writer.U64(features.clock_data->wall_clock_ns);
    writer.U64(features.clock_data->clockid_time_ns);
  }
  return sections;
}

// struct { u32 nr, attr_size;
//          struct { attr (attr_size bytes); u32 nr_ids; perf_header_string name; u64 ids[nr_ids]; }
//          events[nr]; }
std::vector<EventDesc> DecodeEventDesc(std::span<const std::byte> section, bool swapped) {
  std::vector<EventDesc> events;
  FieldReader reader(section, swapped);
  const uint32_t count = reader.U32();
  const uint32_t attr_size = reader.U32();
  if (attr_size < perf_event::kAttrSizeVer0) return events;
  for (uint32_t i = 0; i < count && reader.ok(); ++i) {
    EventDesc event;
    event.attr = ReadSizedAttr(reader, attr_size);
    const uint32_t id_count = reader.U32();
    event.name = reader.String();
    if (id_count > reader.remaining() / sizeof(uint64_t)) reader.Fail();
    if (!reader.ok()) break;
    event.ids.resize(id_count);
    for (uint64_t& id : event.ids) id = reader.U64();
    events.push_back(std::move(event));
  }
  return events;
}

std::string EncodeEventDesc(std::span<const EventDesc> events) {
  std::vector<perf_event::Attr> attrs;
  for (const EventDesc& event : events) attrs.push_back(event.attr);
  const uint32_t attr_size = CommonAttrSize(attrs);
  std::string section;
  FieldWriter writer(&section);
  writer.U32(static_cast<uint32_t>(events.size()));
  writer.U32(attr_size);
  for (const EventDesc& event : events) {
    WriteSizedAttr(event.attr, attr_size, &section);
    writer.U32(static_cast<uint32_t>(event.ids.size()));
    writer.String(event.name);
    for (uint64_t id : event.ids) writer.U64(id);
  }
  return section;
}

}  // namespace profiler::perf_data
