/* SPDX-License-Identifier: Apache-2.0 */
/* Modules and functions in MLIR's generic form: "func.func"() <{sym_name = "main", ...}> ({ ^bb0(...): ... }) : () -> ().
 * What describes a function stands before its region, or, as older versions write it, behind. */
#include "core/frontends/xla/mlir-private.h"

typedef struct
{
  gboolean public;
  char *name;
  GArray *types;             /* of results: guint32, NULL: only what the index needs is read */
  GArray *arguments, *attrs; /* attributes of arguments and of results: guint32 */
} About;

static void
about_clear (About *about)
{
  g_free (about->name);
  g_clear_pointer (&about->types, g_array_unref);
  g_clear_pointer (&about->arguments, g_array_unref);
  g_clear_pointer (&about->attrs, g_array_unref);
}

/* "(types) -> type", "(types) -> (types)" */
static void
function_type (Mlir *m, GArray *types)
{
  gboolean list;

  gantry_xla_scan_expect (&m->s, "(");
  for (gboolean more = !gantry_xla_scan_sees (&m->s, ")"); more && m->s.error == NULL; more = gantry_xla_scan_accept (&m->s, ","))
    gantry_mlir_type (m);
  gantry_xla_scan_expect (&m->s, ")");
  gantry_xla_scan_expect (&m->s, "->");
  list = gantry_xla_scan_accept (&m->s, "(");
  for (gboolean more = !list || !gantry_xla_scan_sees (&m->s, ")"); more && m->s.error == NULL; more = list && gantry_xla_scan_accept (&m->s, ","))
    {
      guint32 type = gantry_mlir_type (m);

      g_array_append_val (types, type);
    }
  if (list)
    gantry_xla_scan_expect (&m->s, ")");
}

/* "[{...}, {...}]" */
static void
dictionaries (Mlir *m, GArray *all)
{
  gantry_xla_scan_expect (&m->s, "[");
  for (gboolean more = !gantry_xla_scan_sees (&m->s, "]"); more && m->s.error == NULL; more = gantry_xla_scan_accept (&m->s, ","))
    {
      guint32 attrs = gantry_mlir_braces (m);

      g_array_append_val (all, attrs);
    }
  gantry_xla_scan_expect (&m->s, "]");
}

static void
property (Mlir *m, About *about)
{
  GantryXlaSpan key = gantry_xla_scan_word (&m->s, FALSE);
  g_autofree char *visibility = NULL;

  if (key.length == 0 && gantry_xla_scan_peek (&m->s) == '"')
    g_free (gantry_xla_scan_string (&m->s));
  if (!gantry_xla_scan_accept (&m->s, "=")) /* a unit */
    return;
  gantry_xla_scan_peek (&m->s);
  if (gantry_xla_span_is (key, "sym_name"))
    {
      g_free (about->name);
      about->name = gantry_xla_scan_string (&m->s);
    }
  else if (gantry_xla_span_is (key, "sym_visibility"))
    {
      visibility = gantry_xla_scan_string (&m->s);
      about->public = g_strcmp0 (visibility, "private") != 0;
    }
  else if (about->types != NULL && gantry_xla_span_is (key, "function_type"))
    function_type (m, about->types);
  else if (about->types != NULL && gantry_xla_span_is (key, "arg_attrs"))
    dictionaries (m, about->arguments);
  else if (about->types != NULL && gantry_xla_span_is (key, "res_attrs"))
    dictionaries (m, about->attrs);
  else
    gantry_xla_scan_value (&m->s, FALSE);
}

/* "<{a = b, ...}>" or "{a = b, ...}", where one comes */
static void
properties (Mlir *m, About *about)
{
  gboolean angle = gantry_xla_scan_accept (&m->s, "<");

  if (!gantry_xla_scan_accept (&m->s, "{"))
    return;
  while (m->s.error == NULL && !gantry_xla_scan_sees (&m->s, "}"))
    {
      const char *before = m->s.at;

      property (m, about);
      if (!gantry_xla_scan_accept (&m->s, ",") || m->s.at == before)
        break;
    }
  gantry_xla_scan_expect (&m->s, "}");
  if (angle)
    gantry_xla_scan_expect (&m->s, ">");
}

