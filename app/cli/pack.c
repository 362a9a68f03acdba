/* SPDX-License-Identifier: Apache-2.0 */
/* gantry-cli pack: gives the buffers of a table their offsets. */
#include "app/cli/cli.h"
#include "core/planner/pack/pack-csv.h"
#include <string.h>

#define MOST_FILE_BYTES (64u * 1024 * 1024)
/* Some ten seconds on a hard problem: who asks for one capacity wants to know. */
#define CAPACITY_NODES 5000000
/* A few seconds: who asks for the lowest wants a good one. */
#define LOWEST_NODES 500000

typedef struct
{
  guint64 capacity; /* 0: none */
  double milliseconds;
  GantryPackResult result;
} Answer;

/* Bytes by which the packing does not fit. */
static guint64
over_capacity (const Answer *answer)
{
  return answer->result.height - MIN (answer->result.height, answer->capacity);
}

/* Is no packing lower? */
static gboolean
is_proven (const Answer *answer)
{
  return answer->result.height == answer->result.lower_bound;
}

static void
add_integer (JsonBuilder *json, const char *name, guint64 value)
{
  json_builder_set_member_name (json, name);
  json_builder_add_int_value (json, (gint64) value);
}

static void
print_json (const GantryPackTable *table, const Answer *answer, gboolean with_offsets)
{
  g_autoptr (JsonBuilder) json = json_builder_new ();
  const GantryPackResult *result = &answer->result;

  json_builder_begin_object (json);
  add_integer (json, "buffers", table->n);
  add_integer (json, "height", result->height);
  add_integer (json, "load", result->load);
  add_integer (json, "lower_bound", result->lower_bound);
  add_integer (json, "gap", result->height - result->lower_bound);
  gantry_cli_add_boolean (json, "proven", is_proven (answer));
  add_integer (json, "nodes", result->nodes);
  json_builder_set_member_name (json, "milliseconds");
  json_builder_add_double_value (json, answer->milliseconds);
  json_builder_set_member_name (json, "fits");
  if (answer->capacity > 0)
    json_builder_add_boolean_value (json, result->height <= answer->capacity);
  else
    json_builder_add_null_value (json);
  json_builder_set_member_name (json, "over");
  if (answer->capacity > 0)
    json_builder_add_int_value (json, (gint64) over_capacity (answer));
  else
    json_builder_add_null_value (json);
  if (with_offsets)
    {
      json_builder_set_member_name (json, "offsets");
      json_builder_begin_object (json);
      for (guint32 i = 0; i < table->n; i++)
        add_integer (json, table->ids[i], table->items[i].offset);
      json_builder_end_object (json);
    }
  json_builder_end_object (json);
  gantry_cli_print_json (json);
}

static void
print_text (const GantryPackTable *table, const Answer *answer, gboolean with_offsets)
{
  const GantryPackResult *result = &answer->result;

  for (guint32 i = 0; with_offsets && i < table->n; i++)
    gantry_cli_print ("%s %" G_GUINT64_FORMAT "\n", table->ids[i], table->items[i].offset);
  gantry_cli_print ("height %" G_GUINT64_FORMAT " bytes, lower bound %" G_GUINT64_FORMAT ", gap %" G_GUINT64_FORMAT ", %.1f ms", result->height,
                    result->lower_bound, result->height - result->lower_bound, answer->milliseconds);
  if (answer->capacity > 0 && result->height <= answer->capacity)
    gantry_cli_print (", fits");
  else if (answer->capacity > 0)
    gantry_cli_print (", does not fit: %" G_GUINT64_FORMAT " bytes too high%s", over_capacity (answer),
                      result->lower_bound > answer->capacity ? ", and no packing fits" : "");
  if (is_proven (answer))
    gantry_cli_print ("; proven: no packing is lower\n");
  else
    gantry_cli_print ("; not proven to be the lowest (--effort N looks further)\n");
}

