// The record that the program in the kernel writes before a sample of a thread with a large stack,
// of which the kernel copies too little. It has the words of the stack that may be addresses of code
// or of the stack itself. Unwinding needs no others. C as well as C++.
//
//   u32 state, u32 kStackRecord, u32 count, u32 -
//   u64 sp                         stack pointer of the sample
//   u64 from, u64 to               addresses between which all such words are in the record
//   count times:
//     u64 kStackPageMark << 48 | address        the words of this page (of 4 KiB) follow
//     or  index in the page << 48 | word        ascending
//     or  kStackHoleMark << 48 | address        pages from here on were not readable …
//     or  kStackHoleEndMark << 48 | address     … up to here
//
// A sample may have several records, each from the end of the one before. All except the last one
// have the state kStackGoesOn.

#pragma once

#include <linux/types.h>

#ifdef __cplusplus
namespace profiler::record {
#endif

// Limits: pages of a stack (2 MiB and a little), words of a sample, words of a record, and ranges of
// code.
enum {
  kStackPageBytes = 4096,
  kStackPageWords = kStackPageBytes / 8,
  kMostStackPages = 544,
  kMostStackWords = 16384,
  kStackRecordRoom = 4096,  // a power of two; a record has less than 64 KiB
  kMostCodeRanges = 4,
  // Large frames may leave pages untouched, which then are not in memory. After as many of them in a
  // row, the stack is taken to have ended.
  kMostMissingPages = 128
};

// At the place of PythonStackHeader::end, by which records are told apart.
enum { kStackRecord = 0x200 };
enum {
  kStackWordShift = 48,
  kStackPageMark = 0xffff,
  kStackHoleMark = 0xfffe,
  kStackHoleEndMark = 0xfffd
};

enum StackRecordState {
  kStackGoesOn = 0,    // another record follows
  kStackEnd = 1,       // the record ends at FollowedThread::end
  kStackNoMemory = 2,  // memory ends
  kStackTooDeep = 3    // more than kMostStackPages or kMostStackWords
};

struct StackRecordHeader {
  __u32 state;
  __u32 kind;  // kStackRecord
  __u32 count;
  __u32 unused;
  __u64 sp;
  __u64 from;
  __u64 to;
};

struct StackRange {
  __u64 start;
  __u64 size;
};

// The value of the map of threads whose stacks are read to the end. Key: the thread's id.
struct FollowedThread {
  __u64 end;   // address of a page; nothing is read from here on
  __u64 skip;  // bytes from the stack pointer on that are not read, because the sample has them
  // All addresses of code; unused ones have size 0. `all_code` contains them.
  struct StackRange all_code;
  struct StackRange code[kMostCodeRanges];
};

#ifdef __cplusplus
}  // namespace profiler::record
#endif
