/* SPDX-License-Identifier: Apache-2.0 */
/* A machine that carries out plans on real bytes, one arena for each memory kind, its queues as perverse as the plan's waits
 * allow. It knows nothing of how plans are made. */
#pragma once
#include "core/graph/graph.h"
#include "core/plan/plan.h"

/** Checks what a plan promises: places apart, lifetimes, what may be written in place, sums. Aborts the test otherwise. */
void plan_check (const GantryModule *module, const GantryPlan *plan);
/**
 * Runs @plan with @arguments and compares every result with @expected, bit for bit. Of the steps that could come next one is
 * taken at random: of the compute queue with probability @compute, else of the others.
 */
void
plan_run (const GantryModule *module, const GantryPlan *plan, GantryLiteral *const *arguments, GantryLiteral *const *expected, GRand *random, double compute);
/** Buffers and steps, for whoever looks for a fault (PLAN_DUMP in the environment). */
void plan_print (const GantryModule *module, const GantryPlan *plan);
/** One literal of numbers in [-1, 1) for each parameter. Returns: (transfer full) (array zero-terminated=1) */
GantryLiteral **plan_arguments (const GantryModule *module, GRand *random);
/** What the evaluator says of the entry function. */
GantryLiteral **plan_expected (const GantryModule *module, GantryLiteral *const *arguments);
void plan_free_literals (GantryLiteral **literals);
