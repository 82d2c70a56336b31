#include "src/http/credentials.h"

#include <sys/stat.h>

#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace profiler::http {
namespace {

using testing::HasSubstr;

std::string FileWith(const std::string& name, const std::string& text, mode_t mode = 0600) {
  std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path) << text;
  chmod(path.c_str(), mode);
  return path;
}

std::string MessageOf(const absl::Status& status) { return std::string(status.message()); }

TEST(Credentials, AreOfAUserOrOfAToken) {
  const std::string user = FileWith("user", "Aladdin:open sesame\n");
  const std::string token = FileWith("token", "abc.def-ghi");
  // RFC 7617's own example.
  EXPECT_EQ(*AuthorizationHeader({.user_file = user}),
            "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
  EXPECT_EQ(*AuthorizationHeader({.token_file = token}), "Authorization: Bearer abc.def-ghi");
  EXPECT_EQ(*AuthorizationHeader({}), "");
  EXPECT_EQ(CheckOptions({.user_file = user, .token_file = token}).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(Credentials, AreThoseThatTheFileHasNow) {
  const std::string token = FileWith("renewed", "first\n");
  EXPECT_EQ(*AuthorizationHeader({.token_file = token}), "Authorization: Bearer first");
  FileWith("renewed", "second\n");
  EXPECT_EQ(*AuthorizationHeader({.token_file = token}), "Authorization: Bearer second");
}

TEST(Credentials, ThatAllUsersMayReadAreRefusedWithTheRemedy) {
  const std::string token = FileWith("open_token", "abc\n", 0644);
  const absl::Status status = CheckOptions({.token_file = token});
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(MessageOf(status), HasSubstr("chmod o-r " + token));
  const std::string certificate = FileWith("certificate", "-", 0644);
  EXPECT_EQ(CheckOptions({.certificate_file = certificate, .key_file = token}).code(),
            absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(CheckOptions({.certificate_file = certificate}).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(Credentials, OfAFileThatIsNoneAreRefused) {
  for (const char* text : {"", "\n", "two\nlines\n", "one two\n", "caf\xc3\xa9\n", "a\tb\n"}) {
    EXPECT_EQ(AuthorizationHeader({.token_file = FileWith("wrong", text)}).status().code(),
              absl::StatusCode::kInvalidArgument)
        << text;
  }
  EXPECT_EQ(AuthorizationHeader({.user_file = FileWith("no_colon", "user")}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(AuthorizationHeader({.token_file = FileWith("long", std::string(100'000, 'x'))})
                .status()
                .code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(AuthorizationHeader({.token_file = testing::TempDir() + "/none"}).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(CheckOptions({.ca_file = testing::TempDir() + "/none"}).code(),
            absl::StatusCode::kNotFound);
}

TEST(Credentials, OfAProxyDoNotComeWithItsAddress) {
  EXPECT_THAT(MessageOf(CheckOptions({.proxy = "http://user:secret@proxy:3128"})),
              HasSubstr("https_proxy"));
  EXPECT_TRUE(CheckOptions({.proxy = "http://proxy:3128"}).ok());
}

}  // namespace
}  // namespace profiler::http
