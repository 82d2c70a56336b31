#include "src/importers/legacy_cpu.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/importers/memory_map.h"
#include "src/importers/text_lines.h"

namespace profiler::importers {
namespace {

using profile::StackId;

// The words of the machine that wrote the profile.
class Words {
 public:
  Words(std::string_view bytes, size_t size, bool swapped)
      : bytes_(bytes), size_(size), swapped_(swapped) {}

  // Returns the next word; nothing at the end.
  std::optional<uint64_t> Next() {
    if (bytes_.size() - offset_ < size_) return std::nullopt;
    uint64_t word = 0;
    for (size_t i = 0; i < size_; ++i) {
      const size_t at = swapped_ ? i : size_ - 1 - i;
      word = word << 8 | static_cast<unsigned char>(bytes_[offset_ + at]);
    }
    offset_ += size_;
    return word;
  }

  size_t offset() const { return offset_; }
  // Returns the number of remaining words.
  size_t rest() const { return (bytes_.size() - offset_) / size_; }

 private:
  std::string_view bytes_;
  size_t size_;
  bool swapped_;  // True if the most significant byte comes first.
  size_t offset_ = 0;
};

struct Header {
  Words behind;
  bool is_java = false;
  uint64_t period = 0;  // time between two samples, in µs
};

std::optional<Header> ReadHeader(std::string_view bytes) {
  constexpr uint64_t kMostPeriod = 1'000'000'000;
  for (const size_t size : {size_t{8}, size_t{4}}) {
    for (const bool swapped : {false, true}) {
      Words words(bytes, size, swapped);
      std::optional<uint64_t> header[5];
      for (auto& word : header) word = words.Next();
      if (header[0] != 0 || header[1] != 3 || !header[2] || *header[2] > 1 || header[4] != 0) {
        continue;
      }
      if (*header[3] == 0 || *header[3] > kMostPeriod) continue;
      return Header{words, *header[2] == 1, *header[3]};
    }
  }
  return std::nullopt;
}

struct CpuSample {
  uint64_t count = 0;
  std::vector<uint64_t> addresses;  // leaf first
};

absl::Status ReadSamples(Words& words, std::vector<CpuSample>& samples) {
  for (;;) {
    const size_t offset = words.offset();
    const auto count = words.Next(), depth = words.Next();
    if (!count || !depth || *depth > words.rest()) {
      return absl::DataLossError(absl::StrCat(
          "offset ", offset, ": the profile is cut: a sample, or its end, is missing"));
    }
    CpuSample& sample = samples.emplace_back(CpuSample{.count = *count, .addresses = {}});
    for (uint64_t i = 0; i < *depth; ++i) sample.addresses.push_back(*words.Next());
    const bool is_end = *count == 0 && *depth == 1 && sample.addresses[0] == 0;
    if (!is_end) continue;
    samples.pop_back();
    return absl::OkStatus();
  }
}

// Replaces the return address of each caller by an address in the call before it.
void MakeCallersExact(std::vector<CpuSample>& samples) {
  for (CpuSample& sample : samples) {
    for (size_t i = 1; i < sample.addresses.size(); ++i) {
      if (sample.addresses[i] != 0) --sample.addresses[i];
    }
  }
}

// Removes the frames of the signal handler. In almost all samples they follow the leaf.
void LeaveOutSignalHandler(std::vector<CpuSample>& samples) {
  constexpr int kFramesAtMost = 2;
  constexpr size_t kOneInHowManyMayDiffer = 32;
  for (int i = 0; i < kFramesAtMost; ++i) {
    std::map<uint64_t, size_t> counts;
    for (const CpuSample& sample : samples) {
      if (sample.addresses.size() > 1) ++counts[sample.addresses[1]];
    }
    const size_t needed = samples.size() - samples.size() / kOneInHowManyMayDiffer;
    const auto handler =
        std::ranges::find_if(counts, [&](const auto& count) { return count.second >= needed; });
    if (handler == counts.end()) return;
    for (CpuSample& sample : samples) {
      if (sample.addresses.size() > 1 && sample.addresses[1] == handler->first) {
        sample.addresses.erase(sample.addresses.begin() + 1);
      }
    }
  }
}

// Removes a repeated leaf: the leaf comes from the signal's context, and may come from the stack
// again.
void LeaveOutRepeatedLeaves(std::vector<CpuSample>& samples) {
  for (CpuSample& sample : samples) {
    if (sample.addresses.size() > 1 && sample.addresses[0] == sample.addresses[1] + 1) {
      sample.addresses.erase(sample.addresses.begin() + 1);
    }
  }
}

// Returns the function of each number, from lines such as " 0x0000006 com.example.function06
// (source.java:06)".
std::map<uint64_t, FunctionLine> JavaNames(std::string_view text) {
  std::map<uint64_t, FunctionLine> names;
  TextLines lines(text);
  std::string_view line;
  while (lines.Next(&line)) {
    line = Trimmed(line);
    if (!line.starts_with("0x")) continue;
    line.remove_prefix(2);
    uint64_t number = 0;
    const auto [stop, error] = std::from_chars(line.data(), line.data() + line.size(), number, 16);
    if (error != std::errc()) continue;
    line.remove_prefix(static_cast<size_t>(stop - line.data()));
    FunctionLine function{.name = Trimmed(line)};
    const size_t open = function.name.rfind(" (");
    if (open != std::string_view::npos && function.name.ends_with(')')) {
      std::string_view where = function.name.substr(open + 2);
      where.remove_suffix(1);
      function.name = Trimmed(function.name.substr(0, open));
      const size_t colon = where.rfind(':');
      function.file = where.substr(0, colon);
      if (colon != std::string_view::npos) {
        (void)std::from_chars(where.data() + colon + 1, where.data() + where.size(), function.line);
      }
    }
    names.try_emplace(number, function);
  }
  return names;
}

class CpuProfile {
 public:
  CpuProfile(const Header& header, std::string_view rest, ProfileMaker& maker)
      : is_java_(header.is_java),
        period_(header.period),
        maker_(maker),
        map_(is_java_ ? std::string_view() : rest),
        names_(is_java_ ? JavaNames(rest) : std::map<uint64_t, FunctionLine>()) {}

