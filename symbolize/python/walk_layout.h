// Describes the places of CPython's frames in one process, for a walk that starts at the runtime's
// list of interpreters. C as well as C++, because the program in the kernel walks by it, too.
//
//   interpreters_head ──▶ interpreter ──▶ next interpreter …
//                              │ interpreter_threads
//                              ▼
//                         thread state ──▶ next thread state …      one with the thread's id
//                              │ thread_frame, frame_indirect
//                              ▼
//                            frame ──▶ previous frame …             code, instruction, owner
//
//   version      the newest frame                              its frames
//   3.8 to 3.10  *(thread + thread_frame)                      PyFrameObject
//   3.11, 3.12   *(*(thread + thread_frame) + frame_indirect)  _PyInterpreterFrame
//   3.13, 3.14   *(thread + thread_frame)                      _PyInterpreterFrame
//
// The newest frame is the top of the thread's Python stack, also while C code runs that it called.
// A frame is one of three kinds:
//
//   * No Python function: `owner` is at least `owner_entry` (3.12 and later). The evaluation loop
//     puts such a frame below the first function that it runs.
//   * Entry: the outermost function that one C call of the evaluation loop runs. All frames of 3.8
//     to 3.10; `is_entry` is not 0 (3.11); the previous frame is no Python function (3.12 and
//     later).
//   * Inner: called by the previous frame within the same C call of the evaluation loop.
//
// So the C stack and the list of frames agree: each evaluation loop on the C stack, from the inside
// out, runs the frames up to and including the next entry.
//
// Source: Include/cpython/pystate.h, Include/internal/pycore_frame.h, pycore_interp.h,
// pycore_runtime.h, pycore_interpframe_structs.h, CPython 3.8 to 3.14.

#pragma once

#include <linux/types.h>

#ifdef __cplusplus
namespace profiler::symbolize::python {
#endif

enum {
  // The most bytes of a frame that a walk needs: the largest WalkLayout::frame_bytes.
  kPythonMostFrameBytes = 112,
  // Value of an offset whose field the version does not have.
  kPythonNoField = 0xffff
};

// Addresses and offsets in one process. All offsets are in bytes.
struct WalkLayout {
  // Address of the word with the address of the first interpreter, in _PyRuntime. The list is
  // empty (0) before the interpreter starts.
  __u64 interpreters_head;

  // Offsets in an interpreter.
  __u32 interpreter_next;
  __u32 interpreter_threads;  // first thread state

  // Offsets in a thread state.
  __u16 thread_next;
  __u16 thread_interpreter;  // points back to the interpreter, for checks
  // pthread_self(): on x86-64, the base of fs. 0: no thread yet, or ended.
  __u16 thread_id;
  // gettid() in the PID namespace of the thread; kPythonNoField before 3.11.
  __u16 thread_native_id;
  __u16 thread_frame;  // the newest frame, or a _PyCFrame

  // Offset of the newest frame in the _PyCFrame to which `thread_frame` points (3.11, 3.12);
  // kPythonNoField: `thread_frame` is the newest frame. A _PyCFrame is a variable of the evaluation
  // loop on the C stack, except for the outermost, which is in the thread state.
  __u16 frame_indirect;
  __u16 cframe_previous;  // offset of the next outer _PyCFrame; kPythonNoField like thread_cframe

  // Offsets in a frame. All fields are in its first `frame_bytes` bytes, which one read gets. More
  // may not be readable.
  __u16 frame_bytes;
  __u16 frame_previous;
  __u16 frame_code;  // code object; in 3.13 and later any object
  // Bits that are no part of the address in `frame_code`: 0 before 3.14.
  __u16 code_tag_mask;
  // Position in the code: `instruction_bytes` bytes, 4 before 3.11 and 8 since then. Its meaning
  // depends on the version; CodeObjects::LineAt takes it as it is.
  __u16 frame_instruction;
  __u16 instruction_bytes;
  __u16 frame_globals;  // dictionary of the function's module, with __name__

  // Offset of a byte; kPythonNoField before 3.11.
  __u16 frame_owner;
  // Least value of the byte for frames without a Python function; 0xff before 3.12.
  __u16 owner_entry;
  // Offset of a byte; kPythonNoField except in 3.11.
  __u16 frame_is_entry;

  // Code objects, for copies of those that are new. A copy of the first `code_bytes` bytes has all
  // fields that names and lines need. The offsets are of pointers to objects: texts (str) and bytes
  // with a header of at most `text_bytes` bytes, then the characters. CodeObjects reads texts and
  // tables from the start of the object on.
  __u16 code_bytes;
  __u16 code_name;
  __u16 code_qualified_name;  // kPythonNoField before 3.11
  __u16 code_file;
  __u16 code_lines;   // bytes object with the line table
  __u16 text_length;  // offset of a text's number of characters, 8 bytes
  __u16 text_bytes;   // the longest header of a text; an ASCII text has a shorter one
  __u16 bytes_length, bytes_header;  // of a bytes object: offset of its size, and of its contents

  __u16 code_instructions;  // bytes object with the instructions; kPythonNoField from 3.11 on
  __u16 dictionary_keys;    // offset of the address of a dictionary's keys

  // 3 × 256 + 8 for Python 3.8.
  __u16 version;

  // Offset in a thread state of the address of the innermost _PyCFrame; kPythonNoField except in
  // 3.10 to 3.12.
  __u16 thread_cframe;
};

#ifdef __cplusplus
}  // namespace profiler::symbolize::python
#endif
