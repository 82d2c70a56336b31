#include "src/format/perf_event/data_source.h"

#include <iterator>
#include <span>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "src/format/perf_event/abi.h"

namespace profiler::perf_event {
namespace {

// The fields of a data_src, a bit-field, from its lowest bit on:
//
//   op:5 lvl:14 snoop:5 lock:2 dtlb:7 lvl_num:4 remote:1 snoopx:2 blk:3 hops:3
struct DataSource {
  explicit DataSource(uint64_t bits)
      : op(bits & 0x1f),
        level(bits >> 5 & 0x3fff),
        snoop(bits >> 19 & 0x1f),
        lock(bits >> 24 & 0x3),
        tlb(bits >> 26 & 0x7f),
        level_number(bits >> 33 & 0xf),
        remote((bits >> 37 & 1) != 0),
        snoop_more(bits >> 38 & 0x3),
        blocked(bits >> 40 & 0x7),
        hops(bits >> 43 & 0x7) {}

  uint32_t op, level, snoop, lock, tlb, level_number;
  bool remote;
  uint32_t snoop_more, blocked, hops;
};

constexpr uint32_t kNotAvailable = 1 << 0;         // in op, level, snoop, lock, tlb and blocked
constexpr uint32_t kHit = 1 << 1, kMiss = 1 << 2;  // in level and tlb
constexpr uint32_t kLevelNumberNotAvailable = 0xf;

constexpr std::string_view kOps[] = {"N/A", "LOAD", "STORE", "PFETCH", "EXEC"};
constexpr std::string_view kLevels[] = {"N/A",
                                        "HIT",
                                        "MISS",
                                        "L1",
                                        "LFB/MAB",
                                        "L2",
                                        "L3",
                                        "Local RAM",
                                        "Remote RAM (1 hop)",
                                        "Remote RAM (2 hops)",
                                        "Remote Cache (1 hop)",
                                        "Remote Cache (2 hops)",
                                        "I/O",
                                        "Uncached"};
constexpr std::string_view kLevelNumbers[] = {
    "",     "L1",       "L2",  "L3",  "L4",        "L2 MHB",  "Memory-side Cache",
    "L0",   "Uncached", "CXL", "I/O", "Any cache", "LFB/MAB", "RAM",
    "PMEM", "N/A"};
constexpr std::string_view kHops[] = {"", "core, same node", "node, same socket",
                                      "socket, same board", "board"};
constexpr std::string_view kSnoops[] = {"N/A", "None", "Hit", "Miss", "HitM"};
constexpr std::string_view kSnoopsMore[] = {"Fwd", "Peer"};
constexpr std::string_view kTlbs[] = {"N/A", "HIT", "MISS", "L1", "L2", "Walker", "Fault"};

// Appends the names of the bits that are set, joined with " or ".
void AddAlternatives(uint32_t bits, std::span<const std::string_view> names, std::string* text) {
  for (size_t i = 0; i < names.size(); ++i) {
    if ((bits >> i & 1) == 0) continue;
    if (!text->empty()) *text += " or ";
    *text += names[i];
  }
}

std::string Op(const DataSource& source) {
  for (size_t i = 0; i < std::size(kOps); ++i) {
    if ((source.op >> i & 1) != 0) return std::string(kOps[i]);
  }
  return "No";
}

std::string Level(const DataSource& source) {
  const std::string_view hit_miss = (source.level & kHit) != 0    ? "hit"
                                    : (source.level & kMiss) != 0 ? "miss"
                                                                  : "";
  std::string text;
  if (source.level_number != 0 && source.level_number != kLevelNumberNotAvailable) {
    if (source.remote) text += "Remote ";
    if (source.hops != 0 && source.hops < std::size(kHops)) {
      text += kHops[source.hops];
      text += ' ';
    }
    text += kLevelNumbers[source.level_number];
  } else {
    AddAlternatives(source.level & ~(kNotAvailable | kHit | kMiss), kLevels, &text);
    if (text.empty()) return "N/A";
  }
  text += ' ';
  text += hit_miss;
  return text;
}

std::string Snoop(const DataSource& source) {
  std::string text;
  AddAlternatives(source.snoop, kSnoops, &text);
  AddAlternatives(source.snoop_more, kSnoopsMore, &text);
  return text.empty() ? "N/A" : text;
}

std::string Tlb(const DataSource& source) {
  std::string text;
  AddAlternatives(source.tlb & ~(kHit | kMiss), kTlbs, &text);
  if (text.empty()) text = "N/A";
  if ((source.tlb & kHit) != 0) text += " hit";
  if ((source.tlb & kMiss) != 0) text += " miss";
  return text;
}

std::string_view Lock(const DataSource& source) {
  if ((source.lock & kNotAvailable) != 0) return "N/A";
  return (source.lock & 2) != 0 ? "Yes" : "No";
}

std::string Blocked(const DataSource& source) {
  if (source.blocked == 0 || (source.blocked & kNotAvailable) != 0) return " N/A";
  std::string text;
  if ((source.blocked & 2) != 0) text += " Data";
  if ((source.blocked & 4) != 0) text += " Addr";
  return text;
}

}  // namespace

DataSourceTexts DescribeAccess(uint64_t data_src) {
  const DataSource source(data_src);
  return {.op = Op(source),
          .level = Level(source),
          .snoop = Snoop(source),
          .tlb = Tlb(source),
          .locked = std::string(Lock(source)),
          .blocked = Blocked(source)};
}

std::string DataSourceInPerfsWords(uint64_t data_src) {
  const DataSourceTexts texts = DescribeAccess(data_src);
  return absl::StrCat("|OP ", texts.op, "|LVL ", texts.level, "|SNP ", texts.snoop, "|TLB ",
                      texts.tlb, "|LCK ", texts.locked, "|BLK ", texts.blocked);
}

AccessCost CostOf(uint64_t sample_type, uint64_t weight) {
  if ((sample_type & kSampleWeightStruct) == 0) return {.weight = weight};
  return {.weight = weight & 0xffffffff,
          .instruction_latency = static_cast<uint32_t>(weight >> 32 & 0xffff),
          .retire_latency = static_cast<uint32_t>(weight >> 48)};
}

}  // namespace profiler::perf_event
