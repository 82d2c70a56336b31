// Compares the call chains that `profiler folded` shows with the true calls of a program. Compares
// calls between functions, the shares of alpha and beta, and the depth of recursion.

#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace profiler::tests {

// The language of a program. It decides how function names are extracted from frames.
enum class Language { kC, kCpp, kGo, kJava, kJavaScript, kRust };

// The calls that a program makes between its own functions. Library frames between two own
// functions are skipped. The empty caller stands for the start of a thread.
class KnownCalls {
 public:
  // `calls` is text such as ">main main>alpha alpha>deep deep>deep". `deep` names the functions
  // that recurse, separated by spaces. Functions of `leaf` are called at full depth only.
  KnownCalls(Language language, std::string_view calls, std::string_view deep,
             std::string_view leaf);

  // Returns the function's name as written in `calls`. Returns nothing if the frame is not one of
  // the program's own functions.
  std::string OwnName(std::string_view frame) const;
  // True if the frame is unnamed code that was made at run time. It may be an own function.
  bool MayBeOwn(std::string_view frame) const;
  bool IsMade(const std::string& caller, const std::string& callee) const {
    return calls_.contains({caller, callee});
  }
  bool IsDeep(const std::string& function) const { return deep_.contains(function); }
  bool IsLeaf(const std::string& function) const { return leaf_.contains(function); }
  bool HasLeaf() const { return !leaf_.empty(); }

 private:
  Language language_;
  std::set<std::pair<std::string, std::string>> calls_;
  std::set<std::string> functions_, deep_, leaf_;
};

// Weights of call chains, in the unit of `profiler folded` (ns of CPU time). Each chain with a user
// frame counts in exactly one of whole, cut, unmarked, without_stack and others.
struct ShownChains {
  double whole = 0;          // chains whose outermost frame is a thread's start
  double cut = 0;            // chains that begin with a mark such as "[cut: stack too short]"
  double unmarked = 0;       // chains that begin with neither a thread's start nor a mark
  double without_stack = 0;  // samples taken while the process was in exec or exit
  double others = 0;         // chains of other programs
  // Chains with alpha, and with beta. If the program has leaf functions, only chains that reach one
  // of them: the program controls how long a leaf takes, and the CPU how long the recursion takes.
  double alpha = 0, beta = 0;
  double unnamed = 0;  // chains with an unnamed frame that may be an own function
  // Weights of shown calls that the program does not make. Keys are "caller>callee". An unmarked
  // chain adds the key "cut>function", with its first function.
  std::map<std::string, double> invented;
  // Weights of whole chains that reach a leaf function at another depth than `depth`. Keys are
  // "depth N".
  std::map<std::string, double> wrong_depths;
  // An example chain for each key of `invented` and `wrong_depths`. Repeated frames are written
  // once.
  std::map<std::string, std::string> examples;

  double all() const { return whole + cut + unmarked; }
};

// Sorts the call chains of `folded`. `depth` is the program's recursion depth; 0 skips that check.
// `command` is the prefix of the program's thread names; if empty, all chains are the program's.
ShownChains ReadChains(const std::string& folded, const KnownCalls& calls, int depth,
                       std::string_view command);

}  // namespace profiler::tests
