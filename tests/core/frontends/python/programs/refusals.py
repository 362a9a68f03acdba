# SPDX-License-Identifier: Apache-2.0
# What graph mode says of operands that an operator, builtin function, method or statement does not take: exception and first words.
import mindspore as ms
from mindspore import Tensor, jit, jit_class, mutable, nn, ops

VECTOR, SCALAR = Tensor([1, 2, 3]), Tensor(2)
ITERABLE, LENGTH = "is not iterable", "object has no attribute '__len__'"
REFUSED = [
    # operators
    ("1 / 0", ValueError, "The divisor could not be zero. But the divisor is zero now."),
    ("1 // 0", ValueError, "The divisor could not be zero. But the divisor is zero now."),
    ("n / 0", ValueError, "The divisor could not be zero. But the divisor is zero now."),
    ("n // 0", ValueError, "The floor divisor could not be zero. But the divisor is zero now."),
    ("n % 0", ValueError, "Cannot perform modulo operation on zero."),
    ("x[5]", IndexError, "For 'StridedSlice', the 'strides[0]' cannot be negative number and 'begin[0]' must be in [-3, 3)"),
    ("x[-4]", IndexError, "For 'StridedSlice', the 'strides[0]' cannot be negative number and 'begin[0]' must be in [-3, 3)"),
    ("5 % 0", ValueError, "Cannot perform modulo operation on zero."),
    ("-{'a': 1}", RuntimeError, "For operation 'negative', current input arguments types are <Dictionary>."),
    ("+[1]", ValueError, "For 'MultitypeFuncGraph', cannot find fn match given args."),
    ("~'a'", ValueError, "For 'MultitypeFuncGraph', cannot find fn match given args."),
    ("x + Tensor([1, 2])", ValueError, "For 'Add', input1.shape and input2.shape need to broadcast. The value of input1.shape[1] or "
                                       "input2.shape[1] must be 1 or -1 when they are not the same, but got input1.shape = [3] and input2.shape = [2]"),
    ("x == Tensor([1, 2])", ValueError, "For 'Equal', input1.shape"),
    ("{'a': 1} + x", RuntimeError, "For operation 'add', current input arguments types are <Dictionary, Tensor>."),
    ("3 * {}", RuntimeError, "For operation 'mul', current input arguments types are <Number, Dictionary>."),
    ("x - 'a'", TypeError, 'Failed calling Sub with "Sub()(input=Tensor, other=string)". The valid calling should be'),
    ("x @ 3", TypeError, 'Failed calling MatMulExt with "other=Int64". The valid calling should be: "input=<Tensor>, other=<Tensor>".'),
    ("Tensor([1.5]) << 1", TypeError, "unsupported operand type(s) for <<: 'Tensor' and 'int'"),
    ("'a' < {}", RuntimeError, "For operation 'less', current input arguments types are <String, Dictionary>."),
    ("2j", TypeError, "Unsupported Constant type : 2j"),
    # builtin functions
    ("len(3)", AttributeError, "'Int' " + LENGTH), ("len(2.5)", AttributeError, "'Float' " + LENGTH),
    ("len(None)", AttributeError, "'NoneType' " + LENGTH), ("len(n)", AttributeError, "'Int' " + LENGTH),
    ("len(s)", TypeError, "Not support len of a 0-D tensor."), ("tuple(s)", TypeError, "Not support len of a 0-D tensor."),
    ("tuple(3)", TypeError, "'int64' object " + ITERABLE), ("list(2.5)", TypeError, "'float32' object " + ITERABLE),
    ("list(None)", TypeError, "'none' object " + ITERABLE), ("max(3)", TypeError, "The object " + ITERABLE),
    ("max([])", ValueError, "max() arg is an empty sequence."), ("max(s)", TypeError, "Cannot iterate over a scalar tensor."),
    ("max(x, x)", ValueError, "The truth value of an array with more than one element is ambiguous."),
    ("sum(3)", TypeError, "Int64 object " + ITERABLE), ("all(3)", TypeError, "'int' object " + ITERABLE), ("zip(1)", TypeError, "'int' object " + ITERABLE),
    ("zip()", RuntimeError, "The zip operator must have at least 1 argument, but the size of arguments is 0."),
    ("range(1.5)", TypeError, "For 'make_range', the 0th input should be a int scalar but got AbstractScalar(Type: Float32, Value: 1.5, Shape: NoShape)"),
    ("range(0, 5, 0)", RuntimeError, "For 'range', the argument 'step' could not be 0."),
    ("range()", RuntimeError, "For 'make_range', the input size should within [1, 3] but got0"),
    ("enumerate(3)", TypeError, "For 'enumerate', the 'first input' should be tuple or list or tensor, but got <class 'int'>."),
    ("enumerate((1, 2), 1.5)", TypeError, "For 'enumerate', the 'start' should be a const int number, but got 1.5."),
    ("map(3, (1, 2))", ValueError, "The object is not callable."), ("map(abs, 3)", RuntimeError, "Map can only be applied to list, tuple, but got Int64."),
    ("map(lambda a, b: a, (1, 2), (3,))", RuntimeError, "For 'Map', the length of tuples must be the same."),
    ("int(x)", ValueError, "Can not convert Tensor with more than one element to Scalar, while the data's shape is : (3)"),
    ("bool(x)", ValueError, "The truth value of an array with more than one element is ambiguous."),
    ("abs(None)", TypeError, "For Operator[Abs], input's type 'None' does not match expected type 'Tensor'."),
    ("round(Tensor([1.55]), 1)", RuntimeError, "For Round only support decimals equal 0"),
    ("getattr(x, 1)", TypeError, "getattr(): attribute name must be string but got"),
    # calls
    ("x(1)", ValueError, "The object is not callable. Please check code."), ("3()", ValueError, "The object is not callable. Please check code."),
    ("(lambda a: a)(1, c=3)", RuntimeError, "Got an unexpected keyword argument 'c'"),
    ("(lambda a, b: a)(1, 2, b=3)", TypeError, "Multiply values for specific argument: b"),
    ("(lambda a: a)(*3)", RuntimeError, "The arguments of UnpackCall operator should be tuple, list or dict, but got AbstractScalar"),
    ("two(x)", TypeError, "The parameters number of the function is 2, but the number of provided arguments is 1."),
    ("more(x)", RuntimeError, "Miss argument input for parameter:b"),
    ("more(x, 1, 2, 3)", RuntimeError, "Function:more takes 3 positional arguments, but 4 were given."),
    ("counted.method()", TypeError, "The parameters number of the function is 1, but the number of provided arguments is 0."),
    # attributes and elements
    ("n.shape", AttributeError, "'Int' object has no attribute 'shape'"), ("'a'.v", AttributeError, "'String' object has no attribute 'v'"),
    ("{}.v", AttributeError, "'Dictionary' object has no attribute 'v'"), ("own.v", AttributeError, "'Own' object has no attribute 'v'"),
    ("ops.nothing", AttributeError, "External object has no attribute nothing"),
    ("'abc'[5]", RuntimeError, "String index out of range, expect:[-3, 2], but got 5."),
    ("[1, 2][3]", IndexError, "list_getitem evaluator index should be in range[-2, 2), but got 3."),
    ("(1, 2)[-4]", IndexError, "TupleGetItem evaluator index should be in range[-2, 2), but got -4."),
    ("()[0]", ValueError, "For primitive:'TupleGetItem', cannot get item by index from an empty sequence."),
    ("s[0]", TypeError, "For 'StridedSlice', input can not be a scalar."), ("n[0]", TypeError, "'int' object is not subscriptable"),
    ("(1, 2)[1.5]", IndexError, "TupleGetItem evaluator index should be an int64 number, but got AbstractScalar(Type: Float32"),
    ("[1, 2][x]", ValueError, "Only integer tensors of a single element can be converted to an index."),
    ("{'a': 1}[x]", RuntimeError, "dict_getitem evaluator key only supports string, number, type, none, constant tensor and tuple"),
    ("{'a': 1}['b']", ValueError, "The key b does not exist in the dict:{'a': 1}"),
    ("x[{}]", IndexError, "Unsupported Python object type received: <class 'dict'>. Supported types for tensor indexing are"),
    ("ops.rank(3)", TypeError, 'Failed calling Rank with "input_x=Int64". The valid calling should be: "input_x=<Tensor>".'),
    ("{[1]: 2}", RuntimeError, "make_dict evaluator key only supports string, number, type, none, constant tensor and tuple, but got [1]"),
    ("{x: 1}", RuntimeError, "make_dict evaluator key only supports string, number, type, none, constant tensor and tuple, but got ValueAny"),
    # methods of lists
    ("[1].pop(4)", IndexError, "The pop index out of range."), ("[].pop()", IndexError, "The pop index out of range."),
    ("[1].pop(1.0)", TypeError, "Integer argument expected, but got FP32Imm"),
    ("[1].insert('a', 0)", TypeError, "The second input to ListInplaceInsert must be int scalar but got StringImm"),
    ("[1].extend(5)", TypeError, "For ListInplaceExtend, the second input should be tuple or list but got: AbstractScalar(Type: Int64"),
    ("[1].extend('ab')", TypeError, "For ListInplaceExtend, the second input should be tuple or list"),
    ("[1].append(1, 2)", TypeError, "The parameters number of the function is 2, but the number of provided arguments is 3."),
]
STATEMENTS = [
    ("a, b, c, d = [1, 2, 3]", IndexError, "list_getitem evaluator index should be in range[-3, 3), but got 3."),
    ("a = (1, 2); a[0] = 1", TypeError, "'tuple' object does not support item assignment"),
    ("a, b = 3", TypeError, "'int' object is not subscriptable"), ("a = 3; a[0] = 1", TypeError, "'int' object does not support item assignment"),
    ("with own:\n        pass", TypeError, "Only support jit_class instance, but got PythonObject"),
    ("a = [1, 2]; a[5] = 1", IndexError, "list_setitem evaluator the index: 5 to set out of range: [-2,1]."),
    ("if x.ndim > 5:\n        y = 1\n    return y", UnboundLocalError, "The local variable 'y' is not defined in false branch, but defined in true branch."),
    ("if x.ndim < 5:\n        z = 1\n    else:\n        y = 1\n    return y", UnboundLocalError,
     "The local variable 'y' is not defined in true branch, but defined in false branch."),
    ("for i in range(0):\n        y = 1\n    return y", UnboundLocalError,
     "The local variable 'y' defined in the 'for' loop body cannot be used outside of the loop body. Please define variable 'y' before 'for'."),
    ("while False:\n        y = 1\n    return y", UnboundLocalError, "The local variable 'y' defined in the 'while' loop body"),
    ("with Entered() as e:\n        pass", RuntimeError, "MsClassObject: 'Entered' has no __enter__ function, please check the code."),
]


