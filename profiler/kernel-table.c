/* SPDX-License-Identifier: Apache-2.0 */
/* The table of kernels: events summed by node and run, beside the steps of the plan. */
#include "profiler/kernel-table.h"
#include "core/graph/region.h"
#include "profiler/export-private.h"
#include <string.h>

/* Sums by row and run are kept in a table of at most so many cells; above that the mean stands for the median. */
#define MOST_CELLS (1u << 23)

typedef struct
{
  GantryKernelTable *table;
  const GantryRecording *recording;
  GHashTable *index;   /* key -> 1 + row */
  GHashTable *first;   /* node << 32 | instruction -> 1 + name of the function that it launches first */
  GArray *samples;     /* Sample */
  gboolean is_planned; /* what ran was a program with a plan */
} Builder;

/* Of one event; runs are told of in the order of time. */
typedef struct
{
  guint32 row, run;
  gint64 ns;
} Sample;

/* Events of one node on one queue are one row, conversions of its value another; a node's number and a name's do not meet. */
static guint64
key_of (guint32 node, guint32 name, guint lane, guint kind)
{
  return node != 0 ? (guint64) node << 8 | (kind == GANTRY_EVENT_CONVERT ? 1 << 4 : 0) | MIN (lane, GANTRY_N_QUEUES)
                   : G_GUINT64_CONSTANT (1) << 62 | (guint64) name << 8 | kind;
}

static guint
row_of (Builder *b, const GantryEvent *event)
{
  guint64 key = key_of (event->node, event->name, event->lane, event->kind);
  guint found = GPOINTER_TO_UINT (g_hash_table_lookup (b->index, &key));
  GantryKernelRow row = { .node = event->node, .name = event->name, .kind = event->kind, .lane = event->lane, .planned_us = -1, .flops = -1 };

  if (found > 0)
    return found - 1;
  g_array_append_val (b->table->rows, row);
  g_hash_table_insert (b->index, g_memdup2 (&key, sizeof key), GUINT_TO_POINTER (b->table->rows->len));
  return b->table->rows->len - 1;
}

/* What a kernel does by several launches, each a function of its own, it does once: of an instruction the launches of the function that was
 * seen first are counted. */
static gboolean
is_execution (Builder *b, const GantryEvent *event)
{
  guint64 key = (guint64) event->node << 32 | event->instruction;
  guint first = GPOINTER_TO_UINT (g_hash_table_lookup (b->first, &key));

  if (event->node == 0 || event->instruction == GANTRY_NO_INSTRUCTION)
    return TRUE;
  if (first == 0)
    g_hash_table_insert (b->first, g_memdup2 (&key, sizeof key), GUINT_TO_POINTER (event->name + 1));
  return first == 0 || first == event->name + 1;
}

/* Of a program that was run here: arguments are brought before each run and results fetched after it, which its time does not have.
 * What ran elsewhere may run on after the step that launched it. */
static gboolean
is_between_runs (const Builder *b, const GantryEvent *event, guint run)
{
  return b->is_planned && event->node == 0 && gantry_recording_n_runs (b->recording) > 0 && event->begin >= gantry_recording_run (b->recording, run)->end;
}

static void
take_lane (Builder *b, guint lane)
{
  guint64 n = gantry_recording_n_events (b->recording, lane);
  guint run = 0, n_runs = gantry_recording_n_runs (b->recording);

  for (guint64 i = 0; i < n; i++)
    {
      GantryEvent event;
      GantryKernelRow *row;
      Sample sample;

      gantry_recording_get (b->recording, lane, i, &event);
      if (event.kind != GANTRY_EVENT_KERNEL && event.kind != GANTRY_EVENT_COPY && event.kind != GANTRY_EVENT_FILL && event.kind != GANTRY_EVENT_CONVERT)
        continue;
      /* Weights that were brought there, and runs for warming up, are no part of the runs. */
      if (n_runs > 0 && event.end <= gantry_recording_run (b->recording, 0)->begin)
        continue;
      while (run + 1 < n_runs && gantry_recording_run (b->recording, run + 1)->begin <= event.begin)
        run++;
      if (is_between_runs (b, &event, run))
        continue;
      sample = (Sample){ row_of (b, &event), run, event.end - event.begin };
      row = &g_array_index (b->table->rows, GantryKernelRow, sample.row);
      row->n_events++;
      row->executions += is_execution (b, &event);
      row->total_ns += sample.ns;
      row->bytes += event.bytes;
      if (event.detail != 0 && (row->detail == 0 || sample.ns > row->detail_ns))
        {
          row->detail = event.detail;
          row->detail_ns = sample.ns;
        }
      g_array_append_val (b->samples, sample);
    }
}

