// Compiled when the program is linked. Bazel defines the commit from tools/bazel/workspace_status
// if --stamp is given; otherwise the text is empty.
#ifdef BUILD_SCM_REVISION
extern const char profiler_build_commit[] = BUILD_SCM_REVISION;
#else
extern const char profiler_build_commit[] = "";
#endif