class Own:
    pass


@jit_class
class Counted:
    def method(self, a):
        return a


def two(a, b):
    return a


def more(a, b, c=2):
    return a


counted = Counted()


@jit_class
class Entered:
    pass


own = Own()


def check(function, kind, text, what):
    try:
        result = function(VECTOR, SCALAR, mutable(3))
    except Exception as error:
        assert type(error) is kind and str(error).startswith(text), (what, kind, text, error)
    else:
        raise AssertionError((what, result))


# A graph is made of the source: the functions are written to a file.
import importlib.util, os, tempfile
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "refused.py")
    with open(path, "w") as file:
        file.write("from mindspore import Tensor, ops\n")
        for i, (expression, _, _) in enumerate(REFUSED):
            file.write(f"def f{i}(x, s, n):\n    return {expression}\n")
        for i, (statement, _, _) in enumerate(STATEMENTS):
            file.write(f"def g{i}(x, s, n):\n    {statement}\n")
    spec = importlib.util.spec_from_file_location("refused", path)
    module = importlib.util.module_from_spec(spec)
    module.own, module.Entered, module.counted, module.two, module.more = own, Entered, counted, two, more
    import warnings
    warnings.simplefilter("ignore", SyntaxWarning)
    spec.loader.exec_module(module)
    for i, (expression, kind, text) in enumerate(REFUSED):
        check(jit(getattr(module, f"f{i}")), kind, text, expression)
    for i, (statement, kind, text) in enumerate(STATEMENTS):
        check(jit(getattr(module, f"g{i}")), kind, text, statement)