  void Add(const std::vector<CpuSample>& samples) {
    constexpr uint64_t kNanosecondsInAMicrosecond = 1000;
    const profile::EventId event = maker_.Event("cpu");
    const profile::ThreadId thread = maker_.NamedThread(is_java_ ? "java" : map_.program());
    for (const CpuSample& sample : samples) {
      StackId stack = profile::kNoStack;
      for (size_t i = sample.addresses.size(); i-- > 0;) {
        stack = maker_.Stack(stack, FrameAt(sample.addresses[i]));
      }
      maker_.Add({.event = event,
                  .thread = thread,
                  .stack = stack,
                  .count = sample.count,
                  .period = sample.count * period_ * kNanosecondsInAMicrosecond});
    }
  }

 private:
  profile::FrameId FrameAt(uint64_t address) const {
    if (!is_java_) return map_.Frame(address, {}, maker_);
    const auto name = names_.find(address);
    if (name == names_.end()) return maker_.Frame({});
    return maker_.Frame({.functions = {&name->second, 1}});
  }

  const bool is_java_;
  const uint64_t period_;
  ProfileMaker& maker_;
  const MemoryMap map_;
  const std::map<uint64_t, FunctionLine> names_;
};

}  // namespace

bool IsLegacyCpuProfile(std::string_view bytes) { return ReadHeader(bytes).has_value(); }

absl::Status ReadLegacyCpuProfile(std::string_view bytes, ProfileMaker& maker) {
  std::optional<Header> header = ReadHeader(bytes);
  if (!header) return absl::DataLossError("offset 0: expected the header of a CPU profile");
  std::vector<CpuSample> samples;
  PROFILER_RETURN_IF_ERROR(ReadSamples(header->behind, samples));
  if (!header->is_java) {
    MakeCallersExact(samples);
    LeaveOutSignalHandler(samples);
    LeaveOutRepeatedLeaves(samples);
  }
  CpuProfile(*header, bytes.substr(header->behind.offset()), maker).Add(samples);
  return absl::OkStatus();
}

}  // namespace profiler::importers
