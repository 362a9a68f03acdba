# SPDX-License-Identifier: Apache-2.0
"""Random programs as graphs and as Python runs them, and spoilt ones. Run by `gantry-cli python run.py [OPTION...]`:

--seed N       of the run (GANTRY_TEST_SEED, else 1)
--first N      number of the first program (0)
--count N      how many programs (200); as many spoilt ones
--minutes M    begin none after so long
--findings DIR write failing programs there, made small
--tap          print test points instead of counts

A program passes where its results as a graph have the types, shapes and, within rounding, the values that CPython gives statement by
statement. A spoilt one passes where it gives something, or an exception that names a line of its file; a crash fails. The programs run
in children, some in each, so that a crash costs one program. The last line is `N passed, N failed, N skipped`."""
import argparse
import importlib.util
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import generate

BATCH = 20
SECONDS = 300
ENDLESS = 30  # after which a spoilt program is taken for one whose loop has lost its end, which is no fault
SHRINK_SECONDS = 60
SPOILT_SECONDS = 5  # a spoilt program may well have no end


# One program

HEAD = "import mindspore as ms\nfrom mindspore import Tensor, jit, ops\n"


def load(text, graph, folder):
    path = os.path.join(folder, "graph.py" if graph else "eager.py")
    with open(path, "w") as f:
        f.write(HEAD + ("maybe_jit = jit\n" if graph else "maybe_jit = lambda f: f\n") + text)
    spec = importlib.util.spec_from_file_location("graph" if graph else "eager", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f


def arguments(seed):
    import random
    import mindspore as ms
    r = random.Random(seed)
    numbers = lambda k: [round(r.uniform(-2, 2), 3) for _ in range(k)]
    return (ms.Tensor(numbers(3), ms.float32), ms.Tensor([numbers(3), numbers(3)], ms.float32), ms.Tensor(numbers(1)[0], ms.float32),
            ms.Tensor(r.randint(-2, 5), ms.int32), ms.Tensor(r.random() < 0.5, ms.bool_))


def close(a, b):
    if isinstance(a, float) and isinstance(b, float):
        if math.isnan(a) or math.isnan(b) or math.isinf(a) or math.isinf(b):
            return (math.isnan(a) and math.isnan(b)) or a == b
        return abs(a - b) <= 2e-4 * max(1, abs(a), abs(b))
    return a == b


def differs(graph, eager):
    """What is not alike, or None."""
    if type(graph).__name__ != type(eager).__name__:
        return f"{type(graph).__name__} instead of {type(eager).__name__}"
    if isinstance(graph, (tuple, list)):
        if len(graph) != len(eager):
            return f"{len(graph)} elements instead of {len(eager)}"
        return next((f"element {i}: {d}" for i, d in enumerate(map(differs, graph, eager)) if d), None)
    if hasattr(graph, "asnumpy"):
        if graph.dtype != eager.dtype or graph.shape != eager.shape:
            return f"{graph.dtype}{list(graph.shape)} instead of {eager.dtype}{list(eager.shape)}"
        a, b = graph.asnumpy().ravel().tolist(), eager.asnumpy().ravel().tolist()
        return next((f"{x} instead of {y} at {i}" for i, (x, y) in enumerate(zip(a, b)) if not close(x, y)), None)
    return None if close(graph, eager) else f"{graph!r} instead of {eager!r}"


def outcome(text, graph, seed, folder):
    """(results, None) or (None, exception)"""
    try:
        return load(text, graph, folder)(*arguments(seed)), None
    except Exception as e:
        return None, e


def check_valid(text, seed, folder):
    eager, error = outcome(text, False, seed, folder)
    if error is not None:
        return "" if isinstance(error, (ZeroDivisionError, RecursionError)) else f"Python: {type(error).__name__}: {error}"
    graph, error = outcome(text, True, seed, folder)
    if error is not None:
        return f"graph: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    return differs(graph, eager)


def check_spoilt(text, seed, folder):
    """An exception names a line: in its traceback, or as a SyntaxError does."""
    def late(*_):
        raise TimeoutError

    signal.signal(signal.SIGALRM, late)
    signal.alarm(SPOILT_SECONDS)
    try:
        _, error = outcome(text, True, seed, folder)
    except TimeoutError:
        return None
    finally:
        signal.alarm(0)
    if error is None or isinstance(error, TimeoutError) or isinstance(error, SyntaxError):
        return None
    last = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == os.path.join(folder, "graph.py")]
    if last:
        return None
    return f"no line: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"


