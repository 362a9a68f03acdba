/* SPDX-License-Identifier: Apache-2.0 */
/* One run of type inference, for the two files that do it. */
#pragma once
#include "core/frontends/onnx/onnx-import-private.h"

G_BEGIN_DECLS

/**
 * GantryOnnxInfer:
 * @values: by position in the module: the value in @scratch; of a tuple where its members begin in @members
 * @types: by position: what was found
 * @run: 0 or 1: which sizes are put in for dimensions that are not bound
 * @guessing: there are such dimensions
 * @free_dims: GantryDim: the dimensions met, in the same order in both runs
 * @sizes: dimension -> its place in @free_dims, plus 1
 * @dead: above 0 inside a branch that is never taken
 */
typedef struct
{
  GantryOnnxImport *import;
  const GantryModule *module;
  GantryBuilder *scratch;
  guint32 *values;
  guint32 *types;
  GArray *members;
  guint run;
  gboolean guessing;
  GArray *free_dims;
  GHashTable *sizes;
  GHashTable *functions; /* id -> GantryFunction* */
  guint dead;
  guint n_done;
  GArray *problems;          /* GantryOnnxUnsupported */
  GHashTable *problem_index; /* "operation\nwhy" -> index + 1 */
} GantryOnnxInfer;

/** One run over the whole module; fills values and types. */
gboolean gantry_onnx_infer_run (GantryOnnxInfer *infer, GError **error);
/** The size put in for free dimension @k in @run. */
gint64 gantry_onnx_guess (guint run, gsize k);
const GantryFunction *gantry_onnx_infer_function (GantryOnnxInfer *infer, guint32 function_id);

G_END_DECLS
