#include "tests/estimate/simulated_fleet.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "src/fleet/comparison/compare_hosts.h"

namespace profiler::diff {
namespace {

constexpr size_t kChanged = 3;
constexpr double kShareOfChanged = 0.05;
// Every fifth function belongs to the other task.
constexpr size_t kEvery = 5;

std::string NameOf(size_t function) { return "f" + std::to_string(function); }

// Returns the usual distribution of time in programs: much in few functions, and little in many.
std::vector<double> UsualWork(size_t functions) {
  std::vector<double> work;
  double sum = 0;
  for (size_t i = 0; i < functions; ++i) {
    work.push_back(i == kChanged ? 0 : 1 / static_cast<double>(i + 2));
    sum += work.back();
  }
  for (double& of : work) of *= (1 - kShareOfChanged) / sum;
  work[kChanged] = kShareOfChanged;
  return work;
}

void Change(const FleetChange& change, size_t host, size_t hosts, std::vector<double>& work) {
  const bool is_changed =
      static_cast<double>(host) < std::round(change.part * static_cast<double>(hosts));
  if (!is_changed) return;
  double all = 0;
  for (const double of : work) all += of;
  work[kChanged] += all * change.points / 100;
}

}  // namespace

std::vector<FleetKind> KindsOfFleet() {
  return {{.name = "alike", .unlike = 0},
          {.name = "usual"},
          {.name = "unlike", .unlike = 0.3},
          {.name = "some functions vary much", .high_variance = 0.1},
          {.name = "odd hosts", .odd = 0.002},
          {.name = "two tasks", .has_two_tasks = true},
          {.name = "few samples", .least_samples = 200, .most_samples = 20'000},
          {.name = "a dozen functions", .functions = 12}};
}

SimulatedFleet::Work SimulatedFleet::WorkOfHost(bool other_task) {
  Work work = UsualWork(kind_.functions);
  for (size_t i = 0; i < work.size(); ++i) {
    const bool high_variance =
        static_cast<double>(i % 100) >= 100 * (1 - kind_.high_variance) && kind_.high_variance > 0;
    work[i] *= std::exp((high_variance ? 5 : 1) * kind_.unlike * Normal());
    if (other_task && i % kEvery == 0) work[i] *= 2;
    if (std::bernoulli_distribution(kind_.odd)(random_)) work[i] *= 4;
  }
  return work;
}

Run SimulatedFleet::Sampled(std::string name, const Work& work) {
  const double least = std::log(kind_.least_samples), most = std::log(kind_.most_samples);
  const double samples = std::exp(std::uniform_real_distribution<double>(least, most)(random_));
  double all = 0;
  for (const double of : work) all += of;
  Run run{.name = std::move(name), .event = "cpu-clock"};
  for (size_t i = 0; i < work.size(); ++i) {
    const auto count = std::poisson_distribution<uint64_t>(samples * work[i] / all)(random_);
    run.names.push_back(NameOf(i));
    run.measured.self.push_back({.samples = {.count = count}, .period = count * 1'000'000});
    run.measured.samples += count;
    run.measured.period += count * 1'000'000;
  }
  for (analysis::Measured& of : run.measured.self) of.samples.samples = run.measured.samples;
  run.measured.total = run.measured.self;
  return run;
}

std::vector<Run> SimulatedFleet::Hosts(std::string_view group, size_t count,
                                       const FleetChange& change) {
  std::vector<Run> hosts;
  for (size_t i = 0; i < count; ++i) {
    const bool other_task = kind_.has_two_tasks && std::bernoulli_distribution()(random_);
    Work work = WorkOfHost(other_task);
    Change(change, i, count, work);
    hosts.push_back(Sampled(std::string(group) + std::to_string(i), work));
  }
  return hosts;
}

std::pair<std::vector<Run>, std::vector<Run>> SimulatedFleet::TwiceTheSame(
    size_t count, const FleetChange& change) {
  std::pair<std::vector<Run>, std::vector<Run>> groups;
  for (size_t i = 0; i < count; ++i) {
    const std::string name = "host" + std::to_string(i);
    Work work = WorkOfHost(kind_.has_two_tasks && std::bernoulli_distribution()(random_));
    groups.first.push_back(Sampled(name, work));
    for (double& of : work) of *= std::exp(0.1 * kind_.unlike * Normal());
    Change(change, i, count, work);
    groups.second.push_back(Sampled(name, work));
  }
  return groups;
}

FleetTrial TryFleet(const FleetKind& kind, size_t hosts, Machines machines,
                    const FleetChange& change, size_t tries, uint64_t seed) {
  FleetTrial trial;
  SimulatedFleet fleet(kind, seed);
  for (size_t i = 0; i < tries; ++i) {
    std::vector<Run> before, after;
    if (machines == Machines::kTheSame) {
      std::tie(before, after) = fleet.TwiceTheSame(hosts, change);
    } else {
      before = fleet.Hosts("a", hosts, {});
      after = fleet.Hosts("b", hosts, change);
    }
    bool found = false, quiet = true;
    for (const Row& row : fleet::CompareHosts(before, after, {}).diff.rows) {
      if (!row.significant) continue;
      const bool is_change = change.points != 0 && row.name == NameOf(kChanged);
      found = found || is_change;
      quiet = quiet && is_change;
    }
    trial.found += found ? 1 : 0;
    trial.quiet += quiet ? 1 : 0;
  }
  trial.found /= static_cast<double>(tries);
  trial.quiet /= static_cast<double>(tries);
  return trial;
}

}  // namespace profiler::diff
