// Formats records other than samples in one or a few lines, as `perf script --show-…-events` does.
// Source: tools/perf/util/event.c, perf_event__fprintf(), Linux 7.2.

#pragma once

#include <string>

#include "src/format/perf_event/codec.h"

namespace profiler::perf_event {

// Returns, for example, "PERF_RECORD_COMM exec: ls:4711/4711\n". For a record that is too short for
// its layout, and for a type without fields, returns only the name. Thread-safe.
std::string RecordLine(RawRecord record, const RecordLayout& layout);

// The thread that a record is about.
struct RecordSubject {
  uint32_t pid = 0, tid = 0;
  // When and where the record was written. If the layout has no sample_id, these values come from
  // the record's own fields.
  SampleId written;
};

// Sets `*out` and returns true. Returns false for samples, for types that the kernel does not write
// and for records that are too short. Thread-safe.
bool SubjectOf(RawRecord record, const RecordLayout& layout, RecordSubject* out);

}  // namespace profiler::perf_event
