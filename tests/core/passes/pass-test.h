/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one pass over a small program and holds it to what every pass owes: the module it gives is sound,
 * every node can be followed, and the program computes what it computed before. */
#pragma once
#include "core/eval/evaluator.h"
#include "core/graph/graph.h"
#include "core/graph/text.h"
#include "core/passes/passes.h"

typedef struct
{
  GantryContext *context;
  GantryModule *before;
  GantryModule *after;
} PassCase;

/** The text of a module with one function. */
#define PROGRAM(parameters, results, body) HEAD (parameters, results) body TAIL
#define HEAD(parameters, results) "module \"test\" { func @main #1 (" parameters ") -> (" results ") { "
#define TAIL " } }"

/**
 * pass_case_new:
 * @options: (nullable)
 * @text: a module in the text form
 *
 * Runs @pass, verifies what it gives, compares the values of both programs on random arguments, and checks that
 * each new node's origins are nodes of the program before.
 */
PassCase *pass_case_new (const GantryPass *pass, const GantryPassOptions *options, const char *text);
void pass_case_free (PassCase *c);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PassCase, pass_case_free)

/** The same checks on modules at hand. @tolerance: of the largest value. */
void pass_check_same (const GantryModule *before, const GantryModule *after, guint32 seed, double tolerance);

/** How many nodes of all functions are that operation. */
guint pass_count (const GantryModule *module, GantryOp op);
/** The node that gives result @i of the entry. */
const GantryNode *pass_result (const GantryModule *module, guint i);
/** Fails unless the pass handed its module on untouched. */
void pass_assert_unchanged (const PassCase *c);

typedef struct
{
  const char *name;
  const char *text;
} PassText;

/** Adds a test @folder/name for each of @texts: programs that @pass hands on untouched. */
void pass_add_unchanged (const char *folder, const GantryPass *pass, const PassText *texts, guint n);
