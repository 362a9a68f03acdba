/* SPDX-License-Identifier: Apache-2.0 */
/* What the subcommands share. */
#include "app/cli/cli.h"
#include "app/cli/machine.h"
#include "app/cli/text-file.h"
#include "core/base/asks.h"
#include "core/base/child-program.h"
#include "core/base/file.h"
#include "core/base/format.h"
#include "core/compiler/python-model.h"
#include <errno.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

int
gantry_cli_close_standard_output (int status)
{
  gboolean failed = ferror (stdout) != 0, printed = __fpending (stdout) > 0;

  errno = 0;
  if (fclose (stdout) != 0 && (printed || failed || errno != EBADF))
    failed = TRUE;
  if (!failed)
    return status;
  gantry_cli_tell ("gantry-cli: what was printed did not arrive on standard output%s%s\n", errno != 0 ? ": " : "", errno != 0 ? g_strerror (errno) : "");
  return status == GANTRY_EXIT_DONE ? GANTRY_EXIT_ERROR : status;
}

static void G_GNUC_NORETURN
print_help (GOptionContext *context)
{
  char *text = g_option_context_get_help (context, TRUE, NULL);

  fputs (text, stdout);
  g_free (text); /* before the process ends */
  exit (gantry_cli_close_standard_output (GANTRY_EXIT_DONE));
}

static void
add_common_options (GOptionContext *context, GantryCliOptions *options, gboolean *help)
{
  const GOptionEntry common[] = {
    { "json", 0, 0, G_OPTION_ARG_NONE, &options->json, "Print one JSON object", NULL },
    { "dim", 'd', 0, G_OPTION_ARG_STRING_ARRAY, &options->dims, "Size of a symbolic dimension", "NAME=SIZE" },
    { "entry", 0, 0, G_OPTION_ARG_STRING, &options->entry, "Which graph of a Python program, or compilation of a dump, that has several", "NAME" },
    { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options->sets, "Value of an input before compiling: a number, true, [1,2] or @FILE (.pb, .npy)", "NAME=VALUE" },
    { "disable", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options->disabled, "Leave a pass out", "PASS" },
    { "finite-math", 0, 0, G_OPTION_ARG_NONE, &options->finite_math, "Assume that no value is infinite or NaN", NULL },
    { "fuse-rows", 0, 0, G_OPTION_ARG_NONE, &options->fuse_rows, "A softmax or a normalization is one kernel (always for a GPU)", NULL },
    { "unroll", 0, 0, G_OPTION_ARG_INT, &options->unroll, "Loops of more nodes than this when written out run as loops (100000), small ones not", "NODES" },
    { "allow-outside", 0, 0, G_OPTION_ARG_NONE, &options->allow_outside, "The model may read files outside its folder: weights by an absolute path or a link",
      NULL },
    { "accept-changed-model", 0, 0, G_OPTION_ARG_NONE, &options->changed_model, "Open a session whose model has changed since with the model as it is now",
      NULL },
    { "trust-program", 0, 0, G_OPTION_ARG_NONE, &options->trust_program, "Run the Python program that is the model of a session", NULL },
    { "random-weights", 0, 0, G_OPTION_ARG_INT64, &options->random_weights, "Replace floating point weights by pseudo-random ones", "SEED" },
    { "progress", 0, 0, G_OPTION_ARG_NONE, &options->progress, "Report progress as lines", NULL },
    { "help", 'h', 0, G_OPTION_ARG_NONE, help, "Print this", NULL },
    { NULL },
  };

  g_option_context_add_main_entries (context, common, NULL);
}

