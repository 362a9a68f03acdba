/* SPDX-License-Identifier: Apache-2.0 */
/* Values: what constants and attributes say, in the way of today and of older versions; tuples taken apart and put together. */
#include "core/frontends/mindspore/mindir-private.h"
#include <string.h>

MindValue *
gantry_mind_value_new (MindImport *import, MindKind kind)
{
  MindValue *value = gantry_arena_new0 (import->arena, MindValue, 1);

  value->kind = (guint8) kind;
  return value;
}

MindValue *
gantry_mind_tuple_new (MindImport *import, guint n)
{
  MindValue *value = gantry_mind_value_new (import, MIND_TUPLE);

  value->n = n;
  value->members = gantry_arena_new0 (import->arena, MindValue *, n + 1);
  return value;
}

void
gantry_mind_bind (MindImport *import, guint32 name, MindValue *value)
{
  if (name >= import->values->len)
    g_ptr_array_set_size (import->values, (gint) MAX (name + 1, import->values->len * 2));
  g_ptr_array_index (import->values, name) = value;
}

gboolean
gantry_mind_tuple_close (MindImport *import, MindValue *tuple)
{
  guint64 leaves = 0;

  tuple->depth = 0;
  for (guint i = 0; i < tuple->n; i++)
    {
      const MindValue *member = tuple->members[i];

      leaves += member->kind == MIND_TUPLE || member->kind == MIND_GRAPH ? member->leaves : 1;
      tuple->depth = MAX (tuple->depth, (guint8) (member->depth + 1));
      if (tuple->depth > MIND_MOST_NESTING || leaves > MIND_MOST_OPERANDS)
        {
          gantry_mind_fail (import, GANTRY_ERROR_TOO_LARGE, "a tuple is nested more than %u deep, or has more than %u values", MIND_MOST_NESTING,
                            MIND_MOST_OPERANDS);
          return FALSE;
        }
    }
  tuple->leaves = (guint32) leaves;
  return TRUE;
}

MindValue *
gantry_mind_node_value (MindImport *import, guint32 node)
{
  MindValue *value = gantry_mind_value_new (import, MIND_NODE);
  const MindRegion *region = g_ptr_array_index (import->regions, import->regions->len - 1);

  value->node = node;
  value->region = region->serial;
  return value;
}

/* Constants */

static MindValue *
tensor_value (MindImport *import, GantryWireSpan message)
{
  MindTensor tensor;
  MindValue *value;

  gantry_mind_read_tensor (import, message, &tensor);
  if (import->error != NULL)
    return NULL;
  if (!gantry_mind_tensor_has_data (&tensor))
    {
      value = gantry_mind_value_new (import, MIND_TYPE);
      value->element = (guint8) gantry_mind_element (tensor.data_type);
      return value;
    }
  value = gantry_mind_value_new (import, MIND_LITERAL);
  value->literal = gantry_mind_tensor_literal (import, &tensor);
  if (value->literal == NULL)
    return NULL;
  value->element = value->literal->type->element;
  g_ptr_array_add (import->literals, value->literal);
  return value;
}

static MindValue *
number_value (MindImport *import, guint64 type, gint64 i, double f)
{
  GantryElementType element = gantry_mind_element (type);
  MindValue *value;

  if (element == GANTRY_BOOL || gantry_element_is_integer (element))
    {
      value = gantry_mind_value_new (import, element == GANTRY_BOOL ? MIND_BOOL : MIND_INT);
      value->i = i;
    }
  else
    {
      value = gantry_mind_value_new (import, MIND_FLOAT);
      value->f = f;
    }
  value->element = (guint8) element;
  return value;
}

static MindValue *
string_value (MindImport *import, GantryWireSpan span)
{
  MindValue *value = gantry_mind_value_new (import, MIND_STRING);

  value->text = gantry_mind_text (import, span);
  return value;
}

