// Compares the call chains that `profiler folded` shows with a program of which all callers are
// known: which calls exist, how its time divides between alpha and beta, how deep it recurses.

#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace profiler::tests {

// How names of functions look in chains.
enum class Language { kC, kCpp, kGo, kJava, kJavaScript, kRust };

// Calls that a program makes, between its own functions; code of others between two of them does not
// count. An empty caller is a thread's start.
class KnownCalls {
 public:
  // `calls` is text such as ">main main>alpha alpha>deep deep>deep". `deep` names the functions that
  // recurse, separated by spaces; `leaf` is called at full depth only.
  KnownCalls(Language language, std::string_view prefix, std::string_view calls,
             std::string_view deep, std::string_view leaf);

  // The function's name as in `calls`; empty if `frame` is not the program's own.
  std::string OwnName(std::string_view frame) const;
  bool IsMade(const std::string& caller, const std::string& callee) const {
    return calls_.contains({caller, callee});
  }
  bool IsDeep(const std::string& function) const { return deep_.contains(function); }
  const std::string& leaf() const { return leaf_; }

 private:
  Language language_;
  std::string prefix_;  // of names in chains, such as "main." in Go
  std::set<std::pair<std::string, std::string>> calls_;
  std::set<std::string> functions_, deep_;
  std::string leaf_;
};

// Weights of chains, in the unit of `profiler folded` (ns).
struct ShownChains {
  double whole = 0;     // begin where a thread begins
  double cut = 0;       // begin with a frame such as "[cut: stack too short]"
  double unmarked = 0;  // begin elsewhere, which nothing says
  double others = 0;    // of other programs
  double alpha = 0, beta = 0;
  // Of the program's own functions: calls that it does not make, each as "caller>callee", or
  // "unmarked: function" for an unmarked chain that begins with this function.
  std::map<std::string, double> invented;
  // Weight of whole chains to the leaf by their depth.
  std::map<int, double> depths;

  double all() const { return whole + cut + unmarked; }
  double Invented() const;
};

// `commands`: names of the program's threads, separated by spaces; empty if there are no chains of
// others in `folded`. Chains without any user function count nowhere.
ShownChains ReadChains(const std::string& folded, const KnownCalls& calls,
                       std::string_view commands);

}  // namespace profiler::tests
