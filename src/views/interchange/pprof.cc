#include "src/views/interchange/pprof.h"

#include <algorithm>
#include <cstdint>
#include <protozero/pbf_writer.hpp>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "src/analysis/amount.h"
#include "src/base/gzip.h"
#include "src/base/text.h"
#include "src/format/pprof/field_numbers.h"
#include "src/profile/losses_text.h"
#include "src/views/interchange/code_table.h"
#include "src/views/interchange/image_places.h"
#include "src/views/interchange/string_index.h"
#include "src/views/interchange/thread_rows.h"

namespace profiler::exports {
namespace {

using pprof::Fields;
using profile::EventId;
using profile::FrameId;
using profile::ImageId;
using profile::Profile;
using profile::Row;
using protozero::pbf_writer;

// Returns an id, which must not be 0.
constexpr uint64_t IdOf(uint32_t index) { return uint64_t{index} + 1; }

class PprofWriter {
 public:
  PprofWriter(const Profile& profile, const Origin& origin)
      : profile_(profile),
        origin_(origin),
        code_(profile),
        places_(profile),
        events_(EventsWithRows(profile)),
        is_used_(profile.frames.size()) {}

  std::string Write() && {
    WriteSampleTypes();
    WriteSamples();
    WriteMappings();
    WriteLocations();
    WriteFunctions();
    WriteOrigin();
    // The string table comes last, because it is complete only now.
    for (uint32_t i = 0; i < strings_.size(); ++i) {
      out_.add_string(Fields::kString, strings_[i].data(), strings_[i].size());
    }
    return std::move(bytes_);
  }

 private:
  bool HasPeriods(EventId event) const { return profile_[event].period != 0; }

  std::string NameOf(EventId event) const { return ValidUtf8(profile_.text(profile_[event].name)); }
  std::string UnitOf(EventId event) const {
    return analysis::IsTime(NameOf(event)) ? "nanoseconds" : "count";
  }

  void WriteValueType(uint32_t field, std::string_view type, std::string_view unit) {
    pbf_writer value(out_, field);
    value.add_int64(Fields::kType, strings_.Of(type));
    value.add_int64(Fields::kUnit, strings_.Of(unit));
  }

  void WriteSampleTypes() {
    first_value_.resize(profile_.events.size());
    for (const EventId event : events_) {
      first_value_[static_cast<uint32_t>(event)] = values_;
      const std::string name = NameOf(event);
      WriteValueType(Fields::kSampleType,
                     events_.size() == 1 ? "samples" : absl::StrCat(name, pprof::kSamplesEnding),
                     "count");
      ++values_;
      if (!HasPeriods(event)) continue;
      WriteValueType(Fields::kSampleType, name, UnitOf(event));
      ++values_;
    }
  }

  // Writes one sample per thread and stack. A sample has a value for each event, mostly 0, so
  // values are collected for one sample at a time.
  void WriteSamples() {
    constexpr uint32_t kNone = UINT32_MAX;
    struct Sample {
      uint32_t first = kNone, last = kNone;  // indices of rows
    };
    std::vector<Sample> samples;
    // [r]: the next row of the sample that row r belongs to
    HugeVector<uint32_t> next(profile_.rows.size(), kNone);
    absl::flat_hash_map<std::pair<profile::ThreadId, profile::StackId>, uint32_t> known;
    for (uint32_t i = 0; i < profile_.rows.size(); ++i) {
      const Row& row = profile_.rows[i];
      const auto [at, added] = known.try_emplace({row.thread, row.stack}, samples.size());
      if (added) samples.push_back({i, i});
      Sample& sample = samples[at->second];
      if (!added) next[sample.last] = i;
      sample.last = i;
    }
    std::vector<int64_t> values(values_);
    for (const Sample& sample : samples) {
      std::fill(values.begin(), values.end(), 0);
      for (uint32_t i = sample.first; i != kNone; i = next[i]) {
        AddValues(profile_.rows[i], values);
      }
      WriteSample(profile_.rows[sample.first], values);
    }
  }

