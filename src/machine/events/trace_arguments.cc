#include "src/machine/events/trace_arguments.h"

#include <cstdlib>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "src/machine/events/trace_tokens.h"

namespace profiler::events {
namespace {

using Kind = TraceNode::Kind;
using TokenKind = TraceToken::Kind;

constexpr size_t kMostNodes = 1000;
constexpr int kMostDepth = 200;
constexpr uint32_t kMissing = TraceNode::kMissing;

// Returns the priority of an operator with two operands; -1 if it is none.
int PriorityOf(std::string_view op) {
  static const absl::flat_hash_map<std::string_view, int> kPriorities = {
      {"~", 4},   {"!", 4},  {"*", 6},  {"/", 6},   {"%", 6},   {"+", 7},  {"-", 7},
      {"<<", 8},  {">>", 8}, {"<", 9},  {">", 9},   {"<=", 9},  {">=", 9}, {"==", 10},
      {"!=", 10}, {"&", 11}, {"|", 13}, {"&&", 14}, {"||", 15}, {"?", 16}};
  const auto found = kPriorities.find(op);
  return found == kPriorities.end() ? -1 : found->second;
}

bool IsBinary(std::string_view op) {
  const int priority = PriorityOf(op);
  return priority >= 6 && priority <= 15;
}

bool StartsWithDigit(std::string_view text) {
  return !text.empty() && absl::ascii_isdigit(static_cast<unsigned char>(text.front()));
}

// Returns the bits that a cast to `type` keeps.
uint64_t MaskOf(std::string_view type) {
  if (type.ends_with('*') || type.starts_with("struct")) return UINT64_MAX;
  constexpr std::string_view kUnsigned = "unsigned ";
  if (type == "u8" || type == "s8") return UINT8_MAX;
  if (type == "u16" || type == "s16") return UINT16_MAX;
  if (type == "u32" || type == "s32") return UINT32_MAX;
  if (type.starts_with(kUnsigned)) type.remove_prefix(kUnsigned.size());
  if (type == "char") return UINT8_MAX;
  if (type == "short") return UINT16_MAX;
  if (type == "int") return UINT32_MAX;
  return UINT64_MAX;
}

// Returns the value of a constant of the softirq and timer events, which kernels leave as a name; -1
// for other names.
int64_t ValueOfConstant(std::string_view name) {
  static const absl::flat_hash_map<std::string_view, int64_t> kValues = {
      {"HI_SOFTIRQ", 0},      {"TIMER_SOFTIRQ", 1},     {"NET_TX_SOFTIRQ", 2},
      {"NET_RX_SOFTIRQ", 3},  {"BLOCK_SOFTIRQ", 4},     {"IRQ_POLL_SOFTIRQ", 5},
      {"TASKLET_SOFTIRQ", 6}, {"SCHED_SOFTIRQ", 7},     {"HRTIMER_SOFTIRQ", 8},
      {"RCU_SOFTIRQ", 9},     {"HRTIMER_NORESTART", 0}, {"HRTIMER_RESTART", 1}};
  const auto found = kValues.find(name);
  return found == kValues.end() ? -1 : found->second;
}

class Parser {
 public:
  explicit Parser(const TraceEvent& event) : event_(event), tokens_(event.arguments) {}

  std::optional<TraceArguments> Parse() {
    TraceToken token;
    do {
      const uint32_t root = NewNode();
      token = Argument(root);
      if (token.kind == TokenKind::kOperator) token = Operator(root, token);
      tree_.roots.push_back(root);
    } while (!failed_ && token.IsDelimiter(','));
    if (failed_ || token.kind != TokenKind::kEnd) return std::nullopt;
    return std::move(tree_);
  }

 private:
  // Counts how deep the parser's functions call each other.
  struct Depth {
    explicit Depth(Parser& parser) : parser(parser) {
      if (++parser.depth_ > kMostDepth) parser.failed_ = true;
    }
    ~Depth() { --parser.depth_; }
    Parser& parser;
  };

