"""Finds the calls that only create a coroutine or a generator.

From Python 3.11 on, such a call pushes the frame of the new object, which runs one instruction (RETURN_GENERATOR) and
returns. A sample at that moment shows an edge that sys.setprofile does not report, because it reports a frame when its
body begins. The edge is real if the source of the caller has the call.
"""
import ast
import inspect
import sys

GENERATOR_FLAGS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
# Functions that modules of the standard library call by other names: enum sets Flag._iter_member_.
ALIASES = {"_iter_member_by_value_": "_iter_member_", "_iter_member_by_def_": "_iter_member_"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
COMPREHENSIONS = (ast.GeneratorExp,) + (() if sys.version_info >= (3, 12) else (ast.ListComp, ast.SetComp, ast.DictComp))
NAMES = {ast.Lambda: "<lambda>", ast.GeneratorExp: "<genexpr>", ast.ListComp: "<listcomp>", ast.SetComp: "<setcomp>",
         ast.DictComp: "<dictcomp>"}


def first_line(node):
    """Returns co_firstlineno of the node's code."""
    return min([node.lineno] + [decorator.lineno for decorator in getattr(node, "decorator_list", [])])


def scopes(tree):
    """Yields each node that has code of its own, with the nodes of that code."""
    waiting = [(tree, tree.body)]
    while waiting:
        scope, nodes = waiting.pop()
        own = []
        while nodes:
            node = nodes.pop()
            own.append(node)
            if isinstance(node, FUNCTIONS):
                body = node.body if isinstance(node.body, list) else [node.body]
                waiting.append((node, list(body)))
                # Decorators, defaults and bases are evaluated outside.
                nodes += [child for child in ast.iter_child_nodes(node) if child not in body]
            elif isinstance(node, COMPREHENSIONS):
                outermost = node.generators[0].iter  # evaluated outside
                inside = [child for child in ast.iter_child_nodes(node) if child is not node.generators[0]]
                inside += [child for child in ast.iter_child_nodes(node.generators[0]) if child is not outermost]
                waiting.append((node, inside))
                nodes.append(outermost)
            else:
                nodes += ast.iter_child_nodes(node)
        yield scope, own


def created_names(nodes):
    """Yields the function names of the calls, and (name, line) of the generator expressions."""
    for node in nodes:
        if isinstance(node, ast.Call):
            if isinstance(node.func, (ast.Name, ast.Attribute)):
                yield getattr(node.func, "id", getattr(node.func, "attr", None))
        elif isinstance(node, ast.GeneratorExp):
            yield "<genexpr>", node.lineno


def creations(codes):
    """Returns the edges by which functions create coroutines and generators. `codes`: {code object: name}."""
    if sys.version_info < (3, 11):
        return set()
    made_by_name = {}
    for code, name in codes.items():
        if code.co_flags & GENERATOR_FLAGS:
            for called in {code.co_name, ALIASES.get(code.co_name, code.co_name)}:
                made_by_name.setdefault(called, []).append((code, name))
    calls = {}  # {(file, name, first line): names that are called}
    for file in {code.co_filename for code in codes}:
        try:
            with open(file, "rb") as source:
                tree = ast.parse(source.read())
        except (OSError, SyntaxError):
            continue  # a module within the interpreter
        for scope, nodes in scopes(tree):
            is_module = isinstance(scope, ast.Module)
            name = "<module>" if is_module else NAMES.get(type(scope), getattr(scope, "name", None))
            key = (file, name, 1 if is_module else first_line(scope))
            calls.setdefault(key, set()).update(created_names(nodes))
    edges = set()
    for code, caller in codes.items():
        for called in calls.get((code.co_filename, code.co_name, code.co_firstlineno), ()):
            if isinstance(called, tuple):
                edges.update((caller, name) for made, name in made_by_name.get(called[0], ())
                             if (made.co_filename, made.co_firstlineno) == (code.co_filename, called[1]))
            else:
                edges.update((caller, name) for made, name in made_by_name.get(called, ()))
    return edges
