#include "src/views/interchange/otlp.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "src/analysis/amount.h"
#include "src/analysis/frame_types.h"
#include "src/base/text.h"
#include "src/format/otlp/event_types.h"
#include "src/format/otlp/request.h"
#include "src/views/interchange/code_table.h"
#include "src/views/interchange/image_places.h"
#include "src/views/interchange/thread_rows.h"

namespace profiler::exports {
namespace {

using otlp::Number;
using profile::EventId;
using profile::FrameId;
using profile::Image;
using profile::ImageId;
using profile::Profile;
using profile::Row;
using profile::StackId;
using symbolize::ImageKind;

// Returns the name of an architecture in the semantic conventions. An architecture that has a name
// there must be called by it.
std::string ArchitectureOf(std::string_view machine) {
  if (machine == "x86_64") return "amd64";
  if (machine == "aarch64") return "arm64";
  if (machine.starts_with("armv")) return "arm32";
  if (machine.size() == 4 && machine[0] == 'i' && machine.ends_with("86")) return "x86";
  if (machine.starts_with("ppc64")) return "ppc64";
  if (machine == "ppc") return "ppc32";
  return ValidUtf8(machine);
}

// The samples of one thread and stack.
struct MergedSample {
  uint64_t count = 0, period = 0;
  std::vector<uint64_t> times;
};

// Attributes and stack; samples with equal keys are merged.
using SampleKey = std::pair<std::array<Number, 3>, Number>;
using Samples = std::map<SampleKey, MergedSample>;

// The samples of one event in a program.
struct ProgramPart {
  std::vector<uint32_t> rows;
  uint64_t count = 0, period = 0;
};
struct Program {
  std::string name;
  std::map<EventId, ProgramPart> events;
  uint64_t count = 0;
};

class OtlpWriter {
 public:
  OtlpWriter(const Profile& profile, const Origin& origin)
      : profile_(profile),
        origin_(origin),
        code_(profile),
        places_(profile),
        types_(analysis::FrameTypesOf(profile)),
        has_times_(HasTimes(profile) && origin.clock_started.has_value()),
        images_(profile.images.size()),
        locations_(profile.frames.size()) {}

  std::string Write() && {
    const otlp::Scope scope = otlp::ScopeOf(ValidUtf8(origin_.producer));
    for (const Program& program : Programs()) {
      otlp::ResourceProfiles resource(request_, AttributesOf(program), scope);
      for (const auto& [event, part] : program.events) WriteEvent(resource, event, part);
    }
    return std::move(request_).Finish();
  }

 private:
  // Returns the programs, the one with most samples first, because viewers show that one by
  // default.
  std::vector<Program> Programs() const {
    std::vector<Program> programs;
    absl::flat_hash_map<std::string, size_t> numbers;
    for (uint32_t i = 0; i < profile_.rows.size(); ++i) {
      const Row& row = profile_.rows[i];
      const profile::Thread& thread = profile_[row.thread];
      const bool knows_process = thread.process_comm != StringId::kEmpty;
      std::string name =
          ValidUtf8(profile_.text(knows_process ? thread.process_comm : thread.comm));
      const auto [known, is_new] = numbers.try_emplace(name, programs.size());
      if (is_new) programs.push_back({.name = std::move(name), .events = {}});
      Program& program = programs[known->second];
      ProgramPart& part = program.events[row.event];
      part.rows.push_back(i);
      part.count += row.count;
      part.period += row.period;
      program.count += row.count;
    }
    std::ranges::stable_sort(programs, std::greater(), &Program::count);
    return programs;
  }

