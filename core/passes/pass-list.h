/* SPDX-License-Identifier: Apache-2.0 */
/* gantry: table
 * The one list of passes, in the order in which core/compiler runs them: a pass is a file that defines its GantryPass, and a row here.
 *
 * GANTRY_PASS_LIST (PASS, STEP) is rows of
 *   PASS (pass, "name", when)                              gantry_pass_<pass>; one that runs twice has a second name, to be switched off by
 *                                                          itself
 *   STEP (step, "name", when, "title", "description")      what is no GantryPass, for it reads the user's wishes
 *
 * when: ALWAYS; TRAINING: a training step is made of a program that is none; CONTROL: there are calls, branches or loops;
 * PRODUCTS: products are generated, for a GPU
 */
#pragma once

#define GANTRY_PASS_LIST(PASS, STEP) \
  STEP (parameterize, "parameterize", TRAINING, "Parameters", "Weights become parameters that a training step can change.") \
  PASS (legalize, "legalize", ALWAYS) \
  PASS (simplify, "simplify", ALWAYS) \
  PASS (inline, "inline", CONTROL) /* calls become the bodies that they name */ \
  PASS (count, "count", CONTROL)   /* loops that run a known number of times become scans */ \
  PASS (roll, "roll", TRAINING)    /* runs of equal blocks become scans */ \
  STEP (train, "train", TRAINING, "Training step", "Adds the loss, the backward phase and the optimizer's update.") \
  PASS (hoist, "hoist", CONTROL)               /* sums of products over the trips of a loop become products over all of them */ \
  PASS (unroll_small, "unroll-small", CONTROL) /* loops whose trips cost more than they are worth become straight-line code */ \
  PASS (unroll, "unroll", CONTROL)             /* scans, bounded loops and branches become straight-line code */ \
  PASS (simplify, "simplify-2", TRAINING) \
  PASS (epilogue, "epilogue", ALWAYS) \
  PASS (channels, "channels", PRODUCTS) \
  PASS (fold, "fold", ALWAYS) \
  PASS (stack, "stack", CONTROL)   /* what follows the slices that a loop has made, alike for each, is done with all at once */ \
  PASS (absorb, "absorb", CONTROL) /* what follows the stacks of a loop element by element becomes part of it */ \
  PASS (cse, "cse", ALWAYS) \
  PASS (dce, "dce", ALWAYS) \
  PASS (fuse, "fuse", ALWAYS) \
  PASS (dce, "dce-2", ALWAYS) \
  PASS (rematerialize, "rematerialize", CONTROL) /* loops make again what the loops before them saved, if a placement says so */
