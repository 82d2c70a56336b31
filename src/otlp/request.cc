#include "src/otlp/request.h"

#include <utility>

namespace profiler::otlp {
namespace {

using protozero::pbf_writer;

// Field numbers of opentelemetry/proto/{collector/profiles,profiles,resource,common}.
namespace field {
enum Request : uint32_t { kResourceProfiles = 1, kDictionary = 2 };
enum ResourceProfiles : uint32_t { kResource = 1, kScopeProfiles = 2 };
enum Resource : uint32_t { kResourceAttributes = 1 };
enum ScopeProfiles : uint32_t { kScope = 1, kProfiles = 2 };
enum Scope : uint32_t { kScopeName = 1 };
enum KeyValue : uint32_t { kKey = 1, kValue = 2 };
enum AnyValue : uint32_t { kStringValue = 1, kIntValue = 3 };
enum Profile : uint32_t {
  kSampleType = 1,
  kSamples = 2,
  kTimeUnixNano = 3,
  kDurationNano = 4,
  kPeriodType = 5,
  kPeriod = 6,
  kProfileId = 7
};
enum ValueType : uint32_t { kType = 1, kUnit = 2 };
enum Sample : uint32_t { kStackIndex = 1, kSampleAttributes = 2, kValues = 4, kTimestamps = 5 };
enum Dictionary : uint32_t {
  kMappingTable = 1,
  kLocationTable = 2,
  kFunctionTable = 3,
  kLinkTable = 4,
  kStringTable = 5,
  kAttributeTable = 6,
  kStackTable = 7
};
enum Mapping : uint32_t {
  kMemoryStart = 1,
  kMemoryLimit = 2,
  kFileOffset = 3,
  kFilename = 4,
  kMappingAttributes = 5
};
enum Location : uint32_t { kMappingIndex = 1, kAddress = 2, kLines = 3, kLocationAttributes = 4 };
enum Line : uint32_t { kFunctionIndex = 1, kLineNumber = 2 };
enum Function : uint32_t { kName = 1, kSystemName = 2, kFile = 3 };
enum Stack : uint32_t { kLocationIndices = 1 };
enum KeyValueAndUnit : uint32_t { kAttributeKey = 1, kAttributeValue = 2 };
}  // namespace field

void AddNumbers(pbf_writer& message, uint32_t field, std::span<const Number> numbers) {
  message.add_packed_int32(field, numbers.begin(), numbers.end());
}

void AddType(pbf_writer& profile, Dictionary& dictionary, uint32_t field, std::string_view type,
             std::string_view unit) {
  pbf_writer value(profile, field);
  value.add_int32(field::kType, dictionary.String(type));
  value.add_int32(field::kUnit, dictionary.String(unit));
}

}  // namespace

Dictionary::Dictionary() {
  const auto add_empty = [](Table& table, uint32_t field) {
    pbf_writer(table.bytes).add_message(field, std::string());
  };
  add_empty(mappings_, field::kMappingTable);
  add_empty(locations_, field::kLocationTable);
  add_empty(functions_, field::kFunctionTable);
  add_empty(stacks_, field::kStackTable);
}

Number Dictionary::Attribute(std::string_view key, Value value) {
  AttributeKey attribute{String(key), std::move(value)};
  const auto [known, added] =
      attribute_numbers_.try_emplace(attribute, static_cast<Number>(attributes_.size() + 1));
  if (added) attributes_.push_back(std::move(attribute));
  return known->second;
}

Number Dictionary::Add(const Mapping& mapping) {
  pbf_writer table(mappings_.bytes);
  pbf_writer written(table, field::kMappingTable);
  written.add_uint64(field::kMemoryStart, mapping.start);
  written.add_uint64(field::kMemoryLimit, mapping.limit);
  written.add_uint64(field::kFileOffset, mapping.file_offset);
  written.add_int32(field::kFilename, String(mapping.filename));
  AddNumbers(written, field::kMappingAttributes, mapping.attributes);
  return mappings_.next++;
}

Number Dictionary::Add(const Location& location) {
  pbf_writer table(locations_.bytes);
  pbf_writer written(table, field::kLocationTable);
  written.add_int32(field::kMappingIndex, location.mapping);
  if (location.address) written.add_uint64(field::kAddress, *location.address);
  for (const Line& at : location.lines) {
    pbf_writer line(written, field::kLines);
    line.add_int32(field::kFunctionIndex, at.function);
    line.add_int64(field::kLineNumber, at.line);
  }
  AddNumbers(written, field::kLocationAttributes, location.attributes);
  return locations_.next++;
}

Number Dictionary::Add(const Function& function) {
  pbf_writer table(functions_.bytes);
  pbf_writer written(table, field::kFunctionTable);
  written.add_int32(field::kName, String(function.name));
  written.add_int32(field::kSystemName, String(function.name));
  written.add_int32(field::kFile, String(function.file));
  return functions_.next++;
}

Number Dictionary::AddStack(std::span<const Number> locations) {
  if (locations.empty()) return 0;
  pbf_writer table(stacks_.bytes);
  pbf_writer written(table, field::kStackTable);
  AddNumbers(written, field::kLocationIndices, locations);
  return stacks_.next++;
}

void Dictionary::AppendAttributes(std::string& bytes) const {
  pbf_writer dictionary(bytes);
  dictionary.add_message(field::kAttributeTable, std::string());  // the empty one
  for (const auto& [key, value] : attributes_) {
    pbf_writer attribute(dictionary, field::kAttributeTable);
    attribute.add_int32(field::kAttributeKey, key);
    pbf_writer written(attribute, field::kAttributeValue);
    if (const auto* number = std::get_if<int64_t>(&value)) {
      written.add_int64(field::kIntValue, *number);
    } else {
      written.add_string(field::kStringValue, std::get<std::string>(value));
    }
  }
}

// The elements of each table have their field's number already.
std::string Dictionary::Finish() && {
  std::string bytes = std::move(mappings_.bytes);
  bytes += std::exchange(locations_.bytes, {});
  bytes += std::exchange(functions_.bytes, {});
  pbf_writer(bytes).add_message(field::kLinkTable, std::string());  // the empty one, and no other
  bytes += std::exchange(stacks_.bytes, {});
  AppendAttributes(bytes);
  // The strings come last, for then they are complete.
  pbf_writer dictionary(bytes);
  for (uint32_t i = 0; i < strings_.size(); ++i) {
    const std::string_view text = strings_[StringId{i}];
    dictionary.add_string(field::kStringTable, text.data(), text.size());
  }
  return bytes;
}

std::string Request::Finish() && {
  out_.add_message(field::kDictionary, std::move(dictionary_).Finish());
  return std::move(bytes_);
}

ResourceProfiles::ResourceProfiles(Request& request, const Attributes& attributes,
                                   const std::string& scope)
    : dictionary_(request.dictionary_), resource_profiles_(request.out_, field::kResourceProfiles) {
  {
    pbf_writer resource(resource_profiles_, field::kResource);
    for (const auto& [key, text] : attributes) {
      if (text.empty()) continue;
      pbf_writer attribute(resource, field::kResourceAttributes);
      attribute.add_string(field::kKey, key);
      pbf_writer value(attribute, field::kValue);
      value.add_string(field::kStringValue, text);
    }
  }
  scope_profiles_ = pbf_writer(resource_profiles_, field::kScopeProfiles);
  pbf_writer written(scope_profiles_, field::kScope);
  written.add_string(field::kScopeName, scope);
}

ProfileOfType::ProfileOfType(ResourceProfiles& resource, const ProfileHead& head)
    : profile_(resource.scope_profiles_, field::kProfiles) {
  AddType(profile_, resource.dictionary_, field::kSampleType, head.type, head.unit);
  if (head.began != 0) profile_.add_fixed64(field::kTimeUnixNano, head.began);
  profile_.add_uint64(field::kDurationNano, head.duration);
  if (head.period != 0) {
    AddType(profile_, resource.dictionary_, field::kPeriodType, head.period_type, head.period_unit);
    profile_.add_int64(field::kPeriod, head.period);
  }
  if (!head.id.empty()) profile_.add_bytes(field::kProfileId, head.id.data(), head.id.size());
}

void ProfileOfType::Add(const Sample& sample) {
  pbf_writer written(profile_, field::kSamples);
  written.add_int32(field::kStackIndex, sample.stack);
  AddNumbers(written, field::kSampleAttributes, sample.attributes);
  if (sample.times.empty()) {
    written.add_packed_int64(field::kValues, sample.values.begin(), sample.values.end());
  } else {
    written.add_packed_fixed64(field::kTimestamps, sample.times.begin(), sample.times.end());
  }
}

}  // namespace profiler::otlp
