/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of long loops, for tests and benchmarks: recurrent networks over many steps, and a language model of one layer that writes
 * one token after the other. */
#pragma once
#include <glib.h>

#define DECODE_TOKENS 200

/* Writes @text with names in braces for what they stand for: {T} tokens, {D} width, {V} vocabulary, {3D} three widths, {B} a batch,
 * {S} steps, {E} the token that ends it, {C} the kind of loop. */
static inline char *
loop_program_fill (const char *text, const char *const *names, const char *const *values)
{
  GString *filled = g_string_new (text);

  for (guint i = 0; names[i] != NULL; i++)
    g_string_replace (filled, names[i], values[i], 0);
  return g_string_free (filled, FALSE);
}

#define LOOP_NUMBER(n) g_strdup_printf ("%d", (n))

/** A gated recurrent unit (Cho and others, 2014) of @width over @steps steps; what it gives is its last state. (transfer full) */
static inline char *
gru_program (int steps, int batch, int width)
{
  static const char text[] =
    "module \"gru\" {\n"
    "  func @main #1 (%1 \"x\": f32[{S},{B},{D}], %2 \"wx\": f32[{D},{3D}] {role = \"parameter\"},"
    " %3 \"wh\": f32[{D},{3D}] {role = \"parameter\"}, %4 \"b\": f32[{3D}] {role = \"parameter\"}) -> (%33) {\n"
    "    %31 = constant() {value = dense<f32[]: 0.0>}: f32[]\n"
    "    %32 = broadcast_in_dim(%31) {broadcast_dimensions = ints[], shape = [{B}, {D}]}: f32[{B},{D}]\n"
    "    %33 = scan(%32, %1, %2, %3, %4) {axes = [0], body = #2, length = {S}, n_carries = 1, n_xs = 1, y_axes = ints[]}: f32[{B},{D}]\n"
    "  }\n"
    "  func @cell #2 (%7 \"h\": f32[{B},{D}], %9 \"x\": f32[{B},{D}], %10: f32[{D},{3D}], %11: f32[{D},{3D}], %12: f32[{3D}]) -> (%29) {\n"
    "    %13 = dot_general(%9, %10) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[{B},{3D}]\n"
    "    %14 = dot_general(%7, %11) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[{B},{3D}]\n"
    "    %16 = broadcast_in_dim(%12) {broadcast_dimensions = [1], shape = [{B}, {3D}]}: f32[{B},{3D}]\n"
    "    %15 = add(%13, %16): f32[{B},{3D}]\n"
    "    %17 = slice(%15) {limit_indices = [{B}, {2D}], start_indices = [0, 0], strides = [1, 1]}: f32[{B},{2D}]\n"
    "    %18 = slice(%14) {limit_indices = [{B}, {2D}], start_indices = [0, 0], strides = [1, 1]}: f32[{B},{2D}]\n"
    "    %19 = add(%17, %18): f32[{B},{2D}]\n"
    "    %20 = logistic(%19): f32[{B},{2D}]\n"
    "    %21 = slice(%20) {limit_indices = [{B}, {D}], start_indices = [0, 0], strides = [1, 1]}: f32[{B},{D}]\n"
    "    %22 = slice(%20) {limit_indices = [{B}, {2D}], start_indices = [0, {D}], strides = [1, 1]}: f32[{B},{D}]\n"
    "    %23 = slice(%15) {limit_indices = [{B}, {3D}], start_indices = [0, {2D}], strides = [1, 1]}: f32[{B},{D}]\n"
    "    %24 = slice(%14) {limit_indices = [{B}, {3D}], start_indices = [0, {2D}], strides = [1, 1]}: f32[{B},{D}]\n"
    "    %25 = multiply(%21, %24): f32[{B},{D}]\n"
    "    %26 = add(%23, %25): f32[{B},{D}]\n"
    "    %27 = tanh(%26): f32[{B},{D}]\n"
    "    %28 = subtract(%7, %27): f32[{B},{D}]\n"
    "    %30 = multiply(%22, %28): f32[{B},{D}]\n"
    "    %29 = add(%27, %30): f32[{B},{D}]\n"
    "  }\n"
    "}\n";
  static const char *const names[] = { "{S}", "{B}", "{D}", "{2D}", "{3D}", NULL };
  g_autofree char *s = LOOP_NUMBER (steps), *b = LOOP_NUMBER (batch), *d = LOOP_NUMBER (width), *d2 = LOOP_NUMBER (2 * width), *d3 = LOOP_NUMBER (3 * width);

  return loop_program_fill (text, names, (const char *const[]){ s, b, d, d2, d3 });
}

