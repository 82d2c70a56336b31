#include "src/machine/events/tracing_data.h"

#include <unistd.h>

#include <bit>
#include <cstdint>
#include <map>
#include <string_view>

#include "src/base/byte_reader.h"

namespace profiler::events {
namespace {

using namespace std::string_view_literals;

template <class Size>
void Append(Size size, std::string& out) {
  out += TextOf(BytesOf(size));
}

// Appends a file of tracefs after its size. A file that cannot be read is empty, because only
// formats matter.
template <class Size>
void AppendFile(const std::string& path, std::string& out) {
  std::string text;
  if (!procfs::ReadFile(path, &text).ok()) text.clear();
  Append(static_cast<Size>(text.size()), out);
  out += text;
}

}  // namespace

absl::StatusOr<std::string> TracingData(const procfs::Roots& roots,
                                        const std::vector<Tracepoint>& tracepoints) {
  PROFILER_ASSIGN_OR_RETURN(const std::string tracing, TracingDirectory(roots));
  std::string out("\x17\x08\x44tracing0.6\0"sv);
  out += static_cast<char>(std::endian::native == std::endian::big);
  out += static_cast<char>(sizeof(long));
  Append(static_cast<uint32_t>(sysconf(_SC_PAGESIZE)), out);
  for (const std::string_view name : {"header_page\0"sv, "header_event\0"sv}) {
    out += name;
    AppendFile<uint64_t>(tracing + "/events/" + name.data(), out);
  }
  Append(uint32_t{0}, out);
  // Text of each format file, keyed by system, then by name.
  std::map<std::string, std::map<std::string, std::string>> formats;
  for (const Tracepoint& tracepoint : tracepoints) {
    PROFILER_ASSIGN_OR_RETURN(formats[tracepoint.system][tracepoint.name],
                              TracepointFormat(roots, tracepoint));
  }
  Append(static_cast<uint32_t>(formats.size()), out);
  for (const auto& [system, events] : formats) {
    out.append(system.c_str(), system.size() + 1);
    Append(static_cast<uint32_t>(events.size()), out);
    for (const auto& [name, format] : events) {
      Append(uint64_t{format.size()}, out);
      out += format;
    }
  }
  Append(uint32_t{0}, out);
  AppendFile<uint32_t>(tracing + "/printk_formats", out);
  AppendFile<uint64_t>(tracing + "/saved_cmdlines", out);
  return out;
}

}  // namespace profiler::events
