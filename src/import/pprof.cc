#include "src/import/pprof.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/import/pprof_fields.h"
#include "src/import/pprof_tables.h"

namespace profiler::import {
namespace {

using profile::FrameId;
using profile::Mode;
using profile::StackId;
using protozero::pbf_reader;
using Fields = PprofFields;

// Which values of a sample are an event's.
struct ValueOfEvent {
  profile::EventId event{};
  std::optional<size_t> count;  // index of the value that says how many samples
  size_t period = 0;            // index of the value that is their weight
  // Where the file says how much lies between two samples: the count follows from the weight.
  uint64_t per_sample = 0;
  uint64_t scale = 1;  // nanoseconds a unit of time
};

// Whether a value says how many samples there were; `next`: the type of the value behind it.
bool IsSampleCount(std::string_view type, std::string_view unit, std::string_view next) {
  const bool is_of_next = !next.empty() && type == absl::StrCat(View(next), pprof::kSamplesEnding);
  return (type == "samples" || type == "sample" || is_of_next) && unit == "count";
}

// Times are in nanoseconds here.
uint64_t ScaleOf(std::string_view unit) {
  if (unit == "microseconds") return 1000;
  if (unit == "milliseconds") return 1'000'000;
  return unit == "seconds" ? 1'000'000'000 : 1;
}

// In hexadecimal, else it is no build-id of an ELF file (Go writes others).
std::vector<std::byte> BuildIdOf(std::string_view text) {
  constexpr size_t kLongest = 20;
  const bool is_hex = text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
  if (text.empty() || text.size() % 2 != 0 || text.size() > 2 * kLongest || !is_hex) return {};
  std::vector<std::byte> bytes;
  for (size_t i = 0; i < text.size(); i += 2) {
    uint8_t byte = 0;
    std::from_chars(text.data() + i, text.data() + i + 2, byte, 16);
    bytes.push_back(std::byte{byte});
  }
  return bytes;
}

bool IsKernel(std::string_view image, uint64_t address) {
  constexpr uint64_t kUpperHalf = uint64_t{1} << 63;
  return image.starts_with("[kernel") || address >= kUpperHalf;
}

class PprofReader {
 public:
  explicit PprofReader(ProfileMaker& maker) : maker_(maker) {}

  // Throws protozero::exception.
  absl::Status Read(std::string_view bytes) {
    tables_.Read(bytes);
    if (tables_.value_types.empty()) {
      return absl::DataLossError("it does not say what its values are (no sample_type)");
    }
    ChooseEvents();
    pbf_reader profile(bytes.data(), bytes.size());
    while (profile.next(Fields::kSample)) AddSample(MessageOf(profile));
    if (below_zero_ != 0) {
      maker_.Warn(absl::StrCat(below_zero_, " values are below zero and left out"));
    }
    return absl::OkStatus();
  }

 private:
  void ChooseEvents() {
    const auto& types = tables_.value_types;
    for (size_t i = 0; i < types.size(); ++i) {
      const std::string_view type = tables_.text(types[i].type);
      const std::string_view next =
          i + 1 < types.size() ? tables_.text(types[i + 1].type) : std::string_view();
      const bool is_count = IsSampleCount(type, tables_.text(types[i].unit), next);
      if (is_count && i + 1 < types.size()) {
        ++i;
        values_.push_back({.event = maker_.Event(tables_.text(types[i].type)),
                           .count = i - 1,
                           .period = i,
                           .scale = ScaleOf(tables_.text(types[i].unit))});
        continue;
      }
      ValueOfEvent value{
          .event = maker_.Event(type), .period = i, .scale = ScaleOf(tables_.text(types[i].unit))};
      if (is_count) value.count = i;
      const bool has_period = types[i].type == tables_.period_type.type &&
                              types[i].unit == tables_.period_type.unit && types.size() == 1;
      if (has_period && tables_.period > 1) {
        value.per_sample = static_cast<uint64_t>(tables_.period);
      }
      values_.push_back(value);
    }
  }

  struct SampleFields {
    std::vector<uint64_t> locations;
    std::vector<int64_t> values;
    std::optional<uint32_t> pid, tid;
    std::string_view thread, comm;
  };

