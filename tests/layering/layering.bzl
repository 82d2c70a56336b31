"""Turns the table of permitted dependencies into tests: one genquery per row, compared with the row's permissions."""

def layer(name, targets, may_use):
    """Defines a test that fails if `targets` reach a package of ours, or a library, that is not in `may_use`.

    Args:
      name: name of the row.
      targets: every target of the row's package, except test-only targets.
      may_use: packages ("//src/base") and libraries ("@system//:absl") that `targets` may reach, by any path.
    """
    native.genquery(
        name = name + "_deps",
        testonly = True,
        expression = "kind('cc_.*', deps(set(%s)))" % " ".join(targets),
        opts = ["--noimplicit_deps"],
        scope = targets,
    )
    native.sh_test(
        name = name + "_layering_test",
        size = "small",
        srcs = ["layering_test.sh"],
        args = ["$(location :%s_deps)" % name] + may_use,
        data = [":%s_deps" % name],
    )