/* Behind the region: "{...} : () -> ()" */
static void
tail (Mlir *m, About *about)
{
  gantry_xla_scan_expect (&m->s, ")");
  properties (m, about);
  if (!gantry_xla_scan_accept (&m->s, ":"))
    return;
  for (guint i = 0; i < 2 && m->s.error == NULL; i++)
    {
      if (gantry_xla_scan_sees (&m->s, "("))
        gantry_xla_scan_bracket (&m->s);
      if (i == 0)
        gantry_xla_scan_expect (&m->s, "->");
    }
}

void
gantry_mlir_generic_module (Mlir *m)
{
  About about = { 0 };

  gantry_xla_scan_expect (&m->s, "(");
  gantry_xla_scan_expect (&m->s, ")");
  properties (m, &about);
  gantry_xla_scan_expect (&m->s, "(");
  gantry_xla_scan_expect (&m->s, "{");
  if (gantry_xla_scan_accept (&m->s, "^"))
    {
      gantry_xla_scan_suffix (&m->s);
      gantry_xla_scan_expect (&m->s, ":");
    }
  about_clear (&about);
}

void
gantry_mlir_generic_end (Mlir *m)
{
  About about = { 0 };
  const GantryXlaScan before = m->s;

  if (gantry_xla_scan_sees (&m->s, ")"))
    tail (m, &about);
  else
    m->s = before; /* a comment that parts modules is looked for from here on */
  about_clear (&about);
}

/* Up to its region. */
static void
begin (Mlir *m, About *about)
{
  gantry_xla_scan_expect (&m->s, "(");
  gantry_xla_scan_expect (&m->s, ")");
  properties (m, about);
  gantry_xla_scan_expect (&m->s, "(");
  gantry_xla_scan_peek (&m->s);
}

char *
gantry_mlir_generic_index (Mlir *m, MlirFunction *function)
{
  GantryXlaScan *s = &m->s, inside;
  About about = { .public = TRUE };
  GantryXlaSpan region = { NULL, 0 };

  function->at = s->at;
  function->line = s->line;
  function->line_start = s->line_start;
  begin (m, &about);
  inside = *s;
  if (gantry_xla_scan_sees (s, "{"))
    region = gantry_xla_scan_bracket (s);
  else
    gantry_xla_scan_expect (s, "{");
  tail (m, &about);
  if (s->error == NULL && about.name == NULL)
    gantry_xla_scan_fail (s, GANTRY_ERROR_INVALID, "a function has no 'sym_name'");
  if (s->error != NULL)
    {
      about_clear (&about);
      return NULL;
    }
  inside.at++;
  gantry_xla_scan_peek (&inside);
  function->has_body = inside.at < region.at + region.length;
  function->has_arguments = TRUE;
  function->public = about.public;
  return g_steal_pointer (&about.name);
}

/* "^bb0(%a: type loc(...), ...):" */
static void
arguments (Mlir *m, MlirFrame *frame, const GArray *attrs)
{
  guint n = 0;

  if (!gantry_xla_scan_accept (&m->s, "^"))
    return;
  gantry_xla_scan_suffix (&m->s);
  if (gantry_xla_scan_accept (&m->s, "("))
    {
      for (gboolean more = !gantry_xla_scan_sees (&m->s, ")"); more && m->s.error == NULL; more = gantry_xla_scan_accept (&m->s, ","), n++)
        gantry_mlir_argument (m, frame, n < attrs->len ? g_array_index (attrs, guint32, n) : 0);
      gantry_xla_scan_expect (&m->s, ")");
    }
  gantry_xla_scan_expect (&m->s, ":");
}

void
gantry_mlir_generic_body (Mlir *m, MlirFrame *frame, GArray *results)
{
  About about = { .types = g_array_new (FALSE, FALSE, sizeof (guint32)),
                  .arguments = g_array_new (FALSE, FALSE, sizeof (guint32)),
                  .attrs = g_array_new (FALSE, FALSE, sizeof (guint32)) };
  GantryXlaScan region;

  begin (m, &about);
  region = m->s;
  if (about.name == NULL && m->s.error == NULL)
    {
      gantry_xla_scan_bracket (&m->s);
      tail (m, &about);
      region.error = m->s.error;
      m->s = region;
    }
  for (guint i = 0; i < about.types->len; i++)
    {
      MlirResult result = { g_array_index (about.types, guint32, i), i < about.attrs->len ? g_array_index (about.attrs, guint32, i) : 0 };

      g_array_append_val (results, result);
    }
  gantry_xla_scan_expect (&m->s, "{");
  arguments (m, frame, about.arguments);
  gantry_mlir_block (m, frame);
  about_clear (&about);
}
