#include "src/profile/naming/collect_names.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_data/sections/own_sections.h"
#include "src/format/perf_event/abi.h"
#include "src/profile/naming/load_profile.h"
#include "src/profile/profile_codec.h"
#include "src/profile/sample_reader.h"
#include "src/views/annotate/annotation.h"
#include "src/views/annotate/choice.h"
#include "symbolize/names/name_store.h"
#include "symbolize/names/names_codec.h"

namespace profiler::naming {
namespace {

// Returns which addresses the samples have besides those of their call chains.
profile::SampleReader::LookUps RecordedAddresses(const perf_data::Recording& recording) {
  profile::SampleReader::LookUps recorded;
  for (const perf_data::EventDescription& event : recording.events()) {
    if ((event.attr.sample_type & perf_event::kSampleAddr) != 0) recorded.addr = true;
    if ((event.attr.sample_type & perf_event::kSampleBranchStack) != 0) recorded.branches = true;
  }
  return recorded;
}

// True if the sums of so many samples save a reader time. In a stream they do not, because the
// records cannot be skipped.
bool AreSumsWorthwhile(const perf_data::Recording& recording, const profile::Profile& profile) {
  constexpr uint64_t kMany = 100'000;  // samples, which take a tenth of a second to read
  uint64_t samples = 0;
  for (const profile::Event& event : profile.events) samples += event.samples;
  return samples >= kMany && !recording.layout().pipe && profile.losses.warnings.empty();
}

// A collector that names all addresses of a profile, and keeps the facts used for that.
class NameCollector {
 public:
  NameCollector(const perf_data::Features& features, Embedding embedding, NamingOptions options,
                const NamingProgress& progress)
      : features_(features), embedding_(embedding), progress_(progress) {
    options.demangle = false;  // these names are not displayed
    options.inlines = embedding != Embedding::kNames;
    names_ = MakeNameStore(features, options);
    names_->Keep([this] {
      constexpr size_t kRarely = 256;
      if (collected_.addresses % kRarely == 0) {
        going_on_ = going_on_ && progress_("addresses", collected_.addresses, total_);
      }
      if (going_on_) ++collected_.addresses;
      return going_on_;
    });
  }

  symbolize::NameStore& names() { return *names_; }
  // False once the progress function has returned false.
  bool is_going_on() const { return going_on_; }
  // Sets the number of addresses to name, once it is known.
  void SetTotal(size_t addresses) { total_ = addresses; }
  CollectedNames& collected() { return collected_; }

  // Takes the facts that named `named`.
  CollectedNames Finish(const profile::Profile& named);

 private:
  void CollectCode(const profile::Profile& profile);

