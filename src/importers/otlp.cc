#include "src/importers/otlp.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <protozero/pbf_reader.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "src/base/byte_reader.h"
#include "src/format/otlp/field_numbers.h"
#include "src/importers/pprof_fields.h"

namespace profiler::importers {
namespace {

using profile::EventId;
using profile::StackId;
using profile::ThreadId;
using protozero::pbf_reader;
namespace field = otlp::field;

// The index of an element in a table. It may be invalid, so each look-up checks it.
using Index = uint64_t;

struct ValueType {
  Index type = 0, unit = 0;
};
struct Attribute {
  Index key = 0;
  std::string_view text;
  std::optional<int64_t> number;
};
struct Mapping {
  uint64_t start = 0, offset = 0;
  Index filename = 0;
  std::vector<Index> attributes;
};
struct Line {
  Index function = 0;
  uint64_t line = 0;
};
struct Location {
  Index mapping = 0;
  uint64_t address = 0;
  std::vector<Line> lines;
  std::vector<Index> attributes;
};
struct Function {
  Index name = 0, system_name = 0, file = 0;
};
struct Sample {
  Index stack = 0;
  std::vector<Index> attributes;
  std::vector<int64_t> values;
  std::vector<uint64_t> times;
};
struct OneProfile {
  ValueType type, period_type;
  std::vector<Sample> samples;
};

// Appends the numbers of a repeated field to `out`; the field may be packed.
template <class Number, class Get>
void AppendNumbers(pbf_reader& field, std::vector<Number>& out, Get get_packed) {
  if (field.wire_type() == protozero::pbf_wire_type::varint) {
    out.push_back(static_cast<Number>(NumberOf(field)));
    return;
  }
  RequireType(field, protozero::pbf_wire_type::length_delimited);
  for (const auto number : get_packed(field)) out.push_back(static_cast<Number>(number));
}
template <class Number>
void AppendVarints(pbf_reader& field, std::vector<Number>& out) {
  AppendNumbers(field, out, [](pbf_reader& packed) { return packed.get_packed_uint64(); });
}

ValueType ReadValueType(pbf_reader message) {
  ValueType type;
  while (message.next()) {
    switch (message.tag()) {
      case field::kType:
        type.type = NumberOf(message);
        break;
      case field::kUnit:
        type.unit = NumberOf(message);
        break;
      default:
        message.skip();
    }
  }
  return type;
}

// Reads an AnyValue: a text or a number. Other kinds are not needed.
void ReadValue(pbf_reader message, Attribute& attribute) {
  while (message.next()) {
    switch (message.tag()) {
      case field::kStringValue:
        attribute.text = TextOfField(message);
        break;
      case field::kIntValue:
        attribute.number = SignedNumberOf(message);
        break;
      default:
        message.skip();
    }
  }
}

Attribute ReadAttribute(pbf_reader message) {
  Attribute attribute;
  while (message.next()) {
    switch (message.tag()) {
      case field::kAttributeKey:
        attribute.key = NumberOf(message);
        break;
      case field::kAttributeValue:
        ReadValue(MessageOf(message), attribute);
        break;
      default:
        message.skip();
    }
  }
  return attribute;
}

Mapping ReadMapping(pbf_reader message) {
  Mapping mapping;
  while (message.next()) {
    switch (message.tag()) {
      case field::kMemoryStart:
        mapping.start = NumberOf(message);
        break;
      case field::kFileOffset:
        mapping.offset = NumberOf(message);
        break;
      case field::kFilename:
        mapping.filename = NumberOf(message);
        break;
      case field::kMappingAttributes:
        AppendVarints(message, mapping.attributes);
        break;
      default:
        message.skip();
    }
  }
  return mapping;
}

Line ReadLine(pbf_reader message) {
  Line line;
  while (message.next()) {
    switch (message.tag()) {
      case field::kFunctionIndex:
        line.function = NumberOf(message);
        break;
      case field::kLineNumber:
        line.line = NumberOf(message);
        break;
      default:
        message.skip();
    }
  }
  return line;
}

Location ReadLocation(pbf_reader message) {
  Location location;
  while (message.next()) {
    switch (message.tag()) {
      case field::kMappingIndex:
        location.mapping = NumberOf(message);
        break;
      case field::kAddress:
        location.address = NumberOf(message);
        break;
      case field::kLines:
        location.lines.push_back(ReadLine(MessageOf(message)));
        break;
      case field::kLocationAttributes:
        AppendVarints(message, location.attributes);
        break;
      default:
        message.skip();
    }
  }
  return location;
}

Function ReadFunction(pbf_reader message) {
  Function function;
  while (message.next()) {
    switch (message.tag()) {
      case field::kName:
        function.name = NumberOf(message);
        break;
      case field::kSystemName:
        function.system_name = NumberOf(message);
        break;
      case field::kFile:
        function.file = NumberOf(message);
        break;
      default:
        message.skip();
    }
  }
  return function;
}

Sample ReadSample(pbf_reader message) {
  Sample sample;
  while (message.next()) {
    switch (message.tag()) {
      case field::kStackIndex:
        sample.stack = NumberOf(message);
        break;
      case field::kSampleAttributes:
        AppendVarints(message, sample.attributes);
        break;
      case field::kValues:
        AppendVarints(message, sample.values);
        break;
      case field::kTimestamps:
        if (message.wire_type() == protozero::pbf_wire_type::fixed64) {
          sample.times.push_back(message.get_fixed64());
        } else {
          RequireType(message, protozero::pbf_wire_type::length_delimited);
          for (const uint64_t time : message.get_packed_fixed64()) sample.times.push_back(time);
        }
        break;
      default:
        message.skip();
    }
  }
  return sample;
}

OneProfile ReadProfile(pbf_reader message) {
  OneProfile profile;
  while (message.next()) {
    switch (message.tag()) {
      case field::kSampleType:
        profile.type = ReadValueType(MessageOf(message));
        break;
      case field::kSamples:
        profile.samples.push_back(ReadSample(MessageOf(message)));
        break;
      case field::kPeriodType:
        profile.period_type = ReadValueType(MessageOf(message));
        break;
      default:
        message.skip();
    }
  }
  return profile;
}

// The tables that all profiles of the file share.
class Dictionary {
 public:
  void Read(pbf_reader message) {
    while (message.next()) {
      switch (message.tag()) {
        case field::kMappingTable:
          mappings_.push_back(ReadMapping(MessageOf(message)));
          break;
        case field::kLocationTable:
          locations_.push_back(ReadLocation(MessageOf(message)));
          break;
        case field::kFunctionTable:
          functions_.push_back(ReadFunction(MessageOf(message)));
          break;
        case field::kStringTable:
          strings_.push_back(TextOfField(message));
          break;
        case field::kAttributeTable:
          attributes_.push_back(ReadAttribute(MessageOf(message)));
          break;
        case field::kStackTable:
          stacks_.push_back(ReadStack(MessageOf(message)));
          break;
        default:
          message.skip();
      }
    }
  }

