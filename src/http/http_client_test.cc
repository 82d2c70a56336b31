#include "src/http/http_client.h"

#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/base/write_signals.h"
#include "src/http/curl_library.h"
#include "src/http/curl_program.h"
#include "src/http/testing/test_server.h"

namespace profiler::http {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using End = ServerAnswer::End;

enum class Kind { kLibrary, kProgram };

std::string FileWith(const std::string& name, const std::string& text) {
  std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path) << text;
  chmod(path.c_str(), 0600);
  return path;
}

// Four certificates: an authority's, two signed by this authority for "localhost" and for a client,
// and an unrelated one that signs itself. works() is false if openssl(1) is not installed.
class Certificates {
 public:
  Certificates() {
    const std::string script = absl::StrCat(
        "cd '", directory_,
        "' && make() { openssl req -x509 -newkey rsa:2048 -nodes -days 2 "
        "-keyout $1.key -out $1.pem -subj /CN=$1 \"${@:2}\"; } && make authority && make other && "
        "make server -CA authority.pem -CAkey authority.key "
        "-addext subjectAltName=DNS:localhost && "
        "make client -CA authority.pem -CAkey authority.key && chmod 600 *.key");
    std::ofstream(directory_ + "/make") << script;
    works_ = std::system(absl::StrCat("bash '", directory_, "/make' 2>/dev/null").c_str()) == 0;
  }
  bool works() const { return works_; }
  std::string operator[](const std::string& name) const { return directory_ + "/" + name; }

 private:
  const std::string directory_ = testing::TempDir();
  bool works_ = false;
};

const Certificates& TheCertificates() {
  static const Certificates certificates;
  return certificates;
}

class HttpClientTest : public testing::TestWithParam<Kind> {
 protected:
  HttpClientTest() { IgnoreWriteSignals(); }

  static std::unique_ptr<Client> Create(const Options& options = {}) {
    auto client =
        GetParam() == Kind::kLibrary ? CreateLibraryClient(options) : CreateProgramClient(options);
    EXPECT_TRUE(client.ok()) << client.status();
    return *std::move(client);
  }
  static absl::StatusOr<Response> Send(const TestServer& server, Request request,
                                       const Options& options = {}) {
    request.url = server.url() + request.url;
    return Create(options)->Send(request);
  }
  static std::string Message(const absl::StatusOr<Response>& response) {
    return std::string(response.status().message());
  }
};

TEST_P(HttpClientTest, SendsWhatItIsGivenAndTakesTheAnswer) {
  TestServer server(Always({.status = 201, .headers = {{"X-Id", "7"}}, .body = "made\n"}));
  const std::string body = std::string("\0\n\r\"@\xff", 6);
  const auto response =
      Send(server, {.url = "/a?b=%20[1-2]", .headers = {{"X-Quoted", "\\\"a\" b"}}, .body = body});
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->status, 201);
  EXPECT_EQ(response->Header("x-id"), "7");
  EXPECT_EQ(response->body, "made\n");
  const ReceivedRequest received = server.received().at(0);
  EXPECT_EQ(received.method, "POST");
  EXPECT_EQ(received.target, "/a?b=%20[1-2]");
  EXPECT_EQ(received.Header("x-quoted"), "\\\"a\" b");
  EXPECT_EQ(received.Header("content-type"), "");
  EXPECT_EQ(received.Header("authorization"), "");
  EXPECT_EQ(received.body, body);
}

TEST_P(HttpClientTest, AsksWithoutABodyToo) {
  TestServer server(Always({.body = "1\n"}));
  EXPECT_EQ(Send(server, {.method = "GET", .url = "/ping"})->body, "1\n");
  EXPECT_EQ(Send(server, {.method = "HEAD", .url = "/"})->body, "");
  EXPECT_EQ(Send(server, {.url = "/empty"})->body, "1\n");
  std::string methods;
  for (const ReceivedRequest& request : server.received()) methods += request.method + " ";
  EXPECT_EQ(methods, "GET HEAD POST ");
}

TEST_P(HttpClientTest, SendsAndTakesMegabytes) {
  std::string big;
  for (int i = 0; big.size() < 5'000'000; ++i) absl::StrAppend(&big, i, "\n");
  TestServer server(
      [](const ReceivedRequest& request) { return ServerAnswer{.body = request.body}; });
  const auto response = Send(server, {.body = big});
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_TRUE(response->body == big);
}

