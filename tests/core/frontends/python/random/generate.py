# SPDX-License-Identifier: Apache-2.0
"""Random programs within the subset that becomes a graph. Each defines `f (v, m, s, n, b)` of tensors (float32[3], float32[2,3],
float32[], int32[], bool[]), which returns a tuple whose types are fixed for the program, so that every `return` agrees. Under a
condition that depends on data a name is only given values of the type that it has: what differs there is an error by the rules."""
import random

KINDS = ("v", "m", "s", "n", "b")
ARGUMENTS = ("v", "m", "s", "n", "b")


class Scope:
    def __init__(self, names):
        self.names = dict(names)  # name -> kind: of KINDS, "K" a known int, "L" a list of v, "T" a tuple (v, s), "D" a dict a: v, b: s

    def of(self, kind):
        return [n for n, k in self.names.items() if k == kind]


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.count, self.indent = [], 0, 0
        self.functions = []  # (name, kinds of parameters, kind of result)
        self.returns = [self.random.choice(("v", "m", "s", "n")) for _ in range(self.random.randint(1, 3))]
        self.loops = 0

    def fresh(self, stem="t"):
        self.count += 1
        return f"{stem}{self.count}"

    def put(self, text):
        self.lines.append("    " * self.indent + text)

    def pick(self, *choices):
        return self.random.choice(choices)()

    # Expressions

    def number(self):
        return repr(round(self.random.uniform(-1.5, 1.5), 2))

    def known(self, scope):
        names = scope.of("K")
        if names and self.random.random() < 0.6:
            name = self.random.choice(names)
            return self.random.choice((name, name, f"({name} + 1)", f"({name} * 2 % 5)"))
        return str(self.random.randint(0, 3))

    def known_condition(self, scope):
        a, b = self.known(scope), self.known(scope)
        text = f"{a} {self.random.choice(('<', '<=', '==', '!=', '>', '>='))} {b}"
        return self.random.choice((text, text, f"not {text}", f"{text} and {b} < 3", f"{text} or {a} in (1, 2)"))

    def condition(self, scope, depth):
        """One that depends on data. Its two sides are never close: sums of floats differ by more than rounding, or are ints."""
        def floats():
            a = self.expression("s", scope, 0)
            return f"{a} {self.random.choice(('<', '>'))} {round(self.random.uniform(-1, 1), 4) + 0.00003}"

        def ints():
            return f"{self.expression('n', scope, 0)} {self.random.choice(('<', '<=', '==', '!=', '>'))} {self.random.randint(0, 4)}"

        def chained():
            return f"{self.random.randint(-2, 1)} < {self.expression('n', scope, 0)} < {self.random.randint(2, 5)}"

        def flag():
            return self.random.choice(scope.of("b"))

        def both():
            return f"{self.condition(scope, depth - 1)} {self.random.choice(('and', 'or'))} {self.condition(scope, depth - 1)}"

        def negated():
            return f"not ({self.condition(scope, depth - 1)})"

        return self.pick(floats, ints, chained, flag, *((both, negated) if depth > 0 else ()))

    def call(self, kind, scope, depth):
        fitting = [f for f in self.functions if f[2] == kind]
        if not fitting:
            return self.leaf(kind, scope)
        name, kinds, _ = self.random.choice(fitting)
        arguments = [self.expression(k, scope, depth - 1) for k in kinds]
        if self.random.random() < 0.3:
            arguments[-1] = f"last={arguments[-1]}"
        return f"{name}({', '.join(arguments)})"

    def leaf(self, kind, scope):
        if kind == "K":
            return self.known(scope)
        names = scope.of(kind)
        if names:
            return self.random.choice(names)
        raise AssertionError(kind)

    def expression(self, kind, scope, depth):
        if depth <= 0 or self.random.random() < 0.15:
            return self.leaf(kind, scope)
        e = lambda k: self.expression(k, scope, depth - 1)
        sign = lambda: self.random.choice("+-*")
        chosen = [lambda: f"({e(kind)} if {self.condition(scope, 0)} else {e(kind)})",
                  lambda: f"({e(kind)} if {self.known_condition(scope)} else {e(kind)})",
                  lambda: self.call(kind, scope, depth)]
        if kind in ("v", "m", "s"):
            chosen += [lambda: f"({e(kind)} {sign()} {e(kind)})", lambda: f"({e(kind)} {sign()} {self.number()})",
                       lambda: f"({self.number()} {sign()} {e(kind)})", lambda: f"ops.tanh({e(kind)})", lambda: f"(-{e(kind)})",
                       lambda: f"ops.maximum({e(kind)}, {e(kind)})", lambda: f"({e(kind)} / (1.5 + {e(kind)}.abs()))",
                       lambda: f"({e(kind)} * {self.known(scope)})", lambda: f"({e(kind)} + {e('s')})",
                       lambda: f"ops.where({e(kind)} > 0.25003, {e(kind)}, {e(kind)})"]
        if kind == "v":
            chosen += [lambda: f"{e('m')}[{self.random.choice(('0', '1', '-1'))}]", lambda: f"{e('m')}.sum(axis=0)",
                       lambda: f"ops.flip({e('v')}, (0,))", lambda: f"ops.relu({e('v')})",
                       lambda: f"(({e('m')} @ {e('v')})[0] * {e('v')})"]
            if scope.of("L"):
                chosen += [lambda: f"{self.random.choice(scope.of('L'))}[{self.random.choice(('0', '1', '-1'))}]"]
            if scope.of("T"):
                chosen += [lambda: f"{self.random.choice(scope.of('T'))}[0]"]
            if scope.of("D"):
                chosen += [lambda: f"{self.random.choice(scope.of('D'))}['a']"]
        if kind == "m":
            chosen += [lambda: f"ops.stack(({e('v')}, {e('v')}))", lambda: f"({e('m')} * {e('v')})",
                       lambda: f"{e('m')}.T.reshape(2, 3)"]
        if kind == "s":
            chosen += [lambda: f"{e('v')}.mean()", lambda: f"{e('m')}.max()", lambda: f"{e('v')}[{self.random.randint(-3, 2)}]",
                       lambda: f"{e('n')}.astype(ms.float32)", lambda: f"ops.tanh({e('v')}.sum())"]
            if scope.of("D"):
                chosen += [lambda: f"{self.random.choice(scope.of('D'))}['b']"]
        if kind == "n":
            chosen += [lambda: f"({e('n')} {self.random.choice('+-')} {self.random.randint(0, 3)})", lambda: f"({e('n')} % {self.random.randint(2, 5)})",
                       lambda: f"({e('n')} // {self.random.randint(1, 3)})", lambda: f"ops.abs({e('n')})",
                       lambda: f"({e('n')} + {self.known(scope)})"]
        if kind == "b":
            chosen += [lambda: f"({e('s')} > {round(self.random.uniform(-1, 1), 4) + 0.00003})", lambda: f"({e('n')} < {self.random.randint(0, 4)})",
                       lambda: f"ops.logical_and({e('b')}, {e('b')})", lambda: f"({e('v')} > 0.00007).any()"]
        return self.random.choice(chosen)()

    # Statements. `data`: names whose types may not change, because a condition on data holds around; None: none does.

    def block(self, scope, data, depth, size, in_loop, may_return):
        self.indent += 1
        for _ in range(size):
            if self.statement(scope, data, depth, in_loop, may_return):
                break
        self.indent -= 1

    def assign(self, scope, data, depth):
        kind = self.random.choice(("v", "v", "m", "s", "s", "n", "b"))
        own = [n for n in scope.of(kind) if data is None or n in data]
        name = self.random.choice(own) if own and self.random.random() < 0.6 else self.fresh()
        self.put(f"{name} = {self.expression(kind, scope, 3)}")
        scope.names[name] = kind

    def augment(self, scope, data, depth):
        kind = self.random.choice(("v", "m", "s", "n"))
        name = self.random.choice(scope.of(kind))
        operator = self.random.choice(("+=", "-=") if kind == "n" else ("+=", "-=", "*="))
        self.put(f"{name} {operator} {self.random.randint(0, 3) if kind == 'n' else self.expression(kind, scope, 1)}")

    def unpack(self, scope, data, depth):
        a, b = self.fresh(), self.fresh()
        self.put(self.random.choice((f"{a}, {b} = {self.expression('v', scope, 2)}, {self.expression('s', scope, 2)}",
                                     f"({a}, {b}) = ({self.expression('v', scope, 1)}, {self.expression('s', scope, 1)})")))
        scope.names.update({a: "v", b: "s"})

    def structure(self, scope, data, depth):
        name, kind = self.fresh(), self.random.choice("LTD")
        v = lambda: self.expression("v", scope, 1)
        if kind == "L":
            self.put(self.random.choice((lambda: f"{name} = [{v()}, {v()}, {v()}]",
                                         lambda: f"{name} = [{v()} * i for i in range({self.random.randint(2, 3)})]",
                                         lambda: f"{name} = [{v()} + k for k in (0.5, 1.5, 2.5) if k > 1]"))())
        elif kind == "T":
            self.put(f"{name} = ({v()}, {self.expression('s', scope, 1)})")
        else:
            self.put(f"{name} = {{'a': {v()}, 'b': {self.expression('s', scope, 1)}}}")
        scope.names[name] = kind

    def set_item(self, scope, data, depth):
        """On a value of its own: what else would have the same tensor sees the change in Python and not in a graph."""
        kind = self.random.choice(("v", "m"))
        name = self.fresh()
        self.put(f"{name} = {self.expression(kind, scope, 1)} * 1.0")
        index, value = (self.random.randint(-3, 2), "s") if kind == "v" else (self.random.randint(0, 1), "v")
        self.put(f"{name}[{index}] = {self.expression(value, scope, 1)}")
        scope.names[name] = kind

    def known_number(self, scope, data, depth):
        name = self.fresh("k")
        self.put(f"{name} = {self.known(scope)}")
        scope.names[name] = "K"

    def branch(self, scope, data, depth, in_loop, may_return):
        on_data = self.random.random() < 0.65
        inner = set(scope.names) if data is None and on_data else data
        test = lambda: self.condition(scope, 1) if on_data else self.known_condition(scope)
        self.put(f"if {test()}:")
        self.block(Scope(scope.names), inner, depth - 1, self.random.randint(1, 3), in_loop, may_return)
        if self.random.random() < 0.3:
            self.put(f"elif {test()}:")
            self.block(Scope(scope.names), inner, depth - 1, self.random.randint(1, 2), in_loop, may_return)
        if self.random.random() < 0.5:
            self.put("else:")
            self.block(Scope(scope.names), inner, depth - 1, self.random.randint(1, 2), in_loop, may_return)

    def loop(self, scope, data, depth, may_return):
        """What a loop body makes anew does not leave it: it may run no time at all."""
        inner, extra = Scope(scope.names), {}
        form = self.random.choice(("range", "range", "list", "enumerate", "zip", "known while", "while"))
        self.loops += 1
        if form == "range":
            i = self.fresh("k")
            self.put(f"for {i} in range({self.random.choice(('0', '1', '2', '3', '1, 4', '3, 0, -1', '0, 5, 2'))}):")
            extra = {i: "K"}
        elif form == "list" and scope.of("L"):
            w = self.fresh("w")
            self.put(f"for {w} in {self.random.choice(scope.of('L'))}:")
            extra = {w: "v"}
        elif form == "enumerate":
            i, w = self.fresh("k"), self.fresh("w")
            self.put(f"for {i}, {w} in enumerate(({self.expression('v', scope, 1)}, {self.expression('v', scope, 1)})):")
            extra = {i: "K", w: "v"}
        elif form == "zip":
            w, y = self.fresh("w"), self.fresh("w")
            self.put(f"for {w}, {y} in zip(({self.expression('v', scope, 0)}, {self.expression('v', scope, 0)}), "
                     f"({self.expression('s', scope, 0)}, {self.expression('s', scope, 0)})):")
            extra = {w: "v", y: "s"}
        elif form == "known while":
            i = self.fresh("c")
            self.put(f"{i} = 0")
            self.put(f"while {i} < {self.random.randint(0, 3)}:")
            self.indent += 1
            self.put(f"{i} = {i} + 1")
            self.indent -= 1
        else:  # on data: the count is a tensor that no other statement changes
            i = self.fresh("c")
            self.put(f"{i} = {self.expression('n', scope, 0)} * 0 + {self.random.randint(0, 2)}")
            self.put(f"while {i} < {self.random.randint(1, 4)}:" if self.random.random() < 0.6
                     else f"while {i} < 4 and {self.condition(scope, 0)}:")
            self.indent += 1
            self.put(f"{i} = {i} + 1")
            self.indent -= 1
            data = set(scope.names) if data is None else data
        inner.names.update(extra)
        # A loop may end or go on by data from here on: whatever the body assigns keeps its type.
        self.block(inner, set(inner.names) if data is None else data | set(extra), depth - 1, self.random.randint(1, 3), True, may_return)

    def function(self, scope):
        name, kinds = self.fresh("g"), [self.random.choice(("v", "s", "n")) for _ in range(self.random.randint(1, 2))]
        kind, names = self.random.choice(("v", "s", "n")), [f"p{i}" for i in range(len(kinds) - 1)] + ["last"]
        inner = Scope({**scope.names, **dict(zip(names, kinds))})
        for k in KINDS:
            if not inner.of(k):
                return
        if self.random.random() < 0.3:
            self.put(f"{name} = lambda {', '.join(names)}: {self.expression(kind, inner, 2)}")
        else:
            self.put(f"def {name}({', '.join(names)}):")
            keep, self.functions = self.functions, list(self.functions)
            self.indent += 1
            own = Scope(dict(zip(names, kinds)))
            local = self.fresh("h")
            self.put(f"{local} = {self.expression(kind, inner, 2)}")
            inner.names[local] = kind
            if self.random.random() < 0.4:
                self.put(f"if {self.condition(inner, 0)}:")
                self.indent += 1
                self.put(f"return {self.expression(kind, inner, 1)}")
                self.indent -= 1
            self.put(f"return {self.expression(kind, inner, 2)}")
            self.indent -= 1
            self.functions = keep
        self.functions.append((name, kinds, kind))

    def give_back(self, scope):
        values = [self.expression(k, scope, 1) for k in self.returns]
        self.put("return " + ", ".join(values) + ("," if len(values) == 1 else ""))

    def statement(self, scope, data, depth, in_loop, may_return):
        """TRUE where nothing may follow."""
        chance = self.random.random()
        if depth > 0 and chance < 0.2:
            self.branch(scope, data, depth, in_loop, may_return)
        elif depth > 0 and chance < 0.32 and self.loops < 4:
            self.loop(scope, data, depth, may_return)
        elif in_loop and chance < 0.38:
            self.put(f"if {self.condition(scope, 0) if self.random.random() < 0.6 else self.known_condition(scope)}:")
            self.indent += 1
            self.put(self.random.choice(("break", "continue")))
            self.indent -= 1
        elif may_return and self.indent > 1 and chance < 0.42:
            self.give_back(scope)
            return True
        else:
            self.random.choice((self.assign, self.assign, self.assign, self.augment, self.unpack, self.structure, self.set_item,
                                self.known_number))(scope, data, depth)
        return False

    def program(self):
        scope = Scope(zip(ARGUMENTS, KINDS))
        self.put("@maybe_jit")
        self.put(f"def f({', '.join(ARGUMENTS)}):")
        self.indent += 1
        for _ in range(self.random.randint(0, 2)):
            self.function(scope)
        self.indent -= 1
        self.block(scope, None, 3, self.random.randint(4, 9), False, True)
        self.indent += 1
        self.give_back(scope)
        return "\n".join(self.lines) + "\n"


