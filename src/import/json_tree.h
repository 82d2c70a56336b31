// A JSON text in memory, small enough for profiles of a gigabyte: 24 bytes a value, and each
// distinct string once.
//
//   {"a": [1, "x"], "b": 2}      nodes   object ─▶ a: array ─▶ 1 ─▶ "x"
//                                                      └──▶ b: 2         ─▶ child, then siblings
//
// Depth is bounded: profiles nest a few levels, and what nests without end is made to break
// readers.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/base/string_table.h"

namespace profiler::import {

class JsonTree {
 public:
  enum class Kind : uint8_t { kNothing, kNumber, kText, kArray, kObject };

  // A view of one value; the tree must outlive it. One that is not there is kNothing, and so are
  // null and the members of what is no object: a path can be followed without a check a step.
  class Value {
   public:
    Value() = default;

    Kind kind() const;
    bool exists() const { return kind() != Kind::kNothing; }
    // The member of an object, the first of several of one name. Costs a look at each.
    Value operator[](std::string_view key) const;
    // The first element or member, and the one behind this one: kNothing at the end.
    bool has_child() const;
    Value child() const;
    bool has_next() const;
    Value next() const;

    std::optional<double> number() const;
    // Rounded down; nothing below zero and beyond `most`.
    std::optional<uint64_t> index(uint64_t most = UINT32_MAX) const;
    std::string_view text() const;  // empty for what is none

    // The elements of an array.
    std::vector<Value> elements() const;

   private:
    friend class JsonTree;
    Value(const JsonTree* tree, uint32_t node) : tree_(tree), node_(node) {}

    const JsonTree* tree_ = nullptr;
    uint32_t node_ = 0;
  };

  // kDataLoss, with the offset, where the text is no JSON; kResourceExhausted where it nests deeper
  // than 200 levels or has more values than a profile could have.
  static absl::StatusOr<JsonTree> Parse(std::string_view text);

  Value root() const { return Value(this, nodes_.size() > 1 ? 1 : 0); }

 private:
  friend class JsonTreeMaker;

  struct Node {
    uint64_t content = 0;  // a double's bits, a StringId or the first child
    uint32_t next = 0;     // 0: the last one
    StringId key{};
    Kind kind = Kind::kNothing;
  };
  static_assert(sizeof(Node) == 24);

  std::vector<Node> nodes_ = {Node{}};  // the first one is what is not there
  StringTable strings_;
};

}  // namespace profiler::import
