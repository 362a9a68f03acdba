/* SPDX-License-Identifier: Apache-2.0 */
/* Attribute lists before they are interned, and the readers of interned ones. */
#include "core/graph/attrs.h"
#include "core/graph/context-private.h"
#include "core/graph/context.h"
#include <string.h>

struct _GantryAttrList
{
  GantryContext *context;
  GantryArena *arena;
  GArray *items; /* GantryAttr */
};

GantryAttrList *
gantry_attr_list_new (GantryContext *context)
{
  GantryAttrList *list = g_new0 (GantryAttrList, 1);

  list->context = context;
  list->arena = gantry_arena_new ();
  list->items = g_array_new (FALSE, TRUE, sizeof (GantryAttr));
  return list;
}

void
gantry_attr_list_free (GantryAttrList *list)
{
  if (list == NULL)
    return;
  gantry_arena_free (list->arena);
  g_array_unref (list->items);
  g_free (list);
}

static void
set (GantryAttrList *list, const char *key, GantryAttr attr)
{
  attr.key = gantry_context_intern (list->context, key);
  for (guint i = 0; i < list->items->len; i++)
    {
      GantryAttr *item = &g_array_index (list->items, GantryAttr, i);

      if (item->key == attr.key)
        {
          *item = attr;
          return;
        }
    }
  g_array_append_val (list->items, attr);
}

void
gantry_attr_list_set_int (GantryAttrList *list, const char *key, gint64 value)
{
  set (list, key, (GantryAttr){ .kind = GANTRY_ATTR_INT, .i = value });
}

void
gantry_attr_list_set_float (GantryAttrList *list, const char *key, double value)
{
  set (list, key, (GantryAttr){ .kind = GANTRY_ATTR_FLOAT, .f = value });
}

static void
set_id (GantryAttrList *list, const char *key, GantryAttrKind kind, guint32 id)
{
  GantryAttr attr = { .kind = kind };

  attr.i = 0;
  attr.id = id;
  set (list, key, attr);
}

void
gantry_attr_list_set_string (GantryAttrList *list, const char *key, const char *value)
{
  set_id (list, key, GANTRY_ATTR_STRING, gantry_context_intern (list->context, value));
}

void
gantry_attr_list_set_ints (GantryAttrList *list, const char *key, const gint64 *values, gsize n)
{
  set (list, key, (GantryAttr){ .kind = GANTRY_ATTR_INTS, .n = n, .ints = gantry_arena_copy (list->arena, values, n * sizeof *values) });
}

void
gantry_attr_list_set_floats (GantryAttrList *list, const char *key, const double *values, gsize n)
{
  set (list, key, (GantryAttr){ .kind = GANTRY_ATTR_FLOATS, .n = n, .floats = gantry_arena_copy (list->arena, values, n * sizeof *values) });
}

void
gantry_attr_list_set_strings (GantryAttrList *list, const char *key, const char *const *values, gsize n)
{
  guint32 *ids = gantry_arena_new0 (list->arena, guint32, n);

  for (gsize i = 0; i < n; i++)
    ids[i] = gantry_context_intern (list->context, values[i]);
  set (list, key, (GantryAttr){ .kind = GANTRY_ATTR_STRINGS, .n = n, .ids = ids });
}

void
gantry_attr_list_set_type (GantryAttrList *list, const char *key, guint32 type)
{
  set_id (list, key, GANTRY_ATTR_TYPE, type);
}

void
gantry_attr_list_set_literal (GantryAttrList *list, const char *key, guint32 literal)
{
  set_id (list, key, GANTRY_ATTR_LITERAL, literal);
}

void
gantry_attr_list_set_function (GantryAttrList *list, const char *key, guint32 function)
{
  set_id (list, key, GANTRY_ATTR_FUNCTION, function);
}

void
gantry_attr_list_set_item (GantryAttrList *list, const GantryAttr *item)
{
  set (list, gantry_context_string (list->context, item->key), *item);
}

void
gantry_attr_list_set_all (GantryAttrList *list, guint32 attrs)
{
  const GantryAttrs *from = gantry_context_attrs (list->context, attrs);

  for (guint i = 0; i < from->n; i++)
    set (list, gantry_context_string (list->context, from->items[i].key), from->items[i]);
}

guint32
gantry_attr_list_end (GantryAttrList *list)
{
  guint32 id = 0;

  if (list->items->len > 0)
    id = _gantry_context_intern_attrs (list->context, (GantryAttr *) (gpointer) list->items->data, list->items->len);
  gantry_attr_list_free (list);
  return id;
}

const GantryAttr *
gantry_attrs_find (GantryContext *context, guint32 attrs, const char *key)
{
  const GantryAttrs *all = gantry_context_attrs (context, attrs);

  for (guint i = 0; i < all->n; i++)
    if (strcmp (gantry_context_string (context, all->items[i].key), key) == 0)
      return &all->items[i];
  return NULL;
}

static const GantryAttr *
find_kind (GantryContext *context, guint32 attrs, const char *key, GantryAttrKind kind)
{
  const GantryAttr *attr = gantry_attrs_find (context, attrs, key);

  return attr != NULL && attr->kind == kind ? attr : NULL;
}

gint64
gantry_attrs_int (GantryContext *context, guint32 attrs, const char *key, gint64 fallback)
{
  const GantryAttr *attr = find_kind (context, attrs, key, GANTRY_ATTR_INT);

  return attr != NULL ? attr->i : fallback;
}

double
gantry_attrs_float (GantryContext *context, guint32 attrs, const char *key, double fallback)
{
  const GantryAttr *attr = find_kind (context, attrs, key, GANTRY_ATTR_FLOAT);

  return attr != NULL ? attr->f : fallback;
}

const char *
gantry_attrs_string (GantryContext *context, guint32 attrs, const char *key, const char *fallback)
{
  const GantryAttr *attr = find_kind (context, attrs, key, GANTRY_ATTR_STRING);

  return attr != NULL ? gantry_context_string (context, attr->id) : fallback;
}

const gint64 *
gantry_attrs_ints (GantryContext *context, guint32 attrs, const char *key, gsize *n)
{
  const GantryAttr *attr = find_kind (context, attrs, key, GANTRY_ATTR_INTS);

  *n = attr != NULL ? attr->n : 0;
  return attr != NULL ? attr->ints : NULL;
}

const double *
gantry_attrs_floats (GantryContext *context, guint32 attrs, const char *key, gsize *n)
{
  const GantryAttr *attr = find_kind (context, attrs, key, GANTRY_ATTR_FLOATS);

  *n = attr != NULL ? attr->n : 0;
  return attr != NULL ? attr->floats : NULL;
}
