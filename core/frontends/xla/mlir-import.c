/* SPDX-License-Identifier: Apache-2.0 */
/* A text of StableHLO: one or more modules, or functions alone. An index of functions and aliases is made first,
 * because the entry is the first function of a module and locations may stand behind what they belong to. */
#include "core/base/file.h"
#include "core/frontends/xla/hlo-private.h"
#include "core/frontends/xla/jaxpr-private.h"
#include "core/frontends/xla/mlir-private.h"

/* Whether the first thing in a text that is no comment is the head of an HLO module. */
static gboolean
is_hlo (const char *text, gsize length, const char *name)
{
  GantryXlaScan s;
  gboolean is;

  if (gantry_hlo_is_binary (text, length, name))
    return TRUE;
  gantry_xla_scan_init (&s, "", text, length);
  is = gantry_xla_scan_sees (&s, "HloModule");
  g_clear_error (&s.error);
  return is;
}

static gboolean
is_jaxpr (const char *text, gsize length, const char *name)
{
  return g_str_has_suffix (name, ".jaxpr") || gantry_jaxpr_is (text, length);
}

/* XLA's dumps end in .txt, and a binary file in anything: what is in one has to be looked at. */
static gboolean
looks_read (const char *path)
{
  g_autoptr (GMappedFile) file = gantry_file_map (path, NULL);
  GantryXlaScan s;

  if (file == NULL || g_mapped_file_get_length (file) == 0)
    return FALSE;
  if (gantry_hlo_is_binary (g_mapped_file_get_contents (file), g_mapped_file_get_length (file), path)
      || gantry_mlir_is_bytecode (g_mapped_file_get_contents (file), g_mapped_file_get_length (file)))
    return TRUE;
  if (!g_str_has_suffix (path, ".txt"))
    return FALSE;
  gantry_xla_scan_init (&s, path, g_mapped_file_get_contents (file), g_mapped_file_get_length (file));
  return gantry_xla_scan_sees (&s, "HloModule") || gantry_xla_scan_sees (&s, "module") || gantry_xla_scan_sees (&s, "func.func")
         || gantry_jaxpr_is (s.text, (gsize) (s.end - s.text));
}

gboolean
gantry_xla_reads (const char *path)
{
  return g_str_has_suffix (path, ".mlir") || g_str_has_suffix (path, ".mlirbc") || g_str_has_suffix (path, ".stablehlo") || g_str_has_suffix (path, ".hlo")
         || g_str_has_suffix (path, ".jaxpr") || (g_file_test (path, G_FILE_TEST_IS_REGULAR) && looks_read (path));
}

static void
clear_check (gpointer data)
{
  g_free (((GantryXlaCheck *) data)->operation);
}

static GantryXlaInfo *
info_new (void)
{
  GantryXlaInfo *info = g_new0 (GantryXlaInfo, 1);

  info->format = g_strdup ("StableHLO text");
  info->producer = g_strdup ("");
  info->functions = g_ptr_array_new_with_free_func (g_free);
  info->function_modules = g_array_new (FALSE, FALSE, sizeof (guint));
  info->checks = g_array_new (FALSE, FALSE, sizeof (GantryXlaCheck));
  g_array_set_clear_func (info->checks, clear_check);
  info->feeds = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref);
  info->unknown = g_ptr_array_new_with_free_func (g_free);
  return info;
}

void
gantry_xla_info_free (GantryXlaInfo *info)
{
  if (info == NULL)
    return;
  g_free (info->format);
  g_free (info->producer);
  g_ptr_array_unref (info->functions);
  g_array_unref (info->function_modules);
  g_array_unref (info->checks);
  g_ptr_array_unref (info->feeds);
  g_ptr_array_unref (info->unknown);
  g_free (info);
}

/* The index */

static guint32
key_of (Mlir *m, GantryXlaSpan name)
{
  g_autofree char *key = g_strdup_printf ("%u:%.*s", m->module, (int) MIN (name.length, 4096), name.at);

  return gantry_context_intern (m->context, key);
}

static void
index_alias (Mlir *m)
{
  GantryXlaScan *s = &m->s;
  MlirAlias *alias;
  GantryXlaSpan name;

  s->at++;
  name = gantry_xla_scan_suffix (s);
  gantry_xla_scan_expect (s, "=");
  gantry_xla_scan_peek (s);
  alias = g_new0 (MlirAlias, 1);
  alias->at = s->at;
  g_hash_table_replace (m->aliases, GUINT_TO_POINTER (key_of (m, name)), alias);
  gantry_xla_scan_value (s, TRUE);
}

