// A fake ClickHouse server for tests of the sender. It stores samples, and answers queries for the
// samples that it has. Tests inject errors.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "src/base/gzip.h"
#include "src/base/text.h"
#include "src/fleet/clickhouse/row_binary.h"
#include "src/http/http_client.h"

namespace profiler::fleet::clickhouse {

// A row of `samples` in the order of its columns, without the labels.
struct StoredSample {
  uint32_t second = 0, nanosecond = 0;
  std::string host, service, program, container, pod, build_id, event;
  uint64_t stack = 0, samples = 0, value = 0;
};

class FakeClickHouse {
 public:
  // The outcome of an insert: the number of rows that are stored, and the answer.
  struct Fate {
    size_t kept = SIZE_MAX;
    absl::StatusOr<http::Response> answer =
        http::Response{.status = 200, .headers = {}, .body = {}};
  };

  std::string version = "18.16.1";
  std::optional<uint32_t> schema = 1;  // none: there are no tables
  // Decides the outcome of each insert; if empty, all succeed.
  std::function<Fate(std::string_view table)> fate;

  absl::StatusOr<http::Response> Answer(const http::Request& request) {
    requests.push_back(request);
    if (absl::StrContains(request.url, "query=INSERT")) return AnswerInsert(request);
    const std::string_view statement = request.body;
    std::string body;
    RowWriter row(body);
    if (statement.starts_with("SELECT version()")) {
      row.Text(version);
    } else if (statement.starts_with("SELECT version FROM")) {
      if (!schema) return Error(404, "Code: 60, e.displayText() = DB::Exception: no such table");
      row.Number(*schema);
    } else if (statement.starts_with("SELECT service, ts")) {
      ++questions;
      AppendPresent(row);
    } else {
      return Error(500, "Code: 62, e.displayText() = DB::Exception: Syntax error");
    }
    return http::Response{.status = 200, .headers = {}, .body = body};
  }

  static http::Response Error(int status, std::string text) {
    return {.status = status, .headers = {}, .body = std::move(text)};
  }

  uint64_t SamplesStored() const {
    uint64_t sum = 0;
    for (const StoredSample& sample : stored) sum += sample.samples;
    return sum;
  }

  std::vector<StoredSample> stored;  // with duplicates
  std::vector<http::Request> requests;
  std::map<std::string, size_t> inserts;      // number of inserts, keyed by table
  std::map<std::string, std::string> bodies;  // the last body, keyed by table
  size_t questions = 0;

 private:
  absl::StatusOr<http::Response> AnswerInsert(const http::Request& request) {
    std::string table;
    for (const char* name : {"stacks", "windows", "samples", "otel_profiles"}) {
      if (absl::StrContains(request.url, absl::StrCat("%60", name, "%60"))) table = name;
    }
    ++inserts[table];
    bodies[table] = Gunzip(request.body).value_or("");
    Fate fate_of_this = fate ? fate(table) : Fate();
    if (table == "samples") Store(bodies[table], fate_of_this.kept);
    return fate_of_this.answer;
  }

  void Store(std::string_view body, size_t kept) {
    RowReader row(body);
    for (size_t i = 0; i < kept && row.ok() && !row.AtEnd(); ++i) {
      StoredSample& sample = stored.emplace_back();
      row.Number<uint16_t>();
      sample.second = row.Number<uint32_t>();
      sample.nanosecond = row.Number<uint32_t>();
      sample.host = row.Text();
      row.Texts();
      row.Texts();
      for (std::string* text : {&sample.service, &sample.program, &sample.container, &sample.pod,
                                &sample.build_id, &sample.event}) {
        *text = row.Text();
      }
      sample.stack = row.Number<uint64_t>();
      sample.samples = row.Number<uint64_t>();
      sample.value = row.Number<uint64_t>();
    }
  }

  void AppendPresent(RowWriter& row) const {
    for (const StoredSample& sample : stored) {
      row.Text(sample.service);
      row.Number(sample.second);
      row.Number(sample.nanosecond);
      for (const std::string* text : {&sample.host, &sample.event, &sample.program,
                                      &sample.container, &sample.pod, &sample.build_id}) {
        row.Text(*text);
      }
      row.Size(1);
      row.Number(sample.stack);
    }
  }
};

// A client whose requests the fake server answers.
class FakeClient final : public http::Client {
 public:
  explicit FakeClient(std::function<absl::StatusOr<http::Response>(const http::Request&)> answer)
      : answer_(std::move(answer)) {}
  explicit FakeClient(FakeClickHouse& server)
      : answer_([&server](const http::Request& request) { return server.Answer(request); }) {}

  absl::StatusOr<http::Response> Send(const http::Request& request) override {
    return answer_(request);
  }

 private:
  std::function<absl::StatusOr<http::Response>(const http::Request&)> answer_;
};

}  // namespace profiler::fleet::clickhouse