# Arguments of the function that the graph is made of.
def raises(kind, text, call):
    try:
        call()
    except Exception as error:
        assert type(error) is kind and str(error).startswith(text), error
    else:
        raise AssertionError(text)


class Net(nn.Cell):
    def construct(self, x, y=1):
        return x


raises(TypeError, "For 'Cell', the function construct requires 1 positional argument and 1 default argument, total 2, but got 3.",
       lambda: jit(Net().construct)(VECTOR, 1, 2))
raises(TypeError, "Function two needs 2 positional argument, but got 1.", lambda: jit(two)(VECTOR))
raises(TypeError, "missing a required argument: 'b'", lambda: jit(two)(VECTOR, z=3))
raises(TypeError, "got an unexpected keyword argument 'z'", lambda: jit(two)(VECTOR, 1, z=3))
raises(TypeError, "multiple values for argument 'a'", lambda: jit(two)(VECTOR, a=3))


# A tuple stands for each dict that level STRICT gives, wherever it lies.
@jit(fullgraph=True)
def dicts(x):
    return {"a": x, "b": {"c": 1}}, [{"d": 2}]


result = dicts(VECTOR)
assert type(result[0]) is tuple and result[0][1] == (1,) and result[1] == [(2,)], result


@jit
def ranges(n):
    return range(n), ~n


