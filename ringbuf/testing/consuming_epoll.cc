#include "ringbuf/testing/consuming_epoll.h"

#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>

namespace profiler::ringbuf {
namespace {

FakeKernel* consuming_kernel = nullptr;

void Consume() {
  if (consuming_kernel == nullptr) return;
  const int error = errno;
  consuming_kernel->ConsumeReadiness();
  errno = error;
}

}  // namespace

ConsumingEpoll::ConsumingEpoll(FakeKernel& kernel) {
  assert(consuming_kernel == nullptr);
  consuming_kernel = &kernel;
}

ConsumingEpoll::~ConsumingEpoll() { consuming_kernel = nullptr; }

}  // namespace profiler::ringbuf

extern "C" {

int epoll_ctl(int epoll, int operation, int fd, epoll_event* event) noexcept {
  const long result = syscall(SYS_epoll_ctl, epoll, operation, fd, event);
  if (operation != EPOLL_CTL_DEL) profiler::ringbuf::Consume();
  return static_cast<int>(result);
}

int epoll_wait(int epoll, epoll_event* events, int capacity, int timeout) {
  const long result = syscall(SYS_epoll_wait, epoll, events, capacity, timeout);
  profiler::ringbuf::Consume();
  return static_cast<int>(result);
}

}  // extern "C"
