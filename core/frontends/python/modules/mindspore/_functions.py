# SPDX-License-Identifier: Apache-2.0
"""Functions that a graph makes and CPython calls when it runs: made there, where they are handed over, of the code that CPython has of
them. A variable around them is a cell of the run, which holds what the graph has bound it to last."""
import ast
import builtins
import types

import _gantry

from mindspore._core import External, Tensor

_OUTSIDE = "cannot be called outside of it"
_MARK = 1 << 20  # a line that no source has
_UNBOUND, _LATER = object(), object()
_READ_BY = {"len", "sum", "min", "max", "sorted", "any", "all", "enumerate", "zip", "list", "tuple", "set", "frozenset", "dict", "map",
            "filter", "reversed", "range", "isinstance", "str", "repr"}
_READ_METHODS = {"index", "count", "get", "keys", "values", "items", "copy"}


class _Variable:
    """A variable of the graph that functions of the run read. @cell: (nullable) of the run"""
    __slots__ = ("cell",)

    def __init__(self):
        self.cell = None

    def now(self):
        if self.cell is None:
            self.cell = types.CellType()
        return self.cell


class Captures:
    """All such variables of a graph."""

    def __init__(self):
        self.scopes = {}  # id of a dict of locals -> (dict, {name: _Variable}); while the graph is made
        self.variables = []
        self.pending, self.awaited = [], []

    def variable(self, scope, name):
        names = self.scopes.setdefault(id(scope), (scope, {}))[1]
        if name not in names:
            names[name] = _Variable()
            self.variables.append(names[name])
        return names[name]

    def rebound(self, scope, name, value):
        variable = self.scopes.get(id(scope), (scope, {}))[1].get(name)
        if variable is not None:
            _gantry.host_call(_bind, (variable, value), "bool")

    def begin(self):
        self.scopes.clear()
        cells = [variable.cell for variable in self.variables]
        for variable in self.variables:
            variable.cell = None
        return cells

    def end(self, cells):
        for variable, cell in builtins.zip(self.variables, cells):
            variable.cell = cell


def _bind(variable, value):
    variable.now().cell_contents = value
    return True


class _Made:
    """What a function is made of. @captured: names of its free variables; @changed: those whose object it may change"""

    def __init__(self, code, changed, names):
        self.code, self.changed, self.names = code, changed, names
        self.captured = code.co_freevars

    def function(self, variables, values, defaults, named):
        for variable, value in builtins.zip(variables, values):
            if value is not _UNBOUND and value is not _LATER:
                _bind(variable, value)
        function = types.FunctionType(self.code, self.names, self.code.co_name, defaults, tuple(v.now() for v in variables))
        function.__kwdefaults__ = named or None
        return function


def _path(code, line):
    """Where within the constants of @code the code that begins in @line is."""
    for i, constant in enumerate(code.co_consts):
        if isinstance(constant, types.CodeType):
            if constant.co_firstlineno == line:
                return [i]
            within = _path(constant, line)
            if within is not None:
                return [i] + within
    return None


def _is_read(use, parents):
    parent = parents[use]
    while isinstance(parent, ast.Subscript) and parent.value is use and isinstance(parent.ctx, ast.Load):
        use, parent = parent, parents[parent]
        if not isinstance(parent, (ast.Attribute, ast.Subscript)):
            return True
    if isinstance(parent, ast.Attribute):
        return parent.attr in _READ_METHODS
    if isinstance(parent, ast.Call):
        return use is not parent.func and isinstance(parent.func, ast.Name) and parent.func.id in _READ_BY
    if isinstance(parent, (ast.For, ast.comprehension)):
        return parent.iter is use
    return isinstance(parent, (ast.Compare, ast.BinOp, ast.UnaryOp, ast.Starred, ast.FormattedValue))