  void AddValues(const Row& row, std::span<int64_t> values) const {
    const size_t first = first_value_[static_cast<uint32_t>(row.event)];
    values[first] += static_cast<int64_t>(row.count);
    if (HasPeriods(row.event)) values[first + 1] += static_cast<int64_t>(row.period);
  }

  void WriteSample(const Row& row, std::span<const int64_t> values) {
    pbf_writer sample(out_, Fields::kSample);
    locations_.clear();
    for (auto at = row.stack; at != profile::kNoStack; at = profile_[at].parent) {
      const auto frame = static_cast<uint32_t>(profile_[at].frame);
      is_used_[frame] = true;
      locations_.push_back(IdOf(frame));
    }
    sample.add_packed_uint64(Fields::kLocationId, locations_.begin(), locations_.end());
    sample.add_packed_int64(Fields::kValue, values.begin(), values.end());
    const profile::Thread& thread = profile_[row.thread];
    WriteLabel(sample, "pid", thread.pid);
    WriteLabel(sample, "tid", thread.tid);
    WriteLabel(sample, "thread", ValidUtf8(profile_.text(thread.comm)));
    const bool knows_process = thread.process_comm != StringId::kEmpty;
    WriteLabel(sample, "comm",
               ValidUtf8(profile_.text(knows_process ? thread.process_comm : thread.comm)));
  }

  void WriteLabel(pbf_writer& sample, std::string_view key, uint32_t number) {
    pbf_writer label(sample, Fields::kLabel);
    label.add_int64(Fields::kKey, strings_.Of(key));
    label.add_int64(Fields::kNum, number);
  }

  void WriteLabel(pbf_writer& sample, std::string_view key, const std::string& text) {
    pbf_writer label(sample, Fields::kLabel);
    label.add_int64(Fields::kKey, strings_.Of(key));
    label.add_int64(Fields::kStr, strings_.Of(text));
  }

  // Returns the images, the file with most samples first, because readers assume that the first
  // mapping is the program.
  std::vector<uint32_t> ImagesInOrder() const {
    std::vector<uint64_t> weights(profile_.images.size());
    for (const Row& row : profile_.rows) {
      const auto image = static_cast<uint32_t>(profile_[row.self].image);
      if (profile_.images[image].kind == symbolize::ImageKind::kUser) weights[image] += row.count;
    }
    std::vector<bool> used(profile_.images.size());
    for (size_t i = 0; i < is_used_.size(); ++i) {
      if (is_used_[i]) used[static_cast<uint32_t>(profile_.frames[i].image)] = true;
    }
    std::vector<uint32_t> order;
    for (uint32_t i = 0; i < used.size(); ++i) {
      if (used[i] && profile_.images[i].kind != symbolize::ImageKind::kUnknown) order.push_back(i);
    }
    const auto heaviest = std::max_element(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return weights[a] < weights[b];
    });
    if (heaviest != order.end()) std::rotate(order.begin(), heaviest, heaviest + 1);
    return order;
  }

  void WriteMappings() {
    mapping_of_.resize(profile_.images.size());
    uint32_t mappings = 0;
    for (const uint32_t index : ImagesInOrder()) {
      const profile::Image& image = profile_.images[index];
      const ImagePlace& place = places_[ImageId{index}];
      mapping_of_[index] = IdOf(mappings++);
      pbf_writer mapping(out_, Fields::kMapping);
      mapping.add_uint64(Fields::kMappingId, mapping_of_[index]);
      mapping.add_uint64(Fields::kStart, place.start);
      mapping.add_uint64(Fields::kLimit, place.limit);
      mapping.add_uint64(Fields::kOffset, place.file_offset);
      mapping.add_int64(Fields::kFilename, strings_.Of(ImagePath(profile_, image)));
      if (!image.build_id.empty()) {
        mapping.add_int64(Fields::kBuildId, strings_.Of(HexOf(image.build_id)));
      }
      // Claims that symbols are complete, so that readers do not look for files.
      for (const auto known : {Fields::kHasFunctions, Fields::kHasFilenames,
                               Fields::kHasLineNumbers, Fields::kHasInlineFrames}) {
        mapping.add_bool(known, true);
      }
    }
  }

