// What a function of JavaScript is called, as V8 itself writes it into the maps of
// --perf-basic-prof:
//
//   JSFunction ──▶ SharedFunctionInfo ──▶ ScopeInfo │ … │ locals │ name │ … │ start │ end │
//                                     ──▶ Script    │ source │ name │ …
//
//   fib /home/me/app.js:3:13      name, script, line and column of its parameters, from 1
//
// Sources of V8 11.3: src/objects/shared-function-info.tq, scope-info.tq, script.tq;
// src/logging/log.cc (LogEventListener).

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "symbolize/v8/heap.h"

namespace profiler::symbolize::v8 {

struct Function {
  std::string name;    // "fib /home/me/app.js:3:13"
  std::string script;  // "/home/me/app.js"; empty: it has none
  // What it was told by: where one of these words is another one by now, another function may be
  // there.
  Word name_or_scope_info = 0, script_word = 0;
  uint64_t position_address = 0;  // of two words in the ScopeInfo; 0: none
  Word start = 0, end = 0;
  bool operator==(const Function&) const = default;
};

// Not thread-safe. Keeps at most kMostFunctions names, and the lines of some scripts.
class Functions {
 public:
  static constexpr size_t kMostFunctions = size_t{1} << 13;

  // `heap` must outlive it.
  explicit Functions(Heap& heap) : heap_(heap), data_(heap.metadata()) {}

  // The function of a SharedFunctionInfo; null where that is none, or has no script, as V8's own
  // have none, or changes while it is read. Valid until the next call. What is known is compared
  // with what is there now. `is_new`: it is not what was told before of that word.
  const Function* Find(Word shared, bool* is_new);

 private:
  struct Place {
    uint32_t line = 0, column = 0;  // from 1
  };
  // Where the lines of a script begin.
  struct Lines {
    Word source = 0;
    uint32_t length = 0;
    std::vector<uint32_t> starts;
  };

  std::optional<Function> ReadFunction(Word shared);
  bool ReadScope(Word scope, Function* function);
  std::optional<Place> PlaceOf(Word script, int64_t position);
  const Lines* LinesOf(Word script);
  bool ReadLines(const Heap::Characters& source, std::vector<uint32_t>* starts);

  Heap& heap_;
  const Metadata& data_;
  absl::flat_hash_map<Word, Function> functions_;  // by SharedFunctionInfo
  absl::flat_hash_map<Word, Lines> lines_;         // by Script
  size_t known_lines_ = 0;                         // in lines_
  uint64_t source_read_ = 0;                       // bytes, of all scripts
};

}  // namespace profiler::symbolize::v8