/* Number @i of those that an attribute lists, of whichever kind they are. */
static MindValue *
listed_value (MindImport *import, const MindAttr *attr, guint i)
{
  if (i < attr->n_ints)
    return number_value (import, attr->type, attr->ints[i], 0);
  if (i < attr->n_floats)
    return number_value (import, attr->type, 0, attr->floats[i]);
  if (i < attr->n_strings)
    return string_value (import, attr->strings[i]);
  if (i < attr->n_tensors)
    return tensor_value (import, attr->tensors[i]);
  gantry_mind_fail (import, GANTRY_ERROR_INVALID, "attribute '%s' has fewer values than its form says; the file is damaged",
                    gantry_mind_text (import, attr->name));
  return NULL;
}

/** The text of a structure, "Tuple[value1,List[value2,],]", as it is read. */
typedef struct
{
  const char *at, *end;
  guint n; /* leaves so far */
} Form;

typedef MindValue *(*LeafOf) (MindImport *import, const MindAttr *attr, guint i, const char *symbols);

static MindValue *
read_form (MindImport *import, const MindAttr *attr, Form *form, guint depth, LeafOf leaf, const char *symbols)
{
  const char *begin = form->at;
  g_autoptr (GPtrArray) members = NULL;
  MindValue *tuple;

  while (form->at < form->end && strchr ("[],", *form->at) == NULL)
    form->at++;
  if (form->at == form->end || *form->at != '[')
    return leaf (import, attr, form->n++, symbols);
  if (depth > MIND_MOST_NESTING)
    {
      gantry_mind_fail (import, GANTRY_ERROR_TOO_LARGE, "values are nested more than %u deep", MIND_MOST_NESTING);
      return NULL;
    }
  members = g_ptr_array_new ();
  form->at++;
  while (import->error == NULL && form->at < form->end && *form->at != ']')
    if (*form->at == ',')
      form->at++;
    else
      g_ptr_array_add (members, read_form (import, attr, form, depth + 1, leaf, symbols));
  form->at += form->at < form->end;
  tuple = gantry_mind_tuple_new (import, members->len);
  tuple->is_list = begin < form->end && *begin == 'L';
  if (members->len > 0)
    memcpy (tuple->members, members->pdata, sizeof (MindValue *) * members->len);
  return import->error == NULL && gantry_mind_tuple_close (import, tuple) ? tuple : NULL;
}

static MindValue *
listed_leaf (MindImport *import, const MindAttr *attr, guint i, const char *symbols)
{
  (void) symbols;
  return listed_value (import, attr, i);
}

/* What begins the form: "scalar:", "tensor:", "type:", "none", "Monad:UMonad", "Sequence". */
static MindValue *
formed_value (MindImport *import, const MindAttr *attr)
{
  const char *text = (const char *) attr->form.data, *end = text + attr->form.length, *colon = memchr (text, ':', attr->form.length);
  Form form = { colon != NULL ? colon + 1 : text, end, 0 };

  if (g_strstr_len (text, (gssize) attr->form.length, "Monad") != NULL)
    return gantry_mind_value_new (import, MIND_MONAD);
  if (*text == 'n')
    return gantry_mind_value_new (import, MIND_NONE);
  if (*text == 't' && attr->n_tensors == 1 && memchr (text, '[', attr->form.length) == NULL)
    return tensor_value (import, attr->tensors[0]);
  if (memchr (text, '[', attr->form.length) != NULL)
    return read_form (import, attr, &form, 0, listed_leaf, NULL);
  return attr->type == MIND_TYPE_STRING ? string_value (import, attr->string) : number_value (import, attr->type, attr->i, attr->f);
}

static MindValue *
members_value (MindImport *import, const MindAttr *attr)
{
  MindValue *tuple = gantry_mind_tuple_new (import, attr->n_values);

  tuple->is_list = attr->type == MIND_TYPE_LIST;
  for (guint i = 0; i < attr->n_values && import->error == NULL; i++)
    tuple->members[i] = gantry_mind_attr_value (import, &attr->values[i]);
  return import->error == NULL && gantry_mind_tuple_close (import, tuple) ? tuple : NULL;
}

