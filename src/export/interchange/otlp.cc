#include "src/export/interchange/otlp.h"

#include <cstdint>
#include <map>
#include <protozero/pbf_writer.hpp>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/export/interchange/code_table.h"
#include "src/export/interchange/image_places.h"
#include "src/export/interchange/string_index.h"
#include "src/export/interchange/thread_rows.h"
#include "src/query/amount.h"

namespace profiler::exports {
namespace {

using profile::DsoId;
using profile::EventId;
using profile::FrameId;
using profile::Profile;
using profile::Row;
using profile::StackId;
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
  kPeriod = 6
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

// Element 0 of each table is the empty one.
constexpr uint32_t NumberOf(uint32_t index) { return index + 1; }

// The table of attributes.
class Attributes {
 public:
  explicit Attributes(StringIndex& strings) : strings_(strings) {}

  using Value = std::variant<std::string, int64_t>;

  uint32_t Of(std::string_view key, Value value) {
    const Attribute attribute{strings_.Of(key), std::move(value)};
    const auto [known, added] = index_.try_emplace(attribute, NumberOf(attributes_.size()));
    if (added) attributes_.push_back(attribute);
    return known->second;
  }

  void Write(pbf_writer& dictionary) const {
    dictionary.add_message(field::kAttributeTable, std::string());  // the empty one
    for (const auto& [key, value] : attributes_) {
      pbf_writer attribute(dictionary, field::kAttributeTable);
      attribute.add_int32(field::kAttributeKey, static_cast<int32_t>(key));
      pbf_writer written(attribute, field::kAttributeValue);
      if (const auto* number = std::get_if<int64_t>(&value)) {
        written.add_int64(field::kIntValue, *number);
      } else {
        written.add_string(field::kStringValue, std::get<std::string>(value));
      }
    }
  }

 private:
  using Attribute = std::pair<uint32_t, Value>;

  StringIndex& strings_;
  std::map<Attribute, uint32_t> index_;
  std::vector<Attribute> attributes_;
};

// The samples of one thread and stack.
struct MergedSample {
  uint64_t count = 0, period = 0;
  std::vector<uint64_t> times;
};

class OtlpWriter {
 public:
  OtlpWriter(const Profile& profile, const Origin& origin)
      : profile_(profile), origin_(origin), code_(profile), places_(profile) {}

  std::string Write() && {
    {
      pbf_writer resource_profiles(out_, field::kResourceProfiles);
      WriteResource(resource_profiles);
      pbf_writer scope_profiles(resource_profiles, field::kScopeProfiles);
      {
        pbf_writer scope(scope_profiles, field::kScope);
        scope.add_string(field::kScopeName, origin_.producer);
      }
      for (const EventId event : EventsWithRows(profile_)) WriteEvent(scope_profiles, event);
    }
    pbf_writer dictionary(out_, field::kDictionary);
    WriteImages(dictionary);
    WriteLocations(dictionary);
    WriteFunctions(dictionary);
    dictionary.add_message(field::kLinkTable, std::string());  // the empty one
    WriteStacks(dictionary);
    attributes_.Write(dictionary);
    // The strings come last, for then they are complete.
    for (uint32_t i = 0; i < strings_.size(); ++i) {
      dictionary.add_string(field::kStringTable, strings_[i].data(), strings_[i].size());
    }
    dictionary.commit();
    return std::move(bytes_);
  }

 private:
  using ByStack = std::map<std::pair<profile::ThreadId, StackId>, MergedSample>;

  void WriteResource(pbf_writer& resource_profiles) const {
    pbf_writer resource(resource_profiles, field::kResource);
    WriteResourceAttribute(resource, "host.name", origin_.hostname);
    WriteResourceAttribute(resource, "host.arch", origin_.machine);
    WriteResourceAttribute(resource, "os.description", origin_.os);
    WriteResourceAttribute(resource, "process.command_line", origin_.command);
  }

  static void WriteResourceAttribute(pbf_writer& resource, std::string_view key,
                                     const std::string& text) {
    if (text.empty()) return;
    pbf_writer attribute(resource, field::kResourceAttributes);
    attribute.add_string(field::kKey, key.data(), key.size());
    pbf_writer value(attribute, field::kValue);
    value.add_string(field::kStringValue, ValidUtf8(text));
  }

