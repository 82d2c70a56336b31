#include "src/views/report/fields.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "src/views/report/testing/format_report.h"

namespace profiler::report {
namespace {

std::string Text(const std::vector<Field>& fields) {
  constexpr const char* kWeights[] = {"children", "overhead",   "sys",    "user",
                                      "guestsys", "guest user", "sample", "period"};
  std::string text;
  for (const Field& field : fields) {
    if (!text.empty()) text += ", ";
    if (const auto* weight = std::get_if<WeightField>(&field)) {
      text += kWeights[static_cast<size_t>(*weight)];
    } else {
      text += Heading(std::get<SortKey>(field));
    }
  }
  return text;
}

// Returns "shown | order" of rows with the weight of callees.
std::string Layout(std::string_view sort, std::string_view fields = "", FieldChoice choice = {}) {
  if (!sort.empty()) choice.sort = ParseFields(sort)->fields;
  if (!fields.empty()) choice.shown = *ParseFields(fields);
  const FieldLayout layout = LayOutFields(choice, /*children=*/true);
  return Text(layout.shown) + " | " + Text(layout.order);
}

TEST(FieldsTest, SortKeysAreReadInOrderAndOnce) {
  const auto keys = ParseSortKeys("pid,comm,,dso,sym,symbol,cpu,tid,tgid");
  ASSERT_TRUE(keys.ok()) << keys.status();
  EXPECT_EQ(*keys, (std::vector{SortKey::kPid, SortKey::kComm, SortKey::kDso, SortKey::kSymbol,
                                SortKey::kCpu, SortKey::kTid, SortKey::kTgid}));
}

TEST(FieldsTest, KeysOfBranchesAreKnownFromThoseOfSamples) {
  const auto keys = ParseSortKeys("comm,dso_from,symbol_to,mispredict,cpu");
  ASSERT_TRUE(keys.ok());
  std::string branch, both;
  for (const SortKey key : *keys) {
    branch += IsOfBranch(key) ? '1' : '0';
    both += TellsBranches(key) ? '1' : '0';
  }
  EXPECT_EQ(branch, "01110");
  EXPECT_EQ(both, "11110");
}

TEST(FieldsTest, AnUnknownFieldIsNamedWithTheNearestOneOrAll) {
  EXPECT_EQ(ParseFields("comm,simbol").status().message(),
            "unknown sort key 'simbol'; did you mean 'symbol'?");
  EXPECT_EQ(ParseFields("comm,anything").status().message(),
            "unknown sort key 'anything': use pid, tid, tgid, comm, comm_nodigit, dso, symbol, "
            "parent, srcline, srcfile, symoff, cpu, socket, time, cgroup, trace or parallelism, of "
            "accesses to memory mem, symbol_daddr, dso_daddr, dcacheline, phys_daddr, "
            "data_page_size, snoop, tlb, locked, blocked, local_weight, weight, local_ins_lat, "
            "ins_lat, local_retire_lat or retire_lat, of branches symbol_from, symbol_to, "
            "dso_from, dso_to, mispredict or cycles, of tracepoints a FIELD, EVENT.FIELD or "
            "trace_fields, and of weights overhead, overhead_children, overhead_sys, overhead_us, "
            "overhead_guest_sys, "
            "overhead_guest_us, sample, period, overhead_ci, overhead_children_ci or rank");
  EXPECT_FALSE(ParseFields("").ok());
  EXPECT_FALSE(ParseFields("+").ok());
  EXPECT_FALSE(ParseSortKeys("overhead").ok());
}

TEST(FieldsTest, UnknownWordsMayBeFieldsOfTracepoints) {
  const TraceFieldsOf fields_of = [](std::string_view word) {
    if (word == "trace_fields") return std::vector<std::string>{"a:b.id", "a:b.size"};
    if (word == "a:b.size") return std::vector<std::string>{"a:b.size"};
    return std::vector<std::string>();
  };
  std::vector<std::string> fields;
  const auto list = ParseFields("a:b.size,comm,trace_fields", fields_of, &fields);
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(fields, (std::vector<std::string>{"a:b.size", "a:b.id"}));
  EXPECT_EQ(KeysOf(list->fields),
            (std::vector{TraceFieldKey(0), SortKey::kComm, TraceFieldKey(1)}));
  EXPECT_FALSE(IsOfBranch(TraceFieldKey(1)));
  EXPECT_FALSE(ParseFields("colour", fields_of, &fields).ok());
}

TEST(FieldsTest, MoreFieldsOfTracepointsThanThereAreColumnsAreRefused) {
  const TraceFieldsOf fields_of = [](std::string_view) {
    std::vector<std::string> names;
    for (int i = 0; i < 33; ++i) names.push_back("f" + std::to_string(i));
    return names;
  };
  std::vector<std::string> fields;
  EXPECT_EQ(ParseFields("trace_fields", fields_of, &fields).status().message(),
            "'trace_fields' makes more than 32 columns of tracepoints: name fewer fields");
}

TEST(FieldsTest, APlusAddsToTheUsualFields) {
  EXPECT_TRUE(ParseFields("+period")->is_added);
  EXPECT_FALSE(ParseFields("period")->is_added);
  EXPECT_EQ(Layout("comm", "+period"),
            "children, overhead, period, Command | children, overhead, Command, period");
}

TEST(FieldsTest, WeightsStandInFrontUnlessSortNamesThem) {
  EXPECT_EQ(Layout("comm,dso"),
            "children, overhead, Command, Shared Object | "
            "children, overhead, Command, Shared Object");
  EXPECT_EQ(Layout("comm,overhead,sym"), "overhead, Command, Symbol | Command, overhead, Symbol");
  EXPECT_EQ(Layout("comm,overhead_sys"), "Command, sys | Command, sys");
  EXPECT_EQ(Layout("comm,sample"),
            "children, overhead, Command, sample | children, overhead, Command, sample");
}

TEST(FieldsTest, WhatCalleesWeighIsNoSortKeyWhereItIsNotCounted) {
  FieldChoice choice{.sort = ParseFields("overhead_children,sym")->fields};
  EXPECT_EQ(Text(LayOutFields(choice, /*children=*/false).shown), "Symbol");
  choice = {.shown = *ParseFields("overhead_children,sym")};
  EXPECT_EQ(Text(LayOutFields(choice, /*children=*/false).shown), "children, Symbol");
}

TEST(FieldsTest, FieldsAreAllThatIsShownBesideTheSortKeys) {
  EXPECT_EQ(Layout("", "sym,overhead"), "Symbol, overhead | Symbol, overhead");
  EXPECT_EQ(Layout("sym,comm", "overhead,sym"),
            "overhead, Symbol, Command | Symbol, Command, overhead");
}

TEST(FieldsTest, ColumnsThatOptionsAskForStandBehindTheShares) {
  EXPECT_EQ(Layout("comm", "", {.cpu_utilization = true, .samples = true, .period = true}),
            "children, overhead, sys, user, sample, period, Command | "
            "children, overhead, Command, sys, user, sample, period");
}

}  // namespace
}  // namespace profiler::report
