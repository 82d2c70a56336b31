// Decodes and encodes the section CHAIN_QUALITY. FORMAT.md draws it.

#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_data/sections/own_sections.h"
#include "src/format/perf_data/sections/section_lines.h"
#include "src/format/perf_event/abi.h"

namespace profiler::perf_data {
namespace {

struct Counter {
  std::string_view name;
  uint64_t ChainQuality::*value;
};
constexpr std::array<Counter, 4> kCounters = {{{"complete", &ChainQuality::complete},
                                               {"waiting", &ChainQuality::late_read},
                                               {"guessed", &ChainQuality::guessed},
                                               {"no-stack", &ChainQuality::no_stack}}};
// A kind of line that earlier versions wrote, for chains whose outer part was missing in the
// sample. Such chains count as cut.
struct Unproven {
  std::string_view name, reason;
};
constexpr std::array<Unproven, 2> kUnproven = {
    {{"joined", "outer part taken from an earlier chain"},
     {"late-read", "outer part read after the sample"}}};
constexpr std::string_view kCut = "cut";

void AppendEscaped(std::string_view text, std::string& out) {
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else {
      if (c == '\\') out += '\\';
      out += c;
    }
  }
}

std::string Unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      ++i;
      out += text[i] == 'n' ? '\n' : text[i];
    } else {
      out += text[i];
    }
  }
  return out;
}

bool ParseCount(std::string_view text, uint64_t* count) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *count);
  return error == std::errc() && stop == end;
}

// Returns false for a line of a known kind with invalid content.
bool TakeLine(std::string_view line, ChainQuality* chains) {
  const std::string_view kind = TakeUntil('\t', &line);
  for (const Counter& counter : kCounters) {
    if (kind == counter.name) return ParseCount(line, &(chains->*counter.value));
  }
  ChainQuality::Cut cut;
  for (const Unproven& unproven : kUnproven) {
    if (kind != unproven.name) continue;
    if (!ParseCount(line, &cut.chains)) return false;
    cut.reason = unproven.reason;
    if (cut.chains != 0) chains->cuts.push_back(std::move(cut));
    return true;
  }
  if (kind != kCut) return true;
  if (!ParseCount(TakeUntil('\t', &line), &cut.chains)) return false;
  cut.reason = TakeUntil('\t', &line);
  cut.image = Unescaped(line);
  chains->cuts.push_back(std::move(cut));
  return true;
}

}  // namespace

// If an event has exclude_callchain_user, the kernel writes no user entries. Without STACK_USER,
// samples have no stack from which a reader could make user entries. So if there are user entries,
// our recorder made them. perf 7.2 never writes user entries for such an event: its option
// --kernel-callchains only sets exclude_callchain_user, and its recordings of stacks set that flag
// together with STACK_USER. `perf inject --convert-callchain`, which converts stacks to chains of
// return addresses, clears the flag.
bool HasExactUserCallers(const perf_event::Attr& attr) {
  return attr.has(perf_event::kAttrExcludeCallchainUser) &&
         (attr.sample_type & perf_event::kSampleCallchain) != 0 &&
         (attr.sample_type & perf_event::kSampleStackUser) == 0;
}

std::optional<ChainQuality> ReadChainQuality(const Features& features) {
  const auto section = features.other.find(kFeatureChainQuality);
  if (section == features.other.end()) return std::nullopt;
  ChainQuality chains;
  for (std::string_view rest = section->second; !rest.empty();) {
    if (!TakeLine(TakeUntil('\n', &rest), &chains)) return std::nullopt;
  }
  return chains;
}

void SetChainQuality(const ChainQuality& chains, Features* features) {
  std::string text;
  for (const Counter& counter : kCounters) {
    absl::StrAppend(&text, absl::string_view(counter.name.data(), counter.name.size()), "\t",
                    chains.*counter.value, "\n");
  }
  for (const ChainQuality::Cut& cut : chains.cuts) {
    absl::StrAppend(&text, "cut\t", cut.chains, "\t", cut.reason, "\t");
    AppendEscaped(cut.image, text);
    text += '\n';
  }
  features->other[kFeatureChainQuality] = std::move(text);
}

std::string_view OwnSection(const Features& features, int bit) {
  const auto section = features.other.find(bit);
  return section == features.other.end() ? std::string_view() : section->second;
}

}  // namespace profiler::perf_data
