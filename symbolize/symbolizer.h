// Symbolization: takes images and addresses, returns names. Independent of records and profiles.

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
#include "symbolize/image_kind.h"
#include "symbolize/kept_files.h"
#include "symbolize/process_life.h"
#include "symbolize/symbols/jit_dump.h"

namespace profiler::symbolize {

enum class ImageId : uint32_t {};

// The identity of an image. Equal specs are one image. If there is a build_id, it decides.
struct ImageSpec {
  ImageKind kind = ImageKind::kUser;
  std::string path;                 // path as recorded; shown to the user
  std::vector<std::byte> build_id;  // empty: unknown
  // A ProcessKey. kJit and kJitDump: the process that wrote the map or dump. User images: the
  // process whose /proc/PID/root may contain the file.
  uint32_t pid = 0;
  // The life of that process. Not part of the identity. See RecordedFacts::SetLife.
  ProcessLife life;
  // User images: device and inode of the file, from the MMAP2 record. They decide if there is no
  // build-id. `ino` 0: unknown.
  uint32_t maj = 0, min = 0;
  uint64_t ino = 0;
  // Modules: load address in the recorded kernel; 0: unknown.
  RuntimeAddress start;
  // kJitDump: time of the mmap, by the clock of the recording; 0: unknown. Not part of the
  // identity.
  uint64_t mapped_at = 0;
};

// Relation of the running kernel, which kallsyms and the vdso describe, to the recorded kernel.
// Used only for kernel images without a build-id; a build-id decides by itself.
enum class RunningKernel : uint8_t {
  kIsRecorded,
  // The running kernel is the recorded one if it lies at the same address
  // (RecordedFacts::SetKernelReference).
  kMayBe,
  // The running kernel is another one, or nothing proves that it is the recorded one.
  kIsAnother,
};

// The reason why an address has no name. A value, not an error. Recordings store the values, so
// add new ones at the end.
enum class Reason : uint8_t {
  kNamed,
  kNoImageFile,  // the file does not exist (any more)
  // The file at the path is another build, or only has the name of a deleted file.
  kBuildIdMismatch,
  kNotElf,      // unreadable or corrupt
  kNoSymbol,    // no symbol covers the address
  kRestricted,  // kptr_restrict hides kernel addresses
};

// One function at an address. If calls were inlined there, the address has several functions,
// innermost first. The last function contains the code and has the name of its ELF symbol. File and
// line of the first function are those of the instruction. File and line of each other function are
// those of its call to the previous function.
struct NamedFunction {
  std::string_view name;  // lives as long as the Symbolizer
  // Start of the symbol; for an inlined function, that of the last function.
  ElfAddress start;
  uint64_t size = 0;
  bool inlined = false;
  std::string_view file;  // empty: unknown
  uint32_t line = 0;      // 0: unknown
  uint32_t column = 0;    // 0: unknown
};

struct Naming {
  Reason reason = Reason::kNoSymbol;
  std::span<const NamedFunction> functions;  // lives until the next call of Name
  // Bytes from the last function's start to the address. Without a name, bytes from
  // `unnamed_start`; if that is unknown, from the start of the neighbour (AddressFacts).
  uint64_t distance = 0;
  // kNoSymbol: start and size of the nameless function that contains the address, from call frame
  // information. Size 0: unknown.
  ElfAddress unnamed_start;
  uint64_t unnamed_size = 0;
  // The address in the image's own address space, for kUser and kVdso images; empty: unknown.
  std::optional<ElfAddress> address;
};

// Bytes of an image's file, valid as long as the Symbolizer.
struct CodeBytes {
  Reason reason = Reason::kNoImageFile;  // kNamed if there are bytes
  std::span<const std::byte> bytes;
  CodePlace place;       // position of the first byte
  uint16_t machine = 0;  // instruction set, see code_machine.h
};

// Returns ~/.debug; nothing if HOME is unset.
std::vector<std::string> UsersBuildIdCaches();

// Options of turning facts into names (present.h).
struct PresentOptions {
  bool demangle = true;
  bool inlines = true;  // false: no inlined calls, files and lines
  // True to name the function at an address without a symbol by its start, from call frame
  // information.
  bool function_starts = true;
  // True to end a symbol without a size where its function ends. False, as in perf: it ends where
  // the next symbol starts.
  bool bounded_symbols = true;
};

// Options of a Symbolizer. `inlines` also decides whether debug information is read at all.
struct SymbolizerOptions : PresentOptions {
  // False: files and lines are unknown. Reading them takes most of the time.
  bool lines = true;
  std::string symfs;  // prefix for the paths of images; empty: none
  std::string kallsyms_path = "/proc/kallsyms";
  bool kallsyms_is_recorded = false;  // true if kallsyms_path belongs to the recorded kernel
  std::string vmlinux;  // the recorded kernel's own file, looked at first; empty: none
  RunningKernel running_kernel = RunningKernel::kIsRecorded;
  std::vector<std::byte> kernel_build_id;  // build-id of the recorded kernel; empty: unknown
  // True if the recording was made on another machine, by its own statement.
  bool is_of_another_machine = false;
  std::string proc_path = "/proc";
  std::string sys_path = "/sys";  // has the build-ids of the running kernel and its modules
  std::string jit_map_directory = "/tmp";  // directory of the files perf-PID.map
  // Directories with debug files, in .build-id/ or where .gnu_debuglink points.
  std::vector<std::string> debug_directories = {"/usr/lib/debug"};
  // Directories of perf's caches, whose files are found by build-id.
  std::vector<std::string> build_id_caches = UsersBuildIdCaches();
  // Fetched files, used if no other directory has the build-id; null: none. Files may be added
  // until the first address is named.
  std::shared_ptr<const FetchedFiles> fetched;
  // Files that the recorder still keeps open; null: none.
  std::shared_ptr<const KeptFiles> kept;

