/* SPDX-License-Identifier: Apache-2.0 */
/* A training step in a session file, and what commands say of it: for tests that ask several of the same step. */
#pragma once
#include "tests/app/cli/cli-test.h"

typedef struct
{
  char *folder;
  char *step; /* session file */
} StepPlace;

void step_place_set_up (StepPlace *place, gconstpointer data);
void step_place_tear_down (StepPlace *place, gconstpointer data);
char *step_program (const char *name); /* path of data/programs/@name (transfer full) */
/** A step of @name in place->step. (transfer full): what train printed */
JsonNode *step_make (const StepPlace *place, const char *name);
/** @command on the step; more arguments follow, NULL-terminated. Returns the object. (transfer full) */
JsonNode *step_ask (const StepPlace *place, const char *command, ...) G_GNUC_NULL_TERMINATED;
gint64 step_number (JsonNode *node, const char *key);
/** Bytes of the part @name of the member "parts". */
gint64 step_part (JsonNode *node, const char *name);