  otlp::ResourceProfiles::Attributes AttributesOf(const Program& program) const {
    otlp::ResourceProfiles::Attributes attributes = {
        {"service.name", program.name.empty() ? std::string("unknown_service")
                                              : absl::StrCat("unknown_service:", program.name)},
        {"process.executable.name", program.name},
        {"host.name", ValidUtf8(origin_.hostname)},
        {"host.arch", ArchitectureOf(origin_.machine)},
        {"os.type", std::string(origin_.os.starts_with("Linux") ? "linux" : "")},
        {"os.description", ValidUtf8(origin_.os)}};
    if (IsRecordedCommand(program.name)) {
      std::vector<std::string> words;
      for (const std::string& word : origin_.program) words.push_back(ValidUtf8(word));
      attributes.emplace_back("process.command_args", std::move(words));
    }
    return attributes;
  }

  // Compares only 15 bytes, because the kernel cuts a process's name to that length.
  bool IsRecordedCommand(std::string_view name) const {
    constexpr size_t kLongest = 15;
    if (origin_.program.empty() || name.empty()) return false;
    return BaseName(origin_.program.front()).substr(0, kLongest) == name;
  }

  void WriteEvent(otlp::ResourceProfiles& resource, EventId event, const ProgramPart& part) {
    const Samples samples = SamplesOf(part);
    const std::string name = ValidUtf8(profile_.text(profile_[event].name));
    const otlp::EventTypes types = otlp::TypesOf(name, analysis::IsTime(name));
    std::vector<Number> attributes;
    if (types.type != name) {
      attributes.push_back(request_.dictionary().Attribute("perf.event.name", name));
    }
    otlp::ProfileHead head = {
        .type = "samples",
        .unit = "count",
        .began = static_cast<uint64_t>(origin_.WallClockOf(origin_.first_sample)),
        // The end is exclusive, but the last sample belongs to the interval.
        .duration = origin_.last_sample - origin_.first_sample + 1,
        .period = types.values_have_period ? otlp::MeanPeriod(part.period, part.count) : 1,
        .period_type = types.period_type,
        .period_unit = types.period_unit,
        .attributes = attributes};
    {
      otlp::ProfileOfType counts(resource, head);
      for (const auto& [key, sample] : samples) AddCount(counts, key, sample);
    }
    if (part.period == 0) return;
    head.type = types.type;
    head.unit = types.unit;
    if (!types.values_have_period) head.period = 0;
    otlp::ProfileOfType periods(resource, head);
    for (const auto& [key, sample] : samples) AddValue(periods, key, sample.period);
  }

  Samples SamplesOf(const ProgramPart& part) {
    Samples samples;
    for (const uint32_t i : part.rows) {
      const Row& row = profile_.rows[i];
      MergedSample& sample = samples[{AttributesOf(row.thread), NumberOfStack(row.stack)}];
      sample.count += row.count;
      sample.period += row.period;
      if (!has_times_) continue;
      const auto time = static_cast<uint64_t>(origin_.WallClockOf(TimeOf(profile_, i)));
      sample.times.insert(sample.times.end(), row.count, time);
    }
    return samples;
  }

  // If samples have times, writes one time per sample instead of the number of samples.
  static void AddCount(otlp::ProfileOfType& profile, const SampleKey& key,
                       const MergedSample& sample) {
    if (sample.times.empty()) return AddValue(profile, key, sample.count);
    profile.Add({.stack = key.second, .attributes = key.first, .times = sample.times});
  }

  static void AddValue(otlp::ProfileOfType& profile, const SampleKey& key, uint64_t number) {
    const std::array<int64_t, 1> values = {static_cast<int64_t>(number)};
    profile.Add({.stack = key.second, .attributes = key.first, .values = values});
  }

  std::array<Number, 3> AttributesOf(profile::ThreadId id) {
    const profile::Thread& thread = profile_[id];
    otlp::Dictionary& dictionary = request_.dictionary();
    return {dictionary.Attribute("process.pid", int64_t{thread.pid}),
            dictionary.Attribute("thread.id", int64_t{thread.tid}),
            dictionary.Attribute("thread.name", ValidUtf8(profile_.text(thread.comm)))};
  }