  TraceToken Fail() {
    failed_ = true;
    return {TokenKind::kInvalid, ""};
  }
  TraceNode& at(uint32_t node) { return tree_.nodes[node]; }
  uint32_t NewNode() {
    if (tree_.nodes.size() >= kMostNodes) {
      failed_ = true;
      return 0;
    }
    tree_.nodes.emplace_back();
    return static_cast<uint32_t>(tree_.nodes.size() - 1);
  }
  // Moves the content of `node` to a new node and returns that node's index.
  uint32_t MoveToNew(uint32_t node) {
    const uint32_t copy = NewNode();
    if (failed_) return copy;
    at(copy) = std::move(at(node));
    at(node) = TraceNode();
    return copy;
  }

  // Each of these parses a part into `node`, and returns the token after it.
  TraceToken Argument(uint32_t node) { return ArgumentFrom(node, tokens_.Next()); }

  TraceToken ArgumentFrom(uint32_t node, TraceToken token) {
    const Depth depth(*this);
    if (failed_) return Fail();
    switch (token.kind) {
      case TokenKind::kItem:
        return token.text == "REC" ? FieldOfRecord(node) : Item(node, std::move(token.text));
      case TokenKind::kString:
        at(node).kind = Kind::kString;
        at(node).text = std::move(token.text);
        return tokens_.Next();
      case TokenKind::kOperator:
        at(node).kind = Kind::kOperator;
        at(node).text = token.text;
        return Operator(node, token);
      default:
        return token.IsDelimiter('(') ? Parentheses(node) : Fail();
    }
  }

  // Parses "->NAME". In "(REC)->NAME", the closing parenthesis comes first; returns it as an item.
  TraceToken FieldOfRecord(uint32_t node) {
    TraceToken token = tokens_.Next();
    if (token.IsDelimiter(')')) return {TokenKind::kItem, ")"};
    if (!token.IsOperator("->")) return Fail();
    const auto field = event_.Find(tokens_.Next().text);
    if (!field) return Fail();
    at(node).kind = Kind::kField;
    at(node).field = *field;
    return tokens_.Next();
  }

  // Parses a call, a number, or the words of a type.
  TraceToken Item(uint32_t node, std::string text) {
    TraceToken token = tokens_.Next();
    if (token.IsDelimiter('(')) return Call(node, text);
    if (StartsWithDigit(text)) {
      at(node).kind = Kind::kNumber;
      at(node).number = std::strtoull(text.c_str(), nullptr, 0);
      return token.kind == TokenKind::kItem ? Fail() : token;
    }
    for (; token.kind == TokenKind::kItem; token = tokens_.Next()) text += ' ' + token.text;
    at(node).kind = Kind::kWord;
    at(node).text = std::move(text);
    return token;
  }

  TraceToken Parentheses(uint32_t node) {
    TraceToken token = Argument(node);
    if (token.kind == TokenKind::kOperator) token = Operator(node, token);
    if (token.kind == TokenKind::kItem && token.text == ")") return FieldOfRecord(node);
    if (failed_ || !token.IsDelimiter(')')) return Fail();
    token = tokens_.Next();
    const bool is_cast = token.kind == TokenKind::kItem || token.kind == TokenKind::kString ||
                         token.IsDelimiter('(');
    if (!is_cast) return token;
    if (at(node).kind != Kind::kWord) return Fail();
    const uint32_t value = NewNode();
    if (failed_) return Fail();
    at(node).kind = Kind::kCast;
    at(node).number = MaskOf(at(node).text);
    at(node).left = value;
    return ArgumentFrom(value, std::move(token));
  }

