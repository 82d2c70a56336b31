#include "src/analysis/derived_columns.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_format.h"
#include "src/analysis/amount.h"

namespace profiler::analysis {

using profile::Dimension;
using profile::kNoStack;
using profile::Profile;
using profile::Row;
using profile::StackNode;

namespace {

std::string WithoutDigits(std::string_view name) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string text;
  for (size_t i = 0; i < name.size(); ++i) {
    if (!is_digit(name[i])) {
      text += name[i];
    } else if (i == 0 || !is_digit(name[i - 1])) {
      text += "<N>";
    }
  }
  return text;
}

void FillColumn(Dimension dimension, Profile& profile, auto value_of) {
  HugeVector<uint32_t> column;
  column.reserve(profile.rows.size());
  for (size_t i = 0; i < profile.rows.size(); ++i) {
    column.push_back(static_cast<uint32_t>(value_of(i)));
  }
  profile.column(dimension) = std::move(column);
}

// Returns "0x00007f0000000040", and no prefix for 0, as perf does.
std::string AddressText(uint64_t address) { return absl::StrFormat("%#.16x", address); }

// Texts for the places of data.
class DataTexts {
 public:
  explicit DataTexts(const Profile& profile) : profile_(profile) {}

  std::string Text(Dimension dimension, const profile::DataPlace& data) {
    if (dimension == Dimension::kPageSize) return PageSizeText(data.page_size);
    if (dimension == Dimension::kPhysicalAddress) {
      return data.physical == 0 ? "" : AddressText(data.physical);
    }
    if (data.frame == profile::kNoFrame) return "";
    const profile::Frame& frame = profile_[data.frame];
    if (dimension == Dimension::kDataDso) {
      return std::string(profile_.text(profile_[frame.image].name));
    }
    if (dimension == Dimension::kCacheLine) return CacheLine(data, frame);
    const std::string_view symbol = SymbolOf(frame);
    if (symbol.empty()) return AddressText(data.address);
    return absl::StrFormat("%s+0x%x", symbol, frame.symbol_offset);
  }

 private:
  static constexpr uint64_t kLineBytes = 64;

  std::string_view SymbolOf(const profile::Frame& frame) const {
    const auto lines = profile_.LinesOf(frame);
    const bool is_named = frame.unnamed == profile::Unnamed::kNamed && !lines.empty() &&
                          lines.back().symbol != profile::kNoSymbol;
    return is_named ? profile_.text(profile_[lines.back().symbol].name) : std::string_view();
  }

  // Data in one cache line have one text: the text of the first of them. A line in a file is
  // identified by its place in the file, so processes that share memory share the line.
  std::string CacheLine(const profile::DataPlace& data, const profile::Frame& frame) {
    const uint64_t in_line = data.address % kLineBytes;
    const auto [known, is_new] =
        lines_.try_emplace(std::pair(frame.image, frame.place.value - in_line));
    if (!is_new) return known->second;
    const std::string_view symbol = SymbolOf(frame);
    if (symbol.empty()) {
      known->second = AddressText(frame.place.value - in_line);
    } else if (frame.symbol_offset >= in_line) {
      known->second = absl::StrFormat("%s+0x%x", symbol, frame.symbol_offset - in_line);
    } else {
      known->second = absl::StrFormat("%s-0x%x", symbol, in_line - frame.symbol_offset);
    }
    return known->second;
  }

  const Profile& profile_;
  absl::flat_hash_map<std::pair<profile::ImageId, uint64_t>, std::string> lines_;
};

std::vector<StringId> TextsOfAccesses(Dimension dimension, Profile& profile) {
  const auto number = [&](uint64_t value) { return profile.strings.Intern(std::to_string(value)); };
  std::vector<StringId> texts;
  texts.reserve(profile.accesses.size());
  for (const profile::MemoryAccess& access : profile.accesses) {
    switch (dimension) {
      case Dimension::kMemoryLevel:
        texts.push_back(access.level);
        break;
      case Dimension::kSnoop:
        texts.push_back(access.snoop);
        break;
      case Dimension::kTlb:
        texts.push_back(access.tlb);
        break;
      case Dimension::kLocked:
        texts.push_back(access.locked);
        break;
      case Dimension::kBlocked:
        texts.push_back(access.blocked);
        break;
      case Dimension::kInstructionLatency:
        texts.push_back(number(access.instruction_latency));
        break;
      case Dimension::kRetireLatency:
        texts.push_back(number(access.retire_latency));
        break;
      default:
        texts.push_back(number(access.weight));
    }
  }
  return texts;
}

}  // namespace

void AddSockets(std::span<const uint32_t> sockets, Profile& profile) {
  FillColumn(Dimension::kSocket, profile, [&](size_t row) {
    const uint32_t cpu = profile.CpuOf(row);
    return cpu < sockets.size() ? sockets[cpu] : profile::kNoCpu;
  });
}

