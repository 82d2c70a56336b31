// An HTTP server on the loopback interface that answers each path as a test says, badly if it says
// so.

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
  // Also ends all answers that are under way.
  ~FileServer();

  std::string url() const;

  // Other paths are 404.
  void Serve(const std::string& path, std::string body);
  void ServeHalf(const std::string& path, const std::string& body);  // of what it announces
  void Refuse(const std::string& path, int status);
  void HangOn(const std::string& path);  // takes the request and says nothing

  // The paths that were asked for, in order.
  std::vector<std::string> requests();

 private:
  void Accept();
  void Answer(int connection);
  void Set(const std::string& path, std::string answer);
  std::string AnswerTo(const std::string& path);

  int listener_ = -1;
  int port_ = 0;
  std::mutex mutex_;                            // of all but accepting_ that follows
  std::map<std::string, std::string> answers_;  // whole, with the header; empty: none ever
  std::vector<std::string> requests_;
  std::vector<int> connections_;
  std::list<std::thread> answering_;
  std::thread accepting_;
};

}  // namespace profiler::tests