  ByStack SamplesOf(EventId event) const {
    ByStack samples;
    const bool has_times = HasTimes(profile_) && origin_.clock_started.has_value();
    for (uint32_t i = 0; i < profile_.rows.size(); ++i) {
      const Row& row = profile_.rows[i];
      if (row.event != event) continue;
      MergedSample& sample = samples[{row.thread, row.stack}];
      sample.count += row.count;
      sample.period += row.period;
      if (!has_times) continue;
      const auto time = static_cast<uint64_t>(origin_.WallClockOf(TimeOf(profile_, i)));
      sample.times.insert(sample.times.end(), row.count, time);
    }
    return samples;
  }

  void WriteEvent(pbf_writer& scope_profiles, EventId event) {
    const ByStack samples = SamplesOf(event);
    const std::string name = ValidUtf8(profile_.text(profile_[event].name));
    const std::string_view unit = query::IsTime(name) ? "nanoseconds" : "count";
    {
      pbf_writer counts = BeginProfile(scope_profiles, "samples", "count");
      WritePeriod(counts, event, name, unit);
      for (const auto& [key, sample] : samples) WriteCount(counts, key, sample);
    }
    if (profile_[event].period == 0) return;
    pbf_writer periods = BeginProfile(scope_profiles, name, unit);
    WritePeriod(periods, event, name, unit);
    for (const auto& [key, sample] : samples) {
      pbf_writer written = BeginSample(periods, key);
      AddValue(written, sample.period);
    }
  }

  pbf_writer BeginProfile(pbf_writer& scope_profiles, std::string_view type,
                          std::string_view unit) {
    pbf_writer profile(scope_profiles, field::kProfiles);
    WriteType(profile, field::kSampleType, type, unit);
    if (const int64_t began = origin_.WallClockOf(origin_.first_sample); began != 0) {
      profile.add_fixed64(field::kTimeUnixNano, static_cast<uint64_t>(began));
    }
    profile.add_uint64(field::kDurationNano, origin_.last_sample - origin_.first_sample);
    return profile;
  }

  void WriteType(pbf_writer& profile, uint32_t field, std::string_view type,
                 std::string_view unit) {
    pbf_writer value(profile, field);
    value.add_int32(field::kType, static_cast<int32_t>(strings_.Of(type)));
    value.add_int32(field::kUnit, static_cast<int32_t>(strings_.Of(unit)));
  }

  // On average, for where an event has a frequency the period of its samples varies.
  void WritePeriod(pbf_writer& profile, EventId event, std::string_view name,
                   std::string_view unit) {
    const profile::Event& of = profile_[event];
    if (of.samples == 0 || of.period == 0) return;
    WriteType(profile, field::kPeriodType, name, unit);
    profile.add_int64(field::kPeriod, static_cast<int64_t>(of.period / of.samples));
  }

  // Where all samples have times, there is a time for each, and no number.
  void WriteCount(pbf_writer& profile, const ByStack::key_type& key, const MergedSample& sample) {
    pbf_writer written = BeginSample(profile, key);
    if (sample.times.empty()) {
      AddValue(written, sample.count);
    } else {
      written.add_packed_fixed64(field::kTimestamps, sample.times.begin(), sample.times.end());
    }
  }

  static void AddValue(pbf_writer& sample, uint64_t number) {
    const auto value = static_cast<int64_t>(number);
    sample.add_packed_int64(field::kValues, &value, &value + 1);
  }

  pbf_writer BeginSample(pbf_writer& profile, const ByStack::key_type& key) {
    pbf_writer sample(profile, field::kSamples);
    sample.add_int32(field::kStackIndex, static_cast<int32_t>(NumberOfStack(key.second)));
    const profile::Thread& thread = profile_[key.first];
    const int32_t attributes[] = {
        static_cast<int32_t>(attributes_.Of("process.pid", int64_t{thread.pid})),
        static_cast<int32_t>(attributes_.Of("thread.id", int64_t{thread.tid})),
        static_cast<int32_t>(attributes_.Of("thread.name", ValidUtf8(profile_.text(thread.comm))))};
    sample.add_packed_int32(field::kSampleAttributes, std::begin(attributes), std::end(attributes));
    return sample;
  }

