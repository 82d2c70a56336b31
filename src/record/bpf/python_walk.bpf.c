// Walks the Python frames of the thread that was sampled, and writes them into the ring of its CPU,
// directly before the sample. Code objects that are met for the first time precede them, as copies.
//
//   walk ──▶ find (once per thread) ──▶ frames ──▶ codes ◀──▶ copy
//
// The thread's state is the one with the thread's pthread_self(). It is searched in the lists of
// CPython once, and remembered for the thread. A remembered state is used only while it still has
// that number. The process may write anything into this memory. So every loop is bounded, and a
// record says how the walk ended.

#include "src/record/bpf/maps.bpf.h"
#include "src/record/bpf/rings.bpf.h"

enum {
  // The kernel checks every round of a loop when it loads a program, 1 ms for some thousand
  // instructions. More rounds are made by tail calls, at most 33 for a sample.
  kFramesPerProgram = 64,
  kThreadsPerProgram = 64,
  kCodesPerProgram = 256,
  kCopiesPerProgram = 8,
  kMostThreadStates = 8192,
  kMostCodes = 16384,
  kMostThreadStateBytes = 4096
};

// The walk of one sample, from program to program.
struct Walk {
  __u64 thread;                    // address of the thread state
  __u64 frame;                     // address of the next frame
  __u64 cframe;                    // address of the next _PyCFrame; 0: none
  __u64 interpreter, next_thread;  // position of the search
  __u64 pointer;                   // pthread_self() of the thread
  __u64 next_code;                 // index of the next frame whose code object may be new
  struct PythonStackHeader header;
  struct PythonStackFrame frames[kPythonFrameRoom];
  // The bytes of the present frame, and room for a word at their end.
  char bytes[136];
};

// One for each CPU. A map of type PERCPU_ARRAY allows only 32 KiB.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);  // the loader sets the number of CPUs
  __type(key, __u32);
  __type(value, struct Walk);
} walks SEC(".maps");

// States of threads that were found. Key: thread and process.
struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, kMostThreadStates);
  __type(key, __u64);
  __type(value, __u64);
} threads SEC(".maps");

// Code objects that were copied. Key: address, and the print combined with the process.
struct CodeKey {
  __u64 code, print;
};
struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, kMostCodes);
  __type(key, struct CodeKey);
  __type(value, __u8);
} codes_copied SEC(".maps");

// One for each CPU, as `walks`.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct PythonCopy);
} copies SEC(".maps");

static __always_inline struct Walk* ThisWalk(void) {
  const __u32 cpu = bpf_get_smp_processor_id();
  return bpf_map_lookup_elem(&walks, &cpu);
}

static __always_inline struct PythonProcessEntry* ThisProcess(void) {
  const __u32 pid = ThisPid();
  return bpf_map_lookup_elem(&processes, &pid);
}

static __always_inline __u64 Word(__u64 address) {
  __u64 word = 0;
  if (bpf_probe_read_user(&word, sizeof(word), (const void*)address) != 0) return 0;
  return word;
}

// Returns the word at an offset of the frame that was read last.
static __always_inline __u64 FrameWord(struct Walk* walk, __u32 offset) {
  __u64 place = offset;
  BARRIER(place);
  place &= 0x7f;
  return *(__u64*)(walk->bytes + place);
}
static __always_inline __u8 FrameByte(struct Walk* walk, __u32 offset) {
  __u64 place = offset;
  BARRIER(place);
  place &= 0x7f;
  return *(__u8*)(walk->bytes + place);
}

static __always_inline void Push(struct Walk* walk, __u64 kind, __u64 address, __u64 instruction,
                                 __u64 globals, __u64 print) {
  __u64 index = walk->header.count;
  BARRIER(index);
  index &= kPythonFrameRoom - 1;
  struct PythonStackFrame* const frame = &walk->frames[index];
  frame->code = kind << kPythonKindShift | (address & ((1ull << kPythonKindShift) - 1));
  frame->instruction = instruction;
  frame->globals = globals;
  frame->print = print;
  walk->header.count = index + 1;
}