/* What becomes of values in memory. */
static void
add_place_options (GOptionContext *context, GantryCliOptions *options)
{
  const GOptionEntry places[] = {
    { "policy", 0, 0, G_OPTION_ARG_FILENAME, &options->policy, "Statements that place values, from a file", "FILE" },
    { "rules", 0, 0, G_OPTION_ARG_STRING, &options->rules, "Statements that place values, after those of --policy", "TEXT" },
    { "host-limit", 0, 0, G_OPTION_ARG_STRING, &options->host_limit, "Limit of host memory for what is offloaded: 64GiB, or none", "SIZE" },
    { "limit", 0, 0, G_OPTION_ARG_STRING, &options->limit, "Limit of device memory: 512MiB, 8GiB, 50% of the peak of keeping everything, or none", "SIZE" },
    { "order", 0, 0, G_OPTION_ARG_STRING, &options->order,
      "Order of execution: memory (of several that with the lowest peak), program (as written), breadth or depth (first, from the results down)", "NAME" },
    { "allocator", 0, 0, G_OPTION_ARG_STRING, &options->allocator,
      "Who gives places: exact, best-fit (largest first) or bfc (a pool that is asked in the order of the steps)", "NAME" },
    { "target", 0, 0, G_OPTION_ARG_FILENAME, &options->target, "The machine: a key file, or a GPU by name (a100, h100, h200, b200, rtx4090, sm_90a)", "FILE" },
    { "embed", 0, 0, G_OPTION_ARG_NONE, &options->embed, "The session that -o writes carries the model along", NULL },
    { NULL },
  };

  g_option_context_add_main_entries (context, places, NULL);
}

/* What code is made of. */
static void
add_code_options (GOptionContext *context, GantryCliOptions *options)
{
  const GOptionEntry code[] = {
    { "instructions", 0, 0, G_OPTION_ARG_STRING, &options->instructions,
      "What code for the processor may consist of: sse4, avx2, avx512 (native: all that it has)", "SET" },
    { "layout-block", 0, 0, G_OPTION_ARG_INT, &options->layout_block,
      "Channels in a block of values that convolutions keep blocked: 8 or 16 (as the instructions have it)", "N" },
    { "quick-compile", 0, 0, G_OPTION_ARG_NONE, &options->quick_compile, "Compile in a fraction of the time, to code that takes longer", NULL },
    { NULL },
  };

  g_option_context_add_main_entries (context, code, NULL);
}

gboolean
gantry_cli_parse (const char *command, const char *arguments, const char *description, GantryCliOptions *options, const GOptionEntry *own, int *argc,
                  char ***argv)
{
  gboolean help = FALSE;
  g_autofree char *usage = g_strdup_printf ("%s", arguments);
  g_autofree char *name = g_strdup_printf ("gantry-cli %s", command);
  g_autoptr (GOptionContext) context = g_option_context_new (usage);
  g_autoptr (GError) error = NULL;

  g_set_prgname (name);
  if (options->read == NULL)
    options->read = gantry_read_files_new ();
  g_option_context_set_help_enabled (context, FALSE); /* it would print and exit without a look at whether that arrived */
  g_option_context_set_summary (context, description);
  add_common_options (context, options, &help);
  if (options->places)
    add_place_options (context, options);
  if (options->code)
    add_code_options (context, options);
  if (own != NULL)
    g_option_context_add_main_entries (context, own, NULL);
  if (g_option_context_parse (context, argc, argv, &error))
    {
      if (help)
        print_help (context);
      if (gantry_cli_target_resolve (options->target, options->read, &options->resolved, &error))
        return TRUE;
    }
  gantry_cli_tell ("%s: %s\n", name, error->message);
  return FALSE;
}

void
gantry_cli_options_clear (GantryCliOptions *options)
{
  g_clear_pointer (&options->read, gantry_read_files_unref);
  g_clear_pointer (&options->dims, g_strfreev);
  g_clear_pointer (&options->entry, g_free);
  g_clear_pointer (&options->sets, g_strfreev);
  g_clear_pointer (&options->disabled, g_strfreev);
  g_clear_pointer (&options->policy, g_free);
  g_clear_pointer (&options->rules, g_free);
  g_clear_pointer (&options->limit, g_free);
  g_clear_pointer (&options->host_limit, g_free);
  g_clear_pointer (&options->order, g_free);
  g_clear_pointer (&options->allocator, g_free);
  g_clear_pointer (&options->target, g_free);
  gantry_cli_target_clear (&options->resolved);
  g_clear_pointer (&options->instructions, g_free);
}

/* "name=size"; the name may itself hold '='. */
static gboolean
parse_dim (const char *text, GantryBindings *bindings, GError **error)
{
  const char *equals = strrchr (text, '=');
  g_autofree char *name = NULL;
  gint64 size;

  if (equals == NULL || equals == text || !g_ascii_string_to_signed (equals + 1, 10, 0, G_MAXINT32, &size, NULL))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "--dim %s: write the name of a dimension and its size, for example --dim batch=8", text);
      return FALSE;
    }
  name = g_strndup (text, (gsize) (equals - text));
  gantry_bindings_set_dim (bindings, name, size);
  return TRUE;
}

