// Fuzzes single records, attrs and feature sections: decodes bytes to values, and encodes the
// values to bytes again.

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "src/base/byte_reader.h"
#include "src/format/perf_data/format/features_codec.h"
#include "src/format/perf_data/format/field_io.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_data/sections/own_sections.h"
#include "src/format/perf_data/testing/recording_builder.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/attr_codec.h"
#include "src/format/perf_event/codec.h"
#include "src/format/perf_event/describe.h"
#include "src/format/perf_event/event_name.h"
#include "src/format/perf_event/record_types.h"
#include "src/format/perf_event/testing/record_builder.h"
#include "src/profile/profile_codec.h"
#include "tests/fuzz/choices.h"
#include "tests/fuzz/feature_program.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/stored_sections.h"
#include "tests/fuzz/use_features.h"

namespace profiler::fuzz {
namespace {

using perf_event::RawRecord;
using perf_event::RecordHeader;
using perf_event::RecordLayout;

void Append(std::span<const std::byte> bytes, Bytes* out) {
  out->insert(out->end(), bytes.begin(), bytes.end());
}

// --- records -----------------------------------------------------------------------------------

// The front of an input: the type and misc of the record's header, and the fields of the attr that
// determine the record's layout. The body of the record follows.
struct RecordPrefix {
  uint64_t sample_type = 0;
  uint64_t user_regs = 0, intr_regs = 0;
  uint64_t branch_sample_type = 0;
  uint32_t type = 0;
  uint16_t misc = 0;
  uint8_t read_format = 0;
  bool sample_id_all() const { return (options & 1) != 0; }
  uint8_t options = 0;
};

perf_event::Attr AttrOf(const RecordPrefix& prefix) {
  perf_event::Attr attr;
  attr.sample_type = prefix.sample_type & perf_event::kSampleAll;
  attr.sample_regs_user = prefix.user_regs;
  attr.sample_regs_intr = prefix.intr_regs;
  attr.branch_sample_type = prefix.branch_sample_type;
  attr.read_format = prefix.read_format;
  if (prefix.sample_id_all()) attr.flags = perf_event::kAttrSampleIdAll;
  return attr;
}

// False if the written record can be read in two ways. A sample without branches may contain the
// hardware index of the branches or not. Only the record's length shows it, but written records are
// padded.
template <class Record>
bool HasOneReading(const Record& record, const RecordLayout& layout) {
  if constexpr (std::is_same_v<Record, perf_event::Sample>) {
    return (layout.branch_sample_type & perf_event::kBranchHwIndex) == 0 ||
           (layout.sample_type & perf_event::kSampleBranchStack) == 0 || !record.branches.empty();
  }
  return true;
}

// Decodes a record and encodes it as the kernel would. Requires that the encoded record does not
// change if it is decoded and encoded again, or if its byte order is changed and changed back.
template <class Record>
bool CheckDecoded(RawRecord raw, const RecordLayout& layout, Record record) {
  const bool whole = perf_event::Decode(raw, layout, &record);
  Bytes written, again;
  const bool fits = perf_event::Encode(raw.type(), raw.misc(), layout, record, &written);
  if (!whole || !fits || !HasOneReading(record, layout)) return whole;
  Record reread;
  Require(perf_event::Decode(RawRecord(written), layout, &reread), "what is written can be read");
  Require(perf_event::Encode(raw.type(), raw.misc(), layout, reread, &again), "and written");
  Require(written == again, "encoding what was decoded gives the same bytes");
  (void)perf_event::TimeOf(RawRecord(written), layout);
  (void)perf_event::IdOf(RawRecord(written), layout);
  Require(perf_event::SwapToForeign(again, layout), "a whole record can be turned");
  Require(perf_event::SwapToNative(again, layout), "and turned back");
  Require(written == again, "turning twice changes nothing");
  return true;
}

// Checks a record. The input is { RecordPrefix; body }.
void ReadRecord(std::span<const std::byte> input) {
  RecordPrefix prefix;
  if (input.size() < sizeof(prefix)) return;
  std::memcpy(static_cast<void*>(&prefix), input.data(), sizeof(prefix));
  const std::span<const std::byte> body = input.subspan(sizeof(prefix));
  const RecordLayout layout(AttrOf(prefix));
  const size_t size =
      std::min(sizeof(RecordHeader) + body.size(), perf_event::kMaxRecordSize) / 8 * 8;
  const RecordHeader header = {prefix.type, prefix.misc, static_cast<uint16_t>(size)};
  Bytes bytes = ToBytes(BytesOf(header));
  Append(body.first(size - sizeof(header)), &bytes);

  const RawRecord raw{bytes};
  (void)perf_event::TimeOf(raw, layout);
  (void)perf_event::IdOf(raw, layout);
  perf_event::VisitRecordType(
      prefix.type, [&](auto record) { return CheckDecoded(raw, layout, std::move(record)); });
  // Reads the record as if it came from a machine of the other byte order.
  Bytes foreign = bytes;
  (void)perf_event::SwapBodyToNative(foreign, layout);
}

template <class Record>
Bytes RecordSeed(const RecordPrefix& prefix, const Record& record) {
  Bytes bytes, seed = ToBytes(BytesOf(prefix));
  Require(
      perf_event::Encode(prefix.type, prefix.misc, RecordLayout(AttrOf(prefix)), record, &bytes),
      "a seed can be written");
  Append(std::span(bytes).subspan(sizeof(RecordHeader)), &seed);
  return seed;
}

std::vector<Bytes> RecordSeeds() {
  std::vector<Bytes> seeds;
  RecordPrefix prefix;
  prefix.sample_type = perf_event::kSampleAll;
  prefix.user_regs = prefix.intr_regs = 0xff;
  prefix.options = 1;
  // A record of every type, with zeros in every field.
  for (uint32_t type = 1; type <= perf_event::kRecordCallchainDeferred; ++type) {
    prefix.type = type;
    perf_event::VisitRecordType(type, [&](const auto& record) {
      seeds.push_back(RecordSeed(prefix, record));
      return true;
    });
  }
  // Samples with only one field, and a sample with all fields.
  prefix.type = perf_event::kRecordSample;
  for (uint64_t bit = 1; bit < perf_event::kSampleAll; bit <<= 1) {
    prefix.sample_type = bit;
    seeds.push_back(RecordSeed(prefix, perf_event::Sample{}));
  }
  const uint64_t words[] = {1, 2, 3, 4, 5, 6, 7, 8};
  perf_event::Sample sample;
  sample.callchain = perf_event::U64Array(std::as_bytes(std::span(words)));
  sample.raw = std::as_bytes(std::span(words)).first(20);
  sample.branches = std::as_bytes(std::span(words)).first(48);
  sample.branch_counters = perf_event::U64Array(std::as_bytes(std::span(words)).first(16));
  sample.user_regs =
      sample.intr_regs = {perf_event::kRegsAbi64, 0xff, std::as_bytes(std::span(words))};
  sample.user_stack = std::as_bytes(std::span(words));
  sample.user_stack_size = sizeof(words);
  sample.aux = std::as_bytes(std::span(words)).first(16);
  prefix.sample_type = perf_event::kSampleAll & ~perf_event::kSampleRead;
  for (uint64_t branches : {uint64_t{0}, perf_event::kBranchHwIndex,
                            perf_event::kBranchHwIndex | perf_event::kBranchCounters}) {
    prefix.branch_sample_type = branches;
    seeds.push_back(RecordSeed(prefix, sample));
  }
  return seeds;
}

// --- attrs -------------------------------------------------------------------------------------

// Checks an attr. The input is { u8 byte order; attr }.
void ReadAttr(std::span<const std::byte> input) {
  if (input.empty()) return;
  const bool swapped = (std::to_integer<int>(input[0]) & 1) != 0;
  const std::span<const std::byte> bytes = input.subspan(1);
  const auto decoded = perf_event::ReadAttr(bytes, swapped);
  if (!decoded.ok()) return;
  const perf_event::Attr& attr = decoded->attr;
  (void)RecordLayout(attr);
  (void)perf_event::DescribeAttr(attr);
  (void)perf_event::EventName(attr);
  Require(perf_event::SwapAttrToNative(perf_event::SwapAttrToForeign(attr)) == attr,
          "turning an attr twice changes nothing");
  Require(decoded->bytes <= bytes.size(), "an attr is no longer than what it is read from");
  // The kernel's attrs are whole words. If the size cuts a field in the middle, the two byte orders
  // keep different bytes of the field.
  if (decoded->bytes % 8 != 0) return;
  Bytes written;
  perf_event::WriteAttr(attr, &written);
  const auto again = perf_event::ReadAttr(written, false);
  Require(again.ok() && again->attr == attr, "an attr that was written is read as it was");
}

// Returns an attr of each type, and of each event that has a name.
std::vector<perf_event::Attr> AttrsOfEvents() {
  std::vector<perf_event::Attr> attrs = {perf_data::UsualAttr()};
  for (uint32_t type = 0; type <= perf_event::kTypeBreakpoint + 1; ++type) {
    for (const uint64_t config : {0, 1, 4, 9, 0x10002, 0x010100, 0x7f}) {
      perf_event::Attr& attr = attrs.emplace_back(perf_data::UsualAttr());
      attr.type = type;
      attr.config = config;
      attr.bp_type = static_cast<uint32_t>(config) & 7;
      attr.flags |= config << 4;  // sets exclude_user and the flags after it
    }
  }
  return attrs;
}

std::vector<Bytes> AttrSeeds() {
  std::vector<Bytes> seeds;
  for (bool swapped : {false, true}) {
    for (uint32_t size : {64, 96, 112, 144}) {
      for (perf_event::Attr attr : AttrsOfEvents()) {
        attr.size = size;
        if (swapped) attr = perf_event::SwapAttrToForeign(attr);
        Bytes& seed = seeds.emplace_back(Bytes{std::byte{swapped}});
        Append(BytesOf(attr).first(size), &seed);
      }
    }
  }
  return seeds;
}

// --- feature sections --------------------------------------------------------------------------

constexpr uint64_t kProfileDataSize = 7;

// Reads and writes a section three times. Requires that the third time changes nothing. The first
// times may merge equal rows.
void UseStoredProfile(std::string_view section) {
  const profile::Wanted all{.threads = true, .dimensions = {true, true}, .samples = {}};
  const auto rewritten = [&](std::string_view stored) -> std::optional<std::string> {
    auto read = profile::DecodeProfile(stored, kProfileDataSize, all);
    if (!read) return std::nullopt;
    return EncodeProfile(*read, kProfileDataSize);
  };
  const auto once = rewritten(section);
  if (!once) return;
  const auto twice = rewritten(*once);
  Require(twice.has_value() && rewritten(*twice) == twice,
          "profiles that were written are read as they were");
  Require(profile::DecodeProfile(section, kProfileDataSize, {}).has_value(),
          "a profile with details has a summary");
}

// Requires that the text sections of the recorder can be written and read again, with any names.
void UseTextSections(const perf_data::Features& features) {
  perf_data::Features again;
  if (const auto chains = ReadChainQuality(features)) {
    SetChainQuality(*chains, &again);
    Require(ReadChainQuality(again) == chains, "a quality that was written is read as it was");
  }
  if (const auto recorder = ReadRecorder(features)) SetRecorder(*recorder, &again);
  if (const auto imported = ReadImported(features)) SetImported(*imported, &again);
}

// Checks a feature section. The input is { u8 feature; u8 byte order; section }.
void ReadFeature(std::span<const std::byte> input) {
  if (input.size() < 2) return;
  const int bit = std::to_integer<int>(input[0]);
  const bool swapped = (std::to_integer<int>(input[1]) & 1) != 0;
  const std::span<const std::byte> section = input.subspan(2);
  perf_data::Features features;
  features.nrcpus = {{8, 8}};  // sections of topology depend on the CPU count
  const bool whole = perf_data::DecodeFeature(bit, section, swapped, &features);
  UseFeatures(features);
  UseTextSections(features);
  const auto events = perf_data::DecodeEventDesc(section, swapped);
  Require(
      perf_data::DecodeEventDesc(BytesOfText(perf_data::EncodeEventDesc(events)), false).size() ==
          events.size(),
      "events that were written can be read");
  if (!whole) return;
  perf_data::Features again;
  again.other_swapped = features.other_swapped;
  for (const auto& [feature, bytes] : perf_data::EncodeFeatures(features)) {
    const bool stays_swapped = features.other.count(feature) != 0 && swapped;
    Require(perf_data::DecodeFeature(feature, BytesOfText(bytes), stays_swapped, &again),
            "features that were written can be read");
  }
  Require(again == features, "features that were written are read as they were");
  if (bit == perf_data::kFeatureSums) UseStoredProfile(TextOf(section));
  using perf_data::OwnSection;
  if (const auto names = symbolize::DecodeNames(OwnSection(features, perf_data::kFeatureNames))) {
    const auto reread = symbolize::DecodeNames(symbolize::EncodeNames(*names));
    Require(reread.has_value() && reread->images == names->images,
            "names that were written are read as they were");
  }
  if (const auto code = symbolize::DecodeCode(OwnSection(features, perf_data::kFeatureCode))) {
    const auto reread = symbolize::DecodeCode(symbolize::EncodeCode(*code));
    Require(reread.has_value() && reread->images == code->images,
            "code that was written is read as it was");
  }
}

perf_data::Features OwnFeatures() {
  perf_data::Features features;
  const ChainQuality chains = {.complete = 4,
                               .guessed = 3,
                               .cuts = {{2, "stack too short", "/bin/a\n\\"}, {1, "no image", ""}}};
  perf_data::SetImported({"stacks.txt", "folded stacks"}, &features);
  perf_data::SetRecorder({"SCHED_FIFO 10"}, &features);
  perf_data::SetChainQuality(chains, &features);
  return features;
}

std::vector<Bytes> FeatureSeeds() {
  std::vector<Bytes> seeds;
  const auto add = [&seeds](int bit, std::string_view section) {
    Bytes& seed = seeds.emplace_back(Bytes{std::byte(bit), std::byte{0}});
    Append(BytesOfText(section), &seed);
  };
  for (const perf_data::Features& features : {perf_data::UsualFeatures(), OwnFeatures()}) {
    for (const auto& [bit, section] : perf_data::EncodeFeatures(features)) add(bit, section);
  }
  add(perf_data::kFeatureEventDesc, perf_data::EncodeEventDesc(std::vector<perf_data::EventDesc>{
                                        {perf_data::UsualAttr(), "cpu-clock", {1, 2}}}));
  add(perf_data::kFeatureNames, StoredNames(2));
  add(perf_data::kFeatureNames, StoredNames(64));
  add(perf_data::kFeatureCode, StoredCode(2));
  add(perf_data::kFeatureCode, StoredCode(64));
  add(perf_data::kFeatureSums, StoredProfile(3, kProfileDataSize));
  add(perf_data::kFeatureSums, StoredProfile(64, kProfileDataSize));
  for (const bool swapped : {false, true}) {
    for (const Bytes& program : ProgramsByChance(4, 64)) {
      for (const auto& [bit, section] : SectionsOfPerf(program, swapped)) {
        add(bit, section);
        seeds.back()[1] = std::byte{swapped};
      }
    }
  }
  return seeds;
}

}  // namespace

FuzzTarget RecordTarget() { return {"record", "one record by its attr", ReadRecord, RecordSeeds}; }
FuzzTarget AttrTarget() { return {"attr", "a perf_event_attr", ReadAttr, AttrSeeds}; }
FuzzTarget FeatureTarget() { return {"feature", "a feature section", ReadFeature, FeatureSeeds}; }

}  // namespace profiler::fuzz
