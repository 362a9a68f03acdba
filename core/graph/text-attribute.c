/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the attributes of a node of the text form: "{axis = 1, name = \"x\"}". */
#include "core/graph/text-private.h"
#include "core/base/error.h"
#include <string.h>

/* Keys are looked for one after the other. */
#define MAX_ATTRIBUTES 1024

void
_gantry_text_lists_init (GantryTextLists *lists)
{
  lists->ints = g_array_new (FALSE, FALSE, sizeof (gint64));
  lists->floats = g_array_new (FALSE, FALSE, sizeof (double));
  lists->strings = g_ptr_array_new_with_free_func (g_free);
}

void
_gantry_text_lists_clear (GantryTextLists *lists)
{
  g_array_unref (lists->ints);
  g_array_unref (lists->floats);
  g_ptr_array_unref (lists->strings);
}

static gboolean
is_float (const char *number)
{
  return strpbrk (number, ".eEin") != NULL;
}

/* Whether the number that comes next is a float: the reader stays where it is. */
static gboolean
at_float (GantryTextReader *r)
{
  const char *start;
  char buffer[64];
  gboolean result;

  _gantry_text_skip (r);
  start = r->at;
  result = _gantry_text_number (r, buffer, sizeof buffer) && is_float (buffer);
  r->at = start;
  return result;
}

static gboolean
read_list_of_strings (GantryTextReader *r, GantryTextLists *lists, GantryAttrList *list, const char *key)
{
  g_autoptr (GString) string = g_string_new (NULL);

  g_ptr_array_set_size (lists->strings, 0);
  do
    {
      if (!_gantry_text_string (r, string))
        return FALSE;
      g_ptr_array_add (lists->strings, g_strdup (string->str));
    }
  while (_gantry_text_accept (r, ','));
  gantry_attr_list_set_strings (list, key, (const char *const *) lists->strings->pdata, lists->strings->len);
  return TRUE;
}

static gboolean
read_list_of_floats (GantryTextReader *r, GantryTextLists *lists, GantryAttrList *list, const char *key)
{
  double value;

  g_array_set_size (lists->floats, 0);
  do
    {
      if (!_gantry_text_double (r, &value))
        return FALSE;
      g_array_append_val (lists->floats, value);
    }
  while (_gantry_text_accept (r, ','));
  gantry_attr_list_set_floats (list, key, (const double *) (gpointer) lists->floats->data, lists->floats->len);
  return TRUE;
}

static gboolean
read_list_of_ints (GantryTextReader *r, GantryTextLists *lists, GantryAttrList *list, const char *key)
{
  gint64 value;

  g_array_set_size (lists->ints, 0);
  do
    {
      if (!_gantry_text_int (r, &value))
        return FALSE;
      g_array_append_val (lists->ints, value);
    }
  while (_gantry_text_accept (r, ','));
  gantry_attr_list_set_ints (list, key, (const gint64 *) (gpointer) lists->ints->data, lists->ints->len);
  return TRUE;
}

/* After '['. The first element says what the list is of. */
static gboolean
read_list (GantryTextReader *r, GantryTextLists *lists, GantryAttrList *list, const char *key)
{
  gboolean good;

  if (_gantry_text_peek (r) == '"')
    good = read_list_of_strings (r, lists, list, key);
  else if (at_float (r))
    good = read_list_of_floats (r, lists, list, key);
  else
    good = read_list_of_ints (r, lists, list, key);
  return good && _gantry_text_expect (r, ']', "',' or ']' in a list");
}

static gboolean
read_empty_list (GantryTextReader *r, GantryAttrList *list, const char *key, GantryAttrKind kind)
{
  if (kind == GANTRY_ATTR_INTS)
    gantry_attr_list_set_ints (list, key, NULL, 0);
  else if (kind == GANTRY_ATTR_FLOATS)
    gantry_attr_list_set_floats (list, key, NULL, 0);
  else
    gantry_attr_list_set_strings (list, key, NULL, 0);
  return _gantry_text_expect (r, '[', "'[]'") && _gantry_text_expect (r, ']', "']': a list that is not empty has no word before it");
}

