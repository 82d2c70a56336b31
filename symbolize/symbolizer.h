// The one door to naming: images and addresses in, names out. Knows nothing of records or profiles.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/address.h"
#include "src/base/status.h"
#include "symbolize/fetched_files.h"
#include "symbolize/kept_files.h"
#include "symbolize/process_life.h"
#include "symbolize/symbols/jit_dump.h"

namespace profiler::symbolize {

enum class ImageKind : uint8_t {
  kUser,       // an ELF file
  kVdso,       // [vdso]
  kKernel,     // [kernel.kallsyms]
  kModule,     // a kernel module
  kBpf,        // bpf_prog_…, out-of-line kernel symbols (KSYMBOL)
  kJit,        // anonymous executable memory with a /tmp/perf-PID.map
  kJitDump,    // jit-PID.dump: the code in it, wherever it lies in the process
  kAnonymous,  // //anon, [heap], [stack], memfd…
};

// Whether code of such an image is at offsets in a file, else at runtime addresses.
constexpr bool IsInFile(ImageKind kind) {
  return kind == ImageKind::kUser || kind == ImageKind::kVdso || kind == ImageKind::kJitDump;
}

enum class ImageId : uint32_t {};

// What identifies an image. Equal specs are one image; build_id, where known, decides.
struct ImageSpec {
  ImageKind kind = ImageKind::kUser;
  std::string path;                 // as recorded; display name
  std::vector<std::byte> build_id;  // empty: unknown
  // A ProcessKey. kJit, kJitDump: whose map or dump; user images: whose /proc/PID/root may hold the
  // file.
  uint32_t pid = 0;
  // Of that process; it says nothing of which image this is. See Images::SetLife.
  ProcessLife life;
  // User images: device and inode of the recorded file, as MMAP2 records have them. They decide
  // where there is no build-id. `ino` 0: unknown.
  uint32_t maj = 0, min = 0;
  uint64_t ino = 0;
  // Modules: where the recorded kernel had it; 0: unknown.
  RuntimeAddress start;
  // kJitDump: when the process mapped it, by the clock of the recording; 0: unknown. It says
  // nothing of which image this is.
  uint64_t mapped_at = 0;
};

// Says if the kernel that runs here, which kallsyms and the vdso describe, is the recorded one. It
// counts for images of the kernel without a build-id, which would decide.
enum class RunningKernel : uint8_t {
  kIsRecorded,
  kMayBe,      // it is if it lies where the recorded one lay (Images::SetKernelReference)
  kIsAnother,  // or nothing proves that it is not
};

// Why an address has no name. A value, not an error. Recordings hold these numbers, and those of
// ImageKind: add at the end.
enum class Reason : uint8_t {
  kNamed,
  kNoImageFile,      // the file is not there (any more)
  kBuildIdMismatch,  // the file there is another build, or of a deleted file's name
  kNotElf,           // unreadable or corrupt
  kNoSymbol,         // no symbol covers the address
  kRestricted,       // kptr_restrict hides kernel addresses
};

// One function at an address. Several when calls were inlined there: innermost first, the last one
// is the function that has the code, under the name that its ELF symbol gives it. File and line are
// those of the instruction in the first one, and of the call of the one before in the others.
struct NamedFunction {
  std::string_view name;  // lives as long as the Symbolizer
  ElfAddress start;       // of the symbol; of what was inlined, that of the last one
  uint64_t size = 0;
  bool inlined = false;
  std::string_view file;  // empty: unknown
  uint32_t line = 0;      // 0: unknown
  uint32_t column = 0;    // 0: unknown
};

struct Naming {
  Reason reason = Reason::kNoSymbol;
  std::span<const NamedFunction> functions;  // lives until the next call of Name
  // From the last function's start to the address; where it has no name, from `unnamed_start`, or
  // where that is unknown, from the start of the neighbour (AddressFacts).
  uint64_t distance = 0;
  // kNoSymbol: the function without a name that has the address, as call frame information knows
  // it. Size 0: unknown.
  ElfAddress unnamed_start;
  uint64_t unnamed_size = 0;
  // What images of kind kUser and kVdso themselves have for the address, where that is known.
  std::optional<ElfAddress> address;
};

// Bytes of an image's file, as long as the Symbolizer lives.
struct CodeBytes {
  Reason reason = Reason::kNoImageFile;  // kNamed where there are bytes
  std::span<const std::byte> bytes;
  CodePlace place;       // of the first one
  uint16_t machine = 0;  // EM_… of <elf.h>
};

// ~/.debug; none where there is no HOME.
std::vector<std::string> UsersBuildIdCaches();

// How facts become names (present.h).
struct PresentOptions {
  bool demangle = true;
  bool inlines = true;  // else inlined calls, and files and lines with them, are left out
  // Where no symbol covers an address, its function is told by call frame information.
  bool function_starts = true;
  // A symbol without a size ends where its function does; else, as perf has it, where the next one
  // starts.
  bool bounded_symbols = true;
};

// `inlines` says as well whether debug information is read at all.
struct SymbolizerOptions : PresentOptions {
  bool lines = true;  // else files and lines are unknown; most of the time is spent on them
  std::string symfs;  // in front of the paths of images; empty: nothing
  std::string kallsyms_path = "/proc/kallsyms";
  bool kallsyms_is_recorded = false;  // it is the recorded kernel's, whatever runs here
  RunningKernel running_kernel = RunningKernel::kIsRecorded;
  std::vector<std::byte> kernel_build_id;  // of the recorded kernel; empty: unknown
  // True if the recording says that it was made on another machine.
  bool is_of_another_machine = false;
  std::string proc_path = "/proc";
  std::string sys_path = "/sys";           // build-ids of the running kernel and its modules
  std::string jit_map_directory = "/tmp";  // of perf-PID.map
  // Debug files are in .build-id/ below each of these, or where .gnu_debuglink says.
  std::vector<std::string> debug_directories = {"/usr/lib/debug"};
  // perf's caches of files by build-id.
  std::vector<std::string> build_id_caches = UsersBuildIdCaches();
  // Files by build-id that are taken where none of these has one; null: none. May be added to until
  // the first address is named.
  std::shared_ptr<const FetchedFiles> fetched;
  // Files that who recorded them has open still; null: none.
  std::shared_ptr<const KeptFiles> kept;

