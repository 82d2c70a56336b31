#include "tests/callers/shown_chains.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>
#include <vector>

namespace profiler::tests {
namespace {

using Frames = std::vector<std::string>;  // callers before callees

constexpr std::string_view kCutPrefix = "[cut: ";

// Functions of the C library, the dynamic linker and Go's runtime in which threads begin. Java's
// launcher is missing, because it has no symbols.
constexpr std::array<std::string_view, 6> kStarts = {"_start",   "_dl_start_user", "clone3",
                                                     "__clone3", "clone",          "__clone"};
constexpr std::array<std::string_view, 6> kStartPrefixes = {
    "runtime.goexit", "runtime.mstart", "runtime.rt0_go", "_rt0_amd64", "_rt0_arm64", "java+0x"};

// Outermost kernel functions: entries from user code, and the beginnings of kernel threads.
constexpr std::array<std::string_view, 6> kKernelEntries = {
    "entry_SYSCALL_64", "entry_INT80", "asm_", "error_entry", "ret_from_fork", "el0"};
// Kernel functions that run when a process no longer has a user stack, or has none yet.
constexpr std::array<std::string_view, 6> kEndings = {"__x64_sys_exec",   "__x64_sys_exit",
                                                      "__arm64_sys_exec", "__arm64_sys_exit",
                                                      "do_exit",          "bprm_execve"};

bool IsOneOf(std::string_view text, const auto& texts) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

bool BeginsWithOneOf(std::string_view text, const auto& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [text](std::string_view prefix) { return text.starts_with(prefix); });
}

bool IsStart(std::string_view frame) {
  return IsOneOf(frame, kStarts) || BeginsWithOneOf(frame, kStartPrefixes);
}

bool IsKernelEntry(std::string_view frame) { return BeginsWithOneOf(frame, kKernelEntries); }

bool IsEnding(std::string_view frame) { return BeginsWithOneOf(frame, kEndings); }

Frames Split(std::string_view text, char separator) {
  Frames parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string_view Before(std::string_view text, char mark) {
  return text.substr(0, text.find(mark));
}

// Returns text such as "main;deep x10;leaf".
std::string Shortened(const Frames& frames) {
  std::string text;
  for (size_t i = 0; i < frames.size();) {
    size_t end = i;
    while (end < frames.size() && frames[end] == frames[i]) ++end;
    if (!text.empty()) text += ';';
    text += frames[i];
    if (end - i > 1) text += " x" + std::to_string(end - i);
    i = end;
  }
  return text;
}

void ReadCalls(const Frames& frames, double weight, const KnownCalls& calls, int depth,
               ShownChains& shown) {
  const bool is_cut = frames.front().starts_with(kCutPrefix);
  const bool is_whole = IsStart(frames.front());
  (is_cut ? shown.cut : is_whole ? shown.whole : shown.unmarked) += weight;
  const auto blame = [&](std::map<std::string, double>& weights, const std::string& what) {
    weights[what] += weight;
    shown.examples.try_emplace(what, Shortened(frames));
  };
  std::string caller = is_whole ? "" : "cut";
  int deep = 0;
  bool has_alpha = false, has_beta = false, has_leaf = false, has_unnamed = false;
  bool is_hidden = is_cut;  // True if the caller of the next own function is unknown
  for (const std::string& frame : frames) {
    const bool may_be_own = calls.MayBeOwn(frame);
    has_unnamed |= may_be_own;
    is_hidden |= may_be_own;
    const std::string name = calls.OwnName(frame);
    if (name.empty()) continue;
    if (!is_hidden && !calls.IsMade(caller, name)) blame(shown.invented, caller + ">" + name);
    caller = name;
    is_hidden = false;
    has_alpha |= name == "alpha";
    has_beta |= name == "beta";
    has_leaf |= calls.IsLeaf(name);
    if (calls.IsDeep(name)) ++deep;
  }
  if (has_unnamed) shown.unnamed += weight;
  const bool has_known_time = has_leaf || !calls.HasLeaf();
  if (has_alpha && has_known_time) shown.alpha += weight;
  if (has_beta && has_known_time) shown.beta += weight;
  if (has_alpha && has_beta) blame(shown.invented, "alpha and beta");
  if (is_whole && !has_unnamed && has_leaf && (has_alpha || has_beta) && depth != 0 &&
      deep != depth) {
    blame(shown.wrong_depths, "depth " + std::to_string(deep));
  }
}

}  // namespace

KnownCalls::KnownCalls(Language language, std::string_view calls, std::string_view deep,
                       std::string_view leaf)
    : language_(language) {
  for (const std::string& call : Split(calls, ' ')) {
    const size_t mark = call.find('>');
    functions_.insert(call.substr(mark + 1));
    calls_.emplace(call.substr(0, mark), call.substr(mark + 1));
  }
  for (const std::string& function : Split(deep, ' ')) deep_.insert(function);
  for (const std::string& function : Split(leaf, ' ')) leaf_.insert(function);
}

std::string KnownCalls::OwnName(std::string_view frame) const {
  const auto without = [&frame](std::string_view prefix) {
    if (!frame.starts_with(prefix)) return false;
    frame.remove_prefix(prefix.size());
    return true;
  };
  switch (language_) {
    case Language::kC:
      break;
    case Language::kCpp:
      frame = Before(frame, '(');
      break;
    case Language::kGo:
      // C code that Go calls has no package.
      without("main.");
      break;
    case Language::kJava:
      // "void Recursion.deep(int, long)"
      frame = Before(frame, '(');
      frame.remove_prefix(frame.rfind(' ') + 1);
      if (!without("Recursion.")) return {};
      break;
    case Language::kJavaScript:
      // "JS:*deep /tmp/recursion.js:46:14"; a module has no name.
      if (!without("JS:") || frame.find("/recursion.js:") == frame.npos) return {};
      frame.remove_prefix(std::min(frame.find_first_not_of("~^*+'"), frame.size()));
      frame = frame.starts_with(' ') || frame.starts_with('/') ? "module" : Before(frame, ' ');
      break;
    case Language::kRust:
      // "recursion::deep", "<recursion::Even as recursion::Step>::descend"
      if (without("<recursion::Even as ")) {
        frame = "Even";
      } else if (without("<recursion::Odd as ")) {
        frame = "Odd";
      } else if (!without("recursion::")) {
        return {};
      }
      break;
  }
  std::string name(frame);
  return functions_.contains(name) ? name : std::string();
}

bool KnownCalls::MayBeOwn(std::string_view frame) const {
  // A frame such as "[perf-123.map]" may be an own function.
  const bool is_made_at_run_time =
      language_ == Language::kJava || language_ == Language::kJavaScript;
  return is_made_at_run_time && frame.starts_with('[') && !frame.starts_with(kCutPrefix);
}

ShownChains ReadChains(const std::string& folded, const KnownCalls& calls, int depth,
                       std::string_view command) {
  ShownChains shown;
  std::istringstream lines(folded);
  for (std::string line; std::getline(lines, line);) {
    const size_t space = line.rfind(' ');
    if (space == line.npos) continue;
    const double weight = std::atof(line.c_str() + space + 1);
    Frames frames = Split(std::string_view(line).substr(0, space), ';');
    const std::string thread = frames.front();
    frames.erase(frames.begin());
    const auto kernel = std::find_if(frames.begin(), frames.end(), IsKernelEntry);
    if (kernel == frames.begin()) continue;
    if (!thread.starts_with(command)) {
      shown.others += weight;
    } else if (kernel - frames.begin() <= 2 && !IsStart(frames.front()) &&
               std::any_of(kernel, frames.end(), IsEnding)) {
      // The only user frame is the interrupted instruction. A mark may precede it.
      shown.without_stack += weight;
    } else {
      ReadCalls(frames, weight, calls, depth, shown);
    }
  }
  return shown;
}

}  // namespace profiler::tests