/* "name=value"; here the value may hold '='. */
static gboolean
parse_set (const char *text, GantryBindings *bindings, GError **error)
{
  const char *equals = strchr (text, '=');
  g_autofree char *name = NULL, *value = NULL;

  if (equals == NULL || equals == text)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "--set %s: write the name of an input and its value, for example --set rate=16000", text);
      return FALSE;
    }
  name = g_strndup (text, (gsize) (equals - text));
  value = gantry_input_value_read (equals + 1, bindings->read, error);
  if (value == NULL)
    {
      gantry_error_prefix (error, "--set %s: ", name);
      return FALSE;
    }
  gantry_bindings_set_input (bindings, name, value);
  return TRUE;
}

/* Returns: (transfer full): what --dim and --set say */
static GantryBindings *
read_bindings (const GantryCliOptions *options, GError **error)
{
  g_autoptr (GantryBindings) bindings = gantry_bindings_new ();

  gantry_bindings_set_entry (bindings, options->entry);
  bindings->outside = options->allow_outside;
  for (guint i = 0; options->dims != NULL && options->dims[i] != NULL; i++)
    if (!parse_dim (options->dims[i], bindings, error))
      return NULL;
  for (guint i = 0; options->sets != NULL && options->sets[i] != NULL; i++)
    if (!parse_set (options->sets[i], bindings, error))
      return NULL;
  return g_steal_pointer (&bindings);
}

static void
report_line (double fraction, const char *what, gpointer user_data)
{
  gantry_cli_print ("progress %.3f %s\n", fraction, what);
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
          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "--disable %s: there is no such pass that can be left out; there are %s", names[i],
                       known->str);
          return FALSE;
        }
    }
  return TRUE;
}

/* Dimensions that nobody has bound get size 1, and the user is told: most models run with a batch of one. */
static gboolean
bind_the_rest (GantryDocument *document, const char *path, const GantryOpenOptions *open, const GantryProgress *progress, GError **error)
{
  const GantryModel *model = gantry_document_get_model (document);
  g_auto (GStrv) unbound = g_strdupv (model->unbound);
  guint n = unbound != NULL ? g_strv_length (unbound) : 0;
  g_autoptr (GantryBindings) bindings = gantry_bindings_copy (open->bindings);
  GantryOpenOptions again = *open;

  if (n == 0)
    return TRUE;
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *option = g_strdup_printf (" (--dim %s=SIZE sets it)", unbound[i]);

      gantry_cli_tell ("%s: the size of '%s' is not given, taking 1%s\n", g_get_prgname (), unbound[i], gantry_cli_hint (option));
      gantry_bindings_set_dim (bindings, unbound[i], 1);
    }
  again.bindings = bindings;
  if (gantry_document_open (document, path, &again, progress, error))
    return TRUE;
  if (error != NULL && *error != NULL)
    {
      g_autofree char *names = g_strjoinv ("', '", unbound);
      char *message = g_strdup_printf ("%s (with 1 for '%s'%s)", (*error)->message, names, gantry_cli_hint (": --dim NAME=SIZE sets another size"));

      g_free ((*error)->message);
      (*error)->message = message;
    }
  return FALSE;
}

/* What the options change of the settings that a session brings, or of the defaults. */
typedef struct
{
  const GantryCliOptions *options;
  char *policy;         /* (nullable) */
  GantryTarget *target; /* (nullable) */
  GantryTarget gpu;     /* what a target that is the processor becomes; no arch: as it is */
  GantrySize limit, host_limit;
  gboolean has_limit;
  double limit_part;        /* @limit was given as this part; 0: in bytes */
  GantryKernelSizes *sizes; /* (nullable): found out for the limit */
} Changes;

static void
changes_clear (Changes *changes)
{
  g_free (changes->policy);
  g_free (changes->target);
  gantry_kernel_sizes_unref (changes->sizes);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Changes, changes_clear)

/* Limits that it does not set stay. */
static void
take_target (GantryCompileSettings *settings, const GantryTarget *target)
{
  double part = settings->target.memory_part;
  guint64 limit = settings->target.memory_limit, host_limit = settings->target.host_limit;

  settings->target = *target;
  if (settings->target.memory_limit == 0)
    {
      settings->target.memory_limit = limit;
      settings->target.memory_part = part;
    }
  if (settings->target.host_limit == 0)
    settings->target.host_limit = host_limit;
}

