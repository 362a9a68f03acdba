/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that write in place, made functional. A name stands for a value that may change; a view keeps the value it
 * was made of and the node that made it. Writing to a view writes its base, by the operation that puts a part back into a
 * whole; a view whose base was written to is made again when it is next asked for. */
#include "core/frontends/torch/torch-private.h"
#include <string.h>

char *
gantry_torch_base_name (const char *operation)
{
  const char *begin = g_str_has_prefix (operation, TORCH_DIALECT ".") ? operation + strlen (TORCH_DIALECT ".") : operation;
  const char *dot = strchr (begin, '.');

  return dot != NULL ? g_strndup (begin, (gsize) (dot - begin)) : g_strdup (begin);
}

gboolean
gantry_torch_is_in_place (const char *base_name)
{
  if (g_str_has_suffix (base_name, "__"))
    return g_str_has_prefix (base_name, "__i") && strcmp (base_name, "__invert__") != 0;
  return g_str_has_suffix (base_name, "_");
}

TorchValue *
gantry_torch_value_new (TorchImport *import, guint32 id, const TorchJson *meta)
{
  TorchValue *value = g_new0 (TorchValue, 1);

  value->id = id;
  value->meta = meta;
  g_ptr_array_add (import->values, value);
  return value;
}

gboolean
gantry_torch_is_view (TorchFrame *frame, const char *base_name, const TorchJson *node, const TorchJson *input_meta, const TorchJson *meta)
{
  static const char *const always[] = { "view",       "slice",      "select",   "narrow",     "transpose",        "permute",   "t",
                                        "numpy_T",    "mT",         "squeeze",  "unsqueeze",  "unflatten",        "alias",     "detach",
                                        "expand",     "expand_as",  "view_as",  "split",      "split_with_sizes", "chunk",     "unbind",
                                        "diagonal",   "as_strided", "unfold",   "movedim",    "swapaxes",         "adjoint",   "tensor_split",
                                        "lift_fresh", "dropout",    "moveaxis", "atleast_1d", "atleast_2d",       "atleast_3d" };
  static const char *const if_contiguous[] = { "reshape", "flatten", "contiguous", "ravel" };
  gint64 from = 0, to = 0;

  for (guint i = 0; i < G_N_ELEMENTS (always); i++)
    if (strcmp (base_name, always[i]) == 0)
      return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (if_contiguous); i++)
    if (strcmp (base_name, if_contiguous[i]) == 0)
      return gantry_torch_is_contiguous (frame->import, input_meta);
  if (strcmp (base_name, "to") != 0 && strcmp (base_name, "type_as") != 0)
    return FALSE;
  /* The operand itself where nothing is to be converted. */
  (void) node;
  return gantry_torch_json_int (input_meta, "dtype", &from) && gantry_torch_json_int (meta, "dtype", &to) && from == to;
}

static const char *
operation_of (const TorchJson *node)
{
  const char *target = gantry_torch_json_string (node, "target");

  return target != NULL && g_str_has_prefix (target, "torch.ops.") ? target + strlen ("torch.ops.") : target;
}

/* A piece is a slice of its base, or one element; @operation: "slice" or "slice_scatter". */
static guint32
write_piece (TorchFrame *frame, const TorchValue *value, const char *operation, const guint32 *operands, guint n, guint32 type, GError **error)
{
  static const char *const names[] = { "self", "src" };
  GantryAttrList *list = gantry_attr_list_new (frame->import->context);
  gboolean element = value->piece == TORCH_ELEMENT;
  g_autofree char *name = g_strdup_printf ("aten.%s%s", element ? "select" : "slice", operation);

  gantry_attr_list_set_strings (list, TORCH_OPERAND_NAMES, names, n);
  gantry_attr_list_set_int (list, "dim", value->axis);
  gantry_attr_list_set_int (list, element ? "index" : "start", value->start);
  if (!element)
    gantry_attr_list_set_int (list, "end", value->end);
  return gantry_torch_write_foreign (frame, value->view, value->index, name, operands, n, gantry_attr_list_end (list), type, error);
}

static guint32
make_again (TorchFrame *frame, const TorchValue *value, guint32 base, GError **error)
{
  TorchImport *import = frame->import;
  g_autoptr (GantryAttrList) list = gantry_attr_list_new (import->context);
  g_autoptr (GArray) operands = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint32 type = gantry_torch_type (import, value->meta, error);

  if (type != 0 && value->piece != TORCH_WHOLE)
    return write_piece (frame, value, value->piece == TORCH_ELEMENT ? ".int" : ".Tensor", &base, 1, type, error);
  if (type == 0 || !gantry_torch_attributes (frame, value->view, list, operands, error) || operands->len == 0)
    return 0;
  g_array_index (operands, guint32, 0) = base;
  return gantry_torch_write_foreign (frame, value->view, value->index, operation_of (value->view), (const guint32 *) (gpointer) operands->data, operands->len,
                                     gantry_attr_list_end (g_steal_pointer (&list)), type, error);
}

/* Views of views, as stale ones among them are made again from the outermost base on. An operand of a view that is not its base
 * (of `expand_as`) may be a stale view too, and only that nests. */
