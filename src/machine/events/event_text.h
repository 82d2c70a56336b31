// Parses the events that a user types after -e. The grammar is perf's, plus uprobes by path and
// symbol.
//
//   {cycles:u,cpu/event=0x3c,umask=1/p}:S,sched:sched_switch,mem:0x601040/8:w
//    └word┘ │ └┬┘ └─────terms──────┘ │  │ └───tracepoint───┘ └──breakpoint──┘
//           │ PMU                    └──┴ modifiers of the event and of the group
//           └ modifiers
//
//   list        = item { "," item }
//   item        = event | [ name ] "{" event { "," event } "}" [ ":" modifiers ]
//   event       = word [ "/" terms "/" ] [ [ ":" ] modifiers ]   cycles  L1-dcache-loads/freq=99/u
//               | pmu "/" terms "/" [ modifiers ]                cpu/event=0x3c/  msr/tsc/
//               | "r" HEX …  |  TYPE ":" CONFIG …                r1a8  1:0
//               | system ":" name …                              sched:sched_switch  sched:*
//               | "mem:" ADDRESS [ "/" LENGTH ] [ ":" access ] [ ":" modifiers ]
//               | path ":" symbol [ "+" OFFSET ] [ "%return" ] [ ":" modifiers ]
//               | "kprobe:" symbol [ "+" OFFSET ] [ "%return" ] [ ":" modifiers ]
//               | [ path ":" ] "%" provider ":" name [ ":" modifiers ]
//   terms       = term { "," term }       term = name [ "=" value ]
//   access      = letters of r w x
//   modifiers   = letters of u k h H G p P S D I W e b
//
// A path begins with "/", "./" or "../". Static probes (USDT) may also be typed as tracepoints,
// provider ":" name; find_events.h tries tracepoints first. The kind of an event depends only on the text;
// find_events.h checks later whether the machine has the event. Spaces around events are ignored.
//
// Source: tools/perf/util/parse-events.y, and the answers of perf 7.2.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "src/base/status.h"

namespace profiler::events {

// The letters after an event or a group, as typed. modifiers.h translates them for the attr.
struct Modifiers {
  std::string letters;
  size_t position = 0;  // offset of the first letter in the whole text, in bytes

  bool has(char letter) const { return letters.find(letter) != std::string::npos; }
};

// A term between the slashes of an event: "period=1000".
struct Term {
  std::string name;
  std::string value;
  bool has_value = false;
  size_t position = 0;
  size_t value_position = 0;
};

// A named event: "cycles", "L1-dcache-loads", or the name of an event of a PMU.
struct Word {
  std::string name;
};
// An event given by numbers: "r1a8" is {PERF_TYPE_RAW, 0x1a8}, "1:0" is {1, 0}.
struct NumberedEvent {
  uint32_t type = 0;
  uint64_t config = 0;
};
// A PMU; the event's terms say what it counts.
struct PmuEvent {
  std::string pmu;
};
// A tracepoint, or all tracepoints that match: both strings may be patterns with *, ? and […].
struct TracepointEvent {
  std::string system;
  std::string name;
};
struct Breakpoint {
  uint64_t address = 0;
  uint64_t length = 0;
  uint32_t accesses = 0;  // bits HW_BREAKPOINT_R, _W and _X
};
struct Probe {
  std::string path;  // path of the program or library; empty for a kernel function
  std::string symbol;
  uint64_t offset = 0;  // distance from the symbol, in bytes
  bool at_return = false;
};

// Static probes (USDT) by name: both names may be patterns.
struct NamedProbe {
  std::string path;  // path of the program or library; empty: all files that are searched
  std::string provider;
  std::string name;
};

struct EventText {
  std::variant<Word, NumberedEvent, PmuEvent, TracepointEvent, Breakpoint, Probe, NamedProbe> what;
  std::vector<Term> terms;
  Modifiers modifiers;
  std::string text;     // the event as typed; also its name if no term sets a name
  size_t position = 0;  // offset of `text` in the whole text, in bytes
};

// Events that are counted together. An event without braces is a group of its own.
struct EventGroup {
  bool in_braces = false;
  std::string name;
  std::vector<EventText> events;  // never empty
  Modifiers modifiers;
};

// Parses a list of events. Error: kInvalidArgument; the message says what is wrong, and an excerpt
// (WithExcerpt) marks the position of the error:
//
//   cycles:q: no modifier 'q'; there are u k h H G p P S D I W e b
//     cycles:q
//            ^
absl::StatusOr<std::vector<EventGroup>> ParseEventList(std::string_view text);

// Returns an error whose message is `text`, a colon and `message`. Its excerpt marks the byte at
// `position` of `text`, the whole typed text, as in ParseEventList.
absl::Status ErrorAt(std::string_view text, size_t position, std::string_view message,
                     absl::StatusCode code = absl::StatusCode::kInvalidArgument);

// True if the name is a pattern, because it contains one of * ? [.
bool IsPattern(std::string_view name);

// Returns 0x1a8 for "r1a8"; nullopt for other words.
std::optional<uint64_t> RawConfig(std::string_view word);

// Parses a decimal number, or a hexadecimal one after 0x; nullopt for other text.
std::optional<uint64_t> NumberOf(std::string_view text);

}  // namespace profiler::events
