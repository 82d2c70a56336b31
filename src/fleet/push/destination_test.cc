#include "src/fleet/push/destination.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace profiler::fleet {
namespace {

using testing::HasSubstr;

std::string Read(const char* text) {
  const auto destination = ParseDestination(text);
  if (!destination.ok()) return std::string(destination.status().message());
  return destination->url + " " + destination->database + " " + destination->Text();
}

TEST(ParseDestination, TellsServerAndDatabase) {
  EXPECT_EQ(Read("clickhouse+http://h:9000/profiles"),
            "http://h:9000 profiles clickhouse+http://h:9000/profiles");
  EXPECT_EQ(Read("otlp+https://collector.example:4318/behind/a/proxy/"),
            "https://collector.example:4318/behind/a/proxy  "
            "otlp+https://collector.example:4318/behind/a/proxy");
  EXPECT_EQ(Read("pyroscope+http://[::1]:4040?format=pprof"),
            "http://[::1]:4040  pyroscope+http://[::1]:4040?format=pprof");
  EXPECT_EQ(ParseDestination("pyroscope+http://h?format=pprof")->Parameter("format"), "pprof");
}

TEST(ParseDestination, IsTheSameHoweverItIsWritten) {
  EXPECT_EQ(ParseDestination("clickhouse+http://Host/")->Text(), "clickhouse+http://host:8123");
  EXPECT_EQ(ParseDestination("clickhouse+https://h")->Text(), "clickhouse+https://h:8443");
  EXPECT_EQ(ParseDestination("otlp+http://h")->Text(), "otlp+http://h:4318");
  EXPECT_EQ(ParseDestination("pyroscope+http://[::1]")->Text(), "pyroscope+http://[::1]:4040");
}

TEST(ParseDestination, RefusesSecretsWithoutRepeatingThem) {
  for (const char* text : {"clickhouse+http://user:secret@h/db", "otlp+https://secret@h"}) {
    const std::string said = Read(text);
    EXPECT_THAT(said, HasSubstr("--user-file")) << text;
    EXPECT_THAT(said, testing::Not(HasSubstr("secret"))) << text;
  }
}

TEST(ParseDestination, SaysWhatIsWrong) {
  EXPECT_THAT(Read("http://h"), HasSubstr("begin with the kind of server"));
  EXPECT_THAT(Read(""), HasSubstr("begin with the kind of server"));
  EXPECT_THAT(Read("otlp+ftp://h"), HasSubstr("http:// or https://"));
  EXPECT_THAT(Read("otlp+http://"), HasSubstr("its host is missing"));
  EXPECT_THAT(Read("otlp+http://:80"), HasSubstr("its host is missing"));
  EXPECT_THAT(Read("otlp+http://h:0"), HasSubstr("its port is not a number from 1 to 65535"));
  EXPECT_THAT(Read("otlp+http://h:99999"), HasSubstr("its port is not a number from 1 to 65535"));
  EXPECT_THAT(Read("otlp+http://[::1"), HasSubstr("has no ]"));
  EXPECT_THAT(Read("clickhouse+http://h/a/b"), HasSubstr("name of a database"));
  EXPECT_THAT(Read("clickhouse+http://h/a;DROP"), HasSubstr("name of a database"));
  EXPECT_THAT(Read("otlp+http://h?x=1"), HasSubstr("unknown parameter x"));
  EXPECT_THAT(Read("pyroscope+http://h?format=jfr"), HasSubstr("folded or pprof"));
  EXPECT_THAT(Read("pyroscope+http://h?format=pprof&format=folded"), HasSubstr("format twice"));
  EXPECT_THAT(Read("otlp+http://h/a b"), HasSubstr("characters that URLs cannot contain"));
}

}  // namespace
}  // namespace profiler::fleet