/* Returns: FALSE where the text is no number of at least one */
static gboolean
parse_count (const char *option, const char *text, guint64 *value, GError **error)
{
  if (text == NULL || (g_ascii_string_to_unsigned (text, 10, 1, G_MAXINT64, value, NULL)))
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s %s: write a number of at least 1 in digits", option, text);
  return FALSE;
}

static GantryPackTable *
read_table (const char *path, GError **error)
{
  g_autoptr (GMappedFile) file = gantry_file_map (path, error);
  gsize length;

  if (file == NULL)
    return NULL;
  length = g_mapped_file_get_length (file);
  if (length <= MOST_FILE_BYTES)
    return gantry_pack_table_from_csv (length > 0 ? g_mapped_file_get_contents (file) : "", length, path, error);
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "%s: %" G_GSIZE_FORMAT " bytes; tables up to 64 MiB are read", path, length);
  return NULL;
}

static Answer
pack (GantryPackTable *table, const GantryPackOptions *options, const GantryProgress *progress)
{
  Answer answer = { .capacity = options->target };
  gint64 start = g_get_monotonic_time ();

  gantry_pack_solve (table->items, table->n, options, progress, &answer.result);
  answer.milliseconds = (double) (g_get_monotonic_time () - start) / 1000;
  g_assert (gantry_pack_check (table->items, table->n, options->alignment, NULL, NULL));
  return answer;
}

int
gantry_cli_pack (int argc, char **argv)
{
  g_auto (GantryCliOptions) options = GANTRY_CLI_OPTIONS_INIT;
  g_autofree char *capacity = NULL, *alignment = NULL, *effort = NULL;
  gboolean offsets = FALSE;
  const GOptionEntry own[] = {
    { "capacity", 'c', 0, G_OPTION_ARG_STRING, &capacity, "Bytes to fit into; status 2 where they do not suffice", "BYTES" },
    { "alignment", 0, 0, G_OPTION_ARG_STRING, &alignment, "Offsets and sizes are multiples of this; 1 without", "BYTES" },
    { "effort", 0, 0, G_OPTION_ARG_STRING, &effort, "How long to search, in decisions: at most so many (500000; with --capacity 5000000)", "N" },
    { "offsets", 0, 0, G_OPTION_ARG_NONE, &offsets, "Print the offset of each buffer", NULL },
    { NULL },
  };
  GantryPackOptions how = { .alignment = 1 };
  g_autoptr (GantryPackTable) table = NULL;
  g_autoptr (GError) error = NULL;
  Answer answer;

  if (!gantry_cli_parse ("pack", "FILE.csv", "Gives the buffers of a table (id,lower,upper,size) offsets in one arena.", &options, own, &argc, &argv))
    return GANTRY_EXIT_ERROR;
  if (argc != 2)
    {
      gantry_cli_tell ("gantry-cli pack: give one table\n");
      return GANTRY_EXIT_ERROR;
    }
  if (!parse_count ("--capacity", capacity, &how.target, &error) || !parse_count ("--alignment", alignment, &how.alignment, &error)
      || !parse_count ("--effort", effort, &how.nodes, &error))
    return gantry_cli_fail (error);
  if (how.alignment > G_GUINT64_CONSTANT (1) << 30)
    {
      gantry_cli_tell ("gantry-cli pack: --alignment %s: at most 2^30\n", alignment);
      return GANTRY_EXIT_ERROR;
    }
  table = read_table (argv[1], &error);
  if (table == NULL)
    return gantry_cli_fail (error);
  if (how.nodes == 0)
    how.nodes = how.target > 0 ? CAPACITY_NODES : LOWEST_NODES;
  /* Where nothing can fit, a second is enough to say what would. */
  if (effort == NULL && how.target > 0 && gantry_pack_lower_bound (table->items, table->n, how.alignment, NULL) > how.target)
    how.nodes = 0;
  answer = pack (table, &how, gantry_cli_progress (&options));
  if (options.json)
    print_json (table, &answer, offsets);
  else
    print_text (table, &answer, offsets);
  return how.target > 0 && answer.result.height > how.target ? GANTRY_EXIT_MISMATCH : GANTRY_EXIT_DONE;
}
