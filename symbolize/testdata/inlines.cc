// A program with many inlined calls, for tests that compare with other symbolizers.
// Never run.

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace fixture {

struct Node {
  std::string name;
  int weight = 0;
  std::vector<std::unique_ptr<Node>> children;
};

static int Weigh(const Node& node) {
  int sum = node.weight;
  for (const auto& child : node.children) sum += Weigh(*child);
  return sum;
}

template <class Visitor>
void Visit(const Node& node, Visitor&& visitor) {
  visitor(node);
  for (const auto& child : node.children) Visit(*child, visitor);
}

namespace {

class Words {
 public:
  void Add(const std::string& text) {
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find(' ', at), text.size());
      ++counts_[text.substr(at, end - at)];
      at = end + 1;
    }
  }
  std::unique_ptr<Node> Tree() const {
    auto root = std::make_unique<Node>();
    for (const auto& entry : counts_) {
      auto node = std::make_unique<Node>();
      node->name = entry.first;
      node->weight = entry.second;
      root->children.push_back(std::move(node));
    }
    return root;
  }

 private:
  std::map<std::string, int> counts_;
};

}  // namespace
}  // namespace fixture

int main(int argc, char** argv) {
  fixture::Words words;
  for (int i = 0; i < argc; ++i) words.Add(argv[i]);
  const auto root = words.Tree();
  std::vector<std::string> names;
  fixture::Visit(*root, [&](const fixture::Node& node) { names.push_back(node.name); });
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  });
  std::stable_sort(names.begin(), names.end());
  const std::function<int(int)> sum = [&](int n) {
    return n == 0 ? fixture::Weigh(*root) : sum(n - 1) + static_cast<int>(names[0].size());
  };
  return sum(argc);
}
