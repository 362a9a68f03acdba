/* SPDX-License-Identifier: Apache-2.0 */
/* Random whole programs on every back end, as a test: one point for each back end. The seed of the run is printed; any
 * program of it can be run again by --seed, --first and --count. */
#include "core/graph/text.h"
#include "tests/differential/differential.h"
#include <stdio.h>

typedef struct
{
  gint64 seed, first, count;
  double minutes;
  char *config, *findings;
  gboolean print, soak;
} Options;

/* Of fewer programs all may be such as this processor has no instructions for. */
#define ENOUGH 20

/* Whether a back end did what it was asked for: one that refuses everything differs from nothing. */
static gboolean
has_compared (const DiffTally *tally, const DiffSession *session)
{
  guint64 compared = tally->passed + tally->failed, asked = compared + tally->skipped;

  return asked >= ENOUGH ? compared >= tally->skipped : asked > 0 || session->config != NULL;
}

static void
print_back_end (guint number, const char *name, const DiffTally *tally, gboolean good)
{
  const DiffCount *count = &tally->count;
  guint64 values = count->exact + count->near + count->loose + count->open;

  printf ("%sok %u - %s: %" G_GUINT64_FORMAT " programs, %" G_GUINT64_FORMAT " differ, %" G_GUINT64_FORMAT " refused\n", good ? "" : "not ", number, name,
          tally->passed + tally->failed, tally->failed, tally->skipped);
  if (values > 0)
    printf ("# of %" G_GUINT64_FORMAT " values %.1f %% have to be equal, %.1f %% within a bound of 1 %%, %.1f %% within a larger "
            "one, %.1f %% may be anything; farthest %.2f of the bound\n",
            values, 100 * (double) count->exact / (double) values, 100 * (double) count->near / (double) values, 100 * (double) count->loose / (double) values,
            100 * (double) count->open / (double) values, count->worst);
}

static void
print_times (const DiffTotal *total, gint64 us)
{
  double n = (double) MAX (total->programs, 1);

  printf ("# %" G_GUINT64_FORMAT " programs of %.0f nodes, %.1f a second; ms each: generating %.1f, oracle %.1f", total->programs, (double) total->nodes / n,
          n / ((double) us / 1e6), (double) total->generate_us / n / 1e3, (double) total->oracle_us / n / 1e3);
  for (guint i = 0; i < DIFF_N_BACK_ENDS; i++)
    printf (", %s %.1f", diff_back_end_name ((DiffBackEnd) i), (double) total->back_ends[i].us / n / 1e3);
  printf ("\n");
}

static gboolean
read_options (Options *o, int *argc, char ***argv)
{
  GOptionEntry entries[] = {
    { "seed", 's', 0, G_OPTION_ARG_INT64, &o->seed, "Seed of the run (GANTRY_TEST_SEED, else 1)", "N" },
    { "first", 'f', 0, G_OPTION_ARG_INT64, &o->first, "Number of the first program (0)", "N" },
    { "count", 'n', 0, G_OPTION_ARG_INT64, &o->count, "How many programs (300)", "N" },
    { "minutes", 'm', 0, G_OPTION_ARG_DOUBLE, &o->minutes, "Begin no program after so long", "M" },
    { "config", 'c', 0, G_OPTION_ARG_STRING, &o->config, "One configuration for all, as failures name it", "TEXT" },
    { "findings", 'o', 0, G_OPTION_ARG_FILENAME, &o->findings, "Write failing programs there, made small", "FOLDER" },
    { "soak", 0, 0, G_OPTION_ARG_NONE, &o->soak, "No limit of count, every 50th program in every configuration; counts at the end", NULL },
    { "print", 'p', 0, G_OPTION_ARG_NONE, &o->print, "Print the programs instead of running them", NULL },
    { "tap", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE, &(gboolean){ 0 }, NULL, NULL },
    { NULL },
  };
  g_autoptr (GOptionContext) context = g_option_context_new ("- random whole programs on every back end");
  g_autoptr (GError) error = NULL;
  const char *seed = g_getenv ("GANTRY_TEST_SEED");

  *o = (Options){ .seed = seed != NULL ? g_ascii_strtoll (seed, NULL, 10) : 1, .count = 300 };
  g_option_context_add_main_entries (context, entries, NULL);
  if (g_option_context_parse (context, argc, argv, &error))
    {
      o->count = o->soak ? G_MAXINT32 : o->count;
      return TRUE;
    }
  g_printerr ("%s\n", error->message);
  return FALSE;
}

static void
print_programs (const Options *o)
{
  for (gint64 i = o->first; i < o->first + o->count; i++)
    {
      g_autoptr (GantryModule) module = diff_generate (diff_program_seed ((guint64) o->seed, (guint64) i));
      g_autofree char *text = gantry_module_to_text (module, NULL);

      printf ("// program %" G_GINT64_FORMAT " of seed %" G_GINT64_FORMAT "\n%s\n", i, o->seed, text);
    }
}

/* As tools/test reads them. */
static void
print_counts (const DiffTotal *total)
{
  guint64 passed = 0, failed = 0, skipped = 0;

  for (guint i = 0; i < DIFF_N_BACK_ENDS; i++)
    {
      passed += total->back_ends[i].passed;
      failed += total->back_ends[i].failed;
      skipped += total->back_ends[i].skipped;
    }
  printf ("%" G_GUINT64_FORMAT " passed, %" G_GUINT64_FORMAT " failed, %" G_GUINT64_FORMAT " skipped\n", passed, failed, skipped);
}

static void
print_instruction_sets (void)
{
  GantryInstructionSet sets[GANTRY_N_INSTRUCTION_SETS];

  for (gint available = 1; available >= 0; available--)
    {
      guint n = diff_instruction_sets (available, sets);

      for (guint i = 0; i < n; i++)
        printf ("# %s: %s\n", gantry_instruction_set_name (sets[i]), available ? "in turn" : "skipped, this processor lacks it");
    }
}

int
main (int argc, char **argv)
{
  DiffSession session = { 0 };
  DiffTotal total = { 0 };
  DiffConfig config;
  g_autoptr (GError) error = NULL;
  gint64 start = g_get_monotonic_time ();
  gboolean failed = FALSE;
  Options o;

  if (!read_options (&o, &argc, &argv))
    return 2;
  if (o.print)
    {
      print_programs (&o);
      return 0;
    }
  if (o.config != NULL && !diff_config_parse (o.config, &config, &error))
    {
      g_printerr ("%s\n", error->message);
      return 2;
    }
  session = (DiffSession){ .seed = (guint64) o.seed,
                           .first = (guint64) o.first,
                           .count = (guint64) o.count,
                           .config = o.config != NULL ? &config : NULL,
                           .findings = o.findings,
                           .product = o.soak ? 50 : 0,
                           .until = o.minutes > 0 ? start + (gint64) (o.minutes * 60e6) : 0 };
  print_instruction_sets ();
  printf ("1..%d\n# seed %" G_GINT64_FORMAT "\n", DIFF_N_BACK_ENDS, o.seed);
  diff_session_run (&session, &total);
  for (guint i = 0; i < DIFF_N_BACK_ENDS; i++)
    {
      const DiffTally *tally = &total.back_ends[i];
      gboolean good = tally->failed == 0 && has_compared (tally, &session);

      print_back_end (i + 1, diff_back_end_name ((DiffBackEnd) i), tally, good);
      failed = failed || !good;
    }
  print_times (&total, g_get_monotonic_time () - start);
  if (o.soak)
    print_counts (&total);
  return failed;
}
