#include "src/fleet/query/source_address.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace profiler::fleet {
namespace {

using testing::HasSubstr;

constexpr UnixTime kNow = 1'764'115'200'000'000'000;  // 2025-11-26T00:00:00Z

std::string Understood(std::string_view text) {
  const auto address = ParseAddress(text, kNow);
  if (!address.ok()) return std::string(address.status().message());
  std::string result = address->source + " | " + TextOf(address->selection);
  if (address->tells_times_apart) result += " | times";
  for (const auto& [name, value] : address->server) result += " | " + name + "=" + value;
  return result;
}

TEST(ParseAddress, HasASourceTimesAndConditions) {
  EXPECT_EQ(Understood("/spool"), "/spool | all times");
  EXPECT_EQ(Understood("/spool?since=1h&service=web"),
            "/spool | 2025-11-25T23:00:00Z to now, service=web");
  EXPECT_EQ(Understood("clickhouse+http://h:8123/db?since=2d&until=1d&where=release!=1.2&host~db*"),
            "clickhouse+http://h:8123/db | 2025-11-24T00:00:00Z to 2025-11-25T00:00:00Z, "
            "release!=1.2, host~db*");
  EXPECT_EQ(Understood("/spool?until=1h&times=1"),
            "/spool | the beginning to 2025-11-25T23:00:00Z | times");
}

TEST(ParseAddress, EscapesStandForBytes) {
  EXPECT_EQ(Understood("/spool?service=a%26b%3d%zz%4"), "/spool | all times, service=a&b=%zz%4");
}

TEST(ParseAddress, FilesThatSayWhoAsksAreNoConditions) {
  EXPECT_EQ(Understood("clickhouse+https://h?token-file=/etc/token&proxy=http://p:3128"),
            "clickhouse+https://h | all times | token-file=/etc/token | proxy=http://p:3128");
}

TEST(ParseAddress, SaysWhatItCannotRead) {
  EXPECT_THAT(Understood("/spool?since=yesterday"), HasSubstr("'yesterday' is not a time"));
  EXPECT_THAT(Understood("/spool?service"), HasSubstr("'service' is not a condition"));
}

TEST(TextOf, IsAConditionAsItIsTyped) {
  for (const char* text : {"service=web", "release!=1.2", "host~db*", "build-id!~ab*", "rack="}) {
    EXPECT_EQ(TextOf(*ParseCondition(text)), text);
  }
}

}  // namespace
}  // namespace profiler::fleet
