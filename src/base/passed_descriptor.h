// Passes open files between processes, beside bytes on a Unix socket (SCM_RIGHTS of unix(7)).

#pragma once

#include <sys/types.h>

#include <span>

#include "src/base/unique_fd.h"

namespace profiler {

// sendmsg(2) of the bytes, with the open file `fd` beside them unless it is -1. MSG_NOSIGNAL is
// added to `flags`. Thread-safe.
ssize_t SendBeside(int socket, std::span<const char> bytes, int fd, int flags = 0);

// recvmsg(2) of bytes and of at most one open file, which replaces `*fd` if there is one. It is
// closed by exec. Thread-safe.
ssize_t ReceiveBeside(int socket, std::span<char> bytes, UniqueFd* fd, int flags = 0);

}  // namespace profiler
