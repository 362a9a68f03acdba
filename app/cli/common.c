/* SPDX-License-Identifier: Apache-2.0 */
/* What the subcommands share. */
#include "app/cli/cli.h"
#include <math.h>
#include <string.h>

gboolean
gantry_cli_parse (const char *command, const char *arguments, const char *description, GantryCliOptions *options,
                  const GOptionEntry *own, int *argc, char ***argv)
{
  const GOptionEntry common[] = {
    { "json", 0, 0, G_OPTION_ARG_NONE, &options->json, "Print one JSON object", NULL },
    { "dim", 'd', 0, G_OPTION_ARG_STRING_ARRAY, &options->dims, "Size of a symbolic dimension", "NAME=SIZE" },
    { "disable", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options->disabled, "Leave a pass out", "PASS" },
    { "finite-math", 0, 0, G_OPTION_ARG_NONE, &options->finite_math, "Assume that no value is infinite or NaN", NULL },
    { "random-weights", 0, 0, G_OPTION_ARG_INT64, &options->random_weights,
      "Replace floating point weights by pseudo-random ones", "SEED" },
    { "progress", 0, 0, G_OPTION_ARG_NONE, &options->progress, "Report progress as lines", NULL },
    { NULL },
  };
  g_autofree char *usage = g_strdup_printf ("%s", arguments);
  g_autofree char *name = g_strdup_printf ("gantry-cli %s", command);
  g_autoptr (GOptionContext) context = g_option_context_new (usage);
  g_autoptr (GError) error = NULL;

  g_set_prgname (name);
  g_option_context_set_summary (context, description);
  g_option_context_add_main_entries (context, common, NULL);
  if (own != NULL)
    g_option_context_add_main_entries (context, own, NULL);
  if (g_option_context_parse (context, argc, argv, &error))
    return TRUE;
  fprintf (stderr, "%s: %s\n", name, error->message);
  return FALSE;
}

void
gantry_cli_options_clear (GantryCliOptions *options)
{
  g_clear_pointer (&options->dims, g_strfreev);
  g_clear_pointer (&options->disabled, g_strfreev);
}

/* "name=size"; the name may itself hold '='. */
static gboolean
parse_dim (const char *text, GantryDimBinding *binding, char **name, GError **error)
{
  const char *equals = strrchr (text, '=');
  gint64 size;

  if (equals == NULL || equals == text ||
      !g_ascii_string_to_signed (equals + 1, 10, 0, G_MAXINT32, &size, NULL))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
                   "--dim %s: write the name of a dimension and its size, for example --dim batch=8", text);
      return FALSE;
    }
  *name = g_strndup (text, (gsize) (equals - text));
  *binding = (GantryDimBinding){ *name, size };
  return TRUE;
}

static void
report_line (double fraction, const char *what, gpointer user_data)
{
  printf ("progress %.3f %s\n", fraction, what);
  fflush (stdout);
}

const GantryProgress *
gantry_cli_progress (const GantryCliOptions *options)
{
  static const GantryProgress lines = { .report = report_line };

  return options->progress ? &lines : NULL;
}

static gboolean
check_passes (char **names, GError **error)
{
  guint n;
  const GantryPassInfo *passes = gantry_compiler_passes (&n);

  for (guint i = 0; names != NULL && names[i] != NULL; i++)
    {
      g_autoptr (GString) known = g_string_new (NULL);
      gboolean found = FALSE;

      for (guint j = 0; j < n; j++)
        {
          found = found || (strcmp (passes[j].name, names[i]) == 0 && !passes[j].required);
          if (!passes[j].required)
            g_string_append_printf (known, "%s%s", known->len > 0 ? ", " : "", passes[j].name);
        }
      if (!found)
        {
          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
                       "--disable %s: there is no such pass that can be left out; there are %s", names[i], known->str);
          return FALSE;
        }
    }
  return TRUE;
}