  // Parses what follows the operator `token`; `node` is its left operand, and becomes its result.
  TraceToken Operator(uint32_t node, const TraceToken& token) {
    const Depth depth(*this);
    if (failed_) return Fail();
    const std::string& op = token.text;
    uint32_t right = kMissing;
    TraceToken next;
    if (at(node).kind == Kind::kOperator && at(node).left == kMissing) {
      if (op != "~" && op != "!" && op != "+" && op != "-") return Fail();
      const uint32_t none = NewNode();
      right = NewNode();
      if (failed_) return Fail();
      at(node).left = none;
      at(node).right = right;
      next = Argument(right);
    } else if (op == "?") {
      BecomeOperator(node, op, 0);
      if (failed_) return Fail();
      next = Alternatives(node);
    } else if (op == "[") {
      BecomeOperator(node, op, 0);
      const uint32_t index = NewNode();
      if (failed_) return Fail();
      at(node).right = index;
      if (!Argument(index).IsOperator("]")) return Fail();
      next = tokens_.Next();
    } else if (IsBinary(op)) {
      next = tokens_.Next();
      if (op == "*" && next.IsDelimiter(')') && at(node).kind == Kind::kWord) {
        at(node).text += " *";
        return next;
      }
      BecomeOperator(node, op, PriorityOf(op));
      right = NewNode();
      if (failed_) return Fail();
      next = ArgumentFrom(right, std::move(next));
      if (failed_) return Fail();
      SetRight(node, right);
    } else {
      return Fail();
    }
    if (failed_) return Fail();
    if (next.kind != TokenKind::kOperator || next.text == ":") return next;
    if (PriorityOf(next.text) > at(node).priority) return Operator(node, next);
    return right == kMissing ? Fail() : Operator(right, next);
  }

  void BecomeOperator(uint32_t node, const std::string& op, int priority) {
    const uint32_t left = MoveToNew(node);
    if (failed_) return;
    at(node).kind = Kind::kOperator;
    at(node).text = op;
    at(node).priority = priority;
    at(node).left = left;
  }

  // Sets the right operand. If it is an operator that binds less, as in a * (b + c), libtraceevent
  // ignores the parentheses: (a * b) + c.
  void SetRight(uint32_t node, uint32_t right) {
    const bool is_swapped =
        at(right).kind == Kind::kOperator && at(node).priority < PriorityOf(at(right).text);
    at(node).right = is_swapped ? at(right).left : right;
    if (!is_swapped) return;
    std::swap(at(node), at(right));
    at(node).left = right;
  }

  // Parses "a : b" after a question mark.
  TraceToken Alternatives(uint32_t node) {
    const uint32_t both = NewNode(), left = NewNode(), right = NewNode();
    if (failed_) return Fail();
    TraceToken token = Argument(left);
    while (!failed_ && token.kind == TokenKind::kOperator && token.text != ":") {
      token = Operator(left, token);
    }
    if (failed_ || !token.IsOperator(":")) return Fail();
    at(both).kind = Kind::kOperator;
    at(both).text = ":";
    at(both).left = left;
    at(both).right = right;
    at(node).right = both;
    return Argument(right);
  }

  // Parses a call, after the opening parenthesis.
  TraceToken Call(uint32_t node, std::string_view function) {
    if (function == "__print_flags") return Names(node, Kind::kFlags);
    if (function == "__print_symbolic") return Names(node, Kind::kSymbolic);
    if (function == "__get_str" || function == "__get_rel_str") {
      return FieldCall(node, Kind::kDynamicString);
    }
    if (function == "__get_dynamic_array_len" || function == "__get_rel_dynamic_array_len") {
      return FieldCall(node, Kind::kDynamicLength);
    }
    return Fail();
  }

  // Parses "NAME)".
  TraceToken FieldCall(uint32_t node, Kind kind) {
    const auto field = event_.Find(tokens_.Next().text);
    if (!field || !event_.fields[*field].is_dynamic) return Fail();
    if (kind == Kind::kDynamicString && !event_.fields[*field].is_string) return Fail();
    at(node).kind = kind;
    at(node).field = *field;
    return tokens_.Next().IsDelimiter(')') ? tokens_.Next() : Fail();
  }