static void
skip_result_and_attributes (Mlir *m)
{
  GantryXlaScan *s = &m->s;

  if (gantry_xla_scan_accept (s, "->"))
    {
      if (gantry_xla_scan_sees (s, "("))
        gantry_xla_scan_bracket (s);
      else
        gantry_mlir_type (m);
    }
  if (gantry_xla_scan_accept (s, "attributes") && gantry_xla_scan_sees (s, "{"))
    gantry_xla_scan_bracket (s);
}

static void
add_function (Mlir *m, MlirFunction *function, GantryXlaSpan name)
{
  guint32 key = key_of (m, name);

  function->name = gantry_context_intern_len (m->context, name.at, name.length);
  function->function = gantry_context_next_function_id (m->context);
  g_array_append_val (m->functions, *function);
  g_hash_table_insert (m->by_name, GUINT_TO_POINTER (key), GUINT_TO_POINTER (m->functions->len));
  g_ptr_array_add (m->info->functions, g_strdup (gantry_context_string (m->context, function->name)));
  g_array_append_val (m->info->function_modules, function->module);
}

static void
index_generic_function (Mlir *m)
{
  MlirFunction function = { .module = m->module, .public = TRUE, .generic = TRUE };
  g_autofree char *name = gantry_mlir_generic_index (m, &function);

  if (m->s.error == NULL)
    add_function (m, &function, (GantryXlaSpan){ name, strlen (name) });
}

static void
index_function (Mlir *m)
{
  GantryXlaScan *s = &m->s;
  MlirFunction function = { .module = m->module, .public = TRUE };
  GantryXlaSpan name, arguments;

  while (gantry_xla_scan_peek (s) != '@' && s->error == NULL)
    {
      GantryXlaSpan word = gantry_xla_scan_word (s, FALSE);

      if (word.length == 0)
        gantry_xla_scan_expect (s, "@");
      function.public = function.public && !gantry_xla_span_is (word, "private");
    }
  s->at += s->error == NULL;
  name = gantry_xla_scan_suffix (s);
  if (!gantry_xla_scan_sees (s, "("))
    gantry_xla_scan_expect (s, "(");
  function.at = s->at;
  function.line = s->line;
  function.line_start = s->line_start;
  arguments = gantry_xla_scan_bracket (s);
  function.has_arguments = memchr (arguments.at, '%', arguments.length) != NULL;
  skip_result_and_attributes (m);
  function.has_body = gantry_xla_scan_sees (s, "{");
  if (function.has_body)
    gantry_xla_scan_bracket (s);
  if (s->error == NULL)
    add_function (m, &function, name);
}

static void
begin_module (Mlir *m)
{
  GantryXlaScan *s = &m->s;

  if (gantry_xla_scan_accept (s, "@"))
    gantry_xla_scan_suffix (s);
  if (gantry_xla_scan_accept (s, "attributes") && gantry_xla_scan_sees (s, "{"))
    gantry_xla_scan_bracket (s);
  gantry_xla_scan_expect (s, "{");
}

static void
skip_resources (Mlir *m)
{
  const char *end = g_strstr_len (m->s.at, m->s.end - m->s.at, "#-}");

  m->s.at = end != NULL ? end + 3 : m->s.end;
}

/* Aliases stand before or behind their module: those before it are of the next one, until a function was seen. */
static void
index_item (Mlir *m, guint *depth, gboolean *used)
{
  GantryXlaScan *s = &m->s;
  char c = gantry_xla_scan_peek (s);
  MlirPlace place = { 0 };

  if (c == '#')
    index_alias (m);
  else if (c == '{' && gantry_xla_scan_ahead (s, 1) == '-')
    skip_resources (m);
  else if (c == '}' && *depth > 0)
    {
      s->at++;
      (*depth)--;
      gantry_mlir_generic_end (m);
    }
  else if (gantry_xla_scan_accept (s, "\"builtin.module\""))
    {
      gantry_mlir_generic_module (m);
      (*depth)++;
      *used = TRUE;
    }
  else if (gantry_xla_scan_accept (s, "\"func.func\""))
    {
      index_generic_function (m);
      *used = TRUE;
    }
  else if (gantry_xla_scan_accept (s, "module") || gantry_xla_scan_accept (s, "builtin.module"))
    {
      begin_module (m);
      (*depth)++;
      *used = TRUE;
    }
  else if (gantry_xla_scan_accept (s, "func.func") || gantry_xla_scan_accept (s, "func"))
    {
      index_function (m);
      *used = TRUE;
    }
  else if (gantry_xla_scan_sees (s, "loc"))
    {
      if (!gantry_mlir_location (m, &place))
        gantry_xla_scan_value (s, TRUE);
    }
  else if (c == '}' || c == ']' || c == ')')
    gantry_xla_scan_fail (s, GANTRY_ERROR_INVALID, "'%c' closes nothing", c);
  else if (gantry_xla_scan_value (s, TRUE).length == 0) /* a mesh, a global variable */
    s->at++;
}

