#include "symbolize/python/testing/live_python.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "gtest/gtest.h"
#include "src/base/mapped_file.h"
#include "symbolize/elf/elf_image.h"

namespace profiler::symbolize::python {
namespace {

// Starts the program with its standard output in a file without a name.
pid_t Start(const std::string& interpreter, const std::string& program, int output) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  dup2(output, STDOUT_FILENO);
  execlp(interpreter.c_str(), interpreter.c_str(), "-c", program.c_str(),
         static_cast<char*>(nullptr));
  _exit(127);
}

std::string ContentsOf(int fd) {
  std::string text;
  lseek(fd, 0, SEEK_SET);
  std::string buffer(1 << 20, '\0');
  for (ssize_t size = 0; (size = read(fd, buffer.data(), buffer.size())) > 0;) {
    text.append(buffer, 0, static_cast<size_t>(size));
  }
  return text;
}

}  // namespace

bool LiveMemory::Read(uint64_t address, std::span<std::byte> bytes) {
  const iovec local{bytes.data(), bytes.size()};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of another process.
  const iovec remote{reinterpret_cast<void*>(address), bytes.size()};
  return process_vm_readv(pid_, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes.size());
}

LivePython::LivePython(const std::string& interpreter, const std::string& program)
    : file_(open("/tmp", O_TMPFILE | O_RDWR, 0600)),
      pid_(Start(interpreter, program, file_.get())),
      memory_(pid_) {
  int status = 0;
  waitpid(pid_, &status, WUNTRACED);
  output_ = ContentsOf(file_.get());
  EXPECT_TRUE(WIFSTOPPED(status)) << interpreter << " ended: " << output_;
  FindImage();
}

LivePython::~LivePython() { Kill(); }

void LivePython::Kill() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

void LivePython::FindImage() {
  std::ifstream maps("/proc/" + std::to_string(pid_) + "/maps");
  std::set<std::string> seen;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream fields(line);
    uint64_t start = 0, end = 0, offset = 0;
    char dash = 0;
    std::string access, device, inode, path;
    fields >> std::hex >> start >> dash >> end >> access >> offset >> device >> inode >> path;
    if (path.empty() || path[0] != '/' || !seen.insert(path).second) continue;
    const auto file = MappedFile::Open(path);
    if (!file.ok()) continue;
    const auto elf = ElfImage::Parse(file->bytes());
    if (!elf.ok()) continue;
    image_ = PythonImage::Read(*elf);
    if (!image_) continue;
    bias_ = start - elf->AddressOf(FileOffset{offset})->value;
    return;
  }
}

std::vector<std::string> PythonsToTest() {
  std::vector<std::string> pythons;
  if (const char* const names = std::getenv("PROFILER_PYTHONS")) {
    std::istringstream all(names);
    for (std::string name; all >> name;) pythons.push_back(name);
  }
  if (std::system("python3 -c '' 2>/dev/null") == 0) pythons.push_back("python3");
  return pythons;
}

}  // namespace profiler::symbolize::python
