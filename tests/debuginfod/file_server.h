// An HTTP server on the loopback interface for tests. Tests set the answer for each path. An answer
// may be broken.

#pragma once

#include <list>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace profiler::tests {

class FileServer {
 public:
  FileServer();
  FileServer(const FileServer&) = delete;
  FileServer& operator=(const FileServer&) = delete;
  // Also aborts all answers in progress.
  ~FileServer();

  std::string url() const;

  // Sets the answer for a path. Other paths get 404.
  void Serve(const std::string& path, std::string body);
  // Sets an answer that announces the whole body and sends only half of it.
  void ServeHalf(const std::string& path, const std::string& body);
  void Refuse(const std::string& path, int status);
  // Makes the server accept requests for the path and never answer them.
  void HangOn(const std::string& path);

  // Returns the requested paths, in order of arrival.
  std::vector<std::string> requests();

 private:
  void Accept();
  void Answer(int connection);
  void Set(const std::string& path, std::string answer);
  std::string AnswerTo(const std::string& path);

  int listener_ = -1;
  int port_ = 0;
  std::mutex mutex_;                            // guards the members below, except accepting_
  std::map<std::string, std::string> answers_;  // [path]: HTTP header and body; empty: no answer
  std::vector<std::string> requests_;
  std::vector<int> connections_;
  std::list<std::thread> answering_;
  std::thread accepting_;
};

}  // namespace profiler::tests