MindValue *
gantry_mind_attr_value (MindImport *import, const MindAttr *attr)
{
  MindValue *value;

  if (attr->form.length > 0)
    return formed_value (import, attr);
  switch (attr->type)
    {
    case MIND_TYPE_TENSOR:
    case MIND_TYPE_TENSORS: return attr->n_tensors > 0 ? tensor_value (import, attr->tensors[0]) : listed_value (import, attr, 0);
    case MIND_TYPE_TUPLE:
    case MIND_TYPE_LIST:
    case MIND_TYPE_DICT: return members_value (import, attr);
    case MIND_TYPE_UMONAD:
    case MIND_TYPE_IOMONAD: return gantry_mind_value_new (import, MIND_MONAD);
    case MIND_TYPE_NONE: return gantry_mind_value_new (import, MIND_NONE);
    case MIND_TYPE_STRING: return attr->n_strings > 0 ? listed_value (import, attr, 0) : string_value (import, attr->string);
    default: break;
    }
  if (gantry_mind_element (attr->type) < GANTRY_ELEMENT_OTHER && attr->type != 0)
    return attr->n_ints + attr->n_floats > 0 ? listed_value (import, attr, 0) : number_value (import, attr->type, attr->i, attr->f);
  value = gantry_mind_value_new (import, MIND_OTHER);
  value->text = gantry_mind_text (import, attr->string);
  return value;
}

/* Declared types */

static MindValue *
type_leaf (MindImport *import, guint32 type)
{
  MindValue *value = gantry_mind_value_new (import, MIND_NODE);

  value->node = type;
  return value;
}

static MindValue *
declared_tensor (MindImport *import, const MindAttr *attr, guint i, const char *symbols)
{
  MindTensor tensor;

  if (i >= attr->n_tensors)
    return type_leaf (import, 0);
  gantry_mind_read_tensor (import, attr->tensors[i], &tensor);
  return type_leaf (import, import->error == NULL ? gantry_mind_tensor_type (import, &tensor, symbols) : 0);
}

static MindValue *
declared_members (MindImport *import, const MindAttr *attr, const char *symbols)
{
  MindValue *tuple = gantry_mind_tuple_new (import, attr->n_values);

  for (guint i = 0; i < attr->n_values; i++)
    {
      g_autofree char *inner = symbols != NULL ? g_strdup_printf ("%s.%u", symbols, i) : NULL;

      tuple->members[i] = gantry_mind_declared (import, &attr->values[i], inner);
    }
  gantry_mind_tuple_close (import, tuple);
  return tuple;
}

MindValue *
gantry_mind_declared (MindImport *import, const MindAttr *attr, const char *symbols)
{
  const char *text = (const char *) attr->form.data, *colon = text != NULL ? memchr (text, ':', attr->form.length) : NULL;
  Form form = { colon != NULL ? colon + 1 : text, text != NULL ? text + attr->form.length : NULL, 0 };

  if (text != NULL && g_strstr_len (text, (gssize) attr->form.length, "Monad") != NULL)
    return gantry_mind_value_new (import, MIND_MONAD);
  if (text != NULL && attr->form.length > 0)
    return read_form (import, attr, &form, 0, declared_tensor, symbols);
  switch (attr->type)
    {
    case MIND_TYPE_TENSOR:
    case MIND_TYPE_TENSORS: return declared_tensor (import, attr, 0, symbols);
    case MIND_TYPE_TUPLE:
    case MIND_TYPE_LIST: return declared_members (import, attr, symbols);
    case MIND_TYPE_UMONAD:
    case MIND_TYPE_IOMONAD: return gantry_mind_value_new (import, MIND_MONAD);
    case MIND_TYPE_NONE: return gantry_mind_value_new (import, MIND_NONE);
    default: break;
    }
  if (attr->type != 0 && gantry_element_is_compiled (gantry_mind_element (attr->type)))
    return type_leaf (import, gantry_context_scalar (import->context, gantry_mind_element (attr->type)));
  return type_leaf (import, 0);
}

