/* SPDX-License-Identifier: Apache-2.0 */
/* HLO: of a text one or more modules, each with a head, tables and computations; of a protocol buffer one. */
#include "core/frontends/xla/hlo-private.h"

static guint32
key_of (Hlo *h, GantryXlaSpan name)
{
  g_autofree char *key = g_strdup_printf ("%u:%.*s", h->module, (int) MIN (name.length, 4096), name.at);

  return gantry_context_intern (h->context, key);
}

gint
gantry_hlo_find (Hlo *h, GantryXlaSpan name)
{
  return GPOINTER_TO_INT (g_hash_table_lookup (h->by_name, GUINT_TO_POINTER (key_of (h, name)))) - 1;
}

/* "{1,0}": where a buffer lies. Returns: FALSE where it lies deeper than a shape is looked into */
static gboolean
read_index (GantryXlaScan *s, HloIndex *index)
{
  *index = (HloIndex){ 0 };
  gantry_xla_scan_expect (s, "{");
  while (s->error == NULL && !gantry_xla_scan_accept (s, "}"))
    {
      gint64 member = gantry_xla_scan_int (s);

      if (index->n == G_N_ELEMENTS (index->at))
        return FALSE;
      index->at[index->n++] = member;
      gantry_xla_scan_accept (s, ",");
    }
  return s->error == NULL;
}

/* "{ {0}: (0, {}, may-alias), {1}: (2, {}, must-alias) }", and of donors to whichever result "{ (0, {}), (2, {1}) }". */
static void
read_aliases (Hlo *h, GantryXlaSpan span, gboolean any)
{
  GantryXlaScan s = h->s;

  s.error = NULL; /* each scan has an error of its own */
  s.at = span.at;
  s.end = span.at + span.length;
  gantry_xla_scan_accept (&s, "{");
  while (s.error == NULL && gantry_xla_scan_sees (&s, any ? "(" : "{"))
    {
      HloAlias alias = { .module = h->module, .any = any };
      gboolean whole = any || (read_index (&s, &alias.output) && gantry_xla_scan_expect (&s, ":"));

      gantry_xla_scan_expect (&s, "(");
      if (s.error != NULL)
        break;
      alias.parameter = gantry_xla_scan_int (&s);
      whole = whole && (!gantry_xla_scan_accept (&s, ",") || read_index (&s, &alias.leaf));
      if (gantry_xla_scan_accept (&s, ","))
        gantry_xla_scan_word (&s, TRUE); /* may-alias, must-alias */
      if (!gantry_xla_scan_expect (&s, ")"))
        break;
      if (whole)
        g_array_append_val (h->aliases, alias);
      gantry_xla_scan_accept (&s, ",");
    }
  g_clear_error (&s.error);
}

static void
read_head (Hlo *h)
{
  GantryXlaScan *s = &h->s;

  if (gantry_xla_scan_word (s, TRUE).length == 0)
    gantry_xla_scan_expect (s, "the name of a module");
  while (s->error == NULL && gantry_xla_scan_accept (s, ","))
    {
      GantryXlaSpan key = gantry_xla_scan_word (s, FALSE), value;

      if (!gantry_xla_scan_accept (s, "="))
        break;
      value = gantry_xla_scan_value (s, TRUE);
      if (gantry_xla_span_is (key, "input_output_alias"))
        read_aliases (h, value, FALSE);
      else if (gantry_xla_span_is (key, "buffer_donor"))
        read_aliases (h, value, TRUE);
    }
  g_ptr_array_set_size (h->tables, (gint) h->module);
  g_ptr_array_add (h->tables, gantry_hlo_tables_new ());
  while (s->error == NULL && gantry_hlo_table (h, g_ptr_array_index (h->tables, h->module)))
    ;
}

/* The second of a name is another function. */
static guint32
function_id (Hlo *h, GantryXlaSpan span, guint32 name)
{
  const GantryModule *like = h->module == 0 && gantry_hlo_find (h, span) < 0 ? h->options->like : NULL;

  for (guint i = 0; like != NULL && i < like->n_functions; i++)
    if (like->functions[i].name == name)
      return like->functions[i].id;
  return gantry_context_next_function_id (h->context);
}

guint
gantry_hlo_add_computation (Hlo *h, GantryXlaSpan name, const HloComputation *computation)
{
  HloComputation c = *computation;

  c.name = gantry_context_intern_len (h->context, name.at, name.length);
  c.function = function_id (h, name, c.name);
  g_array_append_val (h->computations, c);
  g_hash_table_insert (h->by_name, GUINT_TO_POINTER (key_of (h, name)), GUINT_TO_POINTER (h->computations->len));
  g_ptr_array_add (h->info->functions, g_strdup (gantry_context_string (h->context, c.name)));
  g_array_append_val (h->info->function_modules, c.module);
  return h->computations->len - 1;
}

