/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of a node: a small immutable dictionary, interned in the context, sorted by key. */
#pragma once
#include "core/graph/literal.h"

G_BEGIN_DECLS

/** The order is part of the session file format: append only. */
typedef enum
{
  GANTRY_ATTR_INT,
  GANTRY_ATTR_FLOAT,
  GANTRY_ATTR_STRING, /* string id */
  GANTRY_ATTR_INTS,
  GANTRY_ATTR_FLOATS,
  GANTRY_ATTR_STRINGS,  /* string ids */
  GANTRY_ATTR_TYPE,     /* type id */
  GANTRY_ATTR_LITERAL,  /* literal id */
  GANTRY_ATTR_FUNCTION, /* function id */
} GantryAttrKind;

typedef struct
{
  guint32 key; /* string id */
  guint32 kind;
  guint64 n; /* length of a list */
  union
  {
    gint64 i;
    double f;
    guint32 id; /* string, type, literal or function */
    const gint64 *ints;
    const double *floats;
    const guint32 *ids;
  };
} GantryAttr;

typedef struct
{
  guint32 n;
  guint32 unused;
  GantryAttr items[];
} GantryAttrs;

/**
 * GantryAttrList: attributes being put together; give it to gantry_context_intern_attrs().
 * Setting a key again replaces its value. List values are copied.
 */
typedef struct _GantryAttrList GantryAttrList;
typedef struct _GantryContext GantryContext;

/** Returns: (transfer full): an empty list; gantry_attr_list_end() takes it, and @context must outlive it */
GantryAttrList *gantry_attr_list_new (GantryContext *context);
void gantry_attr_list_free (GantryAttrList *list);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryAttrList, gantry_attr_list_free)
/** @key: interned in the context of @list */
void gantry_attr_list_set_int (GantryAttrList *list, const char *key, gint64 value);
/** @value: kept with all its bits, infinities and NaN too */
void gantry_attr_list_set_float (GantryAttrList *list, const char *key, double value);
/** @value: interned in the context of @list; %NULL is "" */
void gantry_attr_list_set_string (GantryAttrList *list, const char *key, const char *value);
/** @n: how many @values there are; %NULL will do where it is 0 */
void gantry_attr_list_set_ints (GantryAttrList *list, const char *key, const gint64 *values, gsize n);
/** @n: how many @values there are; %NULL will do where it is 0 */
void gantry_attr_list_set_floats (GantryAttrList *list, const char *key, const double *values, gsize n);
/** @n: how many @values there are; each is interned in the context of @list */
void gantry_attr_list_set_strings (GantryAttrList *list, const char *key, const char *const *values, gsize n);
/** @type: a type id of the context of @list */
void gantry_attr_list_set_type (GantryAttrList *list, const char *key, guint32 type);
/** @literal: a literal id of the context of @list (gantry_context_add_literal()) */
void gantry_attr_list_set_literal (GantryAttrList *list, const char *key, guint32 literal);
/** @function: the id of a function of the module that the node will stand in */
void gantry_attr_list_set_function (GantryAttrList *list, const char *key, guint32 function);
/** Copies one attribute, of the same context. */
void gantry_attr_list_set_item (GantryAttrList *list, const GantryAttr *item);
/** Copies every attribute of @attrs (an id) into the list. */
void gantry_attr_list_set_all (GantryAttrList *list, guint32 attrs);
/** Interns the list and frees it. Returns: attrs id, 0 for an empty list. */
guint32 gantry_attr_list_end (GantryAttrList *list);

/* Reading. A missing key or another kind gives the default; find returns NULL. */
/** Returns: (transfer none) (nullable): the attribute @key of whatever kind, which lives as long as @context */
const GantryAttr *gantry_attrs_find (GantryContext *context, guint32 attrs, const char *key);
/** Returns: the value of the attribute @key, @fallback where @attrs has none that is %GANTRY_ATTR_INT */
gint64 gantry_attrs_int (GantryContext *context, guint32 attrs, const char *key, gint64 fallback);
/** Returns: the value of the attribute @key, @fallback where @attrs has none that is %GANTRY_ATTR_FLOAT (an integer is none) */
double gantry_attrs_float (GantryContext *context, guint32 attrs, const char *key, double fallback);
/** Returns: (transfer none) (nullable): the text, which lives as long as @context; @fallback where @key is no string */
const char *gantry_attrs_string (GantryContext *context, guint32 attrs, const char *key, const char *fallback);
/** Returns: (transfer none) (nullable): the list, its length in @n (0 when absent) */
const gint64 *gantry_attrs_ints (GantryContext *context, guint32 attrs, const char *key, gsize *n);
/** Returns: (transfer none) (nullable): the list, its length in @n (0 when absent) */
const double *gantry_attrs_floats (GantryContext *context, guint32 attrs, const char *key, gsize *n);

G_END_DECLS