  // Makes all paths in these options relative to `directory`, so that no file of this machine
  // itself is used.
  void LookBelow(const std::string& directory);
};

// Images with their numbers. Not thread-safe.
class Images {
 public:
  virtual ~Images() = default;

  // Returns the number of an image. Opens nothing. User images that differ only in `pid` are one
  // image, unless the process lives in a file system of its own or the file is deleted.
  virtual ImageId AddImage(const ImageSpec& spec) = 0;
  virtual const ImageSpec& image(ImageId id) const = 0;
};

// Facts that only the recording has: about processes and about the recorded kernel. Not thread-safe.
class RecordedFacts {
 public:
  virtual ~RecordedFacts() = default;

  // Sets facts about a process (a ProcessKey) whose images were or will be added. May be called
  // again when more is known. Has no effect on an image of which an address was named already.
  virtual void SetLife(uint32_t /*process*/, const ProcessLife& /*life*/) {}

  // Sets where a kernel symbol, `_text` or `_stext`, was during the recording, from the kernel's
  // MMAP record. It corrects addresses if the kernel moved since (KASLR after a reboot). Call it
  // before the first kernel address is named.
  virtual void SetKernelReference(std::string_view symbol, RuntimeAddress address) = 0;

  // Adds a function that the kernel announced (KSYMBOL): a BPF program or trampoline. It names
  // kBpf, kKernel and kModule images before kallsyms does. A later function replaces the ones that
  // it overlaps.
  virtual void AddKernelSymbol(RuntimeAddress start, uint64_t size, std::string_view name) = 0;
};

// The contents of images, from their files. Not thread-safe.
class ImageContents {
 public:
  virtual ~ImageContents() = default;

  // Returns the code in a dump (kJitDump) in time order, valid as long as this object. Its file
  // offsets are the addresses to name. Errors: those of OpenJitFile (files/jit_file.h) and of
  // JitDump::Read.
  virtual absl::StatusOr<std::span<const JitCode>> JitCodes(ImageId dump) = 0;
  // Returns at most `size` bytes of code at `address` (as in NameAt) of a kUser, kVdso, kKernel
  // (from its vmlinux) or kJitDump image; fewer if its file has fewer. The file must have the
  // recorded build-id, unless it is a dump: dumps have no build-id.
  virtual CodeBytes CodeAt(ImageId /*image*/, ElfAddress /*address*/, uint64_t /*size*/) {
    return {};
  }
  // Returns warnings for the user about files that were opened since the last call. Each of these
  // files is too large, so only a part of it was read.
  virtual std::vector<std::string> TakeWarnings() { return {}; }
};

// Images, and the names of addresses in them, from the images' symbol tables. If several symbols
// are at one address, the name is the one that perf chooses (symbol_table.h), so that the rows of a
// report equal perf's. Opens each image once, when its first address is named. Not thread-safe.
class Symbolizer : public Images, public RecordedFacts, public ImageContents {
 public:
  // Announces the places of the next Name calls, in order. Optional. Saves much time if names come
  // from another process.
  virtual void WillName(ImageId /*image*/, std::span<const CodePlace> /*places*/) {}

  // Names the code at a place of the image: a file offset or a runtime address, see IsInFile. For a
  // return address the caller passes the place one byte before. Cost: a binary search. The first
  // call for an image also opens its file and sorts its symbols; the first call for a function
  // demangles its name; the first call for a compilation unit reads its debug information.
  virtual Naming Name(ImageId image, CodePlace place) = 0;

  // Names the code at an address of the image's own address space (kUser, kVdso), at a runtime
  // address (kKernel), or at an offset in the dump (kJitDump).
  virtual Naming NameAt(ImageId image, ElfAddress address) = 0;

  // Returns true if debug information says that the code at `address` (as in NameAt) comes from the
  // source file `source`. Only debug information in local files of root or the user counts; that of
  // the recording does not. Opens the image's files.
  virtual bool IsSourceOf(ImageId /*image*/, ElfAddress /*address*/, std::string_view /*source*/) {
    return false;
  }
};

}  // namespace profiler::symbolize