static int
compare_ns (gconstpointer a, gconstpointer b)
{
  const gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;

  return (x > y) - (x < y);
}

/* The median over the runs of what each row took in a run. */
static void
take_medians (Builder *b)
{
  guint n_runs = b->table->n_runs;
  gboolean fits = (guint64) b->table->rows->len * n_runs <= MOST_CELLS;
  g_autofree gint64 *cells = fits ? g_new0 (gint64, (gsize) b->table->rows->len * n_runs + 1) : NULL;

  for (guint i = 0; fits && i < b->samples->len; i++)
    {
      const Sample *sample = &g_array_index (b->samples, Sample, i);

      cells[(gsize) sample->row * n_runs + sample->run] += sample->ns;
    }
  for (guint r = 0; r < b->table->rows->len; r++)
    {
      GantryKernelRow *row = &g_array_index (b->table->rows, GantryKernelRow, r);
      gint64 *of_runs = fits ? cells + (gsize) r * n_runs : NULL;

      if (fits)
        qsort (of_runs, n_runs, sizeof *of_runs, compare_ns);
      row->measured_us = fits ? (double) (of_runs[(n_runs - 1) / 2] + of_runs[n_runs / 2]) / 2e3 : (double) row->total_ns / 1e3 / n_runs;
      row->count = (double) row->n_events / n_runs;
      row->executions /= n_runs;
      row->bytes /= n_runs;
    }
}

static void
take_plan (Builder *b, const GantryPlan *plan)
{
  for (guint32 i = plan->n_init_steps; i < plan->n_steps; i++)
    {
      const GantryPlanStep *step = &plan->steps[i];
      guint64 key = key_of (step->node, 0, step->queue, step->kind == GANTRY_STEP_CONVERT ? GANTRY_EVENT_CONVERT : 0);
      guint found = GPOINTER_TO_UINT (g_hash_table_lookup (b->index, &key));
      GantryKernelRow *row = found > 0 ? &g_array_index (b->table->rows, GantryKernelRow, found - 1) : NULL;

      if (row != NULL)
        row->planned_us = MAX (row->planned_us, 0) + step->duration_us;
    }
}

static void
take_work (GantryKernelRow *row, const GantryModule *module, const GantryRates *rates)
{
  const GantryNode *node = module != NULL && row->node != 0 ? gantry_module_node (module, row->node) : NULL;
  gboolean copies = row->kind == GANTRY_EVENT_COPY && row->lane != GANTRY_QUEUE_COMPUTE;
  double bandwidth = rates == NULL ? 0 : copies ? rates->link_bandwidth : rates->memory_bandwidth;
  double seconds;

  if (node != NULL && row->kind == GANTRY_EVENT_KERNEL)
    {
      gint64 flops = gantry_node_flops (module, node), bytes = gantry_node_bytes (module, node);

      row->flops = flops >= 0 ? (gint64) ((double) flops * row->executions) : -1;
      if (row->bytes == 0 && bytes > 0)
        row->bytes = (guint64) ((double) bytes * row->executions);
    }
  if (bandwidth <= 0 || row->bytes == 0)
    return;
  seconds = (double) row->bytes / bandwidth;
  if (node != NULL && row->flops > 0 && rates->flops > 0)
    seconds = MAX (seconds, gantry_node_seconds (module, node, rates->flops, rates->units) * row->executions);
  row->reachable = (double) row->bytes / seconds;
  if (gantry_kernel_row_achieved (row) > 1.001 * row->reachable)
    row->reachable = 0; /* no bound, then: its bytes came from a cache, or the target is another machine */
}

static int
compare_rows (gconstpointer a, gconstpointer b)
{
  const GantryKernelRow *x = a, *y = b;

  if (x->measured_us != y->measured_us)
    return x->measured_us > y->measured_us ? -1 : 1;
  return x->node != y->node ? (x->node < y->node ? -1 : 1) : x->lane != y->lane ? (x->lane < y->lane ? -1 : 1) : (x->name > y->name) - (x->name < y->name);
}

