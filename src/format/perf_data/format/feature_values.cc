#include "src/format/perf_data/format/feature_values.h"

#include <algorithm>
#include <cstddef>

#include "src/base/byte_reader.h"
#include "src/format/perf_data/format/features_codec.h"
#include "src/format/perf_data/format/field_io.h"
#include "src/format/perf_data/format/perf_data_format.h"

namespace profiler::perf_data {
namespace {

// Decodes a section with `read(FieldReader&) → value`. Returns nullopt if the reader fails.
template <class Read>
auto ReadSection(const Features& features, int bit, Read read)
    -> std::optional<decltype(read(std::declval<FieldReader&>()))> {
  const auto section = features.other.find(bit);
  if (section == features.other.end()) return std::nullopt;
  FieldReader reader(BytesOfText(section->second), features.other_swapped);
  auto value = read(reader);
  if (!reader.ok()) return std::nullopt;
  return value;
}

// Reads `count` elements. Allocates only as elements are read, because `count` is untrusted.
template <class ReadOne>
auto ReadSome(FieldReader& reader, uint64_t count, ReadOne read_one)
    -> std::vector<decltype(read_one())> {
  std::vector<decltype(read_one())> values;
  for (uint64_t i = 0; i < count && reader.ok(); ++i) values.push_back(read_one());
  return values;
}

template <class ReadOne>
auto ReadList(FieldReader& reader, ReadOne read_one) {
  return ReadSome(reader, reader.U32(), read_one);
}

std::vector<std::string> ReadStrings(FieldReader& reader) {
  return ReadList(reader, [&reader] { return reader.String(); });
}

PmuCaps ReadCaps(FieldReader& reader) {
  return ReadList(reader, [&reader] {
    std::string name = reader.String();
    return std::pair(std::move(name), reader.String());
  });
}

// perf's name for a group without a name.
constexpr std::string_view kNameless = "{anon_group}";

// Decodes one of three revisions, each of which appends fields. In streams up to 7 bytes of padding
// follow.
CpuTopology ReadTopology(FieldReader& reader, uint32_t cpu_count) {
  constexpr size_t kPadding = 8;
  CpuTopology topology;
  topology.core_siblings = ReadStrings(reader);
  topology.thread_siblings = ReadStrings(reader);
  if (reader.remaining() < kPadding) return topology;  // the first revision ends here
  topology.cpus = ReadSome(reader, cpu_count, [&reader] {
    CpuTopology::Cpu cpu;
    cpu.core_id = reader.U32();
    cpu.socket_id = reader.U32();
    return cpu;
  });
  if (reader.remaining() < kPadding) return topology;  // the second revision ends here
  topology.die_siblings = ReadStrings(reader);
  topology.die_ids = ReadSome(reader, cpu_count, [&reader] { return reader.U32(); });
  return topology;
}

}  // namespace

std::optional<CpuTopology> ReadCpuTopology(const Features& features) {
  const uint32_t cpu_count = features.nrcpus ? features.nrcpus->available : 0;
  return ReadSection(features, kFeatureCpuTopology,
                     [cpu_count](FieldReader& reader) { return ReadTopology(reader, cpu_count); });
}

size_t CpuTopologySize(std::span<const std::byte> section, uint32_t cpu_count, bool swapped) {
  FieldReader reader(section, swapped);
  ReadTopology(reader, cpu_count);
  return reader.ok() ? reader.offset() : section.size();
}

std::optional<CpuDomains> ReadCpuDomains(const Features& features) {
  constexpr uint32_t kFirstWithNames = 17;
  return ReadSection(features, kFeatureCpuDomainInfo, [](FieldReader& reader) {
    CpuDomains domains;
    domains.schedstat_version = reader.U32();
    domains.max_domains = reader.U32();
    while (reader.remaining() >= 2 * sizeof(uint32_t)) {
      CpuDomains::Cpu& cpu = domains.cpus.emplace_back();
      cpu.cpu = reader.U32();
      cpu.domains = ReadList(reader, [&] {
        CpuDomains::Domain domain;
        domain.domain = reader.U32();
        if (domains.schedstat_version >= kFirstWithNames) domain.name = reader.String();
        domain.cpu_mask = reader.String();
        domain.cpus = reader.String();
        return domain;
      });
    }
    return domains;
  });
}

std::optional<std::vector<NumaNode>> ReadNumaTopology(const Features& features) {
  return ReadSection(features, kFeatureNumaTopology, [](FieldReader& reader) {
    return ReadList(reader, [&reader] {
      NumaNode node;
      node.node = reader.U32();
      node.total_kb = reader.U64();
      node.free_kb = reader.U64();
      node.cpus = reader.String();
      return node;
    });
  });
}

std::optional<std::vector<PmuMapping>> ReadPmuMappings(const Features& features) {
  return ReadSection(features, kFeaturePmuMappings, [](FieldReader& reader) {
    return ReadList(reader, [&reader] {
      PmuMapping mapping;
      mapping.type = reader.U32();
      mapping.name = reader.String();
      return mapping;
    });
  });
}

std::optional<std::vector<EventGroup>> ReadGroups(const Features& features) {
  return ReadSection(features, kFeatureGroupDesc, [](FieldReader& reader) {
    return ReadList(reader, [&reader] {
      EventGroup group;
      group.name = reader.String();
      if (group.name == kNameless) group.name.clear();
      group.leader = reader.U32();
      group.members = reader.U32();
      return group;
    });
  });
}

void SetGroups(const std::vector<EventGroup>& groups, Features* features) {
  std::string& section = features->other[kFeatureGroupDesc];
  section.clear();
  FieldWriter writer(&section);
  writer.U32(static_cast<uint32_t>(groups.size()));
  for (const EventGroup& group : groups) {
    writer.String(group.name.empty() ? kNameless : group.name);
    writer.U32(group.leader);
    writer.U32(group.members);
  }
}

std::optional<std::vector<CacheLevel>> ReadCaches(const Features& features) {
  return ReadSection(features, kFeatureCache, [](FieldReader& reader) {
    if (reader.U32() != 1) reader.Fail();  // the only version
    return ReadList(reader, [&reader] {
      CacheLevel cache;
      cache.level = reader.U32();
      cache.line_size = reader.U32();
      cache.sets = reader.U32();
      cache.ways = reader.U32();
      cache.type = reader.String();
      cache.size = reader.String();
      cache.cpus = reader.String();
      return cache;
    });
  });
}

// struct { u64 version, block_size, count;
//          struct { u64 node, size, bits, words[(bits + 63) / 64]; } nodes[count]; }
std::optional<MemoryTopology> ReadMemoryTopology(const Features& features) {
  return ReadSection(features, kFeatureMemTopology, [](FieldReader& reader) {
    MemoryTopology topology;
    if (reader.U64() != 1) reader.Fail();  // the only version
    topology.block_size = reader.U64();
    topology.nodes = ReadSome(reader, reader.U64(), [&reader] {
      MemoryTopology::Node node;
      node.node = reader.U64();
      reader.U64();
      const uint64_t bits = reader.U64();
      const uint64_t words = bits / 64 + (bits % 64 != 0);
      node.present = ReadSome(reader, words, [&reader] { return reader.U64(); });
      for (uint64_t word : node.present) node.blocks += __builtin_popcountll(word);
      return node;
    });
    return topology;
  });
}

std::optional<uint64_t> ReadDirFormat(const Features& features) {
  return ReadSection(features, kFeatureDirFormat, [](FieldReader& reader) { return reader.U64(); });
}

// struct { u32 count; struct { u32 info_len, data_len; u64 arrays; bpf_prog_info info; u8 data[]; }
//          programs[count]; }
// struct bpf_prog_info { u32 type, id; … char name[16] at 64; … }
std::optional<std::vector<BpfProgram>> ReadBpfPrograms(const Features& features) {
  constexpr size_t kNameOffset = 64, kNameSize = 16;
  return ReadSection(features, kFeatureBpfProgInfo, [](FieldReader& reader) {
    return ReadList(reader, [&reader] {
      BpfProgram program;
      const uint32_t info_size = reader.U32();
      const uint32_t data_size = reader.U32();
      reader.U64();
      const std::span<const std::byte> info = reader.Bytes(info_size);
      reader.Bytes(data_size);
      FieldReader fields(info, reader.swapped());
      program.type = fields.U32();
      program.id = fields.U32();
      if (info.size() >= kNameOffset + kNameSize) {
        const std::string_view name = TextOf(info.subspan(kNameOffset, kNameSize));
        program.name = name.substr(0, name.find('\0'));
      }
      return program;
    });
  });
}

std::optional<std::vector<BpfTypes>> ReadBpfTypes(const Features& features) {
  return ReadSection(features, kFeatureBpfBtf, [](FieldReader& reader) {
    return ReadList(reader, [&reader] {
      BpfTypes types;
      types.id = reader.U32();
      types.size = reader.U32();
      reader.Bytes(types.size);
      return types;
    });
  });
}

std::optional<Compression> ReadCompression(const Features& features) {
  const auto section = features.other.find(kFeatureCompressed);
  if (section == features.other.end()) return std::nullopt;
  return DecodeFields<Compression>(BytesOfText(section->second), features.other_swapped);
}

std::optional<PmuCaps> ReadCpuPmuCaps(const Features& features) {
  return ReadSection(features, kFeatureCpuPmuCaps, ReadCaps);
}

std::optional<std::vector<NamedPmuCaps>> ReadPmuCaps(const Features& features) {
  return ReadSection(features, kFeaturePmuCaps, [](FieldReader& reader) {
    return ReadList(reader, [&reader] {
      NamedPmuCaps named;
      named.caps = ReadCaps(reader);
      named.pmu = reader.String();
      return named;
    });
  });
}

std::optional<std::vector<HybridNode>> ReadHybridTopology(const Features& features) {
  return ReadSection(features, kFeatureHybridTopology, [](FieldReader& reader) {
    return ReadList(reader, [&reader] {
      HybridNode node;
      node.pmu = reader.String();
      node.cpus = reader.String();
      return node;
    });
  });
}

std::optional<ElfMachine> ReadElfMachine(const Features& features) {
  return ReadSection(features, kFeatureEMachine, [](FieldReader& reader) {
    ElfMachine machine;
    machine.machine = reader.U32();
    machine.flags = reader.U32();
    return machine;
  });
}

std::optional<uint32_t> ReadCacheLineSize(const Features& features) {
  return ReadSection(features, kFeatureCacheLineSize,
                     [](FieldReader& reader) { return reader.U32(); });
}

}  // namespace profiler::perf_data
