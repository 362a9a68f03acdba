/* SPDX-License-Identifier: Apache-2.0 */
/* gantry: table
 * The scalar operations: a row says all that the tree knows of one. Rooms above read the columns that they need by expanding the table
 * with a macro of their own, so a row that lacks a column, or names what a room does not have, is not compiled.
 *
 * GANTRY_UNARY_OPERATIONS (ROW, with) is
 *   ROW (with, NAME, "name", "short", elements, result, cost, float value, integer value, float code, integer code, derivative,
 *        asks, sign)
 * and GANTRY_BINARY_OPERATIONS (ROW, with), whose result has the element type of the operands,
 *   ROW (with, NAME, "name", "short", elements, flags, cost, float value, integer value, float code, integer code, bool code,
 *        derivative, identity, range, asks, sign)
 *
 * NAME, "name"   GANTRY_OP_NAME, and how texts call it; "short": in printed expressions
 * elements       what it takes: NUMBERS (integers and floats), FLOATS, INTEGERS, BITS (integers and bool)
 * result         of a unary operation: SAME element type, or BOOL
 * flags          GantryOpFlags
 * cost           SIMPLE: one operation. SPECIAL: one of a GPU's unit for special functions, such as a root. ELEMENTARY: that, and some
 *                twenty operations of a processor. ROUTINE: as many on both
 * float value    read by core/eval, with x and y of type double: VALUE (expression), BOOLEAN (expression) or NO_VALUE
 * integer value  the same with x and y of GantryLane, their type, is_unsigned, bits, a mask of that many, and y by which to shift as `by`;
 *                the result wraps by itself
 * float code     read by core/kernels/emit. CODE (f): the function float_f of operations.c. LONG_CODE (f): likewise, and long enough to be
 *                a function of the module. INTRINSIC ("llvm.f"). LIBRARY (f): the C library's f and ff, or gantry_emit_double_f() where
 *                there is none. EXPANDED (f): float by gantry_emit_f() in math.c, double as LIBRARY. EXPANDED_BOTH (f): by
 *                gantry_emit_f() and double_f. NO_CODE
 * integer code   CODE (f): the function integer_f; NO_CODE
 * bool code      CODE (f): the function bool_f; NO_CODE
 * derivative     read by core/autodiff. OPERAND (e): the cotangent of x, an expression over that of the result, g, and x. RESULT (e): over
 *                g and the result y, so that one residual serves both. RULE (f): _gantry_gradient_f(). ZERO
 * identity       of a reduction: ZERO, ONE, ALL_ONES, LOWEST, HIGHEST, or NO_IDENTITY where nothing reduces by it
 * range          of an index, read by core/expr: RANGE (f): the function range_f of index-range.c; ANY_RANGE: nothing is known
 * asks           what rounding of its operands has to keep, read by core/planner/rounding. FACTOR: what is asked of the result, which is zero
 *                where an operand is. ADDEND: what is asked of the terms of a sum. ASKS (e): an expression over what is asked of the
 *                result, `asked`, and the sign x of the first operand. RULE (f): the function ask_f of rounding-rules.c
 * sign           of all elements of the result, read there too. SIGN (e): an expression over the signs x and y of the operands. RULE (f): the
 *                function sign_of_f of rounding-signs.c. ANY_SIGN: nothing is known
 */
#pragma once

