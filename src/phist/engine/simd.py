"""Vectors of sixteen single-precision numbers for compiled code, and elementary functions of them.

A compiler turns plain loops into vector code only where it can prove that nothing overlaps, and never across a call into
the C library. Here the vectors are explicit: what is written is what runs, in registers, on any processor; one with
narrower registers takes each vector in two or four pieces.

What this takes from Numba's inside is what `views` takes, for the same reasons. `tests/engine/test_simd.py` fails where it changes.
"""

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin, models, register_model

from phist.engine.jit import FUSE, inner, intrinsic
from phist.engine.views import address

LANES = 16  # widths are padded with zeros to a multiple of this
single = np.float32


class VectorType(types.Type):
    def __init__(self) -> None:
        super().__init__(name=f"Vector{LANES}")


vector = VectorType()
_FLOATS = ir.VectorType(ir.FloatType(), LANES)
_DOUBLES = ir.VectorType(ir.DoubleType(), LANES)
_INTS = ir.VectorType(ir.IntType(32), LANES)


@register_model(VectorType)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, vector_type: Any) -> None:
        super().__init__(manager, vector_type, _FLOATS)  # type: ignore[no-untyped-call]


def _splat(builder: Any, value: Any, vector_type: Any = _FLOATS) -> Any:
    one = builder.insert_element(ir.Constant(vector_type, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, one, ir.Constant(_INTS, [0] * LANES))


def _constant(value: float) -> Any:
    return ir.Constant(_FLOATS, [float(single(value))] * LANES)


def _vector_at(context: Any, builder: Any, kind: Any, source: Any, offset: Any) -> Any:
    return builder.bitcast(address(context, builder, kind, source, offset, LANES), _FLOATS.as_pointer())


def _offset(context: Any, builder: Any, kind: Any, view: Any, row: Any, column: Any) -> Any:
    width = cgutils.create_struct_proxy(kind)(context, builder, view).width
    return builder.add(builder.mul(row, width), column)


@intrinsic
def load(typing_context: Any, view: Any, row: Any, column: Any) -> Any:
    """The vector that begins at a column of a view's row."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind, (view, row, column) = signature.args[0], arguments
        offset = _offset(context, builder, kind, view, row, column)
        return builder.load(_vector_at(context, builder, kind, view, offset), align=4)

    return vector(view, types.int64, types.int64), generate


@intrinsic
def store(typing_context: Any, view: Any, row: Any, column: Any, value: Any) -> Any:
    """Put a vector where a column of a view's row begins."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind, (view, row, column, value) = signature.args[0], arguments
        offset = _offset(context, builder, kind, view, row, column)
        builder.store(value, _vector_at(context, builder, kind, view, offset), align=4)
        return context.get_dummy_value()

    return types.void(view, types.int64, types.int64, vector), generate


@intrinsic
def load_flat(typing_context: Any, source: Any, offset: Any) -> Any:
    """The vector that begins at number ``offset`` of a view or a flat array."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_vector_at(context, builder, signature.args[0], *arguments), align=4)

    return vector(source, types.int64), generate


@intrinsic
def store_flat(typing_context: Any, source: Any, offset: Any, value: Any) -> Any:
    """Put a vector where number ``offset`` of a view or a flat array is."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source, offset, value = arguments
        builder.store(value, _vector_at(context, builder, signature.args[0], source, offset), align=4)
        return context.get_dummy_value()

    return types.void(source, types.int64, vector), generate


@intrinsic
def add_wide(typing_context: Any, doubles: Any, offset: Any, value: Any) -> Any:
    """Add a vector to sixteen numbers in double precision."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        doubles, offset, value = arguments
        to = builder.bitcast(address(context, builder, signature.args[0], doubles, offset, LANES), _DOUBLES.as_pointer())
        builder.store(builder.fadd(builder.load(to, align=8), builder.fpext(value, _DOUBLES)), to, align=8)
        return context.get_dummy_value()

    return types.void(doubles, types.int64, vector), generate


@intrinsic
def load_narrow(typing_context: Any, doubles: Any, offset: Any) -> Any:
    """Sixteen numbers in double precision, rounded to a vector."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        doubles, offset = arguments
        at = builder.bitcast(address(context, builder, signature.args[0], doubles, offset, LANES), _DOUBLES.as_pointer())
        return builder.fptrunc(builder.load(at, align=8), _FLOATS)

    return vector(doubles, types.int64), generate


@intrinsic
def sum_lanes(typing_context: Any, value: Any) -> Any:
    """The sum of a vector's numbers, one after the other, in double precision."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        wide = builder.fpext(arguments[0], _DOUBLES)
        total = ir.Constant(ir.DoubleType(), 0.0)
        for lane in range(LANES):
            total = builder.fadd(total, builder.extract_element(wide, ir.Constant(ir.IntType(32), lane)))
        return total

    return types.float64(vector), generate


@intrinsic
def splat(typing_context: Any, value: Any) -> Any:
    """The same number sixteen times."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _splat(builder, arguments[0])

    return vector(types.float32), generate


@intrinsic
def broadcast(typing_context: Any, source: Any, offset: Any) -> Any:
    """Number ``offset`` of a view or a flat array, sixteen times."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _splat(builder, builder.load(address(context, builder, signature.args[0], *arguments)))

    return vector(source, types.int64), generate


@intrinsic
def fma(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
    """a·b + c, in one instruction where there is one."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _fma(builder, *arguments)

    return vector(vector, vector, vector), generate


def _fma(builder: Any, a: Any, b: Any, c: Any) -> Any:
    signature = ir.FunctionType(_FLOATS, [_FLOATS] * 3)
    function = cgutils.get_or_insert_function(builder.module, signature, f"llvm.fmuladd.v{LANES}f32")
    return builder.call(function, (a, b, c))


def _elementwise(instruction: Callable[[Any, Any, Any], Any]) -> Any:
    @intrinsic
    def apply(typing_context: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return instruction(builder, *arguments)

        return vector(vector, vector), generate

    return apply


# Of a and b, a where it is not a number: it is the value, b the bound, and a diverged network must not look healthy.
smaller = _elementwise(lambda builder, a, b: builder.select(builder.fcmp_ordered("<", b, a), b, a))
larger = _elementwise(lambda builder, a, b: builder.select(builder.fcmp_ordered(">", b, a), b, a))


def _define_operator(symbol: Any, instruction: str) -> None:
    """``symbol`` for two vectors, or for a vector and a number."""
    pairs = [(vector, vector), (vector, types.float32), (types.float32, vector)]

    @infer_global(symbol)
    class Operator(AbstractTemplate):
        def generic(self, arguments: Any, keywords: Any) -> Any:
            return signature(vector, *arguments) if arguments in pairs else None

    def generate(context: Any, builder: Any, types_: Any, arguments: Any) -> Any:
        operands = [value if kind == vector else _splat(builder, value) for kind, value in zip(types_.args, arguments, strict=True)]
        return getattr(builder, instruction)(*operands, flags=FUSE)

    for pair in pairs:
        lower_builtin(symbol, *pair)(generate)


for _symbol, _instruction in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul"), (operator.truediv, "fdiv")):
    _define_operator(_symbol, _instruction)


@intrinsic
def where_positive(typing_context: Any, x: Any, then: Any, otherwise: Any) -> Any:
    """``then`` where x > 0, ``otherwise`` elsewhere."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        x, then, otherwise = arguments
        return builder.select(builder.fcmp_ordered(">", x, _constant(0.0)), then, otherwise)

    return vector(vector, vector, vector), generate


@intrinsic
def where_equal(typing_context: Any, x: Any, y: Any, then: Any) -> Any:
    """``then`` where x = y, zero elsewhere."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        x, y, then = arguments
        return builder.select(builder.fcmp_ordered("==", x, y), then, _constant(0.0))

    return vector(vector, vector, vector), generate


@intrinsic
def square_root(typing_context: Any, x: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(_FLOATS, [_FLOATS]), f"llvm.sqrt.v{LANES}f32")
        return builder.call(function, arguments)

    return vector(vector), generate


@intrinsic
def absolute(typing_context: Any, x: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        mask = ir.Constant(_INTS, [0x7FFFFFFF] * LANES)
        return builder.bitcast(builder.and_(builder.bitcast(arguments[0], _INTS), mask), _FLOATS)

    return vector(vector), generate


# (e^r - 1 - r) / r² on [-ln 2 / 2, ln 2 / 2], by least squares at Chebyshev's points.
_POINTS = 0.5005 * math.log(2) * np.cos(np.pi * (np.arange(200) + 0.5) / 200)
_SERIES = np.linalg.lstsq(np.vander(_POINTS, 5, increasing=True), (np.expm1(_POINTS) - _POINTS) / _POINTS**2, rcond=None)[0]


def _reduce_and_raise(builder: Any, x: Any) -> tuple[Any, Any]:
    """e^r - 1 and n << 23 for x = n ln 2 + r."""
    shift = _constant(1.5 * 2**23)  # adding it leaves the nearest whole number in the low bits
    shifted = _fma(builder, x, _constant(math.log2(math.e)), shift)
    power = builder.fsub(shifted, shift)
    r = _fma(builder, power, _constant(-0.693359375), x)  # ln 2 in two parts, the first exact in few bits
    r = _fma(builder, power, _constant(2.12194440e-4), r)
    series = _constant(_SERIES[-1])
    for coefficient in _SERIES[-2::-1]:
        series = _fma(builder, series, r, _constant(coefficient))
    exponent = builder.shl(builder.bitcast(shifted, _INTS), ir.Constant(_INTS, [23] * LANES))
    return _fma(builder, series, builder.fmul(r, r), r), exponent


@intrinsic
def exp_within(typing_context: Any, x: Any) -> Any:
    """e^x for x between -87 and 88, within 1.2e-7; outside it is nonsense."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        raised, exponent = _reduce_and_raise(builder, arguments[0])
        one_more = builder.fadd(raised, _constant(1.0))
        return builder.bitcast(builder.add(builder.bitcast(one_more, _INTS), exponent), _FLOATS)

    return vector(vector), generate


@intrinsic
def exp_less_one(typing_context: Any, x: Any) -> Any:
    """e^x - 1 for x between -87 and 88, exact near zero too."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        raised, exponent = _reduce_and_raise(builder, arguments[0])
        one = builder.bitcast(_constant(1.0), _INTS)
        scale = builder.bitcast(builder.add(one, exponent), _FLOATS)
        return _fma(builder, scale, raised, builder.fsub(scale, _constant(1.0)))

    return vector(vector), generate


@inner
def half_sine(z: Any) -> Any:
    """sin(πz / 2) for z in [-1, 1]."""
    x = z * single(math.pi / 2)
    square = x * x
    series = splat(single(-1 / 39916800))
    series = fma(series, square, splat(single(1 / 362880)))
    series = fma(series, square, splat(single(-1 / 5040)))
    series = fma(series, square, splat(single(1 / 120)))
    series = fma(series, square, splat(single(-1 / 6)))
    return series * square * x + x


@inner
def exp(x: Any) -> Any:
    """e^x, tiny below -87 and finite above 88."""
    return exp_within(smaller(larger(x, splat(single(-87.0))), splat(single(88.0))))


@inner
def tanh(x: Any) -> Any:
    """The hyperbolic tangent as a quotient of polynomials, within 2e-7 everywhere."""
    x = smaller(larger(x, splat(single(-9.0))), splat(single(9.0)))
    square = x * x
    over = splat(single(-2.76076847742355e-16))
    over = fma(over, square, splat(single(2.00018790482477e-13)))
    over = fma(over, square, splat(single(-8.60467152213735e-11)))
    over = fma(over, square, splat(single(5.12229709037114e-08)))
    over = fma(over, square, splat(single(1.48572235717979e-05)))
    over = fma(over, square, splat(single(6.37261928875436e-04)))
    over = fma(over, square, splat(single(4.89352455891786e-03)))
    under = splat(single(1.19825839466702e-06))
    under = fma(under, square, splat(single(1.18534705686654e-04)))
    under = fma(under, square, splat(single(2.26843463243900e-03)))
    under = fma(under, square, splat(single(4.89352518554385e-03)))
    return over * x / under


@inner
def elu(x: Any) -> Any:
    """X above zero, e^x - 1 below."""
    negative = larger(smaller(x, splat(single(0.0))), splat(single(-87.0)))
    return where_positive(x, x, exp_less_one(negative))