  void AddSample(pbf_reader message) {
    fields_.locations.clear();
    fields_.values.clear();
    fields_.pid = fields_.tid = std::nullopt;
    fields_.thread = fields_.comm = {};
    while (message.next()) {
      switch (message.tag()) {
        case Fields::kLocationId:
          ReadNumbers(message, fields_.locations);
          break;
        case Fields::kValue:
          ReadNumbers(message, fields_.values);
          break;
        case Fields::kLabel:
          ReadLabel(MessageOf(message));
          break;
        default:
          message.skip();
      }
    }
    StackId stack = profile::kNoStack;
    for (size_t i = fields_.locations.size(); i-- > 0;) {
      stack = maker_.Stack(stack, FrameOf(fields_.locations[i]));
    }
    const profile::ThreadId thread = ThreadOfSample();
    for (const ValueOfEvent& value : values_) AddValue(value, thread, stack);
  }

  // Packed, as proto3 has them, or one by one.
  template <class Number>
  static void ReadNumbers(pbf_reader& message, std::vector<Number>& numbers) {
    if (message.wire_type() != protozero::pbf_wire_type::length_delimited) {
      numbers.push_back(static_cast<Number>(NumberOf(message)));
      return;
    }
    for (const uint64_t number : message.get_packed_uint64()) {
      numbers.push_back(static_cast<Number>(number));
    }
  }

  void ReadLabel(pbf_reader message) {
    std::string_view key, text;
    std::optional<int64_t> number;
    while (message.next()) {
      switch (message.tag()) {
        case Fields::kKey:
          key = tables_.text(NumberOf(message));
          break;
        case Fields::kStr:
          text = tables_.text(NumberOf(message));
          break;
        case Fields::kNum:
          number = SignedNumberOf(message);
          break;
        default:
          message.skip();
      }
    }
    if (key == "pid" || key == "process_id") fields_.pid = IdOf(text, number);
    if (key == "tid" || key == "thread_id" || key == "thread id") fields_.tid = IdOf(text, number);
    if (key == "thread" || key == "thread_name" || key == "thread name") fields_.thread = text;
    if (key == "comm" || key == "process" || key == "command") fields_.comm = text;
  }

  static std::optional<uint32_t> IdOf(std::string_view text, std::optional<int64_t> number) {
    if (text.empty()) return number ? std::optional(static_cast<uint32_t>(*number)) : std::nullopt;
    uint32_t id = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, id);
    return error == std::errc() && stop == end ? std::optional(id) : std::nullopt;
  }

  // A thread has one name here: its own, or else that of its process, or of the program.
  profile::ThreadId ThreadOfSample() {
    std::string_view name = fields_.thread.empty() ? fields_.comm : fields_.thread;
    if (name.empty()) name = ProgramName();
    if (!fields_.pid && !fields_.tid) return maker_.NamedThread(name);
    const uint32_t pid = fields_.pid ? *fields_.pid : *fields_.tid;
    return maker_.Thread(pid, fields_.tid.value_or(pid), name);
  }

  std::string_view ProgramName() const {
    const auto first = tables_.mappings.find(tables_.first_mapping);
    std::string_view name;
    if (first != tables_.mappings.end()) name = BaseName(tables_.text(first->second.file));
    return name.empty() ? "[unknown]" : name;
  }

  void AddValue(const ValueOfEvent& value, profile::ThreadId thread, StackId stack) {
    const auto at = [&](size_t index) {
      return index < fields_.values.size() ? fields_.values[index] : 0;
    };
    const int64_t period = at(value.period);
    int64_t count = value.count ? at(*value.count) : (period != 0 ? 1 : 0);
    if (value.per_sample != 0 && period > 0) {
      count = std::max<int64_t>(1, period / static_cast<int64_t>(value.per_sample));
    }
    if (period < 0 || count < 0) {
      ++below_zero_;
      return;
    }
    maker_.Add({.event = value.event,
                .thread = thread,
                .stack = stack,
                .count = static_cast<uint64_t>(count),
                .period = static_cast<uint64_t>(period) * value.scale});
  }

