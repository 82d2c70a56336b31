#include "src/http/credentials.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "src/base/regular_file.h"
#include "src/base/transfer.h"

namespace profiler::http {
namespace {

constexpr size_t kLongestSecret = 16 << 10;

// Opens a file that holds a secret. Refuses a file that everybody can read.
absl::StatusOr<UniqueFd> OpenSecret(const std::string& path) {
  PROFILER_ASSIGN_OR_RETURN(UniqueFd file, OpenOwnFile(path));
  struct stat status;
  if (fstat(file.get(), &status) != 0) return ErrnoStatus(errno, path);
  if ((status.st_mode & S_IROTH) != 0) {
    return absl::PermissionDeniedError(
        absl::StrCat(path, ": all users may read this secret; chmod o-r ", path));
  }
  return file;
}

// Returns the only line of the file, without its line break.
absl::StatusOr<std::string> SecretIn(const std::string& path) {
  PROFILER_ASSIGN_OR_RETURN(const UniqueFd file, OpenSecret(path));
  std::string text(kLongestSecret, '\0');
  PROFILER_ASSIGN_OR_RETURN(const size_t size,
                            ReadFully(file.get(), std::as_writable_bytes(std::span(text)), path));
  if (size == text.size()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": too long for a secret"));
  }
  text.resize(size);
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  const bool is_line = std::ranges::none_of(text, absl::ascii_iscntrl);
  if (text.empty() || !is_line) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": must have one line, which is the secret"));
  }
  return text;
}

absl::Status CheckReadable(const std::string& path) {
  return path.empty() ? absl::OkStatus() : OpenOwnFile(path).status();
}

}  // namespace

absl::StatusOr<std::string> AuthorizationHeader(const Options& options) {
  if (!options.user_file.empty()) {
    PROFILER_ASSIGN_OR_RETURN(const std::string user, SecretIn(options.user_file));
    if (user.find(':') == user.npos) {
      return absl::InvalidArgumentError(
          absl::StrCat(options.user_file, ": must have one line USER:PASSWORD"));
    }
    return absl::StrCat("Authorization: Basic ", absl::Base64Escape(user));
  }
  if (!options.token_file.empty()) {
    PROFILER_ASSIGN_OR_RETURN(const std::string token, SecretIn(options.token_file));
    if (!std::ranges::all_of(token, [](char c) { return c > ' ' && c < '\x7f'; })) {
      return absl::InvalidArgumentError(
          absl::StrCat(options.token_file, ": must have one line, a token without spaces"));
    }
    return absl::StrCat("Authorization: Bearer ", token);
  }
  return std::string();
}

absl::Status CheckOptions(const Options& options) {
  if (!options.user_file.empty() && !options.token_file.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.user_file, " and ", options.token_file,
                     ": a server takes a user or a token; name one of these files"));
  }
  if (options.key_file.empty() != options.certificate_file.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.certificate_file, options.key_file,
                     ": a certificate and its key are needed together; name both files"));
  }
  if (options.proxy.find('@') != options.proxy.npos) {
    return absl::InvalidArgumentError(
        "a user and a password of a proxy do not belong on a command line, which all can read; put "
        "the URL with them into the environment, as https_proxy");
  }
  PROFILER_RETURN_IF_ERROR(AuthorizationHeader(options).status());
  PROFILER_RETURN_IF_ERROR(CheckReadable(options.ca_file));
  PROFILER_RETURN_IF_ERROR(CheckReadable(options.certificate_file));
  if (!options.key_file.empty()) return OpenSecret(options.key_file).status();
  return absl::OkStatus();
}

}  // namespace profiler::http