static void
adjust (GantryCompileSettings *settings, gpointer user_data)
{
  const Changes *changes = user_data;
  const GantryCliOptions *options = changes->options;

  for (guint i = 0; options->disabled != NULL && options->disabled[i] != NULL; i++)
    gantry_compile_settings_set_enabled (settings, options->disabled[i], FALSE);
  settings->finite_math = settings->finite_math || options->finite_math;
  if (options->unroll > 0)
    settings->most_unrolled = (guint32) options->unroll;
  settings->fuse_rows = settings->fuse_rows || options->fuse_rows || options->resolved.gpu != NULL;
  settings->fuse_products = settings->fuse_products || options->made_for == GANTRY_CLI_CODE_FOR_GPU
                            || (options->made_for == GANTRY_CLI_NO_CODE && options->resolved.gpu != NULL);
  if (options->training != NULL)
    {
      settings->train = TRUE;
      gantry_training_options_clear (&settings->training);
      gantry_training_options_copy (&settings->training, options->training);
    }
  if (changes->policy != NULL)
    {
      g_free (settings->policy);
      settings->policy = g_strdup (changes->policy);
    }
  if (changes->target != NULL)
    take_target (settings, changes->target);
  else if (*changes->gpu.arch != '\0' && *settings->target.arch == '\0')
    take_target (settings, &changes->gpu);
  gantry_compile_settings_take_machine (settings, gantry_cli_threads (options));
  gantry_order_parse (options->order, &settings->order);
  gantry_allocator_parse (options->allocator, &settings->allocator);
  if (changes->options->host_limit != NULL)
    settings->target.host_limit = changes->host_limit.bytes;
  if (changes->has_limit && changes->limit.part == 0)
    {
      settings->target.memory_limit = changes->limit.bytes;
      settings->target.memory_part = changes->limit_part;
    }
  g_free (settings->conditions);
  settings->conditions = options->conditions != NULL ? options->conditions (options->how) : NULL;
  if (changes->sizes == NULL)
    return;
  gantry_kernel_sizes_unref (settings->sizes);
  settings->sizes = gantry_kernel_sizes_ref (changes->sizes);
}

static gboolean
read_policy (const GantryCliOptions *options, Changes *changes, GError **error)
{
  g_autofree char *file = options->policy != NULL ? gantry_cli_read_text (options->read, "--policy", options->policy, error) : NULL;
  g_autoptr (GantryPolicy) parsed = NULL;

  if (options->policy != NULL && file == NULL)
    return FALSE;
  if (file == NULL && options->rules == NULL)
    return TRUE;
  if (file != NULL)
    {
      parsed = gantry_policy_parse (file, -1, error);
      if (parsed == NULL)
        {
          gantry_error_prefix (error, "%s: ", options->policy);
          return FALSE;
        }
      g_clear_pointer (&parsed, gantry_policy_free);
    }
  parsed = gantry_policy_parse (options->rules != NULL ? options->rules : "", -1, error);
  if (parsed == NULL)
    {
      gantry_error_prefix (error, "--rules: ");
      return FALSE;
    }
  changes->policy = g_strconcat (file != NULL ? file : "", file != NULL && options->rules != NULL ? "\n" : "", options->rules, NULL);
  return TRUE;
}

/* What is planned for: what --target names, else the GPU that the program runs on. */
static gboolean
choose_machine (const GantryCliOptions *options, Changes *changes, GError **error)
{
  const GantryCliTarget *named = &options->resolved;

  if (named->arch != NULL && named->machine == NULL && options->made_for == GANTRY_CLI_NO_CODE)
    return gantry_cli_target_refuse (options->target, error);
  if (named->machine != NULL)
    {
      changes->target = g_memdup2 (named->machine, sizeof *named->machine);
      if (options->tf32 && !named->is_file)
        changes->target->rates[GANTRY_UNIT_PRODUCT_F32] = named->gpu->tf32;
    }
  else if (options->gpu != NULL)
    {
      gantry_target_init_gpu (&changes->gpu, options->gpu);
      if (options->tf32)
        changes->gpu.rates[GANTRY_UNIT_PRODUCT_F32] = options->gpu->tf32;
    }
  return TRUE;
}