TEST_P(HttpClientTest, GivesBackRefusalsAsTheyAre) {
  for (const int status : {400, 401, 404, 413, 429, 500, 503}) {
    TestServer server(
        Always({.status = status, .headers = {{"Retry-After", "120"}}, .body = "no"}));
    const auto response = Send(server, {.body = "x"});
    ASSERT_TRUE(response.ok()) << response.status();
    EXPECT_EQ(response->status, status);
    EXPECT_EQ(response->Header("retry-after"), "120");
    EXPECT_EQ(response->body, "no");
  }
}

TEST_P(HttpClientTest, FollowsNoRedirection) {
  TestServer other(Always({}));
  TestServer server(Always({.status = 307, .headers = {{"Location", other.url()}}}));
  EXPECT_EQ(Send(server, {.body = "x"})->status, 307);
  EXPECT_EQ(other.connections(), 0u);
}

TEST_P(HttpClientTest, WaitsNoLongerThanItMay) {
  TestServer server(Always({.end = End::kNever}));
  const auto response = Send(server, {.body = "x", .timeout = milliseconds(100)});
  EXPECT_EQ(response.status().code(), absl::StatusCode::kDeadlineExceeded) << response.status();
}

TEST_P(HttpClientTest, TakesNoAnswerThatIsCutOff) {
  TestServer server(Always({.body = "begin", .end = End::kCutOff}));
  const auto response = Send(server, {.body = "x"});
  EXPECT_EQ(response.status().code(), absl::StatusCode::kUnavailable) << response.status();
  TestServer silent(Always({.end = End::kNoAnswer}));
  EXPECT_EQ(Send(silent, {.body = "x"}).status().code(), absl::StatusCode::kUnavailable);
}

