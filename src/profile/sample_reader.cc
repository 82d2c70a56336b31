#include "src/profile/sample_reader.h"

#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/data_source.h"

namespace profiler::profile {

using perf_event::RecordLayout;
using perf_event::U64Array;

void SampleReader::AddCgroup(const perf_event::Cgroup& cgroup) {
  cgroups_[cgroup.id] = std::string(cgroup.path);
}

const SampleDetails& SampleReader::Read(const perf_event::Sample& sample,
                                        const RecordLayout& layout, LookUps look_ups,
                                        ProfileBuilder& builder) {
  const uint64_t type = layout.sample_type;
  SampleDetails& details = details_;
  details.misc = sample.misc;
  details.addr = sample.addr;
  details.addr_frame = kNoFrame;
  if (look_ups.addr && (type & perf_event::kSampleAddr) != 0) {
    details.addr_frame = builder.FrameAt(sample.pid, sample.addr);
  }
  details.trace.clear();
  if (look_ups.trace && describe_) describe_(sample.raw, sample.cpu, &details.trace);
  details.data_src = sample.data_src;
  details.data_source.clear();
  if ((type & perf_event::kSampleDataSrc) != 0) {
    details.data_source = perf_event::DataSourceInPerfsWords(sample.data_src);
  }
  const perf_event::AccessCost cost = perf_event::CostOf(type, sample.weight);
  details.weight = cost.weight;
  details.instruction_latency = cost.instruction_latency;
  details.retire_latency = cost.retire_latency;
  const auto cgroup = cgroups_.find(sample.cgroup);
  details.cgroup = cgroup == cgroups_.end() ? std::string_view() : cgroup->second;
  details.phys_addr = sample.phys_addr;
  details.data_page_size = sample.data_page_size;
  details.code_page_size = sample.code_page_size;
  ReadBranches(sample, look_ups.branches, builder);
  ReadRegisters(sample.user_regs, &details.user_registers);
  ReadRegisters(sample.intr_regs, &details.interrupt_registers);
  return details;
}

void SampleReader::ReadBranches(const perf_event::Sample& sample, bool look_up,
                                ProfileBuilder& builder) {
  const U64Array words(sample.branches);
  details_.branches.clear();
  for (size_t i = 0; i + 2 < words.size(); i += 3) {
    Branch& branch = details_.branches.emplace_back();
    branch.from = words[i];
    branch.to = words[i + 1];
    branch.flags = words[i + 2];
    if (!look_up) continue;
    branch.from_frame = builder.FrameAt(sample.pid, branch.from);
    branch.to_frame = builder.FrameAt(sample.pid, branch.to);
  }
}

void SampleReader::ReadRegisters(const perf_event::Registers& registers,
                                 RegisterValues* out) const {
  out->abi = registers.abi;
  out->values.clear();
  const U64Array words(registers.values);
  size_t next = 0;
  for (int bit = 0; bit < 64 && next < words.size(); ++bit) {
    if ((registers.mask >> bit & 1) == 0) continue;
    out->values.emplace_back(perf_event::RegisterName(architecture_, bit), words[next++]);
  }
}

}  // namespace profiler::profile
