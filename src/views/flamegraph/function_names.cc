#include "src/views/flamegraph/function_names.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"

namespace profiler::exports {
namespace {

// True for "net/http.(*Client).Do": somewhere a dot, parentheses, and a dot again.
bool LooksLikeGo(std::string_view name) {
  const size_t open = name.find(".(");
  return open != std::string_view::npos && name.find(").", open + 2) != std::string_view::npos;
}

// Returns the index at which the parameters begin, or the name's size.
size_t EndOfName(std::string_view name) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  size_t at = name.find('(');
  while (at != std::string_view::npos && name.substr(at, kAnonymous.size()) == kAnonymous) {
    at = name.find('(', at + 1);
  }
  return std::min(at, name.size());
}

std::string Tidy(std::string_view part, bool java) {
  std::string name = FoldedName(part);
  if (!LooksLikeGo(name)) name.resize(EndOfName(name));
  std::erase_if(name, [](char c) { return c == '"' || c == '\''; });
  if (java && name.starts_with('L') && name.find('/') != std::string::npos) name.erase(0, 1);
  return name;
}

}  // namespace

std::string FoldedName(std::string_view name) {
  std::string out(name);
  for (char& c : out) {
    if (c == ';') c = ':';
    if (c == '\n' || c == '\r') c = ' ';
  }
  return out;
}

std::string UnnamedIn(std::string_view image) {
  if (image == "[unknown]") return std::string(image);
  return absl::StrCat("[", View(BaseName(image)), "]");
}

std::string StackcollapseProcess(std::string_view comm) {
  std::string out = FoldedName(comm);
  std::replace(out.begin(), out.end(), ' ', '_');
  return out;
}

std::vector<std::string> StackcollapseNames(std::string_view name, bool java) {
  std::vector<std::string> out;
  if (name.starts_with('(')) return out;
  while (name.ends_with("->")) name.remove_suffix(2);  // an empty part at the end is no frame
  while (!name.empty()) {
    const size_t arrow = name.find("->");
    std::string part = Tidy(name.substr(0, arrow), java);
    if (!out.empty() && part.find("_[i]") == std::string::npos) part += "_[i]";
    out.push_back(std::move(part));
    if (arrow == std::string_view::npos) break;
    name.remove_prefix(arrow + 2);
  }
  return out;
}

}  // namespace profiler::exports
