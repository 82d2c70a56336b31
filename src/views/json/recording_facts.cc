#include "src/views/json/recording_facts.h"

#include "src/profile/chain_shares.h"

namespace profiler::json {

Value Recording(const RecordingFacts& facts) {
  Value recording = {{"path", facts.path}};
  if (!facts.command.empty()) recording["command"] = facts.command;
  if (facts.seconds > 0) recording["seconds"] = facts.seconds;
  return recording;
}

Value Share(double share, double amount) { return {{"share", share}, {"amount", amount}}; }

Value Share(double share, const estimate::Interval& interval, double amount) {
  return {{"share", share}, {"low", interval.low}, {"high", interval.high}, {"amount", amount}};
}

Value Losses(const profile::Losses& losses) {
  Value value = {{"lost_records", losses.lost_records}, {"lost_samples", losses.lost_samples},
                 {"gaps", losses.lost_events},          {"throttled", losses.throttled},
                 {"undecodable", losses.undecodable},   {"corrupt_chains", losses.corrupt_chains},
                 {"warnings", losses.warnings}};
  if (losses.is_incomplete) value["incomplete"] = true;
  return value;
}

Value Chains(const ChainQuality& chains) {
  return {{"unwound", chains.chains()},
          {"whole", chains.whole()},
          {"without_stack", chains.no_stack},
          {"by_kernel", chains.by_kernel},
          {"broken", chains.broken}};
}

Value Chains(const profile::Profile& profile) {
  Value value = Chains(profile.chains);
  value["by_weight"] = Value::array();
  for (const profile::ChainShares& shares : profile::SharesOfChains(profile)) {
    value["by_weight"].push_back({{"event", profile.text(profile[shares.event].name)},
                                  {"whole", shares.whole},
                                  {"cut", shares.cut}});
  }
  return value;
}

}  // namespace profiler::json
