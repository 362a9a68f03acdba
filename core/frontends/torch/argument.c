/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of a node: tensors become operands, everything else an attribute by the argument's name. */
#include "core/frontends/torch/torch-private.h"
#include <string.h>

typedef struct
{
  TorchFrame *frame;
  GantryAttrList *list;
  GArray *operands;
  GPtrArray *names; /* of the operands */
} Arguments;

static gboolean
take_tensor (Arguments *a, const TorchJson *tensor, char *name, GError **error)
{
  const char *key = gantry_torch_json_string (tensor, "name");
  TorchValue *value = key != NULL ? g_hash_table_lookup (a->frame->values, key) : NULL;
  guint32 id;

  g_ptr_array_add (a->names, name);
  if (value == NULL)
    return gantry_fail (error, GANTRY_ERROR_INVALID, "argument '%s' is '%s', which no node before gives; the archive is damaged", name,
                        key != NULL ? key : "?");
  if (a->operands->len >= TORCH_MOST_OPERANDS)
    return gantry_fail (error, GANTRY_ERROR_TOO_LARGE, "it has more than %u operands", TORCH_MOST_OPERANDS);
  id = gantry_torch_value_id (a->frame, value, error);
  g_array_append_val (a->operands, id);
  return id != 0;
}

/* Lists of tensors, of which some may be absent. */
static gboolean
take_tensors (Arguments *a, const char *name, const TorchJson *node, GError **error)
{
  const TorchJson *array = node->kind == TORCH_JSON_ARRAY ? node : NULL;

  for (guint i = 0; array != NULL && i < array->n; i++)
    {
      const TorchJson *element = gantry_torch_json_element (array, i);
      const TorchJson *tensor = gantry_torch_json_object (element, "as_tensor");

      if (tensor == NULL && element != NULL && gantry_torch_json_member (element, "name") != NULL)
        tensor = element;
      if (tensor != NULL && !take_tensor (a, tensor, g_strdup_printf ("%s[%u]", name, i), error))
        return FALSE;
    }
  return TRUE;
}

/* {"as_int": 3} or {"as_name": "sym_size"}: FALSE where the number is not known. */
static gboolean
symbolic_int (TorchFrame *frame, const TorchJson *object, gint64 *value)
{
  const char *name = gantry_torch_json_string (object, "as_name");

  return name != NULL ? gantry_torch_symbol_value (frame, name, value) : gantry_torch_json_int (object, "as_int", value);
}

/* A number that sizes or data give, which is not known now. */
static void
leave_open (Arguments *a, const char *name)
{
  gantry_attr_list_set_string (a->list, TORCH_UNRESOLVED, name);
}

/* A list of numbers, written as such or by names. */
static void
take_ints (Arguments *a, const char *name, const TorchJson *node)
{
  const TorchJson *array = node->kind == TORCH_JSON_ARRAY ? node : NULL;
  guint n = array != NULL ? array->n : 0;
  g_autofree gint64 *values = g_new0 (gint64, n + 1);

  for (guint i = 0; i < n; i++)
    {
      const TorchJson *element = &array->values[i];

      if (element->kind == TORCH_JSON_OBJECT ? !symbolic_int (a->frame, element, &values[i]) : !gantry_torch_json_is_scalar (element))
        {
          leave_open (a, name);
          return;
        }
      if (gantry_torch_json_is_scalar (element))
        values[i] = gantry_torch_json_number (element);
    }
  if (array != NULL)
    gantry_attr_list_set_ints (a->list, name, values, n);
}

static void
take_floats (Arguments *a, const char *name, const TorchJson *node)
{
  const TorchJson *array = node->kind == TORCH_JSON_ARRAY ? node : NULL;
  guint n = array != NULL ? array->n : 0;
  g_autofree double *values = g_new0 (double, n + 1);

  for (guint i = 0; i < n; i++)
    if (!gantry_torch_json_double (&array->values[i], &values[i]))
      return;
  gantry_attr_list_set_floats (a->list, name, values, n);
}

