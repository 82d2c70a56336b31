// Reads a stack of which the kernel copies too little, and writes the words that unwinding may need
// into the ring, directly before the sample. The kernel copies less than 64 KiB, and nothing behind a
// page that is not in memory, which large frames leave untouched.
//
// A stack of 2 MiB does not fit into a ring 1000 times per second. But unwinding only needs return
// addresses, saved frame pointers and saved stack pointers. So other words are left out. Frames
// have few such words: a stack of 1 KiB frames shrinks to a fiftieth.

#include "src/record/bpf/maps.bpf.h"
#include "src/record/bpf/rings.bpf.h"

// True if the kernel has bpf_task_pt_regs (Linux 5.15). Without it, only samples in user code have
// a known stack pointer. The loader sets it.
const volatile __u64 has_task_registers = 0;

// A record is written when fewer words and marks fit than a page may have.
enum { kFullRecord = kStackRecordRoom - kStackPageWords - 3 };

enum { kPartWords = 128 };

struct StackScratch {
  __u64 address, end;           // of the next page, and of the stack
  __u64 readable_end;           // end of the last page that could be read
  __u64 page;                   // the page of the last mark
  __u64 words;                  // in the records so far
  struct StackRange addresses;  // contains all code and the stack
  struct StackRange stack;
  struct StackRange code[kMostCodeRanges];
  struct StackRecordHeader header;
  __u64 entries[kStackRecordRoom];
  __u64 bytes[kStackPageWords];
};

// One for each CPU. A map of type PERCPU_ARRAY allows only 32 KiB.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);  // the loader sets the number of CPUs
  __type(key, __u32);
  __type(value, struct StackScratch);
} scratches SEC(".maps");

// Registers of the interrupted code: bpf_user_pt_regs_t of Linux 6.18, which headers define only for
// the machine that compiles this.
#if defined(__TARGET_ARCH_arm64)
struct UserRegisters {
  __u64 regs[31], sp, pc, pstate;
};
// Return addresses may be signed in their upper bits.
#define ADDRESS_OF(word) ((word) & ((1ull << 48) - 1))
#define IN_USER_CODE(regs) (((regs)->pstate & 0xf) == 0)
#else
struct UserRegisters {
  __u64 r15_to_orig_rax[16], pc, cs, flags, sp, ss;
};
#define ADDRESS_OF(word) (word)
#define IN_USER_CODE(regs) (((regs)->cs & 3) == 3)
#endif

// The kernel knows a program's context by this name.
struct bpf_perf_event_data {
  struct UserRegisters regs;
  __u64 sample_period, addr;
};

static __always_inline int IsIn(const struct StackRange* range, __u64 word) {
  return word - range->start < range->size;
}

static __always_inline void Push(struct StackScratch* scratch, __u64 entry) {
  __u64 index = scratch->header.count;
  BARRIER(index);
  index &= kStackRecordRoom - 1;
  scratch->entries[index] = entry;
  scratch->header.count = index + 1;
}

// Takes a word of the present page if it is the address of code or of the stack. A function that the
// verifier checks once, as all that are not static.
__attribute__((noinline)) int TakeWord(__u32 cpu, __u32 index, __u64 word) {
  struct StackScratch* const scratch = bpf_map_lookup_elem(&scratches, &cpu);
  if (!scratch) return 0;
  if (!IsIn(&scratch->stack, word)) {
    int is_code = 0;
#pragma unroll
    for (int i = 0; i < kMostCodeRanges; ++i) is_code |= IsIn(&scratch->code[i], word);
    if (!is_code) return 0;
  }
  if (scratch->page != scratch->address) {
    scratch->page = scratch->address;
    Push(scratch, (__u64)kStackPageMark << kStackWordShift | scratch->address);
  }
  Push(scratch, (__u64)index << kStackWordShift | word);
  return 0;
}

// Takes the words of a part of the present page, from an index on. The verifier checks every round of
// a loop, so it checks a part, not the page.
__attribute__((noinline)) int TakePart(__u32 cpu, __u32 first) {
  struct StackScratch* const scratch = bpf_map_lookup_elem(&scratches, &cpu);
  if (!scratch) return 0;
  __u64 place = first;
  BARRIER(place);
  place &= kStackPageWords - kPartWords;
  const __u64* const words = scratch->bytes + place;
  const __u64 start = scratch->addresses.start, size = scratch->addresses.size;
#pragma clang loop unroll_count(4)
  for (__u32 i = 0; i < kPartWords; ++i) {
    const __u64 word = ADDRESS_OF(words[i]);
    if (word - start < size) TakeWord(cpu, place + i, word);
  }
  return 0;
}

// Takes the words of the next page. Returns 0 if it cannot be read.
static __always_inline int TakePage(struct StackScratch* scratch, __u32 cpu) {
  if (bpf_probe_read_user(scratch->bytes, sizeof(scratch->bytes), (void*)scratch->address) != 0) {
    return 0;
  }
  if (scratch->address != scratch->readable_end) {
    Push(scratch, (__u64)kStackHoleMark << kStackWordShift | scratch->readable_end);
    Push(scratch, (__u64)kStackHoleEndMark << kStackWordShift | scratch->address);
  }
  scratch->readable_end = scratch->address + kStackPageBytes;
  for (__u32 first = 0; first < kStackPageWords; first += kPartWords) TakePart(cpu, first);
  return 1;
}