def _changed(body, names):
    parents = {child: parent for part in body for parent in ast.walk(part) for child in ast.iter_child_nodes(parent)}
    parents.update((part, None) for part in body)
    uses = [use for part in body for use in ast.walk(part) if isinstance(use, ast.Name) and use.id in names]
    return {use.id for use in uses if not _is_read(use, parents)}, {
        use.id for use in uses if isinstance(parents[use], (ast.Subscript, ast.Attribute)) and not isinstance(parents[use].ctx, ast.Load)}


def _check_assigned(body, captured):
    nodes = [node for part in body for node in ast.walk(part)]
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    stored |= {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    for node in nodes:
        for name in node.names if isinstance(node, (ast.Global, ast.Nonlocal)) else ():
            if name in stored and (isinstance(node, ast.Global) or name in captured):
                word = "global" if isinstance(node, ast.Global) else "nonlocal"
                raise RuntimeError(f"a function made inside of a graph that assigns '{name}', which it declares {word}, {_OUTSIDE}")


_codes = {}


def _code_of(text, file, line, column):
    """The code of the function that stands there, and the names of which it may change the object."""
    key = (text, file, line, column)
    if key in _codes:
        return _codes[key]
    tree = ast.parse(text, file)
    node = next(n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.Lambda)) and (n.lineno, n.col_offset) == (line, column))
    node.decorator_list = []
    code = compile(tree, file, "exec", dont_inherit=True)
    end = node.end_lineno
    node.lineno = node.end_lineno = _MARK
    path = _path(compile(tree, file, "exec", dont_inherit=True), _MARK)
    node.lineno, node.end_lineno = line, end
    for i in path:
        code = code.co_consts[i]
    body = node.body if isinstance(node.body, list) else [node.body]
    _check_assigned(body, code.co_freevars)
    _codes[key] = code, _changed(body, code.co_freevars)
    return _codes[key]


def made_function(text, file, line, column, names):
    code, changed = _code_of(text, file, line, column)
    return _Made(code, changed, names)


def _check_value(made, name, value):
    """What CPython has in the run is a copy, of which the graph sees nothing."""
    changed, stored = made.changed
    if name in changed and isinstance(value, (list, dict, set, bytearray)) or name in stored and not isinstance(value, External):
        raise RuntimeError(f"a function made inside of a graph that may change '{name}', a {type(value).__name__} of the graph, {_OUTSIDE}")


def _names(code):
    """The names of outside that @code and what is made in it read."""
    return builtins.set(code.co_names).union(*(_names(c) for c in code.co_consts if isinstance(c, types.CodeType)))


def _check_parameters(made, found):
    """What the graph has assigned to Parameters they hold when it has run: a function that reads them there would see what was before."""
    from mindspore.nn import Cell
    read = [(name, pair[1]) for name, pair in builtins.zip(made.captured, found) if pair is not None]
    for name, value in read + [(name, made.names[name]) for name in _names(made.code) if name in made.names]:
        if isinstance(value, Cell) or name not in made.captured and isinstance(value, Tensor) and value._is_parameter:
            raise RuntimeError(f"a function made inside of a graph that reads '{name}', of whose Parameters the graph may have assigned some, {_OUTSIDE}")


def function_of_run(captures, closure, made, found, defaults, named, assigns_parameters):
    """@found: for each captured name (dict of locals, value), or None where it has no value yet"""
    variables, values = [], []
    if assigns_parameters:
        _check_parameters(made, found)
    captures.pending.append(closure)
    try:
        for name, pair in builtins.zip(made.captured, found):
            variable = _Variable() if pair is None else captures.variable(pair[0], name)
            value = _UNBOUND if pair is None else pair[1]
            _check_value(made, name, value)
            if builtins.any(value is other for other in captures.pending):
                captures.awaited.append((value, variable))
                value = _LATER
            variables.append(variable)
            values.append(value)
        result = _gantry.host_call(made.function, (tuple(variables), tuple(values), defaults, named), "object")
    finally:
        captures.pending.pop()
    for waiting in [pair for pair in captures.awaited if pair[0] is closure]:
        captures.awaited.remove(waiting)
        _gantry.host_call(_bind, (waiting[1], result), "bool")
    return result
