# SPDX-License-Identifier: Apache-2.0
"""Elementwise operations."""
import builtins as _builtins
import math as _math
from mindspore import _amp, _core
from mindspore._core import (Tensor, _op, _pair, _float_pair, _broadcast_op, _operand, _unary_float, convert, float32, float64, int32, int64,
                             bool_)


def _u(core, doc):
    def function(input):
        return _unary_float(core, input)
    function.__doc__ = doc
    return function


exp = _u("exponential", "e ** x")
expm1 = _u("exponential_minus_one", "e ** x - 1")
log = _u("log", "the natural logarithm")
log1p = _u("log_plus_one", "log (1 + x)")
sigmoid = _u("logistic", "1 / (1 + e ** -x)")
tanh = _u("tanh", "the hyperbolic tangent")
sqrt = _u("sqrt", "the square root")
rsqrt = _u("rsqrt", "1 / sqrt (x)")
sin = _u("sine", "the sine")
cos = _u("cosine", "the cosine")
tan = _u("tan", "the tangent")
asin = arcsin = _u("asin", "the inverse sine")
acos = arccos = _u("acos", "the inverse cosine")
atan = arctan = _u("atan", "the inverse tangent")
sinh = _u("sinh", "the hyperbolic sine")
cosh = _u("cosh", "the hyperbolic cosine")
asinh = arcsinh = _u("asinh", "the inverse hyperbolic sine")
acosh = arccosh = _u("acosh", "the inverse hyperbolic cosine")
atanh = arctanh = _u("atanh", "the inverse hyperbolic tangent")
erf = _u("erf", "the error function")
tensor_exp, tensor_expm1, tensor_log = exp, expm1, log


def _of_floats(core):
    def function(input):
        input = _operand(input)
        return _op(core, (input,)) if input.dtype.is_float else input
    return function


floor, ceil, rint = (_of_floats(n) for n in ("floor", "ceil", "round_nearest_even"))


def round(input, *, decimals=0):
    if decimals == 0:
        return rint(input)
    scale = 10.0 ** decimals
    return convert(div(rint(mul(input, scale)), scale), input.dtype)



def trunc(input):
    input = _operand(input)
    if not input.dtype.is_float:
        return input
    return _core.select(_core.compare("LT", input, 0), ceil(input), floor(input))


fix = trunc


def frac(x):
    return sub(x, trunc(x))


def abs(input):
    return _core.abs_(_operand(input))


absolute = abs


def neg(input):
    return _core.neg(_operand(input))


negative = neg_tensor = neg


def positive(input):
    return _operand(input)


def sign(input):
    input = _operand(input)
    return _op("sign", (input,)) if input.element != "bool" else input


sgn = sign


def square(input):
    return mul(input, input)


def reciprocal(input):
    return div(1.0, input)


def inv(input):
    """Of integers it is one."""
    result = div(1.0, input)
    return result if input.dtype.is_float else convert(result, input.dtype)


def add(input, other):
    return _core.add(input, other)


def sub(input, other):
    return _core.sub(input, other)


def mul(input, other):
    return _core.mul(input, other)


def div(input, other, *, rounding_mode=None):
    if rounding_mode == "floor":
        return floor_div(input, other)
    if rounding_mode == "trunc":
        a, b = _pair(input, other)
        return trunc(_broadcast_op("divide", a, b)) if a.dtype.is_float else _broadcast_op("divide", a, b)
    return _core.div(input, other)


tensor_add, tensor_sub, tensor_mul = add, sub, mul
multiply = mul


def subtract(input, other, *, alpha=1):
    return sub(input, other if alpha == 1 else mul(other, alpha))

divide = true_divide = tensor_div = div


def floor_divide(input, other):
    return _core.floor_div(input, other)


floor_div = floordiv = tensor_floordiv = floor_divide


def truncate_div(x, y):
    return div(x, y, rounding_mode="trunc")


def remainder(input, other):
    return _core.floor_mod(input, other)


floor_mod = floormod = tensor_mod = mod = remainder


def fmod(input, other):
    return _broadcast_op("remainder", *_pair(input, other))


truncate_mod = fmod


def pow(input, exponent):
    return _core.pow_(input, exponent)


tensor_pow = pow


def float_power(input, exponent):
    return pow(convert(_operand(input), float64), convert(_operand(exponent), float64))


def divmod(a, b):
    return floor_div(a, b), floor_mod(a, b)


def addcmul(input, tensor1, tensor2, value=1):
    return add(input, mul(mul(tensor1, tensor2), value))


def addcdiv(input, tensor1, tensor2, value=1):
    return add(input, mul(div(tensor1, tensor2), value))


def addn(x):
    total = x[0]
    for y in x[1:]:
        total = add(total, y)
    return total


accumulate_n = addn


def lerp(input, end, weight):
    return add(input, mul(weight, sub(end, input)))


