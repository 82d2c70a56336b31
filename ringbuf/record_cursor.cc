#include "ringbuf/record_cursor.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace profiler::ringbuf {

std::optional<RawRecord> RecordCursor::NextAtSeam() {
  if (!status_.ok()) return std::nullopt;
  if (rest_.spans[0].empty()) {
    rest_.spans[0] = rest_.spans[1];
    rest_.spans[1] = {};
    if (rest_.spans[0].empty()) return std::nullopt;
    return Next();
  }

  if (rest_.size() < sizeof(RecordHeader)) {
    status_ = absl::DataLossError(
        absl::StrCat("ring record at byte ", offset(), " of ", size_, ": cut within its header"));
    return std::nullopt;
  }
  RecordHeader header;
  CopyFront(std::span(bounce_->bytes).first(sizeof(header)));
  std::memcpy(&header, bounce_->bytes.data(), sizeof(header));
  if (header.size < sizeof(header) || header.size > rest_.size()) {
    status_ =
        absl::DataLossError(absl::StrCat("ring record at byte ", offset(), " of ", size_, ": type ",
                                         header.type, " has the impossible size ", header.size));
    return std::nullopt;
  }

  const std::span<std::byte> whole = std::span(bounce_->bytes).first(header.size);
  CopyFront(whole);
  // Next returns records that fit the first span, so this one reaches into the second.
  rest_.spans[0] = rest_.spans[1].subspan(whole.size() - rest_.spans[0].size());
  rest_.spans[1] = {};
  return RawRecord(whole);
}

void RecordCursor::CopyFront(std::span<std::byte> out) const {
  const size_t first = std::min(out.size(), rest_.spans[0].size());
  std::memcpy(out.data(), rest_.spans[0].data(), first);
  if (first == out.size()) return;
  std::memcpy(out.data() + first, rest_.spans[1].data(), out.size() - first);
}

}  // namespace profiler::ringbuf
