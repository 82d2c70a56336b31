#include "tests/hostile/fuse_server.h"

#include <fcntl.h>
#include <linux/fuse.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include "tests/hostile/attackers.h"

namespace profiler::tests {
namespace {

constexpr uint64_t kFile = 2;

fuse_attr AttributesOf(uint64_t node, size_t size) {
  fuse_attr attributes = {};
  attributes.ino = node;
  attributes.nlink = 1;
  attributes.blksize = 4096;
  attributes.uid = attributes.gid = kAttacker;
  attributes.mode = node == kFile ? S_IFREG | 0755 : S_IFDIR | 0755;
  if (node == kFile) attributes.size = size;
  return attributes;
}

class Reply {
 public:
  explicit Reply(const fuse_in_header& request) { header_.unique = request.unique; }

  template <class Body>
  void Put(const Body& body) {
    body_.assign(reinterpret_cast<const char*>(&body), sizeof(body));
  }
  void PutText(std::string_view text) { body_ = text; }
  void Refuse(int error) { header_.error = -error; }
  void Send(int device) {
    if (header_.error != 0) body_.clear();
    header_.len = static_cast<uint32_t>(sizeof(header_) + body_.size());
    const std::string all =
        std::string(reinterpret_cast<const char*>(&header_), sizeof(header_)) + body_;
    if (write(device, all.data(), all.size()) < 0 && errno != ENOENT) _exit(1);
  }

 private:
  fuse_out_header header_ = {};
  std::string body_;
};

// Answers one request. Returns false if the kernel expects no answer.
bool Answer(const fuse_in_header& request, const std::string& content, Reply& reply) {
  const char* const body = reinterpret_cast<const char*>(&request + 1);
  switch (request.opcode) {
    case FUSE_INIT: {
      fuse_init_out init = {};
      init.major = FUSE_KERNEL_VERSION;
      init.minor = 31;
      init.max_readahead = init.max_write = 65536;
      reply.Put(init);
      return true;
    }
    case FUSE_LOOKUP: {
      fuse_entry_out entry = {};
      if (std::string_view(body) != "file") reply.Refuse(ENOENT);
      entry.nodeid = kFile;
      entry.attr = AttributesOf(kFile, content.size());
      reply.Put(entry);
      return true;
    }
    case FUSE_GETATTR: {
      fuse_attr_out attributes = {};
      attributes.attr = AttributesOf(request.nodeid, content.size());
      reply.Put(attributes);
      return true;
    }
    case FUSE_OPEN:
    case FUSE_OPENDIR:
      reply.Put(fuse_open_out{});
      return true;
    case FUSE_READ: {
      const auto* const read = reinterpret_cast<const fuse_read_in*>(body);
      const size_t begin = std::min<size_t>(read->offset, content.size());
      reply.PutText(std::string_view(content).substr(begin, read->size));
      return true;
    }
    case FUSE_STATFS: {
      fuse_statfs_out system = {};
      system.st.bsize = 4096;
      reply.Put(system);
      return true;
    }
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT:
      return false;
    case FUSE_FLUSH:
    case FUSE_RELEASE:
    case FUSE_RELEASEDIR:
    case FUSE_ACCESS:
      return true;
    default:
      reply.Refuse(ENOSYS);
      return true;
  }
}

}  // namespace

UniqueFd MountFuse(const std::string& directory) {
  // Makes its own device node, because /dev/fuse may be missing.
  const std::string node = directory + ".device";
  mknod(node.c_str(), S_IFCHR | 0600, makedev(10, 229));
  UniqueFd device(open(node.c_str(), O_RDWR | O_CLOEXEC));
  unlink(node.c_str());
  const std::string user = std::to_string(kAttacker);
  const std::string options = "fd=" + std::to_string(device.get()) +
                              ",rootmode=40755,user_id=" + user + ",group_id=" + user +
                              ",allow_other";
  const bool is_mounted = device.valid() && mount("attack", directory.c_str(), "fuse.attack",
                                                  MS_NOSUID | MS_NODEV, options.c_str()) == 0;
  if (!is_mounted) device.Reset();
  return device;
}

void ServeFuse(const UniqueFd& device, const std::string& content,
               const std::atomic<bool>* silent) {
  std::vector<char> bytes(1 << 20);
  while (true) {
    const ssize_t size = read(device.get(), bytes.data(), bytes.size());
    if (size < 0 && (errno == EINTR || errno == EAGAIN || errno == ENOENT)) continue;
    if (size < 0) _exit(0);
    if (*silent) continue;
    const auto& request = *reinterpret_cast<const fuse_in_header*>(bytes.data());
    Reply reply(request);
    if (Answer(request, content, reply)) reply.Send(device.get());
  }
}

}  // namespace profiler::tests
