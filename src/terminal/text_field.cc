#include "src/terminal/text_field.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "src/terminal/columns.h"

namespace profiler::terminal {
namespace {

void AppendUtf8(uint32_t code, std::string* out) {
  const auto rest = [code](int shift) { return static_cast<char>(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) {
    *out += static_cast<char>(code);
  } else if (code < 0x800) {
    *out += {static_cast<char>(0xc0 | code >> 6), rest(0)};
  } else if (code < 0x10000) {
    *out += {static_cast<char>(0xe0 | code >> 12), rest(6), rest(0)};
  } else {
    *out += {static_cast<char>(0xf0 | code >> 18), rest(12), rest(6), rest(0)};
  }
}

}  // namespace

bool TextField::Handle(const Event& event) {
  if (event.kind != Event::Kind::kKey) return false;
  const std::string before = text_;
  const auto code = static_cast<uint32_t>(event.key);
  if (event.key == Key::kBackspace) {
    while (!text_.empty() && (text_.back() & 0xc0) == 0x80) text_.pop_back();
    if (!text_.empty()) text_.pop_back();
  } else if (event.key == CtrlOf('u')) {
    text_.clear();
  } else if (code >= 0x20 && code < 0x110000) {
    AppendUtf8(code, &text_);
  }
  return text_ != before;
}

void TextField::Draw(Pane pane, int row) const {
  const int start = pane.Put(row, 0, label_);
  std::string shown = CellText(text_);
  const auto room = static_cast<size_t>(std::max(pane.columns() - start - 1, 0));
  while (ColumnsOf(shown) > room) shown.erase(0, GlyphAt(shown, 0).size);
  const int end = pane.Put(row, start, shown, {.bold = true});
  pane.Put(row, end, " ", {.reverse = true});
}

}  // namespace profiler::terminal
