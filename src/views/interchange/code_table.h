// A table of a profile's functions, which have numbers, for formats that contain such a table.
//
//   frame ─▶ lines, innermost first:  {function, line} {function, line, inlined} …
//                                          │
//                                          ▼
//   function = {name, file, image}     no two functions are equal in all three
//
// A frame without a symbol is a function named "[IMAGE]" or "[unknown]". All texts are UTF-8; other
// bytes in the profile became U+FFFD.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/base/utf8.h"
#include "src/profile/profile.h"
#include "src/views/flamegraph/labels.h"

namespace profiler::exports {

using FunctionIndex = uint32_t;

struct CodeFunction {
  std::string name;
  std::string file;  // empty: unknown
  profile::ImageId image{};
  CodeKind kind = CodeKind::kUser;  // kind of the first frame with the function
};

struct CodeLine {
  FunctionIndex function = 0;
  uint32_t line = 0;  // 0: unknown
  bool inlined = false;
};

// The table. Construction takes time linear in the frames. Keeps no reference to the profile.
// Reading is thread-safe.
class CodeTable {
 public:
  explicit CodeTable(const profile::Profile& profile);

  std::span<const CodeFunction> functions() const { return functions_; }
  const CodeFunction& operator[](FunctionIndex function) const { return functions_[function]; }

  // Returns the lines of a frame, innermost first; never empty.
  std::span<const CodeLine> At(profile::FrameId frame) const {
    const auto index = static_cast<uint32_t>(frame);
    const uint32_t begin = index == 0 ? 0 : ends_[index - 1];
    return std::span(lines_).subspan(begin, ends_[index] - begin);
  }

  // Sets `functions` to the functions of a stack, from the leaf up. `profile` must be the profile
  // that the table was made from.
  void GetStack(const profile::Profile& profile, profile::StackId stack,
                std::vector<FunctionIndex>& functions) const;

 private:
  class Builder;

  std::vector<CodeFunction> functions_;
  std::vector<CodeLine> lines_;
  std::vector<uint32_t> ends_;  // end of each frame's lines in lines_
};

// Returns ImageName (src/views/flamegraph/labels.h) as valid UTF-8.
std::string ImagePath(const profile::Profile& profile, const profile::Image& image);

}  // namespace profiler::exports
