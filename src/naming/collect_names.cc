#include "src/naming/collect_names.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/annotate/annotation.h"
#include "src/annotate/choice.h"
#include "src/naming/load_profile.h"
#include "src/perf_data/format/perf_data_format.h"
#include "src/perf_data/sections/own_sections.h"
#include "src/perf_event/abi.h"
#include "src/profile/profile_codec.h"
#include "src/profile/sample_reader.h"
#include "symbolize/names/name_store.h"
#include "symbolize/names/names_codec.h"

namespace profiler::naming {
namespace {

// Which addresses the samples have besides those of their call chains.
profile::SampleReader::LookUps RecordedAddresses(const perf_data::Recording& recording) {
  profile::SampleReader::LookUps recorded;
  for (const perf_data::EventDescription& event : recording.events()) {
    if ((event.attr.sample_type & perf_event::kSampleAddr) != 0) recorded.addr = true;
    if ((event.attr.sample_type & perf_event::kSampleBranchStack) != 0) recorded.branches = true;
  }
  return recorded;
}

// Whether a reader saves time by the sums of so many samples. Of streams it does not: there the
// records cannot be passed over.
bool AreSumsWorthwhile(const perf_data::Recording& recording, const profile::Profile& profile) {
  constexpr uint64_t kMany = 100'000;  // samples, that take a tenth of a second to read
  uint64_t samples = 0;
  for (const profile::Event& event : profile.events) samples += event.samples;
  return samples >= kMany && !recording.layout().pipe && profile.losses.warnings.empty();
}

// What annotate would show of each function that was interrupted: those with the most samples
// first, as far as there is room.
void CollectCode(const profile::Profile& profile, symbolize::NameStore& names,
                 const NamingProgress& progress, CollectedNames& collected) {
  const std::vector<profile::SymbolId> functions = annotate::InterruptedFunctions(profile);
  size_t looked_up = 0;
  names.Keep([&] { return progress("functions", looked_up, functions.size()); });
  uint64_t bytes = 0;
  bool has_all = true;
  for (const profile::SymbolId function : functions) {
    ++looked_up;
    const uint64_t size = std::min(profile[function].size, annotate::kLongestFunction);
    if (bytes + size > kMostCode) {
      has_all = false;
      continue;
    }
    if (!annotate::LookUpCode(profile, function, names).ok()) continue;
    bytes += size;
    ++collected.functions;
  }
  collected.code = names.Take();
  collected.code->is_complete = collected.code->is_complete && has_all;
}

}  // namespace

Embedding EmbeddingOf(std::string_view text) {
  if (text == "code") return Embedding::kCode;
  return text == "lines" ? Embedding::kLines : Embedding::kNames;
}

std::map<int, std::string> SectionsOf(const CollectedNames& collected) {
  std::map<int, std::string> sections;
  sections[perf_data::kFeatureNames] = symbolize::EncodeNames(collected.names);
  if (collected.code) {
    sections[perf_data::kFeatureCode] = symbolize::EncodeCode(*collected.code);
  }
  if (collected.sums) sections[perf_data::kFeatureSums] = *collected.sums;
  return sections;
}

CollectedNames CollectNames(perf_data::Recording& recording, Embedding embedding,
                            NamingOptions options, const NamingProgress& progress) {
  constexpr size_t kRarely = 256;
  options.demangle = false;  // nobody is shown these names
  options.inlines = embedding != Embedding::kNames;
  const auto names = MakeNameStore(recording.features(), options);
  CollectedNames collected;
  size_t total = 0;
  bool going_on = true;
  names->Keep([&] {
    if (collected.addresses % kRarely == 0) {
      going_on = going_on && progress("addresses", collected.addresses, total);
    }
    if (going_on) ++collected.addresses;
    return going_on;
  });

  profile::BuilderOptions keep = BuilderOptionsFor(recording, options);
  keep.dimensions = profile::kAllDimensions;
  const auto& times = recording.features().sample_time;
  keep.slices = times ? profile::TimeSlices::Of(times->first, times->last, profile::kStoredSlices)
                      : profile::TimeSlices::Of(0, 0, 1);
  profile::ProfileBuilder* at = nullptr;
  profile::SampleReader reader(perf_event::NativeArchitecture());
  const profile::SampleReader::LookUps look_ups = RecordedAddresses(recording);
  if (look_ups.addr || look_ups.branches) {
    keep.whole_samples = true;
    keep.on_samples = [&](const profile::Profile&, std::span<const profile::SampleRow> rows,
                          const perf_event::Sample* sample) {
      if (!going_on) return;
      const auto event = static_cast<uint32_t>(rows.front().event);
      reader.Read(*sample, recording.events()[event].layout, look_ups, *at);
    };
    keep.keep_rows = embedding == Embedding::kCode;
  }
  profile::ProfileBuilder builder(*names, keep);
  at = &builder;
  collected.reading = ReadInto(recording, builder);
  const bool is_summed_up = collected.reading.ok() && recording.warnings().empty() &&
                            !keep.on_samples && builder.IsOfRecordsAlone();
  total = builder.profile().frames.size();
  const profile::Profile profile = [&] {
    if (!is_summed_up) return std::move(builder).Finish();
    profile::UnnamedProfile unnamed = std::move(builder).Unnamed();
    if (AreSumsWorthwhile(recording, unnamed.profile)) {
      collected.sums = EncodeProfile(unnamed.profile, recording.layout().data.size);
    }
    return Named(std::move(unnamed), *names);
  }();
  collected.names = names->Take();
  names->SaveToCache();
  collected.addresses = 0;
  for (const auto& image : collected.names.images) collected.addresses += image.addresses.size();
  if (embedding == Embedding::kCode && collected.names.is_complete) {
    AddRecordedCode(recording.features(), *names);
    CollectCode(profile, *names, progress, collected);
  }
  return collected;
}

std::string Describe(const CollectedNames& collected, const std::map<int, std::string>& sections) {
  const auto kilobytes = [&](int bit) {
    return static_cast<double>(sections.at(bit).size()) / 1e3;
  };
  std::string text =
      absl::StrFormat("names of %d addresses of %d images, %.1f kB%s", collected.addresses,
                      collected.names.images.size(), kilobytes(perf_data::kFeatureNames),
                      collected.names.is_complete ? "" : ", cut short");
  if (collected.code) {
    absl::StrAppendFormat(&text, "; code of %d functions, %.1f kB%s", collected.functions,
                          kilobytes(perf_data::kFeatureCode),
                          collected.code->is_complete ? "" : ", not of all");
  }
  if (collected.sums) {
    absl::StrAppendFormat(&text, "; sums of the samples, %.1f kB",
                          kilobytes(perf_data::kFeatureSums));
  }
  return text;
}

}  // namespace profiler::naming
