/* SPDX-License-Identifier: Apache-2.0 */
/* Loads within the nest: a vector of neighbours, of every second or each reversed element, lane by lane, and turned over where
 * neighbours lie along the rows. */
#include "core/kernels/cpu/nest-private.h"

#define B (nest->e->builder)

typedef LLVMValueRef V;

static V
load_lanes (GantryNest *nest, GantryElementType element, V pointer, gint64 stride, V offsets)
{
  LLVMTypeRef type = gantry_emit_memory_type (nest->e, element, 1);
  LLVMTypeRef i32 = LLVMInt32TypeInContext (nest->e->context);
  V result = LLVMGetPoison (LLVMVectorType (type, nest->lanes));

  for (guint l = 0; l < nest->lanes; l++)
    {
      V lane = LLVMConstInt (i32, l, FALSE), at = gantry_nest_const (nest, stride * (gint64) l), x;

      if (offsets != NULL)
        at = LLVMBuildExtractElement (B, offsets, lane, "");
      x = gantry_emit_raw_load (nest->e, type, LLVMBuildGEP2 (B, type, pointer, &at, 1, ""));
      result = LLVMBuildInsertElement (B, result, x, lane, "");
    }
  return result;
}

/* Every second element: two vectors that overlap by one, so that nothing behind the last element is touched. */
static V
load_alternate (GantryNest *nest, GantryElementType element, V pointer)
{
  LLVMTypeRef scalar = gantry_emit_memory_type (nest->e, element, 1);
  LLVMTypeRef type = LLVMVectorType (scalar, nest->lanes), i32 = LLVMInt32TypeInContext (nest->e->context);
  V ahead = gantry_nest_const (nest, (gint64) nest->lanes - 1), mask[64], x, y;

  for (guint l = 0; l < nest->lanes; l++)
    mask[l] = LLVMConstInt (i32, 2 * l < nest->lanes ? 2 * l : 2 * l + 1, FALSE);
  x = gantry_emit_raw_load (nest->e, type, pointer);
  y = gantry_emit_raw_load (nest->e, type, LLVMBuildGEP2 (B, scalar, pointer, &ahead, 1, ""));
  return LLVMBuildShuffleVector (B, x, y, LLVMConstVector (mask, nest->lanes), "");
}

static V
load_reversed (GantryNest *nest, GantryElementType element, V pointer)
{
  LLVMTypeRef scalar = gantry_emit_memory_type (nest->e, element, 1);
  LLVMTypeRef type = LLVMVectorType (scalar, nest->lanes);
  LLVMTypeRef i32 = LLVMInt32TypeInContext (nest->e->context);
  V back = gantry_nest_const (nest, 1 - (gint64) nest->lanes), mask[64], x;

  for (guint l = 0; l < nest->lanes; l++)
    mask[l] = LLVMConstInt (i32, nest->lanes - 1 - l, FALSE);
  x = gantry_emit_raw_load (nest->e, type, LLVMBuildGEP2 (B, scalar, pointer, &back, 1, ""));
  return LLVMBuildShuffleVector (B, x, LLVMGetPoison (type), LLVMConstVector (mask, nest->lanes), "");
}

/* As many rows as lanes, and neighbours lie along the rows: whole vectors of rows are loaded and turned over in
 * registers, for all rows at once. Halves of pairs are exchanged at distances 1, 2, 4, ... */
static V
load_turned (GantryNest *nest, guint32 id, guint row, guint unroll, guint level, V pointer, gint64 stride)
{
  GantryElementType element = gantry_kx_node (nest->kx, id)->type;
  LLVMTypeRef scalar = gantry_emit_memory_type (nest->e, element, 1), i32 = LLVMInt32TypeInContext (nest->e->context);
  guint n = nest->lanes;
  V rows[GANTRY_MAX_ROWS], result = NULL;

  for (guint l = 0; l < n; l++)
    {
      V at = gantry_nest_const (nest, stride * (gint64) l);

      rows[l] = gantry_emit_raw_load (nest->e, LLVMVectorType (scalar, n), LLVMBuildGEP2 (B, scalar, pointer, &at, 1, ""));
    }
  for (guint k = 1; k < n; k *= 2)
    for (guint i = 0; i < n; i++)
      if ((i & k) == 0)
        {
          V low[GANTRY_MAX_ROWS], high[GANTRY_MAX_ROWS], x = rows[i], y = rows[i | k];

          for (guint l = 0; l < n; l++)
            {
              low[l] = LLVMConstInt (i32, l & k ? n + (l ^ k) : l, FALSE);
              high[l] = LLVMConstInt (i32, l & k ? n + l : l | k, FALSE);
            }
          rows[i] = LLVMBuildShuffleVector (B, x, y, LLVMConstVector (low, n), "");
          rows[i | k] = LLVMBuildShuffleVector (B, x, y, LLVMConstVector (high, n), "");
        }
  for (guint r = 0; r < n; r++)
    {
      V value = gantry_emit_from_memory (nest->e, element, rows[r]);

      if (r == row)
        result = value; /* the caller keeps it */
      else
        gantry_nest_keep (nest, id, gantry_nest_slot (r, unroll), level, value);
    }
  return result;
}

/* TRUE when load_turned() can do it: one step along the rows, and rows for every lane. */
static gboolean
can_turn (GantryNest *nest, guint32 address, gint64 stride, V offsets)
{
  const GantryKxNode *node = gantry_kx_node (nest->kx, address);
  gboolean other;

  return offsets == NULL && stride > 1 && nest->rows == nest->lanes && node->kind == GANTRY_KX_LINEAR && nest->row_variable >= 0
         && gantry_kx_factor_of (nest->kx, node, (guint) nest->row_variable, &other) == 1 && !other;
}

V
gantry_nest_load (GantryNest *nest, guint32 id, guint row, guint unroll, guint level)
{
  GantryKxNode node = *gantry_kx_node (nest->kx, id);
  guint32 address = gantry_kx_address (nest->kx, id);
  gboolean vector = nest->lanes > 1 && gantry_nest_depends (node.vars, nest->vector_variable);
  gint64 stride;
  V offsets, x, pointer;

  pointer = gantry_nest_pointer (nest, nest->inputs[node.a], node.type, address, id, row, unroll, &stride, &offsets);
  gantry_nest_at (nest, level);
  if (vector && can_turn (nest, address, stride, offsets))
    {
      V back = gantry_nest_const (nest, -(gint64) row);

      if (row > 0)
        pointer = LLVMBuildGEP2 (B, gantry_emit_memory_type (nest->e, node.type, 1), pointer, &back, 1, "");
      return load_turned (nest, id, row, unroll, level, pointer, stride);
    }
  if (!vector)
    x = gantry_emit_raw_load (nest->e, gantry_emit_memory_type (nest->e, node.type, 1), pointer);
  else if (offsets == NULL && stride == 1)
    x = gantry_emit_raw_load (nest->e, gantry_emit_memory_type (nest->e, node.type, nest->lanes), pointer);
  else if (offsets == NULL && stride == 2)
    x = load_alternate (nest, node.type, pointer);
  else if (offsets == NULL && stride == -1)
    x = load_reversed (nest, node.type, pointer);
  else
    x = load_lanes (nest, node.type, pointer, stride, offsets);
  return gantry_emit_from_memory (nest->e, node.type, x);
}
