#include "src/views/interchange/firefox.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/views/flamegraph/testing/profile_for_test.h"

namespace profiler::exports {
namespace {

using Json = nlohmann::json;

const Origin kOrigin = {.command = "app", .producer = "profiler 1", .first_sample = 1'000'000};

// Returns the functions of a stack, from the leaf.
std::string StackText(const Json& document, Json stack) {
  const Json& shared = document["shared"];
  std::string text;
  for (; !stack.is_null(); stack = shared["stackTable"]["prefix"][stack.get<size_t>()]) {
    const size_t frame = shared["stackTable"]["frame"][stack.get<size_t>()];
    const size_t function = shared["frameTable"]["func"][frame];
    const size_t name = shared["funcTable"]["name"][function];
    text += (text.empty() ? "" : "<") + shared["stringArray"][name].get<std::string>();
  }
  return text;
}

std::string SamplesText(const Json& document, const Json& thread) {
  const Json& samples = thread["samples"];
  std::string text;
  for (size_t i = 0; i < samples["length"]; ++i) {
    const Json& weight = samples["weight"];
    text += samples["time"][i].dump() + " ms, " + (weight.is_null() ? "1" : weight[i].dump()) +
            " " + StackText(document, samples["stack"][i]) + "\n";
  }
  return text;
}

TEST(Firefox, SamplesOfAThreadAreInTheOrderOfTime) {
  ProfileForTest builder;
  builder.Define("work", {.name = "work", .inlined = {"outer", "inner"}});
  builder.Add("app", "main work", 1, 10).Add("app", "main", 1, 10);
  builder.SetTimes({3'000'000, 2'500'000});
  const Json document = FirefoxJson(builder.profile(), kOrigin);
  ASSERT_EQ(document["threads"].size(), 1u);
  EXPECT_EQ(document["threads"][0]["name"], "app");
  EXPECT_EQ(document["threads"][0]["pid"], "100");
  EXPECT_EQ(SamplesText(document, document["threads"][0]),
            "1.5 ms, 1 main\n"
            "2.0 ms, 1 inner<outer<work<main\n");
}

TEST(Firefox, EachEventHasThreadsOfItsOwn) {
  ProfileForTest builder;
  const auto misses = builder.AddEvent("cache-misses");
  builder.Add("app", "main", 2, 10).Add("app", "main", 3, 10, misses);
  const Json document = FirefoxJson(builder.profile(), kOrigin);
  ASSERT_EQ(document["threads"].size(), 2u);
  EXPECT_EQ(document["threads"][1]["name"], "app (cache-misses)");
  EXPECT_EQ(SamplesText(document, document["threads"][1]), "0.0 ms, 3 main\n");
}

TEST(Firefox, TimesOnAndOffTheCpuAreOneListInMilliseconds) {
  ProfileForTest builder;
  const auto blocked = builder.AddEvent("offcpu-time");
  builder.Add("app", "main", 1, 1'000'000).Add("app", "main sleep", 1, 50'000'000, blocked);
  builder.SetTimes({2'000'000, 52'000'000});
  const Json document = FirefoxJson(builder.profile(), kOrigin);
  ASSERT_EQ(document["threads"].size(), 1u);
  const Json& thread = document["threads"][0];
  EXPECT_EQ(thread["samples"]["weightType"], "tracing-ms");
  EXPECT_EQ(SamplesText(document, thread),
            "1.0 ms, 1.0 main\n"
            "51.0 ms, 50.0 sleep<main\n");
  EXPECT_EQ(thread["markers"]["startTime"], Json::parse("[1.0]"));
  EXPECT_EQ(thread["markers"]["endTime"], Json::parse("[51.0]"));
  EXPECT_EQ(thread["markers"]["data"][0]["function"], "sleep");
}

TEST(Firefox, ColumnsOfATableAreOfOneLength) {
  ProfileForTest builder;
  builder.Add("app", "main work");
  const Json document = FirefoxJson(builder.profile(), kOrigin);
  for (const auto& [name, table] : document["shared"].items()) {
    if (name == "stringArray") continue;
    for (const auto& [column, values] : table.items()) {
      if (column == "length") continue;
      EXPECT_EQ(values.size(), table["length"]) << name << "." << column;
    }
  }
}

}  // namespace
}  // namespace profiler::exports
