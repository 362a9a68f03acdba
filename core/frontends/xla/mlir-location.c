/* SPDX-License-Identifier: Apache-2.0 */
/* Where a node was written. A text with locations names the source of the program that it was made from, through
 * aliases that may stand behind the module; a node without one stands where the text has it. The name around a
 * location, "jit(f)/jit(main)/add", is the scope. */
#include "core/frontends/xla/mlir-private.h"

static void body (Mlir *m, MlirPlace *place);

guint32
gantry_mlir_here (Mlir *m, guint line, guint column)
{
  GantryLocation location = { .file = m->file, .line = line, .column = column };

  return gantry_context_location (m->context, &location);
}

static void
skip_value (Mlir *m)
{
  gantry_xla_scan_value (&m->s, FALSE);
}

void
gantry_mlir_take_name (Mlir *m, const char *name, MlirPlace *place)
{
  const char *last = gantry_xla_last_part (name);

  if (last > name)
    {
      g_autofree char *path = g_strndup (name, (gsize) (last - name) - 1);

      place->scope = gantry_context_scope (m->context, path);
    }
  place->name = gantry_context_intern (m->context, last);
}

guint32
gantry_mlir_operation_scope (Mlir *m, const MlirPlace *place)
{
  const char *last = gantry_context_string (m->context, place->name);
  g_autofree char *whole = NULL;

  if (!g_str_has_suffix (last, ")"))
    return place->scope;
  whole = g_strconcat (gantry_context_scope_path (m->context, place->scope), place->scope != 0 ? "/" : "", last, NULL);
  return gantry_xla_scope_of (m->context, whole);
}

static guint32
small_number (Mlir *m)
{
  gint64 value = gantry_xla_scan_int (&m->s);

  return (guint32) CLAMP (value, 0, G_MAXINT32);
}

static void
file_or_name (Mlir *m, MlirPlace *place)
{
  GantryXlaScan *s = &m->s;
  g_autofree char *text = gantry_xla_scan_string (s);
  GantryLocation location = { 0 };

  if (text == NULL)
    return;
  if (gantry_xla_scan_accept (s, ":"))
    {
      location.file = gantry_context_intern (m->context, text);
      location.line = small_number (m);
      if (gantry_xla_scan_accept (s, ":"))
        location.column = small_number (m);
      if (gantry_xla_scan_accept (s, "to"))
        skip_value (m);
      place->location = gantry_context_location (m->context, &location);
      return;
    }
  gantry_mlir_take_name (m, text, place);
  if (gantry_xla_scan_accept (s, "("))
    {
      MlirPlace inner = { 0 };

      body (m, &inner);
      place->location = inner.location;
      gantry_xla_scan_expect (s, ")");
    }
}

static void
alias (Mlir *m, MlirPlace *place)
{
  GantryXlaScan *s = &m->s;
  GantryXlaSpan name = gantry_xla_scan_suffix (s);
  g_autofree char *key = g_strdup_printf ("%u:%.*s", m->module, (int) name.length, name.at);
  MlirAlias *alias = g_hash_table_lookup (m->aliases, GUINT_TO_POINTER (gantry_context_intern (m->context, key)));

  if (alias == NULL || alias->busy || s->error != NULL)
    return;
  if (!alias->known)
    {
      GantryXlaScan here = *s;
      MlirPlace found = { 0 };

      s->at = alias->at;
      alias->busy = TRUE;
      if (gantry_xla_scan_accept (s, "loc") && gantry_xla_scan_expect (s, "("))
        body (m, &found);
      alias->busy = FALSE;
      alias->known = TRUE;
      here.error = s->error;
      if (here.error != NULL)
        here.at = here.end;
      *s = here;
      alias->location = found.location;
      alias->scope = found.scope;
      alias->name = found.name;
    }
  *place = (MlirPlace){ alias->location, alias->scope, alias->name };
}

/* fused<...>[a, b]: the first that says anything. */
static void
fused (Mlir *m, MlirPlace *place)
{
  GantryXlaScan *s = &m->s;

  if (gantry_xla_scan_sees (s, "<"))
    gantry_xla_scan_bracket (s);
  gantry_xla_scan_expect (s, "[");
  while (s->error == NULL && !gantry_xla_scan_sees (s, "]"))
    {
      MlirPlace part = { 0 };

      body (m, &part);
      if (place->location == 0)
        place->location = part.location;
      if (place->name == 0)
        {
          place->name = part.name;
          place->scope = part.scope;
        }
      if (!gantry_xla_scan_accept (s, ","))
        break;
    }
  gantry_xla_scan_expect (s, "]");
}

static void
body_inside (Mlir *m, MlirPlace *place)
{
  GantryXlaScan *s = &m->s;
  char c = gantry_xla_scan_peek (s);

  if (c == '"')
    file_or_name (m, place);
  else if (c == '#')
    {
      s->at++;
      alias (m, place);
    }
  else if (gantry_xla_scan_accept (s, "callsite"))
    {
      MlirPlace caller = { 0 };

      gantry_xla_scan_expect (s, "(");
      body (m, place); /* the frame that it was written in */
      gantry_xla_scan_expect (s, "at");
      body (m, &caller);
      gantry_xla_scan_expect (s, ")");
      if (place->location == 0)
        place->location = caller.location;
    }
  else if (gantry_xla_scan_accept (s, "fused"))
    fused (m, place);
  else if (gantry_xla_scan_accept (s, "loc") && gantry_xla_scan_expect (s, "("))
    {
      body (m, place);
      gantry_xla_scan_expect (s, ")");
    }
  else
    skip_value (m); /* unknown, and what later versions bring */
}

static void
body (Mlir *m, MlirPlace *place)
{
  if (!gantry_xla_scan_enter (&m->s))
    return;
  body_inside (m, place);
  m->s.depth--;
}

gboolean
gantry_mlir_location (Mlir *m, MlirPlace *place)
{
  GantryXlaScan before = m->s;

  if (!gantry_xla_scan_accept (&m->s, "loc"))
    return FALSE;
  if (!gantry_xla_scan_accept (&m->s, "("))
    {
      m->s = before;
      return FALSE;
    }
  body (m, place);
  return gantry_xla_scan_expect (&m->s, ")");
}
