// Compiled when the program is linked: Bazel puts in what --stamp and tools/bazel/workspace_status
// say, and nothing where it was not told to stamp.
#ifdef BUILD_SCM_REVISION
extern const char profiler_build_commit[] = BUILD_SCM_REVISION;
#else
extern const char profiler_build_commit[] = "";
#endif