TEST_P(HttpClientTest, TakesNoMoreThanItMay) {
  TestServer server(Always({.body = std::string(1000, 'x'), .end = End::kEndless}));
  const auto response = Send(server, {.body = "x", .most = 10'000});
  EXPECT_EQ(response.status().code(), absl::StatusCode::kResourceExhausted) << response.status();
  TestServer exact(Always({.body = std::string(10'000, 'x')}));
  EXPECT_EQ(Send(exact, {.body = "x", .most = 10'000})->body.size(), 10'000u);
  ServerAnswer many;
  for (int i = 0; i < 80; ++i) many.headers.emplace_back("X", std::string(5000, 'x'));
  TestServer headers(Always(many));
  EXPECT_FALSE(Send(headers, {.body = "x"}).ok());
}

TEST_P(HttpClientTest, SaysWhereNobodyAnswered) {
  std::string url;
  {
    TestServer server(Always({}));
    url = server.url();
  }
  const auto response = Create()->Send({.url = url + "/path?query", .body = "x"});
  EXPECT_EQ(response.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(Message(response), HasSubstr(url + "/path: "));
  EXPECT_EQ(Create()->Send({.url = "nonsense"}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_P(HttpClientTest, ShowsItselfByUserOrToken) {
  TestServer server(Always({}));
  const std::string user = FileWith("user", "Aladdin:open sesame\n");
  const std::string token = FileWith("token", "t0k\n");
  ASSERT_TRUE(Send(server, {}, {.user_file = user}).ok());
  ASSERT_TRUE(Send(server, {}, {.token_file = token}).ok());
  EXPECT_EQ(server.received().at(0).Header("authorization"), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
  EXPECT_EQ(server.received().at(1).Header("authorization"), "Bearer t0k");
}

TEST_P(HttpClientTest, SendsTheTokenThatTheFileHasByThen) {
  TestServer server(Always({}));
  const std::string token = FileWith("token", "old\n");
  const auto client = Create({.token_file = token});
  ASSERT_TRUE(client->Send({.url = server.url()}).ok());
  FileWith("token", "new\n");
  ASSERT_TRUE(client->Send({.url = server.url()}).ok());
  EXPECT_EQ(server.received().at(1).Header("authorization"), "Bearer new");
}

TEST_P(HttpClientTest, GoesThroughAProxy) {
  TestServer proxy(Always({.body = "by proxy"}));
  const auto response = Create({.proxy = proxy.url()})->Send({.url = "http://far.invalid/x"});
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->body, "by proxy");
  EXPECT_EQ(proxy.received().at(0).target, "http://far.invalid/x");
}

TEST_P(HttpClientTest, TellsAProxyNoSecretOfAServer) {
  TestServer proxy(Always({.status = 403}));
  const auto client = Create({.token_file = FileWith("token", "t0k\n"), .proxy = proxy.url()});
  const auto response = client->Send({.url = "https://far.invalid/x"});
  EXPECT_EQ(response.status().code(), absl::StatusCode::kUnavailable) << response.status();
  EXPECT_EQ(proxy.received().at(0).method, "CONNECT");
  EXPECT_EQ(proxy.received().at(0).Header("authorization"), "");
}

TEST_P(HttpClientTest, TrustsTheAuthorityThatItIsTold) {
  const Certificates& made = TheCertificates();
  if (!made.works()) GTEST_SKIP() << "openssl(1) makes no certificates here";
  TestServer server(Always({.body = "safe"}), {made["server.pem"], made["server.key"], ""});
  const auto response = Send(server, {.body = "x"}, {.ca_file = made["authority.pem"]});
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->body, "safe");
}

TEST_P(HttpClientTest, SendsNothingToAServerThatItCannotTrust) {
  const Certificates& made = TheCertificates();
  if (!made.works()) GTEST_SKIP() << "openssl(1) makes no certificates here";
  TestServer server(Always({}), {made["server.pem"], made["server.key"], ""});
  for (const Options& options : {Options{}, Options{.ca_file = made["other.pem"]}}) {
    const auto response = Send(server, {.body = "x"}, options);
    EXPECT_EQ(response.status().code(), absl::StatusCode::kUnavailable) << response.status();
    EXPECT_THAT(Message(response), HasSubstr("certificate"));
  }
  // The certificate names localhost, not the address that is requested.
  const auto response = Create({.ca_file = made["authority.pem"]})
                            ->Send({.url = absl::StrCat("https://127.0.0.1:", server.port())});
  EXPECT_EQ(response.status().code(), absl::StatusCode::kUnavailable) << response.status();
  EXPECT_EQ(server.received().size(), 0u);
  EXPECT_EQ(Send(server, {}, {.ca_file = FileWith("nonsense.pem", "nonsense")}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_P(HttpClientTest, ShowsACertificateOfItsOwn) {
  const Certificates& made = TheCertificates();
  if (!made.works()) GTEST_SKIP() << "openssl(1) makes no certificates here";
  TestServer server(Always({.body = "known"}),
                    {made["server.pem"], made["server.key"], made["authority.pem"]});
  const std::string authority = made["authority.pem"];
  EXPECT_FALSE(Send(server, {.body = "x"}, {.ca_file = authority}).ok());
  const auto response = Send(server, {.body = "x"},
                             {.ca_file = authority,
                              .certificate_file = made["client.pem"],
                              .key_file = made["client.key"]});
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->body, "known");
}

INSTANTIATE_TEST_SUITE_P(By, HttpClientTest, testing::Values(Kind::kLibrary, Kind::kProgram),
                         [](const auto& kind) {
                           return kind.param == Kind::kLibrary ? "Library" : "Program";
                         });

TEST(LibraryClient, KeepsTheConnection) {
  TestServer server(Always({.body = "x"}));
  const auto client = CreateLibraryClient({});
  ASSERT_TRUE(client.ok()) << client.status();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE((*client)->Send({.url = server.url(), .body = "x"}).ok());
  }
  EXPECT_EQ(server.connections(), 1u);
}

TEST(ProgramClient, SaysWhatIsNotInstalled) {
  const auto client = CreateProgramClient({}, "no-such-program");
  ASSERT_TRUE(client.ok()) << client.status();
  EXPECT_EQ((*client)->Send({.url = "http://localhost"}).status(),
            absl::FailedPreconditionError("no-such-program is not installed (Debian: curl)"));
}

TEST(ProgramClient, HasNothingOnItsCommandLine) {
  const std::string seen = testing::TempDir() + "/seen";
  const std::string program = FileWith(
      "spy", "#!/bin/sh\ntr '\\0' ' ' </proc/$$/cmdline >" + seen + "\nexec curl \"$@\"\n");
  chmod(program.c_str(), 0700);
  TestServer server(Always({}));
  const auto client = CreateProgramClient({.token_file = FileWith("token", "t0k\n")}, program);
  ASSERT_TRUE(client.ok()) << client.status();
  const auto response = (*client)->Send({.url = server.url(), .body = "x"});
  ASSERT_TRUE(response.ok()) << response.status();
  std::ifstream file(seen);
  const std::string line((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(line, "/bin/sh " + program + " -q -K - ");
  EXPECT_EQ(server.received().at(0).Header("authorization"), "Bearer t0k");
}

TEST(CreateClient, FindsOneOfThem) {
  TestServer server(Always({.body = "x"}));
  const auto client = CreateClient({});
  ASSERT_TRUE(client.ok()) << client.status();
  EXPECT_EQ((*client)->Send({.url = server.url()})->body, "x");
}

}  // namespace
}  // namespace profiler::http