  FrameId FrameOf(uint64_t location_id) {
    const auto [known, is_new] = frames_.try_emplace(location_id);
    if (is_new) known->second = MakeFrame(location_id);
    return known->second;
  }

  FrameId MakeFrame(uint64_t location_id) {
    const auto found = tables_.locations.find(location_id);
    if (found == tables_.locations.end()) return maker_.Frame({});
    const PprofTables::Location& location = found->second;
    std::vector<FunctionLine> functions;
    for (const PprofTables::Line& line : location.lines) {
      const auto function = tables_.functions.find(line.function);
      if (function == tables_.functions.end()) continue;
      std::string_view name = tables_.text(function->second.name);
      if (name.empty()) name = tables_.text(function->second.system_name);
      if (name.empty()) continue;
      functions.push_back({name, tables_.text(function->second.file),
                           static_cast<uint32_t>(std::clamp<int64_t>(line.line, 0, UINT32_MAX))});
    }
    CodeSpec code{.functions = functions};
    if (location.address != 0) code.address = location.address;
    const auto mapping = tables_.mappings.find(location.mapping);
    if (mapping != tables_.mappings.end()) SetImage(mapping->second, code);
    if (code.image == profile::DsoId{} && IsKernel({}, location.address)) {
      code.mode = Mode::kKernel;
    }
    return maker_.Frame(code);
  }

  void SetImage(const PprofTables::Mapping& mapping, CodeSpec& code) {
    const std::string_view path = tables_.text(mapping.file);
    const uint64_t address = code.address.value_or(0);
    if (path.empty()) return;
    if (IsKernel(path, address)) {
      code.mode = Mode::kKernel;
      code.image = maker_.ImageInKernel(path.starts_with("[kernel") ? "" : path);
      return;
    }
    const std::vector<std::byte> build_id = BuildIdOf(tables_.text(mapping.build_id));
    code.image = build_id.empty() ? maker_.UserImage(path, std::nullopt)
                                  : maker_.Image(profile::DsoKind::kUser, path, build_id);
    if (code.address && address >= mapping.start && mapping.start != 0) {
      code.file_offset = address - mapping.start + mapping.offset;
    }
  }

  ProfileMaker& maker_;
  PprofTables tables_;
  std::vector<ValueOfEvent> values_;
  SampleFields fields_;  // of the sample at hand
  absl::flat_hash_map<uint64_t, FrameId> frames_;
  size_t below_zero_ = 0;
};

}  // namespace

absl::Status ReadPprof(std::string_view bytes, ProfileMaker& maker) {
  try {
    return PprofReader(maker).Read(bytes);
  } catch (const protozero::exception& error) {
    return absl::DataLossError(
        absl::StrCat("cut or damaged: its messages are not whole (", error.what(), ")"));
  }
}

namespace {

// Whether a field of a profile has the type that it ought to have.
bool IsFieldOfProfile(uint32_t field, protozero::pbf_wire_type type) {
  constexpr uint32_t kLast = 15;
  constexpr uint32_t kComment = 13;  // numbers, in either form
  const bool is_message =
      (field >= Fields::kSampleType && field <= Fields::kString) || field == Fields::kPeriodType;
  if (field == 0 || field > kLast) return false;
  if (type == protozero::pbf_wire_type::length_delimited) return is_message || field == kComment;
  return type == protozero::pbf_wire_type::varint && !is_message;
}

bool IsValueType(pbf_reader type) {
  while (type.next()) {
    if (type.tag() > Fields::kUnit || type.wire_type() != protozero::pbf_wire_type::varint) {
      return false;
    }
    type.skip();
  }
  return true;
}

}  // namespace

bool LooksLikePprof(std::string_view start) {
  bool has_value_type = false;
  try {
    pbf_reader profile(start.data(), start.size());
    while (profile.next()) {
      if (!IsFieldOfProfile(profile.tag(), profile.wire_type())) return false;
      if (profile.tag() == Fields::kSampleType) {
        if (!IsValueType(MessageOf(profile))) return false;
        has_value_type = true;
      } else {
        profile.skip();
      }
    }
  } catch (const protozero::exception&) {
    // The start of a file ends anywhere.
  }
  return has_value_type;
}

}  // namespace profiler::import
