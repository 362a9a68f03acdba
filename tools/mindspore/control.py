# SPDX-License-Identifier: Apache-2.0
"""Loops, branches, breaks, continues and returns that data decides about, nested in each other."""
import numpy as np
import mindspore as ms
from mindspore import Tensor, context, jit
from mindspore import ops, nn, Parameter, mutable
context.set_context(mode=context.GRAPH_MODE)

DIFFERS = {
    "w25": "the last value is known where the loop is unrolled",
    "w30": "a function that data chooses is refused", "w41": "MindSpore fails when it runs",
}


def run(f, *args):
    return jit(f)(*args)


def T(v, d=ms.float32):
    return Tensor(v, d)


def I(v):
    return Tensor(v, ms.int32)


def w1(x, n):
    while n < 10:
        n = n + 1
        if n == 4:
            continue
        if n > 7:
            break
        x = x + n
    return x, n


def case_w1():
    return run(w1, T(1.0), I(0))


def case_w1b():
    return run(w1, T(1.0), I(8))


def w2(x, n):
    c = 1
    while c < 5:
        if n == 4 and c == 1:
            n = n - 1
        else:
            x = x + c
        c = c + 1
    return x


def case_w2():
    return run(w2, T(1.0), I(4))


def w3(x, n):
    c = 0
    while x < 20:
        if n == 4 and c == 1:
            x = x + 7
        elif n == 4 or c == 2:
            x = x + 2
        x = x + 1
        c = c + 1
    return x, c


def case_w3():
    return run(w3, T(1.0), I(4))


def w4(x, n):
    for i in range(4):
        if n == 4 and i == 1:
            break
        if n > 2 or i == 3:
            continue
        x = x * 2 + i
    return x


def case_w4():
    return run(w4, T(1.0), I(4))


def case_w4b():
    return run(w4, T(1.0), I(1))


def w5(x, n):
    for i in range(3):
        for j in range(3):
            if x > 10:
                break
            if j == n:
                continue
            x = x + i * j + 1
        x = x + 0.5
    return x


def case_w5():
    return run(w5, T(1.0), I(1))


def w6(x, n):
    i = 0
    while i < 3:
        j = 0
        while j < 3:
            j = j + 1
            if x > 8:
                return x + 100
            if j == n:
                continue
            x = x + j
        i = i + 1
    return x


def case_w6():
    return run(w6, T(1.0), I(1))


def case_w6b():
    return run(w6, T(-50.0), I(1))


def w7(x):
    if x > 0:
        while x < 10:
            x = x * 2
            if x > 6:
                if x < 9:
                    return x - 1
                break
        x = x + 0.25
    else:
        for i in range(3):
            x = x - i
            if x < -3:
                return x * 10
    return x


def case_w7():
    return [run(w7, T(v)) for v in (1.0, 3.0, 5.0, -1.0, -0.1)]


def w8(x, y):
    out = x
    while y > 0:
        z = y
        while z > 0:
            if z == 2:
                z = z - 1
                continue
            out = out + z
            z = z - 1
        if out > 15:
            break
        y = y - 1
    return out, y


def case_w8():
    return run(w8, T(1.0), I(4))


def w9(x, n):
    s = x
    for i in range(5):
        if i == n:
            return s * 100
        s = s + i
    return s


def case_w9():
    return [run(w9, T(1.0), I(k)) for k in (0, 3, 7)]


def w10(x, k):
    a = 0
    b = 1
    while a < k:
        a, b = b, a + b
    return x + a, b


def case_w10():
    return run(w10, T(1.0), I(20))


def w11(x, n):
    l = [x, x + 1]
    for i in range(3):
        if n > i:
            l = [l[0] + 1, l[1] * 2]
        else:
            l = [l[0] - 1, l[1]]
    return l


def case_w11():
    return run(w11, T(1.0), I(2))


