#include "src/fleet/agent/program_builds.h"

#include <utility>

#include "src/base/text.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/records.h"

namespace profiler::agent {

using perf_event::RawRecord;
using perf_event::RecordLayout;

namespace {

// Largest number of programs kept per process. A limit is needed, because a process may rename
// itself any number of times.
constexpr size_t kMostPrograms = 16;

}  // namespace

ProgramBuilds::ProgramBuilds(const perf_data::Features& features) {
  for (const auto& entry : features.build_ids) {
    build_ids_.try_emplace(entry.filename, entry.build_id.begin(), entry.build_id.end());
  }
}

void ProgramBuilds::Add(RawRecord record, const RecordLayout& layout) {
  switch (record.type()) {
    case perf_event::kRecordComm:
      return Name(record, layout);
    case perf_event::kRecordMmap2:
      return Map(record, layout);
    case perf_event::kRecordFork:
      return Fork(record, layout);
    default:
      return;
  }
}

// A COMM record without an exec is a new name of the same program.
void ProgramBuilds::Name(RawRecord record, const RecordLayout& layout) {
  perf_event::Comm comm;
  if (!perf_event::Decode(record, layout, &comm) || comm.pid != comm.tid) return;
  Programs& programs = programs_[comm.pid];
  Program program{.name = std::string(comm.comm)};
  if ((record.misc() & perf_event::kMiscCommExec) == 0 && !programs.empty()) {
    program.build_id = programs.back().build_id;
    program.is_known = programs.back().is_known;
  }
  if (programs.size() >= kMostPrograms) programs.erase(programs.begin());
  programs.push_back(std::move(program));
}

void ProgramBuilds::Map(RawRecord record, const RecordLayout& layout) {
  perf_event::Mmap2 mapping;
  if (!perf_event::Decode(record, layout, &mapping)) return;
  if (!mapping.filename.starts_with('/') || mapping.filename.starts_with("//")) return;
  Programs& programs = programs_[mapping.pid];
  if (programs.empty()) programs.emplace_back();
  Program& program = programs.back();
  if (program.is_known) return;
  program.is_known = true;
  program.build_id.assign(mapping.build_id.begin(), mapping.build_id.end());
  if (!program.build_id.empty()) return;
  if (const auto found = build_ids_.find(View(mapping.filename)); found != build_ids_.end()) {
    program.build_id = found->second;
  }
}

void ProgramBuilds::Fork(RawRecord record, const RecordLayout& layout) {
  perf_event::Task task;
  if (!perf_event::Decode(record, layout, &task) || task.pid == task.ppid) return;
  Programs inherited;
  // After a fork that the recorder synthesised, records of the process's own mappings follow.
  const bool is_made_up = (record.misc() & perf_event::kMiscForkExec) != 0;
  const auto parent = programs_.find(task.ppid);
  if (!is_made_up && parent != programs_.end() && !parent->second.empty()) {
    inherited.push_back(parent->second.back());
  }
  programs_[task.pid] = std::move(inherited);
}

std::string ProgramBuilds::BuildIdOf(uint32_t pid, std::string_view name) const {
  const auto found = programs_.find(pid);
  if (found == programs_.end() || found->second.empty()) return {};
  const Programs& programs = found->second;
  for (size_t i = programs.size(); i-- > 0;) {
    if (programs[i].name == name) return HexOf(programs[i].build_id);
  }
  return HexOf(programs.back().build_id);
}

}  // namespace profiler::agent
