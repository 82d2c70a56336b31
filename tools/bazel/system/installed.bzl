"""Repositories of libraries from Debian's packages, at each release's paths.

Bazel evaluates the repositories again whenever its server starts, so that it notices an upgraded package."""

def _output(ctx, command, package):
    """Returns the output of a command, without the newline. Fails with the package to install."""
    result = ctx.execute(command)
    if result.return_code != 0:
        fail("`%s` failed (Debian package %s; tools/prepare installs it): %s" %
             (" ".join(command), package, result.stderr))
    return result.stdout.strip()

def _llvm_demangle(ctx):
    # Each version of LLVM has its own directory.
    archives = _output(ctx, ["llvm-config", "--libdir"], "llvm-dev")
    headers = _output(ctx, ["llvm-config", "--includedir"], "llvm-dev")
    ctx.file("installed.bzl", "ARCHIVES = %r\n" % archives)
    for folder in ["Config", "Demangle"]:
        ctx.symlink(headers + "/llvm/" + folder, "include/llvm/" + folder)
    ctx.symlink(Label("//tools/bazel/system:BUILD.llvm_demangle"), "BUILD")

llvm_demangle = repository_rule(
    implementation = _llvm_demangle,
    local = True,
)

def _boost_version(ctx):
    header = "/usr/include/boost/version.hpp"
    if not ctx.path(header).exists:
        fail("%s is not installed (Debian package libboost-dev; tools/prepare installs it)" % header)
    for line in ctx.read(header).splitlines():
        if line.startswith("#define BOOST_VERSION "):
            return line.split(" ")[2]
    fail("%s does not define BOOST_VERSION" % header)

def _system(ctx):
    # Each release divides Abseil into different archives. So the command line names all archives,
    # and the linker takes only the ones that the program needs.
    archive = _output(ctx, ["gcc", "-print-file-name=libabsl_base.a"], "libabsl-dev")
    if not archive.startswith("/"):
        fail("libabsl_base.a is not installed (Debian package libabsl-dev; tools/prepare installs it)")
    archives = sorted([
        file.basename
        for file in ctx.path(archive).dirname.readdir()
        if file.basename.startswith("libabsl_") and file.basename.endswith(".a")
    ])
    ctx.file("installed.bzl", "ABSEIL_ARCHIVES = %s\nBOOST_VERSION = %r\n" % (archives, _boost_version(ctx)))
    ctx.symlink(Label("//tools/bazel/system:BUILD.system"), "BUILD")

system = repository_rule(
    implementation = _system,
    local = True,
)