/* "@name #3" or "#3": the name is for people. */
static gboolean
read_function_value (GantryTextReader *r, GantryAttrList *list, const char *key)
{
  guint32 id;

  if (_gantry_text_accept (r, '@') && !_gantry_text_name (r, "the name of a function", &id))
    return FALSE;
  if (!_gantry_text_id (r, '#', GANTRY_TEXT_MAX_ID, "'#' and the id of a function", &id))
    return FALSE;
  gantry_attr_list_set_function (list, key, id);
  return TRUE;
}

static gboolean
read_number (GantryTextReader *r, GantryAttrList *list, const char *key)
{
  gint64 i;
  double f;

  if (at_float (r))
    {
      if (!_gantry_text_double (r, &f))
        return FALSE;
      gantry_attr_list_set_float (list, key, f);
      return TRUE;
    }
  if (!_gantry_text_int (r, &i))
    return FALSE;
  gantry_attr_list_set_int (list, key, i);
  return TRUE;
}

static gboolean
read_value (GantryTextReader *r, GantryTextLists *lists, GantryAttrList *list, const char *key)
{
  g_autoptr (GString) string = NULL;
  char next = _gantry_text_peek (r);
  guint32 id;

  if (next == '"')
    {
      string = g_string_new (NULL);
      if (!_gantry_text_string (r, string))
        return FALSE;
      gantry_attr_list_set_string (list, key, string->str);
      return TRUE;
    }
  if (next == '@' || next == '#')
    return read_function_value (r, list, key);
  if (_gantry_text_accept (r, '['))
    return read_list (r, lists, list, key);
  if (_gantry_text_accept_word (r, "ints"))
    return read_empty_list (r, list, key, GANTRY_ATTR_INTS);
  if (_gantry_text_accept_word (r, "floats"))
    return read_empty_list (r, list, key, GANTRY_ATTR_FLOATS);
  if (_gantry_text_accept_word (r, "strings"))
    return read_empty_list (r, list, key, GANTRY_ATTR_STRINGS);
  if (_gantry_text_accept_word (r, "type"))
    {
      if (!_gantry_text_type (r, &id))
        return FALSE;
      gantry_attr_list_set_type (list, key, id);
      return TRUE;
    }
  if (_gantry_text_at_literal (r))
    {
      if (!_gantry_text_literal (r, &id))
        return FALSE;
      gantry_attr_list_set_literal (list, key, id);
      return TRUE;
    }
  if (g_ascii_isdigit (next) || next == '-' || next == 'i' || next == 'n')
    return read_number (r, list, key);
  return _gantry_text_expected (r, "the value of an attribute");
}

gboolean
_gantry_text_attributes (GantryTextReader *r, GantryTextLists *lists, guint32 *attrs)
{
  g_autoptr (GantryAttrList) list = NULL;
  guint n = 0;
  guint32 key;

  *attrs = 0;
  if (!_gantry_text_accept (r, '{'))
    return TRUE;
  list = gantry_attr_list_new (r->context);
  if (!_gantry_text_accept (r, '}'))
    {
      do
        {
          if (++n > MAX_ATTRIBUTES)
            return _gantry_text_fail (r, GANTRY_ERROR_TOO_LARGE, "a node has at most %d attributes", MAX_ATTRIBUTES);
          if (!_gantry_text_name (r, "the name of an attribute", &key) || !_gantry_text_expect (r, '=', "'=' after the name of an attribute")
              || !read_value (r, lists, list, gantry_context_string (r->context, key)))
            return FALSE;
        }
      while (_gantry_text_accept (r, ','));
      if (!_gantry_text_expect (r, '}', "',' or '}' after an attribute"))
        return FALSE;
    }
  *attrs = gantry_attr_list_end (g_steal_pointer (&list));
  return TRUE;
}
