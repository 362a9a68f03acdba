/* SPDX-License-Identifier: Apache-2.0 */
/* Holds gradients to central finite differences, in f64 with the evaluator. */
#pragma once
#include "core/autodiff/autodiff.h"
#include "core/eval/evaluator.h"
#include "core/graph/graph.h"
#include "core/graph/text.h"

/**
 * GradientCheck:
 * @low, @high: arguments are drawn from here
 * @step: of the difference; 0: 1e-5
 * @tolerance: of max (1, largest gradient); 0: 1e-6
 * @directions: 0: each element of each parameter is moved by itself; else so many random directions
 * @random: where values come from
 */
typedef struct
{
  double low, high;
  double step, tolerance;
  guint directions;
  GRand *random;
} GradientCheck;

GantryModule *gradient_parse (GantryContext *context, const char *text);

/**
 * gradient_check:
 *
 * Differentiates all results of floating point by all parameters of floating point; verifies the
 * result, its origins and phases, compares the results that it keeps bit by bit with those of
 * @module, and the gradients with differences.
 *
 * Returns: (transfer full): the gradients alone as a module, (parameters, cotangents) -> gradients
 */
GantryModule *gradient_check (GantryModule *module, const GradientCheck *check);

/** Differentiates by @options and fails the test on an error. */
GantryModule *gradient_of (GantryModule *module, const GantryGradientOptions *options);
/** As gradient_check(), then once more on the gradients. */
void gradient_check_twice (GantryModule *module, const GradientCheck *check);

/** Random values of a type: floats from the check's range, integers from 0 to 3. */
GantryLiteral *gradient_random (const GradientCheck *check, const GantryType *type);
/** Evaluates the entry function. Returns: (transfer full): n_results literals */
GantryLiteral **gradient_evaluate (const GantryModule *module, GantryLiteral **arguments);
void gradient_free_literals (GantryLiteral **literals, guint n);
/** How many nodes of all functions are that operation. */
guint gradient_count (const GantryModule *module, guint op);