  // Parses "VALUE, {1, "one"}, …)", or with a delimiter before the names: "VALUE, "|", {1, …".
  TraceToken Names(uint32_t node, Kind kind) {
    const uint32_t value = NewNode();
    if (failed_) return Fail();
    TraceToken token = Argument(value);
    while (!failed_ && token.kind == TokenKind::kOperator) token = Operator(value, token);
    if (failed_ || !token.IsDelimiter(',')) return Fail();
    at(node).kind = kind;
    at(node).left = value;
    token = tokens_.Next();
    if (kind == Kind::kFlags) {
      if (token.kind != TokenKind::kString) return Fail();
      at(node).text = std::move(token.text);
      if (!tokens_.Next().IsDelimiter(',')) return Fail();
      token = tokens_.Next();
    }
    while (token.IsOperator("{")) {
      if (!Name(node)) return Fail();
      token = tokens_.Next();
      if (token.IsDelimiter(',')) token = tokens_.Next();
    }
    return token.IsDelimiter(')') ? tokens_.Next() : Fail();
  }

  // Parses "VALUE, "name"}" and adds it to the names of `node`.
  bool Name(uint32_t node) {
    const size_t nodes = tree_.nodes.size();
    const uint32_t value = NewNode();
    if (failed_) return false;
    TraceToken token = Argument(value);
    if (!failed_ && token.kind == TokenKind::kOperator) token = Operator(value, token);
    if (failed_ || !token.IsDelimiter(',')) return false;
    const auto constant = Constant(value);
    TraceToken text = tokens_.Next();
    if (!constant || text.kind != TokenKind::kString || !tokens_.Next().IsOperator("}")) {
      return false;
    }
    at(node).names.emplace_back(*constant, std::move(text.text));
    tree_.nodes.resize(nodes);
    return true;
  }

  // Returns the value of a constant, -1 if it is negative or a name; nullopt if it cannot be
  // computed.
  std::optional<int64_t> Constant(uint32_t node) {
    uint32_t value = node;
    while (at(value).kind == Kind::kCast) value = at(value).left;
    if (at(value).kind == Kind::kWord) return ValueOfConstant(at(value).text);
    const auto number = Number(value);
    if (!number) return std::nullopt;
    return at(value).kind == Kind::kOperator && *number < 0 ? -1 : *number;
  }

  std::optional<int64_t> Number(uint32_t node) {
    const TraceNode& value = at(node);
    if (value.kind == Kind::kNumber) return static_cast<int64_t>(value.number);
    if (value.kind == Kind::kCast) {
      const auto number = Number(value.left);
      if (!number) return std::nullopt;
      return static_cast<int64_t>(static_cast<uint64_t>(*number) & value.number);
    }
    if (value.kind != Kind::kOperator) return std::nullopt;
    const bool is_unary = at(value.left).kind == Kind::kNone;
    const auto a = is_unary ? std::optional<int64_t>(0) : Number(value.left);
    const auto b = Number(value.right);
    if (!a || !b) return std::nullopt;
    const auto left = static_cast<uint64_t>(*a), right = static_cast<uint64_t>(*b);
    if (value.text == "~") return static_cast<int64_t>(~right);
    if (value.text == "-") return static_cast<int64_t>(left - right);
    if (value.text == "+") return static_cast<int64_t>(left + right);
    if (is_unary) return std::nullopt;
    if (value.text == "|") return static_cast<int64_t>(left | right);
    if (value.text == "&") return static_cast<int64_t>(left & right);
    if (right > 63) return std::nullopt;
    if (value.text == "<<") return static_cast<int64_t>(left << right);
    if (value.text == ">>") return *a >> *b;
    return std::nullopt;
  }

  const TraceEvent& event_;
  TraceTokens tokens_;
  TraceArguments tree_;
  bool failed_ = false;
  int depth_ = 0;
};

}  // namespace

std::optional<TraceArguments> ParseTraceArguments(const TraceEvent& event) {
  if (event.arguments.empty()) return TraceArguments();
  return Parser(event).Parse();
}

}  // namespace profiler::events
