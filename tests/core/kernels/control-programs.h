/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of control that their tests run on every device. */
#pragma once
#include "core/plan/executable.h"
#include <string.h>

/* What is carried swaps its places, one carry is given as it is, one is not changed, a capture is read. */
#define SWAPS \
  "module \"m\" {\n" \
  "  func @main #1 (%1: f32[32,16], %2: f32[32,16], %3: i32[], %4: f32[16]) -> (%6, %7, %8) {\n" \
  "    %9 = constant() {value = dense<i32[]: 0>}: i32[]\n" \
  "    %5 = while(%9, %1, %2, %3, %4) {cond = #2, body = #3, n_carries = 3}: (i32[], f32[32,16], f32[32,16])\n" \
  "    %6 = result(%5) {index = 0}: i32[]\n" \
  "    %7 = result(%5) {index = 1}: f32[32,16]\n" \
  "    %8 = result(%5) {index = 2}: f32[32,16]\n" \
  "  }\n" \
  "  func @more #2 (%11: i32[], %12: f32[32,16], %13: f32[32,16], %14: i32[], %15: f32[16]) -> (%16) {\n" \
  "    %16 = compare(%11, %14) {comparison_direction = \"LT\"}: bool[]\n" \
  "  }\n" \
  "  func @trip #3 (%21: i32[] {alias = 0}, %22: f32[32,16] {alias = 1}, %23: f32[32,16] {alias = 2}, %24: i32[], %25: f32[16]) -> (%27, %23, %30) {\n" \
  "    %26 = constant() {value = dense<i32[]: 1>}: i32[]\n" \
  "    %27 = add(%21, %26): i32[]\n" \
  "    %28 = broadcast_in_dim(%25) {broadcast_dimensions = [1], shape = [32,16]}: f32[32,16]\n" \
  "    %29 = multiply(%22, %28): f32[32,16]\n" \
  "    %30 = tanh(%29): f32[32,16]\n" \
  "  }\n" \
  "}\n"

/* Rows of 64 bytes are used where they lie, those of 12 are copied; forwards and backwards; a branch in the body. */
#define SCAN(columns, reverse) \
  "module \"m\" {\n" \
  "  func @main #1 (%1: f32[" columns "], %2: f32[5," columns "], %3: i32[]) -> (%5, %6, %7) {\n" \
  "    %4 = scan(%1, %2, %3) {body = #2, length = 5, n_carries = 1, n_xs = 1, axes = [0], y_axes = [0, 0], reverse = " reverse "}:" \
  " (f32[" columns "], f32[5," columns "], f32[5," columns "])\n" \
  "    %5 = result(%4) {index = 0}: f32[" columns "]\n" \
  "    %6 = result(%4) {index = 1}: f32[5," columns "]\n" \
  "    %7 = result(%4) {index = 2}: f32[5," columns "]\n" \
  "  }\n" \
  "  func @step #2 (%11: f32[" columns "] {alias = 0}, %12: f32[" columns "], %13: i32[]) -> (%18, %19, %12) {\n" \
  "    %14 = constant() {value = dense<i32[]: 3>}: i32[]\n" \
  "    %15 = compare(%13, %14) {comparison_direction = \"GT\"}: bool[]\n" \
  "    %16 = if(%15, %11, %12) {then = #3, else = #4}: (f32[" columns "], f32[" columns "])\n" \
  "    %17 = result(%16) {index = 0}: f32[" columns "]\n" \
  "    %18 = tanh(%17): f32[" columns "]\n" \
  "    %19 = result(%16) {index = 1}: f32[" columns "]\n" \
  "  }\n" \
  "  func @large #3 (%21: f32[" columns "], %22: f32[" columns "]) -> (%23, %21) {\n" \
  "    %23 = add(%21, %22): f32[" columns "]\n" \
  "  }\n" \
  "  func @small #4 (%31: f32[" columns "], %32: f32[" columns "]) -> (%33, %33) {\n" \
  "    %33 = subtract(%31, %32): f32[" columns "]\n" \
  "  }\n" \
  "}\n"

/* A function that is called twice, once from within another, and that has a branch whose arms call it no more. */
#define NESTED_CALLS \
  "module \"m\" {\n" \
  "  func @main #1 (%1: f32[16], %2: i32[]) -> (%3, %4) {\n" \
  "    %3 = call(%1, %2) {body = #2}: f32[16]\n" \
  "    %4 = call(%3, %2) {body = #3}: f32[16]\n" \
  "  }\n" \
  "  func @outer #2 (%11: f32[16], %12: i32[]) -> (%14) {\n" \
  "    %13 = call(%11, %12) {body = #3}: f32[16]\n" \
  "    %14 = tanh(%13): f32[16]\n" \
  "  }\n" \
  "  func @inner #3 (%21: f32[16], %22: i32[]) -> (%25) {\n" \
  "    %23 = constant() {value = dense<i32[]: 2>}: i32[]\n" \
  "    %24 = compare(%22, %23) {comparison_direction = \"LT\"}: bool[]\n" \
  "    %25 = if(%24, %21) {then = #4, else = #5}: f32[16]\n" \
  "  }\n" \
  "  func @same #4 (%31: f32[16]) -> (%31) {\n" \
  "  }\n" \
  "  func @half #5 (%41: f32[16]) -> (%44) {\n" \
  "    %42 = constant() {value = dense<f32[]: 0.5>}: f32[]\n" \
  "    %43 = broadcast_in_dim(%42) {broadcast_dimensions = ints[], shape = [16]}: f32[16]\n" \
  "    %44 = multiply(%41, %43): f32[16]\n" \
  "  }\n" \
  "}\n"