/* Nodes */

gboolean
gantry_mind_is_data (const MindValue *value)
{
  return value->kind <= MIND_BOOL;
}

static guint32
constant_node (MindImport *import, const MindValue *value)
{
  GantryElementType element = (GantryElementType) value->element;

  switch (value->kind)
    {
    case MIND_LITERAL: return gantry_builder_literal (import->b, value->literal);
    case MIND_FLOAT: return gantry_builder_scalar (import->b, element, value->f);
    case MIND_BOOL: return gantry_builder_scalar (import->b, GANTRY_BOOL, value->i != 0);
    default: return gantry_builder_int_scalar (import->b, element, value->i);
    }
}

guint32
gantry_mind_use (MindImport *import, MindValue *value)
{
  const MindRegion *here = g_ptr_array_index (import->regions, import->regions->len - 1);
  gint level;
  guint32 id;

  if (import->error != NULL || !gantry_mind_is_data (value))
    {
      gantry_mind_fail (import, GANTRY_ERROR_UNSUPPORTED, "a value that is no tensor stands where one is needed");
      return 0;
    }
  if (value->kind != MIND_NODE && (value->node == 0 || value->region != here->serial))
    {
      value->node = constant_node (import, value);
      value->region = here->serial;
    }
  level = gantry_mind_region_level (import, value->region);
  if (level < 0)
    gantry_mind_fail (import, GANTRY_ERROR_INVALID, "a value is used outside of the branch or loop that makes it; the file is damaged");
  id = value->node;
  for (gint i = level + 1; level >= 0 && i < (gint) import->regions->len; i++)
    id = gantry_mind_capture (g_ptr_array_index (import->regions, (guint) i), import->b, id);
  return import->error == NULL ? id : 0;
}

/* Structures */

static gboolean
has_members (const MindValue *value)
{
  return value->kind == MIND_TUPLE || value->kind == MIND_TAIL || value->kind == MIND_GRAPH || value->kind == MIND_MIXED;
}

void
gantry_mind_flatten (MindValue *value, GPtrArray *leaves)
{
  if (!has_members (value))
    {
      g_ptr_array_add (leaves, value);
      return;
    }
  for (guint i = 0; i < value->n; i++)
    gantry_mind_flatten (value->members[i], leaves);
}

MindValue *
gantry_mind_rebuild (MindImport *import, MindValue *value, MindValue *const *leaves, guint *at)
{
  MindValue *copy;

  if (!has_members (value))
    return leaves[(*at)++];
  copy = gantry_arena_copy (import->arena, value, sizeof *value);
  copy->members = gantry_arena_new0 (import->arena, MindValue *, value->n + 1);
  for (guint i = 0; i < value->n; i++)
    copy->members[i] = gantry_mind_rebuild (import, value->members[i], leaves, at);
  return copy;
}

gboolean
gantry_mind_same_structure (const MindValue *a, const MindValue *b)
{
  if (gantry_mind_is_data (a) && gantry_mind_is_data (b))
    return TRUE;
  if (a->kind != b->kind || a->n != b->n)
    return FALSE;
  if (a->kind == MIND_STRING)
    return strcmp (a->text, b->text) == 0;
  if (a->kind == MIND_TYPE)
    return a->element == b->element;
  if ((a->kind == MIND_GRAPH || a->kind == MIND_TAIL) && a->graph != b->graph)
    return FALSE;
  if (a->kind == MIND_CHOICE || a->kind == MIND_DEFERRED || a->kind == MIND_OTHER)
    return FALSE;
  for (guint i = 0; i < a->n; i++)
    if (!gantry_mind_same_structure (a->members[i], b->members[i]))
      return FALSE;
  return TRUE;
}