  void WriteLocations() {
    for (uint32_t i = 0; i < is_used_.size(); ++i) {
      if (!is_used_[i]) continue;
      const profile::Frame& frame = profile_.frames[i];
      pbf_writer location(out_, Fields::kLocation);
      location.add_uint64(Fields::kLocId, IdOf(i));
      location.add_uint64(Fields::kMappingOf, mapping_of_[static_cast<uint32_t>(frame.image)]);
      location.add_uint64(Fields::kAddress, places_.AddressOf(frame));
      for (const CodeLine& at : code_.At(FrameId{i})) {
        pbf_writer line(location, Fields::kLine);
        line.add_uint64(Fields::kFunctionId, IdOf(at.function));
        line.add_int64(Fields::kLineNumber, at.line);
      }
    }
  }

  void WriteFunctions() {
    for (uint32_t i = 0; i < code_.functions().size(); ++i) {
      const CodeFunction& known = code_[i];
      pbf_writer function(out_, Fields::kFunction);
      function.add_uint64(Fields::kFunctionIdOf, IdOf(i));
      function.add_int64(Fields::kName, strings_.Of(known.name));
      function.add_int64(Fields::kSystemName, strings_.Of(known.name));
      if (!known.file.empty()) function.add_int64(Fields::kFile, strings_.Of(known.file));
    }
  }

  void WriteOrigin() {
    if (const int64_t began = origin_.WallClockOf(origin_.first_sample); began != 0) {
      out_.add_int64(Fields::kTimeNanos, began);
    }
    out_.add_int64(Fields::kDurationNanos,
                   static_cast<int64_t>(origin_.last_sample - origin_.first_sample));
    if (!events_.empty()) WritePeriod(events_.front());
    WriteComment(origin_.producer);
    if (!origin_.command.empty()) WriteComment(absl::StrCat("command: ", origin_.command));
    const std::string losses = profile::LossesText(profile_.losses);
    if (!losses.empty()) WriteComment(absl::StrCat("while recording: ", losses));
  }

  // Writes the mean period, because the period of an event with a frequency varies.
  void WritePeriod(EventId event) {
    const profile::Event& of = profile_[event];
    if (of.samples == 0 || !HasPeriods(event)) return;
    WriteValueType(Fields::kPeriodType, NameOf(event), UnitOf(event));
    out_.add_int64(Fields::kPeriod, static_cast<int64_t>(of.period / of.samples));
    out_.add_int64(Fields::kDefaultSampleType, strings_.Of(NameOf(event)));
  }

  void WriteComment(std::string_view text) {
    out_.add_int64(Fields::kComment, strings_.Of(ValidUtf8(text)));
  }

  const Profile& profile_;
  const Origin& origin_;
  const CodeTable code_;
  const ImagePlaces places_;
  const std::vector<EventId> events_;
  std::vector<bool> is_used_;         // [f]: true if a sample has frame f
  std::vector<size_t> first_value_;   // [e]: index of the first value of event e
  size_t values_ = 0;                 // number of values per sample
  std::vector<uint64_t> mapping_of_;  // indexed by ImageId; 0: none
  std::vector<uint64_t> locations_;
  StringIndex strings_;
  std::string bytes_;
  pbf_writer out_{bytes_};
};

}  // namespace

std::string Pprof(const Profile& profile, const Origin& origin) {
  return Gzip(PprofWriter(profile, origin).Write());
}

}  // namespace profiler::exports
