#include "src/cli/terminal/written_file.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/cli/terminal/output.h"

namespace profiler::cli {
namespace {

struct Opener {
  std::string_view ending;
  std::string_view how;  // a phrase; the path follows if it ends with a blank
};

// The more special endings come first.
constexpr std::array<Opener, 11> kOpeners = {{
    {".html", "open it in a browser"},
    {".svg", "open it in a browser"},
    {".pb.gz", "open it with: go tool pprof -http=: "},
    {".pprof", "open it with: go tool pprof -http=: "},
    {".pprof.gz", "open it with: go tool pprof -http=: "},
    {".speedscope.json", "open it at https://www.speedscope.app"},
    {".trace.json", "open it at https://ui.perfetto.dev"},
    {".json.gz", "open it at https://profiler.firefox.com"},
    {".callgrind", "open it with: kcachegrind "},
    {".folded", "open it with: profiler report -i "},
    {".data", "open it with: profiler report -i "},
}};

}  // namespace

std::string HowToOpen(std::string_view path) {
  for (const Opener& opener : kOpeners) {
    if (!path.ends_with(opener.ending)) continue;
    return absl::StrCat(View(opener.how), opener.how.ends_with(' ') ? View(path) : "");
  }
  return "";
}

void PrintWrittenFile(std::string_view path) {
  const bool has_note = path.ends_with(".html");
  if (path.empty() || path == "-" || has_note || !ErrorsAreShownLive()) return;
  const std::string how = HowToOpen(path);
  PrintNote(absl::StrCat("wrote ", View(path), how.empty() ? "" : "; ", how));
}

}  // namespace profiler::cli