/* Values that are put together for a loop, one of them twice and one that is a product of two, and what it stacks, of which single slices are read: all
 * of it stays in pieces, two of those over the arguments that they are donated to. */
#define PIECES(columns, reverse) \
  "module \"m\" {\n" \
  "  func @main #1 (%1: f32[" columns "], %2: f32[" columns "] {alias = 1}, %3: f32[" columns "], %4: f32[" columns "] {alias = 3}, %5: i32[])" \
  " -> (%31, %41, %42, %43, %44, %6) {\n" \
  "    %6 = add(%5, %5): i32[]\n" \
  "    %7 = multiply(%3, %4): f32[" columns "]\n" \
  "    %11 = reshape(%2) {shape = [1, " columns "]}: f32[1," columns "]\n" \
  "    %12 = reshape(%3) {shape = [1, " columns "]}: f32[1," columns "]\n" \
  "    %13 = reshape(%7) {shape = [1, " columns "]}: f32[1," columns "]\n" \
  "    %14 = reshape(%3) {shape = [1, " columns "]}: f32[1," columns "]\n" \
  "    %15 = concatenate(%11, %12, %13, %14) {dimension = 0}: f32[4," columns "]\n" \
  "    %20 = scan(%1, %15) {body = #2, length = 4, n_carries = 1, n_xs = 1, axes = [0], y_axes = [0], reverse = " reverse "}:" \
  " (f32[" columns "], f32[4," columns "]) phase(backward)\n" \
  "    %31 = result(%20) {index = 0}: f32[" columns "] phase(backward)\n" \
  "    %32 = result(%20) {index = 1}: f32[4," columns "] phase(backward)\n" PIECE ("33", "41", "0", "1", columns) PIECE ("34", "45", "1", "2", columns) \
    PIECE ("35", "43", "2", "3", columns) PIECE ("36", "46", "3", "4", columns) "    %42 = negate(%45): f32[" columns "] phase(backward)\n" \
                                                                                "    %44 = negate(%46): f32[" columns "] phase(backward)\n" \
                                                                                "  }\n" \
                                                                                "  func @trip #2 (%21: f32[" columns \
                                                                                "] {alias = 0} phase(backward), %22: f32[" columns \
                                                                                "] phase(backward)) -> (%24, %25) {\n" \
                                                                                "    %23 = add(%21, %22): f32[" columns "] phase(backward)\n" \
                                                                                "    %24 = tanh(%23): f32[" columns "] phase(backward)\n" \
                                                                                "    %25 = multiply(%24, %22): f32[" columns "] phase(backward)\n" \
                                                                                "  }\n" \
                                                                                "}\n"
#define PIECE(slice, view, from, to, columns) \
  "    %" slice " = slice(%32) {limit_indices = [" to ", " columns "], start_indices = [" from ", 0], strides = [1, 1]}: f32[1," columns "] phase(backward)\n" \
  "    %" view " = reshape(%" slice ") {shape = [" columns "]}: f32[" columns "] phase(backward)\n"

static const char *const control_programs[] = {
  SWAPS, SCAN ("16", "0"), SCAN ("3", "1"), SCAN ("16", "1"), NESTED_CALLS, PIECES ("16", "0"), PIECES ("3", "1")
};

/* A loop forwards that saves a stack, and one that goes back over it: a residual that can be offloaded slice by slice. */
#define STACKING \
  "module \"m\" {\n" \
  "  func @main #1 (%1: f32[16], %2: f32[5,16], %3: i32[]) -> (%5, %8) {\n" \
  "    %4 = scan(%1, %2) {body = #2, length = 5, n_carries = 1, n_xs = 1, axes = [0], y_axes = [0]}: (f32[16], f32[5,16])\n" \
  "    %5 = result(%4) {index = 0}: f32[16]\n" \
  "    %6 = result(%4) {index = 1}: f32[5,16]\n" \
  "    %8 = scan(%5, %6) {body = #3, length = 5, n_carries = 1, n_xs = 1, axes = [0], y_axes = ints[], reverse = 1}: f32[16]" \
  " phase(backward)\n" \
  "  }\n" \
  "  func @step #2 (%11: f32[16] {alias = 0}, %12: f32[16]) -> (%14, %13) {\n" \
  "    %13 = add(%11, %12): f32[16]\n" \
  "    %14 = tanh(%13): f32[16]\n" \
  "  }\n" \
  "  func @back #3 (%21: f32[16] {alias = 0}, %22: f32[16]) -> (%23) {\n" \
  "    %23 = multiply(%21, %22): f32[16] phase(backward)\n" \
  "  }\n" \
  "}\n"

