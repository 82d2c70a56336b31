// Fuzzes the events that users type after -e.

#include <string>
#include <string_view>

#include "src/base/byte_reader.h"
#include "src/base/status.h"
#include "src/machine/events/event_text.h"
#include "src/machine/events/find_events.h"
#include "tests/fuzz/fuzz_target.h"

namespace profiler::fuzz {
namespace {

void RunEvents(std::span<const std::byte> input) {
  const std::string_view text = TextOf(input);
  const auto groups = events::ParseEventList(text);
  if (!groups.ok()) {
    Require(!ExcerptOf(groups.status()).empty(), "an error shows what was typed");
    return;
  }
  for (const events::EventGroup& group : *groups) {
    for (const events::EventText& event : group.events) {
      Require(text.substr(event.position, event.text.size()) == event.text,
              "an event is called as it was typed");
      const auto alone = events::ParseEventList(event.text);
      Require(alone.ok() && alone->size() == 1 && !alone->front().in_braces,
              "an event of a list is one by itself");
      Require(alone->front().events.front().what.index() == event.what.index() &&
                  alone->front().events.front().modifiers.letters == event.modifiers.letters,
              "an event means by itself what it means in a list");
    }
  }
  // On a machine without PMUs and tracepoints, only generic events are found.
  const auto found = events::FindEvents({.proc = "/nonexistent", .sys = "/nonexistent"}, text);
  if (!found.ok()) return;
  for (size_t i = 0; i < found->size(); ++i) {
    Require((*found)[i].leader <= i, "a leader stands in front of its group");
  }
}

std::vector<Bytes> EventSeeds() {
  std::vector<Bytes> seeds;
  for (const std::string_view text :
       {"cycles:u", "{cpu-clock,page-faults:k}:SD", "cpu/event=0x3c,umask=1,name='a b'/ppp", "r1a8",
        "1:0x3:H", "sched:sched_*:u", "mem:0x601040/8:rw:k", "/bin/x:ns::f(int, a<b>)+0x4%return:u",
        "kprobe:do_exit", "L1-dcache-load-misses/freq=99,call-graph=dwarf/,cs", "mine{cs}:W",
        "%libc:setjmp", "/bin/x:%sdt_p:n*:u"}) {
    const auto bytes = std::as_bytes(std::span(text));
    seeds.emplace_back(bytes.begin(), bytes.end());
  }
  return seeds;
}

}  // namespace

FuzzTarget EventTarget() {
  return {"events", "what a person types behind -e", RunEvents, EventSeeds};
}

}  // namespace profiler::fuzz
