/* SPDX-License-Identifier: Apache-2.0 */
/* Short ways to write types and attributes in tests: types as they are printed, "f32[8,batch]", and attributes as
 * "dimensions=[0,1] kind=add to=f32[]". A word of letters that names no element type is a string; "@f32[2]" is a
 * function that returns that type. */
#pragma once
#include "core/graph/graph.h"
#include <string.h>

typedef struct
{
  GantryContext *context;
  GArray *functions; /* result types: function id - 1 is the index */
} TestSet;

static inline guint32
test_type (TestSet *set, const char *text)
{
  g_auto (GStrv) parts = NULL;
  GantryDim dims[GANTRY_MAX_RANK];
  GantryElementType element;
  guint rank = 0;

  if (strcmp (text, "?") == 0)
    return 0;
  if (strcmp (text, "token") == 0)
    return gantry_context_token (set->context);
  if (text[0] == '(')
    {
      g_autofree char *inner = g_strndup (text + 1, strlen (text) - 2);
      guint32 types[16];

      parts = g_strsplit (inner, ";", -1);
      for (; parts[rank] != NULL; rank++)
        types[rank] = test_type (set, parts[rank]);
      return gantry_context_tuple (set->context, rank, types);
    }
  parts = g_strsplit_set (text, "[,]", -1);
  element = gantry_element_from_name (parts[0]);
  g_assert_cmpint (element, !=, GANTRY_ELEMENT_NONE);
  for (guint i = 1; parts[i] != NULL && parts[i][0] != '\0'; i++)
    if (g_ascii_isdigit (parts[i][0]))
      dims[rank++] = g_ascii_strtoll (parts[i], NULL, 10);
    else
      dims[rank++] = parts[i][0] == '?' ? GANTRY_DIM_UNKNOWN : GANTRY_DIM_SYMBOL (gantry_context_intern (set->context, parts[i]));
  return gantry_context_tensor (set->context, element, rank, dims);
}

static inline void
test_set_attr (TestSet *set, GantryAttrList *list, const char *key, const char *value)
{
  const char *bracket = strchr (value, '[');
  g_autofree char *word = bracket != NULL ? g_strndup (value, bracket - value) : g_strdup (value);

  if (value[0] == '@')
    {
      guint32 type = test_type (set, value + 1);

      g_array_append_val (set->functions, type);
      gantry_attr_list_set_function (list, key, set->functions->len);
    }
  else if (value[0] == '[')
    {
      gint64 ints[64];
      gsize n = 0;

      for (const char *p = value + 1; *p != ']' && *p != '\0'; p += *p == ',')
        ints[n++] = g_ascii_strtoll (p, (char **) &p, 10);
      gantry_attr_list_set_ints (list, key, ints, n);
    }
  else if (g_ascii_isdigit (value[0]) || value[0] == '-')
    gantry_attr_list_set_int (list, key, g_ascii_strtoll (value, NULL, 10));
  else if (bracket != NULL && gantry_element_from_name (word) != GANTRY_ELEMENT_NONE)
    gantry_attr_list_set_type (list, key, test_type (set, value));
  else
    gantry_attr_list_set_string (list, key, value);
}

static inline guint32
test_attrs (TestSet *set, const char *text)
{
  GantryAttrList *list = gantry_attr_list_new (set->context);
  g_auto (GStrv) pairs = g_strsplit (text != NULL ? text : "", " ", -1);

  for (guint i = 0; pairs[i] != NULL; i++)
    {
      char *equals = strchr (pairs[i], '=');

      if (equals == NULL)
        continue;
      *equals = '\0';
      test_set_attr (set, list, pairs[i], equals + 1);
    }
  return gantry_attr_list_end (list);
}