// Returns the print of a code object.
static __always_inline __u64 PrintOf(const struct WalkLayout* layout, __u64 code) {
  __u64 words[kPythonPrintWords] = {};
  const void* const place = (const void*)(code + layout->code_file);
  if (PythonPrintBytes(layout->code_file, layout->code_lines) == sizeof(words)) {
    if (bpf_probe_read_user(words, sizeof(words), place) != 0) return 0;
  } else if (bpf_probe_read_user(words, sizeof(words) - sizeof(words[0]), place) != 0) {
    return 0;
  }
  return PythonPrint(words);
}

// Returns the address of the newest frame. Sets walk->cframe if there are such.
static __always_inline __u64 Head(struct Walk* walk, const struct WalkLayout* layout) {
  if (layout->thread_cframe != kPythonNoField) {
    walk->cframe = Word(walk->thread + layout->thread_cframe);
    if (layout->frame_indirect != kPythonNoField) {
      return walk->cframe ? Word(walk->cframe + layout->frame_indirect) : 0;
    }
  }
  return Word(walk->thread + layout->thread_frame);
}

// Returns true if a _PyCFrame is the outermost one, which is in the thread state.
static __always_inline int IsOutermost(const struct Walk* walk) {
  return walk->cframe - walk->thread < kMostThreadStateBytes;
}

// Returns true if the state belongs to the thread.
static __always_inline int IsOfThread(const struct Walk* walk, const struct WalkLayout* layout,
                                      __u64 state) {
  return state != 0 && Word(state + layout->thread_id) == walk->pointer;
}

static __always_inline int Begin(struct Walk* walk, struct PythonProcessEntry* process) {
  walk->frame = Head(walk, &process->layout);
  if (walk->frame == 0) return 0;
  walk->header.generation = process->generation;
  walk->header.head = walk->frame;
  walk->header.count = 0;
  walk->header.end = kPythonWhole;
  return 1;
}

// Writes the stack.
static __always_inline int Output(void* ctx, struct Walk* walk) {
  __u64 bytes = walk->header.count;
  BARRIER(bytes);
  if (bytes > kMostPythonFrames) return 1;
  bytes = sizeof(struct PythonStackHeader) + bytes * sizeof(struct PythonStackFrame);
  bpf_perf_event_output(ctx, &rings, BPF_F_CURRENT_CPU, &walk->header, bytes);
  return 1;
}

// Ends the walk. The copies of new code objects precede the stack in the ring.
static __always_inline int Finish(void* ctx, struct Walk* walk, const struct WalkLayout* layout) {
  if (walk->header.count == 0) return 1;
  // Every call of the evaluation loop has a _PyCFrame. If their number differs, the loop was just
  // beginning or ending.
  if (walk->header.end == kPythonWhole && layout->owner_entry == 0xff &&
      layout->thread_cframe != kPythonNoField && !IsOutermost(walk)) {
    walk->header.end = kPythonChanged;
  }
  if (Head(walk, layout) != walk->header.head) walk->header.end = kPythonChanged;
  walk->next_code = 0;
  bpf_tail_call(ctx, &programs, kProgramCodes);
  return Output(ctx, walk);
}

// Takes the next frame. Returns false at the end of the walk. The frames of an outer call of the
// evaluation loop are those of its _PyCFrame, if there are such: the newest frame may be a remnant.
static __always_inline int TakeFrame(struct Walk* walk, const struct WalkLayout* layout) {
  if (walk->frame == 0) return 0;
  if (walk->header.count >= kMostPythonFrames - 1) {
    walk->header.end = kPythonTooDeep;
    return 0;
  }
  __u64 bytes = layout->frame_bytes;
  BARRIER(bytes);
  if (bytes > kPythonMostFrameBytes) bytes = kPythonMostFrameBytes;
  if (bpf_probe_read_user(walk->bytes, bytes, (const void*)walk->frame) != 0) {
    walk->header.end = kPythonUnreadable;
    return 0;
  }
  if (layout->frame_owner != kPythonNoField && layout->owner_entry != 0xff &&
      FrameByte(walk, layout->frame_owner) >= layout->owner_entry) {
    Push(walk, kPythonCStack, walk->frame, 0, 0, 0);
    if (layout->frame_indirect != kPythonNoField) {
      walk->cframe = Word(walk->cframe + layout->cframe_previous);
      walk->frame = Word(walk->cframe + layout->frame_indirect);
      return 1;
    }
  } else {
    const __u64 code = FrameWord(walk, layout->frame_code) & ~(__u64)layout->code_tag_mask;
    __u64 instruction = FrameWord(walk, layout->frame_instruction);
    if (layout->instruction_bytes == 4) instruction = (__u32)instruction;
    const int has_places = layout->thread_cframe != kPythonNoField && layout->owner_entry == 0xff;
    const int is_entry =
        layout->frame_owner == kPythonNoField ||
        (layout->frame_is_entry != kPythonNoField && FrameByte(walk, layout->frame_is_entry) != 0);
    Push(walk, is_entry && !has_places ? kPythonEntry : kPythonInner, code, instruction,
         FrameWord(walk, layout->frame_globals), PrintOf(layout, code));
    if (is_entry && has_places) {
      if (IsOutermost(walk)) {
        walk->header.end = kPythonChanged;
        return 0;
      }
      Push(walk, kPythonCStack, walk->cframe, 0, 0, 0);
      walk->cframe = Word(walk->cframe + layout->cframe_previous);
      if (layout->frame_indirect != kPythonNoField) {
        walk->frame = Word(walk->cframe + layout->frame_indirect);
        return 1;
      }
    }
  }
  walk->frame = FrameWord(walk, layout->frame_previous);
  return 1;
}