def w12(x, n):
    d = {"a": x, "b": x * 2}
    while n > 0:
        d["a"] = d["a"] + d["b"]
        n = n - 1
    return d["a"], d["b"]


def case_w12():
    return run(w12, T(1.0), I(3))


def w13(x):
    y = x
    for i in range(4):
        if i % 2 == 0:
            y = y + i
        else:
            if y > 3:
                y = y * 2
            elif y > 2:
                y = y - 1
            else:
                pass
    return y


def case_w13():
    return [run(w13, T(v)) for v in (0.0, 1.0, 2.0)]


def w14(x, n):
    while True:
        x = x + 1
        if x > n:
            break
    return x


def case_w14():
    return run(w14, T(1.0), T(4.5))


def w15(x, n):
    while True:
        n = n - 1
        if n < 0:
            return x
        if n == 2:
            continue
        x = x * 2


def case_w15():
    return run(w15, T(1.0), I(4))


def w16(x):
    for t in (x, x * 2, x * 3):
        if t.sum() > 5:
            return t
    return -x


def case_w16():
    return [run(w16, T([v, v])) for v in (0.5, 1.0, 2.0, 3.0)]


def w17(x, n):
    flag = False
    i = 0
    while i < 6:
        if flag:
            x = x + 10
        if i == n:
            flag = True
        i += 1
    return x


def case_w17():
    return run(w17, T(1.0), I(3))


def w18(x, n):
    r = x
    if n == 1:
        return r
    elif n == 2:
        r = r + 1
    elif n == 3:
        return r * 3
    else:
        r = r - 1
        if r < 0:
            return r * 100
    return r


def case_w18():
    return [run(w18, T(v), I(k)) for v, k in ((1.0, 1), (1.0, 2), (1.0, 3), (1.0, 4), (0.0, 4))]


def w19(x, n):
    out = x
    while n > 0:
        if n % 2 == 0:
            for j in range(2):
                if out > 4:
                    out = out - 1
                    break
                out = out + j + 1
        else:
            k = 0
            while k < n:
                k = k + 1
                if k == 2:
                    continue
                out = out + 0.5
        n = n - 1
    return out


def case_w19():
    return run(w19, T(1.0), I(5))


def w20(x, idx):
    for i in range(x.shape[0]):
        if idx[i] > 0:
            x[i] = x[i] * 2
    return x


def case_w20():
    return run(w20, T([1.0, 2, 3]), I([0, 1, 2]))


def w21(x, n):
    i = 0
    acc = ()
    while i < 3:
        acc = acc + (x * i,)
        i += 1
    if n > 0:
        return acc[0] + acc[2]
    return acc[1]


def case_w21():
    return [run(w21, T(2.0), I(v)) for v in (0, 1)]


def w22(x, n):
    x = x if n > 2 else x + 1
    y = 1 if x > 1 else 2
    return x * y


def case_w22():
    return [run(w22, T(1.0), I(v)) for v in (1, 3)]


def w23(x, n):
    c = 3
    while c:
        c -= 1
        x = x + c
        if n:
            break
    return x


def case_w23():
    return [run(w23, T(1.0), I(v)) for v in (0, 1)]


def w24(x, n):
    i = 0
    while i < n:
        if i > 2:
            x = x + 1
            if x > 5:
                break
            else:
                i = i + 2
                continue
        i = i + 1
    return x, i


def case_w24():
    return [run(w24, T(v), I(9)) for v in (0.0, 3.0, 9.0)]


def w25(x, n):
    for i in range(3):
        y = x * i
        if n == i:
            y = y + 100
            break
    return y


def case_w25():
    return [run(w25, T(2.0), I(v)) for v in (0, 1, 5)]


def w26(x, n):
    while n > 0:
        y = x * n
        n = n - 1
    return y


def case_w26():
    return run(w26, T(2.0), I(3))


def w27(x, y):
    while x < y:
        x = x + 1
        if x == 3:
            break
    else:
        x = x + 100
    return x


