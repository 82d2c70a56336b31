// Names JavaScript functions as V8 does in the maps of --perf-basic-prof:
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
  std::string script;  // "/home/me/app.js"; empty: none
  // The words from which the name was read. If one of them has changed, another function may have
  // replaced this one.
  Word name_or_scope_info = 0, script_word = 0;
  uint64_t position_address = 0;  // address of two words in the ScopeInfo: start and end; 0: none
  Word start = 0, end = 0;
  bool operator==(const Function&) const = default;
};

// The functions of a process. Keeps at most kMostFunctions names, and the lines of some scripts.
// Not thread-safe.
class Functions {
 public:
  static constexpr size_t kMostFunctions = size_t{1} << 13;

  // `heap` must outlive this object.
  explicit Functions(Heap& heap) : heap_(heap), data_(heap.metadata()) {}

  // Returns the function of a SharedFunctionInfo. Null if there is none, if it has no script (V8's
  // own functions), or if it changes while it is read. Compares a known function with memory. Sets
  // `is_new` to true if the result differs from the previous one for that word. Valid until the
  // next call.
  const Function* Find(Word shared, bool* is_new);

 private:
  struct Place {
    uint32_t line = 0, column = 0;  // both count from 1
  };
  // The starts of a script's lines.
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
  absl::flat_hash_map<Word, Function> functions_;  // keyed by SharedFunctionInfo
  absl::flat_hash_map<Word, Lines> lines_;         // keyed by Script
  size_t known_lines_ = 0;                         // number of lines in lines_
  uint64_t source_read_ = 0;                       // bytes read of all scripts
};

}  // namespace profiler::symbolize::v8