// Writes a record. Returns 0 if that is impossible.
static __always_inline int Output(void* ctx, struct StackScratch* scratch, __u32 state) {
  __u64 count = scratch->header.count;
  BARRIER(count);
  if (count > kStackRecordRoom) return 0;
  scratch->header.state = state;
  scratch->header.to = scratch->readable_end;
  const __u64 bytes = sizeof(struct StackRecordHeader) + count * sizeof(__u64);
  if (bpf_perf_event_output(ctx, &rings, BPF_F_CURRENT_CPU, &scratch->header, bytes) != 0) return 0;
  scratch->words += count;
  scratch->header.count = 0;
  scratch->header.from = scratch->readable_end;
  scratch->page = 0;
  return 1;
}

enum { kReadOn = 0, kLost = 100 };  // besides the states of a record

// Reads the next page, and writes a record if it is full. Returns a state of the stack, which ends
// the reading, or kReadOn, or kLost.
__attribute__((noinline)) int NextPage(struct bpf_perf_event_data* ctx, __u32 cpu) {
  struct StackScratch* const scratch = bpf_map_lookup_elem(&scratches, &cpu);
  if (!scratch) return kLost;
  if (scratch->address >= scratch->end) return kStackEnd;
  const int is_readable = TakePage(scratch, cpu);
  scratch->address += kStackPageBytes;
  if (!is_readable) {
    const __u64 missing = scratch->address - scratch->readable_end;
    return missing < (__u64)kMostMissingPages * kStackPageBytes ? kReadOn : kStackNoMemory;
  }
  if (scratch->header.count < kFullRecord) return kReadOn;
  if (scratch->words > kMostStackWords - kStackRecordRoom) return kStackTooDeep;
  return Output(ctx, scratch, kStackGoesOn) ? kReadOn : kLost;
}

// Returns the stack pointer of the user code; 0 if it is unknown.
static __always_inline __u64 StackPointer(struct bpf_perf_event_data* ctx) {
  if (IN_USER_CODE(&ctx->regs)) return ctx->regs.sp;
  __u64 sp = 0;
  if (has_task_registers) {
    const char* const registers = (const char*)bpf_task_pt_regs(bpf_get_current_task_btf());
    bpf_probe_read_kernel(&sp, sizeof(sp),
                          registers + __builtin_offsetof(struct UserRegisters, sp));
  }
  return sp;
}

// Prepares to read the stack. Returns 0 if that is not possible.
static __always_inline int Begin(struct StackScratch* scratch, const struct FollowedThread* thread,
                                 __u64 sp) {
  const __u64 from = (sp + thread->skip) & ~(__u64)(kStackPageBytes - 1);
  const __u64 most = (__u64)kMostStackPages * kStackPageBytes;
  if (sp == 0 || from >= thread->end) return 0;
  // It is the end of another stack.
  if (thread->end != ~0ull && thread->end - from > most) return 0;
  scratch->address = from;
  scratch->end = thread->end;
  scratch->readable_end = from;
  scratch->page = 0;
  scratch->words = 0;
  scratch->stack.start = sp;
  scratch->stack.size = from + most - sp;
  __u64 first = thread->all_code.start, last = first + thread->all_code.size;
  if (sp < first) first = sp;
  if (from + most > last) last = from + most;
  scratch->addresses.start = first;
  scratch->addresses.size = last - first;
#pragma unroll
  for (int i = 0; i < kMostCodeRanges; ++i) scratch->code[i] = thread->code[i];
  scratch->header.kind = kStackRecord;
  scratch->header.count = 0;
  scratch->header.sp = sp;
  scratch->header.from = from;
  return 1;
}

static __always_inline void ReadStack(struct bpf_perf_event_data* ctx) {
  const __u32 cpu = bpf_get_smp_processor_id();
  const __u32 tid = ThisTid();
  const struct FollowedThread* const thread = bpf_map_lookup_elem(&followed_threads, &tid);
  struct StackScratch* const scratch = bpf_map_lookup_elem(&scratches, &cpu);
  if (!thread || !scratch || !Begin(scratch, thread, StackPointer(ctx))) return;
  int state = kReadOn;
  for (int i = 0; i < kMostStackPages && state == kReadOn; ++i) state = NextPage(ctx, cpu);
  if (state == kReadOn) state = scratch->address >= scratch->end ? kStackEnd : kStackTooDeep;
  const int is_empty = scratch->words == 0 && scratch->readable_end == scratch->header.from;
  if (state != kLost && !is_empty) Output(ctx, scratch, state);
}

SEC("perf_event") int stack(struct bpf_perf_event_data* ctx) {
  ReadStack(ctx);
  const __u32 pid = ThisPid();
  if (bpf_map_lookup_elem(&processes, &pid)) bpf_tail_call(ctx, &programs, kProgramWalk);
  return 1;
}

char kLicense[] SEC("license") = "Dual MIT/GPL";