/* By node of a body: the control that it is in. (transfer full) */
static GHashTable *
find_controls (const GantryModule *module)
{
  g_autoptr (GHashTable) of_function = g_hash_table_new (NULL, NULL);
  GHashTable *controls = g_hash_table_new (NULL, NULL);
  GantryControl control;

  for (guint32 i = 0; i < module->n_nodes; i++)
    if (gantry_control_of (module, &module->nodes[i], &control))
      for (guint r = 0; r < control.n_regions; r++)
        g_hash_table_insert (of_function, GUINT_TO_POINTER (control.functions[r]), GUINT_TO_POINTER (module->nodes[i].id));
  for (guint32 f = 0; f < module->n_functions && g_hash_table_size (of_function) > 0; f++)
    {
      const GantryFunction *function = &module->functions[f];
      gpointer node = g_hash_table_lookup (of_function, GUINT_TO_POINTER (function->id));

      for (guint32 i = 0; i < function->n_nodes && node != NULL; i++)
        g_hash_table_insert (controls, GUINT_TO_POINTER (module->nodes[function->first_node + i].id), node);
    }
  return controls;
}

/* What lies within a row that is there too. */
static void
take_controls (GantryKernelTable *table, const GantryModule *module)
{
  g_autoptr (GHashTable) controls = find_controls (module), there = g_hash_table_new (NULL, NULL);

  for (guint r = 0; r < table->rows->len; r++)
    g_hash_table_add (there, GUINT_TO_POINTER (g_array_index (table->rows, GantryKernelRow, r).node));
  for (guint r = 0; r < table->rows->len; r++)
    {
      GantryKernelRow *row = &g_array_index (table->rows, GantryKernelRow, r);
      gpointer outer = GUINT_TO_POINTER (row->node);

      while ((outer = g_hash_table_lookup (controls, outer)) != NULL && !g_hash_table_contains (there, outer))
        ;
      row->control = GPOINTER_TO_UINT (outer);
    }
}

GantryKernelTable *
gantry_kernel_table_new (const GantryRecording *recording, const GantryModule *module, const GantryPlan *plan, const GantryRates *rates)
{
  GantryKernelTable *table = g_new0 (GantryKernelTable, 1);
  Builder b = { .table = table,
                .recording = recording,
                .is_planned = plan != NULL && plan->n_steps > 0,
                .index = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL),
                .first = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL),
                .samples = g_array_new (FALSE, FALSE, sizeof (Sample)) };

  table->rows = g_array_new (FALSE, FALSE, sizeof (GantryKernelRow));
  table->n_runs = MAX (gantry_recording_n_runs (recording), 1);
  for (guint lane = 0; lane < gantry_recording_n_lanes (recording); lane++)
    if (lane != GANTRY_LANE_RUNS)
      take_lane (&b, lane);
  take_medians (&b);
  if (plan != NULL)
    take_plan (&b, plan);
  if (module != NULL)
    take_controls (table, module);
  for (guint r = 0; r < table->rows->len; r++)
    {
      GantryKernelRow *row = &g_array_index (table->rows, GantryKernelRow, r);

      take_work (row, module, rates);
      if (row->control != 0)
        continue;
      table->n_events += row->n_events;
      table->total_ns += row->total_ns;
      table->planned_us += MAX (row->planned_us, 0);
      table->measured_us += row->measured_us;
    }
  g_array_sort (table->rows, compare_rows);
  g_hash_table_unref (b.index);
  g_hash_table_unref (b.first);
  g_array_unref (b.samples);
  return table;
}

void
gantry_kernel_table_free (GantryKernelTable *table)
{
  if (table == NULL)
    return;
  g_array_unref (table->rows);
  g_free (table);
}

double
gantry_kernel_row_achieved (const GantryKernelRow *row)
{
  return row->bytes > 0 && row->measured_us > 0 ? (double) row->bytes / row->measured_us * 1e6 : 0;
}

