#include "src/views/report/resolved_options.h"

#include <algorithm>
#include <variant>

#include "src/views/report/hist.h"

namespace profiler::report {
namespace {

constexpr double kDefaultThreshold = 0.5;

bool IsOfMode(const Field& field) {
  const auto* weight = std::get_if<WeightField>(&field);
  return weight != nullptr && *weight >= WeightField::kSys && *weight <= WeightField::kGuestUser;
}

}  // namespace

CallGraphOptions SettledGraphOptions(const ReportOptions& options) {
  CallGraphOptions graph = options.call_graph;
  graph.threshold = graph.threshold.value_or(options.percent_limit > 0 ? options.percent_limit
                                                                       : kDefaultThreshold);
  return graph;
}

HistOptions ResolvedOptions(const ReportOptions& options, const profile::Profile& profile,
                            std::span<const profile::EventId> events) {
  const CallGraphOptions graph = SettledGraphOptions(options);
  const bool children = options.children.value_or(true) &&
                        std::any_of(events.begin(), events.end(), [&](profile::EventId event) {
                          return HasCallChains(profile, event);
                        });
  const bool chains = HasCallChains(profile, events.front());
  const FieldLayout layout = LayOutOf(options, children);
  return {.sort = options.sort,
          .children = children,
          .chains = chains && graph.type != CallGraphType::kNone,
          // The threshold of a fractal graph is a share of the row, so any row may have a graph.
          .chains_from = graph.type == CallGraphType::kFractal ? 0 : *graph.threshold,
          .order = graph.order.value_or(children ? ChainOrder::kCaller : ChainOrder::kCallee),
          .max_stack = options.max_stack,
          .row_order = layout.order,
          .modes = std::any_of(layout.order.begin(), layout.order.end(), IsOfMode),
          .filter = options.filter,
          .column_filter = options.column_filter,
          .slices = options.slices,
          .symbol_part = options.symbol_part,
          .relative_percentages = options.relative_percentages};
}

FieldLayout LayOutOf(const ReportOptions& options, bool children) {
  FieldChoice choice{.sort = options.sort_fields,
                     .shown = options.fields,
                     .cpu_utilization = options.show_cpu_utilization,
                     .samples = options.show_samples,
                     .period = options.show_period,
                     .intervals = options.show_intervals};
  if (choice.sort.empty() && choice.shown.fields.empty()) {
    choice.sort.assign(options.sort.begin(), options.sort.end());
  }
  return LayOutFields(choice, children);
}

}  // namespace profiler::report
