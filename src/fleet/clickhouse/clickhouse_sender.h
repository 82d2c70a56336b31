// A sender of batches of windows to a ClickHouse server; each batch counts once. It inserts:
//
//   stacks     that this process has not yet sent to the server for their day
//   windows    rate, losses, labels
//   samples    last, so that the stacks and windows they refer to exist
//
// Three mechanisms keep a batch from counting twice:
//
//   blocks     A batch is one block for each table, shard and day, and equal batches are equal
//              bytes. Replicated tables, and all tables of newer servers, remember their last
//              blocks (schema.h) and accept each block once. This works even while an earlier
//              request still runs, but not for ever.
//   questions  A batch may have been sent before if the previous batch failed, if this process has
//              just started, or if its windows are older than some minutes. Then the sender asks
//              the server which rows of the batch exist, and omits them. This works weeks later,
//              and on servers that remember no blocks, such as 18.16 without replicas. A block is
//              stored whole or not at all, so the remaining blocks have the same bytes as in the
//              first attempt.
//   keys       The server merges rows with equal keys into one.
//
// One gap is left: on tables that remember no blocks, an earlier request may still run when the
// sender asks. The request's id closes this gap. The id is a hash of the request's bytes, and the
// server refuses a second request with the same id while the first one runs.

#pragma once

#include <functional>
#include <memory>

#include "src/fleet/clickhouse/schema.h"
#include "src/fleet/clickhouse/server.h"
#include "src/fleet/push/sender.h"

namespace profiler::fleet::clickhouse {

struct SenderOptions {
  ServerAddress address;
  Schema schema = Schema::kOwn;
  // Returns nanoseconds since 1970. If empty, the system's clock is used.
  std::function<UnixTime()> now;
};

// Creates a sender that owns the client.
std::unique_ptr<Sender> ClickHouseSender(std::unique_ptr<http::Client> client,
                                         SenderOptions options);

}  // namespace profiler::fleet::clickhouse