static void
index_computation (Hlo *h)
{
  GantryXlaScan *s = &h->s;
  HloComputation c = { .module = h->module };
  GantryXlaSpan name;

  c.entry = gantry_xla_scan_accept (s, "ENTRY");
  gantry_xla_scan_accept (s, "%");
  name = gantry_xla_scan_word (s, TRUE);
  if (name.length == 0)
    {
      gantry_xla_scan_expect (s, "a computation");
      return;
    }
  if (gantry_xla_scan_sees (s, "("))
    gantry_xla_scan_bracket (s);
  if (gantry_xla_scan_accept (s, "->"))
    {
      GantryXlaSpan layout;

      gantry_hlo_shape (h, &layout);
    }
  if (!gantry_xla_scan_sees (s, "{"))
    {
      gantry_xla_scan_expect (s, "{");
      return;
    }
  c.at = s->at + 1;
  c.line = s->line;
  c.line_start = s->line_start;
  gantry_xla_scan_bracket (s);
  while (s->error == NULL && gantry_xla_scan_accept (s, ","))
    {
      gantry_xla_scan_word (s, FALSE);
      if (!gantry_xla_scan_expect (s, "="))
        return;
      gantry_xla_scan_value (s, TRUE);
    }
  if (s->error != NULL)
    return;
  gantry_hlo_add_computation (h, name, &c);
}

static void
make_index (Hlo *h)
{
  gboolean begun = FALSE;

  while (h->s.error == NULL && gantry_xla_scan_peek (&h->s) != 0)
    if (gantry_xla_scan_accept (&h->s, "HloModule"))
      {
        h->module += begun;
        begun = TRUE;
        read_head (h);
      }
    else
      index_computation (h);
  h->info->n_modules = h->module + 1;
}

/* The one that says so, or the last of its module. */
static HloComputation *
choose_entry (Hlo *h)
{
  HloComputation *best = NULL;

  for (guint i = 0; i < h->computations->len; i++)
    {
      HloComputation *c = &g_array_index (h->computations, HloComputation, i);

      if (h->options->module >= 0 ? c->module != (guint) h->options->module : best != NULL && c->module != best->module)
        continue;
      if (h->options->entry != NULL && strcmp (gantry_context_string (h->context, c->name), h->options->entry) != 0)
        continue;
      if (best == NULL || c->entry || !best->entry)
        best = c;
    }
  return best;
}

/* Indexes the computations of the text or message and writes the one that the options choose, with all that it calls. Returns: (transfer full)
 * (nullable): NULL with @error, also where it was cancelled */
static GantryModule *
build_module (Hlo *h, GError **error)
{
  g_autoptr (GantryModule) module = NULL;
  HloComputation *entry;

  if (h->s.binary)
    gantry_hlo_proto_index (h);
  else
    make_index (h);
  entry = h->s.error == NULL ? choose_entry (h) : NULL;
  if (h->s.error == NULL && entry == NULL)
    gantry_xla_scan_fail (&h->s, GANTRY_ERROR_INVALID, "no computation is in it");
  if (h->s.error == NULL)
    gantry_hlo_write (h, entry);
  if (h->s.error != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&h->s.error));
      return NULL;
    }
  if (gantry_progress_cancelled (h->progress, error))
    return NULL;
  gantry_xla_mark_phases (h->b, entry->function);
  module = gantry_builder_finish (h->b, error);
  if (module == NULL)
    {
      gantry_error_prefix (error, "%s: ", h->s.name);
      return NULL;
    }
  return gantry_xla_check_calls (module, h->s.name, error) ? g_steal_pointer (&module) : NULL;
}

GantryModule *
gantry_hlo_import (GantryContext *context, const char *text, gsize length, const char *name, const GantryXlaOptions *options, GantryXlaInfo *info,
                   const GantryProgress *progress, GError **error)
{
  Hlo h = { .context = context, .options = options, .info = info, .progress = progress };
  GantryModule *module;

  g_free (info->format);
  gantry_xla_scan_init (&h.s, name, text, length);
  h.s.binary = gantry_hlo_is_binary (text, length, name);
  info->format = g_strdup (h.s.binary ? "HLO protobuf" : "HLO text");
  h.file = gantry_context_intern (context, name);
  h.computations = g_array_new (FALSE, FALSE, sizeof (HloComputation));
  h.by_name = g_hash_table_new (NULL, NULL);
  h.unknown = g_hash_table_new (NULL, NULL);
  h.tables = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_hlo_tables_free);
  h.aliases = g_array_new (FALSE, FALSE, sizeof (HloAlias));
  h.wanted = g_queue_new ();
  h.b = gantry_builder_new (context, name);
  module = build_module (&h, error);
  gantry_xla_list_unknown (context, h.unknown, info);
  g_clear_error (&h.s.error);
  gantry_builder_free (h.b);
  g_clear_pointer (&h.proto, gantry_hlo_proto_free);
  g_queue_free (h.wanted);
  g_array_unref (h.aliases);
  g_ptr_array_unref (h.tables);
  g_hash_table_unref (h.unknown);
  g_hash_table_unref (h.by_name);
  g_array_unref (h.computations);
  return module;
}