  std::string_view text(Index index) const {
    return index < strings_.size() ? strings_[index] : std::string_view();
  }
  // These functions return null for missing elements, and for element 0, which stands for no
  // element.
  const Mapping* mapping(Index index) const { return At(mappings_, index); }
  const Location* location(Index index) const { return At(locations_, index); }
  const Function* function(Index index) const { return At(functions_, index); }
  const std::vector<Index>* stack(Index index) const { return At(stacks_, index); }
  const Attribute* Find(std::span<const Index> indices, std::string_view key) const {
    for (const Index index : indices) {
      const Attribute* const attribute = At(attributes_, index);
      if (attribute != nullptr && text(attribute->key) == key) return attribute;
    }
    return nullptr;
  }

 private:
  static std::vector<Index> ReadStack(pbf_reader message) {
    std::vector<Index> locations;
    while (message.next()) {
      if (message.tag() == field::kLocationIndices) {
        AppendVarints(message, locations);
      } else {
        message.skip();
      }
    }
    return locations;
  }

  template <class T>
  static const T* At(const std::vector<T>& table, Index index) {
    return index != 0 && index < table.size() ? &table[index] : nullptr;
  }

  std::vector<Mapping> mappings_;
  std::vector<Location> locations_;
  std::vector<Function> functions_;
  std::vector<std::string_view> strings_;
  std::vector<Attribute> attributes_;
  std::vector<std::vector<Index>> stacks_;
};

class OtlpReader {
 public:
  explicit OtlpReader(ProfileMaker& maker) : maker_(maker) {}

  void Read(pbf_reader request) {
    std::vector<pbf_reader> resources;
    while (request.next()) {
      if (request.tag() == field::kResourceProfiles) {
        resources.push_back(MessageOf(request));
      } else if (request.tag() == field::kDictionary) {
        dictionary_.Read(MessageOf(request));
      } else {
        request.skip();
      }
    }
    for (pbf_reader& resource : resources) ReadResource(resource);
    if (left_out_ != 0) {
      maker_.Warn(absl::StrCat("values below zero were left out: ", left_out_));
    }
  }

 private:
  void ReadResource(pbf_reader resource) {
    service_ = {};
    std::vector<pbf_reader> scopes;
    while (resource.next()) {
      if (resource.tag() == field::kResource) {
        ReadResourceAttributes(MessageOf(resource));
      } else if (resource.tag() == field::kScopeProfiles) {
        scopes.push_back(MessageOf(resource));
      } else {
        resource.skip();
      }
    }
    for (pbf_reader& scope : scopes) ReadScope(scope);
  }

