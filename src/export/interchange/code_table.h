// The functions at a profile's frames, by number, for formats that have a table of functions.
//
//   frame ─▶ lines, innermost first:  {function, line} {function, line, inlined} …
//                                          │
//                                          ▼
//   function = {name, file, image}     told apart by all three
//
// A frame without a symbol is a function called "[IMAGE]" or "[unknown]". All texts are UTF-8: what
// is none in the profile became U+FFFD.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/base/utf8.h"
#include "src/export/labels.h"
#include "src/profile/profile.h"

namespace profiler::exports {

using FunctionIndex = uint32_t;

struct CodeFunction {
  std::string name;
  std::string file;  // empty: unknown
  profile::DsoId dso{};
  CodeKind kind = CodeKind::kUser;  // of the first frame that has it
};

struct CodeLine {
  FunctionIndex function = 0;
  uint32_t line = 0;  // 0: unknown
  bool inlined = false;
};

// Built in time linear in the frames. Keeps no reference to the profile. Reading is thread-safe.
class CodeTable {
 public:
  explicit CodeTable(const profile::Profile& profile);

  std::span<const CodeFunction> functions() const { return functions_; }
  const CodeFunction& operator[](FunctionIndex function) const { return functions_[function]; }

  // Innermost first; never empty.
  std::span<const CodeLine> At(profile::FrameId frame) const {
    const auto index = static_cast<uint32_t>(frame);
    const uint32_t begin = index == 0 ? 0 : ends_[index - 1];
    return std::span(lines_).subspan(begin, ends_[index] - begin);
  }

  // Replaces `functions` by those of a stack of the profile that the table is of, from the leaf up.
  void GetStack(const profile::Profile& profile, profile::StackId stack,
                std::vector<FunctionIndex>& functions) const;

 private:
  class Builder;

  std::vector<CodeFunction> functions_;
  std::vector<CodeLine> lines_;
  std::vector<uint32_t> ends_;  // in lines_, by frame
};

// ImageName (src/export/labels.h), with ValidUtf8.
std::string ImagePath(const profile::Profile& profile, const profile::Dso& dso);

}  // namespace profiler::exports
