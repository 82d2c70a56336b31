#include "src/views/report/names.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/analysis/weight.h"
#include "src/base/percent.h"
#include "src/base/text.h"
#include "src/views/report/cell_text.h"

namespace profiler::report {
namespace {

using analysis::Weight;
using analysis::WeightOf;
using profile::EventId;
using profile::Frame;
using profile::FrameId;
using profile::Image;
using profile::ImageId;
using profile::Profile;
using profile::Row;
using profile::StackId;
using profile::Unnamed;
using symbolize::ImageKind;

constexpr size_t kAddressesShown = 10;  // number of addresses listed for each image

bool HasFunctionStart(const Frame& frame) {
  return frame.unnamed != Unnamed::kNamed && frame.line_count != 0;
}

struct NamedShares {
  uint64_t total = 0, by_symbol = 0, by_start = 0;
};

NamedShares SharesOf(const Profile& profile, EventId event) {
  NamedShares shares;
  for (const Row& row : profile.rows) {
    if (row.event != event) continue;
    const Frame& frame = profile[row.self];
    shares.total += row.period;
    if (frame.unnamed == Unnamed::kNamed) shares.by_symbol += row.period;
    if (HasFunctionStart(frame)) shares.by_start += row.period;
  }
  return shares;
}

bool InKernel(const Image& image) {
  return image.kind == ImageKind::kKernel || image.kind == ImageKind::kModule ||
         image.kind == ImageKind::kBpf;
}

bool IsGeneratedCode(const Image& image) {
  return image.kind == ImageKind::kJit || image.kind == ImageKind::kJitDump ||
         image.kind == ImageKind::kAnonymous;
}

constexpr std::string_view kWritePerfMap =
    "let the runtime write /tmp/perf-PID.map: node --perf-basic-prof, "
    "java -XX:+DumpPerfMapAtExit, python -X perf";

std::string_view Why(const Image& image, Unnamed reason) {
  switch (reason) {
    case Unnamed::kNoMapping:
      return "nothing is known to be mapped there";
    case Unnamed::kNoImageFile:
      if (IsGeneratedCode(image)) return "generated code without a map of its functions";
      return InKernel(image) ? "no symbols of the kernel here" : "the file is not here";
    case Unnamed::kBuildIdMismatch:
      return InKernel(image) ? "the kernel that runs here is not the recorded one, or may not be"
                             : "the file here is not the one that was recorded";
    case Unnamed::kNotElf:
      return "not a readable ELF file";
    case Unnamed::kRestricted:
      return "the kernel hides its addresses";
    case Unnamed::kNoSymbol:
      return IsGeneratedCode(image) ? "not in the map of its functions" : "no symbol covers them";
    case Unnamed::kNamed:
      break;
  }
  return "";
}

std::string_view Remedy(const Image& image, Unnamed reason) {
  switch (reason) {
    case Unnamed::kNoMapping:
      return "callers: record with --call-graph dwarf, frame pointers are missing; else code that "
             "was mapped and gone before it was seen";
    case Unnamed::kNoImageFile:
      if (IsGeneratedCode(image)) return kWritePerfMap;
      return InKernel(image) ? "run profiler report on the machine that was recorded, as root"
                             : "run profiler report on a machine that has the file";
    case Unnamed::kBuildIdMismatch:
      return InKernel(image) ? "pass --kallsyms FILE with the symbols of the recorded kernel"
                             : "bring back the recorded build, or record again";
    case Unnamed::kNotElf:
      return "look at the file: it may be cut off, or of another byte order";
    case Unnamed::kRestricted:
      return "report as root, or sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1 before "
             "recording";
    case Unnamed::kNoSymbol:
      if (IsGeneratedCode(image)) return kWritePerfMap;
      return "none is known";
    case Unnamed::kNamed:
      break;
  }
  return "";
}

// Addresses of one image that lack a symbol for the same reason. A group has one heading.
struct Group {
  ImageId image{};
  Unnamed reason{};
  Weight weight;      // weight of samples that interrupted these addresses
  size_t frames = 0;  // number of addresses, including those of callers
  std::vector<std::pair<uint64_t, std::string>> addresses;  // (weight, text)
};

class Unresolved {
 public:
  Unresolved(const Profile& profile, EventId event, const SymbolsRemedy& symbols_remedy)
      : profile_(profile),
        event_(event),
        symbols_remedy_(symbols_remedy),
        seen_(profile.frames.size()) {
    FindFrames();
    MakeGroups();
  }

  std::string Format() {
    std::string out;
    absl::StrAppend(&out, "# Event '");
    AppendPrintable(profile_.text(profile_[event_].name), out);
    out += "'\n";
    if (groups_.empty()) return out + "# Every address has a symbol.\n";
    out += NamesLine(profile_, event_);
    out += "#\n# Overhead     Samples   Addresses  Image: why\n";
    out += "# ........  ..........  ..........  ..........\n#\n";
    for (Group& group : groups_) AppendGroup(group, out);
    return out;
  }

 private:
  struct Seen {
    bool on_stack = false;
    Weight self;
  };

