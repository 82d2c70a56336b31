#include "src/importers/pprof.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/importers/drop_frames.h"
#include "src/importers/pprof_fields.h"
#include "src/importers/pprof_tables.h"

namespace profiler::importers {
namespace {

using profile::FrameId;
using profile::Mode;
using profile::StackId;
using protozero::pbf_reader;
using Fields = PprofFields;

// Says which values of a sample belong to an event.
struct ValueOfEvent {
  profile::EventId event{};
  std::optional<size_t> count;  // index of the value that is the number of samples
  size_t period = 0;            // index of the value that is the weight of these samples
  // Weight per sample, if the file says it; 0: unknown. The number of samples is then the weight
  // divided by it.
  uint64_t per_sample = 0;
  uint64_t scale = 1;  // ns per unit of time
};

// True if a value is a number of samples. `next` is the type of the following value.
bool IsSampleCount(std::string_view type, std::string_view unit, std::string_view next) {
  const bool is_of_next = !next.empty() && type == absl::StrCat(View(next), pprof::kSamplesEnding);
  return (type == "samples" || type == "sample" || is_of_next) && unit == "count";
}

// Returns the number of ns in a unit of time. The units are those of pprof's internal/measurement.
uint64_t ScaleOf(std::string_view unit) {
  constexpr uint64_t kSecond = 1'000'000'000;
  constexpr std::pair<std::string_view, uint64_t> kUnits[] = {{"us", 1000},
                                                              {"microsecond", 1000},
                                                              {"ms", 1'000'000},
                                                              {"millisecond", 1'000'000},
                                                              {"s", kSecond},
                                                              {"sec", kSecond},
                                                              {"second", kSecond},
                                                              {"min", 60 * kSecond},
                                                              {"minute", 60 * kSecond},
                                                              {"hour", 3600 * kSecond},
                                                              {"hr", 3600 * kSecond}};
  for (const auto& [name, scale] : kUnits) {
    if (unit == name || (name.size() > 2 && unit == absl::StrCat(View(name), "s"))) return scale;
  }
  return 1;
}

// Parses a hexadecimal build-id. Returns nothing for other texts, which Go writes and which are no
// build-ids of ELF files.
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

  // Reads the profile. Throws protozero::exception.
  absl::Status Read(std::string_view bytes) {
    tables_.Read(bytes);
    if (tables_.value_types.empty()) {
      return absl::DataLossError("it does not name the types of its values (no sample_type)");
    }
    ChooseEvents();
    FindDroppedFrames();
    pbf_reader profile(bytes.data(), bytes.size());
    while (profile.next(Fields::kSample)) {
      PROFILER_RETURN_IF_ERROR(AddSample(MessageOf(profile)));
    }
    if (below_zero_ != 0) {
      maker_.Warn(absl::StrCat(below_zero_, " values are below zero and left out"));
    }
    return absl::OkStatus();
  }

 private:
  void ChooseEvents() {
    const auto& types = tables_.value_types;
    std::vector<std::string> names(types.size());  // name of each type's event
    for (size_t i = 0; i < types.size(); ++i) names[i] = NameOf(i, {names.data(), i});
    const auto is_count = [&](size_t i) {
      const bool is_last = i + 1 == types.size();
      return IsSampleCount(tables_.text(types[i].type), tables_.text(types[i].unit),
                           is_last ? std::string_view() : tables_.text(types[i + 1].type));
    };
    const size_t shown = DefaultType();
    const bool is_of_next = is_count(shown) && shown + 1 < types.size();
    maker_.Event(names[is_of_next ? shown + 1 : shown]);
    for (size_t i = 0; i < types.size(); ++i) {
      ValueOfEvent value;
      if (is_count(i)) {
        value.count = i;
        if (i + 1 < types.size()) ++i;
      }
      value.event = maker_.Event(names[i]);
      value.period = i;
      value.scale = ScaleOf(tables_.text(types[i].unit));
      const bool has_period = types[i].type == tables_.period_type.type &&
                              types[i].unit == tables_.period_type.unit && types.size() == 1;
      if (has_period && tables_.period > 1) {
        value.per_sample = static_cast<uint64_t>(tables_.period);
      }
      values_.push_back(value);
    }
  }

  // Returns the name of a type's event. If another type already has that name, adds the unit, and
  // if that is not enough, a number.
  std::string NameOf(size_t index, std::span<const std::string> before) const {
    const std::string type(tables_.text(tables_.value_types[index].type));
    std::string name = type;
    for (size_t number = 1; std::ranges::count(before, name) != 0; ++number) {
      name = absl::StrCat(type, "_", View(tables_.text(tables_.value_types[index].unit)));
      if (number > 1) absl::StrAppend(&name, "_", number);
    }
    return name;
  }

  size_t DefaultType() const {
    const auto& types = tables_.value_types;
    const std::string_view wanted = tables_.text(tables_.default_type);
    for (size_t i = 0; i < types.size() && !wanted.empty(); ++i) {
      if (tables_.text(types[i].type) == wanted) return i;
    }
    return types.size() - 1;
  }

