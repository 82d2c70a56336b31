// Builds dumps of JITs (jit_dump.h) for tests.

#pragma once

#include <elf.h>

#include <cstdint>
#include <string>
#include <vector>

#include "src/base/byte_reader.h"

namespace profiler::symbolize {

// A builder of dumps like those of JITs, for process 7.
class JitDumpBuilder {
 public:
  explicit JitDumpBuilder(uint32_t magic = 0x4a695444, uint64_t flags = 0,
                          uint32_t machine = EM_X86_64) {
    Put(magic);
    for (const uint32_t field : {1u, 40u, machine, 0u, 7u}) Put(field);
    Put(uint64_t{1});
    Put(flags);
  }

  // Sets the time at which the JIT began the dump; default 1.
  JitDumpBuilder& Began(uint64_t time) {
    constexpr size_t kPlace = 24;
    bytes_.replace(kPlace, sizeof(time), reinterpret_cast<const char*>(&time), sizeof(time));
    return *this;
  }

  JitDumpBuilder& Load(uint64_t time, uint64_t address, uint64_t index, const std::string& name,
                       const std::string& code) {
    std::string body =
        Fields(uint32_t{7}, uint32_t{8}, address, address, uint64_t{code.size()}, index);
    body += name + '\0' + code;
    return Record(0, time, body);
  }
  JitDumpBuilder& Move(uint64_t time, uint64_t to, uint64_t size, uint64_t index) {
    return Record(1, time, Fields(uint32_t{7}, uint32_t{8}, to, uint64_t{0}, to, size, index));
  }
  struct Line {
    uint64_t address;
    uint32_t line;
    std::string file;
  };
  JitDumpBuilder& Lines(uint64_t address, const std::vector<Line>& lines) {
    std::string body = Fields(address, uint64_t{lines.size()});
    for (const Line& line : lines) {
      body += Fields(line.address, line.line, uint32_t{0}) + line.file + '\0';
    }
    return Record(2, 0, body);
  }
  JitDumpBuilder& Record(uint32_t id, uint64_t time, const std::string& body) {
    Put(id);
    Put(static_cast<uint32_t>(16 + body.size()));
    Put(time);
    bytes_ += body;
    return *this;
  }

  const std::string& bytes() const { return bytes_; }

 private:
  template <class... Values>
  static std::string Fields(Values... values) {
    std::string fields;
    ((fields += TextOf(BytesOf(values))), ...);
    return fields;
  }
  template <class Value>
  void Put(Value value) {
    bytes_ += TextOf(BytesOf(value));
  }

  std::string bytes_;
};

}  // namespace profiler::symbolize