  // Finds all frames of the event's chains. Visits each stack node once.
  void FindFrames() {
    std::vector<bool> visited(profile_.stacks.size(), false);
    for (const Row& row : profile_.rows) {
      if (row.event != event_) continue;
      Seen& interrupted = seen_[static_cast<uint32_t>(row.self)];
      interrupted.on_stack = true;
      interrupted.self += WeightOf(row);
      total_ += row.period;
      for (StackId id = row.stack; id != profile::kNoStack && !visited[static_cast<uint32_t>(id)];
           id = profile_[id].parent) {
        visited[static_cast<uint32_t>(id)] = true;
        seen_[static_cast<uint32_t>(profile_[id].frame)].on_stack = true;
      }
    }
  }

  void MakeGroups() {
    absl::flat_hash_map<std::pair<ImageId, Unnamed>, size_t> known;
    // Frames of one unnamed function are listed as one address.
    absl::flat_hash_map<std::tuple<size_t, std::string>, size_t> known_addresses;
    for (uint32_t i = 0; i < profile_.frames.size(); ++i) {
      const Frame& frame = profile_.frames[i];
      if (!seen_[i].on_stack || frame.unnamed == Unnamed::kNamed) continue;
      const auto [it, is_new] =
          known.try_emplace(std::pair(frame.image, frame.unnamed), groups_.size());
      if (is_new) groups_.push_back({.image = frame.image, .reason = frame.unnamed});
      Group& group = groups_[it->second];
      ++group.frames;
      group.weight += seen_[i].self;
      const auto [address, is_new_address] =
          known_addresses.try_emplace({it->second, AddressText(frame)}, group.addresses.size());
      if (is_new_address) group.addresses.emplace_back(0, std::get<1>(address->first));
      group.addresses[address->second].first += seen_[i].self.period;
    }
    std::sort(groups_.begin(), groups_.end(), [](const Group& a, const Group& b) {
      const std::pair weight_a(a.weight.period, a.frames), weight_b(b.weight.period, b.frames);
      if (weight_a != weight_b) return weight_a > weight_b;
      return std::pair(a.image, a.reason) < std::pair(b.image, b.reason);
    });
  }

  // Returns the name made from the start of the frame's function. If the start is unknown, returns
  // the frame's offset in its file, or its address if it is in no file.
  std::string AddressText(const Frame& frame) const {
    if (HasFunctionStart(frame)) {
      return std::string(profile_.text(profile_[profile_.LinesOf(frame).back().symbol].name));
    }
    return absl::StrCat("0x", absl::Hex(frame.place.value));
  }

  void AppendGroup(Group& group, std::string& out) const {
    const Image& image = profile_[group.image];
    absl::StrAppendFormat(&out, "  %7.2f%%  %10d  %10d  ", Percent(group.weight.period, total_),
                          group.weight.count, group.frames);
    AppendPrintable(profile_.text(image.long_name), out);
    const std::string_view why = Why(image, group.reason);
    const bool lacks_symbols =
        group.reason == Unnamed::kNoSymbol && !IsGeneratedCode(image) && !InKernel(image);
    const std::string remedy = lacks_symbols
                                   ? symbols_remedy_(profile_.text(image.long_name), image.build_id)
                                   : std::string(Remedy(image, group.reason));
    absl::StrAppend(&out, ": ", View(why), "\n");
    constexpr std::string_view kIndent = "                                      ";
    absl::StrAppend(&out, View(kIndent), "→ ", remedy);
    if (!image.build_id.empty()) absl::StrAppend(&out, " (build-id ", HexOf(image.build_id), ")");
    out += '\n';
    std::sort(group.addresses.begin(), group.addresses.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    const size_t shown = std::min(group.addresses.size(), kAddressesShown);
    for (size_t i = 0; i < shown; ++i) {
      absl::StrAppendFormat(&out, "  %7.2f%%                            ",
                            Percent(group.addresses[i].first, total_));
      AppendPrintable(group.addresses[i].second, out);
      out += '\n';
    }
    if (shown < group.addresses.size()) {
      absl::StrAppend(&out, View(kIndent), "and ", group.addresses.size() - shown, " more\n");
    }
  }

  const Profile& profile_;
  const EventId event_;
  const SymbolsRemedy& symbols_remedy_;
  std::vector<Seen> seen_;  // indexed by FrameId
  std::vector<Group> groups_;
  uint64_t total_ = 0;
};

}  // namespace

std::string NamesLine(const Profile& profile, EventId event) {
  const NamedShares shares = SharesOf(profile, event);
  if (shares.by_symbol == shares.total) return {};
  return absl::StrFormat(
      "# Names: %.2f%% by symbol, %.2f%% by function start only, %.2f%% without (see "
      "--unresolved)\n",
      Percent(shares.by_symbol, shares.total), Percent(shares.by_start, shares.total),
      Percent(shares.total - shares.by_symbol - shares.by_start, shares.total));
}

std::string FormatUnresolved(const Profile& profile, const SymbolsRemedy& remedy) {
  std::string out;
  for (uint32_t i = 0; i < profile.events.size(); ++i) {
    if (profile.events[i].samples == 0) continue;
    if (!out.empty()) out += "\n";
    out += Unresolved(profile, EventId{i}, remedy).Format();
  }
  return out.empty() ? "# No samples.\n" : out;
}

}  // namespace profiler::report
