/* SPDX-License-Identifier: Apache-2.0 */
/* A jaxpr: those that are named in front, then the one that is opened; each a function. */
#include "core/frontends/xla/hlo-private.h"
#include "core/frontends/xla/jaxpr-private.h"
#include "core/graph/operation.h"

gboolean
gantry_jaxpr_is (const char *text, gsize length)
{
  Jaxpr j = { 0 };
  gboolean is;

  gantry_xla_scan_init (&j.s, "", text, length);
  if (gantry_jaxpr_accept (&j, "let") && gantry_jaxpr_name (&j, FALSE).length > 0)
    gantry_jaxpr_accept (&j, "=");
  is = gantry_jaxpr_accept (&j, "{") && gantry_jaxpr_sees (&j, "lambda");
  g_clear_error (&j.s.error);
  return is;
}

static void
define (Jaxpr *j, JaxprFrame *frame, GantryXlaSpan name, guint32 id)
{
  g_hash_table_insert (frame->values, GUINT_TO_POINTER (gantry_context_intern_len (j->context, name.at, name.length)), GUINT_TO_POINTER (id));
}

/* What a jaxpr closes over has a name and no value in the text. */
static guint32
add_binder (Jaxpr *j, GantryXlaSpan name, guint32 type, gboolean parameter)
{
  g_autofree char *text = gantry_xla_span_dup (name);

  if (parameter)
    return gantry_builder_parameter (j->b, type, text);
  gantry_builder_set_name (j->b, gantry_context_intern (j->context, text));
  return gantry_builder_add_typed (j->b, gantry_context_foreign_op (j->context, "jax.closed_over"), NULL, 0, 0, type);
}

typedef struct
{
  GantryXlaSpan name;
  guint32 type, location;
} Binder;

static void
read_binders (Jaxpr *j, GArray *binders)
{
  while (j->s.error == NULL)
    {
      Binder binder = { .name = gantry_jaxpr_name (j, FALSE) };
      GantryLocation here = { .file = j->file, .line = j->s.line };

      if (binder.name.length == 0)
        return;
      here.column = gantry_xla_scan_column (&j->s) - (guint) binder.name.length;
      binder.location = gantry_context_location (j->context, &here);
      if (gantry_jaxpr_expect (j, ":"))
        binder.type = gantry_jaxpr_type (j);
      g_array_append_val (binders, binder);
    }
}

/* Parameters stand in front of all nodes of a function. */
static void
write_binders (Jaxpr *j, JaxprFrame *frame, const GArray *binders, gboolean parameter, GArray *types)
{
  for (guint i = 0; i < binders->len && j->s.error == NULL; i++)
    {
      const Binder *binder = &g_array_index (binders, Binder, i);

      gantry_builder_set_place (j->b, 0, binder->location);
      define (j, frame, binder->name, add_binder (j, binder->name, binder->type, parameter));
      if (parameter)
        g_array_append_val (types, binder->type);
    }
}

static void
head (Jaxpr *j, JaxprFrame *frame, gboolean entry, GArray *types)
{
  g_autoptr (GArray) constants = g_array_new (FALSE, FALSE, sizeof (Binder));
  g_autoptr (GArray) parameters = g_array_new (FALSE, FALSE, sizeof (Binder));

  gantry_jaxpr_expect (j, "{");
  gantry_jaxpr_expect (j, "lambda");
  read_binders (j, constants);
  gantry_jaxpr_expect (j, ";");
  read_binders (j, parameters);
  gantry_jaxpr_expect (j, ".");
  gantry_jaxpr_expect (j, "let");
  if (entry)
    write_binders (j, frame, constants, TRUE, types);
  write_binders (j, frame, parameters, TRUE, types);
  if (!entry)
    write_binders (j, frame, constants, FALSE, types);
}

static void
results (Jaxpr *j, JaxprFrame *frame, GArray *ids)
{
  gantry_jaxpr_expect (j, "in");
  gantry_jaxpr_expect (j, "(");
  while (j->s.error == NULL && !gantry_jaxpr_sees (j, ")"))
    {
      JaxprAtom atom = { 0 };
      guint32 id;

      gantry_jaxpr_atom (j, frame, &atom);
      id = j->s.error == NULL ? gantry_jaxpr_node (j, &atom, GANTRY_ELEMENT_NONE) : 0;
      g_array_append_val (ids, id);
      if (!gantry_jaxpr_accept (j, ","))
        break;
    }
  gantry_jaxpr_expect (j, ")");
  gantry_jaxpr_expect (j, "}");
}

/* The types of parameters and results, which a call has to agree with. */
static void
note_types (Jaxpr *j, guint32 function, const GArray *parameters, const GArray *ids)
{
  GArray *types = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint32 none = 0;

  g_array_append_vals (types, parameters->data, parameters->len);
  g_array_append_val (types, none);
  for (guint i = 0; i < ids->len; i++)
    {
      guint32 type = gantry_builder_type (j->b, g_array_index (ids, guint32, i));

      g_array_append_val (types, type);
    }
  g_hash_table_insert (j->functions, GUINT_TO_POINTER (function), types);
}