  const perf_data::Features& features_;
  const Embedding embedding_;
  const NamingProgress& progress_;
  std::unique_ptr<symbolize::NameStore> names_;
  size_t total_ = 0;
  bool going_on_ = true;
  CollectedNames collected_;
};

CollectedNames NameCollector::Finish(const profile::Profile& named) {
  collected_.names = names_->Take();
  names_->SaveToCache();
  collected_.addresses = 0;
  for (const auto& image : collected_.names.images) {
    collected_.addresses += image.addresses.size();
  }
  if (collected_.names.is_complete) {
    collected_.python = analysis::FindUnnamedPython(named);
    collected_.node = analysis::FindUnnamedNode(named);
  }
  if (embedding_ == Embedding::kCode && collected_.names.is_complete) {
    AddRecordedCode(features_, *names_);
    CollectCode(named);
  }
  return std::move(collected_);
}

// Collects the code that annotate would show of each interrupted function, functions with the most
// samples first, within the limit.
void NameCollector::CollectCode(const profile::Profile& profile) {
  const std::vector<profile::SymbolId> functions = annotate::InterruptedFunctions(profile);
  size_t looked_up = 0;
  names_->Keep([&] { return progress_("functions", looked_up, functions.size()); });
  uint64_t bytes = 0;
  bool has_all = true;
  for (const profile::SymbolId function : functions) {
    ++looked_up;
    const uint64_t size = std::min(profile[function].size, annotate::kLongestFunction);
    if (bytes + size > kMostCode) {
      has_all = false;
      continue;
    }
    if (!annotate::LookUpCode(profile, function, *names_).ok()) continue;
    bytes += size;
    ++collected_.functions;
  }
  collected_.code = names_->Take();
  collected_.code->is_complete = collected_.code->is_complete && has_all;
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
                            const NamingOptions& options, const NamingProgress& progress) {
  NameCollector collector(recording.features(), embedding, options, progress);
  profile::BuilderOptions keep =
      BuilderOptionsFor(recording.events(), recording.features(), options);
  keep.dimensions = profile::kStoredDimensions;
  keep.slices = SlicesOf(recording.features());
  profile::ProfileBuilder* at = nullptr;
  profile::SampleReader reader(perf_event::NativeArchitecture());
  const profile::SampleReader::LookUps look_ups = RecordedAddresses(recording);
  if (look_ups.addr || look_ups.branches) {
    keep.whole_samples = true;
    keep.on_samples = [&](const profile::Profile&, std::span<const profile::SampleRow> rows,
                          const perf_event::Sample* sample) {
      if (!collector.is_going_on()) return;
      const auto event = static_cast<uint32_t>(rows.front().event);
      reader.Read(*sample, recording.events()[event].layout, look_ups, *at);
    };
    keep.keep_rows = embedding == Embedding::kCode;
  }
  profile::ProfileBuilder builder(collector.names(), keep);
  at = &builder;
  CollectedNames& collected = collector.collected();
  collected.reading = ReadInto(recording, builder);
  const bool is_summed_up = collected.reading.ok() && recording.warnings().empty() &&
                            !keep.on_samples && builder.IsOfRecordsAlone();
  collector.SetTotal(builder.profile().frames.size());
  if (!is_summed_up) return collector.Finish(std::move(builder).Finish());
  profile::UnnamedProfile unnamed = std::move(builder).Unnamed();
  if (AreSumsWorthwhile(recording, unnamed.profile)) {
    collected.sums = EncodeProfile(unnamed.profile, recording.layout().data.size);
  }
  return collector.Finish(Named(std::move(unnamed), collector.names()));
}

StreamNames::StreamNames(Embedding embedding, NamingOptions options)
    : embedding_(embedding),
      options_(std::move(options)),
      images_(MakeNameStore({}, options_)),
      stream_([this](const perf_data::TimedRecord& timed) { Add(timed); }) {}

// Adds a record. The stream has its events in front of the first record of the kernel.
void StreamNames::Add(const perf_data::TimedRecord& timed) {
  if (timed.record.type() >= perf_event::kRecordUserFirst) return;
  if (!builder_) {
    profile::BuilderOptions keep =
        BuilderOptionsFor(stream_.events(), stream_.features(), options_);
    keep.keep_thread = false;
    keep.keep_rows = embedding_ == Embedding::kCode;
    builder_.emplace(*images_, keep);
  }
  AddNewEvents(stream_.events(), events_, *builder_);
  builder_->Add(timed.record, timed.event, timed.time);
}

CollectedNames StreamNames::Collect(const NamingProgress& progress) && {
  NameCollector collector(stream_.features(), embedding_, options_, progress);
  collector.collected().reading = stream_.Finish();
  if (!builder_) return collector.Finish({});
  profile::UnnamedProfile unnamed = WithLateFeatures(std::move(*builder_).Unnamed(), *images_,
                                                     stream_.features(), collector.names());
  collector.SetTotal(unnamed.profile.frames.size());
  CollectedNames collected = collector.Finish(Named(std::move(unnamed), collector.names()));
  // Removes the code of JITs' dumps: code written after the dump was mapped is missing here. A
  // reader would take the recorded part for the whole, and ignore the dump.
  std::erase_if(collected.names.images, [&](const symbolize::NameFacts::Image& image) {
    const bool is_dump = image.kind == symbolize::ImageKind::kJitDump;
    if (is_dump) collected.addresses -= image.addresses.size();
    return is_dump;
  });
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
