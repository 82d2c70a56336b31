#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "src/base/utf8.h"
#include "src/fleet/push/otlp_sender.h"
#include "src/otlp/request.h"
#include "src/query/amount.h"

namespace profiler::fleet {
namespace {

using otlp::Number;

constexpr double kNanosecondsOfSecond = 1e9;

// The code of all windows: each function, image, location and stack once.
class CodeNumbers {
 public:
  explicit CodeNumbers(otlp::Dictionary& dictionary) : dictionary_(dictionary) {}

  // Frames without an image are inlined into the next one up that has one: they are one location.
  Number StackOf(const Window& window, uint32_t leaf) {
    std::vector<Number> locations, functions;
    for (uint32_t at = leaf; at != kNoCaller; at = window.stacks[at].caller) {
      const Frame& frame = window.frames[window.stacks[at].frame];
      functions.push_back(FunctionOf(window.strings[frame.function]));
      const bool ends_location =
          frame.image != StringId::kEmpty || window.stacks[at].caller == kNoCaller;
      if (!ends_location) continue;
      locations.push_back(LocationOf(window.strings[frame.image], functions));
      functions.clear();
    }
    const auto [known, added] = stacks_.try_emplace(locations, 0);
    if (added) known->second = dictionary_.AddStack(locations);
    return known->second;
  }

 private:
  Number FunctionOf(std::string_view name) {
    const auto [known, added] = functions_.try_emplace(std::string(name), 0);
    if (added) {
      const std::string valid = ValidUtf8(name);
      known->second = dictionary_.Add(otlp::Function{.name = valid});
    }
    return known->second;
  }

  Number ImageOf(std::string_view name) {
    if (name.empty()) return 0;
    const auto [known, added] = images_.try_emplace(std::string(name), 0);
    if (added) {
      const std::string valid = ValidUtf8(name);
      known->second = dictionary_.Add(otlp::Mapping{.filename = valid});
    }
    return known->second;
  }

  Number LocationOf(std::string_view image, const std::vector<Number>& functions) {
    const Number mapping = ImageOf(image);
    const auto [known, added] = locations_.try_emplace({mapping, functions}, 0);
    if (added) {
      std::vector<otlp::Line> lines;
      for (const Number function : functions) lines.push_back({.function = function});
      const std::array<Number, 1> attributes = {dictionary_.Attribute(
          "profile.frame.type", std::string(IsKernelImage(image) ? "kernel" : "native"))};
      known->second = dictionary_.Add(otlp::Location{
          .mapping = mapping, .address = std::nullopt, .lines = lines, .attributes = attributes});
    }
    return known->second;
  }

  otlp::Dictionary& dictionary_;
  absl::flat_hash_map<std::string, Number> functions_, images_;
  absl::flat_hash_map<std::pair<Number, std::vector<Number>>, Number> locations_;
  absl::flat_hash_map<std::vector<Number>, Number> stacks_;
};

// Who is a resource: the host with its labels, and of its workloads those that agree in these.
using Identity = std::vector<std::pair<std::string, std::string>>;

Identity IdentityOf(const Window& window, const Workload& workload) {
  Identity identity = {{"service.name", ValidUtf8(window.strings[workload.service])},
                       {"host.name", ValidUtf8(window.host)},
                       {"container.id", ValidUtf8(window.strings[workload.container])},
                       {"k8s.pod.uid", ValidUtf8(window.strings[workload.pod])}};
  const size_t ours = identity.size();
  for (const auto& [key, value] : window.labels) {
    const bool is_taken =
        std::any_of(identity.begin(), identity.begin() + static_cast<ptrdiff_t>(ours),
                    [&](const auto& attribute) { return attribute.first == key; });
    if (!is_taken) identity.emplace_back(ValidUtf8(key), ValidUtf8(value));
  }
  return identity;
}

// The rows of one event, of one resource, in one window.
struct Part {
  uint32_t window = 0;
  uint32_t event = 0;
  std::vector<uint32_t> rows;
};

// The same for the same rows of the same window, and no other.
std::string IdOf(const Identity& identity, const Window& window, std::string_view event,
                 std::string_view type) {
  std::string text = absl::StrCat(window.begin, " ", window.length);
  for (const auto& [key, value] : identity) {
    for (const std::string& part : {key, value}) absl::StrAppend(&text, "\n", part.size(), part);
  }
  absl::StrAppend(&text, "\n", event.size());
  text.append(event).append(type);
  XXH128_canonical_t id;
  XXH128_canonicalFromHash(&id, XXH3_128bits(text.data(), text.size()));
  return {reinterpret_cast<const char*>(id.digest), sizeof(id.digest)};
}

class RequestOfWindows {
 public:
  explicit RequestOfWindows(std::span<const Window> windows) : windows_(windows) {}