static gboolean
new_part (const char *from, const char *to)
{
  for (const char *at = from; at < to; at++)
    {
      at = memchr (at, '/', (gsize) (to - at));
      if (at == NULL)
        return FALSE;
      if (to - at >= 7 && memcmp (at, "// ----", 7) == 0)
        return TRUE;
    }
  return FALSE;
}

static void
make_index (Mlir *m)
{
  guint depth = 0;
  gboolean used = FALSE;

  while (m->s.error == NULL)
    {
      const char *before = m->s.at;

      if (gantry_xla_scan_peek (&m->s) == 0)
        break;
      if (depth == 0 && used && new_part (before, m->s.at))
        {
          m->module++;
          used = FALSE;
        }
      index_item (m, &depth, &used);
    }
  if (m->s.error == NULL && depth > 0)
    gantry_xla_scan_fail (&m->s, GANTRY_ERROR_TRUNCATED, "'}' is expected, and the text ends");
  m->info->n_modules = m->module + 1;
}

/* Reading */

static const MlirFunction *
choose_entry (Mlir *m)
{
  const MlirFunction *best = NULL;
  guint best_rank = 0;

  for (guint i = 0; i < m->functions->len; i++)
    {
      const MlirFunction *f = &g_array_index (m->functions, MlirFunction, i);
      const char *name = gantry_context_string (m->context, f->name);
      guint rank = m->options->entry != NULL ? 3u * (strcmp (name, m->options->entry) == 0) : strcmp (name, "main") == 0 ? 3 : f->public ? 2 : 1;

      if (!f->has_body || (m->options->entry != NULL && m->options->module >= 0 && (guint) m->options->module != f->module))
        continue;
      if (rank > best_rank && (best == NULL || best->module == f->module))
        {
          best = f;
          best_rank = rank;
        }
    }
  return best;
}

static gboolean
read_functions (Mlir *m, GError **error)
{
  const MlirFunction *entry = choose_entry (m);

  if (entry == NULL)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: no function%s%s is defined in it", m->s.name, m->options->entry != NULL ? " named " : "",
                   m->options->entry != NULL ? m->options->entry : "");
      return FALSE;
    }
  gantry_mlir_function (m, entry, TRUE);
  for (guint i = 0; i < m->functions->len && m->s.error == NULL; i++)
    {
      const MlirFunction *f = &g_array_index (m->functions, MlirFunction, i);

      if (gantry_progress_cancelled (m->progress, error))
        return FALSE;
      if (f != entry && (!m->options->checks || f->module == entry->module))
        gantry_mlir_function (m, f, FALSE);
    }
  return TRUE;
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

void
gantry_xla_list_unknown (GantryContext *context, GHashTable *unknown, GantryXlaInfo *info)
{
  GHashTableIter iter;
  gpointer name;

  g_hash_table_iter_init (&iter, unknown);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    g_ptr_array_add (info->unknown, g_strdup (gantry_context_string (context, GPOINTER_TO_UINT (name))));
  g_ptr_array_sort (info->unknown, compare_names);
}

/* A function that calls itself, at whatever distance, has no end. */
typedef struct
{
  const GantryModule *module;
  guint8 *state; /* by function: 1 being walked, 2 done */
} Calls;

static gboolean
calls_end (Calls *calls, const GantryFunction *f, guint depth)
{
  guint8 *state = &calls->state[f - calls->module->functions];

  if (*state != 0)
    return *state == 2;
  if (depth > GANTRY_XLA_MOST_DEPTH)
    return FALSE;
  *state = 1;
  for (guint i = 0; i < f->n_nodes; i++)
    {
      const GantryAttrs *attrs = gantry_context_attrs (calls->module->context, calls->module->nodes[f->first_node + i].attrs);

      for (guint a = 0; a < attrs->n; a++)
        {
          const GantryFunction *body = attrs->items[a].kind == GANTRY_ATTR_FUNCTION ? gantry_module_function (calls->module, attrs->items[a].id) : NULL;

          if (body != NULL && !calls_end (calls, body, depth + 1))
            return FALSE;
        }
    }
  *state = 2;
  return TRUE;
}