  void FindDroppedFrames() {
    const std::string_view drop = tables_.text(tables_.drop_frames);
    if (drop.empty()) return;
    auto pattern = DropFrames::Parse(drop, tables_.text(tables_.keep_frames));
    absl::flat_hash_set<uint64_t> functions;
    for (const auto& [id, function] : tables_.functions) {
      if (!pattern || pattern->is_too_much()) break;
      if (pattern->Drops(NameOf({.function = id, .line = 0}))) functions.insert(id);
    }
    if (!pattern || pattern->is_too_much()) {
      maker_.Warn(
          "its drop_frames are shown: they are a pattern that is not supported, or takes too long");
      return;
    }
    for (auto& [id, location] : tables_.locations) {
      size_t at = location.lines.size();
      while (at > 0 && !functions.contains(location.lines[at - 1].function)) --at;
      if (at == 0) continue;
      const bool is_whole = at == location.lines.size();
      dropped_.emplace(id, is_whole);
      if (!is_whole) {
        location.lines.erase(location.lines.begin(),
                             location.lines.begin() + static_cast<std::ptrdiff_t>(at));
      }
    }
  }

  struct SampleFields {
    std::vector<uint64_t> locations;
    std::vector<int64_t> values;
    std::optional<uint32_t> pid, tid;
    std::string_view thread, comm;
  };

  absl::Status AddSample(pbf_reader message) {
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
    if (fields_.values.size() != values_of_sample()) {
      return absl::DataLossError(absl::StrCat("a sample has ", fields_.values.size(),
                                              " values, and the profile ", values_of_sample(),
                                              " types of values"));
    }
    const StackId stack = StackOfSample();
    const profile::ThreadId thread = ThreadOfSample();
    for (const ValueOfEvent& value : values_) AddValue(value, thread, stack);
    return absl::OkStatus();
  }
  size_t values_of_sample() const { return tables_.value_types.size(); }

  // Returns the sample's stack from the outermost location up to the first dropped location.
  // Locations outside of the outermost kept location always stay.
  StackId StackOfSample() {
    StackId stack = profile::kNoStack;
    bool has_kept = false;
    for (size_t i = fields_.locations.size(); i-- > 0;) {
      const auto dropped = dropped_.find(fields_.locations[i]);
      has_kept = has_kept || dropped == dropped_.end();
      const bool ends_here = dropped != dropped_.end() && has_kept;
      if (ends_here && dropped->second) break;
      for (const FrameId frame : FramesOf(fields_.locations[i])) stack = maker_.Stack(stack, frame);
      if (ends_here) break;
    }
    return stack;
  }

  // Reads the numbers of a field. They are packed as in proto3, or stand one by one.
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

  // Returns the thread of the present sample. The name is that of the label thread, or else that of
  // the process (comm), or else that of the program.
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

  // Returns the frames of a location, outermost first.
  const std::vector<FrameId>& FramesOf(uint64_t location_id) {
    const auto [known, is_new] = frames_.try_emplace(location_id);
    if (is_new) known->second = MakeFrames(location_id);
    return known->second;
  }

  std::string_view NameOf(const PprofTables::Line& line) const {
    const auto function = tables_.functions.find(line.function);
    if (function == tables_.functions.end()) return {};
    const std::string_view name = tables_.text(function->second.name);
    return name.empty() ? tables_.text(function->second.system_name) : name;
  }

  // Makes the frames of a location. Only the function that contains the code gets the address, not
  // the functions inlined into it.
  std::vector<FrameId> MakeFrames(uint64_t location_id) {
    const auto found = tables_.locations.find(location_id);
    if (found == tables_.locations.end()) return {maker_.Frame({})};
    const PprofTables::Location& location = found->second;
    CodeSpec code;
    if (location.address != 0) code.address = location.address;
    const auto mapping = tables_.mappings.find(location.mapping);
    if (mapping != tables_.mappings.end()) SetImage(mapping->second, code);
    if (code.image == profile::ImageId{} && IsKernel({}, location.address)) {
      code.mode = Mode::kKernel;
    }
    if (location.lines.empty()) return {maker_.Frame(code)};
    std::vector<FrameId> frames;
    for (size_t i = location.lines.size(); i-- > 0;) {
      frames.push_back(FrameOf(location.lines[i], code));
      code.address = code.file_offset = std::nullopt;
    }
    return frames;
  }

  FrameId FrameOf(const PprofTables::Line& line, CodeSpec code) {
    const std::string_view name = NameOf(line);
    if (name.empty()) return maker_.Frame(code);
    const FunctionLine function = {
        name, tables_.text(tables_.functions.find(line.function)->second.file),
        static_cast<uint32_t>(std::clamp<int64_t>(line.line, 0, UINT32_MAX))};
    code.functions = std::span(&function, 1);
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
                                  : maker_.Image(symbolize::ImageKind::kUser, path, build_id);
    if (code.address && address >= mapping.start && mapping.start != 0) {
      code.file_offset = address - mapping.start + mapping.offset;
    }
  }

  ProfileMaker& maker_;
  PprofTables tables_;
  std::vector<ValueOfEvent> values_;
  SampleFields fields_;                                         // fields of the present sample
  absl::flat_hash_map<uint64_t, std::vector<FrameId>> frames_;  // keyed by location id
  // Locations whose callees are dropped. The value is true if the location itself is dropped too.
  absl::flat_hash_map<uint64_t, bool> dropped_;
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

// True if a field of a profile has the expected type.
bool IsFieldOfProfile(uint32_t field, protozero::pbf_wire_type type) {
  constexpr uint32_t kLast = 15;
  constexpr uint32_t kComment = 13;  // field of numbers, packed or not
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
    // The beginning of a file may end within a field.
  }
  return has_value_type;
}

}  // namespace profiler::importers