  void ReadResourceAttributes(pbf_reader resource) {
    while (resource.next()) {
      if (resource.tag() != field::kResourceAttributes) {
        resource.skip();
        continue;
      }
      std::string_view key;
      Attribute value;
      pbf_reader attribute = MessageOf(resource);
      while (attribute.next()) {
        if (attribute.tag() == field::kKey) {
          key = TextOfField(attribute);
        } else if (attribute.tag() == field::kValue) {
          ReadValue(MessageOf(attribute), value);
        } else {
          attribute.skip();
        }
      }
      const bool names_program = key == "process.executable.name";
      if (names_program || (key == "service.name" && service_.empty())) service_ = value.text;
    }
  }

  void ReadScope(pbf_reader scope) {
    std::vector<OneProfile> profiles;
    while (scope.next()) {
      if (scope.tag() == field::kProfiles) {
        profiles.push_back(ReadProfile(MessageOf(scope)));
      } else {
        scope.skip();
      }
    }
    for (size_t i = 0; i < profiles.size(); ++i) {
      if (i + 1 < profiles.size() && AreOneEvent(profiles[i], profiles[i + 1])) {
        AddCounted(profiles[i], profiles[i + 1]);
        ++i;
      } else {
        AddAlone(profiles[i]);
      }
    }
  }

  bool IsCount(const ValueType& type) const {
    return dictionary_.text(type.type) == "samples" && dictionary_.text(type.unit) == "count";
  }

  bool AreOneEvent(const OneProfile& counts, const OneProfile& values) const {
    if (!IsCount(counts.type) || IsCount(values.type) ||
        counts.samples.size() != values.samples.size()) {
      return false;
    }
    for (size_t i = 0; i < counts.samples.size(); ++i) {
      if (counts.samples[i].stack != values.samples[i].stack ||
          counts.samples[i].attributes != values.samples[i].attributes) {
        return false;
      }
    }
    return true;
  }

  // Returns the sum of the values, or the number of timestamps if there are no values. Returns
  // nothing if a value is negative.
  std::optional<uint64_t> AmountOf(const Sample& sample) {
    if (sample.values.empty()) return sample.times.size();
    uint64_t sum = 0;
    for (const int64_t value : sample.values) {
      if (value < 0 || __builtin_add_overflow(sum, static_cast<uint64_t>(value), &sum)) {
        ++left_out_;
        return std::nullopt;
      }
    }
    return sum;
  }

  void AddCounted(const OneProfile& counts, const OneProfile& values) {
    const EventId event = maker_.Event(dictionary_.text(values.type.type));
    for (size_t i = 0; i < counts.samples.size(); ++i) {
      const auto count = AmountOf(counts.samples[i]), period = AmountOf(values.samples[i]);
      if (count && period) Add(event, counts.samples[i], *count, *period);
    }
  }

  void AddAlone(const OneProfile& profile) {
    const EventId event = maker_.Event(dictionary_.text(profile.type.type));
    const bool is_count = IsCount(profile.type);
    for (const Sample& sample : profile.samples) {
      // If there are as many values as times, each value belongs to the time at the same index.
      const bool is_each = sample.values.size() == sample.times.size() && !sample.values.empty();
      if (is_each) {
        for (size_t i = 0; i < sample.values.size(); ++i) {
          const Sample one{sample.stack, sample.attributes, {sample.values[i]}, {sample.times[i]}};
          if (const auto amount = AmountOf(one)) Add(event, one, is_count ? *amount : 1, *amount);
        }
      } else if (const auto amount = AmountOf(sample)) {
        Add(event, sample, is_count ? *amount : std::max<uint64_t>(sample.times.size(), 1),
            *amount);
      }
    }
  }

  // Adds `count` samples with the sum `period`. If the sample has `count` times, each of the added
  // samples gets one of them.
  void Add(EventId event, const Sample& sample, uint64_t count, uint64_t period) {
    SampleSpec spec{.event = event,
                    .thread = ThreadOf(sample.attributes),
                    .stack = StackOf(sample.stack),
                    .count = count,
                    .period = period};
    if (count == 0 || sample.times.size() != count) return maker_.Add(spec);
    for (size_t i = 0; i < count; ++i) {
      spec.count = 1;
      spec.period = period / count + (i < period % count ? 1 : 0);
      spec.time = sample.times[i];
      maker_.Add(spec);
    }
  }

  ThreadId ThreadOf(const std::vector<Index>& attributes) {
    const auto [known, is_new] = threads_.try_emplace(attributes, ThreadId{});
    if (is_new) known->second = MakeThread(attributes);
    return known->second;
  }

