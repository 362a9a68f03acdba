# SPDX-License-Identifier: Apache-2.0
"""What is raised where a function asks for the value of a variable."""


def _what(value):
    return f"{value.dtype}[{','.join(map(str, value.shape))}]"


class JAXTypeError(TypeError):
    pass


class ConcretizationTypeError(JAXTypeError):
    def __init__(self, value, more=""):
        super().__init__(f"Abstract tracer value encountered where concrete value is expected: traced array with shape {_what(value)}."
                         f"{more or ' The value is known only when the graph runs.'}")


class TracerBoolConversionError(ConcretizationTypeError):
    def __init__(self, value):
        JAXTypeError.__init__(self, f"Attempted boolean conversion of traced array with shape {_what(value)}. Use jax.lax.cond, "
                                    "jax.lax.while_loop or jnp.where for what depends on data.")


class TracerArrayConversionError(JAXTypeError):
    def __init__(self, value):
        super().__init__(f"The numpy.ndarray conversion method __array__() was called on traced array with shape {_what(value)}")


class TracerIntegerConversionError(ConcretizationTypeError):
    def __init__(self, value):
        JAXTypeError.__init__(self, f"The __index__() method was called on traced array with shape {_what(value)}. An index or a shape has to "
                         "be known while the function is traced.")


class UnexpectedTracerError(JAXTypeError):
    pass
