// A JSON document in memory, compact enough for profiles of a gigabyte: 24 bytes per value, and
// each distinct string once.
//
//   {"a": [1, "x"], "b": 2}      nodes   object ─▶ a: array ─▶ 1 ─▶ "x"
//                                                      └──▶ b: 2         ─▶ child, then siblings
//
// The depth is limited. Profiles nest only a few levels; a document that nests deeper was made to
// break readers.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/base/string_table.h"

namespace profiler::importers {

class JsonTree {
 public:
  enum class Kind : uint8_t { kNothing, kNumber, kText, kArray, kObject };

  // A view of one value; the tree must outlive it. Missing values, null, and members of anything
  // that is not an object are kNothing, so a path can be followed without a check at each step.
  class Value {
   public:
    Value() = default;

    Kind kind() const;
    bool exists() const { return kind() != Kind::kNothing; }
    // Returns the object's member with this name; the first one if several have it. Costs a
    // comparison with the name of each member.
    Value operator[](std::string_view key) const;
    // child() returns the first element or member of this value. next() returns the sibling after
    // this value. Both return kNothing if there is none.
    bool has_child() const;
    Value child() const;
    bool has_next() const;
    Value next() const;

    std::optional<double> number() const;
    // Returns the number rounded down; nothing if it is below zero or above `most`.
    std::optional<uint64_t> index(uint64_t most = UINT32_MAX) const;
    std::string_view text() const;  // empty if the value is no string

    // Returns the elements of an array.
    std::vector<Value> elements() const;

   private:
    friend class JsonTree;
    Value(const JsonTree* tree, uint32_t node) : tree_(tree), node_(node) {}

    const JsonTree* tree_ = nullptr;
    uint32_t node_ = 0;
  };

  // Parses a document. Returns kDataLoss, with the offset, if `text` is not JSON. Returns
  // kResourceExhausted if the document nests deeper than 200 levels or has more values than a
  // profile could have.
  static absl::StatusOr<JsonTree> Parse(std::string_view text);

  Value root() const { return Value(this, nodes_.size() > 1 ? 1 : 0); }

 private:
  friend class JsonTreeMaker;

  struct Node {
    uint64_t content = 0;  // bits of a double, a StringId or the first child
    uint32_t next = 0;     // next sibling; 0: none
    StringId key{};
    Kind kind = Kind::kNothing;
  };
  static_assert(sizeof(Node) == 24);

  std::vector<Node> nodes_ = {Node{}};  // node 0 stands for missing values
  StringTable strings_;
};

}  // namespace profiler::importers
