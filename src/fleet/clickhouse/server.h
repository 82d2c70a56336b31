// A ClickHouse server over HTTP: statements go there as bodies of POST, answers come back.
//
//   POST /?database=D&setting=value…              a statement; the answer's rows in RowBinary
//   POST /?query=INSERT INTO T (…) FORMAT …&…     rows, gzipped
//
// Answers come whole or not at all: the server holds them back until its work is done
// (wait_end_of_query), so that an error in the middle of it has an error's status.
//
// Source: clickhouse.com/docs, "HTTP Interface".

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/status.h"
#include "src/fleet/clickhouse/server_version.h"
#include "src/http/http_client.h"

namespace profiler::fleet::clickhouse {

// Where a server is, and the database on it.
struct ServerAddress {
  std::string url;  // "http://host:8123", without a slash at its end
  std::string database = "default";
};

// What a server said of a statement that it did not run.
struct ServerError {
  int code = 0;  // of ClickHouse's errors; 0: none was said
  std::string text;
};
// Of an answer; nothing where it is none. Also those that stand in an answer that says it went
// well.
std::optional<ServerError> ErrorOf(const http::Response& response);

using Settings = std::vector<std::pair<std::string, std::string>>;

// One thread at a time.
class Server {
 public:
  // `client` must outlive it.
  Server(http::Client& client, ServerAddress address)
      : client_(client), address_(std::move(address)) {}

  const ServerAddress& address() const { return address_; }

  // The answer to a statement. Errors: those of the client; of the server's: kNotFound where a
  // table or the database is missing, which names `profiler fleet init`; kUnauthenticated and
  // kPermissionDenied; kUnavailable where it, or one of its shards, cannot now; kResourceExhausted
  // where the question is too large, or the answer has more than `most` bytes, of which an agent
  // has no room for many; kInternal for all others.
  static constexpr size_t kMostAnswer = size_t{32} << 20;
  absl::StatusOr<std::string> Ask(std::string_view statement, const Settings& settings = {},
                                  size_t most = kMostAnswer);

  // The answer to an insert, whatever it says. Errors: the client's.
  absl::StatusOr<http::Response> Insert(std::string_view table, std::string_view columns,
                                        std::string_view body, const Settings& settings);

  // Asked once.
  absl::StatusOr<ServerVersion> Version();
  absl::StatusOr<std::string> VersionText();  // "24.8.4.13"

  // Of the server's error.
  absl::Status StatusOf(const ServerError& error) const;

 private:
  std::string UrlWith(Settings settings) const;

  http::Client& client_;
  const ServerAddress address_;
  std::string version_text_;
  std::optional<ServerVersion> version_;
};

// Whether the database has the tables of schema.h as this program knows them. Errors: those of Ask,
// of which kNotFound says how to make them; kFailedPrecondition for newer ones.
absl::Status CheckSchema(Server& server);

}  // namespace profiler::fleet::clickhouse