/* What is no number stays as it is written. */
static void
take_text (Arguments *a, const char *name, const TorchJson *node)
{
  g_autoptr (GString) text = g_string_new (node->kind == TORCH_JSON_STRING ? node->text : NULL);

  if (node->kind != TORCH_JSON_STRING)
    gantry_torch_json_write (node, text);
  gantry_attr_list_set_string (a->list, name, text->str);
}

static void
take_scalar_type (Arguments *a, const char *name, const TorchJson *node)
{
  gint64 number = gantry_torch_json_is_scalar (node) ? gantry_torch_json_number (node) : 0;

  gantry_attr_list_set_type (a->list, name, gantry_context_scalar (a->frame->import->context, gantry_torch_element (number)));
}

static gboolean
take_value (Arguments *a, const char *name, const char *kind, const TorchJson *node, GError **error)
{
  const TorchJson *object = node->kind == TORCH_JSON_OBJECT ? node : NULL;
  gint64 number;
  double real;

#define IS(text) (strcmp (kind, text) == 0)
  if (IS ("as_none"))
    return TRUE;
  if (IS ("as_tensor"))
    return take_tensor (a, object, g_strdup (name), error);
  if (IS ("as_tensors") || IS ("as_optional_tensors"))
    return take_tensors (a, name, node, error);
  if (IS ("as_optional_tensor"))
    {
      const TorchJson *inner;
      const char *inner_kind = gantry_torch_json_union (object, &inner);

      return inner_kind == NULL || !IS ("as_tensor") ? TRUE : take_tensor (a, gantry_torch_json_object (object, "as_tensor"), g_strdup (name), error);
    }
  if ((IS ("as_int") || IS ("as_bool")) && gantry_torch_json_is_scalar (node))
    gantry_attr_list_set_int (a->list, name, gantry_torch_json_number (node));
  else if (IS ("as_float") && gantry_torch_json_double (node, &real))
    gantry_attr_list_set_float (a->list, name, real);
  else if ((IS ("as_sym_int") || IS ("as_sym_bool")) && symbolic_int (a->frame, object, &number))
    gantry_attr_list_set_int (a->list, name, number);
  else if (IS ("as_sym_float") && object != NULL && gantry_torch_json_member (object, "as_float") != NULL
           && gantry_torch_json_double (gantry_torch_json_member (object, "as_float"), &real))
    gantry_attr_list_set_float (a->list, name, real);
  else if (g_str_has_prefix (kind, "as_sym_") && !IS ("as_sym_ints"))
    leave_open (a, name);
  else if (IS ("as_ints") || IS ("as_sym_ints") || IS ("as_bools"))
    take_ints (a, name, node);
  else if (IS ("as_floats"))
    take_floats (a, name, node);
  else if (IS ("as_scalar_type"))
    take_scalar_type (a, name, node);
  else
    take_text (a, name, node);
#undef IS
  return TRUE;
}

gboolean
gantry_torch_attributes (TorchFrame *frame, const TorchJson *node, GantryAttrList *list, GArray *operands, GError **error)
{
  const TorchJson *inputs = gantry_torch_json_array (node, "inputs");
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  Arguments a = { frame, list, operands, names };

  for (guint i = 0; inputs != NULL && i < inputs->n; i++)
    {
      const TorchJson *input = gantry_torch_json_element (inputs, i);
      const char *name = gantry_torch_json_string (input, "name"), *kind;
      g_autofree char *number = name == NULL || *name == '\0' ? g_strdup_printf ("argument_%u", i) : NULL;
      const TorchJson *value;

      kind = gantry_torch_json_union (gantry_torch_json_object (input, "arg"), &value);
      if (kind != NULL && !take_value (&a, number != NULL ? number : name, kind, value, error))
        return FALSE;
    }
  if (names->len > 0)
    gantry_attr_list_set_strings (list, TORCH_OPERAND_NAMES, (const char *const *) names->pdata, names->len);
  return TRUE;
}
