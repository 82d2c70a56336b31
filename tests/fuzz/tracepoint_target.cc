// Fuzzes the formats of tracepoints in recordings, and the records that they describe.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/byte_reader.h"
#include "src/machine/events/trace_print.h"
#include "src/machine/events/trace_printer.h"
#include "tests/fuzz/fuzz_target.h"

namespace profiler::fuzz {
namespace {

// An input is the size of a record in one byte, the record, and the text of a format file. The text
// is also read as a whole section.
void RunTracepoints(std::span<const std::byte> input) {
  if (input.empty()) return;
  const size_t size = std::min(std::to_integer<size_t>(input[0]), input.size() - 1);
  const std::span<const std::byte> record = input.subspan(1, size);
  const std::string_view text = TextOf(input.subspan(1 + size));
  if (const auto printer = events::TracePrinter::Parse(text); printer.ok()) {
    std::string parts;
    (void)printer->AppendParts(record, {.fields = {{"", "comm"}}}, &parts);
  }
  const auto print = events::TracePrint::Compile(text);
  if (!print) return;
  constexpr size_t kMostText = size_t{2} << 20;
  std::string first, second;
  const bool is_printed = print->Append(record, &first);
  Require(is_printed || first.empty(), "a record that is left has no text");
  Require(first.size() <= kMostText, "a record has a short text");
  Require(print->Append(record, &second) == is_printed && first == second,
          "a record has the same text each time");
  for (const events::TraceEventField& field : print->event().fields) {
    std::string value;
    const bool is_known = print->AppendField(field.name, first, record, &value);
    Require(is_known || value.empty(), "a field that is left has no value");
  }
}

std::string FormatOf(std::string_view print) {
  return "name: e\nID: 7\nformat:\n"
         "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
         "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
         "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
         "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
         "\n"
         "\tfield:char comm[8];\toffset:8;\tsize:8;\tsigned:0;\n"
         "\tfield:__data_loc char[] name;\toffset:16;\tsize:4;\tsigned:0;\n"
         "\tfield:__rel_loc u8[] data;\toffset:20;\tsize:4;\tsigned:0;\n"
         "\tfield:unsigned long flags;\toffset:24;\tsize:8;\tsigned:0;\n"
         "\tfield:s16 words[4];\toffset:32;\tsize:8;\tsigned:1;\n"
         "\n"
         "print fmt: " +
         std::string(print) + "\n";
}

std::vector<Bytes> TracepointSeeds() {
  using namespace std::string_view_literals;
  constexpr std::string_view kRecord =
      "\x30\x07\0\0\0\1\0\0\0bash\0\0\0\0\x28\0\4\0\x14\0\4\0"
      "\5\0\0\0\0\0\0\0\1\0\2\0\3\0\4\0abc\0def\0"sv;
  std::vector<Bytes> seeds;
  for (
      const std::string_view print :
      {R"("comm=%s name=%s [%03d] %08lx %-8s|%.*s", REC->comm, __get_str(name), REC->common_pid, )"
       R"(REC->flags, REC->comm, 3, REC->comm)"sv,
       R"("%s %s", __print_flags(REC->flags, "|", {(1 << 0), "A"}, {0x4, "B"}), )"
       R"(__print_symbolic(REC->words[1], {1, "one"}, {2, "two"}))"sv,
       R"("%d %d %s %pS %p", ((unsigned int) ((REC->flags) >> 2)), (REC->flags & ((1U << 2) - 1)), )"
       R"(REC->flags ? "y" : "n", (void *)REC->flags, REC->words[3] / REC->common_flags)"sv,
       R"("%u %#x %lld", __get_rel_dynamic_array_len(data), -REC->common_pid, ~REC->flags)"sv}) {
    seeds.push_back(ToBytes(std::string(kRecord) + FormatOf(print)));
  }
  return seeds;
}

}  // namespace

FuzzTarget TracepointTarget() {
  return {"tracepoints", "formats of tracepoints", RunTracepoints, TracepointSeeds};
}

}  // namespace profiler::fuzz
