"""The compiler for AArch64, and its directory of libraries, which tools/arm64/sysroot makes.

Only --config=arm64 needs this repository, so other builds need neither."""

COMPILER = "aarch64-linux-gnu-g++"

def _include_directories(ctx, sysroot):
    """Returns the compiler's header directories. GCC prints them one per line between two headings."""
    ctx.file("empty.cc", "")
    result = ctx.execute([COMPILER, "--sysroot=" + sysroot, "-E", "-v", "empty.cc"])
    heading = "#include <...> search starts here:\n"
    if result.return_code != 0 or heading not in result.stderr:
        fail("%s does not say where its headers are (Debian package g++-aarch64-linux-gnu): %s" % (COMPILER, result.stderr))
    directories = result.stderr.split(heading)[1].split("End of search list.")[0].split("\n")
    return [str(ctx.path(directory.strip())) for directory in directories if directory.strip()]

def _arm64(ctx):
    home = ctx.os.environ.get("HOME", "")
    sysroot = ctx.os.environ.get("XDG_CACHE_HOME", home + "/.cache") + "/profiler-arm64/sysroot"
    compiler = ctx.which(COMPILER)
    if not ctx.path(sysroot).exists or not compiler:
        fail("AArch64 libraries or their compiler are missing; tools/arm64/sysroot installs both")
    ctx.file("paths.bzl", "COMPILER = %r\nSYSROOT = %r\nINCLUDE_DIRECTORIES = %s\n" %
                          (str(compiler), sysroot, _include_directories(ctx, sysroot)))
    ctx.symlink(Label("//tools/bazel/arm64:BUILD.arm64"), "BUILD")

arm64 = repository_rule(
    implementation = _arm64,
    environ = ["HOME", "XDG_CACHE_HOME"],
    local = True,
)