assert ranges(mutable(3)) == ((0, 1, 2), -4)
assert ms.Tensor([1, 0]).__invert__().dtype == ms.bool_ and Tensor(mutable(2.5)).dtype == ms.float32


# Lists of integers take the element type of the tensor beside them.
@jit
def beside_lists(x):
    return x + [3, 4], (3, 4) * x, x.astype(ms.float16) - (1, 2)


assert [v.dtype for v in beside_lists(Tensor([1, 2], ms.int32))] == [ms.int32, ms.int32, ms.float16]


# Level STRICT.
@jit(fullgraph=True)
def strings(x):
    return "aB".upper(), dict.fromkeys((1, 2), 3)


@jit(fullgraph=True)
def split(x):
    return "a,b".split(",")


@jit(fullgraph=True)
def sorts(x):
    return sorted(x)


@jit(fullgraph=True)
def chooses(x, i):
    return (x, x)[i]


assert strings(VECTOR) == ("AB", (3, 3))
raises(AttributeError, "In JIT strict mode, cannot get attributes split or the String object has no attribute: 'split'.", lambda: split(VECTOR))
raises(ValueError, "When handling script 'sorted(x) in graph mode', the inputs should be constant, but found variable", lambda: sorts(VECTOR))
raises(TypeError, "When JIT_SYNTAX_LEVEL is STRICT, using Tensor index to get value from tuple requires", lambda: chooses(VECTOR, SCALAR))


@jit(fullgraph=True)
def left_to_python(x):
    return x << 1


@jit(fullgraph=True)
def with_none(x):
    return x * None


@jit(fullgraph=True)
def no_attribute(x):
    return x.nothing


raises(ValueError, "When handling script '__py_exec_index0_left_0x5f_shift__(__input_key_0__,__input_key_1__,) in graph mode', the inputs should be "
                   "constant, but found variable '__input_key_0__'", lambda: left_to_python(Tensor([1.5])))
raises(ValueError, "When handling script '__py_exec_index0_mul__(", lambda: with_none(VECTOR))
raises(AttributeError, "In JIT strict mode, cannot get attributes nothing or the Tensor[Int64] object has no attribute: 'nothing'.",
       lambda: no_attribute(VECTOR))


@jit(fullgraph=True)
def extended(x):
    y = [1]
    y.extend(3)
    return y


@jit(fullgraph=True)
def no_length(x):
    return len(3)


@jit_class
class Empty:
    pass


@jit
def no_such(x):
    return Empty().nothing


raises(RuntimeError, "ListExtend supports list, tuple and Tensor, but got AbstractScalar(Type: Int64, Value: 3", lambda: extended(VECTOR))
raises(AttributeError, "In JIT strict mode, cannot get attributes __len__ or the Int64 object has no attribute: '__len__'.", lambda: no_length(VECTOR))
raises(AttributeError, "MsClassObject: 'Empty' object has no attribute nothing", lambda: no_such(VECTOR))
raises(IndexError, "Position index 3 is exceed input size", lambda: ops.grad(lambda x: x, 3)(VECTOR))


@jit
def methods_of_results(x):
    def made():
        return [3, x]
    return {}.fromkeys("ab", 3).items(), {"c": 1}.keys(), made().index(3), {"a": [1]}.get("a")


result = methods_of_results(VECTOR)
assert result[0] == [("a", 3), ("b", 3)] and result[1:] == (("c",), 0, [1]), result