// Begins the walk at the remembered state of the thread.
SEC("perf_event") int walk(void* ctx) {
  struct PythonProcessEntry* const process = ThisProcess();
  struct Walk* const walk = ThisWalk();
  if (!process || !walk) return 1;
  walk->pointer = 0;
  const char* const task = (const char*)bpf_get_current_task();
  bpf_probe_read_kernel(&walk->pointer, sizeof(walk->pointer), task + process->thread_pointer);
  const __u64 thread = bpf_get_current_pid_tgid();
  const __u64* const known = bpf_map_lookup_elem(&threads, &thread);
  if (known && IsOfThread(walk, &process->layout, *known)) {
    walk->thread = *known;
    if (Begin(walk, process)) {
      bpf_tail_call(ctx, &programs, kProgramFrames);
      return 1;
    }
  }
  if (walk->pointer == 0) return 1;
  walk->thread = 0;
  walk->interpreter = Word(process->layout.interpreters_head);
  if (walk->interpreter == 0) return 1;
  walk->next_thread = Word(walk->interpreter + process->layout.interpreter_threads);
  bpf_tail_call(ctx, &programs, kProgramFind);
  return 1;
}

// Takes the frames.
SEC("perf_event") int frames(void* ctx) {
  struct PythonProcessEntry* const process = ThisProcess();
  struct Walk* const walk = ThisWalk();
  if (!process || !walk) return 1;
  const struct WalkLayout* const layout = &process->layout;
  for (int i = 0; i < kFramesPerProgram; ++i) {
    if (!TakeFrame(walk, layout)) return Finish(ctx, walk, layout);
  }
  bpf_tail_call(ctx, &programs, kProgramFrames);
  walk->header.end = kPythonTooDeep;
  return Finish(ctx, walk, layout);
}

// Searches the thread's state: the first one that runs frames.
SEC("perf_event") int find(void* ctx) {
  struct PythonProcessEntry* const process = ThisProcess();
  struct Walk* const walk = ThisWalk();
  if (!process || !walk) return 1;
  const struct WalkLayout* const layout = &process->layout;
  for (int i = 0; i < kThreadsPerProgram; ++i) {
    if (walk->next_thread == 0) {
      walk->interpreter = Word(walk->interpreter + layout->interpreter_next);
      if (walk->interpreter == 0) return 1;
      walk->next_thread = Word(walk->interpreter + layout->interpreter_threads);
      continue;
    }
    const __u64 state = walk->next_thread;
    walk->next_thread = Word(state + layout->thread_next);
    if (!IsOfThread(walk, layout, state)) continue;
    walk->thread = state;
    if (!Begin(walk, process)) continue;
    const __u64 thread = bpf_get_current_pid_tgid();
    bpf_map_update_elem(&threads, &thread, &state, BPF_ANY);
    bpf_tail_call(ctx, &programs, kProgramFrames);
    return 1;
  }
  bpf_tail_call(ctx, &programs, kProgramFind);
  return 1;
}

