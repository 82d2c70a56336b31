#include "tests/debuginfod/file_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace profiler::tests {
namespace {

std::string Head(const std::string& status, size_t size) {
  return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(size) +
         "\r\nConnection: close\r\n\r\n";
}

void SendAll(int connection, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
}

}  // namespace

FileServer::FileServer() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener_, generic, size) != 0 || listen(listener_, 16) != 0 ||
      getsockname(listener_, generic, &size) != 0) {
    std::abort();
  }
  port_ = ntohs(address.sin_port);
  accepting_ = std::thread([this] { Accept(); });
}

FileServer::~FileServer() {
  shutdown(listener_, SHUT_RDWR);
  accepting_.join();
  close(listener_);
  {
    const std::lock_guard lock(mutex_);
    for (const int connection : connections_) shutdown(connection, SHUT_RDWR);
  }
  for (std::thread& thread : answering_) thread.join();
  for (const int connection : connections_) close(connection);
}

std::string FileServer::url() const { return "http://127.0.0.1:" + std::to_string(port_); }

void FileServer::Serve(const std::string& path, std::string body) {
  Set(path, Head("200 OK", body.size()) + std::move(body));
}

void FileServer::ServeHalf(const std::string& path, const std::string& body) {
  Set(path, Head("200 OK", body.size()) + body.substr(0, body.size() / 2));
}

void FileServer::Refuse(const std::string& path, int status) {
  Set(path, Head(std::to_string(status) + " Refused", 0));
}

void FileServer::HangOn(const std::string& path) { Set(path, ""); }

void FileServer::Set(const std::string& path, std::string answer) {
  const std::lock_guard lock(mutex_);
  answers_[path] = std::move(answer);
}

// Returns the answer for `path`, and adds `path` to the requests.
std::string FileServer::AnswerTo(const std::string& path) {
  const std::lock_guard lock(mutex_);
  requests_.push_back(path);
  const auto answer = answers_.find(path);
  return answer == answers_.end() ? Head("404 Not Found", 0) : answer->second;
}

std::vector<std::string> FileServer::requests() {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void FileServer::Accept() {
  while (true) {
    const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) return;
    const std::lock_guard lock(mutex_);
    connections_.push_back(connection);
    answering_.emplace_back([this, connection] { Answer(connection); });
  }
}

void FileServer::Answer(int connection) {
  std::string request;
  std::array<char, 4096> piece;
  while (request.find("\r\n\r\n") == std::string::npos) {
    const ssize_t size = recv(connection, piece.data(), piece.size(), 0);
    if (size <= 0) return;
    request.append(piece.data(), static_cast<size_t>(size));
  }
  const size_t start = request.find(' ') + 1;
  const std::string path = request.substr(start, request.find(' ', start) - start);
  const std::string answer = AnswerTo(path);
  SendAll(connection, answer);
  // Reads until the client or this server closes the connection.
  if (!answer.empty()) shutdown(connection, SHUT_WR);
  while (recv(connection, piece.data(), piece.size(), 0) > 0) {
  }
}

}  // namespace profiler::tests