#define GANTRY_UNARY_OPERATIONS(ROW, with) \
  /* attribute zero (optional): "positive": its gradient at 0 is 1, not 0 */ \
  ROW (with, ABS, "abs", "abs", NUMBERS, SAME, SIMPLE, VALUE (fabs (x)), VALUE (is_unsigned || x.i >= 0 ? x.u : -x.u), INTRINSIC ("llvm.fabs"), CODE (abs), \
       RULE (abs), FACTOR, SIGN (x == SIGN_POSITIVE ? x : SIGN_NOT_NEGATIVE)) \
  ROW (with, NEGATE, "negate", "negate", NUMBERS, SAME, SIMPLE, VALUE (-x), VALUE (-x.u), CODE (negate), CODE (negate), OPERAND (negated (g)), FACTOR, \
       ANY_SIGN) \
  /* x, of which no gradient is taken: gone before there is code */ \
  ROW (with, STOP_GRADIENT, "stop_gradient", "stop_gradient", NUMBERS, SAME, SIMPLE, VALUE (x), VALUE (x.u), NO_CODE, NO_CODE, ZERO, FACTOR, SIGN (x)) \
  ROW (with, SIGN, "sign", "sign", NUMBERS, SAME, SIMPLE, VALUE (sign_of (x)), VALUE (is_unsigned ? x.u != 0 : (x.i > 0) - (x.i < 0)), CODE (sign), \
       CODE (sign), ZERO, ASKS (asked | ASKED_SIGN), ANY_SIGN) \
  ROW (with, EXPONENTIAL, "exponential", "exp", FLOATS, SAME, ELEMENTARY, VALUE (exp (x)), NO_VALUE, EXPANDED (exp), NO_CODE, RESULT (times (g, y)), ADDEND, \
       SIGN (SIGN_POSITIVE)) \
  ROW (with, EXPONENTIAL_MINUS_ONE, "exponential_minus_one", "expm1", FLOATS, SAME, ELEMENTARY, VALUE (expm1 (x)), NO_VALUE, EXPANDED (expm1), NO_CODE, \
       RESULT (times (g, shifted (y, 1))), FACTOR, ANY_SIGN) \
  ROW (with, LOG, "log", "log", FLOATS, SAME, ELEMENTARY, VALUE (log (x)), NO_VALUE, EXPANDED (log), NO_CODE, OPERAND (over (g, x)), \
       ASKS (of_sum (asked) | ASKED_DIVISOR | ASKED_DOMAIN), ANY_SIGN) \
  ROW (with, LOG_PLUS_ONE, "log_plus_one", "log1p", FLOATS, SAME, ELEMENTARY, VALUE (log1p (x)), NO_VALUE, EXPANDED (log1p), NO_CODE, \
       OPERAND (over (g, shifted (x, 1))), ASKS (asked | (x == SIGN_ANY ? ASKED_CANCELS : 0)), ANY_SIGN) \
  ROW (with, LOGISTIC, "logistic", "sigmoid", FLOATS, SAME, ELEMENTARY, VALUE (1.0 / (1.0 + exp (-x))), NO_VALUE, EXPANDED_BOTH (logistic), NO_CODE, \
       RESULT (times (g, times (y, minus (one_like (y), y)))), ADDEND, SIGN (SIGN_POSITIVE)) \
  ROW (with, TANH, "tanh", "tanh", FLOATS, SAME, ELEMENTARY, VALUE (tanh (x)), NO_VALUE, EXPANDED (tanh), NO_CODE, RESULT (times (g, one_minus_square (y))), \
       FACTOR, ANY_SIGN) \
  ROW (with, SQRT, "sqrt", "sqrt", FLOATS, SAME, SPECIAL, VALUE (sqrt (x)), NO_VALUE, INTRINSIC ("llvm.sqrt"), NO_CODE, RESULT (over (scaled (g, 0.5), y)), \
       ASKS (asked | ASKED_DOMAIN), SIGN (x == SIGN_POSITIVE ? x : SIGN_NOT_NEGATIVE)) \
  ROW (with, RSQRT, "rsqrt", "rsqrt", FLOATS, SAME, SPECIAL, VALUE (1.0 / sqrt (x)), NO_VALUE, CODE (rsqrt), NO_CODE, \
       RESULT (times (scaled (g, -0.5), times (y, square (y)))), ASKS (asked | ASKED_DIVISOR), SIGN (SIGN_NOT_NEGATIVE)) \
  ROW (with, CBRT, "cbrt", "cbrt", FLOATS, SAME, ELEMENTARY, VALUE (cbrt (x)), NO_VALUE, LIBRARY (cbrt), NO_CODE, \
       RESULT (over (scaled (g, 1.0 / 3), square (y))), FACTOR, ANY_SIGN) \
  ROW (with, SINE, "sine", "sin", FLOATS, SAME, ELEMENTARY, VALUE (sin (x)), NO_VALUE, EXPANDED (sin), NO_CODE, OPERAND (times (g, of (COSINE, x))), ADDEND, \
       ANY_SIGN) \
  ROW (with, COSINE, "cosine", "cos", FLOATS, SAME, ELEMENTARY, VALUE (cos (x)), NO_VALUE, EXPANDED (cos), NO_CODE, \
       OPERAND (times (negated (g), of (SINE, x))), ADDEND, ANY_SIGN) \
  ROW (with, TAN, "tan", "tan", FLOATS, SAME, ELEMENTARY, VALUE (tan (x)), NO_VALUE, EXPANDED (tan), NO_CODE, RESULT (times (g, one_plus_square (y))), \
       ASKS (asked | ASKED_CANCELS), ANY_SIGN) \
  ROW (with, ASIN, "asin", "asin", FLOATS, SAME, ELEMENTARY, VALUE (asin (x)), NO_VALUE, LIBRARY (asin), NO_CODE, \
       OPERAND (times (g, of (RSQRT, one_minus_square (x)))), FACTOR, ANY_SIGN) \
  ROW (with, ACOS, "acos", "acos", FLOATS, SAME, ELEMENTARY, VALUE (acos (x)), NO_VALUE, LIBRARY (acos), NO_CODE, \
       OPERAND (times (negated (g), of (RSQRT, one_minus_square (x)))), ADDEND, ANY_SIGN) \
  ROW (with, ATAN, "atan", "atan", FLOATS, SAME, ELEMENTARY, VALUE (atan (x)), NO_VALUE, LIBRARY (atan), NO_CODE, OPERAND (over (g, one_plus_square (x))), \
       FACTOR, ANY_SIGN) \
  ROW (with, SINH, "sinh", "sinh", FLOATS, SAME, ELEMENTARY, VALUE (sinh (x)), NO_VALUE, LIBRARY (sinh), NO_CODE, OPERAND (times (g, of (COSH, x))), FACTOR, \
       ANY_SIGN) \
  ROW (with, COSH, "cosh", "cosh", FLOATS, SAME, ELEMENTARY, VALUE (cosh (x)), NO_VALUE, LIBRARY (cosh), NO_CODE, OPERAND (times (g, of (SINH, x))), ADDEND, \
       SIGN (SIGN_POSITIVE)) \
  ROW (with, ASINH, "asinh", "asinh", FLOATS, SAME, ELEMENTARY, VALUE (asinh (x)), NO_VALUE, LIBRARY (asinh), NO_CODE, \
       OPERAND (times (g, of (RSQRT, one_plus_square (x)))), FACTOR, ANY_SIGN) \
  /* (x - 1) (x + 1) keeps digits near 1 that x^2 - 1 loses */ \
  ROW (with, ACOSH, "acosh", "acosh", FLOATS, SAME, ELEMENTARY, VALUE (acosh (x)), NO_VALUE, LIBRARY (acosh), NO_CODE, \
       OPERAND (times (g, of (RSQRT, times (shifted (x, -1), shifted (x, 1))))), ASKS (of_sum (asked) | ASKED_CANCELS), ANY_SIGN) \
  ROW (with, ATANH, "atanh", "atanh", FLOATS, SAME, ELEMENTARY, VALUE (atanh (x)), NO_VALUE, LIBRARY (atanh), NO_CODE, \
       OPERAND (over (g, one_minus_square (x))), ASKS (asked | ASKED_CANCELS), ANY_SIGN) \
  ROW (with, ERF, "erf", "erf", FLOATS, SAME, ELEMENTARY, VALUE (erf (x)), NO_VALUE, EXPANDED (erf), NO_CODE, \
       OPERAND (times (g, scaled (of (EXPONENTIAL, negated (square (x))), M_2_SQRTPI))), FACTOR, ANY_SIGN) \
  ROW (with, FLOOR, "floor", "floor", FLOATS, SAME, SIMPLE, VALUE (floor (x)), NO_VALUE, INTRINSIC ("llvm.floor"), NO_CODE, ZERO, ASKS (ASKED_EXACT), \
       ANY_SIGN) \
  ROW (with, CEIL, "ceil", "ceil", FLOATS, SAME, SIMPLE, VALUE (ceil (x)), NO_VALUE, INTRINSIC ("llvm.ceil"), NO_CODE, ZERO, ASKS (ASKED_EXACT), ANY_SIGN) \
  ROW (with, ROUND_NEAREST_EVEN, "round_nearest_even", "round_nearest_even", FLOATS, SAME, SIMPLE, VALUE (rint (x)), NO_VALUE, INTRINSIC ("llvm.rint"), \
       NO_CODE, ZERO, ASKS (ASKED_EXACT), ANY_SIGN) \
  ROW (with, ROUND_NEAREST_AFZ, "round_nearest_afz", "round_nearest_afz", FLOATS, SAME, SIMPLE, VALUE (round (x)), NO_VALUE, CODE (round_away), NO_CODE, ZERO, \
       ASKS (ASKED_EXACT), ANY_SIGN) \
  ROW (with, IS_FINITE, "is_finite", "is_finite", FLOATS, BOOL, SIMPLE, BOOLEAN (isfinite (x)), VALUE (1), CODE (is_finite), CODE (is_finite), ZERO, ADDEND, \
       ANY_SIGN) \
  ROW (with, IS_NAN, "is_nan", "is_nan", FLOATS, BOOL, SIMPLE, BOOLEAN (isnan (x)), VALUE (0), CODE (is_nan), CODE (is_nan), ZERO, ADDEND, ANY_SIGN) \
  /* logical on bool, bitwise on integers */ \
  ROW (with, NOT, "not", "not", BITS, SAME, SIMPLE, NO_VALUE, VALUE (type == GANTRY_BOOL ? !x.u : ~x.u), NO_CODE, CODE (not ), ZERO, ADDEND, ANY_SIGN) \
  ROW (with, POPCNT, "popcnt", "popcnt", INTEGERS, SAME, SIMPLE, NO_VALUE, VALUE (__builtin_popcountll (x.u &mask)), NO_CODE, CODE (popcnt), ZERO, ADDEND, \
       ANY_SIGN) \
  ROW (with, COUNT_LEADING_ZEROS, "count_leading_zeros", "count_leading_zeros", INTEGERS, SAME, SIMPLE, NO_VALUE, VALUE (leading_zeros (x.u &mask, bits)), \
       NO_CODE, CODE (leading_zeros), ZERO, ADDEND, ANY_SIGN)

