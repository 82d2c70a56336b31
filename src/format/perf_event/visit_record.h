// Maps a record's type to the struct that holds it.

#pragma once

#include <cstdint>

#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/records.h"

namespace profiler::perf_event {

// Calls `visit` with a default value of the struct for this type and returns its result. Returns
// false without a call for types that the kernel does not write.
template <class Visit>
bool VisitRecordType(uint32_t type, Visit&& visit) {
  switch (type) {
    case kRecordMmap:
      return visit(Mmap{});
    case kRecordLost:
      return visit(Lost{});
    case kRecordComm:
      return visit(Comm{});
    case kRecordExit:
    case kRecordFork:
      return visit(Task{});
    case kRecordThrottle:
    case kRecordUnthrottle:
      return visit(Throttle{});
    case kRecordRead:
      return visit(Read{});
    case kRecordSample:
      return visit(Sample{});
    case kRecordMmap2:
      return visit(Mmap2{});
    case kRecordAux:
      return visit(Aux{});
    case kRecordItraceStart:
      return visit(ItraceStart{});
    case kRecordLostSamples:
      return visit(LostSamples{});
    case kRecordSwitch:
      return visit(Switch{});
    case kRecordSwitchCpuWide:
      return visit(SwitchCpuWide{});
    case kRecordNamespaces:
      return visit(Namespaces{});
    case kRecordKsymbol:
      return visit(Ksymbol{});
    case kRecordBpfEvent:
      return visit(BpfEvent{});
    case kRecordCgroup:
      return visit(Cgroup{});
    case kRecordTextPoke:
      return visit(TextPoke{});
    case kRecordAuxOutputHwId:
      return visit(AuxOutputHwId{});
    case kRecordCallchainDeferred:
      return visit(CallchainDeferred{});
    default:
      return false;
  }
}

}  // namespace profiler::perf_event
