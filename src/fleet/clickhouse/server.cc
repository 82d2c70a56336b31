#include "src/fleet/clickhouse/server.h"

#include <charconv>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/gzip.h"
#include "src/base/text.h"
#include "src/fleet/clickhouse/error_codes.h"
#include "src/fleet/clickhouse/row_binary.h"
#include "src/fleet/clickhouse/schema.h"
#include "src/fleet/clickhouse/sql_text.h"

namespace profiler::fleet::clickhouse {
namespace {

constexpr std::string_view kCode = "Code: ";

// Escapes all characters except the unreserved ones of a URL.
std::string Encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (absl::ascii_isalnum(byte) || c == '-' || c == '_' || c == '.' || c == '~') {
      encoded += c;
    } else {
      absl::StrAppendFormat(&encoded, "%%%02X", byte);
    }
  }
  return encoded;
}

int NumberIn(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Returns the first line of a server's message, made printable. The later lines are a stack trace
// of the server.
std::string FirstLine(std::string_view text) {
  text = text.substr(0, text.find('\n'));
  constexpr size_t kMost = 300;
  std::string line;
  AppendPrintable(text.substr(0, kMost), line);
  return line;
}

}  // namespace

std::optional<ServerError> ErrorOf(const http::Response& response) {
  const std::string_view body = response.body;
  const std::string_view header = response.Header("x-clickhouse-exception-code");
  if (!header.empty()) return ServerError{.code = NumberIn(header), .text = FirstLine(body)};
  // Servers of 2018 report errors only in the body. An error that comes in the middle of an answer
  // is in the last few lines of the body.
  constexpr size_t kMostError = 16 << 10;
  const std::string_view end = body.substr(body.size() - std::min(body.size(), kMostError));
  const size_t at = end.rfind(kCode);
  if (at != std::string_view::npos) {
    const std::string_view text = end.substr(at);
    const std::string_view behind =
        text.substr(std::min(text.find_first_not_of("0123456789", kCode.size()), text.size()));
    if (behind.starts_with(", e.displayText() = DB::") || behind.starts_with(". DB::")) {
      return ServerError{.code = NumberIn(text.substr(kCode.size())), .text = FirstLine(text)};
    }
  }
  if (response.status == 200) return std::nullopt;
  return ServerError{.code = 0,
                     .text = absl::StrCat("HTTP status ", response.status, ": ", FirstLine(body))};
}

std::string Server::UrlWith(Settings settings) const {
  settings.emplace_back("database", address_.database);
  std::string url = absl::StrCat(address_.url, "/");
  char before = '?';
  for (const auto& [name, value] : settings) {
    url += before;
    absl::StrAppend(&url, Encoded(name), "=", Encoded(value));
    before = '&';
  }
  return url;
}

absl::Status Server::StatusOf(const ServerError& error) const {
  const std::string said = absl::StrCat(address_.url, " says: ", error.text);
  switch (error.code) {
    case kUnknownTable:
    case kUnknownDatabase:
    case kNoSuchColumn:
    case kUnknownIdentifier:
      return absl::NotFoundError(
          absl::StrCat(said, "; create the tables with `profiler fleet init --to clickhouse+",
                       address_.url, "/", address_.database, "`"));
    case kUnknownUser:
    case kWrongPassword:
    case kPasswordRequired:
    case kAuthenticationFailed:
      return absl::UnauthenticatedError(
          absl::StrCat(said, "; write USER:PASSWORD into a file and pass --user-file FILE"));
    case kReadOnly:
    case kAccessDenied:
      return absl::PermissionDeniedError(said);
    case kMemoryLimitExceeded:
    case kTimeoutExceeded:
      return absl::ResourceExhaustedError(
          absl::StrCat(said, "; choose a shorter time range, or add conditions with --where"));
    case kTooManySimultaneousQueries:
    case kNoFreeConnection:
    case kSocketTimeout:
    case kNetworkError:
    case kAllConnectionTriesFailed:
    case kNoActiveReplicas:
    case kAllReplicasAreStale:
    case kTableIsReadOnly:
      return absl::UnavailableError(
          absl::StrCat(said, "; check that all servers of the cluster are running"));
    default:
      return error.code == 0 ? absl::UnavailableError(said) : absl::InternalError(said);
  }
}

absl::StatusOr<std::string> Server::Ask(std::string_view statement, const Settings& settings,
                                        size_t most) {
  http::Request request;
  request.most = most;
  Settings all = settings;
  all.emplace_back("wait_end_of_query", "1");
  request.url = UrlWith(std::move(all));
  request.body = statement;
  request.timeout = std::chrono::minutes(2);
  PROFILER_ASSIGN_OR_RETURN(http::Response response, client_.Send(request));
  if (const auto error = ErrorOf(response)) return StatusOf(*error);
  return std::move(response.body);
}

absl::StatusOr<http::Response> Server::Insert(std::string_view table, std::string_view columns,
                                              std::string_view body, const Settings& settings) {
  http::Request request;
  Settings all = settings;
  all.emplace_back("query", absl::StrCat("INSERT INTO ", QuotedName(table), " (", View(columns),
                                         ") FORMAT RowBinary"));
  request.url = UrlWith(std::move(all));
  request.headers = {{"Content-Encoding", "gzip"}, {"Content-Type", "application/octet-stream"}};
  request.body = Gzip(body, kGzipMessage);
  request.timeout = std::chrono::minutes(2);
  constexpr size_t kMostSaid = 1 << 20;
  request.most = kMostSaid;
  return client_.Send(request);
}

absl::StatusOr<ServerVersion> Server::Version() {
  if (version_) return *version_;
  PROFILER_ASSIGN_OR_RETURN(const std::string answer, Ask("SELECT version() FORMAT RowBinary"));
  RowReader row(answer);
  version_text_ = row.Text();
  PROFILER_ASSIGN_OR_RETURN(version_, ParseVersion(version_text_));
  return *version_;
}

absl::StatusOr<std::string> Server::VersionText() {
  PROFILER_RETURN_IF_ERROR(Version().status());
  return version_text_;
}

absl::Status CheckSchema(Server& server) {
  PROFILER_ASSIGN_OR_RETURN(
      const std::string answer,
      server.Ask(
          absl::StrCat(SchemaVersionStatement(server.address().database), " FORMAT RowBinary")));
  RowReader row(answer);
  const auto version = row.Number<uint32_t>();
  if (!row.ok()) return absl::DataLossError("the server's view profiler_schema has no row");
  if (version <= kSchemaVersion) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(server.address().url, ": the tables have version ", version,
                   ", but this program supports only ", kSchemaVersion, "; update the program"));
}

}  // namespace profiler::fleet::clickhouse
