#include "src/views/interchange/testing/pprof_text.h"

#include <cstdint>
#include <map>
#include <protozero/pbf_reader.hpp>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "src/base/gzip.h"

namespace profiler::exports {
namespace {

using protozero::pbf_reader;

// The fields of a message by number, in the order of the message.
struct Fields {
  std::multimap<uint32_t, uint64_t> numbers;
  std::multimap<uint32_t, std::string> bytes;

  explicit Fields(std::string_view message) {
    pbf_reader reader(message.data(), message.size());
    while (reader.next()) {
      const uint32_t tag = reader.tag();  // reading the value resets the tag
      if (reader.wire_type() == protozero::pbf_wire_type::varint) {
        numbers.emplace(tag, reader.get_uint64());
      } else {
        bytes.emplace(tag, reader.get_string());
      }
    }
  }
  uint64_t Number(uint32_t tag) const {
    const auto found = numbers.find(tag);
    return found == numbers.end() ? 0 : found->second;
  }
  std::vector<Fields> Messages(uint32_t tag) const {
    std::vector<Fields> messages;
    for (auto [at, end] = bytes.equal_range(tag); at != end; ++at) {
      messages.emplace_back(at->second);
    }
    return messages;
  }
  std::vector<int64_t> Packed(uint32_t tag) const {
    std::vector<int64_t> values;
    const auto found = bytes.find(tag);
    if (found == bytes.end()) return values;
    const char* at = found->second.data();
    const char* const end = at + found->second.size();
    while (at < end) values.push_back(static_cast<int64_t>(protozero::decode_varint(&at, end)));
    return values;
  }
};

}  // namespace

std::string PprofText(std::string_view gzipped) {
  const Fields profile(Gunzip(gzipped).value_or(""));
  std::vector<std::string> strings;
  for (auto [at, end] = profile.bytes.equal_range(6); at != end; ++at) {
    strings.push_back(at->second);
  }
  std::map<uint64_t, std::string> functions, locations;
  for (const Fields& function : profile.Messages(5)) {
    const std::string& file = strings[function.Number(4)];
    functions[function.Number(1)] =
        strings[function.Number(2)] + (file.empty() ? "" : absl::StrCat("@", file));
  }
  for (const Fields& location : profile.Messages(4)) {
    std::vector<std::string> lines;
    for (const Fields& line : location.Messages(4)) {
      const uint64_t number = line.Number(2);
      lines.push_back(functions[line.Number(1)] + (number == 0 ? "" : absl::StrCat(":", number)));
    }
    locations[location.Number(1)] = absl::StrJoin(lines, "=");
  }
  std::string text = "types";
  for (const Fields& type : profile.Messages(1)) {
    absl::StrAppend(&text, " ", strings[type.Number(1)], "/", strings[type.Number(2)]);
  }
  text += "\n";
  for (const Fields& sample : profile.Messages(2)) {
    std::vector<std::string> stack;
    for (const int64_t id : sample.Packed(1)) stack.push_back(locations[static_cast<uint64_t>(id)]);
    absl::StrAppend(&text, absl::StrJoin(sample.Packed(2), " "), " ", absl::StrJoin(stack, "<"));
    for (const Fields& label : sample.Messages(3)) {
      absl::StrAppend(&text, " ", strings[label.Number(1)], "=");
      if (label.Number(2) != 0) absl::StrAppend(&text, strings[label.Number(2)]);
      if (label.Number(2) == 0) absl::StrAppend(&text, label.Number(3));
    }
    text += "\n";
  }
  for (const Fields& mapping : profile.Messages(3)) {
    absl::StrAppendFormat(&text, "mapping 0x%x-0x%x+0x%x %s", mapping.Number(2), mapping.Number(3),
                          mapping.Number(4), strings[mapping.Number(5)]);
    if (mapping.Number(6) != 0) absl::StrAppend(&text, " build-id ", strings[mapping.Number(6)]);
    text += "\n";
  }
  return text;
}

}  // namespace profiler::exports
