#include "src/export/interchange/otlp.h"

#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/export/interchange/code_table.h"
#include "src/export/interchange/image_places.h"
#include "src/export/interchange/thread_rows.h"
#include "src/otlp/request.h"
#include "src/query/amount.h"

namespace profiler::exports {
namespace {

using profile::DsoId;
using profile::EventId;
using profile::FrameId;
using profile::Profile;
using profile::Row;
using profile::StackId;

// Element 0 of each table is the empty one.
constexpr otlp::Number NumberOf(size_t index) { return static_cast<otlp::Number>(index + 1); }

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
      otlp::ResourceProfiles resource(request_,
                                      {{"host.name", ValidUtf8(origin_.hostname)},
                                       {"host.arch", ValidUtf8(origin_.machine)},
                                       {"os.description", ValidUtf8(origin_.os)},
                                       {"process.command_line", ValidUtf8(origin_.command)}},
                                      origin_.producer);
      for (const EventId event : EventsWithRows(profile_)) WriteEvent(resource, event);
    }
    WriteImages();
    WriteLocations();
    WriteFunctions();
    WriteStacks();
    return std::move(request_).Finish();
  }

 private:
  using ByStack = std::map<std::pair<profile::ThreadId, StackId>, MergedSample>;

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

  void WriteEvent(otlp::ResourceProfiles& resource, EventId event) {
    const ByStack samples = SamplesOf(event);
    const std::string name = ValidUtf8(profile_.text(profile_[event].name));
    const std::string_view unit = query::IsTime(name) ? "nanoseconds" : "count";
    otlp::ProfileHead head = HeadOf(event, name, unit);
    {
      head.type = "samples";
      head.unit = "count";
      otlp::ProfileOfType counts(resource, head);
      for (const auto& [key, sample] : samples) AddCount(counts, key, sample);
    }
    if (profile_[event].period == 0) return;
    head.type = name;
    head.unit = unit;
    otlp::ProfileOfType periods(resource, head);
    for (const auto& [key, sample] : samples) AddValue(periods, key, sample.period);
  }

  // The period is that on average, for where an event has a frequency that of its samples varies.
  otlp::ProfileHead HeadOf(EventId event, std::string_view name, std::string_view unit) const {
    const profile::Event& of = profile_[event];
    otlp::ProfileHead head = {
        .began = static_cast<uint64_t>(origin_.WallClockOf(origin_.first_sample)),
        .duration = origin_.last_sample - origin_.first_sample};
    if (of.samples == 0 || of.period == 0) return head;
    head.period = static_cast<int64_t>(of.period / of.samples);
    head.period_type = name;
    head.period_unit = unit;
    return head;
  }

  // Where all samples have times, there is a time for each, and no number.
  void AddCount(otlp::ProfileOfType& profile, const ByStack::key_type& key,
                const MergedSample& sample) {
    if (sample.times.empty()) return AddValue(profile, key, sample.count);
    const Attributes attributes = AttributesOf(key.first);
    profile.Add(
        {.stack = NumberOfStack(key.second), .attributes = attributes, .times = sample.times});
  }

  void AddValue(otlp::ProfileOfType& profile, const ByStack::key_type& key, uint64_t number) {
    const std::array<int64_t, 1> values = {static_cast<int64_t>(number)};
    const otlp::Number stack = NumberOfStack(key.second);
    const Attributes attributes = AttributesOf(key.first);
    profile.Add({.stack = stack, .attributes = attributes, .values = values});
  }

  using Attributes = std::array<otlp::Number, 3>;
  Attributes AttributesOf(profile::ThreadId id) {
    const profile::Thread& thread = profile_[id];
    otlp::Dictionary& dictionary = request_.dictionary();
    return {dictionary.Attribute("process.pid", int64_t{thread.pid}),
            dictionary.Attribute("thread.id", int64_t{thread.tid}),
            dictionary.Attribute("thread.name", ValidUtf8(profile_.text(thread.comm)))};
  }

  otlp::Number NumberOfStack(StackId stack) {
    if (stack == profile::kNoStack) return 0;
    const auto [known, added] = stack_numbers_.try_emplace(stack, NumberOf(stacks_.size()));
    if (added) stacks_.push_back(stack);
    return known->second;
  }

  void WriteImages() {
    otlp::Dictionary& dictionary = request_.dictionary();
    for (uint32_t i = 0; i < profile_.dsos.size(); ++i) {
      const profile::Dso& dso = profile_.dsos[i];
      const ImagePlace& place = places_[DsoId{i}];
      const std::string path = ImagePath(profile_, dso);
      std::vector<otlp::Number> attributes;
      if (!dso.build_id.empty()) {
        attributes = {dictionary.Attribute("process.executable.build_id.gnu", HexOf(dso.build_id))};
      }
      dictionary.Add(otlp::Mapping{.start = place.start,
                                   .limit = place.limit,
                                   .file_offset = place.file_offset,
                                   .filename = path,
                                   .attributes = attributes});
    }
  }

  void WriteLocations() {
    otlp::Dictionary& dictionary = request_.dictionary();
    std::vector<otlp::Line> lines;
    for (uint32_t i = 0; i < profile_.frames.size(); ++i) {
      const profile::Frame& frame = profile_.frames[i];
      lines.clear();
      for (const CodeLine& at : code_.At(FrameId{i})) {
        lines.push_back({NumberOf(at.function), at.line});
      }
      const bool in_kernel = KindOf(profile_[frame.dso], frame.mode) == CodeKind::kKernel;
      const std::array<otlp::Number, 1> attributes = {
          dictionary.Attribute("profile.frame.type", std::string(in_kernel ? "kernel" : "native"))};
      dictionary.Add(otlp::Location{.mapping = NumberOf(static_cast<uint32_t>(frame.dso)),
                                    .address = places_.AddressOf(frame),
                                    .lines = lines,
                                    .attributes = attributes});
    }
  }

  void WriteFunctions() {
    for (const CodeFunction& known : code_.functions()) {
      request_.dictionary().Add(otlp::Function{.name = known.name, .file = known.file});
    }
  }

  void WriteStacks() {
    std::vector<otlp::Number> locations;
    for (const StackId stack : stacks_) {
      locations.clear();
      for (StackId at = stack; at != profile::kNoStack; at = profile_[at].parent) {
        locations.push_back(NumberOf(static_cast<uint32_t>(profile_[at].frame)));
      }
      request_.dictionary().AddStack(locations);
    }
  }

  const Profile& profile_;
  const Origin& origin_;
  const CodeTable code_;
  const ImagePlaces places_;
  otlp::Request request_;
  absl::flat_hash_map<StackId, otlp::Number> stack_numbers_;
  std::vector<StackId> stacks_;  // by number - 1
};

}  // namespace

std::string Otlp(const Profile& profile, const Origin& origin) {
  return OtlpWriter(profile, origin).Write();
}

}  // namespace profiler::exports
