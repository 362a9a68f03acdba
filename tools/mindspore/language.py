# SPDX-License-Identifier: Apache-2.0
"""Statements, expressions, types, builtins, gradients: what each case gives is compared."""
import numpy as np
import mindspore as ms
from mindspore import Tensor, Parameter, ops, nn, jit, context, mutable
import mindspore.ops.functional as F
import mindspore.ops.operations as P
context.set_context(mode=context.GRAPH_MODE)

DIFFERS = {
    "join_error": "a shape that depends on data is refused",
    "tensor_methods": "its any() of floats looks at the first alone",
    "numbers": "MindSpore's 2 ** -1 is 0", "numpy_host": "float64 by the document, where no annotation says otherwise",
    "call_noncallable": "the exception of Python", "matmul_shape": "the exception of MatMul, for all products",
}

def case_while_tensor():
    class Net(nn.Cell):
        def construct(self, x, y):
            while x < y:
                x = x + 1
            return x
    return Net()(Tensor(1), Tensor(5))

def case_for_range_break():
    @jit
    def f(x):
        for i in range(10):
            if i == 3:
                break
            x = x + i
        return x
    return f(Tensor(1.0))

def case_for_continue_tensor():
    @jit
    def f(x, y):
        for i in range(5):
            if x > y:
                continue
            x = x * 2
        return x
    return f(Tensor(1), Tensor(7))

def case_nested_while():
    @jit
    def f(x):
        i = Tensor(0)
        while i < 3:
            j = Tensor(0)
            while j < 2:
                x = x + i * j
                j += 1
            i += 1
        return x
    return f(Tensor(0))

def case_return_in_loop():
    @jit
    def f(x):
        while x < 100:
            x = x * 3
            if x > 20:
                return x
        return x + 1
    return f(Tensor(1)), f(Tensor(200))

def case_if_elif():
    @jit
    def f(x):
        if x > 2:
            return x * 10
        elif x == 1:
            return x - 5
        else:
            return x
    return f(Tensor(1)), f(Tensor(2)), f(Tensor(3))

def case_join_error():
    @jit
    def f(x):
        if x > 1:
            y = Tensor([1.0, 2.0])
        else:
            y = Tensor([1.0])
        return y
    return f(Tensor(1))

def case_undefined_branch():
    @jit
    def f(x):
        if x > 1:
            y = x
        return y
    return f(Tensor(1))

def case_join_dtype():
    @jit
    def f(x):
        if x > 1:
            return Tensor(1.0, ms.float32)
        return Tensor(1, ms.int32)
    return f(Tensor(1))

def case_tuple_join():
    @jit
    def f(x, y):
        if x > y:
            z = (x, y)
        else:
            z = (y, x)
        return z
    return f(Tensor(1), Tensor(2))

def case_closure():
    @jit
    def f(x):
        def g(y):
            return x + y
        return g(3)
    return f(Tensor([1, 2]))

def case_lambda_map():
    @jit
    def f(x):
        g = lambda a, b: a * b
        return tuple(map(lambda v: v + 1, (1, 2, x))), g(x, 2)
    return f(Tensor([1]))

def case_kwargs():
    @jit
    def f(x, *args, **kwargs):
        return x + args[0] + kwargs["k"]
    return f(Tensor(1), Tensor(2), k=Tensor(5))

def case_star_call():
    def g(a, b, c=4):
        return a + b * c
    @jit
    def f(x):
        t = (x, 2)
        d = {"c": 7}
        return g(*t), g(*t, **d)
    return f(Tensor(1))

def case_recursion():
    def fact(n):
        if n <= 1:
            return 1
        return n * fact(n - 1)
    @jit
    def f(x):
        return x * fact(5)
    return f(Tensor(1))

def case_fib_tensor():
    def fib(n):
        if n < 2:
            return n
        return fib(n - 1) + fib(n - 2)
    @jit
    def f(n):
        return fib(n)
    return f(Tensor(7))

def case_list_comp():
    @jit
    def f(x):
        a = [i * x for i in range(4) if i % 2 == 0]
        b = {k: v for k, v in (("a", 1), ("b", x))}
        return a, b["b"], [e for e in a]
    return f(Tensor(3))

def case_slice():
    @jit
    def f(x):
        return x[0], x[1:3], x[..., 0], x[:, None].shape, x[-1], x[::2]
    return f(Tensor(np.arange(12).reshape(4, 3)))