/** A long short-term memory (Hochreiter and Schmidhuber, 1997) of @width over @steps steps; what it gives is a
 *  product of its last output and of the mean of all. (transfer full) */
static inline char *
lstm_program (int steps, int batch, int width)
{
  static const char text[] =
    "module \"lstm\" {\n"
    "  func @main #1 (%1 \"x\": f32[{S},{B},{D}], %2 \"wx\": f32[{D},{4D}] {role = \"parameter\"},"
    " %3 \"wh\": f32[{D},{4D}] {role = \"parameter\"}, %4 \"b\": f32[{4D}] {role = \"parameter\"},"
    " %5 \"head\": f32[{D},{D}] {role = \"parameter\"}) -> (%41) {\n"
    "    %31 = constant() {value = dense<f32[]: 0.0>}: f32[]\n"
    "    %32 = broadcast_in_dim(%31) {broadcast_dimensions = ints[], shape = [{B}, {D}]}: f32[{B},{D}]\n"
    "    %33 = scan(%32, %32, %1, %2, %3, %4) {axes = [0], body = #2, length = {S}, n_carries = 2, n_xs = 1, y_axes = [0]}:"
    " (f32[{B},{D}], f32[{B},{D}], f32[{S},{B},{D}])\n"
    "    %34 = result(%33) {index = 0}: f32[{B},{D}]\n"
    "    %35 = result(%33) {index = 2}: f32[{S},{B},{D}]\n"
    "    %36 = reduce(%35) {dimensions = [0], kind = \"add\"}: f32[{B},{D}]\n"
    "    %39 = constant() {value = dense<f32[]: {S}.0>}: f32[]\n"
    "    %37 = broadcast_in_dim(%39) {broadcast_dimensions = ints[], shape = [{B}, {D}]}: f32[{B},{D}]\n"
    "    %38 = divide(%36, %37): f32[{B},{D}]\n"
    "    %40 = add(%34, %38): f32[{B},{D}]\n"
    "    %41 = dot_general(%40, %5) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[{B},{D}]\n"
    "  }\n"
    "  func @cell #2 (%7 \"h\": f32[{B},{D}], %8 \"c\": f32[{B},{D}], %9 \"x\": f32[{B},{D}], %10: f32[{D},{4D}], %11: f32[{D},{4D}], %12: f32[{4D}])"
    " -> (%30, %27, %30) {\n"
    "    %13 = dot_general(%9, %10) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[{B},{4D}]\n"
    "    %14 = dot_general(%7, %11) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[{B},{4D}]\n"
    "    %15 = add(%13, %14): f32[{B},{4D}]\n"
    "    %16 = broadcast_in_dim(%12) {broadcast_dimensions = [1], shape = [{B}, {4D}]}: f32[{B},{4D}]\n"
    "    %17 = add(%15, %16): f32[{B},{4D}]\n"
    "    %18 = slice(%17) {limit_indices = [{B}, {D}], start_indices = [0, 0], strides = [1, 1]}: f32[{B},{D}]\n"
    "    %19 = slice(%17) {limit_indices = [{B}, {2D}], start_indices = [0, {D}], strides = [1, 1]}: f32[{B},{D}]\n"
    "    %20 = slice(%17) {limit_indices = [{B}, {3D}], start_indices = [0, {2D}], strides = [1, 1]}: f32[{B},{D}]\n"
    "    %21 = slice(%17) {limit_indices = [{B}, {4D}], start_indices = [0, {3D}], strides = [1, 1]}: f32[{B},{D}]\n"
    "    %22 = logistic(%19): f32[{B},{D}]\n"
    "    %23 = multiply(%22, %8): f32[{B},{D}]\n"
    "    %24 = logistic(%18): f32[{B},{D}]\n"
    "    %25 = tanh(%20): f32[{B},{D}]\n"
    "    %26 = multiply(%24, %25): f32[{B},{D}]\n"
    "    %27 = add(%23, %26): f32[{B},{D}]\n"
    "    %28 = logistic(%21): f32[{B},{D}]\n"
    "    %29 = tanh(%27): f32[{B},{D}]\n"
    "    %30 = multiply(%28, %29): f32[{B},{D}]\n"
    "  }\n"
    "}\n";
  static const char *const names[] = { "{S}", "{B}", "{D}", "{2D}", "{3D}", "{4D}", NULL };
  g_autofree char *s = LOOP_NUMBER (steps), *b = LOOP_NUMBER (batch), *d = LOOP_NUMBER (width), *d2 = LOOP_NUMBER (2 * width), *d3 = LOOP_NUMBER (3 * width),
                  *d4 = LOOP_NUMBER (4 * width);

  return loop_program_fill (text, names, (const char *const[]){ s, b, d, d2, d3, d4 });
}

