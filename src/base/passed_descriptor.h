// Passes open files between processes, beside bytes on a Unix socket (SCM_RIGHTS of unix(7)).

#pragma once

#include <sys/types.h>

#include <span>

#include "src/base/unique_fd.h"

namespace profiler {

// Calls sendmsg(2) with the bytes, and passes the open file `fd` with them unless it is -1. Adds
// MSG_NOSIGNAL to `flags`. Thread-safe.
ssize_t SendBeside(int socket, std::span<const char> bytes, int fd, int flags = 0);

// Calls recvmsg(2) for bytes and at most one open file. If there is one, it replaces `*fd`; exec
// closes it. Thread-safe.
ssize_t ReceiveBeside(int socket, std::span<char> bytes, UniqueFd* fd, int flags = 0);

}  // namespace profiler
