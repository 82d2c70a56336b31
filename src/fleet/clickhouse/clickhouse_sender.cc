#include "src/fleet/clickhouse/clickhouse_sender.h"

#include <xxhash.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "src/base/text.h"
#include "src/fleet/clickhouse/foreign_rows.h"
#include "src/fleet/clickhouse/insert_outcome.h"
#include "src/fleet/clickhouse/present_rows.h"
#include "src/fleet/clickhouse/row_binary.h"
#include "src/fleet/clickhouse/rows.h"

namespace profiler::fleet::clickhouse {
namespace {

// With this number of rows, a body has some 40 MB, or 4 MB compressed. Each batch becomes a part of
// the table, and the server later merges parts. With 50,000 rows per batch, merging took 1.7 times
// as long for a fleet of 500 hosts.
constexpr size_t kRowsOfBatch = 200'000;
// Age in nanoseconds. If all windows of a batch are older than this, an earlier process may have
// sent the batch.
constexpr UnixTime kFresh = 10 * int64_t{60} * 1'000'000'000;

Delivery Delivered() {
  return {.outcome = Delivery::Outcome::kDelivered, .reason = {}, .wait = {}};
}

// Returns a request's id: a hash of the table, the rows and the host. It includes the host, because
// two machines may send the same stacks.
std::string IdOf(std::string_view host, std::string_view table, std::string_view body) {
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  for (const std::string_view text : {host, table, body}) {
    XXH3_64bits_update(&state, text.data(), text.size());
  }
  return absl::StrFormat("profiler-%016x", XXH3_64bits_digest(&state));
}

class Inserter final : public Sender {
 public:
  Inserter(std::unique_ptr<http::Client> client, SenderOptions options)
      : client_(std::move(client)),
        options_(std::move(options)),
        server_(*client_, options_.address) {}

  Delivery Send(std::span<const Window> windows) override {
    const bool is_sure = std::exchange(is_sure_, false);
    if (windows.empty()) return Delivered();
    if (const absl::Status ready = MakeReady(); !ready.ok()) return TryAgain(ready);
    Delivery delivery =
        options_.schema == Schema::kOwn ? SendRows(windows, is_sure) : SendForeignRows(windows);
    is_sure_ = delivery.outcome == Delivery::Outcome::kDelivered;
    return delivery;
  }

  size_t RowsOfBatch() const override { return kRowsOfBatch; }

 private:
  // Checks that the server has the tables in a supported version. Later calls check nothing, until
  // an insert fails.
  absl::Status MakeReady() {
    if (is_ready_) return absl::OkStatus();
    PROFILER_ASSIGN_OR_RETURN(version_, server_.Version());
    if (options_.schema == Schema::kOwn) PROFILER_RETURN_IF_ERROR(CheckSchema(server_));
    is_ready_ = true;
    return absl::OkStatus();
  }

  UnixTime Now() const { return options_.now ? options_.now() : absl::ToUnixNanos(absl::Now()); }

  Delivery SendRows(std::span<const Window> windows, bool is_sure) {
    auto batch = Batch::Of(windows);
    if (!batch.ok()) {
      return {.outcome = Delivery::Outcome::kRefused,
              .reason = std::string(batch.status().message()),
              .wait = {}};
    }
    const size_t all = batch->samples();
    if (!is_sure || Now() - batch->end() > kFresh) {
      if (const absl::Status asked = RemovePresentRows(server_, *batch); !asked.ok()) {
        return TryAgain(asked);
      }
      // Samples are sent last, so if the server has all samples, it also has all stacks and
      // windows.
      if (all > 0 && batch->samples() == 0) return Delivered();
    }
    std::vector<SentStacks::Stack> fresh;
    const std::string_view host = windows.front().host;
    Delivery delivery = Insert(host, "stacks", StackColumns(), batch->StackRows(sent_, &fresh));
    if (delivery.outcome != Delivery::Outcome::kDelivered) return delivery;
    sent_.Add(fresh);
    delivery = Insert(host, "windows", WindowColumns(), batch->WindowRows());
    if (delivery.outcome != Delivery::Outcome::kDelivered) return delivery;
    return Insert(host, "samples", SampleColumns(), batch->SampleRows());
  }

  Delivery SendForeignRows(std::span<const Window> windows) {
    for (const ForeignRows& rows : ForeignRowsOf(options_.schema, windows)) {
      Delivery delivery = Insert(windows.front().host, rows.table, rows.columns, rows.rows);
      if (delivery.outcome != Delivery::Outcome::kDelivered) return delivery;
    }
    return Delivered();
  }

  Delivery Insert(std::string_view host, std::string_view table, std::string_view columns,
                  const Rows& rows) {
    if (rows.rows == 0) return Delivered();
    // Makes the insert one block, which is stored before the server answers.
    constexpr size_t kUsualBlock = 1 << 20;
    Settings settings = {{"insert_distributed_sync", "1"},
                         {"insert_deduplicate", "1"},
                         {"max_insert_block_size", absl::StrCat(std::max(kUsualBlock, rows.rows))},
                         {"query_id", IdOf(host, table, rows.body)}};
    if (version_ >= kWithAsynchronousInserts) settings.emplace_back("async_insert", "0");
    Delivery delivery = OutcomeOf(server_, server_.Insert(table, columns, rows.body, settings));
    // Checks the tables again before the next batch, because the address may lead to another server
    // by then, or the tables may be gone.
    if (delivery.outcome != Delivery::Outcome::kDelivered) {
      is_ready_ = false;
      sent_.Clear();
    }
    return delivery;
  }

  std::unique_ptr<http::Client> client_;
  const SenderOptions options_;
  Server server_;
  bool is_ready_ = false;
  ServerVersion version_;
  SentStacks sent_;
  // True if the next batch cannot have been sent already. If its windows are old (kFresh), this
  // says nothing.
  bool is_sure_ = false;
};

}  // namespace

std::unique_ptr<Sender> ClickHouseSender(std::unique_ptr<http::Client> client,
                                         SenderOptions options) {
  return std::make_unique<Inserter>(std::move(client), std::move(options));
}

}  // namespace profiler::fleet::clickhouse
