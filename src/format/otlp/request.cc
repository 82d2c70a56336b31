#include "src/format/otlp/request.h"

#include <utility>

#include "src/format/otlp/field_numbers.h"

namespace profiler::otlp {
namespace {

using protozero::pbf_writer;

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

Number Dictionary::Table::Add(std::string element) {
  const auto number = static_cast<Number>(numbers_.size());
  return numbers_.try_emplace(std::move(element), number).first->second;
}

void Dictionary::Table::AppendTo(std::string& dictionary, uint32_t field) const {
  std::vector<std::string_view> elements(numbers_.size());
  for (const auto& [element, number] : numbers_) elements[static_cast<size_t>(number)] = element;
  pbf_writer out(dictionary);
  for (const std::string_view element : elements) {
    out.add_bytes(field, element.data(), element.size());
  }
}

// Element 0 of the links is not a link: both of its ids are zeroes, of the lengths that decoders
// require.
Dictionary::Dictionary()
    : mappings_(""),
      locations_(""),
      functions_(""),
      links_([] {
        std::string link;
        pbf_writer out(link);
        out.add_bytes(field::kTraceId, std::string(16, '\0'));
        out.add_bytes(field::kSpanId, std::string(8, '\0'));
        return link;
      }()),
      attributes_(""),
      stacks_("") {}

Number Dictionary::Attribute(std::string_view key, const Value& value) {
  std::string element;
  pbf_writer attribute(element);
  attribute.add_int32(field::kAttributeKey, String(key));
  {
    pbf_writer written(attribute, field::kAttributeValue);
    if (const auto* number = std::get_if<int64_t>(&value)) {
      written.add_int64(field::kIntValue, *number);
    } else {
      written.add_string(field::kStringValue, std::get<std::string>(value));
    }
  }
  return attributes_.Add(std::move(element));
}

Number Dictionary::Add(const Mapping& mapping) {
  std::string element;
  pbf_writer written(element);
  written.add_uint64(field::kMemoryStart, mapping.start);
  written.add_uint64(field::kMemoryLimit, mapping.limit);
  written.add_uint64(field::kFileOffset, mapping.file_offset);
  written.add_int32(field::kFilename, String(mapping.filename));
  AddNumbers(written, field::kMappingAttributes, mapping.attributes);
  return mappings_.Add(std::move(element));
}

Number Dictionary::Add(const Location& location) {
  std::string element;
  pbf_writer written(element);
  written.add_int32(field::kMappingIndex, location.mapping);
  if (location.address) written.add_uint64(field::kAddress, *location.address);
  for (const Line& at : location.lines) {
    pbf_writer line(written, field::kLines);
    line.add_int32(field::kFunctionIndex, at.function);
    line.add_int64(field::kLineNumber, at.line);
  }
  AddNumbers(written, field::kLocationAttributes, location.attributes);
  return locations_.Add(std::move(element));
}

Number Dictionary::Add(const Function& function) {
  std::string element;
  pbf_writer written(element);
  written.add_int32(field::kName, String(function.name));
  if (!function.file.empty()) written.add_int32(field::kFile, String(function.file));
  return functions_.Add(std::move(element));
}

Number Dictionary::AddStack(std::span<const Number> locations) {
  if (locations.empty()) return 0;
  std::string element;
  pbf_writer written(element);
  AddNumbers(written, field::kLocationIndices, locations);
  return stacks_.Add(std::move(element));
}

std::string Dictionary::Finish() && {
  std::string bytes;
  mappings_.AppendTo(bytes, field::kMappingTable);
  locations_.AppendTo(bytes, field::kLocationTable);
  functions_.AppendTo(bytes, field::kFunctionTable);
  links_.AppendTo(bytes, field::kLinkTable);
  attributes_.AppendTo(bytes, field::kAttributeTable);
  stacks_.AppendTo(bytes, field::kStackTable);
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

Scope ScopeOf(std::string_view producer) {
  const size_t space = producer.rfind(' ');
  if (space == producer.npos) return {.name = std::string(producer), .version = {}};
  return {.name = std::string(producer.substr(0, space)),
          .version = std::string(producer.substr(space + 1))};
}

ResourceProfiles::ResourceProfiles(Request& request, const Attributes& attributes,
                                   const Scope& scope)
    : dictionary_(request.dictionary_), resource_profiles_(request.out_, field::kResourceProfiles) {
  {
    pbf_writer resource(resource_profiles_, field::kResource);
    for (const auto& [key, value] : attributes) {
      const auto* const text = std::get_if<std::string>(&value);
      const auto* const texts = std::get_if<std::vector<std::string>>(&value);
      if (text != nullptr ? text->empty() : texts->empty()) continue;
      pbf_writer attribute(resource, field::kResourceAttributes);
      attribute.add_string(field::kKey, key);
      pbf_writer written(attribute, field::kValue);
      if (text != nullptr) {
        written.add_string(field::kStringValue, *text);
        continue;
      }
      pbf_writer array(written, field::kArrayValue);
      for (const std::string& element : *texts) {
        pbf_writer(array, field::kElements).add_string(field::kStringValue, element);
      }
    }
  }
  scope_profiles_ = pbf_writer(resource_profiles_, field::kScopeProfiles);
  pbf_writer written(scope_profiles_, field::kScope);
  written.add_string(field::kScopeName, scope.name);
  written.add_string(field::kScopeVersion, scope.version);
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
  AddNumbers(profile_, field::kProfileAttributes, head.attributes);
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
