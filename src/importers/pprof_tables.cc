#include "src/importers/pprof_tables.h"

#include <utility>

#include "src/importers/pprof_fields.h"

namespace profiler::importers {
namespace {

using protozero::pbf_reader;
using Fields = PprofFields;

PprofTables::ValueType ReadPprofValueType(pbf_reader message) {
  PprofTables::ValueType type;
  while (message.next()) {
    switch (message.tag()) {
      case Fields::kType:
        type.type = NumberOf(message);
        break;
      case Fields::kUnit:
        type.unit = NumberOf(message);
        break;
      default:
        message.skip();
    }
  }
  return type;
}

std::pair<uint64_t, PprofTables::Mapping> ReadPprofMapping(pbf_reader message) {
  uint64_t id = 0;
  PprofTables::Mapping mapping;
  while (message.next()) {
    switch (message.tag()) {
      case Fields::kMappingId:
        id = NumberOf(message);
        break;
      case Fields::kStart:
        mapping.start = NumberOf(message);
        break;
      case Fields::kLimit:
        mapping.limit = NumberOf(message);
        break;
      case Fields::kOffset:
        mapping.offset = NumberOf(message);
        break;
      case Fields::kFilename:
        mapping.file = NumberOf(message);
        break;
      case Fields::kBuildId:
        mapping.build_id = NumberOf(message);
        break;
      default:
        message.skip();
    }
  }
  return {id, mapping};
}

PprofTables::Line ReadPprofLine(pbf_reader message) {
  PprofTables::Line line;
  while (message.next()) {
    switch (message.tag()) {
      case Fields::kFunctionId:
        line.function = NumberOf(message);
        break;
      case Fields::kLineNumber:
        line.line = SignedNumberOf(message);
        break;
      default:
        message.skip();
    }
  }
  return line;
}

std::pair<uint64_t, PprofTables::Location> ReadPprofLocation(pbf_reader message) {
  uint64_t id = 0;
  PprofTables::Location location;
  while (message.next()) {
    switch (message.tag()) {
      case Fields::kLocId:
        id = NumberOf(message);
        break;
      case Fields::kMappingOf:
        location.mapping = NumberOf(message);
        break;
      case Fields::kAddress:
        location.address = NumberOf(message);
        break;
      case Fields::kLine:
        location.lines.push_back(ReadPprofLine(MessageOf(message)));
        break;
      default:
        message.skip();
    }
  }
  return {id, std::move(location)};
}

std::pair<uint64_t, PprofTables::Function> ReadPprofFunction(pbf_reader message) {
  uint64_t id = 0;
  PprofTables::Function function;
  while (message.next()) {
    switch (message.tag()) {
      case Fields::kFunctionIdOf:
        id = NumberOf(message);
        break;
      case Fields::kName:
        function.name = NumberOf(message);
        break;
      case Fields::kSystemName:
        function.system_name = NumberOf(message);
        break;
      case Fields::kFile:
        function.file = NumberOf(message);
        break;
      default:
        message.skip();
    }
  }
  return {id, function};
}

}  // namespace

void PprofTables::Read(std::string_view bytes) {
  pbf_reader profile(bytes.data(), bytes.size());
  while (profile.next()) {
    switch (profile.tag()) {
      case Fields::kSampleType:
        value_types.push_back(ReadPprofValueType(MessageOf(profile)));
        break;
      case Fields::kMapping: {
        const auto [id, mapping] = ReadPprofMapping(MessageOf(profile));
        if (mappings.empty()) first_mapping = id;
        mappings.try_emplace(id, mapping);
        break;
      }
      case Fields::kLocation: {
        auto [id, location] = ReadPprofLocation(MessageOf(profile));
        locations.try_emplace(id, std::move(location));
        break;
      }
      case Fields::kFunction:
        functions.insert(ReadPprofFunction(MessageOf(profile)));
        break;
      case Fields::kString: {
        strings.push_back(TextOfField(profile));
        break;
      }
      case Fields::kPeriodType:
        period_type = ReadPprofValueType(MessageOf(profile));
        break;
      case Fields::kDefaultSampleType:
        default_type = NumberOf(profile);
        break;
      case Fields::kDropFrames:
        drop_frames = NumberOf(profile);
        break;
      case Fields::kKeepFrames:
        keep_frames = NumberOf(profile);
        break;
      case Fields::kPeriod:
        period = SignedNumberOf(profile);
        break;
      default:
        profile.skip();
    }
  }
}

}  // namespace profiler::importers
