#include "src/importers/json_tree.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"

namespace profiler::importers {

// A receiver of the events of nlohmann's parser.
class JsonTreeMaker {
 public:
  explicit JsonTreeMaker(JsonTree& tree) : tree_(tree) {}

  bool null() { return Add(JsonTree::Kind::kNothing, 0); }
  bool boolean(bool) { return Add(JsonTree::Kind::kNothing, 0); }
  bool number_integer(int64_t value) { return AddNumber(static_cast<double>(value)); }
  bool number_unsigned(uint64_t value) { return AddNumber(static_cast<double>(value)); }
  bool number_float(double value, const std::string&) { return AddNumber(value); }
  bool string(std::string& value) {
    return Add(JsonTree::Kind::kText, static_cast<uint64_t>(tree_.strings_.Intern(value)));
  }
  bool binary(std::vector<uint8_t>&) { return false; }
  bool start_object(size_t) { return Open(JsonTree::Kind::kObject); }
  bool start_array(size_t) { return Open(JsonTree::Kind::kArray); }
  bool end_object() { return Close(); }
  bool end_array() { return Close(); }
  bool key(std::string& value) {
    key_ = tree_.strings_.Intern(value);
    return true;
  }
  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception&) {
    if (error_.ok()) {
      error_ = absl::DataLossError(
          absl::StrCat("offset ", std::max<size_t>(position, 1) - 1, ": no JSON from there on"));
    }
    return false;
  }

  const absl::Status& error() const { return error_; }

 private:
  static constexpr size_t kDeepest = 200;
  static constexpr size_t kMostNodes = std::numeric_limits<uint32_t>::max() - 1;

  struct OpenNode {
    uint32_t node = 0;
    uint32_t last_child = 0;  // 0: no child yet
  };

  bool AddNumber(double value) {
    return Add(JsonTree::Kind::kNumber, std::bit_cast<uint64_t>(value));
  }

  bool Add(JsonTree::Kind kind, uint64_t content) {
    if (tree_.nodes_.size() >= kMostNodes) {
      error_ = absl::ResourceExhaustedError("it has more values than can be read");
      return false;
    }
    const auto node = static_cast<uint32_t>(tree_.nodes_.size());
    tree_.nodes_.push_back({.content = content, .key = key_, .kind = kind});
    key_ = StringId::kEmpty;
    if (open_.empty()) return true;
    OpenNode& parent = open_.back();
    if (parent.last_child == 0) {
      tree_.nodes_[parent.node].content = node;
    } else {
      tree_.nodes_[parent.last_child].next = node;
    }
    parent.last_child = node;
    return true;
  }

  bool Open(JsonTree::Kind kind) {
    if (open_.size() >= kDeepest) {
      error_ = absl::ResourceExhaustedError(
          absl::StrCat("it nests more than ", kDeepest, " levels deep"));
      return false;
    }
    if (!Add(kind, 0)) return false;
    open_.push_back({static_cast<uint32_t>(tree_.nodes_.size() - 1), 0});
    return true;
  }

  bool Close() {
    open_.pop_back();
    return true;
  }

  JsonTree& tree_;
  std::vector<OpenNode> open_;
  StringId key_{};
  absl::Status error_;
};

absl::StatusOr<JsonTree> JsonTree::Parse(std::string_view text) {
  JsonTree tree;
  JsonTreeMaker maker(tree);
  const bool parsed = nlohmann::json::sax_parse(text.begin(), text.end(), &maker);
  if (!maker.error().ok()) return maker.error();
  if (!parsed) return absl::DataLossError("it is no JSON");
  return tree;
}

JsonTree::Kind JsonTree::Value::kind() const {
  return tree_ == nullptr ? Kind::kNothing : tree_->nodes_[node_].kind;
}

JsonTree::Value JsonTree::Value::operator[](std::string_view key) const {
  if (kind() != Kind::kObject) return {};
  for (auto node = static_cast<uint32_t>(tree_->nodes_[node_].content); node != 0;
       node = tree_->nodes_[node].next) {
    if (tree_->strings_[tree_->nodes_[node].key] == key) return Value(tree_, node);
  }
  return {};
}

bool JsonTree::Value::has_child() const {
  const bool has_children = kind() == Kind::kArray || kind() == Kind::kObject;
  return has_children && tree_->nodes_[node_].content != 0;
}

JsonTree::Value JsonTree::Value::child() const {
  return has_child() ? Value(tree_, static_cast<uint32_t>(tree_->nodes_[node_].content)) : Value();
}

bool JsonTree::Value::has_next() const {
  return tree_ != nullptr && tree_->nodes_[node_].next != 0;
}

JsonTree::Value JsonTree::Value::next() const {
  return has_next() ? Value(tree_, tree_->nodes_[node_].next) : Value();
}

std::optional<double> JsonTree::Value::number() const {
  if (kind() != Kind::kNumber) return std::nullopt;
  return std::bit_cast<double>(tree_->nodes_[node_].content);
}

std::optional<uint64_t> JsonTree::Value::index(uint64_t most) const {
  const std::optional<double> value = number();
  if (!value || !(*value >= 0) || *value > static_cast<double>(most)) return std::nullopt;
  return static_cast<uint64_t>(*value);
}

std::string_view JsonTree::Value::text() const {
  if (kind() != Kind::kText) return {};
  return tree_->strings_[StringId{static_cast<uint32_t>(tree_->nodes_[node_].content)}];
}

std::vector<JsonTree::Value> JsonTree::Value::elements() const {
  std::vector<Value> values;
  if (kind() != Kind::kArray || !has_child()) return values;
  Value value = child();
  for (;;) {
    values.push_back(value);
    if (!value.has_next()) return values;
    value = value.next();
  }
}

}  // namespace profiler::importers
