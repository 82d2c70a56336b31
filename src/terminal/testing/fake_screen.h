// A screen for tests: events come from a script, and pictures are kept as text.

#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <utility>

#include "src/terminal/screen.h"

namespace profiler::terminal {

class FakeScreen : public Screen {
 public:
  explicit FakeScreen(Size size) : size_(size) {}

  // Appends events. After the last one, Read returns kClosed, or kTimeout if it may wait only for
  // some time.
  FakeScreen& Type(std::string_view characters) {
    for (const char c : characters) Press(KeyOf(c));
    return *this;
  }
  FakeScreen& Press(Key key) { return Add({.kind = Event::Kind::kKey, .key = key}); }
  FakeScreen& Add(Event event) {
    events_.push_back({event, {}});
    return *this;
  }
  FakeScreen& Resize(Size size) {
    events_.push_back({{.kind = Event::Kind::kRedraw}, size});
    return *this;
  }

  Size size() const override { return size_; }
  void Show(const Canvas& canvas) override {
    text_ = canvas.Text();
    styles_ = canvas.Styles();
    ++shown_;
  }
  Event Read(int milliseconds) override {
    if (events_.empty()) {
      return {.kind = milliseconds < 0 ? Event::Kind::kClosed : Event::Kind::kTimeout};
    }
    const auto [event, size] = events_.front();
    events_.pop_front();
    if (event.kind == Event::Kind::kRedraw && size.rows > 0) size_ = size;
    return event;
  }

  // The last picture (Canvas::Text, Canvas::Styles), and the number of pictures.
  const std::string& text() const { return text_; }
  const std::string& styles() const { return styles_; }
  int shown() const { return shown_; }

 private:
  Size size_;
  std::deque<std::pair<Event, Size>> events_;
  std::string text_, styles_;
  int shown_ = 0;
};

}  // namespace profiler::terminal