char *
gantry_kernel_row_name (const GantryKernelRow *row, const GantryRecording *recording, const GantryModule *module)
{
  const GantryNode *node = module != NULL && row->node != 0 ? gantry_module_node (module, row->node) : NULL;

  return node != NULL && row->kind != GANTRY_EVENT_CONVERT ? gantry_node_label (module, node) : g_strdup (gantry_recording_string (recording, row->name));
}

/* CSV */

static void
put_text (GString *out, const char *text)
{
  gboolean quote = strpbrk (text, ",\"\r\n") != NULL;

  if (quote)
    g_string_append_c (out, '"');
  for (const char *p = text; *p != '\0'; p++)
    {
      if (*p == '"')
        g_string_append_c (out, '"');
      g_string_append_c (out, *p);
    }
  if (quote)
    g_string_append_c (out, '"');
}

static void
put_number (GString *out, double number, gboolean known)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append_c (out, ',');
  if (known)
    g_string_append (out, g_ascii_formatd (text, sizeof text, "%.6g", number));
}

static void
put_row (GString *out, const GantryKernelTable *table, const GantryKernelRow *row, const GantryRecording *recording, const GantryModule *module)
{
  const GantryNode *node = module != NULL && row->node != 0 ? gantry_module_node (module, row->node) : NULL;
  const GantryLaunchDetail *detail = gantry_recording_detail (recording, row->detail);
  g_autofree char *name = gantry_kernel_row_name (row, recording, module);
  const char *scope = node != NULL ? gantry_context_scope_path (module->context, node->scope) : "";

  g_string_append_printf (out, "%u,", row->node);
  put_text (out, name);
  g_string_append_c (out, ',');
  put_text (out, node != NULL ? gantry_node_op_name (module, node) : "");
  g_string_append_printf (out, ",%s,", node != NULL ? gantry_phase_name (node->phase) : "");
  put_text (out, scope != NULL ? scope : "");
  g_string_append_printf (out, ",%s,", gantry_event_kind_name (row->kind));
  put_text (out, gantry_recording_lane_name (recording, row->lane));
  g_string_append_printf (out, ",%" G_GUINT64_FORMAT ",%" G_GINT64_FORMAT, row->n_events, row->total_ns);
  put_number (out, row->count, TRUE);
  put_number (out, row->planned_us, row->planned_us >= 0);
  put_number (out, row->measured_us, TRUE);
  put_number (out, row->measured_us - row->planned_us, row->planned_us >= 0);
  put_number (out, row->measured_us / row->planned_us, row->planned_us > 0);
  put_number (out, 100 * row->measured_us / table->measured_us, table->measured_us > 0);
  put_number (out, (double) row->bytes, row->bytes > 0);
  put_number (out, gantry_kernel_row_achieved (row) / 1e9, gantry_kernel_row_achieved (row) > 0);
  put_number (out, row->reachable / 1e9, row->reachable > 0);
  put_number (out, (double) row->flops / row->measured_us / 1e3, row->flops >= 0 && row->measured_us > 0);
  put_number (out, detail != NULL ? detail->registers : 0, detail != NULL && detail->registers > 0);
  put_number (out, detail != NULL ? detail->local_bytes : 0, detail != NULL && detail->registers > 0);
  put_number (out, detail != NULL ? (double) detail->static_shared + detail->dynamic_shared : 0, detail != NULL && detail->registers > 0);
  put_number (out, row->control, row->control != 0);
  g_string_append (out, "\r\n");
}

gboolean
gantry_kernel_table_write_csv (const GantryKernelTable *table, const GantryRecording *recording, const GantryModule *module, GOutputStream *stream,
                               GCancellable *cancellable, GError **error)
{
  Export out = { stream, cancellable, g_string_new (NULL) };
  gboolean written = TRUE;

  g_string_append (out.text, "node,name,operation,phase,scope,kind,lane,events,total_ns,count,planned_us,measured_us,"
                             "difference_us,ratio,percent,bytes,achieved_gb_s,reachable_gb_s,gflop_s,registers,"
                             "local_bytes,shared_bytes,within\r\n");
  for (guint i = 0; written && i < table->rows->len; i++)
    {
      put_row (out.text, table, &g_array_index (table->rows, GantryKernelRow, i), recording, module);
      written = _gantry_export_flush (&out, EXPORT_FLUSH_AT, error);
    }
  written = written && _gantry_export_flush (&out, 1, error);
  g_string_free (out.text, TRUE);
  return written;
}