gboolean
gantry_xla_check_calls (const GantryModule *module, const char *name, GError **error)
{
  g_autofree guint8 *state = g_new0 (guint8, module->n_functions + 1);
  Calls calls = { module, state };

  for (guint i = 0; i < module->n_functions; i++)
    if (!calls_end (&calls, &module->functions[i], 0))
      {
        g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: function @%s calls itself, or calls are nested more than %d deep", name,
                     gantry_context_string (module->context, module->functions[i].name), GANTRY_XLA_MOST_DEPTH);
        return FALSE;
      }
  return TRUE;
}

static void
mlir_clear (Mlir *m)
{
  g_clear_error (&m->s.error);
  g_clear_pointer (&m->b, gantry_builder_free);
  g_clear_pointer (&m->bytecode, gantry_mlir_bytecode_free);
  g_array_unref (m->functions);
  g_array_unref (m->checked);
  g_array_unref (m->donations);
  g_hash_table_unref (m->by_name);
  g_hash_table_unref (m->aliases);
  g_hash_table_unref (m->unknown);
}

static GantryModule *
import (Mlir *m, GError **error)
{
  g_autoptr (GantryModule) module = NULL;
  const char *text = m->s.text;
  gsize length = (gsize) (m->s.end - m->s.text);

  if (m->s.binary)
    gantry_mlir_bytecode_open (m);
  else
    make_index (m);
  if (m->s.error == NULL)
    {
      gboolean binary = m->s.binary;

      gantry_xla_scan_init (&m->s, m->s.name, text, length);
      m->s.binary = binary;
      if (!read_functions (m, error))
        return NULL;
    }
  if (m->s.error != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&m->s.error));
      return NULL;
    }
  gantry_xla_mark_phases (m->b, m->entry);
  module = gantry_builder_finish (m->b, error);
  if (module == NULL)
    {
      gantry_error_prefix (error, "%s: ", m->s.name);
      return NULL;
    }
  return gantry_xla_check_calls (module, m->s.name, error) ? g_steal_pointer (&module) : NULL;
}

GantryModule *
gantry_xla_import_text (GantryContext *context, const char *text, gsize length, const char *name, const GantryXlaOptions *options, GantryXlaInfo **info,
                        const GantryProgress *progress, GError **error)
{
  const GantryXlaOptions none = { .module = -1 };
  g_autoptr (GantryXlaInfo) own = info_new ();
  Mlir m = { .context = context, .options = options != NULL ? options : &none, .info = own, .progress = progress };
  GantryModule *module;
  const GantryDialect *dialects;
  guint n;

  if (length > GANTRY_XLA_MOST_BYTES)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "%s: a text may have at most 1 GiB", name);
      return NULL;
    }
  dialects = gantry_xla_dialects (&n);
  for (guint i = 0; i < n; i++)
    gantry_context_add_dialect (context, &dialects[i]);
  if (is_hlo (text, length, name) || is_jaxpr (text, length, name))
    {
      module = (is_jaxpr (text, length, name) ? gantry_jaxpr_import : gantry_hlo_import) (context, text, length, name, options != NULL ? options : &none, own,
                                                                                          progress, error);
      if (info != NULL && module != NULL)
        *info = g_steal_pointer (&own);
      return module;
    }
  gantry_xla_scan_init (&m.s, name, text, length);
  m.s.binary = gantry_mlir_is_bytecode (text, length);
  if (m.s.binary)
    {
      g_free (own->format);
      own->format = g_strdup ("StableHLO bytecode");
    }
  m.file = gantry_context_intern (context, name);
  m.functions = g_array_new (FALSE, FALSE, sizeof (MlirFunction));
  m.by_name = g_hash_table_new (NULL, NULL);
  m.aliases = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  m.unknown = g_hash_table_new (NULL, NULL);
  m.checked = g_array_new (FALSE, FALSE, sizeof (guint32));
  m.donations = g_array_new (FALSE, FALSE, sizeof (XlaDonation));
  m.b = gantry_builder_new (context, name);
  module = import (&m, error);
  gantry_xla_list_unknown (context, m.unknown, own);
  mlir_clear (&m);
  if (info != NULL && module != NULL)
    *info = g_steal_pointer (&own);
  return module;
}

GantryModule *
gantry_xla_import (GantryContext *context, const char *path, const GantryXlaOptions *options, GantryXlaInfo **info, const GantryProgress *progress,
                   GError **error)
{
  g_autoptr (GMappedFile) file = gantry_file_map (path, error);

  if (file == NULL)
    return NULL;
  return gantry_xla_import_text (context, g_mapped_file_get_contents (file), g_mapped_file_get_length (file), path, options, info, progress, error);
}
