#include "symbolize/symbols/jit_dump_writer.h"

#include "src/base/byte_reader.h"
#include "symbolize/symbols/jit_dump.h"

namespace profiler::symbolize {
namespace {

template <class... Values>
void Put(std::string* out, Values... values) {
  ((*out += TextOf(BytesOf(values))), ...);
}

// Writes a name up to its first NUL, because NUL ends it in the dump.
void PutName(std::string_view name, std::string* out) {
  *out += name.substr(0, name.find('\0'));
  *out += '\0';
}

// Appends a record; `put` appends its fields.
template <class PutFields>
void PutRecord(uint32_t id, uint64_t time, std::string* dump, PutFields put) {
  const size_t start = dump->size();
  Put(dump, id, uint32_t{0}, time);
  put();
  const auto size = static_cast<uint32_t>(dump->size() - start);
  dump->replace(start + sizeof(id), sizeof(size), TextOf(BytesOf(size)));
}

void PutPlaces(const VmCode& code, uint64_t time, std::string* dump) {
  PutRecord(JitDumpRecord::kPlaces, time, dump, [&] {
    Put(dump, static_cast<uint32_t>(code.calls.size()), static_cast<uint32_t>(code.places.size()));
    PutName(code.file, dump);
    for (const JitDump::Call& call : code.calls) {
      Put(dump, call.caller, call.line);
      PutName(call.name, dump);
      PutName(call.file, dump);
    }
    for (const JitDump::Place& place : code.places) {
      Put(dump, place.distance, place.call, place.line);
    }
  });
}

}  // namespace

std::string JitDumpHeader(uint16_t machine, uint32_t pid, uint64_t time) {
  constexpr uint32_t kVersion = 1, kSize = 40;
  std::string header;
  Put(&header, kJitDumpMagic, kVersion, kSize, uint32_t{machine}, uint32_t{0}, pid, time,
      uint64_t{0});
  return header;
}

void AppendLoad(const VmCode& code, uint32_t pid, uint64_t time, uint64_t index,
                std::string* dump) {
  if (!code.places.empty()) PutPlaces(code, time, dump);
  PutRecord(JitDumpRecord::kCodeLoad, time, dump, [&] {
    Put(dump, pid, pid, code.start.value, code.start.value, uint64_t{code.bytes.size()}, index);
    PutName(code.name, dump);
    *dump += TextOf(code.bytes);
  });
}

void AppendReturn(const VmCode& code, uint32_t pid, uint64_t time, uint64_t index,
                  std::string* dump) {
  PutRecord(JitDumpRecord::kCodeMove, time, dump, [&] {
    Put(dump, pid, pid, code.start.value, code.start.value, code.start.value,
        uint64_t{code.bytes.size()}, index);
  });
}

}  // namespace profiler::symbolize
