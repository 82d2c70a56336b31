#include "src/base/shown_url.h"

#include "gtest/gtest.h"

namespace profiler {
namespace {

TEST(ShownUrlTest, UserPasswordAndQueryAreLeftOut) {
  EXPECT_EQ(ShownUrl("https://host:8002/buildid/ab"), "https://host:8002/buildid/ab");
  EXPECT_EQ(ShownUrl("http://user:word@host:9/x"), "http://host:9/x");
  EXPECT_EQ(ShownUrl("http://token@host"), "http://host");
  EXPECT_EQ(ShownUrl("http://host/x?key=word#word"), "http://host/x");
  EXPECT_EQ(ShownUrl("http://[::1]:9/x@y"), "http://[::1]:9/x@y");
  EXPECT_EQ(ShownUrl(""), "");
}

TEST(ShownUrlTest, AUrlNeedsNoScheme) {
  EXPECT_EQ(ShownUrl("user:word@host:9/x"), "host:9/x");
  EXPECT_EQ(ShownUrl("host:9/x"), "host:9/x");
}

TEST(ShownUrlTest, APasswordWithASlashOrAQuestionMarkIsLeftOut) {
  EXPECT_EQ(ShownUrl("http://user:wo/rd@host/x"), "http://host/x");
  EXPECT_EQ(ShownUrl("http://user:wo?r#d@host/x"), "http://host/x");
  EXPECT_EQ(ShownUrl("http://user:wo@rd@host/x"), "http://host/x");
}

TEST(ShownUrlTest, EachUrlOfATextIsShownWithoutItsSecrets) {
  EXPECT_EQ(WithShownUrls("no http://a:b@c/d and 'http://e@f/?g', at all"),
            "no http://c/d and 'http://f/', at all");
  EXPECT_EQ(WithShownUrls("http://a:b@c http://d:e@f"), "http://c http://f");
  EXPECT_EQ(WithShownUrls("a@b: nothing to hide"), "a@b: nothing to hide");
  EXPECT_EQ(WithShownUrls("://"), "://");
}

}  // namespace
}  // namespace profiler
