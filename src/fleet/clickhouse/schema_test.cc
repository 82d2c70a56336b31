#include "src/fleet/clickhouse/schema.h"

#include <string>

#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/fleet/clickhouse/create_tables.h"
#include "src/fleet/clickhouse/sql_text.h"
#include "src/fleet/clickhouse/testing/fake_clickhouse.h"

namespace profiler::fleet::clickhouse {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string Creation(const SchemaOptions& options) {
  const auto statements = CreationOf(options);
  return statements.ok() ? absl::StrJoin(*statements, ";\n")
                         : std::string(statements.status().message());
}

TEST(SchemaTest, MakesPlainTablesOnAnOldServer) {
  const auto statements = CreationOf({.database = "profiles"});
  ASSERT_TRUE(statements.ok());
  ASSERT_EQ(statements->size(), 5u);
  EXPECT_EQ((*statements)[0], "CREATE DATABASE IF NOT EXISTS `profiles`");
  EXPECT_EQ((*statements)[1],
            "CREATE TABLE IF NOT EXISTS `profiles`.stacks\n"
            "(\n"
            "  day Date,\n"
            "  stack_hash UInt64,\n"
            "  function String,\n"
            "  frames Array(String),\n"
            "  images Array(String)\n"
            ")\n"
            "ENGINE = ReplacingMergeTree()\n"
            "PARTITION BY day\n"
            "PRIMARY KEY (stack_hash)\n"
            "ORDER BY (stack_hash)\n"
            "SETTINGS index_granularity = 8192");
  EXPECT_EQ(
      (*statements)[4],
      "CREATE VIEW IF NOT EXISTS `profiles`.profiler_schema AS SELECT toUInt32(1) AS version");
}

TEST(SchemaTest, SpreadsReplicatedTablesOverACluster) {
  EXPECT_THAT(
      Creation({.database = "p", .cluster = "c", .replicated = true}),
      AllOf(HasSubstr("`p`.samples_local ON CLUSTER `c`"),
            HasSubstr("ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/p/samples_1', "
                      "'{replica}')"),
            HasSubstr("replicated_deduplication_window = 10000"),
            HasSubstr("CREATE TABLE IF NOT EXISTS `p`.samples ON CLUSTER `c` AS "
                      "`p`.samples_local\nENGINE = Distributed(`c`, `p`, samples_local, "
                      "stack_hash)")));
}

TEST(SchemaTest, StoresInLessRoomWhereTheServerCan) {
  EXPECT_THAT(Creation({.keep_days = 30, .version = {24, 8}}),
              AllOf(HasSubstr("host LowCardinality(String) CODEC(ZSTD(1))"),
                    HasSubstr("samples UInt64 CODEC(T64, ZSTD(1))"),
                    HasSubstr("non_replicated_deduplication_window = 10000"),
                    HasSubstr("ALTER TABLE `default`.samples MODIFY TTL day + INTERVAL 31 DAY")));
  EXPECT_THAT(Creation({.version = {20, 8}}), Not(HasSubstr("non_replicated")));
}

TEST(SchemaTest, SaysWhatDoesNotGoTogether) {
  EXPECT_THAT(Creation({.replicated = true}), HasSubstr("--cluster NAME"));
  EXPECT_THAT(Creation({.keep_days = 30}), HasSubstr("DROP PARTITION"));
  EXPECT_THAT(Creation({.schema = Schema::kOtel}), HasSubstr("needs ClickHouse 26.2"));
  EXPECT_THAT(Creation({.schema = Schema::kCoroot}), HasSubstr("needs ClickHouse 21.8"));
  EXPECT_FALSE(ParseSchema("theirs").ok());
}

TEST(SchemaTest, MakesTheTablesOfOthers) {
  EXPECT_THAT(Creation({.schema = Schema::kCoroot, .version = {24, 8}}),
              AllOf(HasSubstr("profiling_stacks"), HasSubstr("profiling_samples"),
                    HasSubstr("profiling_profiles_mv TO `default`.profiling_profiles")));
  EXPECT_THAT(Creation({.schema = Schema::kOtel, .version = {26, 7}}),
              HasSubstr("CREATE TABLE IF NOT EXISTS `default`.otel_profiles"));
}

TEST(SchemaTest, ReadsVersions) {
  EXPECT_EQ(*ParseVersion("18.16.1"), (ServerVersion{18, 16}));
  EXPECT_EQ(*ParseVersion("26.7.2.1"), (ServerVersion{26, 7}));
  EXPECT_LT(*ParseVersion("18.16.1"), kWithCodecs);
  for (const char* text : {"", "18", "18.", "x.y", "1.1.54390"}) {
    EXPECT_FALSE(ParseVersion(text).ok()) << text;
  }
}

TEST(SqlTextTest, LetsNothingOutOfItsQuotes) {
  EXPECT_EQ(Quoted("it's \\ \n"), R"('it\'s \\ \x0A')");
  EXPECT_EQ(QuotedName("a`b"), R"(`a\`b`)");
  EXPECT_EQ(QuotedPattern("50%_*\\"), R"('50\\%\\_%\\\\')");
}

class CreateTablesTest : public testing::Test {
 protected:
  CreateTablesTest()
      : client_([this](const http::Request& request) -> absl::StatusOr<http::Response> {
          if (!request.body.starts_with("CREATE")) return server_.Answer(request);
          ++created_;
          return http::Response{.status = 200, .headers = {}, .body = {}};
        }) {}

  FakeClickHouse server_;
  FakeClient client_;
  int created_ = 0;
};

TEST_F(CreateTablesTest, MakesThemOrSaysThatTheyAreThere) {
  server_.schema.reset();
  auto created = CreateTables(client_, "http://db:8123", {});
  ASSERT_TRUE(created.ok()) << created.status();
  EXPECT_FALSE(created->were_there);
  EXPECT_EQ(created_, 5);
  server_.schema = kSchemaVersion;
  created = CreateTables(client_, "http://db:8123", {});
  ASSERT_TRUE(created.ok()) << created.status();
  EXPECT_TRUE(created->were_there);
}

TEST_F(CreateTablesTest, LeavesNewerOnesAlone) {
  server_.schema = kSchemaVersion + 1;
  const auto created = CreateTables(client_, "http://db:8123", {});
  EXPECT_TRUE(absl::IsFailedPrecondition(created.status())) << created.status();
  EXPECT_EQ(created_, 0);
}

}  // namespace
}  // namespace profiler::fleet::clickhouse