// Returns the frame at an index if it runs a Python function, and sets its key; else null.
static __always_inline const struct PythonStackFrame* CodeAt(struct Walk* walk, __u64 index,
                                                             struct CodeKey* key) {
  BARRIER(index);
  index &= kPythonFrameRoom - 1;
  const struct PythonStackFrame* const frame = &walk->frames[index];
  if (frame->code >> kPythonKindShift == kPythonCStack) return 0;
  key->code = frame->code & ((1ull << kPythonKindShift) - 1);
  key->print = frame->print ^ (__u64)walk->header.generation * 0x9e3779b97f4a7c15ull;
  return frame;
}

// Searches code objects that were not copied yet.
SEC("perf_event") int codes(void* ctx) {
  struct Walk* const walk = ThisWalk();
  if (!walk) return 1;
  for (int i = 0; i < kCodesPerProgram; ++i) {
    if (walk->next_code >= walk->header.count) return Output(ctx, walk);
    struct CodeKey key = {};
    if (CodeAt(walk, walk->next_code, &key) && !bpf_map_lookup_elem(&codes_copied, &key)) {
      bpf_tail_call(ctx, &programs, kProgramCopy);
      return Output(ctx, walk);
    }
    ++walk->next_code;
  }
  bpf_tail_call(ctx, &programs, kProgramCodes);
  return Output(ctx, walk);
}

// Copies `bytes` bytes, at most `room`, into `to`. Notes the piece. Returns true if they were read.
static __always_inline int CopyPiece(struct PythonPiece* piece, void* to, __u64 room, __u64 address,
                                     __u64 bytes) {
  BARRIER(bytes);
  if (bytes > room) bytes = room;
  piece->address = address;
  piece->bytes = 0;
  if (address == 0 || bpf_probe_read_user(to, bytes, (const void*)address) != 0) return 0;
  piece->bytes = bytes;
  return 1;
}

// Copies a text: as many bytes as it may have, or if they are not in memory, as it probably has.
static __always_inline void CopyText(struct PythonPiece* piece, void* to,
                                     const struct WalkLayout* layout, __u64 address) {
  const __u64 length = address ? Word(address + layout->text_length) : 0;
  const __u64 bytes = length < kPythonTextRoom ? length : kPythonTextRoom;
  if (CopyPiece(piece, to, kPythonTextRoom, address, layout->text_bytes + 4 * bytes)) return;
  CopyPiece(piece, to, kPythonTextRoom, address, layout->text_bytes + bytes);
}

// Copies the first entry of a module's dictionary, which is its name.
static __always_inline void CopyModule(struct PythonCopy* copy, const struct WalkLayout* layout,
                                       __u64 globals) {
  CopyPiece(&copy->pieces[kPieceDictionary], copy->dictionary, sizeof(copy->dictionary), globals,
            sizeof(copy->dictionary));
  const __u64 keys = globals ? Word(globals + layout->dictionary_keys) : 0;
  copy->pieces[kPieceEntries].bytes = 0;
  copy->pieces[kPieceKey].bytes = 0;
  copy->pieces[kPieceModule].bytes = 0;
  if (!CopyPiece(&copy->pieces[kPieceKeys], copy->keys, sizeof(copy->keys), keys,
                 sizeof(copy->keys))) {
    return;
  }
  __u64 entries, key;
  if (layout->version < (3 << 8 | 11)) {
    const __u64 table = *(__u64*)(copy->keys + 8);
    const int shift = table <= 0xff ? 0 : table <= 0xffff ? 1 : table <= 0xffffffff ? 2 : 3;
    entries = keys + 40 + (table << shift);
    key = 8;
  } else {
    entries = keys + 32 + (1ull << (copy->keys[9] & 63));
    key = copy->keys[10] == 0 ? 8 : 0;
  }
  if (!CopyPiece(&copy->pieces[kPieceEntries], copy->entries, sizeof(copy->entries), entries,
                 sizeof(copy->entries)) &&
      !CopyPiece(&copy->pieces[kPieceEntries], copy->entries, sizeof(copy->entries), entries, 24)) {
    return;
  }
  const __u64 name = Word(entries + key);
  if (name == 0) {
    // The dictionary grows: its table is cleared, and not filled yet. Without these pieces, the
    // recorder reads them from the process, a moment later.
    copy->pieces[kPieceDictionary].bytes = 0;
    copy->pieces[kPieceKeys].bytes = 0;
    copy->pieces[kPieceEntries].bytes = 0;
    return;
  }
  CopyText(&copy->pieces[kPieceKey], copy->key, layout, name);
  CopyText(&copy->pieces[kPieceModule], copy->module, layout, Word(entries + key + 8));
}

