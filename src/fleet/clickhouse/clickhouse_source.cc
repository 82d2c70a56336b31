#include "src/fleet/clickhouse/clickhouse_source.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/fleet/clickhouse/row_binary.h"
#include "src/fleet/clickhouse/stacks_answer.h"
#include "src/fleet/clickhouse/statements.h"

namespace profiler::fleet::clickhouse {
namespace {

class ClickHouse final : public Source {
 public:
  ClickHouse(std::unique_ptr<http::Client> client, ServerAddress address)
      : client_(std::move(client)), server_(*client_, std::move(address)) {}

  absl::StatusOr<std::vector<Window>> Stacks(const StacksQuestion& question,
                                             std::vector<std::string>* notes) override {
    const StacksStatements statements = StatementsOf(question);
    PROFILER_RETURN_IF_ERROR(MakeReady());
    PROFILER_ASSIGN_OR_RETURN(const std::string rows, Ask(statements.rows));
    if (rows.empty()) return NothingSelected();
    PROFILER_ASSIGN_OR_RETURN(const std::string stacks, Ask(statements.stacks));
    PROFILER_ASSIGN_OR_RETURN(const std::string windows, Ask(statements.windows));
    return WindowsOf({.rows = rows, .stacks = stacks, .windows = windows}, question, notes);
  }

  absl::StatusOr<fleet::Sums> Sums(const SumsQuestion& question,
                                   std::vector<std::string>* notes) override {
    fleet::Sums sums;
    PROFILER_ASSIGN_OR_RETURN(sums.lines, Lines(question, notes));
    // With the callees a sample counts in several lines, and of many lines not all are here.
    if ((question.functions && question.total) || sums.lines.size() >= question.most) {
      PROFILER_ASSIGN_OR_RETURN(const std::vector<Sum> all,
                                Lines({.selection = question.selection, .by = {}}, notes));
      sums.samples = all.front().samples;
      sums.value = all.front().value;
      return sums;
    }
    for (const Sum& line : sums.lines) {
      sums.samples += line.samples;
      sums.value += line.value;
    }
    return sums;
  }

  std::string StatementOf(const StacksQuestion& question) override {
    const StacksStatements statements = StatementsOf(question);
    return absl::StrCat(statements.rows, ";\n\n", statements.stacks, ";\n\n", statements.windows,
                        ";\n");
  }
  std::string StatementOf(const SumsQuestion& question) override {
    return absl::StrCat(clickhouse::StatementOf(question), ";\n");
  }

 protected:
  absl::StatusOr<std::vector<Sum>> Lines(const SumsQuestion& question,
                                         std::vector<std::string>* /*notes*/) override {
    PROFILER_RETURN_IF_ERROR(MakeReady());
    PROFILER_ASSIGN_OR_RETURN(const std::string answer, Ask(clickhouse::StatementOf(question)));
    if (answer.empty()) return NothingSelected();
    return ReadLines(answer, question);
  }

 private:
  // A server without tables would only say of one that it is not there.
  absl::Status MakeReady() {
    if (is_ready_) return absl::OkStatus();
    PROFILER_RETURN_IF_ERROR(server_.Version().status());
    PROFILER_RETURN_IF_ERROR(CheckSchema(server_));
    is_ready_ = true;
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> Ask(std::string_view statement) {
    // A part of the fleet is no answer.
    const Settings settings = {{"skip_unavailable_shards", "0"},
                               {"fallback_to_stale_replicas_for_distributed_queries", "0"}};
    return server_.Ask(absl::StrCat(View(statement), "\nFORMAT RowBinary"), settings);
  }

  absl::Status NothingSelected() const {
    return absl::NotFoundError(absl::StrCat(
        server_.address().url, ": nothing in these times is as asked for: leave a condition out, ",
        "or see what there is with --by service or --by host"));
  }

  static absl::StatusOr<std::vector<Sum>> ReadLines(std::string_view answer,
                                                    const SumsQuestion& question) {
    std::vector<Sum> lines;
    RowReader row(answer);
    const size_t keys = question.by.size() + (question.functions ? 1 : 0);
    while (row.ok() && !row.AtEnd()) {
      Sum& line = lines.emplace_back();
      for (size_t i = 0; i < keys; ++i) line.keys.emplace_back(row.Text());
      line.samples = row.Number<uint64_t>();
      line.value = row.Number<uint64_t>();
    }
    if (row.ok()) return lines;
    return absl::DataLossError("the server's answer is not what was asked for: it ends in mid-row");
  }

  std::unique_ptr<http::Client> client_;
  Server server_;
  bool is_ready_ = false;
};

}  // namespace

std::unique_ptr<Source> ClickHouseSource(std::unique_ptr<http::Client> client,
                                         ServerAddress address) {
  return std::make_unique<ClickHouse>(std::move(client), std::move(address));
}

}  // namespace profiler::fleet::clickhouse
