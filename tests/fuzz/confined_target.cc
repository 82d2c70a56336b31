// Fuzzes answers of the confined process. A hostile file may have taken over this process.

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/byte_reader.h"
#include "symbolize/confined/facts_protocol.h"
#include "tests/fuzz/fuzz_target.h"

namespace profiler::fuzz {
namespace {

using symbolize::AddressFacts;
using symbolize::ContentWriter;
using symbolize::FactsReader;
using symbolize::FactsWriter;

std::string Written(const std::vector<AddressFacts>& facts) {
  FactsWriter writer;
  for (const AddressFacts& one : facts) writer.Add(one);
  return writer.Take();
}

void ReadFacts(std::string_view content, size_t count) {
  std::deque<std::string> storage, storage_again;
  FactsReader reader(storage), reader_again(storage_again);
  const auto facts = reader.Read(content, count);
  if (!facts.ok()) return;
  Require(facts->size() == count, "as many facts are read as were asked for");
  for (const AddressFacts& one : *facts) {
    Require(one.reason != symbolize::Reason::kNamed || one.function, "a name has its function");
  }
  const std::string written = Written(*facts);
  const auto again = reader_again.Read(written, count);
  Require(again.ok() && Written(*again) == written,
          "facts that were written are read as they were");
}

void ReadOthers(std::span<const std::byte> content) {
  ByteReader from(content);
  const symbolize::ImageSpec spec = symbolize::ReadSpec(from);
  const CodePlace place = symbolize::ReadPlace(from);
  const absl::Status status = symbolize::ReadStatus(from);
  if (!from.ok()) return;
  ContentWriter to;
  symbolize::PutSpec(spec, to);
  symbolize::PutPlace(place, to);
  symbolize::PutStatus(status, to);
}

// Reads an answer. The input is { u8 number of facts; content }. If the number is 0, the content is
// an image spec, a place and a status.
void ReadAnswer(std::span<const std::byte> input) {
  if (input.empty()) return;
  const auto count = std::to_integer<size_t>(input[0]);
  if (count == 0) return ReadOthers(input.subspan(1));
  ReadFacts(TextOf(input.subspan(1)), count);
}

Bytes Seed(size_t count, std::string_view content) {
  const std::span<const std::byte> bytes = BytesOfText(content);
  Bytes seed(bytes.begin(), bytes.end());
  seed.insert(seed.begin(), std::byte(count));
  return seed;
}

std::vector<Bytes> AnswerSeeds() {
  const AddressFacts::Function function = {"main", {0x1000}, 16, true};
  const AddressFacts::Inlined inlined[] = {{"inner", {"a.h", 3, 1}}, {"outer", {"a.cc", 7, 2}}};
  AddressFacts named = {symbolize::Reason::kNamed, ElfAddress{0x1004}, function};
  named.neighbour = function;
  named.inlined = inlined;
  named.at = {"a.cc", 9, 0};
  named.has_debug_info = true;
  const AddressFacts unnamed = {symbolize::Reason::kNoSymbol, ElfAddress{0x2000}};
  ContentWriter others;
  symbolize::PutSpec({.path = "/bin/a", .build_id = {std::byte{1}, std::byte{2}}, .pid = 7},
                     others);
  symbolize::PutPlace(FileOffset{0x1000}, others);
  symbolize::PutStatus(absl::NotFoundError("/bin/a: No such file or directory"), others);
  return {Seed(1, Written({named})), Seed(3, Written({named, unnamed, named})),
          Seed(0, std::move(others).Take())};
}

}  // namespace

FuzzTarget ConfinedTarget() {
  return {"confined", "what a confined process says", ReadAnswer, AnswerSeeds};
}

}  // namespace profiler::fuzz
