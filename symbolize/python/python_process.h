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
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/base/address.h"
#include "src/base/status.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/process_memory.h"
#include "symbolize/python/code_layout.h"
#include "symbolize/python/line_table.h"
#include "symbolize/python/objects.h"

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
  // PyCode_Type, PyFrame_Type, PyDict_Type
  std::optional<ElfAddress> code_type, frame_type, dictionary_type;
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
  Layout layout;
  KnownTypes types;
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
    uint32_t LineAt(uint32_t offset) const { return FindLine(lines, offset); }
    // Returns the distinct lines, sorted, with the first line; at most `most`.
    std::vector<uint32_t> DistinctLines(size_t most) const;
  };

  // `memory` must outlive this object.
  CodeObjects(ProcessMemory& memory, const Interpreter& interpreter);

  // Returns the code object at `address`; null if there is none (another object, or unreadable
  // memory). `globals` is the dictionary of a frame with that code, whose __name__ becomes the
  // module; 0: unknown. Compares a known code object with memory once after each Refresh. Valid
  // until the next call.
  const Code* Find(uint64_t address, uint64_t globals = 0);
  // Makes Find compare each code object with memory once more.
  void Refresh() { ++look_; }

 private:
  // Fields that distinguish a code object from others at the same address.
  struct Identity {
    uint64_t name = 0, qualified_name = 0, file = 0, lines = 0, instructions = 0;
    uint64_t size = 0;
    int32_t first_line = 0, first_traceable = 0;
    bool operator==(const Identity&) const = default;
  };
  struct Known {
    Identity identity;
    Code code;
    bool has_module = false;
    uint64_t look = 0;  // value of look_ when memory was compared last
  };

  std::optional<Identity> ReadIdentity(uint64_t address);
  std::optional<Code> ReadCode(uint64_t address, const Identity& identity);
  std::vector<uint64_t> ReadThreadInstructions(uint64_t address);
  std::string ModuleOf(uint64_t globals);

  const Layout layout_;
  Objects objects_;
  uint64_t look_ = 1;
  uint64_t last_number_ = 0;
  size_t bytes_ = 0;                                             // size of all of codes_
  absl::flat_hash_map<uint64_t, std::unique_ptr<Known>> codes_;  // keyed by address
  struct Module {
    std::string name;
    uint64_t look = 0;
  };
  absl::flat_hash_map<uint64_t, Module> modules_;  // keyed by the address of the dictionary
};

}  // namespace profiler::symbolize::python