  std::string Write() && {
    Divide();
    for (const auto& [identity, number] : numbers_) order_.push_back(&identity);
    std::ranges::sort(order_, {}, [&](const Identity* identity) { return numbers_[*identity]; });
    for (const Identity* identity : order_) {
      const std::vector<Part>& parts = parts_[numbers_[*identity]];
      otlp::ResourceProfiles resource(request_, *identity, windows_[parts.front().window].version);
      for (const Part& part : parts) WritePart(resource, *identity, part);
    }
    return std::move(request_).Finish();
  }

 private:
  void Divide() {
    for (uint32_t i = 0; i < windows_.size(); ++i) {
      const Window& window = windows_[i];
      std::vector<size_t> resources;  // by workload
      for (const Workload& workload : window.workloads) {
        resources.push_back(
            numbers_.try_emplace(IdentityOf(window, workload), numbers_.size()).first->second);
      }
      parts_.resize(numbers_.size());
      std::map<std::pair<size_t, uint32_t>, Part> of_window;  // by resource and event
      for (uint32_t row = 0; row < window.rows.size(); ++row) {
        const auto [resource, event] =
            std::pair(resources[window.rows[row].workload], window.rows[row].event);
        Part& part = of_window[{resource, event}];
        part.window = i;
        part.event = event;
        part.rows.push_back(row);
      }
      for (auto& [key, part] : of_window) parts_[key.first].push_back(std::move(part));
    }
    std::erase_if(numbers_, [&](const auto& known) { return parts_[known.second].empty(); });
  }

  void WritePart(otlp::ResourceProfiles& resource, const Identity& identity, const Part& part) {
    const Window& window = windows_[part.window];
    const std::string event = ValidUtf8(window.strings[window.events[part.event].name]);
    const bool is_time = query::IsTime(event);
    otlp::ProfileHead head = {.began = static_cast<uint64_t>(window.begin),
                              .duration = window.length};
    if (is_time && window.frequency > 0) {
      head.period = static_cast<int64_t>(kNanosecondsOfSecond / window.frequency);
      head.period_type = event;
      head.period_unit = "nanoseconds";
    }
    head.type = "samples";
    head.unit = "count";
    WriteProfile(resource, identity, part, head, event, &Row::samples);
    head.type = event;
    head.unit = is_time ? "nanoseconds" : "count";
    WriteProfile(resource, identity, part, head, event, &Row::value);
  }

  void WriteProfile(otlp::ResourceProfiles& resource, const Identity& identity, const Part& part,
                    otlp::ProfileHead head, std::string_view event, uint64_t Row::*value) {
    const Window& window = windows_[part.window];
    const std::string id = IdOf(identity, window, event, head.type);
    head.id = id;
    otlp::ProfileOfType profile(resource, head);
    for (const uint32_t number : part.rows) {
      const Row& row = window.rows[number];
      const std::vector<Number> attributes = AttributesOf(window, window.workloads[row.workload]);
      const std::array<int64_t, 1> values = {static_cast<int64_t>(row.*value)};
      profile.Add(
          {.stack = code_.StackOf(window, row.stack), .attributes = attributes, .values = values});
    }
  }

  std::vector<Number> AttributesOf(const Window& window, const Workload& workload) {
    std::vector<Number> attributes;
    const auto add = [&](std::string_view key, StringId text) {
      if (text == StringId::kEmpty) return;
      attributes.push_back(request_.dictionary().Attribute(key, ValidUtf8(window.strings[text])));
    };
    add("process.executable.name", workload.program);
    add("process.executable.build_id.gnu", workload.build_id);
    return attributes;
  }

  const std::span<const Window> windows_;
  otlp::Request request_;
  CodeNumbers code_{request_.dictionary()};
  std::map<Identity, size_t> numbers_;    // in the order of their first row
  std::vector<std::vector<Part>> parts_;  // by number
  std::vector<const Identity*> order_;
};

}  // namespace

std::string OtlpRequest(std::span<const Window> windows) {
  return RequestOfWindows(windows).Write();
}

}  // namespace profiler::fleet
