/* SPDX-License-Identifier: Apache-2.0 */
/* Names of values. A region sees those of the regions around it; what it uses of them becomes a parameter of it. */
#include "core/frontends/xla/mlir-private.h"

MlirFrame *
gantry_mlir_frame_new (MlirFrame *parent, guint32 function)
{
  MlirFrame *frame = g_new0 (MlirFrame, 1);

  frame->parent = parent;
  frame->function = function;
  frame->names = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  frame->outer = g_array_new (FALSE, FALSE, sizeof (guint32));
  frame->inner = g_array_new (FALSE, FALSE, sizeof (guint32));
  return frame;
}

void
gantry_mlir_frame_free (MlirFrame *frame)
{
  g_hash_table_unref (frame->names);
  g_array_unref (frame->outer);
  g_array_unref (frame->inner);
  g_free (frame->results);
  g_free (frame);
}

void
gantry_mlir_define (Mlir *m, MlirFrame *frame, guint32 name, const guint32 *ids, guint n)
{
  MlirValue *value = g_malloc (sizeof *value + sizeof *ids * n);

  value->n = n;
  memcpy (value->ids, ids, sizeof *ids * n);
  g_hash_table_replace (frame->names, GUINT_TO_POINTER (name), value);
}

guint32
gantry_mlir_value_name (Mlir *m)
{
  GantryXlaSpan name;

  if (!gantry_xla_scan_expect (&m->s, "%"))
    return 0;
  name = gantry_xla_scan_suffix (&m->s);
  return gantry_context_intern_len (m->context, name.at, name.length);
}

static guint32
capture (Mlir *m, MlirFrame *frame, guint32 outer)
{
  guint32 inner;

  for (guint i = 0; i < frame->outer->len; i++)
    if (g_array_index (frame->outer, guint32, i) == outer)
      return g_array_index (frame->inner, guint32, i);
  inner = gantry_builder_capture (m->b, frame->function, gantry_builder_type (m->b, outer));
  g_array_append_val (frame->outer, outer);
  g_array_append_val (frame->inner, inner);
  return inner;
}

guint32
gantry_mlir_look_up (Mlir *m, MlirFrame *frame, guint32 name, guint64 index, gboolean *known)
{
  const MlirValue *value = g_hash_table_lookup (frame->names, GUINT_TO_POINTER (name));
  guint32 outer;

  if (value != NULL)
    {
      *known = index < value->n;
      return *known ? value->ids[index] : 0;
    }
  if (frame->parent == NULL)
    return 0;
  outer = gantry_mlir_look_up (m, frame->parent, name, index, known);
  return outer != 0 ? capture (m, frame, outer) : 0;
}

guint32
gantry_mlir_operand (Mlir *m, MlirFrame *frame, gboolean tolerant)
{
  guint32 name = gantry_mlir_value_name (m), id;
  gboolean known = FALSE;
  gint64 index = 0;

  if (gantry_xla_scan_ahead (&m->s, 0) == '#')
    {
      m->s.at++;
      index = gantry_xla_scan_int (&m->s);
    }
  if (m->s.error != NULL)
    return 0;
  id = gantry_mlir_look_up (m, frame, name, (guint64) index, &known);
  if (!known && !tolerant)
    gantry_xla_scan_fail (&m->s, GANTRY_ERROR_INVALID, "value %%%s is not defined before", gantry_context_string (m->context, name));
  return id;
}

guint
gantry_mlir_share_captures (Mlir *m, MlirFrame *parent, GPtrArray *frames, GArray *operands)
{
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  g_autofree guint32 *order = NULL;

  for (guint f = 0; f < frames->len; f++)
    {
      const MlirFrame *frame = g_ptr_array_index (frames, f);

      for (guint i = 0; i < frame->outer->len; i++)
        {
          guint32 id = g_array_index (frame->outer, guint32, i);

          if (g_hash_table_add (seen, GUINT_TO_POINTER (id)))
            g_array_append_val (all, id);
        }
    }
  order = g_new0 (guint32, all->len + 1);
  for (guint f = 0; f < frames->len; f++)
    {
      MlirFrame *frame = g_ptr_array_index (frames, f);

      for (guint i = 0; i < all->len; i++)
        order[i] = capture (m, frame, g_array_index (all, guint32, i));
      gantry_builder_order_captures (m->b, frame->function, order, all->len);
    }
  g_array_append_vals (operands, all->data, all->len);
  return all->len;
}
