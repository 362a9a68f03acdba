/* SPDX-License-Identifier: Apache-2.0 */
/* Locations in the text form: the table of those that led to others, which stands before the functions, and what a node
 * says of its own. A table has each parent once, before what it led to. */
#include "core/graph/operation.h"
#include "core/graph/text-private.h"

static const char *const step_words[] = { [GANTRY_STEP_CALL] = "called", [GANTRY_STEP_ITERATION] = "trip", [GANTRY_STEP_GRADIENT] = "gradient" };

/* Printing */

void
_gantry_text_print_location (GString *out, GantryContext *context, const GantryLocation *location, GHashTable *numbers)
{
  guint number = numbers != NULL ? GPOINTER_TO_UINT (g_hash_table_lookup (numbers, GUINT_TO_POINTER (location->parent))) : 0;

  _gantry_text_print_string (out, gantry_context_string (context, location->file));
  if (location->line != 0 || location->column != 0)
    g_string_append_printf (out, ":%u", location->line);
  if (location->column != 0)
    g_string_append_printf (out, ":%u", location->column);
  if (location->text != 0)
    {
      g_string_append_c (out, ' ');
      _gantry_text_print_string (out, gantry_context_string (context, location->text));
    }
  if (location->function != 0)
    {
      g_string_append (out, " in ");
      _gantry_text_print_string (out, gantry_context_string (context, location->function));
    }
  if (number == 0)
    return;
  g_string_append_printf (out, " %s", step_words[location->step]);
  if (location->step == GANTRY_STEP_ITERATION)
    g_string_append_printf (out, " %u", location->number);
  g_string_append_printf (out, " #%u", number);
}

/* Numbers @id and what led to it, outermost first. */
static void
print_chain (GString *out, GantryContext *context, guint32 id, GHashTable *numbers, GArray *chain)
{
  g_array_set_size (chain, 0);
  for (; id != 0 && !g_hash_table_contains (numbers, GUINT_TO_POINTER (id)); id = gantry_context_get_location (context, id)->parent)
    g_array_append_val (chain, id);
  for (guint i = chain->len; i-- > 0;)
    {
      guint number = g_hash_table_size (numbers) + 1;

      id = g_array_index (chain, guint32, i);
      g_string_append_printf (out, "  loc #%u = (", number);
      _gantry_text_print_location (out, context, gantry_context_get_location (context, id), numbers);
      g_string_append (out, ")\n");
      g_hash_table_insert (numbers, GUINT_TO_POINTER (id), GUINT_TO_POINTER (number));
    }
}

GHashTable *
_gantry_text_print_locations (GString *out, const GantryModule *module)
{
  GHashTable *numbers = g_hash_table_new (NULL, NULL);
  g_autoptr (GArray) chain = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint32 i = 0; i < module->n_nodes; i++)
    {
      const GantryLocation *location = gantry_context_get_location (module->context, module->nodes[i].location);

      if (location != NULL && location->parent != 0)
        print_chain (out, module->context, location->parent, numbers, chain);
    }
  return numbers;
}

/* Reading */

static gboolean
read_step (GantryTextReader *r, const GArray *parents, GantryLocation *location, guint *length)
{
  const GantryTextParent *parent;
  guint64 trip = 0;
  guint32 number;

  for (guint step = GANTRY_STEP_CALL; step < G_N_ELEMENTS (step_words); step++)
    if (_gantry_text_accept_word (r, step_words[step]))
      {
        if (step == GANTRY_STEP_ITERATION && !_gantry_text_unsigned (r, G_MAXUINT32, "a trip", &trip))
          return FALSE;
        if (!_gantry_text_id (r, '#', GANTRY_TEXT_MAX_ID, "'#' and the number of a location", &number))
          return FALSE;
        if (number == 0 || number > parents->len)
          return _gantry_text_fail (r, GANTRY_ERROR_INVALID, "no location #%u stands above", number);
        parent = &g_array_index (parents, GantryTextParent, number - 1);
        *length = parent->length + 1;
        if (*length > GANTRY_LOCATION_MOST_STEPS)
          return _gantry_text_fail (r, GANTRY_ERROR_TOO_LARGE, "a chain of more than %u locations; leave out its outer end", GANTRY_LOCATION_MOST_STEPS);
        location->parent = parent->id;
        location->step = step;
        location->number = (guint32) trip;
        break;
      }
  return TRUE;
}

gboolean
_gantry_text_location (GantryTextReader *r, const GArray *parents, GantryTextParent *read)
{
  GantryLocation location = { 0 };
  guint64 number;

  *read = (GantryTextParent){ 0, 1 };
  if (!_gantry_text_expect (r, '(', "'(' after loc"))
    return FALSE;
  if (_gantry_text_accept_word (r, "none"))
    return _gantry_text_expect (r, ')', "')' after a location");
  if (!_gantry_text_interned (r, &location.file))
    return FALSE;
  if (_gantry_text_accept (r, ':'))
    {
      if (!_gantry_text_unsigned (r, G_MAXUINT32, "a line", &number))
        return FALSE;
      location.line = (guint32) number;
    }
  if (_gantry_text_accept (r, ':'))
    {
      if (!_gantry_text_unsigned (r, G_MAXUINT32, "a column", &number))
        return FALSE;
      location.column = (guint32) number;
    }
  if (_gantry_text_peek (r) == '"' && !_gantry_text_interned (r, &location.text))
    return FALSE;
  if (_gantry_text_accept_word (r, "in") && !_gantry_text_interned (r, &location.function))
    return FALSE;
  if (!read_step (r, parents, &location, &read->length))
    return FALSE;
  read->id = gantry_context_location (r->context, &location);
  return _gantry_text_expect (r, ')', "')' after a location");
}

gboolean
_gantry_text_locations (GantryTextReader *r, GArray *parents)
{
  while (_gantry_text_accept_word (r, "loc"))
    {
      GantryTextParent parent;
      guint32 number;

      if (!_gantry_text_id (r, '#', GANTRY_TEXT_MAX_ID, "'#' and the number of a location", &number))
        return FALSE;
      if (number != parents->len + 1)
        return _gantry_text_fail (r, GANTRY_ERROR_INVALID, "locations are numbered in order: #%u comes next", parents->len + 1);
      if (!_gantry_text_expect (r, '=', "'=' and a location") || !_gantry_text_location (r, parents, &parent))
        return FALSE;
      if (parent.id == 0)
        return _gantry_text_fail (r, GANTRY_ERROR_INVALID, "a location that led to others has to be one");
      g_array_append_val (parents, parent);
    }
  return TRUE;
}
