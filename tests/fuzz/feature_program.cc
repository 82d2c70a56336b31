#include "tests/fuzz/feature_program.h"

#include <cstdint>
#include <string_view>

#include "src/format/perf_data/format/field_io.h"
#include "src/format/perf_data/format/perf_data_format.h"

namespace profiler::fuzz {
namespace {

using perf_data::FieldWriter;

// A kind of section. Each character of `fields` is a field:
//
//   w, q     a number of 4 or 8 bytes          ( )   repeated; a count of 4 bytes precedes it
//   W, Q     a version of 4 or 8 bytes: 1      [ ]   repeated; a count of 8 bytes precedes it
//   s        a text                            { }   repeated for each CPU
//   b        an entry of BUILD_ID              < >   repeated
//   p, t     a BPF program, its types          m     the blocks of memory of a node
struct Section {
  int bit;
  std::string_view fields;
};
constexpr Section kSections[] = {
    {perf_data::kFeatureTracingData, "s"},
    {perf_data::kFeatureBuildId, "bb"},
    {perf_data::kFeatureHostname, "s"},
    {perf_data::kFeatureOsrelease, "s"},
    {perf_data::kFeatureVersion, "s"},
    {perf_data::kFeatureArch, "s"},
    {perf_data::kFeatureCpudesc, "s"},
    {perf_data::kFeatureCpuid, "s"},
    {perf_data::kFeatureTotalMem, "q"},
    {perf_data::kFeatureCmdline, "(s)"},
    {perf_data::kFeatureCpuTopology, "(s)(s){ww}(s){w}"},
    {perf_data::kFeatureNumaTopology, "(wqqs)"},
    {perf_data::kFeatureBranchStack, ""},
    {perf_data::kFeaturePmuMappings, "(ws)"},
    {perf_data::kFeatureGroupDesc, "(sww)"},
    {perf_data::kFeatureAuxtrace, "[qq]"},
    {perf_data::kFeatureStat, ""},
    {perf_data::kFeatureCache, "W(wwwwsss)"},
    {perf_data::kFeatureSampleTime, "qq"},
    {perf_data::kFeatureMemTopology, "Qq[qqm]"},
    {perf_data::kFeatureClockid, "q"},
    {perf_data::kFeatureDirFormat, "Q"},
    {perf_data::kFeatureBpfProgInfo, "(p)"},
    {perf_data::kFeatureBpfBtf, "(t)"},
    {perf_data::kFeatureCompressed, "WWwww"},
    {perf_data::kFeatureCpuPmuCaps, "(ss)"},
    {perf_data::kFeatureClockData, "Wwqq"},
    {perf_data::kFeatureHybridTopology, "(ss)"},
    {perf_data::kFeaturePmuCaps, "((ss)s)"},
    {perf_data::kFeatureCpuDomainInfo, "ww<w(wsss)>"},
    {perf_data::kFeatureEMachine, "ww"},
    {perf_data::kFeatureCacheLineSize, "w"},
};
constexpr uint32_t kCpus = 2;
constexpr uint64_t kNumbers[] = {0, 1, 2, 3, 17, 62, 64, 100, 1000, 1ull << 32, ~uint64_t{0}};
constexpr const char* kTexts[] = {"0-1", "",       "cpu", "x86_64",       "aarch64", "Data",
                                  "32K", "/bin/a", "MC",  "{anon_group}", "6.1.0",   "a\x1b[b\n"};

class SectionWriter {
 public:
  SectionWriter(Choices& choices, bool swapped) : choices_(choices), writer_(&bytes_, swapped) {}

  std::string Write(std::string_view fields) {
    WriteFields(fields);
    return std::move(bytes_);
  }

 private:
  void WriteFields(std::string_view fields) {
    while (!fields.empty()) {
      const char field = fields.front();
      fields.remove_prefix(1);
      if (std::string_view("([{<").find(field) != std::string_view::npos) {
        const size_t size = GroupSize(fields);
        Repeat(field, fields.substr(0, size));
        fields.remove_prefix(size + 1);
      } else {
        WriteField(field);
      }
    }
  }

  static size_t GroupSize(std::string_view fields) {
    size_t size = 0;
    for (int depth = 1; depth != 0; ++size) {
      if (std::string_view("([{<").find(fields[size]) != std::string_view::npos) ++depth;
      if (std::string_view(")]}>").find(fields[size]) != std::string_view::npos) --depth;
    }
    return size - 1;
  }

  void Repeat(char kind, std::string_view fields) {
    const size_t count = kind == '{' ? kCpus : choices_.Below(4);
    if (kind == '(') writer_.U32(static_cast<uint32_t>(count));
    if (kind == '[') writer_.U64(count);
    for (size_t i = 0; i < count; ++i) WriteFields(fields);
  }

  void WriteField(char field) {
    constexpr size_t kInfoSize = 80, kCodeSize = 8;
    switch (field) {
      case 'w':
        return writer_.U32(static_cast<uint32_t>(choices_.OneOf(kNumbers)));
      case 'q':
        return writer_.U64(choices_.OneOf(kNumbers));
      case 'W':
        return writer_.U32(1);
      case 'Q':
        return writer_.U64(1);
      case 's':
        return writer_.String(choices_.OneOf(kTexts));
      case 'b':
        writer_.U32(0);
        writer_.Write<uint16_t>(choices_.Yes() ? perf_data::kMiscBuildIdSize : 0);
        writer_.Write<uint16_t>(perf_data::kBuildIdFixedSize + perf_data::kNameAlign);
        writer_.Write<int32_t>(-1);
        writer_.Zeroes(perf_data::kBuildIdMax);
        writer_.U32(static_cast<uint32_t>(choices_.Below(32)));
        return WritePadded(choices_.OneOf(kTexts));
      case 'm':
        writer_.U64(64);
        return writer_.U64(choices_.OneOf(kNumbers));
      case 'p':
        writer_.Fields(uint32_t{kInfoSize}, uint32_t{kCodeSize}, uint64_t{0});
        return writer_.Zeroes(kInfoSize + kCodeSize);
      default:
        writer_.Fields(uint32_t{1}, uint32_t{kCodeSize});
        return writer_.Zeroes(kCodeSize);
    }
  }
  void WritePadded(std::string_view name) {
    writer_.Text(name);
    writer_.Zeroes(perf_data::kNameAlign - name.size());
  }

  Choices& choices_;
  std::string bytes_;
  FieldWriter writer_;
};

std::string CpuCount(bool swapped) {
  std::string section;
  FieldWriter(&section, swapped).Fields(kCpus, kCpus);
  return section;
}

}  // namespace

std::map<int, std::string> SectionsOfPerf(Choices& choices, bool swapped) {
  std::map<int, std::string> sections = {{perf_data::kFeatureNrcpus, CpuCount(swapped)}};
  const size_t count = choices.Below(16);
  for (size_t i = 0; i < count; ++i) {
    const Section& section = choices.OneOf(kSections);
    sections[section.bit] = SectionWriter(choices, swapped).Write(section.fields);
  }
  return sections;
}

std::map<int, std::string> SectionsOfPerf(std::span<const std::byte> program, bool swapped) {
  std::map<int, std::string> sections = {{perf_data::kFeatureNrcpus, CpuCount(swapped)}};
  Choices choices(program);
  for (const Section& section : kSections) {
    if (choices.ended()) choices = Choices(program);
    sections[section.bit] = SectionWriter(choices, swapped).Write(section.fields);
  }
  return sections;
}

}  // namespace profiler::fuzz
