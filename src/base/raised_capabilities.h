// Capabilities of a copy of the program (setcap(8)), in force only around the calls that need them.
//
// Such a copy is run by people who may do less than it: what they name on a command line, in a
// configuration, in the environment or in a recording is opened with their own rights. So the
// capabilities are permitted all the time and effective only while an object of this type lives:
//
//   LowerCapabilities();                                   first thing in main()
//   …
//   {
//     const RaisedCapabilities raised(kToReadProcesses);   around one system call, or a few
//     fd = open("/proc/12/maps", …);                       by a name that nobody else has made
//   }
//
// Capabilities are each thread's own. A thread that begins while they are raised keeps them, so no
// thread and no process begins in such a scope. Root, and a program without capabilities, pay
// nothing; others two system calls.

#pragma once

#include <cstdint>

namespace profiler {

// Sets of capabilities, a bit each, as in /proc/PID/status. Those that are not permitted are left
// out when a set is raised.
inline constexpr uint64_t kCapSysPtrace = uint64_t{1} << 19;
inline constexpr uint64_t kCapIpcLock = uint64_t{1} << 14;
inline constexpr uint64_t kCapSysAdmin = uint64_t{1} << 21;
inline constexpr uint64_t kCapSysNice = uint64_t{1} << 23;
inline constexpr uint64_t kCapSysResource = uint64_t{1} << 24;
inline constexpr uint64_t kCapSyslog = uint64_t{1} << 34;
inline constexpr uint64_t kCapPerfmon = uint64_t{1} << 38;
inline constexpr uint64_t kCapCheckpointRestore = uint64_t{1} << 40;

// Files of the kernel about processes, and its symbols.
inline constexpr uint64_t kToReadProcesses = kCapSysPtrace | kCapSyslog;
// Besides, links in /proc/PID/map_files, which older kernels show to CAP_SYS_ADMIN only.
inline constexpr uint64_t kToOpenImages = kCapSysPtrace | kCapCheckpointRestore | kCapSysAdmin;

// Makes all capabilities ineffective, unless the effective user is root or whoever started the
// program has given it all of them as ambient ones (a service of systemd): then they are no more
// than that one has. To be called once, before there are threads.
void LowerCapabilities();
// From now on this process raises nothing: for one that has given up its capabilities, and must not
// even make the system call.
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