/* A size, or "none", which takes away what a session or a target says. */
static gboolean
read_limit (const char *option, const char *text, GantrySize *limit, GError **error)
{
  *limit = (GantrySize){ 0 };
  return strcmp (text, "none") == 0 || gantry_cli_parse_size (option, text, limit, error);
}

static gboolean
read_host_limit (const GantryCliOptions *options, Changes *changes, GError **error)
{
  if (options->host_limit == NULL)
    return TRUE;
  if (!read_limit ("--host-limit", options->host_limit, &changes->host_limit, error))
    return FALSE;
  if (changes->host_limit.part == 0)
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
               "--host-limit %s: give a size such as 64GiB: keeping everything takes "
               "nothing of the host, so a part of that says nothing",
               options->host_limit);
  return FALSE;
}

static gboolean
check_names (const GantryCliOptions *options, GError **error)
{
  GantryOrderPolicy order;
  GantryAllocator allocator;

  if (options->order != NULL && !gantry_order_parse (options->order, &order))
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "--order %s: there are memory, program, breadth and depth", options->order);
  else if (options->allocator != NULL && !gantry_allocator_parse (options->allocator, &allocator))
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "--allocator %s: there are exact, best-fit and bfc", options->allocator);
  else if (options->unroll < 1 && options->unroll != G_MININT)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "--unroll takes a number of nodes from 1 on, not %d", options->unroll);
  else
    return TRUE;
  return FALSE;
}

static gboolean
read_changes (const GantryCliOptions *options, Changes *changes, GError **error)
{
  changes->has_limit = options->limit != NULL;
  return check_passes (options->disabled, error) && check_names (options, error) && read_policy (options, changes, error)
         && choose_machine (options, changes, error) && read_host_limit (options, changes, error)
         && (options->limit == NULL || read_limit ("--limit", options->limit, &changes->limit, error));
}

static void
tell (GantryDocument *document, const char *what, const GError *error, gpointer data)
{
  g_autofree char *message = gantry_cli_message (error->message);

  gantry_cli_tell ("%s: %s: ", g_get_prgname (), what);
  fprintf (stderr, "%s\n", message);
}

void
gantry_cli_tell_left_out (const GError *notice)
{
  if (notice != NULL)
    tell (NULL, "Not all of the file is read", notice, NULL);
}

static gboolean
open_all (GantryDocument *document, const GantryCliOptions *options, const char *path, const GantryOpenOptions *open, GError **error)
{
  const GantryProgress *progress = gantry_cli_progress (options);
  gulong handler = g_signal_connect (document, "error", G_CALLBACK (tell), NULL);
  gboolean done = gantry_document_open (document, path, open, progress, error)
                  && (options->keep_unbound || bind_the_rest (document, path, open, progress, error));

  g_signal_handler_disconnect (document, handler);
  return done;
}

/* A limit that is a part of the peak is known when the program is: in bytes, and with what the kernels need, where they are known. */
static gboolean
resolve_limit (GantryDocument *document, Changes *changes, GError **error)
{
  const GantryCliOptions *options = changes->options;
  g_autofree char *note = NULL;

  if (options->use_kernels != NULL)
    {
      const GantryCompileSettings *settings;

      if (!options->use_kernels (document, options->how, gantry_cli_progress (options), error))
        return FALSE;
      settings = gantry_document_get_settings (document);
      changes->sizes = settings->sizes != NULL ? gantry_kernel_sizes_ref (settings->sizes) : NULL;
    }
  if (!gantry_size_resolve (document, &changes->limit, &changes->limit.bytes, error))
    return FALSE;
  note = gantry_size_note (document, options->limit);
  if (note != NULL)
    gantry_cli_tell ("%s: note: --limit %s\n", g_get_prgname (), note);
  changes->limit_part = changes->limit.part;
  changes->limit.part = 0;
  return TRUE;
}

/* Placements without an effect: what ignored them would look like any other answer. */
static void
tell_missing (GantryDocument *document)
{
  g_autofree char *text = gantry_document_missing_text (document);

  if (text != NULL)
    gantry_cli_tell ("%s: %s\n", g_get_prgname (), text);
}

