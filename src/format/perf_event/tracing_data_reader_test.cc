#include "src/format/perf_event/tracing_data_reader.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace profiler::perf_event {
namespace {

using namespace std::string_literals;

std::string Number(uint64_t value, size_t size, bool big) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) {
    bytes[big ? size - 1 - i : i] = static_cast<char>(value >> 8 * i);
  }
  return bytes;
}

std::string Section(bool big) {
  const auto u32 = [&](uint64_t value) { return Number(value, 4, big); };
  const auto text = [&](const std::string& text) { return Number(text.size(), 8, big) + text; };
  std::string section = "\x17\x08\x44tracing"s + "0.6\0"s;
  section += big ? '\x01' : '\0';
  section += '\x08' + u32(4096);
  section += "header_page\0"s + text("page") + "header_event\0"s + text("");
  section += u32(1) + text("of ftrace");
  section += u32(3) + "sched\0"s + u32(2) + text("first") + text("second");
  section += "empty\0"s + u32(0) + "irq\0"s + u32(1) + text("third");
  return section + u32(0) + u32(6) + "printk";
}

std::string Read(std::string_view section) {
  TracingDataReader in(section);
  std::string read = absl::StrCat(in.long_bytes(), " ", in.page_bytes(), "\n");
  while (const auto format = in.Next()) {
    absl::StrAppend(&read, std::string(format->system), ":", std::string(format->text), "\n");
  }
  read += in.PrintkFormats();
  return read + (in.ok() ? "" : "cut");
}

TEST(TracingDataReaderTest, ReadsEitherByteOrder) {
  for (const bool big : {false, true}) {
    EXPECT_EQ(Read(Section(big)),
              "8 4096\n:of ftrace\nsched:first\nsched:second\nirq:third\nprintk")
        << big;
  }
}

TEST(TracingDataReaderTest, FormatsBeforeACutAreRead) {
  const std::string section = Section(false);
  const size_t third = section.find("third");
  EXPECT_EQ(Read(section.substr(0, third)), "8 4096\n:of ftrace\nsched:first\nsched:second\ncut");
  for (size_t size = 0; size < section.size(); ++size) {
    EXPECT_TRUE(Read(section.substr(0, size)).ends_with("cut")) << size;
  }
}

}  // namespace
}  // namespace profiler::perf_event
