// Finds CPython in a process, says how its frames are walked, and names its code objects. All
// memory is read through ProcessMemory and is untrusted.
//
//   ElfImage ──▶ PythonImage        once per image: symbols, and the code of the evaluation loop
//                    │ bias, memory of a process
//                    ▼
//                Interpreter        once per process: version, walk_layout.h, layout of code objects
//                    │ address of a code object, from a frame
//                    ▼
//                CodeObjects        names, files and lines
//
// Source: CPython 3.8 to 3.14; see walk_layout.h and the files of this folder.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/base/address.h"
#include "src/base/status.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/process_memory.h"
#include "symbolize/python/code_layout.h"
#include "symbolize/python/walk_layout.h"

namespace profiler::symbolize::python {

// An image that contains CPython: a program, or libpython. Plain values.
struct PythonImage {
  struct Range {
    ElfAddress begin, end;
  };

  ElfAddress runtime;                 // _PyRuntime
  std::optional<ElfAddress> version;  // Py_Version, since 3.11
  // The oldest version that has the functions of the image's dynamic symbols: 3 × 256 + 8 for 3.8.
  uint16_t least_version = 0;
  std::optional<ElfAddress> code_type, frame_type;  // PyCode_Type, PyFrame_Type
  // Code of the evaluation loop and of its parts that the compiler has split off (.cold, .part), or
  // of its instructions (3.14's _TAIL_CALL_…), sorted. Empty if the image has no symbols of it.
  std::vector<Range> evaluation_loops;
  // True if the image has local symbols too, so that `evaluation_loops` lacks no split part.
  bool has_all_loops = false;

  // Reads the image. Empty if it contains no CPython. Reads all symbols, which takes some
  // milliseconds.
  static std::optional<PythonImage> Read(const ElfImage& image);
};

// A CPython that runs in a process. Plain values.
struct Interpreter {
  uint16_t version = 0;       // 3 × 256 + 12 for 3.12
  uint32_t full_version = 0;  // PY_VERSION_HEX, 0x030c01f0 for 3.12.1; 0: unknown (before 3.11)
  bool is_free_threaded = false;
  WalkLayout walk{};
  CodeLayout code;
};

// Examines the process. `bias` is the address of the image in the process, minus its ElfAddress.
// Every offset is checked with the process's own objects before it is returned. Takes about 20
// reads.
// Errors:
//   kUnavailable         the interpreter is starting or has ended; try again later
//   kUnimplemented       the version is not known here
//   kFailedPrecondition  objects in memory differ from the version's layout
absl::StatusOr<Interpreter> Recognise(const PythonImage& image, uint64_t bias,
                                      ProcessMemory& memory);

// Names of one process's code objects. Keeps at most kMostBytes. Not thread-safe.
class CodeObjects {
 public:
  static constexpr size_t kMostBytes = size_t{64} << 20;

  struct Line {
    uint32_t offset = 0;  // in bytes, from the first instruction
    uint32_t line = 0;    // valid from `offset` on; 0: none
    bool operator==(const Line&) const = default;
  };
  struct Code {
    // "json.decoder.JSONDecoder.decode": the module, if it is known, and the qualified name. Before
    // 3.11 the function's name without its class. Control characters are replaced.
    std::string name;
    std::string file;         // co_filename; empty: unknown
    uint32_t first_line = 0;  // 0: unknown
    uint32_t size = 0;        // size of the instructions, in bytes
    std::vector<Line> lines;  // sorted by offset; empty: unknown
    // True if the code belongs to the interpreter itself and is no function of a program. Its frame
    // is not to be shown.
    bool is_internal = false;
    uint64_t number = 0;  // changes if another code object replaces this one

    // Address of the instructions, or of each thread's own copy of them (free-threaded 3.14). Empty
    // before 3.11, where the walk reads offsets.
    std::vector<uint64_t> instructions;
    uint32_t unit = 1;  // before 3.11: bytes per unit of the offset that the walk reads
    // Returns the offset in bytes of an instruction, given as the walk has read it (WalkLayout::
    // frame_instruction). Less than `size`; 0 if the instruction is not in the code.
    uint32_t OffsetOf(uint64_t instruction) const;
    // Returns the line of the instruction at an offset; 0: unknown.
    uint32_t LineAt(uint32_t offset) const;
  };

  // `memory` must outlive this object.
  CodeObjects(ProcessMemory& memory, const Interpreter& interpreter);
  ~CodeObjects();

  // Returns the code object at `address`; null if there is none (another object, or unreadable
  // memory). `globals` is the dictionary of a frame with that code, whose __name__ becomes the
  // module; 0: unknown. Compares a known code object with memory once after each Refresh. Valid
  // until the next call.
  const Code* Find(uint64_t address, uint64_t globals = 0);
  // Makes Find compare each code object with memory once more.
  void Refresh();
};

}  // namespace profiler::symbolize::python
