#include "src/views/summary/heaviest_path.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "src/base/text.h"

namespace profiler::summary {
namespace {

using profile::Frame;
using profile::kNoStack;
using profile::Line;
using profile::Profile;
using profile::StackId;

// A walk down the tree of stacks. Its points are the positions in the tree that the path has
// reached:
//
//   main ── run ── step       `run ── step` is one stack node. Its frame has two lines, because
//                    └ add    step is inlined into run. A point is in front of one line
class PathFinder {
 public:
  PathFinder(const Profile& profile, HugeVector<double> weights)
      : profile_(profile),
        weights_(std::move(weights)),
        first_child_(profile.stacks.size(), kNoStack),
        next_sibling_(profile.stacks.size(), kNoStack) {
    // A caller's id is lower than its callees'. So each list of siblings begins with the lowest id.
    for (size_t i = profile.stacks.size(); i-- > 0;) {
      const StackId id{static_cast<uint32_t>(i)};
      const StackId parent = profile[id].parent;
      if (parent != kNoStack) weights_[Index(parent)] += weights_[i];
      StackId& first = parent == kNoStack ? first_root_ : first_child_[Index(parent)];
      next_sibling_[i] = std::exchange(first, id);
    }
    AddStacks(first_root_);
  }

  std::vector<PathPart> Find(double whole, size_t most) {
    std::vector<PathPart> path;
    double above = whole;
    while (path.size() < most && TakeHeaviest(path)) {
      // If no callee has half of its caller's weight, the path ends.
      if (path.back().weight * 2 < above) {
        path.pop_back();
        break;
      }
      above = path.back().weight;
    }
    return path;
  }

 private:
  // A position in front of a line of a stack node's frame: `lines` of the lines are still to come.
  struct Point {
    StackId stack{};
    size_t lines = 0;  // number of lines to come, the outermost last; 0: image
  };
  struct Callee {
    double weight = 0;
    size_t order = 0;  // order of first sight; of equal weights, the first seen wins
  };
  // Identity of a function: {name of its symbol, false}, or {name of its image, true}.
  using Key = std::pair<StringId, bool>;

  template <class Id>
  static uint32_t Index(Id id) {
    return static_cast<uint32_t>(id);
  }

  std::span<const Line> LinesOf(const Point& point) const {
    return profile_.LinesOf(profile_[profile_[point.stack].frame]).first(point.lines);
  }

  // Adds a point. Skips the outermost lines without a name; if no line has a name, the point is in
  // front of the image.
  void AddPoint(Point point) {
    const std::span<const Line> lines = LinesOf(point);
    while (point.lines != 0 && lines[point.lines - 1].symbol == profile::kNoSymbol) --point.lines;
    points_.push_back(point);
  }

  void AddStacks(StackId first) {
    for (StackId id = first; id != kNoStack; id = next_sibling_[Index(id)]) {
      if (weights_[Index(id)] == 0) continue;
      AddPoint({id, profile_.LinesOf(profile_[profile_[id].frame]).size()});
    }
  }

  Key KeyOf(const Point& point) const {
    if (point.lines != 0) {
      return {profile_[LinesOf(point).back().symbol].name, false};
    }
    const Frame& frame = profile_[profile_[point.stack].frame];
    return {profile_[frame.image].name, true};
  }

  std::string NameOf(const Key& key) const {
    const std::string_view text = profile_.text(key.first);
    const bool is_bare_image = key.second && !text.starts_with('[');
    return is_bare_image ? absl::StrCat("[", View(text), "]") : std::string(text);
  }

  // Adds the points behind the point's line: the point in front of the next line with a name or, if
  // there is no such line, the points in front of the stack node's callees.
  void GoOn(Point point) {
    const std::span<const Line> lines = LinesOf(point);
    for (size_t left = lines.size(); left-- > 1;) {
      if (lines[left - 1].symbol == profile::kNoSymbol) continue;
      points_.push_back({point.stack, left});
      return;
    }
    AddStacks(first_child_[Index(point.stack)]);
  }

  // Returns false if no stack continues.
  bool TakeHeaviest(std::vector<PathPart>& path) {
    if (points_.empty()) return false;
    absl::flat_hash_map<Key, Callee> callees;
    for (const Point& point : points_) {
      Callee& callee = callees.try_emplace(KeyOf(point), Callee{0, callees.size()}).first->second;
      callee.weight += weights_[Index(point.stack)];
    }
    const auto heaviest =
        std::max_element(callees.begin(), callees.end(), [](const auto& a, const auto& b) {
          return a.second.weight != b.second.weight ? a.second.weight < b.second.weight
                                                    : a.second.order > b.second.order;
        });
    const Key key = heaviest->first;
    const double weight = heaviest->second.weight;
    const std::vector<Point> before = std::exchange(points_, {});
    const Point* first = nullptr;
    for (const Point& point : before) {
      if (KeyOf(point) != key) continue;
      if (first == nullptr) first = &point;
      GoOn(point);
    }
    path.push_back({NameOf(key), profile_[first->stack].frame, weight});
    return true;
  }

  const Profile& profile_;
  HugeVector<double> weights_;  // including callees
  std::vector<StackId> first_child_, next_sibling_;
  StackId first_root_ = kNoStack;
  std::vector<Point> points_;  // positions behind the path's last function
};

}  // namespace

std::vector<PathPart> HeaviestPath(const Profile& profile, HugeVector<double> weights, double whole,
                                   size_t most) {
  return PathFinder(profile, std::move(weights)).Find(whole, most);
}

}  // namespace profiler::summary
