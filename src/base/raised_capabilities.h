// Makes file capabilities (setcap(8)) effective only around the calls that need them.
//
// Users who have fewer rights run a copy of the program that has file capabilities. Files that they
// name on the command line, in a configuration, in the environment or in a recording must be opened
// with their own rights. So the capabilities are always permitted, but effective only while a
// RaisedCapabilities lives:
//
//   LowerCapabilities();                                   first thing in main()
//   …
//   {
//     const RaisedCapabilities raised(kToReadProcesses);   around one system call, or a few
//     fd = open("/proc/12/maps", …);                       by a path that no other user chose
//   }
//
// Capabilities belong to a thread. A thread that starts while they are raised keeps them, so do not
// start threads or processes in such a scope. Root and programs without capabilities pay nothing;
// other programs pay two system calls.

#pragma once

#include <cstdint>

namespace profiler {

// Sets of capabilities, one bit each, as in /proc/PID/status. Raising a set skips those that are
// not permitted.
inline constexpr uint64_t kCapSysPtrace = uint64_t{1} << 19;
inline constexpr uint64_t kCapIpcLock = uint64_t{1} << 14;
inline constexpr uint64_t kCapSysAdmin = uint64_t{1} << 21;
inline constexpr uint64_t kCapSysNice = uint64_t{1} << 23;
inline constexpr uint64_t kCapSysResource = uint64_t{1} << 24;
inline constexpr uint64_t kCapSyslog = uint64_t{1} << 34;
inline constexpr uint64_t kCapPerfmon = uint64_t{1} << 38;
inline constexpr uint64_t kCapBpf = uint64_t{1} << 39;
inline constexpr uint64_t kCapCheckpointRestore = uint64_t{1} << 40;

// Capabilities to read files below /proc/PID, and the kernel's symbols.
inline constexpr uint64_t kToReadProcesses = kCapSysPtrace | kCapSyslog;
// Capabilities to open images, also by links in /proc/PID/map_files. Older kernels show these links
// only with CAP_SYS_ADMIN.
inline constexpr uint64_t kToOpenImages = kCapSysPtrace | kCapCheckpointRestore | kCapSysAdmin;

// Makes all capabilities ineffective. Does nothing if the effective user is root, or if all
// capabilities are ambient (a systemd service), because the parent process then also has them. Call
// it once, before there are threads.
void LowerCapabilities();
// Makes RaisedCapabilities do nothing in this process from now on. Use it in a process that has
// given up its capabilities and must not even make the system call.
void ForgetCapabilities();
// Returns the capabilities that can be raised; 0 for root.
uint64_t RaisableCapabilities();

class RaisedCapabilities {
 public:
  explicit RaisedCapabilities(uint64_t capabilities);
  ~RaisedCapabilities();
  RaisedCapabilities(const RaisedCapabilities&) = delete;
  RaisedCapabilities& operator=(const RaisedCapabilities&) = delete;

  // Returns the capabilities that this thread has raised.
  static uint64_t InForce();
  static bool Any() { return InForce() != 0; }

 private:
  const uint64_t before_;
};

}  // namespace profiler