def case_setitem():
    @jit
    def f(x):
        x[0] = 5
        x[1:, 1] = x[1:, 0] * 2
        x[2] = Tensor([7, 8, 9])
        return x
    return f(Tensor(np.arange(9).reshape(3, 3)))

def case_index_tensor():
    @jit
    def f(x, i):
        return x[i], x[i, 1], x[x > 4]
    return f(Tensor(np.arange(9).reshape(3, 3)), Tensor([0, 2]))

def case_bool_mask_assign():
    @jit
    def f(x):
        x[x > 3] = 0
        return x
    return f(Tensor(np.arange(6).reshape(2, 3)))

def case_aug():
    @jit
    def f(x):
        x += 1
        x *= 2
        x -= 3
        x /= 2
        x **= 2
        return x
    return f(Tensor([1.0, 2.0]))

def case_numbers():
    @jit
    def f():
        return 7 // 2, -7 // 2, 7 % -3, 2 ** 10, 2 ** -1, 7 / 2, 1 << 4, 255 >> 3, 6 & 3, 6 | 3, 6 ^ 3, -5, not 0
    return f()

def case_number_tensor_ops():
    @jit
    def f(x):
        return x + 1.5, 2 - x, x / 2, x // 2, x % 3, 3 ** x, x * True
    return f(Tensor([1, 2, 5]))

def case_compare_chain():
    @jit
    def f(x):
        return 0 < x < 3, x == 2, x != 2, x is None, x is not None
    return f(Tensor(2))

def case_in():
    @jit
    def f(x):
        return 1 in (1, 2), 3 not in [1, 2], "a" in {"a": 1}, "b" in "abc", x in [Tensor(1), Tensor(2)]
    return f(Tensor(1))

def case_and_or():
    @jit
    def f(x, y):
        a = x and y
        b = x or y
        c = (1 and 2, 0 or "s", None or [1], not x)
        return a, b, c
    return f(Tensor(3), Tensor(0))

def case_ifexp():
    @jit
    def f(x, y):
        return x if x > y else y
    return f(Tensor(3), Tensor(5))

def case_assert_ok():
    @jit
    def f(x):
        assert x.shape == (2,), "bad"
        return x
    return f(Tensor([1, 2]))

def case_assert_bad():
    @jit
    def f(x):
        assert len(x) == 3, "wrong length"
        return x
    return f(Tensor([1, 2]))

def case_raise():
    @jit
    def f(x):
        raise ValueError("no good", 3)
    return f(1)

def case_raise_fstring():
    @jit
    def f(x):
        if x > 1:
            raise ValueError(f"The value is {x}")
        return x
    return f(5)

def case_raise_var():
    @jit
    def f(x):
        if x > 1:
            raise RuntimeError("big")
        return x + 1
    a = f(Tensor(0))
    f(Tensor(5))

def case_dict():
    @jit
    def f(x):
        d = {"a": x, "b": 2}
        d["c"] = 5
        s = 0
        for k in d:
            s = s + d[k]
        for k, v in d.items():
            s = s + v
        return s, tuple(d.keys()), len(d)
    return f(Tensor(1))

def case_dict_missing():
    @jit
    def f():
        d = {"a": 1}
        return d["b"]
    return f()

def case_list_index_error():
    @jit
    def f():
        return [1, 2][5]
    return f()

def case_zip_enum():
    @jit
    def f(x):
        s = x
        for i, (a, b) in enumerate(zip((1, 2, 3), (4, 5, 6))):
            s = s + i * a * b
        return s
    return f(Tensor(0))

def case_builtins():
    @jit
    def f(x):
        return (max(1, 5, 3), min([4, 2]), sum((1, 2, 3)), abs(-3), round(2.567, 1), len((1, 2)), pow(2, 3), all([1, 0]), any((0, 1)),
                isinstance(x, Tensor), isinstance(3, (int, float)), type(3) == int, hasattr(x, "shape"), getattr(x, "ndim"))
    return f(Tensor([1]))

def case_max_tensor():
    @jit
    def f(x, y):
        return max(x, y), min(x, y), max(Tensor([1, 5, 2])), sum(Tensor([[1, 2], [3, 4]]))
    return f(Tensor(3), Tensor(5))

def case_tensor_iter():
    @jit
    def f(x):
        s = 0
        for v in x:
            s = s + v * 2
        return s
    return f(Tensor([1, 2, 3]))