/* Dimensions that nobody has bound get size 1, and the user is told: most models run with a batch of one. */
static gboolean
bind_the_rest (GantryDocument *document, const char *path, const GantryOpenOptions *open,
               const GantryProgress *progress, GError **error)
{
  const GantryModel *model = gantry_document_get_model (document);
  g_auto (GStrv) unbound = g_strdupv (model->unbound);
  guint n = unbound != NULL ? g_strv_length (unbound) : 0;
  g_autofree GantryDimBinding *dims = g_new0 (GantryDimBinding, open->n_dims + n + 1);
  GantryOpenOptions again = *open;

  if (n == 0)
    return TRUE;
  for (guint i = 0; i < open->n_dims; i++)
    dims[i] = open->dims[i];
  for (guint i = 0; i < n; i++)
    {
      fprintf (stderr, "%s: the size of '%s' is not given, taking 1 (--dim %s=SIZE sets it)\n", g_get_prgname (),
               unbound[i], unbound[i]);
      dims[open->n_dims + i] = (GantryDimBinding){ unbound[i], 1 };
    }
  again.dims = dims;
  again.n_dims = open->n_dims + n;
  return gantry_document_open (document, path, &again, progress, error);
}

GantryDocument *
gantry_cli_open (const GantryCliOptions *options, const char *path, GError **error)
{
  guint n = options->dims != NULL ? g_strv_length (options->dims) : 0;
  g_autofree GantryDimBinding *dims = g_new0 (GantryDimBinding, n + 1);
  g_auto (GStrv) names = g_new0 (char *, n + 1);
  g_autoptr (GantryDocument) document = gantry_document_new ();
  GantryCompileSettings changes;
  GantryOpenOptions open = { dims, n, NULL, options->random_weights };

  if (!check_passes (options->disabled, error))
    return NULL;
  for (guint i = 0; i < n; i++)
    if (!parse_dim (options->dims[i], &dims[i], &names[i], error))
      return NULL;
  gantry_compile_settings_init (&changes);
  changes.disabled_passes = options->disabled;
  changes.finite_math = options->finite_math;
  if (options->disabled != NULL || options->finite_math)
    open.settings = &changes;
  if (!gantry_document_open (document, path, &open, gantry_cli_progress (options), error) ||
      (!options->keep_unbound && !bind_the_rest (document, path, &open, gantry_cli_progress (options), error)))
    return NULL;
  return g_steal_pointer (&document);
}

int
gantry_cli_fail (const GError *error)
{
  const char *name = g_get_prgname ();

  fprintf (stderr, "%s: %s\n", name != NULL ? name : "gantry-cli", error->message);
  if (g_error_matches (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED))
    return GANTRY_EXIT_UNSUPPORTED;
  if (g_error_matches (error, GANTRY_ERROR, GANTRY_ERROR_MISMATCH))
    return GANTRY_EXIT_MISMATCH;
  return GANTRY_EXIT_ERROR;
}

void
gantry_cli_print_json (JsonBuilder *builder)
{
  g_autoptr (JsonNode) root = json_builder_get_root (builder);
  g_autoptr (JsonGenerator) generator = json_generator_new ();
  g_autofree char *text = NULL;

  json_generator_set_root (generator, root);
  json_generator_set_pretty (generator, TRUE);
  text = json_generator_to_data (generator, NULL);
  printf ("%s\n", text);
}

char *
gantry_cli_bytes (guint64 bytes)
{
  return g_format_size_full (bytes, G_FORMAT_SIZE_IEC_UNITS);
}

gboolean
gantry_cli_parse_bytes (const char *text, guint64 *bytes, GError **error)
{
  static const char *const units[] = { "", "K", "M", "G", "T" };
  char *end;
  double value = g_ascii_strtod (text, &end);
  g_autofree char *unit = g_ascii_strup (end, -1);
  guint power;

  if (g_str_has_suffix (unit, "IB"))
    unit[strlen (unit) - 2] = '\0';
  else if (g_str_has_suffix (unit, "B"))
    unit[strlen (unit) - 1] = '\0';
  for (power = 0; power < G_N_ELEMENTS (units) && strcmp (unit, units[power]) != 0; power++)
    ;
  value *= pow (1024, power);
  if (end == text || power == G_N_ELEMENTS (units) || !(value >= 0 && value < 0x1p60))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "'%s' is no size: write for example 8GiB, 512MiB or 1000000",
                   text);
      return FALSE;
    }
  *bytes = (guint64) value;
  return TRUE;
}