def text_of(seed, number, spoilt):
    text = generate.program(f"{seed}/{number}")
    return generate.spoil(text, f"{seed}/{number}") if spoilt else text


# The child: says which program it is at, so that a crash has a name

def child(seed, first, count):
    with tempfile.TemporaryDirectory() as folder:
        for number in range(first, first + count):
            for spoilt in (False, True):
                print("at", number, int(spoilt), flush=True)
                check = check_spoilt if spoilt else check_valid
                wrong = check(text_of(seed, number, spoilt), f"{seed}/{number}", folder)
                if wrong is not None:
                    print("wrong", number, int(spoilt), repr(wrong), flush=True)


def check_file(path, seed, spoilt):
    with tempfile.TemporaryDirectory() as folder, open(path) as f:
        wrong = (check_spoilt if spoilt else check_valid)(f.read(), seed, folder)
        print("wrong", 0, int(spoilt), repr(wrong) if wrong is not None else "")


# The parent

def command(arguments):
    cli = os.environ.get("GANTRY_CLI", "gantry-cli")
    return [cli, "python", "--parent", str(os.getpid()), os.path.abspath(__file__), *map(str, arguments)]


def start(*arguments, seconds=SECONDS):
    try:
        done = subprocess.run(command(arguments), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=seconds, text=True, errors="replace")
        return done.stdout, done.returncode
    except subprocess.TimeoutExpired as e:
        out = e.stdout or b""
        return out.decode(errors="replace") if isinstance(out, bytes) else out, "timeout"


