/* SPDX-License-Identifier: Apache-2.0 */
/* Programs with loops, built and run on one thread, for tests of how they are run. Whatever fails on the way fails the test. */
#pragma once
#include "core/build/build.h"
#include "core/runtime/runtime.h"

/* Of gantry_compile_settings: every loop stays one, and none does. */
#define LOOP_ROLLED 1
#define LOOP_WRITTEN_OUT 100000

typedef struct
{
  GantryContext *context;
  GantryModule *module;
  GantryCompileSettings settings;
  GantryCompilation *compilation;
  GantryProgram *program;
  GantryDevice *device;
  GantryExecutor *executor;
} LoopBuilt;

/** x = x + gelu (x w[i]), twelve times. */
extern const char loop_layers[];
/** x = tanh (x w) + tanh (x v), whose weights are given: of a trip two values are saved, and not what it begins with. */
extern const char loop_given[];
/** x = x + tanh (x w) where fewer than three trips have been made, then x + tanh (x w)^2: which it is, is made again from how many. */
extern const char loop_counted[];

/** @text: (transfer full); @train: its last result is the loss, and Adam the optimizer; @policy: (nullable): statements that place values;
 *  loops of more than @most_unrolled nodes stay loops */
void loop_build_with (LoopBuilt *b, char *text, gboolean train, const char *policy, guint32 most_unrolled);
/** The training step of @text (transfer full) with @choices, of a program that was built of the same */
void loop_build_chosen (LoopBuilt *b, char *text, const GantryChoices *choices, guint32 most_unrolled);
/** The training step of @text (transfer full) with @policy, every loop as one, within @limit bytes of device memory */
void loop_build_limited (LoopBuilt *b, char *text, const char *policy, guint64 limit);
/** The training step of @text (transfer full) without the pass @pass */
void loop_build_without (LoopBuilt *b, char *text, const char *pass, guint32 most_unrolled);
/** As loop_build_with(), and every loop stays one */
void loop_build_placed (LoopBuilt *b, char *text, gboolean train, const char *policy);
/** @text (transfer full) with @policy (nullable) twice, with its loops as loops and without any */
void loop_build_both (LoopBuilt *rolled, LoopBuilt *unrolled, char *text, gboolean train, const char *policy);
/** As loop_build_placed() without statements */
void loop_build (LoopBuilt *b, char *text, gboolean train);
void loop_clear (LoopBuilt *b);
/** Numbers between -0.5 and 0.5; integers are 1. (transfer full): GantryLiteral */
GPtrArray *loop_arguments (const GantryModule *module);
/** (transfer full): GantryLiteral */
GPtrArray *loop_run (const LoopBuilt *b, const GPtrArray *arguments);
/** What a step gives for parameters and states is what the next one is given. */
void loop_feed_back (const GantryModule *module, GPtrArray *arguments, const GPtrArray *results);
/** Both give the same bits of the same arguments, @rounds steps one after the other; from the second on it is held that @got reads only what is there. */
void loop_check_equal (const LoopBuilt *want, const LoopBuilt *got, guint rounds);
/** The same bits */
void loop_assert_equal (const GPtrArray *want, const GPtrArray *got);
