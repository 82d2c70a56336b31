// The kinds of images.

#pragma once

#include <cstdint>

namespace profiler::symbolize {

// Recordings store the values, so add new ones at the end. Symbolizers have only images of
// the kinds before kUnknown.
enum class ImageKind : uint8_t {
  kUser,       // an ELF file
  kVdso,       // [vdso]
  kKernel,     // [kernel.kallsyms]
  kModule,     // a kernel module
  kBpf,        // bpf_prog_…, kernel functions outside its image (KSYMBOL)
  kJit,        // anonymous executable memory with a /tmp/perf-PID.map
  kJitDump,    // jit-PID.dump: the code in the dump, at any runtime address
  kAnonymous,  // //anon, [heap], [stack], memfd…
  kUnknown,    // no mapping is known
  kNoCode,     // image of frames that stand for a thread's state; never in a recording
};

// Returns true if code in an image of that kind is addressed by file offset, false if by runtime
// address.
constexpr bool IsInFile(ImageKind kind) {
  return kind == ImageKind::kUser || kind == ImageKind::kVdso || kind == ImageKind::kJitDump;
}

}  // namespace profiler::symbolize