def program(seed):
    return Generator(seed).program()


# Names, operators and literals that a program is spoilt with.
WORDS = ("v", "m", "s", "n", "b", "f", "ops", "None", "True", "[]", "()", "{}", "'x'", "3", "0", "2.5", "undefined", "ops.nothing", "lambda x: x",
         "print", "len", "range(3)", "[1, 2, 3]", "v.shape", "m[5]", "v[7]", "1 // 0", "yield v", "await v", "(x for x in v)", "{1, 2}", "f(v)",
         "global v", "del v", "pass", "break", "continue", "return", "return v", "raise ValueError('x')", "assert b", "import os", "try", "with v:",
         "@", "->", ":=", "**", "//", "is", "not in", "lambda", "*v", "**v", "f'{v}'", "v.no", "v()", "m.T()", "class A: pass", "async")


def spoil(text, seed):
    """@text with up to three pieces replaced, left out, doubled, or moved. What comes out may still be a program."""
    import io
    import tokenize
    r = random.Random(seed)
    head, *rest = text.split("\n")
    for _ in range(r.randint(1, 3)):
        line = r.randrange(1, max(len(rest), 2)) if len(rest) > 1 else 0
        try:
            tokens = [t for t in tokenize.generate_tokens(io.StringIO(rest[line].strip() + "\n").readline) if t.string.strip()]
        except (tokenize.TokenError, IndentationError, SyntaxError):
            continue
        if not tokens:
            continue
        body, token = rest[line].strip(), r.choice(tokens)
        begin, end = token.start[1], token.end[1]
        new = r.choice(("", body[begin:end] * 2, r.choice(WORDS), r.choice(WORDS), r.choice(WORDS)))
        blank = rest[line][:len(rest[line]) - len(rest[line].lstrip())]
        if r.random() < 0.15:
            rest.insert(line, blank + r.choice(WORDS))
        elif r.random() < 0.1:
            rest[line] = blank[4:] + body
        else:
            rest[line] = blank + body[:begin] + new + body[end:]
    return "\n".join([head] + rest)