static void
read_body (Jaxpr *j, guint32 function, gboolean entry)
{
  JaxprFrame frame = { g_hash_table_new (NULL, NULL), g_hash_table_new (NULL, NULL) };
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GArray) parameters = g_array_new (FALSE, FALSE, sizeof (guint32));

  head (j, &frame, entry, parameters);
  while (j->s.error == NULL && !gantry_jaxpr_sees_end (j) && !gantry_progress_cancelled (j->progress, NULL))
    {
      gantry_jaxpr_equation (j, &frame);
      gantry_jaxpr_accept (j, ";");
    }
  results (j, &frame, ids);
  if (j->s.error == NULL)
    note_types (j, function, parameters, ids);
  gantry_builder_end (j->b, (const guint32 *) ids->data, j->s.error == NULL ? ids->len : 0);
  g_hash_table_unref (frame.values);
  g_hash_table_unref (frame.scopes);
}

guint32
gantry_jaxpr_body (Jaxpr *j, const char *name, gboolean entry)
{
  guint32 function;

  if (!gantry_xla_scan_enter (&j->s))
    return 0;
  function = gantry_builder_begin (j->b, name, 0);
  read_body (j, function, entry);
  j->s.depth--;
  return j->s.error == NULL ? function : 0;
}

guint32
gantry_jaxpr_shared (Jaxpr *j, GantryXlaSpan name)
{
  guint32 key = gantry_context_intern_len (j->context, name.at, name.length);
  JaxprShared *shared = g_hash_table_lookup (j->shared, GUINT_TO_POINTER (key));
  GantryXlaScan here = j->s;
  JaxprComment comment = j->comment;

  if (shared == NULL)
    return 0;
  if (shared->busy)
    {
      gantry_xla_scan_fail (&j->s, GANTRY_ERROR_INVALID, "%s is a part of itself", gantry_context_string (j->context, key));
      return 0;
    }
  if (shared->function != 0)
    return shared->function;
  shared->busy = TRUE;
  gantry_xla_scan_go (&j->s, &shared->place);
  shared->function = gantry_jaxpr_body (j, gantry_context_string (j->context, key), FALSE);
  shared->busy = FALSE;
  j->comment = comment;
  if (j->s.error == NULL)
    j->s = here;
  return shared->function;
}

/* "let NAME = { lambda ... } in", any number of them */
static void
index_shared (Jaxpr *j)
{
  while (j->s.error == NULL && gantry_jaxpr_accept (j, "let"))
    {
      GantryXlaSpan name = gantry_jaxpr_name (j, FALSE);
      JaxprShared *shared = g_new0 (JaxprShared, 1);

      if (name.length > 0)
        gantry_jaxpr_expect (j, "=");
      if (!gantry_jaxpr_sees (j, "{"))
        gantry_jaxpr_expect (j, "{");
      shared->place = (GantryXlaPlace){ j->s.at, j->s.line, j->s.line_start };
      g_hash_table_replace (j->shared, GUINT_TO_POINTER (gantry_context_intern_len (j->context, name.at, name.length)), shared);
      if (j->s.error == NULL)
        gantry_jaxpr_skip (j);
      gantry_jaxpr_expect (j, "in");
    }
}

static GantryModule *
import (Jaxpr *j, GError **error)
{
  g_autoptr (GantryModule) module = NULL;
  guint32 entry;

  index_shared (j);
  entry = gantry_jaxpr_body (j, "main", TRUE);
  if (gantry_jaxpr_peek (j) != 0)
    gantry_xla_scan_fail (&j->s, GANTRY_ERROR_INVALID, "the jaxpr ends before this; a file holds one");
  /* First, for what is read no further looks as if it were wrong. */
  if (gantry_progress_cancelled (j->progress, error))
    return NULL;
  if (j->s.error != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&j->s.error));
      return NULL;
    }
  gantry_xla_mark_phases (j->b, entry);
  module = gantry_builder_finish (j->b, error);
  if (module == NULL)
    gantry_error_prefix (error, "%s: ", j->s.name);
  return module != NULL && gantry_xla_check_calls (module, j->s.name, error) ? g_steal_pointer (&module) : NULL;
}

GantryModule *
gantry_jaxpr_import (GantryContext *context, const char *text, gsize length, const char *name, const GantryXlaOptions *options, GantryXlaInfo *info,
                     const GantryProgress *progress, GError **error)
{
  Jaxpr j = { .context = context, .options = options, .info = info, .progress = progress };
  GantryModule *module;

  g_free (info->format);
  info->format = g_strdup ("jaxpr text");
  info->n_modules = 1;
  gantry_xla_scan_init (&j.s, name, text, length);
  j.file = gantry_context_intern (context, name);
  j.shared = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  j.unknown = g_hash_table_new (NULL, NULL);
  j.functions = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_array_unref);
  j.b = gantry_builder_new (context, name);
  module = import (&j, error);
  gantry_xla_list_unknown (context, j.unknown, info);
  g_clear_error (&j.s.error);
  gantry_builder_free (j.b);
  g_hash_table_unref (j.functions);
  g_hash_table_unref (j.unknown);
  g_hash_table_unref (j.shared);
  return module;
}
