// Fuzzes data that a fleet's machines keep (segments, the journal of pushed segments) and data that
// they receive (answers of servers).

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "absl/strings/numbers.h"
#include "src/base/byte_reader.h"
#include "src/fleet/clickhouse/row_binary.h"
#include "src/fleet/clickhouse/stacks_answer.h"
#include "src/fleet/push/http_answer.h"
#include "src/fleet/push/journal.h"
#include "src/fleet/segments/segment.h"
#include "src/fleet/segments/testing/window_text.h"
#include "src/fleet/segments/window.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/scratch_directory.h"

namespace profiler::fuzz {
namespace {

using fleet::Window;

// Corrects the checksums, so that mutations reach the data behind them. One checksum follows the
// head, and one follows the body. The head's size follows the 8 bytes of the magic.
void PutRightSums(Bytes& segment) {
  constexpr size_t kMagic = 8, kSum = sizeof(uint64_t);
  uint32_t head = 0;
  if (segment.size() < kMagic + sizeof(head) + 2 * kSum) return;
  std::memcpy(&head, &segment[kMagic], sizeof(head));
  const size_t begin = kMagic + sizeof(head);
  if (head > segment.size() - begin - 2 * kSum) return;
  const auto put = [&segment](size_t from, size_t to) {
    const uint64_t sum = XXH3_64bits(segment.data() + from, to - from);
    std::memcpy(&segment[to], &sum, kSum);
  };
  put(0, begin + head);
  put(begin + head + kSum, segment.size() - kSum);
}

void CheckWindow(const Window& window) {
  for (size_t i = 0; i < window.stacks.size(); ++i) {
    const fleet::StackNode& node = window.stacks[i];
    Require(node.caller == fleet::kNoCaller || node.caller < i, "callers come first");
    Require(node.frame < window.frames.size(), "a stack's frame exists");
  }
  for (const fleet::Row& row : window.rows) {
    Require(row.stack < window.stacks.size() && row.event < window.events.size() &&
                row.workload < window.workloads.size(),
            "what a row is of exists");
  }
  Require(fleet::StackHashes(window).size() == window.stacks.size(), "each stack has a hash");
}

void ReadSegment(std::span<const std::byte> bytes) {
  const auto head = fleet::ReadSegmentHead(bytes);
  const auto window = fleet::DecodeSegment(bytes);
  if (!window.ok()) {
    Require(!window.status().message().empty(), "an error says what is wrong");
    return;
  }
  Require(head.ok() && head->rows == window->rows.size(), "the head says how many rows there are");
  CheckWindow(*window);
  const std::string again = fleet::EncodeSegment(*window);
  const auto same = fleet::DecodeSegment(std::as_bytes(std::span(again)));
  // Encoding may fail to give a readable segment: the input's head may be longer than this version
  // of the reader knows.
  if (!same.ok()) return;
  Require(same->rows == window->rows && same->host == window->host, "a segment is written as read");
}

void RunSegment(std::span<const std::byte> input) {
  ReadSegment(input);
  Bytes sealed(input.begin(), input.end());
  PutRightSums(sealed);
  ReadSegment(sealed);
}

std::vector<Bytes> SegmentSeeds() {
  return {ToBytes(fleet::EncodeSegment(Window())),
          ToBytes(fleet::EncodeSegment(fleet::WebAndDatabase().Finish()))};
}

constexpr char kDestination[] = "clickhouse+http://h/d";

// Returns the name of the only journal in a directory.
std::string JournalIn(const ScratchDirectory& directory) {
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
    if (entry.path().extension() == ".journal") return entry.path().filename().string();
  }
  Require(false, "a journal has a file");
  return {};
}

// Corrects the hash at the end of each line, so that mutations reach the text before it.
std::string WithRightHashes(std::string_view text) {
  constexpr size_t kHash = 17;  // size of a hash: a blank and 16 digits
  std::string lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end < kHash ? end : end - kHash);
    char hash[kHash + 2];
    std::snprintf(hash, sizeof(hash), " %016llx\n",
                  static_cast<unsigned long long>(XXH3_64bits(line.data(), line.size())));
    lines.append(line).append(hash);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

void ReadJournal(std::span<const std::byte> content) {
  static const ScratchDirectory& directory = *new ScratchDirectory();
  static const std::string& name = *[] {
    Require(fleet::PushJournal::Open(directory.path(), kDestination, {}).ok(), "a journal is made");
    return new std::string(JournalIn(directory));
  }();
  directory.Write(name, content);
  const auto peeked = fleet::PushJournal::Peek(directory.path(), kDestination);
  const auto opened = fleet::PushJournal::Open(directory.path(), kDestination, {"a", "b"});
  Require(peeked.ok() == opened.ok(), "who looks sees what who writes sees");
  if (!opened.ok()) {
    Require(!opened.status().message().empty(), "an error says what is wrong");
    return;
  }
  Require(peeked->in_flight() == opened->in_flight(), "the batch that was on its way is known");
  for (const char* segment : {"a", "b"}) {
    Require(peeked->IsDone(segment) == opened->IsDone(segment), "what was sent is known");
  }
  // Open() has rewritten the journal. The new journal must say the same.
  const auto again = fleet::PushJournal::Peek(directory.path(), kDestination);
  Require(again.ok(), "what is written can be read");
  Require(again->in_flight() == opened->in_flight(), "the batch on its way is written anew");
  for (const char* segment : {"a", "b"}) {
    Require(again->IsDone(segment) == opened->IsDone(segment), "what was sent is written anew");
  }
}

void RunJournal(std::span<const std::byte> input) {
  ReadJournal(input);
  const std::string sealed = WithRightHashes(TextOf(input));
  ReadJournal(std::as_bytes(std::span(sealed)));
}

std::vector<Bytes> JournalSeeds() {
  std::string text = std::string("profiler push 1 ") + kDestination + "0123456789abcdefg\n";
  for (const char* line : {"flight a b", "done", "flight b", "skip b HTTP 413", "sent a c"}) {
    text.append(line).append("0123456789abcdefg\n");
  }
  return {ToBytes(WithRightHashes(text))};
}

// Reads three answers from one input. The size of each answer precedes it.
void RunAnswer(std::span<const std::byte> input) {
  fleet::clickhouse::RowReader parts(TextOf(input));
  const fleet::clickhouse::StacksAnswer answer = {
      .rows = parts.Text(), .stacks = parts.Text(), .windows = parts.Text()};
  for (const bool apart : {false, true}) {
    std::vector<std::string> notes;
    const auto windows = fleet::clickhouse::WindowsOf(
        answer, {.tells_hosts_apart = apart, .tells_times_apart = apart}, &notes);
    if (!windows.ok()) {
      Require(!windows.status().message().empty(), "an error says what is wrong");
      continue;
    }
    for (const Window& window : *windows) CheckWindow(window);
  }
}

Bytes AnswerSeed(bool apart) {
  std::string rows, stacks, windows, all;
  fleet::clickhouse::RowWriter row(rows), stack(stacks), window(windows), part(all);
  for (const uint64_t hash : {uint64_t{7}, uint64_t{8}}) {
    if (apart) {
      row.Text("h");
      row.Number(uint32_t{1'700'000'000});
      row.Number(uint32_t{5});
    }
    for (const char* text : {"cpu-clock", "web", "app", "", "", "ab"}) row.Text(text);
    for (const uint64_t number : {hash, uint64_t{3}, uint64_t{30}}) row.Number(number);
  }
  stack.Number(uint64_t{7});
  for (const char* texts : {"mf", "ab"}) {
    stack.Size(2);
    for (size_t i = 0; i < 2; ++i) stack.Text(std::string_view(texts + i, 1));
  }
  if (apart) {
    window.Number(uint32_t{1'700'000'000});
    window.Number(uint32_t{5});
  }
  window.Text("h");
  for (const char* text : {"region", "eu"}) {
    window.Size(1);
    window.Text(text);
  }
  window.Number(49.0);
  window.Number(uint32_t{4});
  window.Text("1.0");
  for (const uint64_t number : {100, 200, 1, 3, 1}) window.Number(number);
  for (const std::string* text : {&rows, &stacks, &windows}) part.Text(*text);
  return ToBytes(all);
}

std::vector<Bytes> AnswerSeeds() { return {AnswerSeed(false), AnswerSeed(true)}; }

// Reads a server's answer to a batch. The input is a line with the status, a line with Retry-After,
// and the body.
void RunHttpAnswer(std::span<const std::byte> input) {
  std::string_view text = TextOf(input);
  const auto take_line = [&] {
    const std::string line(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    return line;
  };
  http::Response response;
  if (!absl::SimpleAtoi(take_line(), &response.status)) response.status = 503;
  response.headers.emplace_back("retry-after", take_line());
  response.body = text;
  const fleet::Delivery delivery = fleet::DeliveryOf(response);
  for (const char byte : delivery.reason) {
    Require(static_cast<unsigned char>(byte) >= 0x20 && byte != 0x7f, "a reason is one line");
  }
  Require(!delivery.wait || delivery.wait->count() >= 0, "nobody waits for the past");
  Require(delivery.outcome == fleet::Delivery::Outcome::kDelivered || !delivery.reason.empty(),
          "what was not delivered has a reason");
}

std::vector<Bytes> HttpAnswerSeeds() {
  return {ToBytes("200\n\n"), ToBytes("429\n30\nslow down\n"),
          ToBytes("503\nSun, 06 Nov 2033 08:49:37 GMT\n<html>\n<body>\033[1mno\n"),
          ToBytes("413\n-1\n{\"error\":\"too large\"}")};
}

}  // namespace

FuzzTarget SegmentTarget() {
  return {"segment", "segments of a fleet's windows", RunSegment, SegmentSeeds};
}
FuzzTarget JournalTarget() {
  return {.name = "push_journal",
          .what = "what of segments was pushed",
          .run = RunJournal,
          .seeds = JournalSeeds,
          .is_slow = true};
}
FuzzTarget AnswerTarget() {
  return {"clickhouse_answer", "stacks that a ClickHouse server says", RunAnswer, AnswerSeeds};
}
FuzzTarget HttpAnswerTarget() {
  return {"http_answer", "what a server says of a batch", RunHttpAnswer, HttpAnswerSeeds};
}

}  // namespace profiler::fuzz