void AddCommsWithoutDigits(Profile& profile) {
  std::vector<StringId> names;  // indexed by ThreadId
  names.reserve(profile.threads.size());
  for (const profile::Thread& thread : profile.threads) {
    names.push_back(profile.strings.Intern(WithoutDigits(profile.text(thread.comm))));
  }
  FillColumn(Dimension::kCommNoDigit, profile,
             [&](size_t row) { return names[static_cast<uint32_t>(profile.rows[row].thread)]; });
}

void AddParents(const NamePattern& pattern, StackEnd end, Profile& profile) {
  const std::vector<bool> matches = FramesOf(pattern, profile);
  std::vector<StringId> parents;  // indexed by StackId
  parents.reserve(profile.stacks.size());
  for (const StackNode& stack : profile.stacks) {
    StringId parent = StringId::kEmpty;
    if (stack.parent != kNoStack) parent = parents[static_cast<uint32_t>(stack.parent)];
    const bool is_nearer = parent == StringId::kEmpty || end == StackEnd::kInnermost;
    if (is_nearer && matches[static_cast<uint32_t>(stack.frame)]) {
      parent = profile[profile.LinesOf(profile[stack.frame]).back().symbol].name;
    }
    parents.push_back(parent);
  }
  FillColumn(Dimension::kParent, profile,
             [&](size_t row) { return parents[static_cast<uint32_t>(profile.rows[row].stack)]; });
}

void AddAccessColumn(Dimension dimension, Profile& profile) {
  const bool is_of_data = dimension >= Dimension::kDataSymbol;
  const Dimension source = is_of_data ? Dimension::kData : Dimension::kAccess;
  if (profile.column(source).empty()) return;
  std::vector<StringId> texts;
  if (is_of_data) {
    DataTexts data(profile);
    texts.reserve(profile.data.size());
    for (const profile::DataPlace& place : profile.data) {
      texts.push_back(profile.strings.Intern(data.Text(dimension, place)));
    }
  } else {
    texts = TextsOfAccesses(dimension, profile);
  }
  FillColumn(dimension, profile, [&](size_t row) { return texts[profile.column(source)[row]]; });
}

void AddDerivedColumn(Dimension dimension, const ColumnSources& sources, Profile& profile) {
  switch (dimension) {
    case Dimension::kSocket:
      return AddSockets(sources.sockets, profile);
    case Dimension::kCommNoDigit:
      return AddCommsWithoutDigits(profile);
    case Dimension::kParent:
      if (sources.parent) AddParents(*sources.parent, sources.parent_end, profile);
      return;
    default:
      if (dimension >= Dimension::kMemoryLevel && dimension <= Dimension::kPageSize) {
        AddAccessColumn(dimension, profile);
      }
  }
}

std::optional<Dimension> SourceOf(Dimension dimension) {
  if (static_cast<size_t>(dimension) < profile::kDimensionsOfSamples) return dimension;
  switch (dimension) {
    case Dimension::kSocket:
      return Dimension::kCpu;
    case Dimension::kCommNoDigit:
    case Dimension::kParent:
      return std::nullopt;
    default:
      break;
  }
  if (dimension >= Dimension::kTraceField) return Dimension::kTrace;
  return dimension >= Dimension::kDataSymbol ? Dimension::kData : Dimension::kAccess;
}

void SplitTraces(Profile& profile) {
  const size_t fields = profile.trace_fields.size();
  const HugeVector<uint32_t> whole = std::exchange(profile.column(Dimension::kTrace), {});
  // Keyed by the text of a whole record: the record's own text, then the text of each field.
  absl::flat_hash_map<uint32_t, std::vector<StringId>> parts_of;
  for (const uint32_t text : whole) {
    const auto [known, is_new] = parts_of.try_emplace(text, fields + 1);
    if (!is_new) continue;
    const std::string parts(profile.text(StringId{text}));
    size_t begin = 0;
    for (StringId& part : known->second) {
      const size_t end = parts.find(kTracePartEnd, begin);
      if (end == std::string::npos) break;
      part = profile.strings.Intern(std::string_view(parts).substr(begin, end - begin));
      begin = end + 1;
    }
  }
  for (size_t part = 0; part <= fields; ++part) {
    HugeVector<uint32_t> column;
    column.reserve(whole.size());
    for (const uint32_t text : whole) {
      column.push_back(static_cast<uint32_t>(parts_of.find(text)->second[part]));
    }
    const size_t dimension = part == 0 ? static_cast<size_t>(Dimension::kTrace)
                                       : static_cast<size_t>(Dimension::kTraceField) + part - 1;
    profile.columns[dimension] = std::move(column);
  }
}

}  // namespace profiler::analysis
