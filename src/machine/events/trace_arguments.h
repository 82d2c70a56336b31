// Parses the arguments of a tracepoint's print format into trees:
//
//   REC->prev_state & 3 ? "S" : "R"          ?
//                                          ┌─┴─┐
//                                          &   :
//                                         ┌┴┐ ┌┴─┐
//                              prev_state 3  "S" "R"
//
// libtraceevent binds some operators to other operands than C does: it reads a - b - c as
// a - (b - c), for example. perf shows what libtraceevent reads, so the trees here are the same.
//
// Source: the behaviour of libtraceevent 1.7 and 1.8.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/machine/events/trace_event.h"

namespace profiler::events {

// A node of a tree. Nodes name each other by their index.
struct TraceNode {
  enum class Kind : uint8_t {
    kNone,           // missing left operand of an operator with one operand
    kNumber,         // `number`
    kWord,           // a type, or a name without known value, which counts as 0
    kString,         // `text`
    kField,          // value of `field`
    kCast,           // lower bits of `left`, by the mask `number`; `text` is the type
    kOperator,       // `text`, on `left` and `right`
    kFlags,          // names of the bits of `left`, from `names`, with `text` between them
    kSymbolic,       // name of the value of `left`, from `names`
    kDynamicString,  // text to which `field` points
    kDynamicLength,  // bytes to which `field` points
  };
  static constexpr uint32_t kMissing = UINT32_MAX;

  Kind kind = Kind::kNone;
  int priority = 0;  // of an operator; a higher one is nearer to the root
  uint32_t left = kMissing, right = kMissing;
  uint32_t field = 0;
  uint64_t number = 0;
  std::string text;
  std::vector<std::pair<int64_t, std::string>> names;  // -1 for names of constants

  bool IsOperator(std::string_view op) const { return kind == Kind::kOperator && text == op; }
};

// The trees of all arguments.
struct TraceArguments {
  std::vector<TraceNode> nodes;
  std::vector<uint32_t> roots;

  const TraceNode& operator[](uint32_t node) const { return nodes[node]; }
};

// Parses the arguments of an event. Returns nullopt if they contain anything that is not described
// above, or whose meaning depends on libtraceevent's version. The depth of trees and the number of
// nodes are limited.
std::optional<TraceArguments> ParseTraceArguments(const TraceEvent& event);

}  // namespace profiler::events
