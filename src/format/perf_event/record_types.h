// Lists the types of records that the kernel writes, and finds the struct of a type.

#pragma once

#include <cstdint>

#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/records.h"

// Calls RECORD(type, name, struct) for each type of record, in the order of their numbers. If an
// earlier type has the same struct, calls SHARED instead. A missing line makes a record unknown to
// the codec, to texts and to byte swapping alike.
#define PROFILER_RECORD_TYPES(RECORD, SHARED)                     \
  RECORD(kRecordMmap, "MMAP", Mmap)                               \
  RECORD(kRecordLost, "LOST", Lost)                               \
  RECORD(kRecordComm, "COMM", Comm)                               \
  RECORD(kRecordExit, "EXIT", Task)                               \
  RECORD(kRecordThrottle, "THROTTLE", Throttle)                   \
  SHARED(kRecordUnthrottle, "UNTHROTTLE", Throttle)               \
  SHARED(kRecordFork, "FORK", Task)                               \
  RECORD(kRecordRead, "READ", Read)                               \
  RECORD(kRecordSample, "SAMPLE", Sample)                         \
  RECORD(kRecordMmap2, "MMAP2", Mmap2)                            \
  RECORD(kRecordAux, "AUX", Aux)                                  \
  RECORD(kRecordItraceStart, "ITRACE_START", ItraceStart)         \
  RECORD(kRecordLostSamples, "LOST_SAMPLES", LostSamples)         \
  RECORD(kRecordSwitch, "SWITCH", Switch)                         \
  RECORD(kRecordSwitchCpuWide, "SWITCH_CPU_WIDE", SwitchCpuWide)  \
  RECORD(kRecordNamespaces, "NAMESPACES", Namespaces)             \
  RECORD(kRecordKsymbol, "KSYMBOL", Ksymbol)                      \
  RECORD(kRecordBpfEvent, "BPF_EVENT", BpfEvent)                  \
  RECORD(kRecordCgroup, "CGROUP", Cgroup)                         \
  RECORD(kRecordTextPoke, "TEXT_POKE", TextPoke)                  \
  RECORD(kRecordAuxOutputHwId, "AUX_OUTPUT_HW_ID", AuxOutputHwId) \
  RECORD(kRecordCallchainDeferred, "CALLCHAIN_DEFERRED", CallchainDeferred)

namespace profiler::perf_event {

// Calls `visit` with a default value of the struct for this type and returns its result. Returns
// false without a call for types that the kernel does not write.
template <class Visit>
bool VisitRecordType(uint32_t type, Visit&& visit) {
  switch (type) {
#define PROFILER_CASE(number, name, Record) \
  case number:                              \
    return visit(Record{});
    PROFILER_RECORD_TYPES(PROFILER_CASE, PROFILER_CASE)
#undef PROFILER_CASE
    default:
      return false;
  }
}

}  // namespace profiler::perf_event