/* As many trips as its argument says; declared are three. */
#define EXACT_TRIPS \
  "module \"m\" {\n" \
  "  func @main #1 (%1: i32[], %2: f32[4]) -> (%5) {\n" \
  "    %3 = constant() {value = dense<i32[]: 0>}: i32[]\n" \
  "    %4 \"collects\" = while(%3, %2, %1) {cond = #2, body = #3, n_carries = 2, exact_trips = 3}: (i32[], f32[4])\n" \
  "    %5 = result(%4) {index = 1}: f32[4]\n" \
  "  }\n" \
  "  func @more #2 (%11: i32[], %12: f32[4], %13: i32[]) -> (%14) {\n" \
  "    %14 = compare(%11, %13) {comparison_direction = \"LT\"}: bool[]\n" \
  "  }\n" \
  "  func @trip #3 (%21: i32[] {alias = 0}, %22: f32[4] {alias = 1}, %23: i32[]) -> (%25, %26) {\n" \
  "    %24 = constant() {value = dense<i32[]: 1>}: i32[]\n" \
  "    %25 = add(%21, %24): i32[]\n" \
  "    %26 = tanh(%22): f32[4]\n" \
  "  }\n" \
  "}\n"

/* The program that runs this one is asked before a loop, in each of its two trips, and last by the name @last. */
#define HOST_CALLS(last) \
  "module \"m\" {\n" \
  "  func @main #1 (%1: f32[4]) -> (%5) {\n" \
  "    %2 = custom_call(%1) {target = \"first\", to = type f32[4]}: f32[4]\n" \
  "    %3 = negate(%2): f32[4]\n" \
  "    %4 = scan(%3) {body = #2, length = 2, n_carries = 1, n_xs = 0, axes = ints[], y_axes = ints[]}: f32[4]\n" \
  "    %5 \"the last\" = custom_call(%4) {target = \"" last "\", to = type f32[4]}: f32[4]\n" \
  "  }\n" \
  "  func @step #2 (%11: f32[4] {alias = 0}) -> (%12) {\n" \
  "    %12 = custom_call(%11) {target = \"inner\", to = type f32[4]}: f32[4]\n" \
  "  }\n" \
  "}\n"

/* Loops without end that ask the program which runs them in each trip: one by itself, and one whose trips are within a loop of 2^40. */
#define ENDLESS_TRIP(operation, more) \
  "module \"m\" {\n" \
  "  func @main #1 (%1: f32[4]) -> (%2) {\n" \
  "    %2 = while(%1) {cond = #2, body = #3}: f32[4]\n" \
  "  }\n" \
  "  func @more #2 (%11: f32[4]) -> (%14) {\n" \
  "    %12 = reduce(%11) {dimensions = [0], kind = \"add\"}: f32[]\n" \
  "    %13 = constant() {value = dense<f32[]: 1e30>}: f32[]\n" \
  "    %14 = compare(%12, %13) {comparison_direction = \"LT\"}: bool[]\n" \
  "  }\n" \
  "  func @trip #3 (%21: f32[4] {alias = 0}) -> (%22) {\n" \
  "    %22 = " operation ": f32[4]\n" \
  "  }\n" more "}\n"

#define ENDLESS ENDLESS_TRIP ("custom_call(%21) {target = \"tick\", to = type f32[4]}", "")
#define ENDLESS_WITHIN \
  ENDLESS_TRIP ("scan(%21) {body = #4, length = 1099511627776, n_carries = 1, n_xs = 0, axes = ints[], y_axes = ints[]}", \
                "  func @inner #4 (%31: f32[4] {alias = 0}) -> (%32) {\n" \
                "    %32 = custom_call(%31) {target = \"tick\", to = type f32[4]}: f32[4]\n" \
                "  }\n")

/* Who is asked, and cancels: in which trip. */
#define ENDLESS_TRIPS 5

typedef struct
{
  GCancellable *cancellable;
  guint asked;
} ControlClock;

/** A GantryHostCall: gives what it is given, @self is a ControlClock. */
static inline gboolean
control_clock_tick (gpointer self, const GantryModule *module, const GantryNode *node, const char *target, const GantryHostTensor *operands, guint n_operands,
                    const GantryHostTensor *results, guint n_results, GError **error)
{
  ControlClock *clock = self;

  memcpy (results[0].data, operands[0].data, operands[0].size);
  if (++clock->asked == ENDLESS_TRIPS)
    g_cancellable_cancel (clock->cancellable);
  return TRUE;
}