#define MOST_NESTED 256

/* @chain: stale views, the innermost first; @base: node id of what the last of them is a view of. */
static guint32
refresh (TorchFrame *frame, const GPtrArray *chain, guint32 base, GError **error)
{
  for (guint i = chain->len; i-- > 0 && base != 0;)
    {
      TorchValue *value = g_ptr_array_index (chain, i);

      value->checked = frame->import->n_writes;
      if (value->seen != value->base->version)
        {
          value->id = value->view != NULL ? make_again (frame, value, base, error) : base;
          value->seen = value->base->version;
          value->version++;
        }
      base = value->id;
    }
  return base;
}

guint32
gantry_torch_value_id (TorchFrame *frame, TorchValue *value, GError **error)
{
  TorchImport *import = frame->import;
  g_autoptr (GPtrArray) chain = NULL;
  guint32 id;

  for (; value->base != NULL && value->checked != import->n_writes; value = value->base)
    {
      if (chain == NULL)
        chain = g_ptr_array_new ();
      g_ptr_array_add (chain, value);
    }
  if (value->base == NULL && value->id == 0 && value->weight != NULL)
    value->id = gantry_torch_weight (import, value->weight, value->is_buffer, error);
  if (chain == NULL || value->id == 0)
    return value->id;
  if (import->n_nested == MOST_NESTED)
    {
      gantry_fail (error, GANTRY_ERROR_TOO_LARGE, "views whose other operands are views that were written to are nested more than %u deep", MOST_NESTED);
      return 0;
    }
  import->n_nested++;
  id = refresh (frame, chain, value->id, error);
  import->n_nested--;
  return id;
}

/* The size of the base as an attribute, for views that keep all elements in their order. */
static gboolean
set_size (TorchFrame *frame, GantryAttrList *list, const TorchJson *meta, guint32 *type, GError **error)
{
  *type = gantry_torch_type (frame->import, meta, error);
  if (*type == 0)
    return FALSE;
  gantry_attr_list_set_ints (list, "size", gantry_context_type (frame->import->context, *type)->dims,
                             gantry_context_type (frame->import->context, *type)->rank);
  return TRUE;
}

/* The node that makes the base of a view that was written to: operands (base, part), or (part) where the view has all elements. */
static guint32
write_base (TorchFrame *frame, const TorchValue *value, guint32 base, guint32 part, GError **error)
{
  static const char *const whole[] = { "view",       "reshape", "flatten", "unflatten", "squeeze", "unsqueeze",  "alias",      "detach",     "view_as",
                                       "contiguous", "ravel",   "to",      "type_as",   "dropout", "lift_fresh", "atleast_1d", "atleast_2d", "atleast_3d" };
  TorchImport *import = frame->import;
  const char *operation = operation_of (value->view);
  g_autofree char *name = gantry_torch_base_name (operation), *inverse = NULL;
  g_autoptr (GantryAttrList) list = gantry_attr_list_new (import->context);
  g_autoptr (GArray) ignored = g_array_new (FALSE, FALSE, sizeof (guint32));
  const char *names[] = { "self", "src" };
  guint32 type;

  for (guint i = 0; i < G_N_ELEMENTS (whole); i++)
    if (strcmp (name, whole[i]) == 0)
      {
        gantry_attr_list_set_strings (list, TORCH_OPERAND_NAMES, names, 1);
        if (!set_size (frame, list, value->base->meta, &type, error))
          return 0;
        return gantry_torch_write_foreign (frame, value->view, value->index, "aten.view.default", &part, 1, gantry_attr_list_end (g_steal_pointer (&list)),
                                           type, error);
      }
  type = gantry_torch_type (import, value->base->meta, error);
  if (type != 0 && value->piece != TORCH_WHOLE)
    return write_piece (frame, value, "_scatter.default", (guint32[]){ base, part }, 2, type, error);
  if (type == 0 || !gantry_torch_attributes (frame, value->view, list, ignored, error))
    return 0;
  gantry_attr_list_set_strings (list, TORCH_OPERAND_NAMES, names, 2);
  inverse = g_strdup_printf ("aten.%s_scatter.default", name);
  return gantry_torch_write_foreign (frame, value->view, value->index, inverse, (guint32[]){ base, part }, 2, gantry_attr_list_end (g_steal_pointer (&list)),
                                     type, error);
}

gboolean
gantry_torch_value_set (TorchFrame *frame, TorchValue *value, guint32 id, GError **error)
{
  TorchImport *import = frame->import;

  import->n_writes++;
  /* All that @value is a view of is of now before any of it is written to. */
  if (value->base != NULL && gantry_torch_value_id (frame, value->base, error) == 0)
    return FALSE;
  for (;; value = value->base)
    {
      value->id = id;
      value->version++;
      if (value->base == NULL)
        {
          import->n_writes++; /* what was found to be of now meanwhile may be none any more */
          return TRUE;
        }
      if (value->view != NULL)
        id = write_base (frame, value, value->base->id, id, error);
      if (id == 0)
        return FALSE;
      value->seen = value->base->version + 1; /* that of the write which comes next */
    }
}
