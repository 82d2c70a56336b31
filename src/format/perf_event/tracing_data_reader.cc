#include "src/format/perf_event/tracing_data_reader.h"

#include <bit>
#include <concepts>

namespace profiler::perf_event {

using namespace std::string_view_literals;

TracingDataReader::TracingDataReader(std::string_view section) : in_(BytesOfText(section)) {
  Expect("\x17\x08\x44tracing"sv);
  in_.ReadCString();  // skips the version
  big_endian_ = in_.Read<uint8_t>() != 0;
  swapped_ = big_endian_ != (std::endian::native == std::endian::big);
  long_bytes_ = in_.Read<uint8_t>();
  page_bytes_ = Read<uint32_t>();
  Expect("header_page\0"sv);
  Text(Read<uint64_t>());
  Expect("header_event\0"sv);
  Text(Read<uint64_t>());
  formats_left_ = Read<uint32_t>();
}

template <class Number>
Number TracingDataReader::Read() {
  const Number number = in_.Read<Number>();
  if (!swapped_) return number;
  if constexpr (std::same_as<Number, uint64_t>) return __builtin_bswap64(number);
  return static_cast<Number>(__builtin_bswap32(static_cast<uint32_t>(number)));
}

std::string_view TracingDataReader::Text(uint64_t size) {
  if (size > in_.remaining()) in_.Fail();
  return in_.ok() ? TextOf(in_.ReadBytes(size)) : std::string_view();
}

void TracingDataReader::Expect(std::string_view text) {
  if (Text(text.size()) != text) in_.Fail();
}

std::optional<TraceFormat> TracingDataReader::Next() {
  while (in_.ok() && formats_left_ == 0) {
    if (!systems_left_) systems_left_ = Read<uint32_t>();
    if (!in_.ok() || *systems_left_ == 0) return std::nullopt;
    --*systems_left_;
    system_ = in_.ReadCString();
    formats_left_ = Read<uint32_t>();
  }
  const std::string_view text = Text(Read<uint64_t>());
  if (!in_.ok()) return std::nullopt;
  --formats_left_;
  return TraceFormat{system_, text};
}

std::string_view TracingDataReader::PrintkFormats() {
  Text(Read<uint32_t>());  // skips kallsyms
  return Text(Read<uint32_t>());
}

}  // namespace profiler::perf_event