#define PLACE(index, member) \
  copy->pieces[index].place = __builtin_offsetof(struct PythonCopy, member)

// Copies the objects of a code object into the ring.
static __always_inline void CopyCode(void* ctx, struct PythonCopy* copy,
                                     const struct WalkLayout* layout, __u32 generation,
                                     const struct PythonStackFrame* frame) {
  const __u64 code = frame->code & ((1ull << kPythonKindShift) - 1);
  copy->generation = generation;
  copy->end = kPythonCopy;
  copy->code = code;
  copy->globals = frame->globals;
  copy->print = frame->print;
  PLACE(kPieceCode, object);
  PLACE(kPieceName, name);
  PLACE(kPieceQualifiedName, qualified_name);
  PLACE(kPieceFile, file);
  PLACE(kPieceInstructions, instructions);
  PLACE(kPieceDictionary, dictionary);
  PLACE(kPieceKeys, keys);
  PLACE(kPieceEntries, entries);
  PLACE(kPieceKey, key);
  PLACE(kPieceModule, module);
  PLACE(kPieceLines, lines);
  if (!CopyPiece(&copy->pieces[kPieceCode], copy->object, sizeof(copy->object), code,
                 layout->code_bytes)) {
    return;
  }
  CopyText(&copy->pieces[kPieceName], copy->name, layout, Word(code + layout->code_name));
  copy->pieces[kPieceQualifiedName].bytes = 0;
  if (layout->code_qualified_name != kPythonNoField) {
    CopyText(&copy->pieces[kPieceQualifiedName], copy->qualified_name, layout,
             Word(code + layout->code_qualified_name));
  }
  CopyText(&copy->pieces[kPieceFile], copy->file, layout, Word(code + layout->code_file));
  copy->pieces[kPieceInstructions].bytes = 0;
  if (layout->code_instructions != kPythonNoField) {
    CopyPiece(&copy->pieces[kPieceInstructions], copy->instructions, sizeof(copy->instructions),
              Word(code + layout->code_instructions), sizeof(copy->instructions));
  }
  CopyModule(copy, layout, frame->globals);
  const __u64 lines = Word(code + layout->code_lines);
  __u64 bytes = lines ? Word(lines + layout->bytes_length) : 0;
  bytes = bytes < kPythonLinesRoom ? bytes + layout->bytes_header : layout->bytes_header;
  CopyPiece(&copy->pieces[kPieceLines], copy->lines, sizeof(copy->lines), lines, bytes);
  bytes = copy->pieces[kPieceLines].bytes;
  BARRIER(bytes);
  if (bytes > sizeof(copy->lines)) return;
  bytes += __builtin_offsetof(struct PythonCopy, lines);
  bpf_perf_event_output(ctx, &rings, BPF_F_CURRENT_CPU, copy, bytes);
}

// Copies new code objects among the next frames.
SEC("perf_event") int copy(void* ctx) {
  struct PythonProcessEntry* const process = ThisProcess();
  struct Walk* const walk = ThisWalk();
  const __u32 cpu = bpf_get_smp_processor_id();
  struct PythonCopy* const room = bpf_map_lookup_elem(&copies, &cpu);
  if (!process || !walk || !room) return 1;
  for (int i = 0; i < kCopiesPerProgram; ++i) {
    if (walk->next_code >= walk->header.count) return Output(ctx, walk);
    struct CodeKey key = {};
    const struct PythonStackFrame* const frame = CodeAt(walk, walk->next_code, &key);
    ++walk->next_code;
    if (!frame || bpf_map_lookup_elem(&codes_copied, &key)) continue;
    const __u8 is_copied = 1;
    bpf_map_update_elem(&codes_copied, &key, &is_copied, BPF_ANY);
    CopyCode(ctx, room, &process->layout, walk->header.generation, frame);
  }
  bpf_tail_call(ctx, &programs, kProgramCodes);
  return Output(ctx, walk);
}

char kLicense[] SEC("license") = "Dual MIT/GPL";
