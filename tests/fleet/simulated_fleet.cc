#include "tests/fleet/simulated_fleet.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/text.h"
#include "src/fleet/segments/window_builder.h"

namespace profiler::fleet {
namespace {

constexpr std::array<std::string_view, 10> kServices = {
    "web", "cart", "search", "auth", "pay", "mail", "advert", "feed", "media", "store"};
constexpr std::array<std::string_view, 3> kRegions = {"eu", "us", "asia"};
constexpr uint64_t kSecond = 1'000'000'000;

std::string ServiceName(uint32_t number) {
  const std::string name(kServices[number % kServices.size()]);
  return number < kServices.size() ? name : absl::StrCat(name, number / kServices.size());
}

// Returns `size` hexadecimal digits that look like the id of a container or a build. They depend
// only on the arguments.
std::string Digits(std::string_view text, uint64_t number, size_t size) {
  uint64_t seed = number;
  for (const char c : text) seed = SeededRandom(seed ^ static_cast<unsigned char>(c)).Next();
  SeededRandom random(seed);
  std::string digits;
  while (digits.size() < size) absl::StrAppendFormat(&digits, "%016x", random.Next());
  digits.resize(size);
  return digits;
}

// Adds a service's stacks to a window. Each frame of the service is added to the window only once.
class ServiceRows {
 public:
  ServiceRows(const SimulatedService& service, const Row& row, WindowBuilder& builder)
      : service_(service), row_(row), builder_(builder) {}

  void Add(uint32_t stack, uint64_t samples, uint64_t period) {
    uint32_t at = kNoCaller;
    for (const uint32_t function : service_.stack(stack))
      at = builder_.Stack(at, FrameOf(function));
    row_.stack = at;
    row_.samples = samples;
    row_.value = samples * period;
    builder_.Add(row_);
  }

 private:
  uint32_t FrameOf(uint32_t function) {
    const auto [known, is_new] = frames_.try_emplace(function, 0);
    if (is_new) {
      const SimulatedFunction& names = service_.functions()[function];
      known->second = builder_.Frame({names.name, names.image});
    }
    return known->second;
  }

  const SimulatedService& service_;
  Row row_;
  WindowBuilder& builder_;
  absl::flat_hash_map<uint32_t, uint32_t> frames_;
};

}  // namespace

SimulatedFleet::SimulatedFleet(const FleetOptions& options) : options_(options) {
  for (uint32_t i = 0; i < options.services; ++i) {
    services_.emplace_back(ServiceName(i), options.stacks_of_service, options.seed * 1000 + i);
  }
  for (const SimulatedService& service : services_) {
    Slow slow;
    if (!options.slow_function.empty()) slow.stacks = service.StacksIn(options.slow_function);
    const double share = service.ShareOf(slow.stacks);
    if (!slow.stacks.empty()) slow.chance = options.slow_points / 100 / (1 - share);
    slow_.push_back(std::move(slow));
  }
  options_.labels.emplace_back("region", "");
  std::ranges::sort(options_.labels);
}

std::string SimulatedFleet::HostName(uint32_t host) const {
  return absl::StrFormat("%shost-%05d", options_.first_host, host);
}

bool SimulatedFleet::IsSlow(uint32_t host) const {
  return SeededRandom(options_.seed * 31 + host).Share() < options_.slow_hosts;
}

bool SimulatedFleet::HasSlowFunction() const {
  return std::ranges::any_of(slow_, [](const Slow& slow) { return !slow.stacks.empty(); });
}

Window SimulatedFleet::WindowOf(uint32_t host, uint64_t number) const {
  WindowBuilder builder;
  Window& window = builder.window();
  window.host = HostName(host);
  window.labels = options_.labels;
  for (auto& [key, value] : window.labels) {
    if (key == "region") value = kRegions[host % kRegions.size()];
  }
  window.length = options_.window_seconds * kSecond;
  window.begin = options_.begin + static_cast<UnixTime>(number * window.length);
  window.frequency = options_.frequency;
  window.cpus = options_.cpus;
  window.version = "profiler 1.0.0";
  SeededRandom random(SeededRandom(options_.seed * 7919 + host).Next() + number);
  const auto samples = static_cast<uint64_t>(std::llround(
      options_.frequency * options_.cpus * static_cast<double>(options_.window_seconds)));
  const auto period = static_cast<uint64_t>(static_cast<double>(kSecond) / options_.frequency);
  const uint32_t event = builder.Event("cpu-clock");
  const std::array<uint32_t, 2> services = {host % options_.services,
                                            (host * 7 + 3) % options_.services};
  for (size_t i = 0; i < services.size(); ++i) {
    const SimulatedService& service = services_[services[i]];
    const Slow& slow = slow_[services[i]];
    const bool is_slow = !slow.stacks.empty() && IsSlow(host);
    std::string build = service.name();
    for (const auto& [key, value] : options_.labels) absl::StrAppend(&build, key, value);
    const std::string program = absl::StrCat(service.name(), "d");
    const std::string container = Digits(service.name(), host, 64);
    const std::string pod = Digits(service.name(), host + 1'000'000, 32);
    const std::string build_id = Digits(build, 0, 40);
    const uint32_t workload = builder.Workload({.service = service.name(),
                                                .container = container,
                                                .pod = pod,
                                                .program = program,
                                                .build_id = build_id});
    // [stack number]: number of samples. The order of this map makes equal options give equal
    // windows.
    std::map<uint32_t, uint64_t> counts;
    for (uint64_t sample = i; sample < samples; sample += services.size()) {
      const bool in_slow = is_slow && random.Share() < slow.chance;
      const uint32_t stack =
          in_slow ? slow.stacks[random.Below(static_cast<uint32_t>(slow.stacks.size()))]
                  : service.AnyStack(random);
      ++counts[stack];
    }
    ServiceRows rows(service, {.event = event, .workload = workload}, builder);
    for (const auto& [stack, count] : counts) rows.Add(stack, count, period);
  }
  window.losses.lost_samples = random.Below(100) == 0 ? random.Below(50) : 0;
  window.losses.chains = samples;
  window.losses.cut_chains = random.Below(1 + static_cast<uint32_t>(samples / 50));
  return std::move(builder).Finish();
}

std::vector<FunctionShare> SimulatedFleet::HeaviestFunctions(size_t of_service) const {
  std::vector<FunctionShare> heaviest;
  for (const SimulatedService& service : services_) {
    std::map<std::string, std::vector<uint32_t>> stacks;
    for (uint32_t i = 0; i < options_.stacks_of_service; ++i) {
      stacks[service.functions()[service.stack(i).back()].name].push_back(i);
    }
    std::vector<FunctionShare> functions;
    for (const auto& [name, numbers] : stacks) {
      functions.push_back({service.name(), name, service.ShareOf(numbers)});
    }
    std::ranges::stable_sort(functions, std::greater<>(), &FunctionShare::share);
    functions.resize(std::min(of_service, functions.size()));
    heaviest.insert(heaviest.end(), functions.begin(), functions.end());
  }
  return heaviest;
}

}  // namespace profiler::fleet