def case_cell_list():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.layers = nn.CellList([nn.ReLU(), nn.Sigmoid()])
            self.seq = nn.SequentialCell(nn.ReLU(), nn.Tanh())
        def construct(self, x):
            for l in self.layers:
                x = l(x)
            return self.seq(x), self.layers[0](x), len(self.layers)
    return Net()(Tensor([1.0, -1.0]))

def case_param_assign():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor([1.0, 2.0]), name="w")
            self.assign = P.Assign()
        def construct(self, x):
            self.w = self.w + x
            F.assign_add(self.w, x)
            self.assign(self.w, self.w * 2)
            return self.w
    n = Net()
    r = n(Tensor([1.0, 1.0]))
    return r, n.w.asnumpy()

def case_mutable():
    @jit
    def f(x, y):
        return x[0] + y
    return f(mutable([1, 2]), mutable(3)), f(mutable((2.5, 1.0)), 1)

def case_isconstant():
    @jit
    def f(x, y):
        return F.isconstant(x), F.isconstant(y), F.isconstant(x + 1), F.isconstant(y + 1)
    return f(Tensor(1), 2)

def case_global():
    @jit
    def f(x):
        return x + GLOB
    return f(Tensor(1))
GLOB = 10

def case_default_none():
    class Net(nn.Cell):
        def construct(self, x, mask=None):
            if mask is not None:
                x = x * mask
            return x
    return Net()(Tensor([1, 2])), Net()(Tensor([1, 2]), Tensor([0, 1]))

def case_jit_class():
    @ms.jit_class
    class A:
        def __init__(self, v):
            self.v = v
        def mul(self, x):
            return x * self.v
        def __call__(self, x):
            return x + self.v
    @jit
    def f(x):
        a = A(3)
        return a.mul(x), a(x), a.v
    return f(Tensor(2))

def case_inherit():
    class Base(nn.Cell):
        def __init__(self):
            super().__init__()
            self.k = 2
        def helper(self, x):
            return x * self.k
        def construct(self, x):
            return self.helper(x)
    class Sub(Base):
        def helper(self, x):
            return super().helper(x) + 1
    return Sub()(Tensor(5))

def case_string():
    @jit
    def f():
        s = "abc"
        return s + "d", s * 2, s[1], s[::-1], len(s), "%d-%s" % (3, "x"), "{}:{:.2f}".format("a", 1.234), f"{s}!", s.upper()
    return f()

def case_with():
    class C:
        def __enter__(self):
            return 1
        def __exit__(self, a, b, c):
            pass
    ctx = ms.jit_class(C)
    obj = ctx()
    @jit
    def f(x):
        with obj as v:
            x = x + v
        return x
    return f(Tensor(1))

def case_hypermap():
    add = ops.MultitypeFuncGraph("add")
    @add.register("Number", "Number")
    def _a(x, y):
        return x + y
    @add.register("Tensor", "Tensor")
    def _b(x, y):
        return x * y
    h = ops.HyperMap()
    @jit
    def f(a, b):
        return h(add, a, b)
    return f(((Tensor(1), Tensor(2)), 3), ((Tensor(5), Tensor(6)), 4))

def case_constexpr():
    @ops.constexpr
    def half(n):
        return n // 2
    @jit
    def f(x):
        return x.reshape((half(6), 2))
    return f(Tensor(np.arange(6)))

def case_partial():
    def g(a, b):
        return a - b
    @jit
    def f(x):
        h = ops.partial(g, x)
        return h(1)
    return f(Tensor(5))

def case_grad():
    def g(x, y):
        return x * x * y
    return ops.grad(g, (0, 1))(Tensor(3.0), Tensor(2.0)), ms.value_and_grad(g)(Tensor(3.0), Tensor(2.0))

def case_grad_while():
    class Net(nn.Cell):
        def construct(self, x, y):
            i = Tensor(0)
            while i < 3:
                x = x * y
                i += 1
            return x
    return ops.grad(Net(), (0, 1))(Tensor(2.0), Tensor(3.0))

def case_grad_if():
    @jit
    def g(x):
        if x > 1:
            return x * x
        return x * 3
    return ops.grad(g)(Tensor(2.0)), ops.grad(g)(Tensor(0.5))

def case_grad_params():
    net = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
    gfn = ops.GradOperation(get_by_list=True)
    class G(nn.Cell):
        def __init__(self, n):
            super().__init__()
            self.n = n
            self.p = ms.ParameterTuple(n.trainable_params())
        def construct(self, x):
            return gfn(self.n, self.p)(x)
    return G(net)(Tensor([[1.0, 2.0]]))

