#include "src/format/perf_data/read/tracepoint_names.h"

#include <charconv>
#include <optional>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/format/perf_event/tracing_data_reader.h"

namespace profiler::perf_data {
namespace {

// Returns the text after `key` on a line of a format file that begins with `key`; empty if there is
// no such line.
std::string_view ValueOf(std::string_view key, std::string_view format) {
  const size_t at = format.find(key);
  if (at == std::string_view::npos || (at != 0 && format[at - 1] != '\n')) return {};
  const std::string_view rest = format.substr(at + key.size());
  return rest.substr(0, rest.find('\n'));
}

}  // namespace

absl::flat_hash_map<uint64_t, std::string> TracepointNames(std::string_view section) {
  absl::flat_hash_map<uint64_t, std::string> names;
  perf_event::TracingDataReader in(section);
  while (const std::optional<perf_event::TraceFormat> format = in.Next()) {
    const std::string_view name = ValueOf("name: ", format->text);
    const std::string_view id = ValueOf("ID: ", format->text);
    uint64_t number = 0;
    if (format->system.empty() || name.empty() ||
        std::from_chars(id.data(), id.data() + id.size(), number).ec != std::errc()) {
      continue;
    }
    names.try_emplace(number, absl::StrCat(View(format->system), ":", View(name)));
  }
  return names;
}

}  // namespace profiler::perf_data
