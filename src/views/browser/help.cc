#include "src/views/browser/help.h"

namespace profiler::browser {

std::vector<std::string> HelpLines() {
  return {
      "Enter     unfold or fold the line; on other lines: menu",
      "+         unfold one level, or fold",
      "-         fold the line, or the level above",
      "e         unfold or fold the whole row",
      "c         fold the row",
      "E  C      unfold or fold all rows",
      "a         annotate the function",
      "t         zoom into the thread, or out of it",
      "d         zoom into the DSO, or out of it",
      "k         zoom into the kernel, or out of it",
      "T         choose a part of the time",
      "/         show symbols that contain a text",
      "Esc       go back: undo the last zoom or filter",
      "F         100 %: all samples, or those shown",
      "x         unfold into callers, or into callees",
      "s         sort by other keys",
      "Tab       next event; Shift-Tab: previous event",
      "m         menu of the line",
      "P         print the report to a file",
      "Left Right  scroll wide lines",
      "h ? F1    this help",
      "q Ctrl-C  quit",
  };
}

}  // namespace profiler::browser
