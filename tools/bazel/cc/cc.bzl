"""cc_library and cc_test that compile fast.

A library of the program is compiled in units of up to eight source files, because a unit instantiates the templates of
a header once. One rule follows: names in unnamed namespaces differ within a library. AddressSanitizer and the fuzz targets
compile each file for itself (--define=units=files), so every file still includes what it uses.

    a.cc  b.cc  …  ──▶  NAME_units/1.cc, with #line, so that messages and debug information name the files

Both rules use precompiled headers that most files include.

Each source file would read 110 000 lines of Abseil's and GoogleTest's headers, which takes longer than all our own code.
GCC reads a precompiled header in a tenth of a second.

    common.h ──▶ common.h.gch/pic     for position-independent code
                            /no_pic   for other code: GCC takes the one that fits
    x.cc     ──▶ g++ -include common.h -c x.cc

Other compilers get an empty header.

Libraries are optimised even in an ordinary build, because reading headers takes most of a compilation: with -O1 the
program compiles in 289 s instead of 273 s. The tests run that program for many minutes, and a recorder that is not
optimised loses samples while it searches a large library for functions.
"""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "ACTION_NAMES")
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

_HERE = "//tools/bazel/cc"

# Options of libraries.
OPTIMISED = select({
    _HERE + ":is_fastbuild": ["-O1"],
    "//conditions:default": [],
})

def _command(ctx, toolchain, source, output, use_pic):
    """Returns the program and arguments that compile `source` with this build's options."""
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    action = ACTION_NAMES.cpp_compile
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        source_file = source.path,
        quote_include_directories = depset(["."]),
        output_file = output.path,
        user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + ctx.attr.copts + ["-x", "c++-header"],
        use_pic = use_pic,
    )
    return struct(
        program = cc_common.get_tool_for_action(feature_configuration = features, action_name = action),
        arguments = cc_common.get_memory_inefficient_command_line(
            feature_configuration = features,
            action_name = action,
            variables = variables,
        ),
        environment = cc_common.get_environment_variables(
            feature_configuration = features,
            action_name = action,
            variables = variables,
        ),
    )

def _precompiled_header_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    name = ctx.label.name + ".h"
    header = ctx.actions.declare_file(name)
    outputs = [header]
    if toolchain.compiler == "clang":
        ctx.actions.write(header, "")
    else:
        ctx.actions.symlink(output = header, target_file = ctx.file.header)
        for variant, use_pic in [("pic", True), ("no_pic", False)]:
            output = ctx.actions.declare_file("%s.gch/%s" % (name, variant))
            command = _command(ctx, toolchain, ctx.file.header, output, use_pic)
            ctx.actions.run(
                executable = command.program,
                arguments = command.arguments,
                env = command.environment,
                inputs = depset([ctx.file.header] + ctx.files.includes, transitive = [toolchain.all_files]),
                outputs = [output],
                mnemonic = "CppPrecompile",
            )
            outputs.append(output)
    context = cc_common.create_compilation_context(
        headers = depset(outputs),
        quote_includes = depset([header.dirname]),
    )
    return [CcInfo(compilation_context = context)]

precompiled_header = rule(
    implementation = _precompiled_header_impl,
    attrs = {
        "copts": attr.string_list(),
        "header": attr.label(allow_single_file = [".h"], mandatory = True),
        "includes": attr.label_list(allow_files = [".h"]),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)

def _precompiled(name, copts, deps, own_copts = []):
    """Returns copts and deps with the header `name`, which was compiled with `own_copts`. If there are copts already,
    leaves them: GCC accepts the header only with equal options."""
    if copts:
        return {"copts": copts, "deps": deps}
    return {"copts": own_copts + ["-include", name + ".h"], "deps": deps + [_HERE + ":" + name]}

_FILES_OF_UNIT = 8

def _is_source(label):
    return label.endswith(".cc") and not label.startswith(":") and not label.startswith("/")

def _in_units(name, srcs):
    """Returns the sources of a library as units. Leaves a list with alternatives for several platforms."""
    files = [label for label in srcs if _is_source(label)] if type(srcs) == "list" else []
    if len(files) < 2:
        return srcs
    count = (len(files) + _FILES_OF_UNIT - 1) // _FILES_OF_UNIT
    units = []
    for i in range(count):
        unit = "%s_units/%d.cc" % (name, i + 1)
        native.genrule(
            name = "%s_unit_%d" % (name, i + 1),
            srcs = files[i * len(files) // count:(i + 1) * len(files) // count],
            outs = [unit],
            cmd = "for file in $(SRCS); do printf '#line 1 \"%s\"\\n' $$file; cat $$file; done > $@",
            visibility = ["//visibility:private"],
        )
        units.append(unit)
    return select({
        _HERE + ":is_by_file": srcs,
        "//conditions:default": [label for label in srcs if not _is_source(label)] + units,
    })

def cc_library(name, srcs = [], copts = [], deps = [], **kwargs):
    if not kwargs.get("testonly"):
        srcs = _in_units(name, srcs)
    native.cc_library(name = name, srcs = srcs, **dict(kwargs, **_precompiled("precompiled", copts, deps, OPTIMISED)))

def cc_test(name, copts = [], deps = [], **kwargs):
    native.cc_test(name = name, **dict(kwargs, **_precompiled("precompiled_tests", copts, deps)))