def case_bprop():
    class Net(nn.Cell):
        def construct(self, x, y):
            return x * y
        def bprop(self, x, y, out, dout):
            return x + 10, y + 20
    return ops.grad(Net(), (0, 1))(Tensor(1.0), Tensor(2.0))

def case_stop_gradient():
    def g(x):
        return ops.stop_gradient(x) * x
    return ops.grad(g)(Tensor(3.0))

def case_grad_sens():
    g = ops.GradOperation(get_all=True, sens_param=True)
    class Net(nn.Cell):
        def construct(self, x, y):
            return x * y
    return g(Net())(Tensor([1.0, 2.0]), Tensor([3.0, 4.0]), Tensor([0.1, 1.0]))

def case_second_grad():
    def g(x):
        return x ** 3
    return ops.grad(ops.grad(g))(Tensor(2.0))

def case_jvp_vjp():
    def g(x):
        return ops.sin(x)
    o, v = ms.jvp(g, Tensor(1.0), Tensor(1.0))
    o2, fn = ms.vjp(g, Tensor(1.0))
    return o, v, o2, fn(Tensor(1.0))

def case_shape_type():
    @jit
    def f(x):
        return x.shape, x.dtype, x.ndim, x.size, x.shape[0] * 2, F.shape(x), F.rank(x), F.dtype(x)
    return f(Tensor(np.ones((2, 3), np.float32)))

def case_class_attr_tuple():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.cells = [nn.ReLU(), nn.Tanh()]
            self.names = ("a", "b")
            self.d = {"k": 3}
        def construct(self, x):
            for i in range(len(self.names)):
                x = x + self.d["k"]
            return x
    return Net()(Tensor(1))

def case_type_error_add():
    @jit
    def f():
        return (1, 2) + [3]
    return f()

def case_str_plus_int():
    @jit
    def f():
        return "a" + 1
    return f()

def case_call_noncallable():
    @jit
    def f(x):
        a = 3
        return a(x)
    return f(1)

def case_wrong_args():
    def g(a, b):
        return a
    @jit
    def f(x):
        return g(x)
    return f(1)

def case_name_error():
    @jit
    def f(x):
        return x + undefined_name
    return f(1)

def case_matmul_shape():
    @jit
    def f(x, y):
        return ops.matmul(x, y)
    return f(Tensor(np.ones((2, 3), np.float32)), Tensor(np.ones((2, 3), np.float32)))

def case_broadcast_error():
    @jit
    def f(x, y):
        return x + y
    return f(Tensor([1, 2, 3]), Tensor([1, 2]))

def case_print():
    @jit
    def f(x):
        print("x is", x, 3, (1, "a"))
        return x
    return f(Tensor([1, 2]))

def case_list_methods():
    @jit
    def f(x):
        l = [1, x]
        l.append(3)
        l.insert(0, "s")
        l.extend([4, 5])
        l.reverse()
        y = l.pop()
        l[0] = 9
        c = l.count(9)
        return l, y, len(l), l[1:], c
    return f(Tensor(2))

def case_tuple_ops():
    @jit
    def f(x):
        t = (1, 2, x)
        a, *b = t
        return t + (4,), t * 2, t[::-1], a, b, t == (1, 2, 3), (1, 2) < (1, 3)
    return f(Tensor(3))

def case_numpy_host():
    @jit
    def f(x):
        a = np.array([1, 2, 3])
        b = x.asnumpy() + a
        return Tensor(b), a.shape
    return f(Tensor([1, 2, 3]))

def case_scalar_cast():
    @jit
    def f(x):
        return int(x), float(x), bool(x), int(3.7), float("2.5"), str(3), bool("")
    return f(Tensor(2.5))

def case_tensor_methods():
    @jit
    def f(x):
        return (x.sum(), x.mean(axis=0), x.max(), x.argmax(axis=1), x.reshape(-1), x.transpose(), x.view(3, 2), x.astype(ms.int32), x.T.shape,
                x.squeeze().shape, x.expand_dims(0).shape, x.flatten().shape, x.abs(), x.any(), x.all(), x.std(), x.var(), x.clip(1, 3), x.cumsum(0),
                x.min(axis=1, keepdims=True), x.swapaxes(0, 1).shape, x.prod(), x.ptp())
    return f(Tensor(np.arange(6).reshape(2, 3).astype(np.float32)))
