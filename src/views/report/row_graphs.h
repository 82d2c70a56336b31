// Draws the call graphs below the rows of a table.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "src/views/report/call_graph.h"
#include "src/views/report/hist.h"
#include "src/views/report/options.h"

namespace profiler::report {

// The call graphs of a histogram, which must outlive it. Not thread-safe.
class RowGraphs {
 public:
  // `skip_first_entry`: true if each row already shows the function with which its graph begins, so
  // the graph omits that function.
  RowGraphs(const Histogram& hist, const CallGraphOptions& options, bool skip_first_entry)
      : hist_(hist), options_(options), skip_first_entry_(skip_first_entry) {
    if (hist.options().chains) graph_.emplace(hist, options);
  }

  // Appends the row's graph; nothing if it has none. Calls `flush` as DrawCallGraph does.
  void Append(size_t row, std::string& out, absl::FunctionRef<void()> flush) {
    if (!graph_ || !hist_.MayHaveChains(row)) return;
    const ChainDrawing drawing{.total_period = hist_.total().period,
                               .row_period = hist_.rows()[row].children.period,
                               .skip_first_entry = skip_first_entry_};
    DrawCallGraph(hist_, options_, drawing, graph_->Build(row), out, flush);
  }

 private:
  const Histogram& hist_;
  const CallGraphOptions options_;
  const bool skip_first_entry_;
  std::optional<CallGraph> graph_;
};

}  // namespace profiler::report