  ThreadId MakeThread(const std::vector<Index>& attributes) {
    const auto number = [&](std::string_view key) -> uint32_t {
      const Attribute* const found = dictionary_.Find(attributes, key);
      return found != nullptr && found->number ? static_cast<uint32_t>(*found->number) : 0;
    };
    const Attribute* const name = dictionary_.Find(attributes, "thread.name");
    std::string_view comm = name != nullptr ? name->text : service_;
    if (comm.empty()) comm = "[unknown]";
    const uint32_t pid = number("process.pid"), tid = number("thread.id");
    return pid == 0 && tid == 0 ? maker_.NamedThread(comm)
                                : maker_.Thread(pid != 0 ? pid : tid, tid != 0 ? tid : pid, comm);
  }

  StackId StackOf(Index index) {
    const auto [known, is_new] = known_stacks_.try_emplace(index, profile::kNoStack);
    if (!is_new) return known->second;
    StackId stack = profile::kNoStack;
    if (const std::vector<Index>* const locations = dictionary_.stack(index)) {
      for (size_t i = locations->size(); i-- > 0;) {
        stack = maker_.Stack(stack, FrameOf((*locations)[i]));
      }
    }
    return known->second = stack;
  }

  profile::FrameId FrameOf(Index index) {
    CodeSpec code;
    const Location* const location = dictionary_.location(index);
    if (location == nullptr) return maker_.Frame(code);
    std::vector<FunctionLine> functions;
    for (const Line& line : location->lines) {
      const Function* const function = dictionary_.function(line.function);
      if (function == nullptr) continue;
      std::string_view name = dictionary_.text(function->name);
      if (name.empty()) name = dictionary_.text(function->system_name);
      if (name.empty()) continue;
      functions.push_back({.name = name,
                           .file = dictionary_.text(function->file),
                           .line = line.line < UINT32_MAX ? static_cast<uint32_t>(line.line) : 0});
    }
    code.functions = functions;
    const Attribute* const type = dictionary_.Find(location->attributes, "profile.frame.type");
    const bool in_kernel = type != nullptr && type->text == "kernel";
    code.mode = in_kernel ? profile::Mode::kKernel : profile::Mode::kUser;
    if (location->address != 0) code.address = location->address;
    const Mapping* const mapping = dictionary_.mapping(location->mapping);
    if (mapping == nullptr) return maker_.Frame(code);
    const std::string_view path = dictionary_.text(mapping->filename);
    if (in_kernel) {
      code.image = maker_.ImageInKernel(path.starts_with("[kernel") ? "" : path);
    } else if (!path.empty()) {
      code.image = UserImage(path, *mapping);
    }
    if (code.address && location->address >= mapping->start) {
      code.file_offset = location->address - mapping->start + mapping->offset;
    }
    return maker_.Frame(code);
  }

  profile::ImageId UserImage(std::string_view path, const Mapping& mapping) {
    const Attribute* const id =
        dictionary_.Find(mapping.attributes, "process.executable.build_id.gnu");
    if (id == nullptr || !path.starts_with('/')) return maker_.UserImage(path, std::nullopt);
    const bool is_hex = id->text.size() % 2 == 0 &&
                        id->text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
    const std::string bytes = is_hex ? absl::HexStringToBytes(std::string(id->text)) : "";
    return maker_.Image(symbolize::ImageKind::kUser, path, BytesOfText(bytes));
  }

  ProfileMaker& maker_;
  Dictionary dictionary_;
  std::string_view service_;  // name of the service or program of the present resource
  std::map<std::vector<Index>, ThreadId> threads_;
  std::map<Index, StackId> known_stacks_;
  size_t left_out_ = 0;
};

}  // namespace

absl::Status ReadOtlp(std::string_view bytes, ProfileMaker& maker) {
  try {
    OtlpReader(maker).Read(pbf_reader(bytes.data(), bytes.size()));
  } catch (const protozero::exception& error) {
    return absl::DataLossError(absl::StrCat("the file is cut or damaged: ", error.what()));
  }
  return absl::OkStatus();
}

// Decides by the first field. In a request, that is resource_profiles or the dictionary.
// resource_profiles begins with a resource or scope_profiles; the dictionary has an empty first
// mapping. In pprof's files, the first field is different: sample types begin with numbers, and
// samples have no empty field.
bool LooksLikeOtlp(std::string_view start) {
  size_t at = 1;
  while (at < start.size() && (start[at] & 0x80) != 0) ++at;
  if (++at + 1 >= start.size()) return false;
  const char first = start[0], inner = start[at], size = start[at + 1];
  return (first == 0x0a && (inner == 0x0a || inner == 0x12)) ||
         (first == 0x12 && inner == 0x0a && size == 0);
}

}  // namespace profiler::importers
