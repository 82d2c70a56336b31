// Calls spin (spin.c). The first argument says how the code of spin comes into memory:
//
//   plain                    it stays as it was loaded
//   unlinked                 the program has removed its own file
//   memfd                    the program was started from a file in memory
//   pieces                   its text is split into pieces with different protections
//   copied                   its text is replaced by memory with a copy of the text
//   moved                    a copy is made at another address and then moved over the text
//   library FILE             it is in the library FILE
//   memfd-library FILE       it is in a library that was loaded from a file in memory
//   replaced FILE OTHER      it is in the library FILE, which OTHER then replaced
//   archive FILE OFFSET      it is in an ELF file that begins at OFFSET of FILE
//   children ROOT COUNT      in children with another root directory, one after the other, each of
//                            which runs /bin/child there for some milliseconds

#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kLong = 75, kShort = 6 };

typedef unsigned long (*Spin)(unsigned long);
unsigned long spin(unsigned long hundreds);

static void Fail(const char* what) {
  perror(what);
  exit(1);
}

static int InMemory(const char* path) {
  const int from = open(path, O_RDONLY);
  const int to = memfd_create("laid_out", MFD_CLOEXEC);
  struct stat file;
  if (from < 0 || to < 0 || fstat(from, &file) != 0) Fail(path);
  while (sendfile(to, from, NULL, (size_t)file.st_size) > 0) {
  }
  return to;
}

static Spin Load(const char* path) {
  void* const library = dlopen(path, RTLD_NOW);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  return (Spin)dlsym(library, "spin");
}

// Gives every other page of the text another protection.
static void CutTextInPieces(void) {
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  const uintptr_t here = (uintptr_t)&spin & ~(page - 1);
  if (mprotect((void*)here, page, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) Fail("mprotect");
  mprotect((void*)(here + page), page, PROT_READ);
  mprotect((void*)(here + page), page, PROT_READ | PROT_EXEC);
}

// Number of pages of spin and its callees. Functions are page-aligned, and those of spin.c are
// contiguous (-falign-functions=4096).
enum { kPage = 4096, kPages = 4 };

static void Copy(int move) {
  char* const text = (char*)((uintptr_t)&spin - (kPages - 1) * kPage);
  const size_t size = kPages * kPage;
  const int rights = PROT_READ | PROT_WRITE | PROT_EXEC;
  char* const copy = mmap(NULL, size, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED) Fail("mmap");
  memcpy(copy, text, size);
  if (move) {
    if (mprotect(copy, size, PROT_READ | PROT_EXEC) != 0) Fail("mprotect");
    if (mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, text) != text) Fail("mremap");
    return;
  }
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
  if (mmap(text, size, rights, flags, -1, 0) != text) Fail("mmap of the text");
  memcpy(text, copy, size);
  if (mprotect(text, size, PROT_READ | PROT_EXEC) != 0) Fail("mprotect");
}

// Loads a file from an archive without relocating it, as some loaders do.
static Spin LoadFromArchive(const char* path, off_t offset) {
  const int file = open(path, O_RDONLY);
  Elf64_Ehdr header;
  Elf64_Phdr segments[16];
  if (file < 0 || pread(file, &header, sizeof(header), offset) != sizeof(header)) Fail(path);
  const size_t size = header.e_phnum * sizeof(segments[0]);
  if (size > sizeof(segments) ||
      pread(file, segments, size, offset + (off_t)header.e_phoff) != (ssize_t)size) {
    Fail(path);
  }
  const size_t room = 1 << 20;
  char* const base = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) Fail("mmap");
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  for (int i = 0; i < header.e_phnum; ++i) {
    const Elf64_Phdr* const segment = &segments[i];
    if (segment->p_type != PT_LOAD) continue;
    const uintptr_t skew = segment->p_vaddr % page;
    const int rights = (segment->p_flags & PF_X ? PROT_EXEC : 0) |
                       (segment->p_flags & PF_W ? PROT_WRITE : 0) | PROT_READ;
    if (mmap(base + segment->p_vaddr - skew, segment->p_filesz + skew, rights,
             MAP_PRIVATE | MAP_FIXED, file,
             offset + (off_t)(segment->p_offset - skew)) == MAP_FAILED) {
      Fail("mmap of a segment");
    }
  }
  return (Spin)(void*)(base + header.e_entry);
}

static void RunChildren(const char* root, int count) {
  if (chroot(root) != 0 || chdir("/") != 0) Fail("chroot");
  for (int i = 0; i < count; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      execl("/bin/child", "child", "short", NULL);
      _exit(127);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) Fail("/bin/child");
  }
}

int main(int argc, char** argv) {
  const char* const mode = argc > 1 ? argv[1] : "plain";
  Spin code = &spin;
  if (strcmp(mode, "short") == 0) return spin(kShort) == 0;
  if (strcmp(mode, "unlinked") == 0 && unlink(argv[0]) != 0) Fail(argv[0]);
  if (strcmp(mode, "pieces") == 0) CutTextInPieces();
  if (strcmp(mode, "copied") == 0) Copy(0);
  if (strcmp(mode, "moved") == 0) Copy(1);
  if (strcmp(mode, "memfd") == 0) {
    char* const again[] = {argv[0], "plain", NULL};
    fexecve(InMemory("/proc/self/exe"), again, environ);
    Fail("fexecve");
  }
  if (strcmp(mode, "library") == 0 || strcmp(mode, "replaced") == 0) code = Load(argv[2]);
  if (strcmp(mode, "replaced") == 0 && rename(argv[3], argv[2]) != 0) Fail(argv[3]);
  if (strcmp(mode, "memfd-library") == 0) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", InMemory(argv[2]));
    code = Load(path);
  }
  if (strcmp(mode, "archive") == 0) code = LoadFromArchive(argv[2], atol(argv[3]));
  if (strcmp(mode, "children") == 0) {
    RunChildren(argv[2], atoi(argv[3]));
    return 0;
  }
  return code(kLong) == 0;
}