#define GANTRY_BINARY_OPERATIONS(ROW, with) \
  ROW (with, ADD, "add", "add", NUMBERS, GANTRY_OP_COMMUTATIVE | GANTRY_OP_ASSOCIATIVE, SIMPLE, VALUE (x + y), VALUE (x.u + y.u), CODE (add), CODE (add), \
       CODE (or), RULE (add), ZERO, RANGE (add), RULE (add), SIGN (sign_of_sum (x, y))) \
  ROW (with, SUBTRACT, "subtract", "subtract", NUMBERS, 0, SIMPLE, VALUE (x - y), VALUE (x.u - y.u), CODE (subtract), CODE (subtract), CODE (xor), \
       RULE (subtract), NO_IDENTITY, RANGE (subtract), ADDEND, ANY_SIGN) \
  ROW (with, MULTIPLY, "multiply", "multiply", NUMBERS, GANTRY_OP_COMMUTATIVE | GANTRY_OP_ASSOCIATIVE, SIMPLE, VALUE (x * y), VALUE (x.u * y.u), \
       CODE (multiply), CODE (multiply), CODE (and), RULE (multiply), ONE, RANGE (multiply), FACTOR, RULE (product)) \
  ROW (with, DIVIDE, "divide", "divide", NUMBERS, 0, SIMPLE, VALUE (x / y), VALUE (quotient (type, x, y).u), CODE (divide), CODE (divide), CODE (or_not), \
       RULE (divide), NO_IDENTITY, RANGE (divide), RULE (divide), RULE (product)) \
  /* sign of the dividend, as fmod */ \
  ROW (with, REMAINDER, "remainder", "remainder", NUMBERS, 0, ROUTINE, VALUE (fmod (x, y)), VALUE (modulo (type, x, y).u), LIBRARY (fmod), CODE (divide), \
       CODE (and_not), RULE (remainder), NO_IDENTITY, RANGE (remainder), ASKS (ASKED_EXACT), ANY_SIGN) \
  ROW (with, POWER, "power", "pow", NUMBERS, 0, ELEMENTARY, VALUE (pow (x, y)), VALUE (power (type, x, y)), LONG_CODE (power), CODE (power), CODE (or_not), \
       RULE (power), NO_IDENTITY, ANY_RANGE, RULE (power), RULE (power)) \
  /* NaN wins; attribute ties (optional): "half": of equal operands a constant takes half the gradient, not all */ \
  ROW (with, MAXIMUM, "maximum", "max", NUMBERS, GANTRY_OP_COMMUTATIVE | GANTRY_OP_ASSOCIATIVE, SIMPLE, VALUE (max_of (x, y)), VALUE (larger (type, x, y).u), \
       CODE (maximum), CODE (maximum), CODE (or), RULE (extremum), LOWEST, RANGE (maximum), FACTOR, SIGN (sign_of_maximum (x, y))) \
  /* the same */ \
  ROW (with, MINIMUM, "minimum", "min", NUMBERS, GANTRY_OP_COMMUTATIVE | GANTRY_OP_ASSOCIATIVE, SIMPLE, VALUE (min_of (x, y)), VALUE (smaller (type, x, y).u), \
       CODE (minimum), CODE (minimum), CODE (and), RULE (extremum), HIGHEST, RANGE (minimum), FACTOR, SIGN (sign_of_either (x, y))) \
  ROW (with, ATAN2, "atan2", "atan2", FLOATS, 0, ROUTINE, VALUE (atan2 (x, y)), NO_VALUE, LIBRARY (atan2), NO_CODE, NO_CODE, RULE (atan2), NO_IDENTITY, \
       ANY_RANGE, ASKS (ASKED_SIGN | of_sum (asked)), ANY_SIGN) \
  ROW (with, AND, "and", "and", BITS, GANTRY_OP_COMMUTATIVE | GANTRY_OP_ASSOCIATIVE, SIMPLE, NO_VALUE, VALUE (x.u & y.u), NO_CODE, CODE (and), CODE (and), \
       ZERO, ALL_ONES, ANY_RANGE, ADDEND, ANY_SIGN) \
  ROW (with, OR, "or", "or", BITS, GANTRY_OP_COMMUTATIVE | GANTRY_OP_ASSOCIATIVE, SIMPLE, NO_VALUE, VALUE (x.u | y.u), NO_CODE, CODE (or), CODE (or), ZERO, \
       ZERO, ANY_RANGE, ADDEND, ANY_SIGN) \
  ROW (with, XOR, "xor", "xor", BITS, GANTRY_OP_COMMUTATIVE | GANTRY_OP_ASSOCIATIVE, SIMPLE, NO_VALUE, VALUE (x.u ^ y.u), NO_CODE, CODE (xor), CODE (xor), \
       ZERO, ZERO, ANY_RANGE, ADDEND, ANY_SIGN) \
  ROW (with, SHIFT_LEFT, "shift_left", "shift_left", INTEGERS, 0, SIMPLE, NO_VALUE, VALUE (by >= bits ? 0 : x.u << by), NO_CODE, CODE (shift), NO_CODE, ZERO, \
       NO_IDENTITY, ANY_RANGE, ADDEND, ANY_SIGN) \
  ROW (with, SHIFT_RIGHT_ARITHMETIC, "shift_right_arithmetic", "shift_right_arithmetic", INTEGERS, 0, SIMPLE, NO_VALUE, \
       VALUE (shifted_arithmetic (x, by, bits)), NO_CODE, CODE (shift), NO_CODE, ZERO, NO_IDENTITY, ANY_RANGE, ADDEND, ANY_SIGN) \
  ROW (with, SHIFT_RIGHT_LOGICAL, "shift_right_logical", "shift_right_logical", INTEGERS, 0, SIMPLE, NO_VALUE, VALUE (by >= bits ? 0 : (x.u & mask) >> by), \
       NO_CODE, CODE (shift), NO_CODE, ZERO, NO_IDENTITY, ANY_RANGE, ADDEND, ANY_SIGN)