/** Greedy decoding: each step reads the token before, puts its key and value into their caches, attends to all of them and takes the
 *  likeliest token, until that is @end (-1: never) or there are DECODE_TOKENS. Gives the tokens and how many there are. @until: FALSE:
 *  all DECODE_TOKENS steps, without asking. (transfer full) */
static inline char *
decode_program (int width, int vocabulary, int end, gboolean until)
{
  static const char text[] =
    "module \"decode\" {\n"
    "  func @main #1 (%3 \"first\": i32[], %4 \"embedding\": f32[{V},{D}], %5 \"wq\": f32[{D},{D}], %6 \"wk\": f32[{D},{D}],"
    " %7 \"wv\": f32[{D},{D}], %8 \"wo\": f32[{D},{V}]) -> (%110, %111) {\n"
    "    %101 = constant() {value = dense<i32[]: 0>}: i32[]\n"
    "    %102 = constant() {value = dense<f32[]: 0.0>}: f32[]\n"
    "    %103 = broadcast_in_dim(%102) {broadcast_dimensions = ints[], shape = [{T}, {D}]}: f32[{T},{D}]\n"
    "    %104 = broadcast_in_dim(%101) {broadcast_dimensions = ints[], shape = [{T}]}: i32[{T}]\n"
    "    %105 = {C}: (i32[], i32[], f32[{T},{D}], f32[{T},{D}], i32[{T}])\n"
    "    %110 = result(%105) {index = 4}: i32[{T}]\n"
    "    %111 = result(%105) {index = 0}: i32[]\n"
    "  }\n"
    "  func @more #2 (%11: i32[], %12: i32[], %13: f32[{T},{D}], %14: f32[{T},{D}], %15: i32[{T}], %16: f32[{V},{D}], %17: f32[{D},{D}],"
    " %18: f32[{D},{D}], %19: f32[{D},{D}], %20: f32[{D},{V}]) -> (%90) {\n"
    "    %91 = constant() {value = dense<i32[]: {T}>}: i32[]\n"
    "    %92 = compare(%11, %91) {comparison_direction = \"LT\"}: bool[]\n"
    "    %93 = constant() {value = dense<i32[]: {E}>}: i32[]\n"
    "    %94 = compare(%12, %93) {comparison_direction = \"NE\"}: bool[]\n"
    "    %90 = and(%92, %94): bool[]\n"
    "  }\n"
    "  func @step #3 (%21 \"i\": i32[], %22 \"token\": i32[], %23 \"keys\": f32[{T},{D}], %24 \"values\": f32[{T},{D}],"
    " %25 \"tokens\": i32[{T}], %26: f32[{V},{D}], %27: f32[{D},{D}], %28: f32[{D},{D}], %29: f32[{D},{D}], %30: f32[{D},{V}])"
    " -> (%31, %32, %33, %34, %35) {\n"
    "    %40 = constant() {value = dense<i32[]: 0>}: i32[]\n"
    "    %41 = constant() {value = dense<i32[]: 1>}: i32[]\n"
    "    %31 = add(%21, %41): i32[]\n"
    "    %42 = dynamic_slice(%26, %22, %40) {slice_sizes = [1, {D}]}: f32[1,{D}]\n"
    "    %43 = dot_general(%42, %27) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[1,{D}]\n"
    "    %44 = dot_general(%42, %28) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[1,{D}]\n"
    "    %45 = dot_general(%42, %29) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[1,{D}]\n"
    "    %33 = dynamic_update_slice(%23, %44, %21, %40): f32[{T},{D}]\n"
    "    %34 = dynamic_update_slice(%24, %45, %21, %40): f32[{T},{D}]\n"
    "    %46 = dot_general(%43, %33) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]}: f32[1,{T}]\n"
    "    %47 = iota() {to = type i32[1,{T}], iota_dimension = 1}: i32[1,{T}]\n"
    "    %48 = broadcast_in_dim(%21) {broadcast_dimensions = ints[], shape = [1,{T}]}: i32[1,{T}]\n"
    "    %49 = compare(%47, %48) {comparison_direction = \"LE\"}: bool[1,{T}]\n"
    "    %50 = constant() {value = dense<f32[]: -1e30>}: f32[]\n"
    "    %51 = broadcast_in_dim(%50) {broadcast_dimensions = ints[], shape = [1,{T}]}: f32[1,{T}]\n"
    "    %52 = select(%49, %46, %51): f32[1,{T}]\n"
    "    %53 = reduce(%52) {dimensions = [1], kind = \"max\"}: f32[1]\n"
    "    %54 = broadcast_in_dim(%53) {broadcast_dimensions = [0], shape = [1,{T}]}: f32[1,{T}]\n"
    "    %55 = subtract(%52, %54): f32[1,{T}]\n"
    "    %56 = exponential(%55): f32[1,{T}]\n"
    "    %57 = reduce(%56) {dimensions = [1], kind = \"add\"}: f32[1]\n"
    "    %58 = broadcast_in_dim(%57) {broadcast_dimensions = [0], shape = [1,{T}]}: f32[1,{T}]\n"
    "    %59 = divide(%56, %58): f32[1,{T}]\n"
    "    %60 = dot_general(%59, %34) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[1,{D}]\n"
    "    %61 = add(%60, %42): f32[1,{D}]\n"
    "    %62 = dot_general(%61, %30) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[1,{V}]\n"
    "    %63 = reduce(%62) {dimensions = [0,1], kind = \"max\"}: f32[]\n"
    "    %64 = broadcast_in_dim(%63) {broadcast_dimensions = ints[], shape = [1,{V}]}: f32[1,{V}]\n"
    "    %65 = compare(%62, %64) {comparison_direction = \"EQ\"}: bool[1,{V}]\n"
    "    %66 = iota() {to = type i32[1,{V}], iota_dimension = 1}: i32[1,{V}]\n"
    "    %67 = constant() {value = dense<i32[]: {L}>}: i32[]\n"
    "    %68 = broadcast_in_dim(%67) {broadcast_dimensions = ints[], shape = [1,{V}]}: i32[1,{V}]\n"
    "    %69 = select(%65, %66, %68): i32[1,{V}]\n"
    "    %32 = reduce(%69) {dimensions = [0,1], kind = \"min\"}: i32[]\n"
    "    %70 = broadcast_in_dim(%32) {broadcast_dimensions = ints[], shape = [1]}: i32[1]\n"
    "    %35 = dynamic_update_slice(%25, %70, %21): i32[{T}]\n"
    "  }\n"
    "}\n";
  static const char *const names[] = { "{C}", "{T}", "{D}", "{V}", "{L}", "{E}", NULL };
  g_autofree char *d = LOOP_NUMBER (width), *v = LOOP_NUMBER (vocabulary), *last = LOOP_NUMBER (vocabulary - 1), *e = LOOP_NUMBER (end);

  return loop_program_fill (text, names,
                            (const char *const[]){ until ? "while(%101, %3, %103, %103, %104, %4, %5, %6, %7, %8) {cond = #2, body = #3,"
                                                           " n_carries = 5, trip_count = {T}}"
                                                         : "scan(%101, %3, %103, %103, %104, %4, %5, %6, %7, %8) {body = #3, length = {T},"
                                                           " n_carries = 5, n_xs = 0, axes = ints[], y_axes = ints[]}",
                                                   G_STRINGIFY (DECODE_TOKENS), d, v, last, e });
}