  // Looks for all of these below `directory`: nothing is taken from this machine's own files.
  void LookBelow(const std::string& directory);
};

// Images by number, and what they have besides names. Not thread-safe.
class Images {
 public:
  virtual ~Images() = default;

  // Opens nothing. User images that differ in `pid` only are one image, unless the process lives in
  // a file system of its own or the file is deleted.
  virtual ImageId AddImage(const ImageSpec& spec) = 0;
  virtual const ImageSpec& image(ImageId id) const = 0;

  // What is known of a process (a ProcessKey) that images were or will be added for. May be told
  // again when more is known: what is known when the first address of an image is named counts.
  virtual void SetLife(uint32_t /*process*/, const ProcessLife& /*life*/) {}

  // What is in a dump (kJitDump), in the order of time; lives as long as this. Its file offsets are
  // those to be named. Errors: those of OpenJitFile (files/jit_file.h) and of
  // JitDump::Read.
  virtual absl::StatusOr<std::span<const JitCode>> JitCodes(ImageId dump) = 0;
  // Lines for a person, about files that were opened since the last call and of which a part was
  // not read, as it is too much.
  virtual std::vector<std::string> TakeWarnings() { return {}; }
  // At most `size` bytes of the code that an image of kind kUser, kVdso, kKernel (then its vmlinux)
  // or kJitDump has at `address`, which is as for NameAt, as far as its file has them. Only of the
  // very file that was recorded, by its build-id, which dumps do not have.
  virtual CodeBytes CodeAt(ImageId /*image*/, ElfAddress /*address*/, uint64_t /*size*/) {
    return {};
  }

  // Where a kernel symbol was when the addresses were recorded: `_text` or `_stext`, from the
  // kernel's MMAP record. The kernel may have moved since (KASLR and a reboot); names are found all
  // the same. To be called before the first kernel address is named.
  virtual void SetKernelReference(std::string_view symbol, RuntimeAddress address) = 0;

  // A function that the kernel announced (KSYMBOL): BPF programs and trampolines. Names kBpf,
  // kKernel and kModule images, before kallsyms does; a later one replaces those that it overlaps.
  virtual void AddKernelSymbol(RuntimeAddress start, uint64_t size, std::string_view name) = 0;
};

// Not thread-safe. Names are those of the images' symbol tables, chosen between aliases as perf
// chooses (symbol_table.h), so that the rows of a report are perf's. Opens an image when the first
// address in it is named, and each image once.
class Symbolizer : public Images {
 public:
  // These places will be asked for next, in this order. To say so costs nothing, and saves much
  // where names come from another process; what is not said is named all the same.
  virtual void WillName(ImageId /*image*/, std::span<const CodePlace> /*places*/) {}

  // Names the code at a place of the image, which is in a file if IsInFile of the image's kind says
  // so. For a return address the caller passes the place one byte before. Cost: a binary search;
  // the first time in an image its file is opened and its symbols are sorted, the first time in a
  // function its name is demangled, and the first time in a compilation unit its debug information
  // is read.
  virtual Naming Name(ImageId image, CodePlace place) = 0;

  // The same by the address that an image of kind kUser or kVdso itself has for the code; of
  // kKernel by the runtime address, and of kJitDump by the place in the dump.
  virtual Naming NameAt(ImageId image, ElfAddress address) = 0;

  // True if debug information that belongs to root or to the user, in files on this machine's own
  // file systems, says that the code at `address` (as for NameAt) comes from the source file
  // `source`. What a recording says counts for nothing. Opens the image's files.
  virtual bool IsSourceOf(ImageId /*image*/, ElfAddress /*address*/, std::string_view /*source*/) {
    return false;
  }
};

}  // namespace profiler::symbolize
