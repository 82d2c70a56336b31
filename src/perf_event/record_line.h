// Records other than samples in one line (some in more), as `perf script --show-…-events` shows
// them.
// Source: tools/perf/util/event.c, perf_event__fprintf(), Linux 7.2.

#pragma once

#include <string>

#include "src/perf_event/codec.h"

namespace profiler::perf_event {

// "PERF_RECORD_COMM exec: ls:4711/4711\n". A record that is too short for its layout, and a type
// that has no fields to show, give their name alone. Thread-safe.
std::string RecordLine(RawRecord record, const RecordLayout& layout);

// Whom a record is about, and when and where it was written.
struct RecordSubject {
  uint32_t pid = 0, tid = 0;
  SampleId written;  // made of the record's own fields where the layout has no sample_id
};

// False, and nothing in `*out`, for samples, for types that the kernel does not write and for
// records that are too short. Thread-safe.
bool SubjectOf(RawRecord record, const RecordLayout& layout, RecordSubject* out);

}  // namespace profiler::perf_event
