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
#include "src/analysis/amount.h"
#include "src/base/text.h"
#include "src/base/utf8.h"
#include "src/fleet/push/otlp_sender.h"
#include "src/format/otlp/event_types.h"
#include "src/format/otlp/request.h"

namespace profiler::fleet {
namespace {

using otlp::Number;

// The stacks, functions and images of all windows, with their numbers in the request's dictionary.
class CodeNumbers {
 public:
  explicit CodeNumbers(otlp::Dictionary& dictionary) : dictionary_(dictionary) {}

  // Returns the number of a stack. Frames without an image are inlined into the next caller with an
  // image; together they are one location.
  Number StackOf(const Window& window, uint32_t leaf) {
    const auto [known, is_new] = stacks_.try_emplace({&window, leaf}, 0);
    if (!is_new) return known->second;
    std::vector<Number> locations;
    std::vector<otlp::Line> lines;
    for (uint32_t at = leaf; at != kNoCaller; at = window.stacks[at].caller) {
      const Frame& frame = window.frames[window.stacks[at].frame];
      lines.push_back({.function = FunctionOf(window.strings[frame.function])});
      const bool ends_location =
          frame.image != StringId::kEmpty || window.stacks[at].caller == kNoCaller;
      if (!ends_location) continue;
      locations.push_back(LocationOf(window, frame, lines));
      lines.clear();
    }
    return known->second = dictionary_.AddStack(locations);
  }

 private:
  Number FunctionOf(std::string_view name) {
    const std::string valid = ValidUtf8(name.empty() ? "[unknown]" : name);
    return dictionary_.Add(otlp::Function{.name = valid});
  }

  // Returns the number of a mapping; 0 if its build-id is unknown, because a mapping must have a
  // build-id.
  Number ImageOf(std::string_view name, std::string_view build_id) {
    const size_t colon = build_id.find(':');
    if (name.empty() || colon == build_id.npos) return 0;
    const std::string valid = ValidUtf8(name);
    const std::string key =
        absl::StrCat("process.executable.build_id.", View(build_id.substr(0, colon)));
    const std::array<Number, 1> attributes = {
        dictionary_.Attribute(key, ValidUtf8(build_id.substr(colon + 1)))};
    return dictionary_.Add(otlp::Mapping{.filename = valid, .attributes = attributes});
  }

  Number LocationOf(const Window& window, const Frame& frame, std::span<const otlp::Line> lines) {
    const std::string_view image = window.strings[frame.image];
    const Number mapping = ImageOf(image, window.strings[frame.build_id]);
    const bool is_file = !image.empty() && !image.starts_with('[');
    std::string type = ValidUtf8(window.strings[frame.type]);
    // Segments of older versions have no type.
    if (type.empty() && IsKernelImage(image)) type = "kernel";
    if (type.empty() && is_file) type = "native";
    std::vector<Number> attributes;
    if (!type.empty()) attributes.push_back(dictionary_.Attribute("profile.frame.type", type));
    if (mapping == 0 && is_file && !IsKernelImage(image)) {
      attributes.push_back(dictionary_.Attribute("process.executable.path", ValidUtf8(image)));
    }
    return dictionary_.Add(otlp::Location{
        .mapping = mapping, .address = std::nullopt, .lines = lines, .attributes = attributes});
  }

  otlp::Dictionary& dictionary_;
  absl::flat_hash_map<std::pair<const Window*, uint32_t>, Number> stacks_;
};

// Identity of a resource: the host with its labels, service, container and pod.
using Identity = std::vector<std::pair<std::string, std::string>>;

// Returns the service's name, or the name that the conventions require for an unnamed service.
std::string ServiceOf(const Window& window, const Workload& workload) {
  const std::string_view service = window.strings[workload.service];
  if (!service.empty()) return ValidUtf8(service);
  const std::string_view program = window.strings[workload.program];
  return program.empty() ? "unknown_service" : absl::StrCat("unknown_service:", ValidUtf8(program));
}

Identity IdentityOf(const Window& window, const Workload& workload) {
  Identity identity = {{"service.name", ServiceOf(window, workload)},
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

// The rows of one event of one resource in one window.
struct Part {
  uint32_t window = 0;
  uint32_t event = 0;
  std::vector<uint32_t> rows;
};

// Returns an id that is equal only for equal rows of the same window.
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
      const otlp::ResourceProfiles::Attributes attributes(identity->begin(), identity->end());
      otlp::ResourceProfiles resource(request_, attributes,
                                      otlp::ScopeOf(windows_[parts.front().window].version));
      for (const Part& part : parts) WritePart(resource, *identity, part);
    }
    return std::move(request_).Finish();
  }

 private:
  void Divide() {
    for (uint32_t i = 0; i < windows_.size(); ++i) {
      const Window& window = windows_[i];
      std::vector<size_t> resources;  // [w]: of workload w
      for (const Workload& workload : window.workloads) {
        resources.push_back(
            numbers_.try_emplace(IdentityOf(window, workload), numbers_.size()).first->second);
      }
      parts_.resize(numbers_.size());
      std::map<std::pair<size_t, uint32_t>, Part> of_window;  // keyed by resource, event
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
    const otlp::EventTypes types = otlp::TypesOf(event, analysis::IsTime(event));
    uint64_t samples = 0, value = 0;
    for (const uint32_t row : part.rows) {
      samples += window.rows[row].samples;
      value += window.rows[row].value;
    }
    std::vector<Number> attributes;
    if (types.type != event) {
      attributes.push_back(request_.dictionary().Attribute("perf.event.name", event));
    }
    otlp::ProfileHead head = {
        .type = "samples",
        .unit = "count",
        .began = static_cast<uint64_t>(window.begin),
        .duration = window.length,
        .period = types.values_have_period ? otlp::MeanPeriod(value, samples) : 1,
        .period_type = types.period_type,
        .period_unit = types.period_unit,
        .attributes = attributes};
    WriteProfile(resource, identity, part, head, event, &Row::samples);
    head.type = types.type;
    head.unit = types.unit;
    if (!types.values_have_period) head.period = 0;
    WriteProfile(resource, identity, part, head, event, &Row::value);
  }

  // Writes a profile. Rows that differ only in columns that are not sent become one sample.
  void WriteProfile(otlp::ResourceProfiles& resource, const Identity& identity, const Part& part,
                    otlp::ProfileHead head, std::string_view event, uint64_t Row::*value) {
    const Window& window = windows_[part.window];
    const std::string id = IdOf(identity, window, event, head.type);
    head.id = id;
    otlp::ProfileOfType profile(resource, head);
    std::vector<std::pair<std::vector<Number>, Number>> order;
    absl::flat_hash_map<std::pair<std::vector<Number>, Number>, uint64_t> sums;
    for (const uint32_t number : part.rows) {
      const Row& row = window.rows[number];
      std::pair key(AttributesOf(window, window.workloads[row.workload]),
                    code_.StackOf(window, row.stack));
      const auto [known, is_new] = sums.try_emplace(key, 0);
      if (is_new) order.push_back(std::move(key));
      known->second += row.*value;
    }
    for (const auto& key : order) {
      const std::array<int64_t, 1> values = {static_cast<int64_t>(sums[key])};
      profile.Add({.stack = key.second, .attributes = key.first, .values = values});
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
  std::map<Identity, size_t> numbers_;    // number of each resource
  std::vector<std::vector<Part>> parts_;  // [n]: parts of resource n
  std::vector<const Identity*> order_;
};

}  // namespace

std::string OtlpRequest(std::span<const Window> windows) {
  return RequestOfWindows(windows).Write();
}

}  // namespace profiler::fleet
