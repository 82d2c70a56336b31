// Takes batches of windows to a ClickHouse server, so that each counts once.
//
//   stacks     that this server was not sent for their day, as far as this process knows
//   windows    rate, losses, labels
//   samples    last: they never refer to what is not there
//
// Three things together keep a batch from counting twice:
//
//   blocks     A batch is one block for each table, shard and day, and the same batch is the same
//              bytes. Replicated tables, and in newer versions all, remember their last blocks
//              (schema.h) and take each once. That holds at once, also while an earlier request is
//              still at work, but not for ever.
//   questions  Where a batch may have been sent before (the one before it failed, this process has
//              just begun, or its windows are not of the last minutes) the server is asked first
//              which of its rows it has, and these are left out. That holds after weeks, also
//              where no blocks are remembered, as with 18.16 without replicas. A block is there
//              whole or not at all, so the blocks that are left are the same bytes as before.
//   keys       Rows with the same key become one when the server merges them.
//
// What is left: on tables that remember no blocks, an earlier request that is still at work when
// the server is asked. It is given its time: a request has an id that follows from its bytes, and a
// second one with that id is refused while the first one runs.

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
  // Nanoseconds since 1970; the system's clock where there is none.
  std::function<UnixTime()> now;
};

// The sender owns the client.
std::unique_ptr<Sender> ClickHouseSender(std::unique_ptr<http::Client> client,
                                         SenderOptions options);

}  // namespace profiler::fleet::clickhouse