  Number NumberOfStack(StackId stack) {
    if (stack == profile::kNoStack) return 0;
    const auto [known, is_new] = stacks_.try_emplace(stack, 0);
    if (!is_new) return known->second;
    std::vector<Number> locations;
    for (StackId at = stack; at != profile::kNoStack; at = profile_[at].parent) {
      locations.push_back(LocationOf(profile_[at].frame));
    }
    return known->second = request_.dictionary().AddStack(locations);
  }

  Number LocationOf(FrameId id) {
    std::optional<Number>& number = locations_[static_cast<uint32_t>(id)];
    if (!number) number = MakeLocation(id);
    return *number;
  }

  Number MakeLocation(FrameId id) {
    otlp::Dictionary& dictionary = request_.dictionary();
    const profile::Frame& frame = profile_[id];
    std::vector<otlp::Line> lines;
    for (const CodeLine& at : code_.At(id)) {
      const CodeFunction& function = code_[at.function];
      const std::string_view name =
          function.name.empty() ? std::string_view("[unknown]") : std::string_view(function.name);
      lines.push_back(
          {dictionary.Add(otlp::Function{.name = name, .file = function.file}), at.line});
    }
    const Number mapping = ImageOf(frame.image);
    std::vector<Number> attributes;
    const std::string_view type = analysis::NameOf(types_[static_cast<uint32_t>(id)]);
    if (!type.empty()) {
      attributes.push_back(dictionary.Attribute("profile.frame.type", std::string(type)));
    }
    const Image& image = profile_[frame.image];
    if (mapping == 0 && IsFile(image)) {
      attributes.push_back(
          dictionary.Attribute("process.executable.path", ImagePath(profile_, image)));
    }
    return dictionary.Add(otlp::Location{.mapping = mapping,
                                         .address = places_.AddressOf(frame),
                                         .lines = lines,
                                         .attributes = attributes});
  }

  // True if the image is a file. JIT code is no file, even if its name looks like a path.
  bool IsFile(const Image& image) const {
    const std::string_view name = profile_.text(image.name);
    return image.kind == ImageKind::kUser && !name.empty() && !name.starts_with('[');
  }

  Number ImageOf(ImageId id) {
    std::optional<Number>& number = images_[static_cast<uint32_t>(id)];
    if (!number) number = MakeImage(id);
    return *number;
  }

  Number MakeImage(ImageId id) {
    otlp::Dictionary& dictionary = request_.dictionary();
    const Image& image = profile_[id];
    if (image.kind == ImageKind::kJit || image.kind == ImageKind::kJitDump) return 0;
    std::vector<Number> attributes;
    if (!image.build_id.empty()) {
      attributes.push_back(
          dictionary.Attribute("process.executable.build_id.gnu", HexOf(image.build_id)));
    } else if (IsFile(image) && origin_.htlhash_of) {
      const std::string htlhash = origin_.htlhash_of(image);
      if (htlhash.empty()) return 0;
      attributes.push_back(dictionary.Attribute("process.executable.build_id.htlhash", htlhash));
    }
    if (attributes.empty()) return 0;
    const ImagePlace& place = places_[id];
    const std::string path = ImagePath(profile_, image);
    return dictionary.Add(otlp::Mapping{.start = place.start,
                                        .limit = place.limit,
                                        .file_offset = place.file_offset,
                                        .filename = path,
                                        .attributes = attributes});
  }

  const Profile& profile_;
  const Origin& origin_;
  const CodeTable code_;
  const ImagePlaces places_;
  const std::vector<analysis::FrameType> types_;
  const bool has_times_;
  otlp::Request request_;
  std::vector<std::optional<Number>> images_, locations_;  // indexed by ImageId and by FrameId
  absl::flat_hash_map<StackId, Number> stacks_;
};

}  // namespace

std::string Otlp(const Profile& profile, const Origin& origin) {
  return OtlpWriter(profile, origin).Write();
}

}  // namespace profiler::exports