GantryDocument *
gantry_cli_open (const GantryCliOptions *options, const char *path, GError **error)
{
  g_autoptr (GantryBindings) bindings = read_bindings (options, error);
  g_autoptr (GantryDocument) document = gantry_document_new ();
  g_auto (Changes) changes = { .options = options };
  GantryOpenOptions open = { bindings, NULL, options->random_weights, adjust, &changes };
  g_autoptr (GantryReadFiles) read = NULL;

  gantry_cli_know_machine (options);
  /* A program that is named is meant to run. */
  open.changed_model = options->changed_model;
  open.run_program = options->trust_program || gantry_model_is_program (path);
  if (bindings == NULL || !read_changes (options, &changes, error) || !open_all (document, options, path, &open, error))
    return NULL;
  /* It is compiled again with a limit that was a part of the peak. */
  if (changes.limit.part > 0 && (!resolve_limit (document, &changes, error) || !open_all (document, options, path, &open, error)))
    return NULL;
  gantry_document_set_embed (document, options->embed);
  read = gantry_document_get_read_files (document);
  gantry_read_files_add_all (options->read, read);
  tell_missing (document);
  return g_steal_pointer (&document);
}

const char *
gantry_cli_hint (const char *hint)
{
  return g_getenv (GANTRY_NO_OPTION_HINTS) == NULL ? hint : "";
}

/* What the core asks of the user has a name here: by what kind of error it is, or by its words. (transfer full) */
static char *
options_for (const GError *error)
{
  const struct
  {
    GQuark domain;
    GantryError code;
    const char *text;
  } options[] = {
    { GANTRY_ERROR, GANTRY_ERROR_OUTSIDE, "; --allow-outside allows it" },
    { GANTRY_ERROR, GANTRY_ERROR_UNTRUSTED, "; --trust-program runs it" },
    { GANTRY_ERROR, GANTRY_ERROR_CHANGED, "; --accept-changed-model accepts it" },
    { GANTRY_PROGRAM_CHOICE, GANTRY_ERROR_INVALID, "\n--entry=NAME names one" }, /* below the list of them */
  };
  static const struct
  {
    const char *words, *text;
  } asked[] = {
    { GANTRY_ASKS_SIZE, "; --dim NAME=SIZE sets a size" },
    { GANTRY_ASKS_VALUE, "; --set NAME=VALUE sets a value" },
    { GANTRY_ASKS_PROCESSOR, "; --device cpu runs it there" },
    { GANTRY_ASKS_OTHER_GPU, "; --device cuda:N chooses one" },
  };
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (options); i++)
    if (g_error_matches (error, options[i].domain, (int) options[i].code))
      g_string_append (text, gantry_cli_hint (options[i].text));
  for (guint i = 0; i < G_N_ELEMENTS (asked); i++)
    if (strstr (error->message, asked[i].words) != NULL)
      g_string_append (text, gantry_cli_hint (asked[i].text));
  return g_string_free (text, FALSE);
}

int
gantry_cli_fail (const GError *error)
{
  const char *name = g_get_prgname ();
  g_autofree char *options = options_for (error), *message = gantry_cli_message (error->message);

  fprintf (stderr, "%s: %s%s\n", name != NULL ? name : "gantry-cli", message, options);
  if (g_error_matches (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED))
    return GANTRY_EXIT_UNSUPPORTED;
  if (g_error_matches (error, GANTRY_ERROR, GANTRY_ERROR_MISMATCH))
    return GANTRY_EXIT_MISMATCH;
  return GANTRY_EXIT_ERROR;
}

void
gantry_cli_advise_search (GError **error)
{
  char *message;

  if (error == NULL || !g_error_matches (*error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY))
    return;
  message = g_strconcat ((*error)->message, gantry_cli_hint ("; 'gantry-cli solve --fit SIZE' searches for placements that fit"), NULL);
  g_free ((*error)->message);
  (*error)->message = message;
}

char *
gantry_cli_field (const char *text)
{
  return text != NULL ? g_strescape (text, NULL) : g_strdup ("");
}

char *
gantry_cli_bytes (guint64 bytes)
{
  return gantry_format_bytes (bytes);
}

gboolean
gantry_cli_parse_size (const char *option, const char *text, GantrySize *size, GError **error)
{
  if (gantry_size_parse (text, size, error))
    return TRUE;
  g_prefix_error (error, "%s: ", option);
  return FALSE;
}
