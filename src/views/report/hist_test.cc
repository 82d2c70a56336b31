#include "src/views/report/hist.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "src/profile/testing/handmade_profile.h"
#include "src/views/report/call_graph.h"

namespace profiler::report {
namespace {

using profile::HandmadeProfile;
using profile::Profile;
using profile::Row;
using profile::StackId;

// Returns random chains of few functions, some of them heavy, with recursion and inlined calls.
// Some samples interrupt a function that is not on their stack.
Profile RandomProfile(std::mt19937& random) {
  HandmadeProfile builder;
  const auto below = [&](uint32_t end) { return static_cast<uint32_t>(random() % end); };
  const uint32_t functions = 2 + below(12);
  const auto frame = [&] {
    const std::string name(1, static_cast<char>('a' + below(below(functions) + 1)));
    switch (below(6)) {
      case 0:
        return "in<" + name + "@app";
      case 1:
        return "0x" + std::to_string(1 + below(4));
      default:
        return name + (below(2) == 0 ? "@app" : "@lib");
    }
  };
  for (uint32_t i = 0; i < 60; ++i) {
    std::vector<std::string> chain;
    for (uint32_t depth = 1 + below(7); chain.size() < depth;) chain.push_back(frame());
    builder.Sample(below(3) == 0 ? "one" : "two", chain, 1 + below(3), 1 + below(1000));
  }
  Profile profile = std::move(builder.profile());
  for (Row& row : profile.rows) {
    if (below(10) == 0) row.self = profile.rows[below(60) % profile.rows.size()].self;
  }
  return profile;
}

std::string GraphsOf(const Profile& profile, HistOptions hist_options, double threshold,
                     size_t rows) {
  const FunctionTable functions(profile, /*inlines=*/true);
  const Histogram hist(profile, functions, profile::EventId{}, hist_options);
  const CallGraphOptions options{.type = CallGraphType::kGraph, .threshold = threshold};
  CallGraph graph(hist, options);
  std::string text;
  for (size_t row = 0; row < rows && hist.MayHaveChains(row); ++row) {
    text += "row " + std::to_string(row) + "\n";
    DrawCallGraph(hist, options, {.total_period = hist.total().period}, graph.Build(row), text,
                  [] {});
  }
  return text;
}

TEST(HistogramTest, AGraphIsTheSameWhereFunctionsTooLightToBeDrawnHaveNoNodes) {
  std::mt19937 random(1);
  size_t lines = 0;
  for (int round = 0; round < 300; ++round) {
    const Profile profile = RandomProfile(random);
    const double threshold = 1 + random() % 30;
    HistOptions options{.sort = {SortKey::kComm, SortKey::kDso, SortKey::kSymbol},
                        .children = true,
                        .chains = true,
                        .chains_from = threshold,
                        .max_stack = random() % 3 == 0 ? 3u : 127u};
    const std::string few = GraphsOf(profile, options, threshold, SIZE_MAX);
    const size_t rows = [&] {
      const FunctionTable functions(profile, true);
      const Histogram hist(profile, functions, profile::EventId{}, options);
      size_t rows = 0;
      while (hist.MayHaveChains(rows)) ++rows;
      return rows;
    }();
    options.chains_from = 0;  // every function may be drawn
    ASSERT_EQ(few, GraphsOf(profile, options, threshold, rows)) << "round " << round;
    lines += static_cast<size_t>(std::count(few.begin(), few.end(), '\n'));
  }
  EXPECT_GT(lines, 10'000);
}

// Returns a row's key as text.
std::string RowText(const Profile& profile, profile::ThreadId thread, const Function& function) {
  return std::string(profile.text(profile[thread].comm)) + ' ' +
         std::string(profile.text(profile[function.image].name)) + ' ' +
         std::string(profile.text(function.name)) + (function.inlined ? " inlined " : " ") +
         std::to_string(function.address);
}

// Row key → (own weight, weight with callees).
using Rows = std::map<std::string, std::pair<uint64_t, uint64_t>>;

// Computes the rows by going through every chain.
Rows RowsByHand(const Profile& profile, const FunctionTable& functions) {
  Rows rows;
  for (const Row& row : profile.rows) {
    const auto text = [&](FunctionId id) { return RowText(profile, row.thread, functions[id]); };
    const std::string self = text(functions.Interrupted(row.self));
    std::set<std::string> on_chain = {self};
    for (StackId stack = row.stack; stack != profile::kNoStack; stack = profile[stack].parent) {
      for (const FunctionId id : functions.At(profile[stack].frame)) on_chain.insert(text(id));
    }
    rows[self].first += row.period;
    for (const std::string& function : on_chain) rows[function].second += row.period;
  }
  return rows;
}

TEST(HistogramTest, RowsAreWhatGoingThroughEveryChainGives) {
  std::mt19937 random(2);
  for (int round = 0; round < 300; ++round) {
    const Profile profile = RandomProfile(random);
    const FunctionTable functions(profile, /*inlines=*/true);
    const Histogram hist(
        profile, functions, profile::EventId{},
        {.sort = {SortKey::kComm, SortKey::kDso, SortKey::kSymbol}, .children = true});
    Rows rows;
    for (const HistRow& row : hist.rows()) {
      rows[RowText(profile, row.thread, functions[row.function])] = {row.self.period,
                                                                     row.children.period};
    }
    ASSERT_EQ(rows, RowsByHand(profile, functions)) << "round " << round;
  }
}

}  // namespace
}  // namespace profiler::report
