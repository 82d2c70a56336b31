#include "src/base/status.h"

#include <cerrno>
#include <string>
#include <system_error>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace profiler {
namespace {

constexpr char kErrnoPayload[] = "profiler/errno";
constexpr char kExcerptPayload[] = "profiler/excerpt";

absl::StatusCode CodeOf(int error) {
  switch (error) {
    case ENOENT:
    case ESRCH:
      return absl::StatusCode::kNotFound;
    case EACCES:
    case EPERM:
      return absl::StatusCode::kPermissionDenied;
    case EMFILE:
    case ENFILE:
    case ENOSPC:
    case ENOMEM:
    case EDQUOT:
      return absl::StatusCode::kResourceExhausted;
    case EINVAL:
    case E2BIG:
      return absl::StatusCode::kInvalidArgument;
    case EEXIST:
      return absl::StatusCode::kAlreadyExists;
    case EOPNOTSUPP:
    case ENOSYS:
    case ENODEV:
      return absl::StatusCode::kUnimplemented;
    case EAGAIN:
    case EBUSY:
      return absl::StatusCode::kUnavailable;
    default:
      return absl::StatusCode::kUnknown;
  }
}

std::string_view RemedyOfWriting(int error) {
  switch (error) {
    case ENOSPC:
      return "free some space, or write elsewhere with -o";
    case EDQUOT:
      return "the disk quota is used up; write elsewhere with -o";
    case EFBIG:
      return "the file size limit is reached (ulimit -f)";
    default:
      return {};
  }
}

absl::Status WithErrno(int error, const std::string& message) {
  absl::Status status(CodeOf(error), message);
  status.SetPayload(kErrnoPayload, absl::Cord(absl::StrCat(error)));
  return status;
}

}  // namespace

absl::Status ErrnoStatus(int error, std::string_view what, std::string_view remedy) {
  std::string message = absl::StrCat(absl::string_view(what.data(), what.size()), ": ",
                                     std::generic_category().message(error));
  if (!remedy.empty()) {
    absl::StrAppend(&message, "; ", absl::string_view(remedy.data(), remedy.size()));
  }
  return WithErrno(error, message);
}

absl::Status WriteError(int error, std::string_view path) {
  const std::string what =
      absl::StrCat("cannot write ", absl::string_view(path.data(), path.size()));
  if (error == EPIPE) {
    return WithErrno(error, what + ": the program that reads it has closed the pipe");
  }
  return ErrnoStatus(error, what, RemedyOfWriting(error));
}

int ErrnoOf(const absl::Status& status) {
  auto payload = status.GetPayload(kErrnoPayload);
  int error = 0;
  if (payload.has_value() && !absl::SimpleAtoi(std::string(*payload), &error)) return 0;
  return error;
}

absl::Status WithExcerpt(absl::Status status, std::string_view lines) {
  status.SetPayload(kExcerptPayload, absl::Cord(absl::string_view(lines.data(), lines.size())));
  return status;
}

std::string ExcerptOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kExcerptPayload);
  return payload ? std::string(*payload) : "";
}

absl::Status Prefixed(std::string_view prefix, const absl::Status& status) {
  absl::Status prefixed(status.code(), absl::StrCat(absl::string_view(prefix.data(), prefix.size()),
                                                    status.message()));
  status.ForEachPayload(
      [&](absl::string_view url, const absl::Cord& payload) { prefixed.SetPayload(url, payload); });
  return prefixed;
}

}  // namespace profiler