def _extreme(core, of_bools):
    """Of equal operands each takes half the gradient, a constant too."""
    def function(input, other):
        a, b = _pair(input, other)
        if a.dtype.is_float:
            return _broadcast_op(core, a, b, ties="half")
        return _broadcast_op(of_bools if a.element == "bool" else core, a, b)
    function.__name__ = core
    return function


maximum, minimum = _extreme("maximum", "or"), _extreme("minimum", "and")


def _one_is_nan(direction):
    """The other one where one is NaN; of equal ones the first."""
    def function(input, other):
        a, b = _pair(input, other)
        return _core.select(logical_or(isnan(b), _core.compare(direction, a, b)), a, b)
    return function


fmax, fmin = _one_is_nan("GE"), _one_is_nan("LE")


def _comparison(direction):
    def function(input, other):
        return _core.compare(direction, input, other)
    return function


equal, not_equal, less, less_equal, greater, greater_equal = (_comparison(d) for d in ("EQ", "NE", "LT", "LE", "GT", "GE"))
eq, ne, lt, le, gt, ge = equal, not_equal, less, less_equal, greater, greater_equal
tensor_lt, tensor_le, tensor_gt, tensor_ge, tensor_eq = less, less_equal, greater, greater_equal, equal
less_equal_ = less_equal


def approximate_equal(x, y, tolerance=1e-5):
    return less(abs(sub(x, y)), tolerance)


def isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    a, b = _float_pair(input, other)
    near = logical_and(less_equal(abs(sub(a, b)), add(mul(abs(b), rtol), atol)), logical_and(isfinite(a), isfinite(b)))
    close = logical_or(near, equal(a, b))
    return logical_or(close, logical_and(isnan(a), isnan(b))) if equal_nan else close


def _logical(core):
    def function(input, other):
        a, b = (convert(_operand(v), bool_) if _operand(v).element == "bool" else _core.compare("NE", v, 0) for v in (input, other))
        return _broadcast_op(core, a, b)
    return function


logical_and, logical_or, logical_xor = (_logical(n) for n in ("and", "or", "xor"))


def logical_not(input):
    input = _operand(input)
    return _op("not", (input if input.element == "bool" else _core.compare("NE", input, 0),))


def _bits(core):
    def function(input, other):
        return _core.bitwise(core, input, other)
    return function


bitwise_and, bitwise_or, bitwise_xor = (_bits(n) for n in ("and", "or", "xor"))


def bitwise_not(input):
    return _op("not", (_operand(input),))


invert = bitwise_not


def bitwise_left_shift(input, other):
    return _broadcast_op("shift_left", *_pair(input, other))


def bitwise_right_shift(input, other):
    a, b = _pair(input, other)
    return _broadcast_op("shift_right_logical" if a.element.startswith("u") else "shift_right_arithmetic", a, b)


def isnan(input):
    input = _operand(input)
    return _op("is_nan", (input,)) if input.dtype.is_float else _core.full(input.shape, False, bool_)


def isfinite(input):
    input = _operand(input)
    return _op("is_finite", (input,)) if input.dtype.is_float else _core.full(input.shape, True, bool_)


def isinf(input):
    input = _operand(input)
    if not input.dtype.is_float:
        return _core.full(input.shape, False, bool_)
    return logical_not(logical_or(isnan(input), isfinite(input)))


def isposinf(input):
    return logical_and(isinf(input), greater(input, 0))


def isneginf(input):
    return logical_and(isinf(input), less(input, 0))


def isreal(input):
    return _core.full(_operand(input).shape, True, bool_)


def is_floating_point(input):
    return input.dtype.is_float


def is_tensor(obj):
    return isinstance(obj, Tensor)


def is_complex(input):
    return False


def signbit(input):
    return less(input, 0)


def nan_to_num(input, nan=0.0, posinf=None, neginf=None):
    import sys
    top = {"f16": 65504.0, "f64": sys.float_info.max}.get(input.element, 3.4028234663852886e38)
    result = _core.select(isnan(input), nan if nan is not None else 0.0, input)
    result = _core.select(isposinf(input), top if posinf is None else posinf, result)
    return _core.select(isneginf(input), -top if neginf is None else neginf, result)


def exp2(input):
    return exp(mul(_operand(input) if _operand(input).dtype.is_float else convert(_operand(input), float32), _math.log(2.0)))


def log2(input):
    return div(log(input), _math.log(2.0))


def log10(input):
    return div(log(input), _math.log(10.0))


def logaddexp(input, other):
    a, b = _float_pair(input, other)
    # Where both are equal each has half the derivative, also beside a constant.
    above = _core.compare("GT", a, b)
    return add(_core.select(above, a, b), log1p(exp(_core.select(above, sub(b, a), sub(a, b)))))


def logaddexp2(input, other):
    a, b = _float_pair(input, other)
    return add(maximum(a, b), log2(add(1.0, exp2(neg(abs(sub(a, b)))))))


