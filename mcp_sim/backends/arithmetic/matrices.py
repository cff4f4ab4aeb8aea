"""Operations on matrices and vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import hypot
from typing import Any

from mcp_sim.backends.arithmetic.numbers import RESULTS, computation
from mcp_sim.backends.compute.operation import LIST, NUMBER, Arguments, Operation, Role, phrases, role
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Json
from mcp_sim.types.lexicon.english import vocabulary

Matrix = list[list[Any]]

_MOST = 50
_ABOUT = vocabulary("matrix matrices vector vectors linear tensor")
_TABLE = frozenset({"lists"})
_FIRST = role("a", _TABLE, "matrix_a, matrix1, first_matrix, first, left, m1, x, matrix")
_SECOND = role("b", _TABLE, "matrix_b, matrix2, second_matrix, second, right, m2, y")
_ONE = role("matrix", _TABLE, "a, m, data, values, input, array")
_VECTOR_A = role("a", LIST, "vector_a, vector1, v1, first, x, u, vector")
_VECTOR_B = role("b", LIST, "vector_b, vector2, v2, second, y, v")


def _matrix(value: Sequence[Any]) -> Matrix:
    """Return the rows of a matrix. Raises `Refused` if the value is no matrix of numbers."""
    rows = [list(row) for row in value]
    widths = {len(row) for row in rows}
    if not rows or widths == {0} or len(widths) != 1:
        raise Refused("invalid", "A matrix needs rows of equal length")
    if len(rows) > _MOST or len(rows[0]) > _MOST:
        raise Refused("invalid", f"A matrix may have at most {_MOST} rows and columns")
    for number in (number for row in rows for number in row):
        if not isinstance(number, int | float) or isinstance(number, bool):
            raise Refused("invalid", f"All elements must be numbers; got {number!r}")
    return rows


def _square(value: Sequence[Any]) -> Matrix:
    rows = _matrix(value)
    if len(rows) != len(rows[0]):
        raise Refused("invalid", f"The matrix must be square; it has {len(rows)} rows and {len(rows[0])} columns")
    return rows


def _cell_by_cell(change: Callable[[float, float], float]) -> Callable[[Arguments], Json]:
    def changed(arguments: Arguments) -> Json:
        one, other = _matrix(arguments["a"]), _matrix(arguments["b"])
        if (len(one), len(one[0])) != (len(other), len(other[0])):
            raise Refused("invalid", "The matrices must have the same dimensions")
        pairs = zip(one, other, strict=True)
        return [[change(a, b) for a, b in zip(row, beside, strict=True)] for row, beside in pairs]

    return changed


def _multiplied(arguments: Arguments) -> Json:
    one, other = _matrix(arguments["a"]), _matrix(arguments["b"])
    if len(one[0]) != len(other):
        message = f"Cannot multiply a matrix of {len(one[0])} columns by one of {len(other)} rows"
        raise Refused("invalid", message)
    columns = [*zip(*other, strict=True)]
    return [[_plain(sum(a * b for a, b in zip(row, column, strict=True))) for column in columns] for row in one]


def _transposed(arguments: Arguments) -> Json:
    return [list(column) for column in zip(*_matrix(arguments["matrix"]), strict=True)]


def _reduced(rows: Matrix) -> tuple[list[list[Fraction]], list[int], Fraction]:
    """Return the reduced row echelon form, its pivot columns, and the determinant of the original matrix."""
    left = [[Fraction(number) for number in row] for row in rows]
    pivots: list[int] = []
    scale = Fraction(1)
    for column in range(len(left[0])):
        at = len(pivots)
        found = next((row for row in range(at, len(left)) if left[row][column]), None)
        if found is None:
            continue
        if found != at:
            left[at], left[found], scale = left[found], left[at], -scale
        scale *= left[at][column]
        left[at] = [number / left[at][column] for number in left[at]]
        for row in range(len(left)):
            if row != at and left[row][column]:
                times = left[row][column]
                left[row] = [a - times * b for a, b in zip(left[row], left[at], strict=True)]
        pivots.append(column)
        if len(pivots) == len(left):
            break
    return left, pivots, scale


def _determinant(arguments: Arguments) -> Json:
    rows = _square(arguments["matrix"])
    _, pivots, scale = _reduced(rows)
    return _plain(scale) if len(pivots) == len(rows) else 0


def _inverse(arguments: Arguments) -> Json:
    rows = _square(arguments["matrix"])
    size = len(rows)
    beside = [[*row, *(int(at == column) for column in range(size))] for at, row in enumerate(rows)]
    reduced, pivots, _ = _reduced(beside)
    if pivots != [*range(size)]:
        raise Refused("invalid", "The matrix is singular: it has no inverse")
    return [[_plain(number) for number in row[size:]] for row in reduced]


def _rank(arguments: Arguments) -> Json:
    return len(_reduced(_matrix(arguments["matrix"]))[1])


def _trace(arguments: Arguments) -> Json:
    return _plain(sum(row[at] for at, row in enumerate(_square(arguments["matrix"]))))


def _scaled(arguments: Arguments) -> Json:
    return [[number * arguments["factor"] for number in row] for row in _matrix(arguments["matrix"])]


def _dot(arguments: Arguments) -> Json:
    one, other = _vectors(arguments)
    return _plain(sum(a * b for a, b in zip(one, other, strict=True)))


def _cross(arguments: Arguments) -> Json:
    (a, b, c), (d, e, f) = _vectors(arguments, size=3)
    return [_plain(number) for number in (b * f - c * e, c * d - a * f, a * e - b * d)]


def _vectors(arguments: Arguments, size: int | None = None) -> tuple[list[Any], list[Any]]:
    one, other = (_matrix([arguments[name]])[0] for name in ("a", "b"))
    if len(one) != len(other) or (size is not None and len(one) != size):
        raise Refused("invalid", f"Both vectors must have {size or 'the same number of'} components")
    return one, other


def _length(arguments: Arguments) -> Json:
    return hypot(*_matrix([arguments["a"]])[0])


def _plain(number: Any) -> Json:
    """Return a whole number as an int, any other as a float rounded to 12 significant digits."""
    if number == int(number):
        return int(number)
    return float(f"{float(number):.12g}")


def _operation(
    name: str, known_as: str, roles: Sequence[Role], compute: Callable[[Arguments], Json], *places: str
) -> Operation:
    return Operation(name, phrases(known_as), roles, computation(compute), (*RESULTS, *places), _ABOUT)


OPERATIONS: tuple[Operation, ...] = (
    _operation("add_matrices", "add_matrices, matrix_add, matrix_addition, add", (_FIRST, _SECOND),
               _cell_by_cell(lambda a, b: a + b), "matrix", "sum"),
    _operation("subtract_matrices", "subtract_matrices, matrix_subtract, matrix_subtraction, subtract",
               (_FIRST, _SECOND), _cell_by_cell(lambda a, b: a - b), "matrix", "difference"),
    _operation("multiply_matrices", "multiply_matrices, matrix_multiply, matrix_multiplication, matmul, multiply, "
               "matrix_product", (_FIRST, _SECOND), _multiplied, "matrix", "product"),
    _operation("transpose", "transpose, matrix_transpose, transpose_matrix", (_ONE,), _transposed, "matrix",
               "transposed"),
    _operation("determinant", "determinant, matrix_determinant, det", (_ONE,), _determinant, "determinant"),
    _operation("inverse", "inverse, matrix_inverse, invert_matrix, inverse_matrix, invert", (_ONE,), _inverse, "matrix",
               "inverse"),
    _operation("rank", "matrix_rank, rank", (_ONE,), _rank, "rank"),
    _operation("trace", "matrix_trace, trace", (_ONE,), _trace, "trace"),
    _operation("scale", "scale_matrix, matrix_scale, scalar_multiply, scale",
               (_ONE, role("factor", NUMBER, "scalar, scale, k, value, number")), _scaled, "matrix"),
    _operation("dot_product", "dot_product, dot, inner_product, vector_dot_product", (_VECTOR_A, _VECTOR_B), _dot,
               "dot_product", "product"),
    _operation("cross_product", "cross_product, cross, vector_cross_product", (_VECTOR_A, _VECTOR_B), _cross,
               "cross_product", "vector"),
    _operation("length_of_vector", "vector_magnitude, vector_norm, vector_length, magnitude, norm", (_VECTOR_A,),
               _length, "magnitude", "norm"),
)  # fmt: skip
