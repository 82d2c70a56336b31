#include "src/format/perf_data/read/tracepoint_names.h"

#include <bit>
#include <charconv>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/format/perf_data/format/field_io.h"

namespace profiler::perf_data {
namespace {

using namespace std::string_view_literals;

// Returns the text after `key` on a line of a format file that begins with `key`; empty if there is
// no such line.
std::string_view ValueOf(std::string_view key, std::string_view format) {
  const size_t at = format.find(key);
  if (at == std::string_view::npos || (at != 0 && format[at - 1] != '\n')) return {};
  const std::string_view rest = format.substr(at + key.size());
  return rest.substr(0, rest.find('\n'));
}

class SectionReader {
 public:
  explicit SectionReader(std::string_view rest) : rest_(rest) {}

  bool ok() const { return ok_; }
  void SetSwapped(bool swapped) { swapped_ = swapped; }
  std::string_view Bytes(uint64_t size) {
    if (size > rest_.size()) ok_ = false;
    if (!ok_) return {};
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }
  std::string_view Line() {
    const size_t end = rest_.find('\0');
    if (end == std::string_view::npos) ok_ = false;
    if (!ok_) return {};
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return line;
  }
  uint32_t U32() {
    const std::string_view bytes = Bytes(sizeof(uint32_t));
    return ok_ ? FieldReader(BytesOfText(bytes), swapped_).U32() : 0;
  }
  uint64_t U64() {
    const std::string_view bytes = Bytes(sizeof(uint64_t));
    return ok_ ? FieldReader(BytesOfText(bytes), swapped_).U64() : 0;
  }

 private:
  std::string_view rest_;
  bool swapped_ = false;
  bool ok_ = true;
};

}  // namespace

absl::flat_hash_map<uint64_t, std::string> TracepointNames(std::string_view section) {
  absl::flat_hash_map<uint64_t, std::string> names;
  SectionReader in(section);
  if (in.Bytes(10) != "\x17\x08\x44tracing"sv) return names;
  in.Line();  // skips the version
  const std::string_view big = in.Bytes(1);
  if (!in.ok()) return names;
  in.SetSwapped((big[0] != 0) != (std::endian::native == std::endian::big));
  in.Bytes(1);  // skips the size of long
  in.U32();     // skips the size of a page
  for (int i = 0; i < 2; ++i) {
    in.Line();  // header_page, header_event
    in.Bytes(in.U64());
  }
  for (uint32_t left = in.U32(); in.ok() && left > 0; --left) in.Bytes(in.U64());  // ftrace
  for (uint32_t systems = in.U32(); in.ok() && systems > 0; --systems) {
    const std::string_view system = in.Line();
    for (uint32_t left = in.U32(); in.ok() && left > 0; --left) {
      const std::string_view format = in.Bytes(in.U64());
      const std::string_view name = ValueOf("name: ", format), id = ValueOf("ID: ", format);
      uint64_t number = 0;
      if (name.empty() ||
          std::from_chars(id.data(), id.data() + id.size(), number).ec != std::errc()) {
        continue;
      }
      names.try_emplace(number, absl::StrCat(View(system), ":", View(name)));
    }
  }
  return names;
}

}  // namespace profiler::perf_data
