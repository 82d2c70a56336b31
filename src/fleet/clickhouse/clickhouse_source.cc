#include "src/fleet/clickhouse/clickhouse_source.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/fleet/clickhouse/row_binary.h"
#include "src/fleet/clickhouse/stacks_answer.h"
#include "src/fleet/clickhouse/statements.h"
#include "src/fleet/query/event_rule.h"

namespace profiler::fleet::clickhouse {
namespace {

// Number of lines to ask for, even if the question wants fewer. If the server returns fewer lines
// than this, there are no others. Then the sum of the lines is the total, and no second query is
// needed. The lines take some megabytes at most.
constexpr size_t kLinesToAddUp = 100'000;

class Reader final : public Source {
 public:
  Reader(std::unique_ptr<http::Client> client, ServerAddress address)
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
    // With `total`, a sample counts in several lines, so their sum is not the total.
    const bool counts_twice = question.functions && question.total;
    SumsQuestion longer = question;
    if (!counts_twice) longer.most = std::max(question.most, kLinesToAddUp);
    fleet::Sums sums;
    PROFILER_ASSIGN_OR_RETURN(sums.lines, Lines(longer, notes));
    if (counts_twice || sums.lines.size() >= longer.most) {
      PROFILER_ASSIGN_OR_RETURN(const std::vector<Sum> all,
                                Lines({.selection = question.selection, .by = {}}, notes));
      sums.samples = all.front().samples;
      sums.value = all.front().value;
    } else {
      for (const Sum& line : sums.lines) {
        sums.samples += line.samples;
        sums.value += line.value;
      }
    }
    sums.lines.resize(std::min(sums.lines.size(), question.most));
    return sums;
  }

  absl::StatusOr<SumsOfEvent> SumsOfOneEvent(const SumsQuestion& question,
                                             std::vector<std::string>* notes) override {
    if (TellsEventsApart(question)) return Source::SumsOfOneEvent(question, notes);
    PROFILER_ASSIGN_OR_RETURN(const auto only, OnlyEvent(question.selection));
    if (!only) return Source::SumsOfOneEvent(question, notes);
    SumsOfEvent answer = {.event = *only, .sums = {}};
    PROFILER_ASSIGN_OR_RETURN(answer.sums, Sums(question, notes));
    return answer;
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
  // Checks the tables once. Without this check, an error about missing tables would name only one
  // table.
  absl::Status MakeReady() {
    if (is_ready_) return absl::OkStatus();
    PROFILER_RETURN_IF_ERROR(server_.Version().status());
    PROFILER_RETURN_IF_ERROR(CheckSchema(server_));
    is_ready_ = true;
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> Ask(std::string_view statement) {
    // Makes the query fail if the server can answer for only a part of the fleet.
    const Settings settings = {{"skip_unavailable_shards", "0"},
                               {"fallback_to_stale_replicas_for_distributed_queries", "0"}};
    constexpr size_t kMostRows = size_t{1} << 30;
    return server_.Ask(absl::StrCat(View(statement), "\nFORMAT RowBinary"), settings, kMostRows);
  }

  // Returns the only selected event, or nullopt if there are several. Does not group by event,
  // because that would read the event of each row. A query for samples of any other event needs
  // only the key, so it reads no rows if there is no other event.
  absl::StatusOr<std::optional<std::string>> OnlyEvent(const Selection& selection) {
    PROFILER_RETURN_IF_ERROR(MakeReady());
    PROFILER_ASSIGN_OR_RETURN(const std::string any, Ask(AnyEventStatement(selection)));
    if (any.empty()) return NothingSelected();
    RowReader row(any);
    std::string event(row.Text());
    if (!row.ok()) return CutAnswer();
    const FieldName field = {.field = Field::kEvent, .label = {}};
    Selection others = selection;
    others.conditions.push_back({.field = field, .value = event, .negated = true});
    PROFILER_ASSIGN_OR_RETURN(const std::string other, Ask(AnyEventStatement(others)));
    if (!other.empty()) return std::nullopt;
    return event;
  }

  absl::Status NothingSelected() const {
    return absl::NotFoundError(absl::StrCat(
        server_.address().url, ": nothing in this time range matches; leave out a condition, ",
        "or list services and hosts with --by service or --by host"));
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
    return CutAnswer();
  }

  static absl::Status CutAnswer() {
    return absl::DataLossError("the server's answer ends in the middle of a row");
  }

  std::unique_ptr<http::Client> client_;
  Server server_;
  bool is_ready_ = false;
};

}  // namespace

std::unique_ptr<Source> ClickHouseSource(std::unique_ptr<http::Client> client,
                                         ServerAddress address) {
  return std::make_unique<Reader>(std::move(client), std::move(address));
}

}  // namespace profiler::fleet::clickhouse