  uint32_t NumberOfStack(StackId stack) {
    const auto [known, added] = stack_numbers_.try_emplace(stack, NumberOf(stacks_.size()));
    if (added) stacks_.push_back(stack);
    return known->second;
  }

  void WriteImages(pbf_writer& dictionary) {
    dictionary.add_message(field::kMappingTable, std::string());  // the empty one
    for (uint32_t i = 0; i < profile_.dsos.size(); ++i) {
      const profile::Dso& dso = profile_.dsos[i];
      const ImagePlace& place = places_[DsoId{i}];
      pbf_writer mapping(dictionary, field::kMappingTable);
      mapping.add_uint64(field::kMemoryStart, place.start);
      mapping.add_uint64(field::kMemoryLimit, place.limit);
      mapping.add_uint64(field::kFileOffset, place.file_offset);
      mapping.add_int32(field::kFilename,
                        static_cast<int32_t>(strings_.Of(ImagePath(profile_, dso))));
      if (dso.build_id.empty()) continue;
      const auto attribute = static_cast<int32_t>(
          attributes_.Of("process.executable.build_id.gnu", HexOf(dso.build_id)));
      mapping.add_packed_int32(field::kMappingAttributes, &attribute, &attribute + 1);
    }
  }

  void WriteLocations(pbf_writer& dictionary) {
    dictionary.add_message(field::kLocationTable, std::string());  // the empty one
    for (uint32_t i = 0; i < profile_.frames.size(); ++i) {
      const profile::Frame& frame = profile_.frames[i];
      pbf_writer location(dictionary, field::kLocationTable);
      location.add_int32(field::kMappingIndex,
                         static_cast<int32_t>(NumberOf(static_cast<uint32_t>(frame.dso))));
      location.add_uint64(field::kAddress, places_.AddressOf(frame));
      for (const CodeLine& at : code_.At(FrameId{i})) {
        pbf_writer line(location, field::kLines);
        line.add_int32(field::kFunctionIndex, static_cast<int32_t>(NumberOf(at.function)));
        line.add_int64(field::kLineNumber, at.line);
      }
      const bool in_kernel = KindOf(profile_[frame.dso], frame.mode) == CodeKind::kKernel;
      const auto attribute = static_cast<int32_t>(
          attributes_.Of("profile.frame.type", std::string(in_kernel ? "kernel" : "native")));
      location.add_packed_int32(field::kLocationAttributes, &attribute, &attribute + 1);
    }
  }

  void WriteFunctions(pbf_writer& dictionary) {
    dictionary.add_message(field::kFunctionTable, std::string());  // the empty one
    for (const CodeFunction& known : code_.functions()) {
      pbf_writer function(dictionary, field::kFunctionTable);
      function.add_int32(field::kName, static_cast<int32_t>(strings_.Of(known.name)));
      function.add_int32(field::kSystemName, static_cast<int32_t>(strings_.Of(known.name)));
      function.add_int32(field::kFile, static_cast<int32_t>(strings_.Of(known.file)));
    }
  }

  void WriteStacks(pbf_writer& dictionary) const {
    dictionary.add_message(field::kStackTable, std::string());  // the empty one
    std::vector<int32_t> locations;
    for (const StackId stack : stacks_) {
      locations.clear();
      for (StackId at = stack; at != profile::kNoStack; at = profile_[at].parent) {
        locations.push_back(
            static_cast<int32_t>(NumberOf(static_cast<uint32_t>(profile_[at].frame))));
      }
      pbf_writer written(dictionary, field::kStackTable);
      written.add_packed_int32(field::kLocationIndices, locations.begin(), locations.end());
    }
  }

  const Profile& profile_;
  const Origin& origin_;
  const CodeTable code_;
  const ImagePlaces places_;
  StringIndex strings_;
  Attributes attributes_{strings_};
  absl::flat_hash_map<StackId, uint32_t> stack_numbers_;
  std::vector<StackId> stacks_;  // by number - 1
  std::string bytes_;
  pbf_writer out_{bytes_};
};

}  // namespace

std::string Otlp(const Profile& profile, const Origin& origin) {
  return OtlpWriter(profile, origin).Write();
}

}  // namespace profiler::exports
