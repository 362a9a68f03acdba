/* SPDX-License-Identifier: Apache-2.0 */
/* Reading texts of XLA's forms in tests: a text of the test, texts that are wrong, files of the shared data. */
#pragma once
#include "core/frontends/xla/xla.h"
#include "core/graph/graph.h"

/** @name: ends in what says the form, ".mlir" or ".hlo". @info: (out) (optional). Returns: (transfer full) (nullable) */
GantryModule *read_case (GantryContext *context, const char *text, const char *name, GantryXlaInfo **info, GError **error);

/** @message: part of what the error says */
typedef struct
{
  const char *text, *message;
  GantryError code;
} ReadError;

/** Each of @cases ends in its error. */
void read_case_errors (const char *name, const ReadError *cases, guint n);

/** @operations: 0 where they are not counted */
typedef struct
{
  const char *name;
  guint operations, modules;
} ReadSample;

/** Each of @samples, in @folder of the shared data, opens with what its table counts, and says where each node was written. */
void read_case_samples (const char *folder, const ReadSample *samples, guint n);