def watch(*arguments):
    """As start(), but a child that says nothing while it runs a spoilt program is ended earlier: "endless"."""
    with tempfile.NamedTemporaryFile() as out, open(out.name, errors="replace") as reading:
        child = subprocess.Popen(command(arguments), stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
        begin, status, text = time.monotonic(), None, ""
        while status is None:
            try:
                status = child.wait(0.2)
            except subprocess.TimeoutExpired:
                reading.seek(0)
                said = reading.read()
                if said != text:
                    begin, text = time.monotonic(), said
                lines = said.splitlines()
                spoilt = bool(lines) and lines[-1].startswith("at ") and lines[-1].endswith(" 1")
                if time.monotonic() - begin > (ENDLESS if spoilt else SECONDS):
                    child.kill()
                    child.wait()
                    status = "endless" if spoilt else "timeout"
        reading.seek(0)
        return reading.read(), status


def run_batch(seed, first, count):
    """Yields (number, spoilt, what is wrong) of the programs first .. first + count - 1."""
    end = first + count
    while first < end:
        out, status = watch("--child", "--seed", seed, "--first", first, "--count", end - first)
        at, wrong = None, {}
        for line in out.splitlines():
            words = line.split(" ", 3)
            if words[0] == "at" and len(words) == 3:
                at = (int(words[1]), int(words[2]))
            elif words[0] == "wrong" and len(words) == 4:
                wrong[int(words[1]), int(words[2])] = words[3]
        last = end - 1
        if status != 0:
            if at is None:
                raise SystemExit(f"the child ended with {status}:\n{out[-2000:]}")
            if status != "endless":
                wrong[at] = f"took more than {SECONDS} s" if status == "timeout" else f"ended by {status}: {out.splitlines()[-1][:200]}"
            last = at[0]
        for number in range(first, last + 1):
            for spoilt in (0, 1):
                yield number, spoilt, wrong.get((number, spoilt))
        first = last + 1


def kind_of(wrong):
    return None if not wrong else wrong.split(":")[0] + wrong[:20]


def shrink(text, seed, spoilt, folder, deadline):
    """Leaves out lines with what is indented below them, while it stays wrong in the same way. A loop whose step was left out has no
    end: what takes longer than the whole program by far is not a smaller one."""
    path = os.path.join(folder, "small.py")

    def verdict(lines):
        with open(path, "w") as f:
            f.write("\n".join(lines) + "\n")
        left = deadline - time.monotonic()
        seconds = left if slowest is None else min(left, 5 + 4 * slowest)
        if seconds <= 0:
            return None
        out, status = start("--file", path, "--seed", seed, *(("--spoilt",) if spoilt else ()), seconds=seconds)
        if status == "timeout":
            return None
        found = [l.split(" ", 3)[3] for l in out.splitlines() if l.startswith("wrong ")]
        return kind_of(f"ended {status}" if status != 0 else found[-1] if found else "")

    lines, slowest, begin = text.rstrip("\n").split("\n"), None, time.monotonic()
    want, i = verdict(lines), len(lines) - 1
    slowest = time.monotonic() - begin
    while want is not None and i > 1 and time.monotonic() < deadline:
        depth, end = len(lines[i]) - len(lines[i].lstrip()), i + 1
        while end < len(lines) and len(lines[end]) - len(lines[end].lstrip()) > depth:
            end += 1
        fewer = lines[:i] + lines[end:]
        raised = lines[:i] + [l[4:] for l in lines[i + 1:end]] + lines[end:]
        if verdict(fewer) == want:
            lines = fewer
        elif end > i + 1 and verdict(raised) == want:
            lines = raised
        i = min(i, len(lines)) - 1
    return "\n".join(lines) + "\n"


def keep(options, number, spoilt, wrong):
    if options.findings is None:
        return
    os.makedirs(options.findings, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        text = text_of(options.seed, number, spoilt)
        small = shrink(text, f"{options.seed}/{number}", spoilt, folder, time.monotonic() + SHRINK_SECONDS)
    path = os.path.join(options.findings, f"python-{options.seed}-{number}{'-spoilt' if spoilt else ''}.py")
    with open(path, "w") as f:
        f.write(f"# {wrong}\n{small}")
    print(f"# {path}: {small.count(chr(10))} lines of {text.count(chr(10))}")


def parent(options):
    passed, failed, end = 0, 0, time.monotonic() + options.minutes * 60 if options.minutes else None
    print(f"# seed {options.seed}", flush=True)
    first, last = options.first, options.first + options.count
    while first < last and (end is None or time.monotonic() < end):
        for number, spoilt, wrong in run_batch(options.seed, first, min(BATCH, last - first)):
            what = f"{'spoilt ' if spoilt else ''}program {number} of seed {options.seed}"
            if wrong is None:
                passed += 1
            else:
                failed += 1
                print(f"# FAILED: {what}: {wrong}", flush=True)
                keep(options, number, spoilt, wrong)
        first += BATCH
    if options.tap:
        print(f"1..1\n{'not ok' if failed else 'ok'} 1 - {passed} of {passed + failed} programs agree")
    else:
        print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(1 if failed else 0)


def main():
    parser = argparse.ArgumentParser(description="Random programs as graphs and as Python runs them")
    parser.add_argument("--seed", default=os.environ.get("GANTRY_TEST_SEED", "1"))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--findings")
    parser.add_argument("--tap", action="store_true")
    parser.add_argument("--soak", action="store_true", help="no limit of count")
    parser.add_argument("--print", action="store_true", help="print the programs instead of running them")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--file", help=argparse.SUPPRESS)
    parser.add_argument("--spoilt", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.soak:
        options.count = 1 << 40
    if options.print:
        for number in range(options.first, options.first + options.count):
            print(f"# {number}\n{text_of(options.seed, number, options.spoilt)}")
    elif options.child:
        child(options.seed, options.first, options.count)
    elif options.file:
        check_file(options.file, options.seed, options.spoilt)
    else:
        parent(options)


main()
