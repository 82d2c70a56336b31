// Makes absl::Status errors from errno.
//
// A status that comes from the environment (missing right, limit, dead process, full disk) names
// its cause and, if there is one, a remedy that a person can carry out. Libraries return it; only
// the command line prints it.

#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace profiler {

// Returns `what: strerror(error)`, followed by `; remedy` unless `remedy` is empty. The canonical
// code follows errno: ENOENT, ESRCH → kNotFound; EACCES, EPERM → kPermissionDenied; EMFILE, ENFILE,
// ENOSPC, ENOMEM, EDQUOT → kResourceExhausted; EINVAL, E2BIG → kInvalidArgument; EEXIST →
// kAlreadyExists; EOPNOTSUPP, ENOSYS, ENODEV → kUnimplemented; EAGAIN, EBUSY → kUnavailable; others
// → kUnknown. Thread-safe.
absl::Status ErrnoStatus(int error, std::string_view what, std::string_view remedy = {});

// Returns "cannot write PATH: reason", with a remedy if there is one. Thread-safe.
absl::Status WriteError(int error, std::string_view path);

// Attaches lines that are printed unchanged below the message: the user's input, with a mark under
// the error. ExcerptOf returns them. They are lost if a new status is made from the message.
absl::Status WithExcerpt(absl::Status status, std::string_view lines);
std::string ExcerptOf(const absl::Status& status);

// Returns the status with `prefix` in front of its message.
absl::Status Prefixed(std::string_view prefix, const absl::Status& status);

// Returns the errno that the status was made from; 0 for any other status.
int ErrnoOf(const absl::Status& status);

}  // namespace profiler

// Returns the status of `expression` from the enclosing function unless it is OK.
#define PROFILER_RETURN_IF_ERROR(expression)             \
  do {                                                   \
    absl::Status profiler_status_ = (expression);        \
    if (!profiler_status_.ok()) return profiler_status_; \
  } while (false)

#define PROFILER_CONCAT_INNER_(a, b) a##b
#define PROFILER_CONCAT_(a, b) PROFILER_CONCAT_INNER_(a, b)

// Assigns the value of a StatusOr, or returns its status from the enclosing function.
#define PROFILER_ASSIGN_OR_RETURN(target, expression) \
  PROFILER_ASSIGN_OR_RETURN_IMPL_(PROFILER_CONCAT_(profiler_or_, __LINE__), target, expression)
#define PROFILER_ASSIGN_OR_RETURN_IMPL_(temporary, target, expression) \
  auto temporary = (expression);                                       \
  if (!temporary.ok()) return std::move(temporary).status();           \
  target = *std::move(temporary)
