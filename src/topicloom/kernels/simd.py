"""Operations on 64 bytes or 8 words at a time, and on the bits of a word.

The search for the best link scans hundreds of thousands of rows of byte-sized bounds. Written as plain loops
these scans cost 5.4 s of a 10,000-node design, as explicit vectors 0.3 s: LLVM does not vectorise a loop that
both stores and collects which elements passed a test. The vectors are generic LLVM, so they run on any
processor, at its own width.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic as numba_intrinsic

LANES = 64
WORDS = 8
# The bits of a vector of words: so many lanes are counted at once.
WIDE = LANES * WORDS

intrinsic: Callable[..., Any] = numba_intrinsic

_BYTE = ir.IntType(8)
_INDEX = ir.IntType(32)
_WORD = ir.IntType(64)
_VECTOR = ir.VectorType(_BYTE, LANES)
_FLAG = ir.IntType(1)
_FLAGS = ir.VectorType(_FLAG, LANES)
_WORDS = ir.VectorType(_WORD, WORDS)
_NO_WORDS = ir.Constant(_WORDS, [0] * WORDS)
_NUMBERS = ir.VectorType(_INDEX, LANES)
_NO_NUMBERS = ir.Constant(_NUMBERS, [0] * LANES)
_ZEROS = ir.Constant(_VECTOR, [0] * LANES)
# Bits of a count that fits a byte.
_PLANES = 8


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, position: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [position]), _VECTOR.as_pointer())


def _words(context: Any, builder: Any, array_type: Any, array: Any, position: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return _load(builder, builder.bitcast(builder.gep(data, [position]), _WORDS.as_pointer()))


def _store_words(context: Any, builder: Any, array_type: Any, array: Any, position: Any, words: Any) -> None:
    data = context.make_array(array_type)(context, builder, array).data
    builder.store(words, builder.bitcast(builder.gep(data, [position]), _WORDS.as_pointer())).align = 1


def _load(builder: Any, pointer: Any) -> Any:
    value = builder.load(pointer)
    value.align = 1
    return value


def _splat(builder: Any, value: Any, vector: Any = _VECTOR) -> Any:
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.Constant(_INDEX, 0))
    zeros = ir.Constant(ir.VectorType(_INDEX, LANES), [0] * LANES)
    return builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), zeros)


def _call(builder: Any, name: str, result: Any, *operands: Any) -> Any:
    """Call one of LLVM's own functions."""
    kind = ir.FunctionType(result, [operand.type for operand in operands])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), operands)


@intrinsic
def popcount(typing: Any, word: Any) -> Any:
    """Number of bits set in a word."""
    return types.uint64(types.uint64), lambda context, builder, signature, args: builder.ctpop(args[0])


@intrinsic
def lowest_bit(typing: Any, word: Any) -> Any:
    """Index of the lowest bit set in a word that is not zero."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


@intrinsic
def at_least(typing: Any, array: Any, position: Any, value: Any) -> Any:
    """Which of the 64 bytes from `position` on are >= `value`, as the bits of a word."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lanes = _load(builder, _pointer(context, builder, signature.args[0], args[0], args[1]))
        return builder.bitcast(builder.icmp_unsigned(">=", lanes, _splat(builder, args[2])), _WORD)

    return types.uint64(array, types.intp, types.uint8), generate


def _lower(builder: Any, pointer: Any, limits: Any, chosen: Any) -> None:
    """Lower each of 64 bytes whose bit is set in `chosen` to at most its limit."""
    lanes = _load(builder, pointer)
    lower = builder.and_(builder.icmp_unsigned("<", limits, lanes), builder.bitcast(chosen, _FLAGS))
    builder.store(builder.select(lower, limits, lanes), pointer).align = 1


@intrinsic
def prefetch(typing: Any, array: Any, position: Any) -> Any:
    """Ask the memory for the 64 bytes from `position` on."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        pointer = builder.bitcast(builder.gep(data, [args[1]]), _BYTE.as_pointer())
        to_read, close, of_data = (ir.Constant(_INDEX, value) for value in (0, 3, 1))
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, _INDEX, _INDEX, _INDEX])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [pointer, to_read, close, of_data])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


@intrinsic
def lower_to_sum(typing: Any, array: Any, position: Any, terms: Any, term_position: Any, term: Any, chosen: Any) -> Any:
    """Lower each of 64 bytes whose bit is set in `chosen` to at most its term plus `term`, the sum capped at 255."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        each = _load(builder, _pointer(context, builder, signature.args[2], args[2], args[3]))
        total = _call(builder, "llvm.uadd.sat.v64i8", _VECTOR, each, _splat(builder, args[4]))
        _lower(builder, _pointer(context, builder, signature.args[0], args[0], args[1]), total, args[5])
        return context.get_dummy_value()

    return types.void(array, types.intp, terms, types.intp, types.uint8, types.uint64), generate


