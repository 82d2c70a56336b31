// The records that the program in the kernel writes directly before a sample. C as well as C++.
//
// PythonStack: the Python frames of the sampled thread, the newest first.
//
//   u32 generation, u32 end, u32 count, u32 -
//   u64 head                       address of the newest frame
//   count times:
//     u64 kind << 56 | address     kind 0 and 1: a code object; 2: a place on the C stack
//     u64 instruction              as WalkLayout::frame_instruction says; kind 2: 0
//     u64 globals                  dictionary of the module; kind 2: 0
//     u64 print                    hash of the code object's pointers (PythonPrint); kind 2: 0
//
// A frame of kind 2 ends the frames that one C call of the evaluation loop runs. Its address lies in
// the C frame of that call. Before 3.11 there are no such frames; kind 1 ends them instead.
//
// PythonCopy: the objects of a code object, as they were at the sample. It precedes the stack in
// which the code object is met first. A process may free the objects before they are read, and then
// use their memory again.
//
//   u32 generation, u32 kPythonCopy, u32 -, u32 -
//   u64 code, u64 globals, u64 print              as in the frame
//   kPythonPieces times:
//     u64 address, u32 bytes, u32 place           place: from the start of the record; bytes 0: none
//   the pieces

#pragma once

#include <linux/types.h>

#include "symbolize/python/walk_layout.h"

#ifdef __cplusplus
namespace profiler::record {
#define PROFILER_LAYOUT symbolize::python::WalkLayout
#else
#define PROFILER_LAYOUT struct WalkLayout
#endif

// Limit for the entries of one record, which has less than 64 KiB; and room for them, a power of two.
enum { kMostPythonFrames = 1984, kPythonFrameRoom = 2048 };

enum PythonFrameKind {
  kPythonInner = 0,   // called by the next frame within the same evaluation loop, or unknown
  kPythonEntry = 1,   // outermost frame of an evaluation loop
  kPythonCStack = 2,  // place on the C stack of the evaluation loop that ran the frames before
  kPythonKindShift = 56
};

enum PythonWalkEnd {
  kPythonWhole = 0,       // the walk has reached the outermost frame
  kPythonUnreadable = 1,  // a frame is in memory that is invalid, or not present
  kPythonTooDeep = 2,     // there are more frames than kMostPythonFrames
  kPythonChanged = 3,     // another frame was the newest after the walk
  kPythonCopy = 0x100     // the record is a PythonCopy
};

// The value of the map of processes, keyed by their pids.
struct PythonProcessEntry {
  PROFILER_LAYOUT layout;
  __u32 generation;  // number of the program that the process executes; copied to records
  // Offset in the kernel's task_struct of the thread pointer, which is pthread_self() with glibc and
  // musl. The loader sets it.
  __u32 thread_pointer;
};

struct PythonStackHeader {
  __u32 generation;
  __u32 end;
  __u32 count;
  __u32 unused;
  __u64 head;
};

struct PythonStackFrame {
  __u64 code;  // kind and address
  __u64 instruction;
  __u64 globals;
  __u64 print;
};

// Limits of a copy: bytes of a text and of a table of lines, with their headers. Objects that are
// longer are read later.
enum { kPythonTextRoom = 640, kPythonLinesRoom = 16384 };
enum PythonPieceIndex {
  kPieceCode = 0,
  kPieceName = 1,
  kPieceQualifiedName = 2,
  kPieceFile = 3,
  kPieceInstructions = 4,  // header of the bytes object; before 3.11
  kPieceDictionary = 5,    // globals
  kPieceKeys = 6,          // header of the dictionary's keys
  kPieceEntries = 7,       // the first entries
  kPieceKey = 8,           // the first key, which is "__name__" in a module
  kPieceModule = 9,        // its value
  kPieceLines = 10,
  kPythonPieces = 11
};

struct PythonPiece {
  __u64 address;
  __u32 bytes;
  __u32 place;
};

struct PythonCopy {
  __u32 generation;
  __u32 end;  // kPythonCopy
  __u32 unused[2];
  __u64 code;
  __u64 globals;
  __u64 print;
  struct PythonPiece pieces[kPythonPieces];
  __u8 object[512];
  __u8 name[kPythonTextRoom];
  __u8 qualified_name[kPythonTextRoom];
  __u8 file[kPythonTextRoom];
  __u8 instructions[32];
  __u8 dictionary[64];
  __u8 keys[40];
  __u8 entries[192];
  __u8 key[kPythonTextRoom];
  __u8 module[kPythonTextRoom];
  __u8 lines[kPythonLinesRoom];  // the record ends with the table
};

// Pointers of a code object, from its file name to its table of lines. Code objects may be freed
// and their memory used again before names are read; these pointers then differ.
enum { kPythonPrintWords = 4 };

// Returns the number of bytes of these pointers; the others count as 0.
static inline __u32 PythonPrintBytes(__u16 code_file, __u16 code_lines) {
  return code_lines - code_file == 24 ? 32 : 24;
}
static inline __u64 PythonPrint(const __u64* words) {
  const __u64 factor = 0x9e3779b97f4a7c15ull;
  return ((words[0] * factor + words[1]) * factor + words[2]) * factor + words[3];
}

#undef PROFILER_LAYOUT
#ifdef __cplusplus
}  // namespace profiler::record
#endif
