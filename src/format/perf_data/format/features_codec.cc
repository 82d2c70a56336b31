#include "src/format/perf_data/format/features_codec.h"

#include <algorithm>
#include <cstring>

#include "src/format/perf_data/format/field_io.h"
#include "src/format/perf_data/format/file_header.h"
#include "src/format/perf_data/format/perf_data_format.h"

namespace profiler::perf_data {
namespace {

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

bool DecodeU64(FieldReader& reader, std::optional<uint64_t>* out) {
  const uint64_t value = reader.U64();
  if (reader.ok()) *out = value;
  return reader.ok();
}

template <class T>
bool DecodeInto(std::optional<T>* out, std::span<const std::byte> section, bool swapped) {
  const std::optional<T> value = DecodeFields<T>(section, swapped);
  if (value) *out = value;
  return value.has_value();
}

bool DecodeClockData(std::span<const std::byte> section, bool swapped,
                     std::optional<ClockData>* out) {
  const auto data = DecodeFields<ClockData>(section, swapped);
  if (!data || data->version != ClockData().version) return false;
  *out = data;
  return true;
}

// Decodes a sequence of build_id_event structs. The header of each struct has its size.
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
  reader.U32();  // skips the record's type; in a section it is 0
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
      return DecodeInto(&features->nrcpus, section, swapped);
    case kFeatureCpudesc:
      return DecodeString(reader, &features->cpudesc);
    case kFeatureCpuid:
      return DecodeString(reader, &features->cpuid);
    case kFeatureTotalMem:
      return DecodeU64(reader, &features->total_mem_kb);
    case kFeatureCmdline:
      return DecodeStringList(reader, &features->cmdline);
    case kFeatureSampleTime:
      return DecodeInto(&features->sample_time, section, swapped);
    case kFeatureClockid:
      return DecodeU64(reader, &features->clockid_resolution_ns);
    case kFeatureClockData:
      return DecodeClockData(section, swapped, &features->clock_data);
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
  if (features.nrcpus) sections[kFeatureNrcpus] = EncodeFields(*features.nrcpus);
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
  if (features.sample_time) sections[kFeatureSampleTime] = EncodeFields(*features.sample_time);
  if (features.clockid_resolution_ns) {
    FieldWriter(&sections[kFeatureClockid]).U64(*features.clockid_resolution_ns);
  }
  if (features.clock_data) sections[kFeatureClockData] = EncodeFields(*features.clock_data);
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
  std::vector<StoredEventDesc> stored;
  for (const EventDesc& event : events) {
    stored.push_back({"", event.name, event.ids});
    WriteSizedAttr(event.attr, attr_size, &stored.back().attr);
  }
  return EncodeEventDesc(stored, attr_size, /*swapped=*/false);
}

std::string EncodeEventDesc(std::span<const StoredEventDesc> events, size_t attr_size,
                            bool swapped) {
  std::string section;
  FieldWriter writer(&section, swapped);
  writer.U32(static_cast<uint32_t>(events.size()));
  writer.U32(static_cast<uint32_t>(attr_size));
  for (const StoredEventDesc& event : events) {
    writer.Text(event.attr);
    writer.U32(static_cast<uint32_t>(event.ids.size()));
    writer.String(event.name);
    for (const uint64_t id : event.ids) writer.U64(id);
  }
  return section;
}

}  // namespace profiler::perf_data