def logit(input, eps=None):
    if eps is not None:
        input = clamp(input, eps, 1 - eps)
    return log(div(input, sub(1.0, input)))


def xlogy(input, other):
    a, b = _float_pair(input, other)
    zero = equal(a, 0)
    return _core.select(zero, 0.0, mul(a, log(_core.select(zero, 1.0, b))))


def xdivy(x, y):
    a, b = _float_pair(x, y)
    zero = equal(a, 0)
    return _core.select(zero, 0.0, div(a, _core.select(zero, 1.0, b)))


def div_no_nan(x, y):
    a, b = _float_pair(x, y)
    zero = equal(b, 0)
    return _core.select(zero, 0.0, div(a, _core.select(zero, 1.0, b)))


def mul_no_nan(x, y):
    return _core.select(equal(y, 0), 0.0, mul(x, y))


def atan2(input, other):
    return _broadcast_op("atan2", *_float_pair(input, other))


arctan2 = atan2


def hypot(input, other):
    """By the larger one, so that no square overflows; infinite where one is."""
    from mindspore.ops.grad import stop_gradient
    a, b = _float_pair(input, other)
    most = stop_gradient(maximum(abs(a), abs(b)))
    plain = logical_or(equal(most, 0.0), logical_not(isfinite(most)))
    unit = _core.select(plain, 1.0, most)
    size = mul(unit, sqrt(add(square(div(a, unit)), square(div(b, unit)))))
    return _core.select(logical_or(isinf(a), isinf(b)), _math.inf, size)


def heaviside(input, values):
    return _core.select(equal(input, 0), values, convert(greater(input, 0), _operand(input).dtype))


def copysign(x, other):
    x, other = _float_pair(x, other)
    return _core.select(less(other, 0), neg(abs(x)), abs(x))


def erfc(input):
    return sub(1.0, erf(input))


def sinc(input):
    x = mul(_operand(input), _math.pi)
    zero = equal(x, 0)
    return _core.select(zero, 1.0, div(sin(x), _core.select(zero, 1.0, x)))


def cbrt(input):
    return _unary_float("cbrt", input)


def deg2rad(x):
    return mul(x, _math.pi / 180)


def rad2deg(x):
    return mul(x, 180 / _math.pi)


def clamp(input, min=None, max=None):
    if min is None and max is None:
        raise ValueError("For 'clamp', at least one of 'min' or 'max' must not be None.")
    if isinstance(input, (tuple, list)):
        return type(input)(clamp(v, min, max) for v in input)
    dtype = input.dtype
    if min is not None:
        input = _bound("LT", input, min)
    if max is not None:
        input = _bound("GT", input, max)
    return convert(input, dtype) if not dtype.is_float else input


def _bound(direction, x, limit):
    """The limit where @x lies beyond it; what lies on it takes the gradient."""
    x, limit = _pair(x, limit)
    return _core.select(_core.compare(direction, x, limit), limit, x)


clip = clamp


def clip_by_value(x, clip_value_min=None, clip_value_max=None):
    return clamp(x, clip_value_min, clip_value_max)


def select(condition, input, other):
    return _core.select(condition, input, other)


def where(condition, input=None, other=None):
    return _core.select(condition, input, other)


def masked_fill(input, mask, value):
    value = convert(_operand(value) if not isinstance(value, Tensor) else value, input.dtype)
    return _core.select(mask, value, input)


def cast(input, dtype):
    return _core.cast(input, _core.as_type(dtype))


def square_sum_all(x, y):
    from mindspore.ops._reduction import sum
    return sum(square(x)), sum(square(y))


def polar(abs, angle):
    raise NotImplementedError("complex numbers are not supported")


def nextafter_unavailable(*args):
    raise NotImplementedError("nextafter is not supported")


def population_count(input_x):
    return convert(_op("popcnt", (input_x,)), _core.uint8)


def assign(variable, value):
    return _core.updated(variable, value)


def assign_add(variable, value):
    return _core.updated(variable, add(_value(variable), value))


def assign_sub(variable, value):
    return _core.updated(variable, sub(_value(variable), value))


def _value(variable):
    import _gantry
    return _gantry.parameter_value(variable)


def depend(value, expr):
    return value


def identity(x):
    return x


def stack_unused(*args):
    raise NotImplementedError


def print_(*args):
    import _gantry
    from mindspore._hooks import graph_print
    if _gantry.in_graph():
        _gantry.host_call(graph_print, args, "bool")
    else:
        for value in args:
            print(repr(value) if isinstance(value, Tensor) else value)


_amp.listed(globals())
__all__ = [n for n in dir() if not n.startswith("_") and not n.endswith(("_unavailable", "_unused"))
           and callable(globals()[n]) and n not in ("Tensor", "convert", "bool_", "float32", "float64", "int32", "int64")]