@intrinsic
def lower_to_sums(
    typing: Any, array: Any, position: Any, rows: Any, row: Any, columns: Any, column: Any, chosen: Any
) -> Any:
    """Lower each of 8 x 8 bytes whose bit is set in `chosen` to at most the terms of its row and its column together.

    Sums are capped at 255. The terms are the 8 bytes of `rows` from `row` on and those of `columns` from `column` on.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def spread(kind: Any, terms: Any, place: Any, lanes: list[int]) -> Any:
            eight = ir.VectorType(_BYTE, WORDS)
            data = builder.gep(context.make_array(kind)(context, builder, terms).data, [place])
            each = _load(builder, builder.bitcast(data, eight.as_pointer()))
            order = ir.Constant(ir.VectorType(_INDEX, LANES), lanes)
            return builder.shuffle_vector(each, ir.Constant(eight, ir.Undefined), order)

        of_rows = spread(signature.args[2], args[2], args[3], [lane // WORDS for lane in range(LANES)])
        of_columns = spread(signature.args[4], args[4], args[5], [lane % WORDS for lane in range(LANES)])
        total = _call(builder, "llvm.uadd.sat.v64i8", _VECTOR, of_rows, of_columns)
        pointer = _pointer(context, builder, signature.args[0], args[0], args[1])
        _lower(builder, pointer, total, args[6])
        return context.get_dummy_value()

    return types.void(array, types.intp, rows, types.intp, columns, types.intp, types.uint64), generate


@intrinsic
def highest_of(typing: Any, array: Any, position: Any, chosen: Any) -> Any:
    """Highest of the 64 bytes from `position` on among those whose bit is set in `chosen`; 0 if none is."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lanes = _load(builder, _pointer(context, builder, signature.args[0], args[0], args[1]))
        lanes = builder.select(builder.bitcast(args[2], _FLAGS), lanes, _ZEROS)
        return _call(builder, "llvm.vector.reduce.umax.v64i8", _BYTE, lanes)

    return types.uint8(array, types.intp, types.uint64), generate


@intrinsic
def count_lanes(
    typing: Any, array: Any, position: Any, table: Any, base: Any, rows: Any, begin: Any, end: Any, empty: Any
) -> Any:
    """Write to 512 bytes in how many rows of a table their bit is set, up to 255.

    The rows, of 8 words each, are those that `rows` names from `begin` until `end`, counted from the word `base` on;
    the row `empty` has no bit set. Counts are kept as planes, a bit of each count in one vector, to which eight rows
    are added at once: 70 rows take 65 ns, and 64 times as long if 64 bytes are added up row by row.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        zeros = ir.Constant(_WORDS, [0] * WORDS)
        planes = [cgutils.alloca_once_value(builder, zeros) for _ in range(_PLANES + 1)]
        named = context.make_array(signature.args[4])(context, builder, args[4]).data
        words = builder.gep(context.make_array(signature.args[2])(context, builder, args[2]).data, [args[3]])

        def row_at(place: Any) -> Any:
            there = builder.icmp_unsigned("<", place, args[6])
            row = builder.zext(builder.load(builder.gep(named, [builder.select(there, place, args[5])])), _WORD)
            first = builder.mul(builder.select(there, row, args[7]), ir.Constant(_WORD, WORDS))
            return _load(builder, builder.bitcast(builder.gep(words, [first]), _WORDS.as_pointer()))

        def added(one: Any, other: Any, third: Any) -> tuple[Any, Any]:
            differ = builder.xor(one, other)
            carry = builder.or_(builder.and_(one, other), builder.and_(differ, third))
            return builder.xor(differ, third), carry

        with cgutils.for_range_slice(builder, args[5], args[6], ir.Constant(_WORD, 8)) as (place, _):
            # Eight rows and what was counted before make one, two, four and a carry to the planes above.
            carries = [row_at(builder.add(place, ir.Constant(_WORD, k))) for k in range(8)]
            for plane in planes[:3]:
                total, pairs = builder.load(plane), iter(carries)
                carries = []
                for one, other in zip(pairs, pairs, strict=True):
                    total, carry = added(total, one, other)
                    carries.append(carry)
                builder.store(total, plane)
            carry = carries[0]
            for plane in planes[3:-1]:
                before = builder.load(plane)
                builder.store(builder.xor(before, carry), plane)
                carry = builder.and_(before, carry)
            builder.store(builder.or_(builder.load(planes[-1]), carry), planes[-1])
        with cgutils.for_range(builder, ir.Constant(_WORD, WORDS)) as block:

            def flags(plane: Any) -> Any:
                word = builder.gep(builder.bitcast(plane, _WORD.as_pointer()), [block.index])
                return builder.bitcast(builder.load(word), _FLAGS)

            counts = builder.sext(flags(planes[-1]), _VECTOR)
            for k, plane in enumerate(planes[:-1]):
                bit = ir.Constant(_VECTOR, [1 << k] * LANES)
                counts = builder.select(flags(plane), builder.or_(counts, bit), counts)
            at = builder.add(args[1], builder.mul(block.index, ir.Constant(_WORD, LANES)))
            builder.store(counts, _pointer(context, builder, signature.args[0], args[0], at)).align = 1
        return context.get_dummy_value()

    signature = (array, types.intp, table, types.intp, rows, types.intp, types.intp, types.intp)
    return types.void(*signature), generate


@intrinsic
def count_either(typing: Any, words: Any, a: Any, b: Any, c: Any, d: Any, count: Any) -> Any:
    """Bits set in both the `count` words from `a` and those from `b` on, or in both those from `c` and from `d` on.

    Positions count words from the first, whatever the dimensions of the array; `count` is a multiple of 8.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        total = cgutils.alloca_once_value(builder, _NO_WORDS)
        begin, step = ir.Constant(_WORD, 0), ir.Constant(_WORD, WORDS)
        with cgutils.for_range_slice(builder, begin, args[5], step) as (word, _):
            at_a, at_b, at_c, at_d = (
                _words(context, builder, signature.args[0], args[0], builder.add(at, word)) for at in args[1:5]
            )
            either = builder.or_(builder.and_(at_a, at_b), builder.and_(at_c, at_d))
            bits = _call(builder, "llvm.ctpop.v8i64", _WORDS, either)
            builder.store(builder.add(builder.load(total), bits), total)
        return _call(builder, "llvm.vector.reduce.add.v8i64", _WORD, builder.load(total))

    return types.uint64(words, types.intp, types.intp, types.intp, types.intp, types.intp), generate


