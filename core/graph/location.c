/* SPDX-License-Identifier: Apache-2.0 */
/* Where nodes were written, and the chains that led there. A parent is interned before its child, so no chain is a circle. */
#include "core/base/format.h"
#include "core/graph/context-private.h"

guint32
gantry_context_location (GantryContext *context, const GantryLocation *location)
{
  GantryLocation own = *location;

  if (own.parent == 0)
    own.step = GANTRY_STEP_NONE;
  else if (own.step == GANTRY_STEP_NONE)
    own.step = GANTRY_STEP_CALL;
  if (own.step != GANTRY_STEP_ITERATION)
    own.number = 0;
  return gantry_interner_add (_gantry_context_locations (context), &own, sizeof own);
}

const GantryLocation *
gantry_context_get_location (GantryContext *context, guint32 id)
{
  return gantry_interner_get (_gantry_context_locations (context), id, NULL);
}

/* Appends file, line and column, without what led there: the bytes of names as they are, which gantry_format_text() makes fit to be shown. */
static void
append_place (GString *text, GantryContext *context, const GantryLocation *location)
{
  gsize before = text->len;

  if (location->file != 0)
    g_string_append (text, gantry_context_string (context, location->file));
  if (location->text != 0)
    g_string_append_printf (text, "%s%s", text->len > before ? ": " : "", gantry_context_string (context, location->text));
  else if (location->line != 0)
    {
      g_string_append_printf (text, ":%u", location->line);
      if (location->column != 0)
        g_string_append_printf (text, ":%u", location->column);
    }
}

char *
gantry_context_location_text (GantryContext *context, guint32 id)
{
  const GantryLocation *location = gantry_context_get_location (context, id);
  g_autoptr (GString) text = NULL;

  if (location == NULL)
    return g_strdup ("unknown location");
  text = g_string_new (NULL);
  append_place (text, context, location);
  return gantry_format_text (text->str, FALSE);
}

/* Chains */

static guint
chain_length (GantryContext *context, const GantryLocation *location)
{
  guint n = 0;

  for (; location != NULL && n < GANTRY_LOCATION_MOST_STEPS; n++)
    location = gantry_context_get_location (context, location->parent);
  return n;
}

guint32
gantry_context_location_called (GantryContext *context, guint32 callee, guint32 caller)
{
  const GantryLocation *chain[GANTRY_LOCATION_MOST_STEPS], *l = gantry_context_get_location (context, callee);
  guint n = 0, room = GANTRY_LOCATION_MOST_STEPS - chain_length (context, gantry_context_get_location (context, caller));

  if (l == NULL || caller == 0)
    return l != NULL ? callee : caller;
  for (; l != NULL && n < room; l = gantry_context_get_location (context, l->parent))
    chain[n++] = l;
  if (l != NULL || n == 0) /* the outer end is what is left out */
    return callee;
  while (n-- > 0)
    {
      GantryLocation location = *chain[n];

      location.parent = caller;
      caller = gantry_context_location (context, &location);
    }
  return caller;
}

guint32
gantry_context_location_shortened (GantryContext *context, guint32 id)
{
  const GantryLocation *chain[GANTRY_LOCATION_MOST_STEPS], *l = gantry_context_get_location (context, id);
  guint32 parent = 0;
  guint n = 0;

  for (; l != NULL && n < GANTRY_LOCATION_MOST_STEPS; l = gantry_context_get_location (context, l->parent))
    chain[n++] = l;
  if (l == NULL)
    return id;
  while (n-- > 0)
    {
      GantryLocation location = *chain[n];

      location.parent = parent;
      parent = gantry_context_location (context, &location);
    }
  return parent;
}

/* What is said of the parent's place. */
static void
append_step (GString *text, GantryContext *context, const GantryLocation *location)
{
  const GantryLocation *parent = gantry_context_get_location (context, location->parent);

  if (location->step == GANTRY_STEP_ITERATION)
    g_string_append_printf (text, "trip %u of this loop", location->number);
  else
    g_string_append (text, location->step == GANTRY_STEP_GRADIENT ? "its gradient is taken here" : "called from here");
  if (parent->function != 0)
    g_string_append_printf (text, ", in %s", gantry_context_string (context, parent->function));
}

char *
gantry_context_step_text (GantryContext *context, const GantryLocation *location)
{
  g_autoptr (GString) text = NULL;

  if (location == NULL || location->parent == 0)
    return NULL;
  text = g_string_new (NULL);
  append_step (text, context, location);
  return gantry_format_text (text->str, FALSE);
}

char *
gantry_context_location_chain (GantryContext *context, guint32 id, guint most)
{
  const GantryLocation *location = gantry_context_get_location (context, id);
  GString *lines = NULL;
  guint n = 0;

  for (; location != NULL && location->parent != 0; location = gantry_context_get_location (context, location->parent), n++)
    {
      g_autoptr (GString) line = NULL;
      g_autofree char *shown = NULL;

      if (n >= most)
        continue;
      line = g_string_new (NULL);
      append_place (line, context, gantry_context_get_location (context, location->parent));
      g_string_append (line, ": ");
      append_step (line, context, location);
      shown = gantry_format_text (line->str, FALSE);
      if (lines == NULL)
        lines = g_string_new (shown);
      else
        g_string_append_printf (lines, "\n%s", shown);
    }
  if (lines != NULL && n > most)
    g_string_append_printf (lines, "\nand %u more", n - most);
  return lines != NULL ? g_string_free (lines, FALSE) : NULL;
}
