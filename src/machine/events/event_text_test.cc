#include "src/machine/events/event_text.h"

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gtest/gtest.h"

namespace profiler::events {
namespace {

std::string Shown(const Word& word) { return "word " + word.name; }
std::string Shown(const NumberedEvent& event) {
  return absl::StrFormat("number %d:%#x", event.type, event.config);
}
std::string Shown(const PmuEvent& event) { return "pmu " + event.pmu; }
std::string Shown(const TracepointEvent& event) {
  return absl::StrCat("tracepoint ", event.system, " ", event.name);
}
std::string Shown(const Breakpoint& breakpoint) {
  return absl::StrFormat("breakpoint %#x %d access %d", breakpoint.address, breakpoint.length,
                         breakpoint.accesses);
}
std::string Shown(const Probe& probe) {
  return absl::StrFormat("probe %s %s+%d%s", probe.path.empty() ? "kernel" : probe.path,
                         probe.symbol, probe.offset, probe.at_return ? " return" : "");
}

std::string Shown(const NamedProbe& probe) {
  return absl::StrCat("static probe ", probe.path.empty() ? "anywhere" : probe.path, " ",
                      probe.provider, " ", probe.name);
}

// Formats events: "cpu-clock/freq=9/u" → "word cpu-clock (freq=9) :u"; groups are in braces.
std::string Parsed(std::string_view text) {
  const auto groups = ParseEventList(text);
  if (!groups.ok()) {
    return absl::StrCat(groups.status().message(), "\n", ExcerptOf(groups.status()));
  }
  std::string shown;
  for (const EventGroup& group : *groups) {
    if (!shown.empty()) shown += ", ";
    if (group.in_braces) shown += group.name + "{";
    for (const EventText& event : group.events) {
      if (&event != &group.events.front()) shown += ", ";
      shown += std::visit([](const auto& what) { return Shown(what); }, event.what);
      for (const Term& term : event.terms) {
        absl::StrAppend(&shown, " (", term.name, term.has_value ? "=" : "", term.value, ")");
      }
      if (!event.modifiers.letters.empty()) absl::StrAppend(&shown, " :", event.modifiers.letters);
    }
    if (group.in_braces) shown += "}";
    if (!group.modifiers.letters.empty()) absl::StrAppend(&shown, ":", group.modifiers.letters);
  }
  return shown;
}

TEST(EventTextTest, NamesHaveTermsAndModifiers) {
  EXPECT_EQ(Parsed("cycles"), "word cycles");
  EXPECT_EQ(Parsed("cycles:u"), "word cycles :u");
  EXPECT_EQ(Parsed("cycles:uppp"), "word cycles :uppp");
  EXPECT_EQ(Parsed("L1-dcache-load-misses:k"), "word L1-dcache-load-misses :k");
  EXPECT_EQ(Parsed("cpu-clock/freq=1000,call-graph=fp/u"),
            "word cpu-clock (freq=1000) (call-graph=fp) :u");
  EXPECT_EQ(Parsed("cpu-clock/name='a, b/c'/"), "word cpu-clock (name=a, b/c)");
  EXPECT_EQ(Parsed("cpu-clock//u"), "word cpu-clock :u");
  EXPECT_EQ(Parsed("mem-loads:P"), "word mem-loads :P");
  EXPECT_EQ(Parsed("cpu-clock:"), "word cpu-clock");
}

TEST(EventTextTest, ListsAreSeparatedByCommas) {
  EXPECT_EQ(Parsed("cs,faults:u"), "word cs, word faults :u");
  EXPECT_EQ(Parsed(" cs , faults "), "word cs, word faults");
}

TEST(EventTextTest, RawAndNumberedEventsAreNumbers) {
  EXPECT_EQ(Parsed("r1a8"), "number 4:0x1a8");
  EXPECT_EQ(Parsed("r0x1A8:u"), "number 4:0x1a8 :u");
  EXPECT_EQ(Parsed("1:0"), "number 1:0");
  EXPECT_EQ(Parsed("0:0x2:k"), "number 0:0x2 :k");
  EXPECT_EQ(Parsed("raw_syscalls:sys_enter"), "tracepoint raw_syscalls sys_enter");
  EXPECT_EQ(Parsed("ref-cycles"), "word ref-cycles");
}

TEST(EventTextTest, PmusHaveTermsBetweenSlashes) {
  EXPECT_EQ(Parsed("cpu/event=0x3c,umask=1/p"), "pmu cpu (event=0x3c) (umask=1) :p");
  EXPECT_EQ(Parsed("msr/tsc/"), "pmu msr (tsc)");
  EXPECT_EQ(Parsed("uncore_*/clockticks/,msr/tsc/"), "pmu uncore_* (clockticks), pmu msr (tsc)");
}

TEST(EventTextTest, StaticProbesHaveAPercentSign) {
  EXPECT_EQ(Parsed("%libc:setjmp"), "static probe anywhere libc setjmp");
  EXPECT_EQ(Parsed("{/lib/x.so:%sdt_libc:lll_*:u,cs}"),
            "{static probe /lib/x.so sdt_libc lll_* :u, word cs}");
  EXPECT_EQ(Parsed("sdt_libc:setjmp,hotspot:class__loaded"),
            "tracepoint sdt_libc setjmp, tracepoint hotspot class__loaded");
  EXPECT_EQ(Parsed("%libc"),
            "%libc: %PROVIDER:NAME is expected\n"
            "  %libc\n"
            "       ^\n");
  EXPECT_EQ(Parsed("/bin/x:%libc:"),
            "/bin/x:%libc:: %PROVIDER: is followed by the name of a static probe\n"
            "  /bin/x:%libc:\n"
            "               ^\n");
}

TEST(EventTextTest, TracepointsAreSystemAndName) {
  EXPECT_EQ(Parsed("sched:sched_switch"), "tracepoint sched sched_switch");
  EXPECT_EQ(Parsed("syscalls:sys_enter_*:u"), "tracepoint syscalls sys_enter_* :u");
  EXPECT_EQ(Parsed("sched:sched_switch/period=3/"), "tracepoint sched sched_switch (period=3)");
  EXPECT_EQ(Parsed("*:*"), "tracepoint * *");
}

TEST(EventTextTest, BreakpointsHaveAnAddressALengthAndAccesses) {
  EXPECT_EQ(Parsed("mem:0x10"), "breakpoint 0x10 4 access 3");
  EXPECT_EQ(Parsed("mem:0x10/2:w:u"), "breakpoint 0x10 2 access 2 :u");
  EXPECT_EQ(Parsed("mem:0x10:x"), "breakpoint 0x10 8 access 4");
  EXPECT_EQ(Parsed("mem:16/1:rw"), "breakpoint 0x10 1 access 3");
  EXPECT_EQ(Parsed("mem:0x10:u"), "breakpoint 0x10 4 access 3 :u");
}

TEST(EventTextTest, ProbesHaveAPathOrAreInTheKernel) {
  EXPECT_EQ(Parsed("/bin/x:main"), "probe /bin/x main+0");
  EXPECT_EQ(Parsed("./x:main+0x10"), "probe ./x main+16");
  EXPECT_EQ(Parsed("../x:main%return:u"), "probe ../x main+0 return :u");
  EXPECT_EQ(Parsed("/bin/x:ns::f(int, a<b>)+4,cs"), "probe /bin/x ns::f(int, a<b>)+4, word cs");
  EXPECT_EQ(Parsed("kprobe:do_nanosleep%return"), "probe kernel do_nanosleep+0 return");
}

TEST(EventTextTest, GroupsStandInBraces) {
  EXPECT_EQ(Parsed("{cs,faults:u}:S"), "{word cs, word faults :u}:S");
  EXPECT_EQ(Parsed("mine{cs},faults"), "mine{word cs}, word faults");
  EXPECT_EQ(Parsed("{cpu/event=1/,cs}:uD,dummy"), "{pmu cpu (event=1), word cs}:uD, word dummy");
}

TEST(EventTextTest, EventsAreCalledAsTheyWereTyped) {
  const auto groups = ParseEventList("{cs:u , mem:0x10/4:w}:k");
  ASSERT_TRUE(groups.ok());
  EXPECT_EQ(groups->front().events[0].text, "cs:u");
  EXPECT_EQ(groups->front().events[1].text, "mem:0x10/4:w");
}

TEST(EventTextTest, ErrorsShowWhereTheyAre) {
  EXPECT_EQ(Parsed("cycles:q"),
            "cycles:q: no modifier 'q': use u k h H G p P S D I W e b\n  cycles:q\n         ^\n");
  EXPECT_EQ(Parsed("cs,,faults"),
            "cs,,faults: no event's name begins with ','\n"
            "  cs,,faults\n"
            "     ^\n");
}

// Returns the first line of the error.
std::string Refusal(std::string_view text) {
  const std::string parsed = Parsed(text);
  EXPECT_NE(parsed.find('^'), std::string::npos) << text << " is taken as " << parsed;
  return parsed.substr(0, parsed.find('\n'));
}

TEST(EventTextTest, WhatIsWrongIsSaid) {
  EXPECT_EQ(Refusal(""), ": an event's name is missing");
  EXPECT_EQ(Refusal("cs,"), "cs,: an event's name is missing");
  EXPECT_EQ(Refusal("{cs"), "{cs: the '}' of a group is missing");
  EXPECT_EQ(Refusal("{}"), "{}: no event's name begins with '}'");
  EXPECT_EQ(Refusal("{{cs}}"), "{{cs}}: no event's name begins with '{'");
  EXPECT_EQ(Refusal("cs}"), "cs}: unexpected '}'");
  EXPECT_EQ(Refusal("cycles:uu"), "cycles:uu: modifier 'u' is given twice");
  EXPECT_EQ(Refusal("cycles:pppp"), "cycles:pppp: at most three 'p' are allowed");
  EXPECT_EQ(Refusal("cycles:u:k"), "cycles:u:k: unexpected ':'");
  EXPECT_EQ(Refusal("cpu/event=1"), "cpu/event=1: the '/' after the terms is missing");
  EXPECT_EQ(Refusal("cpu/event=/"), "cpu/event=/: a term's value is missing");
  EXPECT_EQ(Refusal("cpu/=1/"), "cpu/=1/: a term's name is missing");
  EXPECT_EQ(Refusal("cpu/a b/"), "cpu/a b/: no term has a ' ' here");
  EXPECT_EQ(Refusal("cpu/name='x/"), "cpu/name='x/: the quote is not closed");
  EXPECT_EQ(Refusal("mem:zz"),
            "mem:zz: the breakpoint's address must be a decimal or hexadecimal (0x…) number");
  EXPECT_EQ(Refusal("mem:0x10/q"),
            "mem:0x10/q: the breakpoint's length must be a decimal or hexadecimal (0x…) number");
  EXPECT_EQ(Refusal("mem:0x10:rw:z"),
            "mem:0x10:rw:z: no modifier 'z': use u k h H G p P S D I W e b");
  EXPECT_EQ(Refusal("/bin/x"), "/bin/x: the ':' and a symbol after the program's path are missing");
  EXPECT_EQ(Refusal("/bin/x:"), "/bin/x:: a symbol is missing");
  EXPECT_EQ(Refusal("99999999999:1"), "99999999999:1: TYPE:CONFIG: unknown type");
  EXPECT_EQ(Refusal("1:x"),
            "1:x: the number after TYPE: must be a decimal or hexadecimal (0x…) number");
}

}  // namespace
}  // namespace profiler::events