@intrinsic
def bit_of_each(typing: Any, numbers: Any, position: Any, bit: Any) -> Any:
    """That bit of each of the 64 numbers from `position` on, as the bits of a word."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        lanes = _load(builder, builder.bitcast(builder.gep(data, [args[1]]), _NUMBERS.as_pointer()))
        mask = builder.shl(ir.Constant(_INDEX, 1), builder.trunc(args[2], _INDEX))
        return builder.bitcast(
            builder.icmp_unsigned("!=", builder.and_(lanes, _splat(builder, mask, _NUMBERS)), _NO_NUMBERS), _WORD
        )

    return types.uint64(numbers, types.intp, types.intp), generate


@intrinsic
def keep_without(typing: Any, words: Any, begin: Any, others: Any, position: Any, into: Any, count: Any) -> Any:
    """Write the bits of `count` words that others do not have elsewhere into the same array; tell if any is left.

    Positions count words from the first, whatever the dimensions of the arrays; `count` is a multiple of 8.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        found = cgutils.alloca_once_value(builder, _NO_WORDS)
        builder.store(_NO_WORDS, found)
        with cgutils.for_range_slice(builder, ir.Constant(_WORD, 0), args[5], ir.Constant(_WORD, WORDS)) as (word, _):
            before = _words(context, builder, signature.args[0], args[0], builder.add(args[1], word))
            other = _words(context, builder, signature.args[2], args[2], builder.add(args[3], word))
            kept = builder.and_(before, builder.not_(other))
            _store_words(context, builder, signature.args[0], args[0], builder.add(args[4], word), kept)
            builder.store(builder.or_(builder.load(found), kept), found)
        flags = builder.bitcast(builder.icmp_unsigned("!=", builder.load(found), _NO_WORDS), _BYTE)
        return builder.icmp_unsigned("!=", flags, ir.Constant(_BYTE, 0))

    return types.boolean(words, types.intp, others, types.intp, types.intp, types.intp), generate


@intrinsic
def subtract_from_planes(typing: Any, planes: Any, depth: Any, row: Any, number: Any) -> Any:
    """Subtract a number from those that are written down planes, where a row has a bit and the highest plane none.

    As loops of Python's it took 85 or 190 ns a call, for 2,000 nodes and seven planes; this takes 12.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        zero, one = ir.Constant(_WORD, 0), ir.Constant(_WORD, 1)
        kind = signature.args[0]
        stride = builder.extract_value(context.make_array(kind)(context, builder, args[0]).shape, 1)
        with cgutils.for_range_slice(builder, zero, stride, ir.Constant(_WORD, WORDS)) as (word, _):
            highest = builder.add(word, builder.mul(stride, builder.sub(args[1], one)))
            chosen = _words(context, builder, signature.args[2], args[2], word)
            chosen = builder.and_(chosen, builder.not_(_words(context, builder, kind, args[0], highest)))
            borrow = cgutils.alloca_once_value(builder, _NO_WORDS)
            builder.store(_NO_WORDS, borrow)
            with cgutils.for_range_slice(builder, zero, args[1], one) as (plane, _):
                at = builder.add(word, builder.mul(plane, stride))
                before, borrowed = _words(context, builder, kind, args[0], at), builder.load(borrow)
                less = builder.select(builder.trunc(builder.lshr(args[3], plane), _FLAG), chosen, _NO_WORDS)
                _store_words(context, builder, kind, args[0], at, builder.xor(builder.xor(before, less), borrowed))
                either, both = builder.or_(less, borrowed), builder.and_(less, borrowed)
                builder.store(builder.or_(builder.and_(builder.not_(before), either), both), borrow)
        return context.get_dummy_value()

    return types.void(planes, types.intp, row, types.intp), generate
