// Finds out how well one running process, or one program file, can be recorded: each image with its
// names, call frame information and debug information, and its virtual machine or interpreter.

#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "src/base/status.h"
#include "src/doctor/finding.h"
#include "src/machine/packages/debug_symbols.h"
#include "src/machine/procfs/proc_file.h"
#include "symbolize/image_file.h"
#include "symbolize/symbolizer.h"

namespace profiler::doctor {

// Sources of an image's function names, the best one first.
enum class Names {
  kDebugInfo,    // also lines and inlined calls
  kSymtab,       // names of all functions
  kExportsOnly,  // .dynsym: names of exported functions
  kNone,
};

// Properties of one image.
struct ImageReport {
  std::string path;
  std::string build_id;  // in hexadecimal; empty: none
  Names names = Names::kNone;
  std::string names_from;  // path of the debug file that has the names; empty: the image itself
  bool has_mini_symbols = false;  // True if .gnu_debugdata has further names.
  // Share of the code with call frame information, 0 to 1, and bytes of code without it; by samples.
  double cfi_share = 0;
  uint64_t bytes_without_cfi = 0;
  std::optional<bool> keeps_frame_pointers;  // nothing: cannot be told
  bool is_32_bit = false;
  bool is_deleted = false;
};

// Examines an open image; looks for its debug file.
ImageReport ExamineImage(const symbolize::ImageFile& image,
                         const symbolize::SymbolizerOptions& options);

// Returns one finding for an image, with remedies for missing names. `symbols` looks up the file's
// package; null if the path names another file on this machine.
Finding DescribeImage(const ImageReport& image, packages::DebugSymbols* symbols);

// Examines a running process: its identity and namespaces, its virtual machine or interpreter, and
// all images that it has mapped as code. Does not stop it. `loads_programs` is true if BPF programs
// can be loaded, which read the frames of interpreters. Errors: kNotFound if it does not run;
// kPermissionDenied if its mappings may not be read.
absl::StatusOr<FindingGroup> FindInProcess(const procfs::Roots& roots, pid_t pid,
                                           bool loads_programs,
                                           const symbolize::SymbolizerOptions& options);

// Examines the file of a program that does not run. For a script, also the file of its interpreter.
// Errors: those of symbolize::OpenElf.
absl::StatusOr<FindingGroup> FindInProgram(const std::string& path,
                                           const symbolize::SymbolizerOptions& options);

}  // namespace profiler::doctor