def case_w27():
    return run(w27, T(1.0), T(5.0))


def w28(x, y):
    for i in range(3):
        x = x + y
    else:
        x = x + 100
    return x


def case_w28():
    return run(w28, T(1.0), T(5.0))


def w29(x):
    def inner(v):
        if v > 2:
            return v * 2
        return v
    out = x
    while out < 10:
        out = inner(out) + 1
    return out


def case_w29():
    return run(w29, T(1.0))


def w30(x, n):
    if n > 0:
        f = lambda v: v + 1
    else:
        f = lambda v: v - 1
    return f(x)


def case_w30():
    return [run(w30, T(1.0), I(v)) for v in (0, 1)]


def w31(x, n):
    out = x
    for i in range(n):
        out = out + i
    return out


def case_w31():
    return run(w31, T(1.0), 4)


def case_w31b():
    return run(w31, T(1.0), mutable(4))


def w32(x, a, b):
    if a and not b:
        return x + 1
    if a or b:
        return x + 2
    return x + 3


def case_w32():
    return [run(w32, T(1.0), Tensor(p), Tensor(q)) for p in (True, False) for q in (True, False)]


def w33(x, n):
    if 1 < n <= 3:
        return x
    return -x


def case_w33():
    return [run(w33, T(1.0), I(v)) for v in (1, 2, 3, 4)]


def w34(x):
    i = 0
    while i < 3 and x < 5:
        x = x + 2
        i = i + 1
    return x, i


def case_w34():
    return [run(w34, T(v)) for v in (0.0, 4.0, 9.0)]


def w35(x, n):
    s = 0
    for i in range(10):
        if i % 2:
            continue
        if i > n:
            break
        s += i
    return x + s


def case_w35():
    return [run(w35, T(0.0), I(v)) for v in (-1, 3, 20)]


def w36(x):
    k = 0
    for v in x:
        if v > 2:
            k = k + 1
        elif v < 0:
            break
    return k


def case_w36():
    return run(w36, T([1.0, 3, 4, -1, 5]))


def w37(x, n):
    l = []
    for i in range(4):
        if i == 2:
            continue
        l.append(x + i)
    return ops.stack(l).sum() + n


def case_w37():
    return run(w37, T(1.0), I(1))


def w38(x, n):
    i = 0
    while i < 3:
        if n > 1:
            if i == 1:
                i = i + 1
                continue
            x = x + 1
        else:
            if i == 2:
                break
            x = x - 1
        i = i + 1
    return x, i


def case_w38():
    return [run(w38, T(1.0), I(v)) for v in (1, 2)]


def w39(x, n):
    while n < 5:
        n += 1
        try_again = n < 3
        if try_again:
            continue
        x += n
    return x


def case_w39():
    return run(w39, T(1.0), I(0))


def w40(x, n):
    t = (x, n)
    while t[1] > 0:
        t = (t[0] * 2, t[1] - 1)
    return t


def case_w40():
    return run(w40, T(1.0), I(3))


def w41(x, n):
    r = None
    if n > 0:
        r = x
    if r is None:
        return x - 1
    return r


def case_w41():
    return run(w41, T(1.0), I(1))


def w42(x):
    if x > 0:
        y = 1
    else:
        y = 2.0
    return y


def case_w42():
    return run(w42, T(1.0))


def w43(x):
    if x > 0:
        y = 1
    else:
        y = 2
    return y


def case_w43():
    return run(w43, T(1.0))


def w44(x, n):
    if n > 0:
        raise ValueError(f"n is {n}")
    return x


def case_w44():
    return run(w44, T(1.0), I(0))


def case_w44b():
    return run(w44, T(1.0), I(5))


def w45(x):
    assert x.shape[0] == 3, "shape"
    return x


def case_w45():
    return run(w45, T([1.0, 2, 3]))


def case_w45b():
    return run(w45, T([1.0, 2]))
